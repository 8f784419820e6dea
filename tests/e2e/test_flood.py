"""Sessions that come and go while packets to them never stop, both ways: does the kernel module use what it freed?

UPF_FLOOD_SECONDS (15). Meaningful on a kernel that looks for stale memory: KUPF_VM_APPEND=slub_debug=FZPU tests/vm/run.
"""

import json
import os
import pathlib

import daemon
import gtp
import kernel
import net
import pytest
import table

KERNEL_PLANES_ONLY = True

SECONDS = float(os.environ.get("UPF_FLOOD_SECONDS", "15"))
WINDOW = 16  # n4load's sessions have TEIDs and UE addresses from 1 on, a QER with an AMBR each
UES = [f"10.60.0.{1 + number}" for number in range(WINDOW)]


def look_for_stale_memory():
    """Has the allocator check what is free, if it is debugged; what it finds is in the kernel's log."""
    for cache in pathlib.Path("/sys/kernel/slab").glob("kmalloc-*/validate"):
        cache.write_text("1")


# Policers went with their QER while packets still used them (netlink/gtp5g/README.md).
def test_sessions_come_and_go_under_a_flood(upf, plane, gnb, topology, tmp_path):
    if plane != "gtp5g":
        pytest.skip("only the kernel module uses memory beside its owner's back")
    module, log = kernel.Gtp5g(topology.upf), kernel.Log()
    uplink = [(net.UPF, gtp.GTPU_PORT, gtp.uplink(1 + at, gtp.ue_udp(b"flood" * 20, ue=ue))) for at, ue in enumerate(UES)]
    floods = [gtp.flood(topology.ran, net.GNB2, uplink), gtp.flood(topology.dn, net.DN, [(ue, 5000, bytes(100)) for ue in UES])]
    figures = tmp_path / "n4load.json"
    try:
        topology.ran.run(daemon.BUILD / "n4load", "--target", net.UPF, "--smf", net.SMF1, "--gnb", net.GNB1, "--ue", UES[0],
                         "--window", WINDOW, "--seconds", SECONDS, "--json", figures, check=False)
    finally:
        for flood in floods:
            flood.kill()
            flood.wait()
    ended = json.loads(figures.read_text())["requests"]["deletion"]["accepted"]
    device = topology.upf.ip("-s", "-j", "link", "show", "upfgtp")
    passed = json.loads(device)[0]["stats64"]
    table.row("sessions under a flood", plane, f"{ended} sessions in {SECONDS:g} s",
              f"packets {passed['rx']['packets']} up {passed['tx']['packets']} down")
    assert ended > WINDOW and passed["rx"]["packets"] > ended and passed["tx"]["packets"] > ended
    assert net.eventually(lambda: not any(module.counts().values())), module.counts()
    look_for_stale_memory()
    assert log.alarms() == []
    module.close()
    log.close()

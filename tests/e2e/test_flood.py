"""Sessions that come and go while packets to them never stop, both ways: does the kernel module use what it freed?

UPF_FLOOD_SECONDS (15). Meaningful on a kernel that looks for stale memory: KUPF_VM_APPEND=slub_debug=FZPU tests/vm/run.
"""

import json
import os
import pathlib
import subprocess

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
    """Has the allocator check what is free, where that has a pattern; what it finds is in the kernel's log."""
    for cache in pathlib.Path("/sys/kernel/slab").glob("kmalloc-*"):
        if (cache / "poison").read_text().strip() == "1":
            (cache / "validate").write_text("1")


# Policers went with their QER while packets still used them (netlink/gtp5g/README.md).
def test_sessions_come_and_go_under_a_flood(upf, plane, gnb, topology, tmp_path):
    if plane != "gtp5g":
        pytest.skip("only the kernel module uses memory beside its owner's back")
    module, log = kernel.Gtp5g(topology.upf), kernel.Log()
    uplink = [(net.UPF, gtp.GTPU_PORT, gtp.uplink(1 + at, gtp.ue_udp(b"flood" * 20, ue=ue))) for at, ue in enumerate(UES)]
    downlink = [(ue, 5000, bytes(100)) for ue in UES]
    figures = tmp_path / "n4load.json"
    floods = []
    load = topology.ran.popen(daemon.BUILD / "n4load", "--target", net.UPF, "--smf", net.SMF1, "--gnb", net.GNB1, "--ue", UES[0],
                              "--window", WINDOW, "--seconds", SECONDS, "--json", figures, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        assert net.eventually(lambda: "association set up" in upf.log()), upf.log()  # it waits for that only so long
        floods = [gtp.flood(topology.ran, net.GNB2, uplink), gtp.flood(topology.dn, net.DN, downlink)]
        said, _ = load.communicate()
    finally:
        for process in [load, *floods]:
            process.kill()
            process.wait()
    assert figures.exists(), said
    ended = json.loads(figures.read_text())["requests"]["deletion"]["accepted"]
    device = topology.upf.ip("-s", "-j", "link", "show", "upfgtp")
    passed = json.loads(device)[0]["stats64"]
    table.row("sessions under a flood", plane, f"{ended} sessions in {SECONDS:g} s",
              f"packets {passed['rx']['packets']} up {passed['tx']['packets']} down")
    assert ended > 0 and passed["rx"]["packets"] > 0 and passed["tx"]["packets"] > 0, said
    assert net.eventually(lambda: not any(module.counts().values())), module.counts()
    look_for_stale_memory()
    assert log.alarms() == []
    module.close()
    log.close()

"""Measured rates: by hand and by tests/vm, with UPF_MEASURE=1; CI measures nothing."""

import json
import os
import time

import n4
import net
import pytest
import table
from test_sessions import TEID
from test_smfs import ran  # noqa: F401
from test_steady import Steady

SECONDS = float(os.environ.get("UPF_RATE_SECONDS", "12"))
OCTETS = 1250
# gtp5g polices octets behind the UDP header, the user-space plane T-PDUs (netlink/gtp5g/README.md).
WITHIN = {"gtp5g": 0.05, "standin": 0.05, "userspace": 0.02}


# cases.md 42
@pytest.mark.parametrize("kbps", [10_000])
def test_an_ambr_is_what_comes_out(upf, plane, smf, topology, kbps):
    session = smf.establish(
        n4.pdr_uplink(teid=TEID, qers=[1, 2]), n4.pdr_downlink(qers=[1, 2]), n4.far_forward(1),
        n4.far_forward(2, n4.ACCESS, (0x2001, net.GNB1)), n4.qer(1, qfi=0, mbr=(kbps, kbps)), n4.qer(2, qfi=9))
    steady = Steady(topology, pps=kbps * 1000 * 3 // 2 // (OCTETS * 8), octets=OCTETS)
    time.sleep(SECONDS)
    seen = steady.stop()
    wrong = []
    for way in ("up", "down"):
        tally = seen[way]
        # Without the first seconds, in which the surplus empties the bucket (1.2 s of the rate), and the end, which isn't whole.
        slices = tally["octets_by_100ms"][35:int(seen["seconds"] * 10) - 2]
        payload = sum(slices) * 8 / (len(slices) / 10)
        counted = payload * (OCTETS + 28) / OCTETS if plane == "userspace" else payload
        error = counted / (kbps * 1000) - 1
        table.row("AMBR", plane, f"{kbps / 1000:g} Mbit/s {way}", f"offered {tally['sent'] * OCTETS * 8 / seen['seconds'] / 1e6:.2f}",
                  f"passed {counted / 1e6:.3f} Mbit/s in {len(slices) / 10:g} s", f"{error:+.2%}")
        if abs(error) > WITHIN[plane]:
            wrong.append((way, error))
    assert not wrong
    session.delete()


def test_iperf3_both_ways(upf, plane, ran, topology):  # noqa: F811
    ran("establish", ue=net.UE1)
    ran("activate", gnb="gnb1")
    server = topology.dn.popen("iperf3", "-s", "-p", "5301", stdout=-3)
    assert net.eventually(lambda: topology.dn.run("ss", "-Hltn", "sport = :5301").strip())
    for way, options in (("up", []), ("down", ["-R"])):
        done = json.loads(topology.ran.run("iperf3", "-c", net.DN, "-B", net.UE1, "-p", "5301", "-t", "3", "-J", *options))
        received = done["end"]["sum_received"]
        table.row("iperf3", plane, ran.dialect, way, f"{received['bits_per_second'] / 1e6:.1f} Mbit/s, {received['bytes']} octets")
        assert received["bytes"] > 0
    server.terminate()
    server.wait()

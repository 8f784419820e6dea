"""Measured rates: by hand and by tests/vm, with UPF_MEASURE=1; CI measures nothing."""

import os
import time

import n4
import net
import pytest
import table
from test_sessions import TEID
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
        # Without the first two seconds, which a full bucket may pass, and the last, which isn't whole.
        slices = tally["octets_by_100ms"][20:int(seen["seconds"] * 10) - 2]
        payload = sum(slices) * 8 / (len(slices) / 10)
        counted = payload * (OCTETS + 28) / OCTETS if plane == "userspace" else payload
        error = counted / (kbps * 1000) - 1
        table.row("AMBR", plane, f"{kbps / 1000:g} Mbit/s {way}", f"offered {tally['sent'] * OCTETS * 8 / seen['seconds'] / 1e6:.2f}",
                  f"passed {counted / 1e6:.3f} Mbit/s in {len(slices) / 10:g} s", f"{error:+.2%}")
        if abs(error) > WITHIN[plane]:
            wrong.append((way, error))
    assert not wrong
    session.delete()

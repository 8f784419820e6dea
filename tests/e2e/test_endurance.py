"""Sessions that come and go, UPF_CHURN of them (300): what is left?"""

import json
import os

import daemon
import kernel
import net
import table

CHURN = int(os.environ.get("UPF_CHURN", "300"))


# cases.md 81
def test_sessions_come_and_go(upf, plane, topology):
    module = kernel.Gtp5g(topology.upf) if plane == "gtp5g" else None
    output = topology.ran.run(daemon.BUILD / "churn", net.UPF, net.SMF1, CHURN, upf.process.pid)
    seen = json.loads(output)
    # QERs go a second after the sessions.
    gone = module is None or net.eventually(lambda: not any(module.counts().values()))
    left = module.counts() if module else "not looked at"
    resident = seen["resident_kib"]
    table.row("sessions that come and go", plane,
              f"{seen['cycles']} cycles, {seen['per_second']} a second, {seen['congested']} congested",
              f"resident KiB after each tenth: {' '.join(map(str, resident))}", f"kernel rules left: {left}")
    assert seen["cycles"] == CHURN
    # The answers that are kept for repeated requests fill up first (answer_cache_octets). Later on a thread that waits for a
    # CPU may let a few thousand rules pile up once; a kilobyte that each session left behind would be 25 MiB in 50,000.
    assert resident[-1] <= resident[len(resident) // 2] + 8 * 1024, "resident memory grows"
    assert gone, left
    if module:
        module.close()

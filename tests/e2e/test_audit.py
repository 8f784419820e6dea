"""The audit: what the data plane holds, compared with what the SMFs asked for."""

import json

import kernel
import n4
import net
import pytest
from test_operator import METRICS, operated, traffic, ue_of, upf, value  # noqa: F401 (fixtures)


def establish(smf, number):
    """A session with a rule of every kind."""
    return smf.establish(
        n4.pdr_uplink(teid=0x1000 + number, ue=ue_of(number), qers=[1], urrs=[1]),
        n4.pdr_downlink(ue=ue_of(number), qers=[1], urrs=[1]), n4.far_forward(1),
        n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + number, net.GNB1)), n4.qer(1, qfi=5),
        n4.urr(1, threshold=10_000_000))


def audit(operated, *words, code=0):
    found = json.loads(operated.ctl("-o", "json", "audit", *words, code=code))
    assert found["repair"] == ("--repair" in words), found
    return found


def test_an_audit_of_what_is_right_finds_nothing(operated, smf, gnb, host):  # noqa: F811
    for number in range(3):
        establish(smf, number)
    traffic(gnb, host)
    found = audit(operated)
    assert found["sessions"] == 3 and found["rules"] > 0 and found["drifts"] == []
    assert "0 wrong, 0 repaired" in operated.ctl("audit", "--repair")
    assert audit(operated, "--repair")["drifts"] == []
    metrics = operated.get(METRICS + "/metrics")
    assert value(metrics, 'kupf_audit_passes_total{outcome="done"}') >= 2
    assert value(metrics, "kupf_audit_rules_total") >= 2 * found["rules"]
    assert value(metrics, "kupf_drift_total") == 0
    traffic(gnb, host)


def test_rules_that_change_behind_our_back_are_found_and_mended(operated, smf, gnb, host, plane):  # noqa: F811
    if plane != "gtp5g":
        pytest.skip("only the kernel module's rules can be changed by others")
    for number in range(2):
        establish(smf, number)
    meddler = kernel.Meddler(operated.topology.upf, "upfgtp")
    before = meddler.counts()

    meddler.lose_a_pdr()
    found = audit(operated, code=1)
    assert [drift["kind"] for drift in found["drifts"]] == ["missing"], found
    found = audit(operated, "--repair")
    assert found["repaired"] == 1
    traffic(gnb, host, 0)
    traffic(gnb, host, 1)

    meddler.drop_everywhere()
    found = audit(operated, "--repair")
    assert found["drift"]["different"] == found["repaired"] >= 4, found
    traffic(gnb, host, 0)
    traffic(gnb, host, 1)

    meddler.leave_strays()
    found = audit(operated, code=1)
    assert sorted(drift["kind"] for drift in found["drifts"]) == ["foreign", "foreign"], found
    found = audit(operated, "--repair")
    assert found["drift"]["foreign"] == found["repaired"] == 2, found
    assert audit(operated)["drifts"] == []
    assert meddler.counts() == before
    meddler.close()
    assert "missing in the data plane" in operated.log()

"""SDF filters, precedence, gates, QFI, usage."""

import gtp
import n4
import net
import pytest
from scapy.contrib import pfcp
from test_sessions import TEID, activate, establish

DOWNLINK = (0x2001, net.GNB1)


def received(host, quiet=0.3):
    payloads = []
    while (one := host.receive(quiet)) is not None:
        payloads.append(one[0])
    return payloads


# cases.md 35: ports and addresses swap on the uplink, and only there
@pytest.mark.parametrize("text", [
    f"permit out udp from {net.DN} 7000 to assigned",
    f"permit out 17 from {net.DN}/32 6999-7001 to {net.UE1} 5000",
    f"permit out ip from {net.DN} 80,7000 to any",
])
def test_a_filter_matches_both_directions_by_its_downlink_view(upf, smf, gnb, host, text):
    smf.establish(
        n4.pdr_uplink(1, 1, teid=TEID, precedence=10, filters=[text]),
        n4.pdr_downlink(2, 2, precedence=10, filters=[text], qers=[1]),
        n4.far_forward(1), n4.far_forward(2, n4.ACCESS, DOWNLINK), n4.qer(1, qfi=5))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"matches")))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"other port", dport=7002)))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"other host", to=net.DN2)))
    assert received(host) == [b"matches"]
    host.send(b"matches")
    packet = gnb.receive()
    assert packet.qfi == 5 and packet.inner[gtp.Raw].load == b"matches"


def test_the_lowest_precedence_value_wins(upf, smf, gnb, host):
    text = f"permit out udp from {net.DN} 7000 to assigned"
    smf.establish(
        n4.pdr_uplink(1, 1, teid=TEID, precedence=255), n4.pdr_downlink(2, 2, precedence=255, qers=[1]),
        n4.pdr_uplink(3, 3, teid=TEID, precedence=20, filters=[text]),
        n4.pdr_downlink(4, 2, precedence=20, filters=[text], qers=[2]),
        n4.far_forward(1), n4.far_forward(2, n4.ACCESS, DOWNLINK), n4.far_drop(3),
        n4.qer(1, qfi=1), n4.qer(2, qfi=2))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"filtered")))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"default", sport=5001)))
    gnb.send(gtp.uplink(TEID, gtp.IP(src=net.UE1, dst=net.DN) / gtp.ICMP() / gtp.Raw(b"ping")))
    assert gnb.receive().qfi == 1  # the echo reply, by the default PDR
    host.send(b"filtered")
    assert gnb.receive().qfi == 2


# cases.md 40
def test_every_sdf_filter_of_a_pdr_counts(upf, smf, gnb, host):
    filters = [f"permit out udp from {net.DN} {port} to assigned" for port in (7000, 7001)]
    smf.establish(n4.pdr_uplink(1, 1, teid=TEID, filters=filters), n4.far_forward(1))
    for port in (7000, 7001, 7002):
        gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"to %d" % port, dport=port)))
    ports = {host.frame_from(net.UE1)[gtp.UDP].dport for _ in range(2)}  # order is kept within a flow only
    assert ports == {7000, 7001}
    assert host.frame_from(net.UE1, 0.3) is None


# cases.md 7
@pytest.mark.parametrize("text", ["aaaaaaaabbbbcccc", "", "permit out", "permit out ip from any to any trailing"])
def test_a_bad_flow_description_refuses_the_request(upf, smf, text):
    smf.establish(n4.pdr_uplink(teid=TEID, filters=[text]), n4.far_forward(1), expect=n4.MANDATORY_INCORRECT)


# cases.md 44
def test_gates_close_and_open(upf, smf, gnb, host):
    session = establish(smf, n4.qer(1), qers=[1], downlink=DOWNLINK)
    session.modify(n4.qer(1, uplink_open=False, downlink_open=False, update=True))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"closed")))
    host.send(b"closed")
    assert received(host) == [] and gnb.drain() == []
    session.modify(n4.qer(1, update=True))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"open")))
    host.send(b"open")
    assert received(host) == [b"open"]
    assert gnb.receive().inner[gtp.Raw].load == b"open"


def test_qfi_0_to_63_reach_the_gnb(upf, plane, smf, gnb, host):
    session = establish(smf, n4.qer(1, qfi=1), qers=[1], downlink=DOWNLINK)
    # To gtp5g a QFI of 0 means none: it then sends no PDU Session Container.
    for qfi in (0, 15, 16, 63) if plane == "userspace" else (1, 15, 16, 63):
        session.modify(n4.qer(1, qfi=qfi, update=True))
        host.send(b"qfi")
        assert gnb.receive().qfi == qfi


def volumes(report):
    volume = n4.one_of(report, pfcp.IE_VolumeMeasurement)
    return volume.total, volume.uplink, volume.downlink


def usage_trigger(report):
    trigger = n4.one_of(report, pfcp.IE_UsageReportTrigger)
    assert trigger.length == 3
    raised = [field.name for field in trigger.fields_desc[2:-1] if getattr(trigger, field.name)]
    assert len(raised) == 1, f"exactly one trigger bit is allowed: {raised}"
    return raised[0]


def send_both_ways(gnb, host, count):
    """`count` packets each way; (octets up, octets down) of the T-PDUs."""
    for number in range(count):
        gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"u" * (100 + number))))
        host.send(b"d" * (200 + number))
    assert len(received(host)) == count and len(gnb.drain()) == count
    return (sum(28 + 100 + number for number in range(count)), sum(28 + 200 + number for number in range(count)))


def layer(plane, octets, count):
    """gtp5g counts what is behind the UDP header, the user-space plane whole T-PDUs."""
    return octets if plane == "userspace" else octets - 28 * count


# What comes from Core is downlink, out of a tunnel too.
def test_gates_close_their_direction_on_n9(upf, smf, gnb, gnb2):
    def with_qer(pdr):
        pdr.IE_list.append(pfcp.IE_QER_Id(id=1))
        return pdr
    session = smf.establish(
        with_qer(n4.pdr_uplink(1, 1, teid=TEID)), with_qer(n4.pdr_tunnel(2, 2, 0x9001)), n4.qer(1),
        n4.far_forward(1, n4.CORE, (0x9002, net.GNB2)), n4.far_forward(2, n4.ACCESS, DOWNLINK))

    def passes():
        inner = gtp.IP(src=net.DN, dst=net.UE1) / gtp.UDP(sport=7000, dport=5000) / gtp.Raw(b"down")
        gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"up")))
        gnb2.send(gtp.plain(0x9001, inner))
        return [p.teid for p in gnb2.drain()], [p.teid for p in gnb.drain()]

    for up in (True, False):
        for down in (False, True):
            session.modify(n4.qer(1, uplink_open=up, downlink_open=down, update=True))
            assert passes() == ([0x9002] * up, [0x2001] * down), (up, down)


# cases.md 49: what packets meet instead of a block, and that a new quota ends it.
def test_a_used_up_quota_has_its_own_far_in_force(upf, smf, gnb, gnb2, host):
    urr = n4.urr(1, quota=100)
    urr.IE_list.append(pfcp.IE_FAR_Id(id=3))
    session = smf.establish(n4.pdr_uplink(teid=TEID), n4.pdr_downlink(urrs=[1]), n4.far_forward(1),
                            n4.far_forward(2, n4.ACCESS, DOWNLINK), n4.far_forward(3, n4.ACCESS, (0x3001, net.GNB2)), urr)
    for _ in range(2):
        host.send(b"x" * 200)
        assert gnb.receive().teid == DOWNLINK[0]
        report = smf.wait_report()
        assert report is not None, "no Session Report"
        [usage] = n4.all_of(report.payload, pfcp.IE_UsageReport_SRR)
        assert usage_trigger(usage) == "VOLQU"
        host.send(b"behind the quota")
        assert gnb2.receive().teid == 0x3001
        session.modify(pfcp.IE_UpdateURR(IE_list=[pfcp.IE_URR_Id(id=1), pfcp.IE_VolumeQuota(TOVOL=1, total=100)]))
    session.delete()


def dropping(smf, *more, expect=n4.ACCEPTED):
    return smf.establish(n4.pdr_uplink(teid=TEID, urrs=[1]), n4.pdr_downlink(urrs=[1]), n4.far_forward(1), n4.far_drop(2),
                         pfcp.IE_CreateURR(IE_list=[
                             pfcp.IE_URR_Id(id=1), pfcp.IE_MeasurementMethod(VOLUM=1),
                             pfcp.IE_ReportingTriggers(dropped_dl_traffic_threshold=1), *more]), expect=expect)


def test_dropped_downlink_packets_are_reported_at_their_threshold(upf, plane, smf, gnb, host):
    dropping(smf).delete()  # a trigger without its value stays inactive
    limit = pfcp.IE_DroppedDLTrafficThreshold(DLPA=1, packet_count=3)
    if plane != "userspace":  # the module counts nothing that it drops
        refusal = dropping(smf, limit, expect=n4.RULE_FAILURE)
        failed = n4.one_of(refusal, pfcp.IE_FailedRuleId)
        assert (failed.type, failed.urr_id) == (3, 1)
        return
    session = dropping(smf, limit)
    for _ in range(2):
        host.send(b"dropped")
    assert smf.wait_report(0.3) is None
    for packets in (1, 3):
        for _ in range(packets):
            host.send(b"dropped")
        report = smf.wait_report()
        assert report is not None, "no Session Report"
        [usage] = n4.all_of(report.payload, pfcp.IE_UsageReport_SRR)
        assert usage_trigger(usage) == "DROTH"
        assert volumes(usage) == (0, 0, 0)
    assert smf.wait_report(0.3) is None
    session.delete()


# cases.md 50, 53
def test_deletion_brings_exactly_one_final_report(upf, plane, smf, gnb, host):
    session = establish(smf, n4.urr(1, threshold=1 << 40), urrs=[1], downlink=DOWNLINK)
    up, down = (layer(plane, octets, 10) for octets in send_both_ways(gnb, host, 10))
    answer = session.delete()
    [report] = n4.all_of(answer, pfcp.IE_UsageReport_SDR)
    assert n4.one_of(report, pfcp.IE_URR_Id).id == 1
    assert usage_trigger(report) == "TERMR"
    assert volumes(report) == (up + down, up, down)
    assert smf.wait_report(0.3) is None


def test_query_takes_the_reading(upf, plane, smf, gnb, host):
    session = establish(smf, n4.urr(1, threshold=1 << 40), urrs=[1], downlink=DOWNLINK)
    numbers = []
    for count in (3, 0):
        up, down = (layer(plane, octets, count) for octets in send_both_ways(gnb, host, count)) if count else (0, 0)
        [report] = n4.all_of(session.modify(n4.query_urr(1)), pfcp.IE_UsageReport_SMR)
        assert usage_trigger(report) == "IMMER"
        assert volumes(report) == (up + down, up, down)
        numbers.append(n4.one_of(report, pfcp.IE_UR_SEQN).number)
    assert numbers[1] == numbers[0] + 1


def test_a_volume_threshold_is_reported(upf, plane, smf, gnb, host):
    establish(smf, n4.urr(1, threshold=1000), urrs=[1], downlink=DOWNLINK)
    send_both_ways(gnb, host, 5)
    report = smf.wait_report()
    assert report is not None, "no Session Report"
    assert n4.one_of(report.payload, pfcp.IE_ReportType).USAR == 1
    [usage] = n4.all_of(report.payload, pfcp.IE_UsageReport_SRR)
    assert usage_trigger(usage) == "VOLTH"
    assert volumes(usage)[0] >= 1000

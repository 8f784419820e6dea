"""Handover, idle and paging, indirect forwarding: what happens to packets when the downlink tunnel changes."""

import gtp
import n4
import net
from scapy.contrib import pfcp
from test_sessions import TEID, activate, establish


# cases.md 58
def test_handover_sends_one_end_marker_behind_the_last_packet(upf, smf, gnb, gnb2, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    for number in range(10):
        host.send(b"old %d" % number)
    assert net.eventually(lambda: gnb.socket.getsockname()) and len(old := [gnb.receive() for _ in range(10)]) == 10
    assert all(packet is not None and packet.teid == 0x2001 for packet in old)
    activate(session, teid=0x3001, address=net.GNB2, end_marker=True)
    host.send(b"new")
    assert gnb2.receive().teid == 0x3001
    rest = gnb.drain()
    assert [(packet.type, packet.teid) for packet in rest] == [(gtp.END_MARKER, 0x2001)]
    assert all(packet.type == gtp.G_PDU for packet in gnb2.drain())


def test_no_end_marker_unless_asked_for_or_when_nothing_changes(upf, smf, gnb, gnb2, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    activate(session, teid=0x2001, address=net.GNB1, end_marker=True)  # the same tunnel
    activate(session, teid=0x3001, address=net.GNB2)  # not asked for
    host.send(b"new")
    assert gnb2.receive().teid == 0x3001
    assert gnb.drain() == []


# cases.md 54, 55, 56
def test_idle_buffers_reports_once_and_flushes_in_order(upf, smf, gnb, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    for episode in range(2):
        session.modify(n4.far_buffer(2, update=True))
        sent = [b"%d-%d" % (episode, number) for number in range(5)]
        for payload in sent:
            host.send(payload)
        report = smf.wait_report()
        assert report is not None, "no Session Report"
        assert report.seid == session.cp_seid
        assert n4.one_of(report.payload, pfcp.IE_ReportType).DLDR == 1
        data = n4.one_of(report.payload, pfcp.IE_DownlinkDataReport)
        assert n4.one_of(data, pfcp.IE_PDR_Id).id == 2
        assert smf.wait_report(0.5) is None, "more than one report in an episode"
        assert gnb.drain(0.1) == []
        activate(session, teid=0x2002 + episode)
        host.send(b"after")
        got = [gnb.receive() for _ in range(6)]
        assert [packet.inner[gtp.Raw].load for packet in got] == sent + [b"after"]
        assert {packet.teid for packet in got} == {0x2002 + episode}


def test_drop_throws_the_buffer_away(upf, smf, gnb, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    session.modify(n4.far_buffer(2, update=True))
    host.send(b"buffered")
    assert smf.wait_report() is not None
    session.modify(n4.far_drop(2, update=True))
    activate(session)
    host.send(b"after")
    assert [packet.inner[gtp.Raw].load for packet in gnb.drain()] == [b"after"]


# cases.md 54
def test_the_buffer_is_bounded(upf, smf, gnb, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    session.modify(n4.far_buffer(2, update=True))
    before = upf.resident_kib()
    for _ in range(20000):
        host.send(b"x" * 1000)
    assert smf.wait_report() is not None
    assert upf.resident_kib() - before < 8 * 1024
    session.delete()


def test_indirect_forwarding_goes_from_tunnel_to_tunnel(upf, smf, gnb, gnb2, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    session.modify(n4.pdr_tunnel(3, 3, 0x5001, source=n4.ACCESS, precedence=1),
                   n4.far_forward(3, n4.ACCESS, (0x3005, net.GNB2)))
    inner = gtp.IP(src=net.DN, dst=net.UE1) / gtp.UDP(sport=7000, dport=5000) / gtp.Raw(b"forwarded")
    gnb.send(gtp.plain(0x5001, inner))
    packet = gnb2.receive()
    assert packet.teid == 0x3005 and packet.payload == bytes(inner)
    session.modify(n4.remove_pdr(3), pfcp.IE_RemoveFAR(IE_list=[pfcp.IE_FAR_Id(id=3)]))
    gnb.send(gtp.plain(0x5001, inner))
    assert all(packet.type != gtp.G_PDU for packet in gnb2.drain())


# cases.md 59
def test_n9_forwards_between_tunnels_both_ways(upf, smf, gnb, topology):
    """An intermediate UPF: N3 on one side, a tunnel to the anchor on the other."""
    anchor = gtp.Peer(topology, net.PEER_UPF)
    smf.establish(n4.pdr_uplink(teid=TEID), n4.far_forward(1, n4.CORE, (0x9001, net.PEER_UPF)),
                  n4.pdr_tunnel(2, 2, 0x9002, ue=net.UE1), n4.far_forward(2, n4.ACCESS, (0x2001, net.GNB1)))
    sent = gtp.ue_udp(b"over N9")
    gnb.send(gtp.uplink(TEID, sent))
    packet = anchor.receive()
    assert packet.teid == 0x9001 and packet.payload == bytes(sent)
    back = gtp.IP(src=net.DN, dst=net.UE1) / gtp.UDP(sport=7000, dport=5000) / gtp.Raw(b"back")
    anchor.send(gtp.plain(0x9002, back))
    packet = gnb.receive()
    assert packet.teid == 0x2001 and packet.payload == bytes(back)
    anchor.close()

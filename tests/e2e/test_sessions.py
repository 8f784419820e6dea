"""A PDU session from establishment to deletion, packet by packet, with scapy as the SMF."""

import gtp
import n4
import net
from scapy.contrib import pfcp

TEID = 0x11223344


def establish(smf, *more, teid=TEID, ue=net.UE1, downlink=None, **pdr):
    """One UE, both ways; the downlink goes to `downlink` (TEID, address), or nowhere yet."""
    return smf.establish(
        n4.pdr_uplink(teid=teid, ue=ue, **pdr), n4.pdr_downlink(ue=ue, **pdr),
        n4.far_forward(1), n4.far_forward(2, n4.ACCESS, downlink), *more)


def activate(session, teid=0x2001, address=net.GNB1, **options):
    session.modify(n4.far_forward(2, n4.ACCESS, (teid, address), update=True, **options))


def test_uplink_reaches_the_data_network_as_the_ue_sent_it(upf, smf, gnb, host):
    establish(smf)
    sent = gtp.ue_udp(b"hello", ttl=64, tos=0x28)
    gnb.send(gtp.uplink(TEID, sent))
    payload, source = host.receive()
    assert (payload, source) == (b"hello", (net.UE1, 5000))
    seen = host.frame_from(net.UE1)
    assert bytes(seen.payload) == bytes(gtp.IP(bytes(sent)).payload)
    assert seen.tos == 0x28 and seen.id == sent.id


def test_downlink_waits_for_the_activation(upf, smf, gnb, host):
    """A FAR towards Access without Outer Header Creation sends nothing, and never unencapsulated."""
    session = establish(smf, n4.qer(1, qfi=9), qers=[1])
    host.send(b"too early")
    assert gnb.receive(0.3) is None
    activate(session)
    host.send(b"in time")
    packet = gnb.receive()
    assert (packet.type, packet.teid, packet.qfi) == (gtp.G_PDU, 0x2001, 9)
    assert packet.container[0] >> 4 == 0, "not a downlink PDU Session Container"
    assert packet.inner[gtp.Raw].load == b"in time" and packet.inner.dst == net.UE1


def test_ping_both_ways(upf, smf, gnb, host, topology):
    establish(smf, downlink=(0x2001, net.GNB1))
    gnb.send(gtp.uplink(TEID, gtp.IP(src=net.UE1, dst=net.DN) / gtp.ICMP(id=7, seq=1) / gtp.Raw(b"x" * 56)))
    reply = gnb.receive()
    assert reply.inner.src == net.DN and reply.inner[gtp.ICMP].type == 0 and reply.inner[gtp.ICMP].id == 7


# cases.md 61
def test_choose_gives_a_teid_of_ours_in_created_pdr(upf, smf, gnb, host):
    session = smf.establish(n4.pdr_uplink(choose=True), n4.pdr_downlink(), n4.far_forward(1),
                            n4.far_forward(2, n4.ACCESS, (0x2001, net.GNB1)))
    teid = session.created_teid(1)
    assert teid != 0
    gnb.send(gtp.uplink(teid, gtp.ue_udp(b"chosen")))
    assert host.receive()[0] == b"chosen"


def test_two_sessions_do_not_meet(upf, smf, gnb, host):
    establish(smf, teid=1, downlink=(0x2001, net.GNB1))
    establish(smf, teid=2, ue=net.UE2, downlink=(0x2002, net.GNB1))
    gnb.send(gtp.uplink(2, gtp.ue_udp(b"two", ue=net.UE2)))
    assert host.receive()[1][0] == net.UE2
    host.send(b"for two", ue=net.UE2)
    assert gnb.receive().teid == 0x2002


def test_a_ue_can_not_send_as_another(upf, smf, gnb, host):
    establish(smf, teid=1)
    gnb.send(gtp.uplink(1, gtp.ue_udp(b"spoofed", ue=net.UE2)))
    gnb.send(gtp.uplink(1, gtp.ue_udp(b"honest")))
    assert host.receive()[0] == b"honest"
    assert host.receive(0.3) is None


def test_deletion_ends_the_traffic(upf, smf, gnb, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    session.delete()
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"late")))
    assert host.receive(0.3) is None
    host.send(b"late")
    assert all(packet.type != gtp.G_PDU for packet in gnb.drain())
    session.delete(expect=n4.NOT_FOUND)


# cases.md 4
def test_unknown_seids_are_answered_with_65_and_seid_0(upf, smf):
    for seid in (0, 1, 1 << 63, (1 << 64) - 1):
        for body in (pfcp.PFCPSessionModificationRequest(IE_list=[]), pfcp.PFCPSessionDeletionRequest(IE_list=[])):
            response = smf.request(body, seid)
            assert (n4.cause(response), response.seid) == (n4.NOT_FOUND, 0)


# cases.md 19
def test_a_refusal_carries_node_id_cause_and_offending_ie(upf, smf):
    refusal = smf.establish(n4.far_forward(1),  # no PDR
                            pfcp.IE_CreatePDR(IE_list=[pfcp.IE_PDR_Id(id=1), pfcp.IE_FAR_Id(id=1)]),
                            expect=n4.MANDATORY_MISSING)
    assert n4.one_of(refusal, pfcp.IE_NodeId).ipv4 == net.UPF
    assert n4.one_of(refusal, pfcp.IE_OffendingIE) is not None


# cases.md 17
def test_a_refused_establishment_leaves_nothing_behind(upf, smf, gnb, host):
    smf.establish(n4.pdr_uplink(teid=TEID, far_id=7, urrs=[1]), n4.urr(1, period=1), n4.far_forward(1),
                  expect=n4.RULE_FAILURE)
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"nothing")))
    assert host.receive(0.3) is None
    establish(smf, downlink=(0x2001, net.GNB1))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"again")))
    assert host.receive()[0] == b"again"


# cases.md 9, 10
def test_a_modification_is_all_or_nothing(upf, smf, gnb, host):
    session = establish(smf, downlink=(0x2001, net.GNB1))
    refusal = session.modify(n4.far_forward(2, n4.ACCESS, (0x2002, net.GNB1), update=True), n4.remove_pdr(99),
                             expect=n4.RULE_FAILURE)
    assert n4.one_of(refusal, pfcp.IE_FailedRuleId) is not None
    host.send(b"still the old tunnel")
    assert gnb.receive().teid == 0x2001


def test_a_repeated_request_gets_the_same_answer_and_acts_once(upf, smf):
    body = pfcp.PFCPSessionEstablishmentRequest(IE_list=[
        smf.node(), pfcp.IE_FSEID(v4=1, seid=5, ipv4=smf.address), n4.pdr_uplink(choose=True), n4.far_forward(1)])
    first = smf.request(body, 0, sequence=77)
    second = smf.request(body, 0, sequence=77)
    assert bytes(first) == bytes(second)

"""What gtp5g must never be sent, provoked from N4: creates, updates and removals that would lead there.

Each case names its row of the table "What is never sent" in netlink/gtp5g/README.md, and of cases.md where there is one.
Beside it a session is live: it forwards before and after, and the kernel holds the same rules for it, octet for octet.
After them the stateful fuzzer's sequences, with packets between the steps, for UPF_REPLAY_SECONDS (4).
"""

import itertools
import os
import struct
import subprocess

import daemon
import gtp
import kernel
import n4
import net
import pytest
import table
from scapy.contrib import pfcp
from scapy.layers.inet import TCP
from test_rules import received, volumes
from test_sessions import TEID

KERNEL_PLANES_ONLY = True  # what the user-space plane does with the same messages, the other tests say

TUNNEL = (0x2001, net.GNB1)
LIVE_TEID, LIVE_TUNNEL = 0x77777777, (0x7702, net.GNB2)
CONDITIONAL_MISSING, INVALID_POLICY, NO_RESOURCES, NOT_SUPPORTED = 67, 70, 75, 76

REPLAY = int(os.environ.get("UPF_REPLAY_SECONDS", "4"))

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def tlv(kind, value):
    """An IE that scapy doesn't know, or would not write like this."""
    return gtp.Raw(struct.pack("!HH", kind, len(value)) + value)


def pdr_of(*ies, update=False):
    return (pfcp.IE_UpdatePDR if update else pfcp.IE_CreatePDR)(IE_list=list(ies))


def parts(pdr, *without):
    """A PDR's IEs, less some kinds."""
    return [ie for ie in pdr.IE_list if not isinstance(ie, without)]


def remove(kind, identity):
    group, name = {"far": (pfcp.IE_RemoveFAR, pfcp.IE_FAR_Id), "qer": (pfcp.IE_RemoveQER, pfcp.IE_QER_Id),
                   "urr": (pfcp.IE_RemoveURR, pfcp.IE_URR_Id), "bar": (pfcp.IE_Remove_BAR, pfcp.IE_BAR_Id),
                   "pdr": (pfcp.IE_RemovePDR, pfcp.IE_PDR_Id)}[kind]
    return group(IE_list=[name(id=identity)])


def urr(identity=1, triggers=(), update=False, **limits):
    """Triggers by scapy's names; limits as IEs by name."""
    ies = [pfcp.IE_URR_Id(id=identity), pfcp.IE_MeasurementMethod(VOLUM=1),
           pfcp.IE_ReportingTriggers(**{name: 1 for name in triggers})]
    ies += [limit for limit in limits.values() if limit is not None]
    return (pfcp.IE_UpdateURR if update else pfcp.IE_CreateURR)(IE_list=ies)


def threshold(**octets):
    return _volume(pfcp.IE_VolumeThreshold, octets)


def quota(**octets):
    return _volume(pfcp.IE_VolumeQuota, octets)


def _volume(kind, octets):
    flags = {"total": "TOVOL", "uplink": "ULVOL", "downlink": "DLVOL"}
    return kind(**{flags[name]: 1 for name in octets}, **octets)


class World:
    """A session under test, one that is live beside it, and what they are seen to do."""

    def __init__(self, upf, plane, smf, gnb, gnb2, host, topology):
        self.upf, self.smf, self.gnb, self.gnb2, self.host, self.topology = upf, smf, gnb, gnb2, host, topology
        self.numbers = itertools.count(1)
        self.module = kernel.Gtp5g(topology.upf) if plane == "gtp5g" else None
        self.log = kernel.Log() if plane == "gtp5g" else None
        self.live = smf.establish(
            n4.pdr_uplink(1, 1, teid=LIVE_TEID, ue=net.UE2, qers=[1], urrs=[1]),
            n4.pdr_downlink(2, 2, ue=net.UE2, qers=[1], urrs=[1]),
            n4.far_forward(1), n4.far_forward(2, n4.ACCESS, LIVE_TUNNEL), n4.qer(1), n4.urr(1, threshold=1 << 40))
        self.live_forwards()
        self.rules = self.module and self.module.everything(self.live.up_seid)

    def close(self):
        if self.module:
            self.module.close()
            self.log.close()

    def establish(self, *more, **pdr):
        return self.smf.establish(n4.pdr_uplink(teid=TEID, **pdr), n4.pdr_downlink(**pdr),
                                  n4.far_forward(1), n4.far_forward(2, n4.ACCESS, TUNNEL), *more)

    def up(self, teid=TEID, payload=None, ue=net.UE1, gnb=None):
        """Whether an uplink packet arrives at the host."""
        payload = b"up %d" % next(self.numbers) if payload is None else payload
        (gnb or self.gnb).send(gtp.uplink(teid, gtp.ue_udp(payload, ue=ue)))
        return self._arrives(payload)

    def _arrives(self, payload, seconds=5):
        while (got := self.host.receive(seconds)) is not None:
            if got[0] == payload:
                return True
        return False

    def down(self, tunnel=TUNNEL, ue=net.UE1, payload=None):
        """Whether a downlink packet arrives through that tunnel, and no other way."""
        payload = b"down %d" % next(self.numbers) if payload is None else payload
        self.host.send(payload, ue=ue)
        peer = self.gnb if tunnel[1] == net.GNB1 else self.gnb2
        while (packet := peer.receive()) is not None:
            if packet.type == gtp.G_PDU and packet.inner[gtp.Raw].load == payload:
                return packet.teid == tunnel[0]
        return False

    def blocked(self, teid=TEID, ue=net.UE1):
        """Whether neither way passes: what the live session sends behind it has arrived."""
        self.gnb.send(gtp.uplink(teid, gtp.ue_udp(b"must not pass", ue=ue)))
        self.host.send(b"must not pass", ue=ue)
        payload = b"behind %d" % next(self.numbers)
        self.gnb.send(gtp.uplink(LIVE_TEID, gtp.ue_udp(payload, ue=net.UE2)))
        passed = []
        while (got := self.host.receive()) is not None and got[0] != payload:
            passed.append(got[0])
        return passed == [] and all(packet.type != gtp.G_PDU for packet in self.gnb.drain(0.2))

    def live_forwards(self):
        assert self.up(LIVE_TEID, ue=net.UE2), "the live session's uplink"
        assert self.down(LIVE_TUNNEL, ue=net.UE2), "the live session's downlink"

    def untouched(self):
        self.live_forwards()
        if self.module:
            assert self.module.everything(self.live.up_seid) == self.rules
            assert self.log.alarms() == []
        metrics = self.topology.upf.run("curl", "-sS", "--max-time", "10", "http://127.0.0.1:9805/metrics")
        # The last check before the socket had nothing to stop: no rule was compiled into a hazard.
        [held_back] = [line for line in metrics.splitlines() if line.startswith('kupf_kernel_errors_total{what="held_back"}')]
        assert float(held_back.split()[-1]) == 0

    def query(self, session, identity=1):
        """(total, uplink, downlink) of a Query URR."""
        [report] = n4.all_of(session.modify(n4.query_urr(identity)), pfcp.IE_UsageReport_SMR)
        return volumes(report)

    def end(self, session):
        """The session goes, and the kernel holds the live one only, once QERs have gone as well."""
        answer = session.delete()
        if self.module:
            assert net.eventually(lambda: self.module.everything() == self.rules)
        return answer


@pytest.fixture
def world(upf, plane, smf, gnb, gnb2, host, topology):
    made = World(upf, plane, smf, gnb, gnb2, host, topology)
    yield made
    made.close()


# --- PDRs ------------------------------------------------------------------------------------

@case  # "ADD_PDR without FAR ID"; cases.md 8
def a_pdr_without_far_id(w):
    bare = pdr_of(*parts(n4.pdr_uplink(3, 1, teid=0x33), pfcp.IE_FAR_Id))
    w.smf.establish(bare, n4.far_forward(1), expect=CONDITIONAL_MISSING)
    session = w.establish()
    session.modify(bare, expect=CONDITIONAL_MISSING)
    assert w.up() and w.down()
    w.end(session)


@case  # "ADD_PDR without PDI", "without PRECEDENCE"; cases.md 8
def a_pdr_without_pdi_or_precedence(w):
    session = w.establish()
    for kind in (pfcp.IE_PDI, pfcp.IE_Precedence, pfcp.IE_PDR_Id):
        bare = pdr_of(*parts(n4.pdr_uplink(3, 1, teid=0x33), kind))
        w.smf.establish(bare, n4.far_forward(1), expect=n4.MANDATORY_MISSING)
        session.modify(bare, expect=n4.MANDATORY_MISSING)
    empty = pdr_of(*parts(n4.pdr_uplink(3, 1, teid=0x33), pfcp.IE_PDI), pfcp.IE_PDI(IE_list=[]))
    session.modify(empty, expect=n4.MANDATORY_MISSING)
    assert w.up() and w.down()
    w.end(session)


@case  # "a PDR that names a rule that isn't there"; cases.md 8, 9
def a_pdr_that_names_a_rule_that_is_not_there(w):
    session = w.establish()
    for pdr in (n4.pdr_uplink(3, 9, teid=0x33), n4.pdr_uplink(3, 1, teid=0x33, qers=[9]),
                n4.pdr_uplink(3, 1, teid=0x33, urrs=[9])):
        w.smf.establish(pdr, n4.far_forward(1), expect=n4.RULE_FAILURE)
        session.modify(pdr, expect=n4.RULE_FAILURE)
    for pdr in (n4.pdr_uplink(1, 9, teid=TEID, update=True), n4.pdr_uplink(1, 1, teid=TEID, qers=[9], update=True),
                n4.pdr_uplink(1, 1, teid=TEID, urrs=[9], update=True)):
        session.modify(pdr, expect=n4.RULE_FAILURE)
    assert w.up() and w.down()
    w.end(session)


@case  # "a PDR that names a rule that isn't there": rules that come later in the same message are there
def rules_in_any_order_within_a_message(w):
    session = w.smf.establish(n4.urr(1, threshold=1 << 40), n4.pdr_downlink(qers=[1], urrs=[1]), n4.qer(1),
                              n4.far_forward(2, n4.ACCESS, TUNNEL), n4.pdr_uplink(teid=TEID, qers=[1], urrs=[1]),
                              n4.far_forward(1))
    assert w.up() and w.down()
    session.modify(remove("urr", 1), n4.pdr_uplink(3, 3, teid=0x33, urrs=[2]), remove("qer", 1), n4.far_forward(3),
                   n4.urr(2, threshold=1 << 40), n4.pdr_uplink(teid=TEID, urrs=[2], update=True),
                   n4.pdr_downlink(urrs=[2], update=True))
    assert w.up() and w.down() and w.up(0x33)
    w.end(session)


@case  # "ADD_PDR as an update": another FAR; the old one is updated and goes
def an_update_of_a_pdr_to_another_far(w):
    session = w.establish(n4.far_forward(3, n4.ACCESS, (0x3003, net.GNB2)))
    for _ in range(3):
        session.modify(n4.pdr_downlink(2, 3, update=True))
        assert w.down((0x3003, net.GNB2))
        session.modify(n4.far_forward(2, n4.ACCESS, (0x2002, net.GNB1), update=True))
        session.modify(n4.pdr_downlink(2, 2, update=True))
        assert w.down((0x2002, net.GNB1))
    session.modify(n4.pdr_downlink(2, 3, update=True))
    session.modify(remove("far", 2))
    session.modify(n4.far_forward(3, n4.ACCESS, TUNNEL, update=True))
    assert w.up() and w.down()
    session.modify(remove("pdr", 2))
    session.modify(n4.far_forward(3, n4.ACCESS, (0x3004, net.GNB2), update=True))
    w.end(session)


@case  # "ADD_PDR as an update": an F-TEID for a PDR that had a UE address only, and the other way round
def an_update_of_a_pdr_between_teid_and_ue_address(w):
    session = w.establish()
    for _ in range(2):
        session.modify(pdr_of(pfcp.IE_PDR_Id(id=2), pfcp.IE_OuterHeaderRemoval(header=0),
                              pfcp.IE_PDI(IE_list=[pfcp.IE_SourceInterface(interface=n4.CORE),
                                                   pfcp.IE_FTEID(V4=1, TEID=0x5005, ipv4=net.UPF)]), update=True))
        inner = gtp.IP(src=net.DN, dst=net.UE1) / gtp.UDP(sport=7000, dport=5000) / gtp.Raw(b"by tunnel")
        w.gnb2.send(gtp.plain(0x5005, inner))
        assert w.gnb.receive().payload == bytes(inner)
        session.modify(n4.far_forward(2, n4.ACCESS, TUNNEL, update=True))
        session.modify(n4.pdr_downlink(2, 2, update=True))
        assert w.up() and w.down()
    w.end(session)


@case  # "ADD_PDR as an update" adds and doesn't take away: TEID, UE address, filters, QERs, URRs; cases.md 46
def an_update_of_a_pdr_that_takes_away(w):
    text = f"permit out udp from {net.DN} 7000 to assigned"
    session = w.establish(n4.qer(1), n4.urr(1, threshold=1 << 40), qers=[1], urrs=[1], filters=[text])
    assert w.up() and w.down()
    counted = w.query(session)
    assert counted[1] > 0 and counted[2] > 0
    for teid in (0x4001, 0x4002, TEID):
        session.modify(n4.pdr_uplink(teid=teid, update=True), n4.pdr_downlink(update=True))
        assert w.up(teid) and w.down()
    w.gnb.send(gtp.uplink(0x4001, gtp.ue_udp(b"the old TEID")))
    w.gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"other port", dport=7002)))  # no filter any more
    assert w.host.frame_from(net.UE1) is not None
    w.gnb.drain(0.2)  # the host's "port unreachable"
    assert w.blocked(teid=0x4002, ue="10.60.0.9")
    session.modify(remove("qer", 1), remove("urr", 1))
    assert w.up() and w.down()
    w.end(session)


@case  # "ADD_PDR as an update": of a downlink PDR with framed routes, the module panics; none get there
def an_update_of_a_pdr_with_framed_routes(w):
    pdi = [pfcp.IE_SourceInterface(interface=n4.CORE), pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=net.UE1),
           pfcp.IE_FramedRoute(framed_route="10.60.8.0/24 10.60.0.1 1")]
    routed = pdr_of(pfcp.IE_PDR_Id(id=3), pfcp.IE_Precedence(precedence=9), pfcp.IE_PDI(IE_list=pdi), pfcp.IE_FAR_Id(id=2))
    refusal = w.smf.establish(n4.pdr_uplink(teid=TEID), n4.far_forward(1), n4.far_forward(2, n4.ACCESS, TUNNEL), routed,
                              expect=n4.RULE_FAILURE)
    failed = n4.one_of(refusal, pfcp.IE_FailedRuleId)
    assert (failed.type, failed.pdr_id) == (0, 3)
    session = w.establish()
    session.modify(routed, expect=n4.RULE_FAILURE)
    session.modify(pdr_of(pfcp.IE_PDR_Id(id=2), pfcp.IE_PDI(IE_list=pdi), update=True), expect=n4.RULE_FAILURE)
    assert w.up() and w.down()
    w.end(session)


@case  # "ADD_PDR without SRC_INTF": of N6-LAN the module counts nothing, and logs two errors a packet
def a_pdr_from_n6_lan_counts(w):
    pdi = [pfcp.IE_SourceInterface(interface=2), pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=net.UE1)]
    session = w.smf.establish(
        n4.pdr_uplink(teid=TEID, urrs=[1]), n4.far_forward(1), n4.far_forward(2, n4.ACCESS, TUNNEL),
        n4.urr(1, threshold=1 << 40),
        pdr_of(pfcp.IE_PDR_Id(id=2), pfcp.IE_Precedence(precedence=9), pfcp.IE_PDI(IE_list=pdi), pfcp.IE_FAR_Id(id=2),
               pfcp.IE_URR_Id(id=1)))
    assert w.up(payload=b"u" * 70) and w.down(payload=b"d" * 90)
    assert w.query(session) == (160, 70, 90)
    w.end(session)


@case  # "ADD_PDR with an F-TEID and no OUTER_HEADER_REMOVAL": goes back to IP as protocol 1
def a_tunnel_without_outer_header_removal(w):
    bare = pdr_of(*parts(n4.pdr_uplink(3, 1, teid=0x33), pfcp.IE_OuterHeaderRemoval))
    w.smf.establish(bare, n4.far_forward(1), expect=n4.RULE_FAILURE)
    session = w.establish()
    session.modify(bare, expect=n4.RULE_FAILURE)
    w.gnb.send(gtp.uplink(0x33, gtp.ue_udp(b"nowhere")))
    assert w.up() and w.down()
    w.end(session)


@case  # "a PDR with several SDF filters"; cases.md 40
def several_filters_come_and_go(w):
    def of(*ports):
        return [f"permit out udp from {net.DN} {port} to assigned" for port in ports]
    session = w.establish(filters=of(7001, 7000, 7002))
    assert w.up() and w.down()
    session.modify(n4.pdr_uplink(teid=TEID, filters=of(7001), update=True), n4.pdr_downlink(filters=of(7001), update=True))
    assert w.blocked()
    session.modify(n4.pdr_uplink(teid=TEID, filters=of(7003, 7000), update=True),
                   n4.pdr_downlink(filters=of(7003, 7000), update=True))
    assert w.up() and w.down()
    w.end(session)


@case  # a v6 address must never be cut to four octets; cases.md 39, 47
def addresses_of_ipv6(w):
    v6 = "2001:db8::1"
    ue = pfcp.IE_UE_IP_Address(V6=1, SD=1, ipv6=v6)
    downlink = pdr_of(pfcp.IE_PDR_Id(id=3), pfcp.IE_Precedence(precedence=1), pfcp.IE_FAR_Id(id=2),
                      pfcp.IE_PDI(IE_list=[pfcp.IE_SourceInterface(interface=n4.CORE), ue]))
    uplink = pdr_of(pfcp.IE_PDR_Id(id=3), pfcp.IE_Precedence(precedence=1), pfcp.IE_FAR_Id(id=1),
                    pfcp.IE_OuterHeaderRemoval(header=1),
                    pfcp.IE_PDI(IE_list=[pfcp.IE_SourceInterface(interface=n4.ACCESS),
                                         pfcp.IE_FTEID(V6=1, TEID=0x33, ipv6=v6)]))
    session = w.establish()
    for pdr in (downlink, uplink):
        session.modify(pdr, expect=n4.RULE_FAILURE)
    # Every Open5GS session has a filter of IPv6 only: accepted, and no rule for it.
    text = "permit out 58 from ff02::2/128 to assigned"
    session.modify(n4.pdr_uplink(4, 4, teid=0x34, filters=[text]), n4.far_drop(4))
    assert w.up() and w.down()
    w.end(session)


def cause_of(session, *ies):
    return n4.cause(session.smf.request(pfcp.PFCPSessionModificationRequest(IE_list=list(ies)), session.up_seid))


@case  # TEIDs are looked up without address and session; the newest comes first. cases.md 15
def a_teid_of_another_session(w):
    w.smf.establish(n4.pdr_uplink(1, 1, teid=LIVE_TEID), n4.far_drop(1), expect=n4.RULE_FAILURE)
    session = w.establish()
    session.modify(n4.pdr_uplink(3, 1, teid=LIVE_TEID, ue=net.UE2, precedence=1), expect=n4.RULE_FAILURE)
    session.modify(n4.pdr_uplink(1, 1, teid=LIVE_TEID, update=True), expect=n4.RULE_FAILURE)
    assert w.up() and w.down()
    w.end(session)


@case  # more rules than the plane will put on one session; cases.md 16
def more_filters_than_a_session_may_have(w):
    session = w.establish()
    filters = [f"permit out udp from 10.9.{n // 250}.{1 + n % 250} 80 to assigned" for n in range(130)]
    session.modify(n4.pdr_uplink(3, 1, teid=0x33, filters=filters, precedence=1), expect=NO_RESOURCES)
    assert w.up() and w.down()
    w.end(session)


# --- FARs ------------------------------------------------------------------------------------

def far_ies(update, *forwarding):
    group = pfcp.IE_UpdateForwardingParameters if update else pfcp.IE_ForwardingParameters
    return group(IE_list=[pfcp.IE_DestinationInterface(interface=n4.ACCESS), *forwarding])


@case  # "an update that would fail": the module deletes the live rule; cases.md 5, 46, 47
def an_update_of_a_far_that_would_fail(w):
    session = w.establish()
    headers = [(pfcp.IE_OuterHeaderCreation(GTPUUDPIPV6=1, TEID=1, ipv6="2001:db8::1"), n4.RULE_FAILURE),
               (pfcp.IE_OuterHeaderCreation(UDPIPV4=1, ipv4=net.GNB1, port=2152), n4.RULE_FAILURE),
               (tlv(84, b"\x01\x00"), n4.INVALID_LENGTH), (tlv(84, b"\x01\x00\x00\x00\x20\x01"), n4.INVALID_LENGTH),
               (tlv(84, b"\x00\x00\x00\x00"), n4.MANDATORY_INCORRECT)]
    for header, cause in headers:
        for _ in range(2):  # once crashed on the second identical message
            session.modify(n4.far(2, pfcp.IE_ApplyAction(FORW=1), [far_ies(True, header)], update=True), expect=cause)
        session.modify(n4.far(3, pfcp.IE_ApplyAction(FORW=1), [far_ies(False, header)]),
                       n4.pdr_downlink(3, 3, precedence=1), expect=cause)
    for action, cause in ((b"\x00", n4.MANDATORY_INCORRECT), (b"\x06", n4.MANDATORY_INCORRECT),
                          (b"\x08", n4.MANDATORY_INCORRECT), (b"\x12", NOT_SUPPORTED)):
        session.modify(n4.far(2, tlv(44, action), [], update=True), expect=cause)
    session.modify(n4.pdr_downlink(2, 9, update=True), expect=n4.RULE_FAILURE)
    assert w.up() and w.down()
    w.end(session)


@case  # "an update that would fail": a policy that isn't a number; "UNIX_SOCKET_PATH": long texts. cases.md 47
def forwarding_policies_and_long_texts(w):
    session = w.establish()
    for policy in (b"abc", b"0", b"77abc", b"-5", b"", b"4294967296", b"9" * 254, b"/" * 254):
        ie = tlv(41, bytes([len(policy)]) + policy)
        update = n4.far(1, pfcp.IE_ApplyAction(FORW=1), [pfcp.IE_UpdateForwardingParameters(
            IE_list=[pfcp.IE_DestinationInterface(interface=n4.CORE), ie])], update=True)
        assert cause_of(session, update) == INVALID_POLICY, policy
    mark = tlv(41, b"\x0277")
    session.modify(n4.far(1, pfcp.IE_ApplyAction(FORW=1), [pfcp.IE_UpdateForwardingParameters(
        IE_list=[pfcp.IE_DestinationInterface(interface=n4.CORE), mark])], update=True))
    assert w.up() and w.down()
    long = tlv(22, b"/" * 255)
    pdi = [pfcp.IE_SourceInterface(interface=n4.ACCESS), pfcp.IE_FTEID(V4=1, TEID=0x33, ipv4=net.UPF), long]
    session.modify(pdr_of(pfcp.IE_PDR_Id(id=3), pfcp.IE_Precedence(precedence=9), pfcp.IE_PDI(IE_list=pdi),
                          pfcp.IE_OuterHeaderRemoval(header=0), pfcp.IE_FAR_Id(id=1)))
    assert w.up(0x33)
    w.end(session)


@case  # "SNDEM for a FAR that no PDR uses"; cases.md 58
def end_markers_where_there_is_none_to_send(w):
    session = w.establish(n4.far_forward(3, n4.ACCESS, (0x3001, net.GNB1)))
    for teid in (0x3002, 0x3003):
        session.modify(n4.far_forward(3, n4.ACCESS, (teid, net.GNB1), end_marker=True, update=True))  # no PDR
    assert [(packet.type, packet.teid) for packet in w.gnb.drain(0.2)] == [(gtp.END_MARKER, 0x3001), (gtp.END_MARKER, 0x3002)]
    session.modify(n4.far_forward(1, n4.CORE, end_marker=True, update=True))  # no tunnel
    session.modify(n4.far_forward(2, n4.ACCESS, TUNNEL, end_marker=True, update=True))  # the same tunnel
    session.modify(n4.far(2, pfcp.IE_ApplyAction(FORW=1), [far_ies(True, pfcp.IE_PFCPSMReqFlags(SNDEM=1))], update=True))
    assert w.gnb.drain(0.2) == []
    session.modify(remove("pdr", 2), n4.far_forward(2, n4.ACCESS, (0x2009, net.GNB2), end_marker=True, update=True))
    assert w.up()
    w.end(session)


@case  # "deletion of a FAR or QER that a PDR uses"; cases.md 9, 10
def removal_of_rules_that_are_in_use(w):
    session = w.establish(n4.qer(1), n4.urr(1, threshold=1 << 40), qers=[1], urrs=[1])
    session.modify(remove("far", 1), expect=n4.RULE_FAILURE)
    session.modify(remove("far", 2), remove("pdr", 1), expect=n4.RULE_FAILURE)
    assert w.up() and w.down()
    # A PDR goes on without a QER or a URR that is removed.
    for kind in ("qer", "urr"):
        answer = w.smf.request(pfcp.PFCPSessionModificationRequest(IE_list=[remove(kind, 1)]), session.up_seid)
        assert n4.cause(answer) in (n4.ACCEPTED, n4.RULE_FAILURE)
        assert w.up() and w.down()
    # All of it in one message, users last.
    session.modify(remove("far", 1), remove("far", 2), remove("pdr", 2), remove("pdr", 1))
    assert w.blocked()
    session.modify(n4.pdr_uplink(teid=TEID), n4.pdr_downlink(), n4.far_forward(1), n4.far_forward(2, n4.ACCESS, TUNNEL))
    assert w.up() and w.down()
    w.end(session)


@case  # cases.md 9, 10: what is not there can't be changed
def rules_that_are_not_there(w):
    session = w.establish(n4.qer(1), n4.urr(1, threshold=1 << 40), qers=[1], urrs=[1])
    assert w.up(payload=b"u" * 50)
    absent = [remove(kind, 99) for kind in ("far", "qer", "urr", "bar", "pdr")]
    absent += [n4.pdr_downlink(99, 2, update=True), n4.far_drop(99, update=True), n4.qer(99, update=True),
               urr(99, update=True), n4.query_urr(99), pfcp.IE_Update_BAR_SMR(IE_list=[pfcp.IE_BAR_Id(id=99)])]
    for ie in absent:
        session.modify(n4.far_drop(2, update=True), ie, expect=n4.RULE_FAILURE)
    assert w.up(payload=b"u" * 50) and w.down(payload=b"d" * 30)
    assert w.query(session) == (130, 100, 30)
    w.end(session)


@case  # sessions that go and come back under their TEID while packets arrive; cases.md 81, 82
def deletion_and_creation_under_traffic(w):
    for _ in range(10):
        session = w.establish(n4.qer(1), n4.urr(1, threshold=1 << 40), qers=[1], urrs=[1])
        for _ in range(5):
            w.gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"under way")))
            w.host.send(b"under way")
        w.end(session)
    received(w.host, 0.1), w.gnb.drain(0.1)


# --- BARs and buffering ----------------------------------------------------------------------

@case  # "ADD_BAR as an update": every netlink call on the host hangs; cases.md 45
def updates_of_bars(w):
    bar = pfcp.IE_Create_BAR(IE_list=[pfcp.IE_BAR_Id(id=1), tlv(46, b"\x02"), pfcp.IE_SuggestedBufferingPacketsCount(count=5)])
    session = w.establish(bar)
    session.modify(n4.far_buffer(2, update=True, bar=1))
    for count in (6, 7, 8):
        session.modify(pfcp.IE_Update_BAR_SMR(IE_list=[pfcp.IE_BAR_Id(id=1), tlv(46, b"\x01"),
                                                       pfcp.IE_SuggestedBufferingPacketsCount(count=count)]))
    w.smf.answers_reports = False
    w.host.send(b"held")
    report = w.smf.wait_report()
    w.smf.send(bytes(pfcp.PFCP(S=1, seid=session.up_seid, seq=report.seq) / pfcp.PFCPSessionReportResponse(IE_list=[
        pfcp.IE_Cause(cause=n4.ACCEPTED), pfcp.IE_UpdateBAR_SRR(IE_list=[pfcp.IE_BAR_Id(id=1), tlv(46, b"\x03")])])))
    w.smf.answers_reports = True
    session.modify(n4.far_forward(2, n4.ACCESS, TUNNEL, update=True))
    assert w.gnb.receive().inner[gtp.Raw].load == b"held"
    assert w.up() and w.down()
    session.modify(remove("bar", 1))
    w.end(session)


# --- QERs ------------------------------------------------------------------------------------

@case  # Update QER reaches no PDR; a second AMBR once hung hosts; cases.md 43, 44, 45
def updates_of_qers(w):
    session = w.establish(n4.qer(1, qfi=0, mbr=(4000, 4000)), n4.qer(2, qfi=9, mbr=(1 << 30, 1 << 30)), qers=[1, 2])
    for rate in (2000, 4000, 2000, 4000):
        session.modify(n4.qer(1, qfi=0, mbr=(rate, rate), update=True))
        assert w.up() and w.down()
    for gate in (1, 2, 3):  # 2 and 3 count as closed; to the module they would be open
        session.modify(pfcp.IE_UpdateQER(IE_list=[pfcp.IE_QER_Id(id=2), pfcp.IE_GateStatus(ul=gate, dl=gate)]))
        assert w.blocked()
        session.modify(n4.qer(2, update=True))
        assert w.up() and w.down()
    session.modify(pfcp.IE_UpdateQER(IE_list=[pfcp.IE_QER_Id(id=2), tlv(124, b"\xc8")]))  # spare bits of the QFI
    w.host.send(b"masked")
    assert w.gnb.receive().container[1] & 0xc0 == 0
    session.modify(remove("qer", 1), n4.pdr_uplink(teid=TEID, qers=[2], update=True), n4.pdr_downlink(qers=[2], update=True))
    assert w.up() and w.down()
    w.end(session)


@case  # a QER without rate, or of rate 0, blocks nothing. cases.md 42
def qers_without_rate(w):
    session = w.establish(n4.qer(1), qers=[1])
    assert w.up() and w.down()
    session.modify(n4.qer(1, mbr=(0, 0), update=True))
    assert w.up() and w.down()
    session.modify(n4.qer(1, mbr=(1 << 39, 1 << 39), update=True))
    assert w.up() and w.down()
    w.end(session)


# --- URRs ------------------------------------------------------------------------------------

@case  # "a URR with both VOLTH and VOLQU": both firing on one packet write past an array; cases.md 48, 49
def a_threshold_and_a_quota_on_one_packet(w):
    both = urr(1, ("volume_threshold", "volume_quota", "periodic_reporting"), threshold=threshold(total=100),
               quota=quota(total=100), period=pfcp.IE_MeasurementPeriod(period=3600))
    session = w.establish(both, urrs=[1])
    assert w.up(payload=b"u" * 150)
    seen = usage_until(w, "VOLQU")
    assert w.blocked()
    for round_number in range(3):
        session.modify(urr(1, ("volume_threshold", "volume_quota"), update=True, threshold=threshold(total=100),
                           quota=quota(total=100)))
        assert w.down(payload=b"d" * 120), round_number
        seen += usage_until(w, "VOLQU")
        assert w.blocked()
    final = n4.all_of(w.end(session), pfcp.IE_UsageReport_SDR)
    totals = [volumes(report) for report in seen + final]
    assert (sum(t[1] for t in totals), sum(t[2] for t in totals)) == (150, 360)


def usage_until(w, trigger):
    """Usage reports until one has the trigger."""
    seen = []
    while True:
        report = w.smf.wait_report()
        assert report is not None, f"no {trigger}"
        for usage in n4.all_of(report.payload, pfcp.IE_UsageReport_SRR):
            seen.append(usage)
            if getattr(n4.one_of(usage, pfcp.IE_UsageReportTrigger), trigger):
                return seen


@case  # "a URR without a trigger": counting stops for the URRs after it
def a_urr_without_a_trigger(w):
    session = w.establish(urr(1), urr(2, ("volume_threshold",), threshold=threshold(total=1 << 40)), urrs=[1, 2])
    for _ in range(4):
        assert w.up(payload=b"u" * 25) and w.down(payload=b"d" * 35)
    assert w.query(session, 2) == (240, 100, 140)
    assert w.query(session, 1) == (240, 100, 140)
    session.modify(urr(2, update=True))  # its trigger goes
    assert w.up(payload=b"u" * 25)
    assert w.query(session, 1) == w.query(session, 2) == (25, 25, 0)
    w.end(session)


@case  # "GET_MULTI_REPORTS of a URR that isn't there": fails after the others were reset; cases.md 9
def a_query_of_urrs_some_of_which_are_not_there(w):
    session = w.establish(*(n4.urr(n, threshold=1 << 40) for n in (1, 2, 3)), urrs=[1, 2, 3])
    assert w.up(payload=b"u" * 60)
    session.modify(n4.query_urr(1), n4.query_urr(2), n4.query_urr(7), n4.query_urr(3), expect=n4.RULE_FAILURE)
    answer = session.modify(n4.query_urr(3), n4.query_urr(1), n4.query_urr(2), n4.query_urr(1))
    reports = n4.all_of(answer, pfcp.IE_UsageReport_SMR)
    assert {n4.one_of(report, pfcp.IE_URR_Id).id for report in reports} == {1, 2, 3}
    assert sum(volumes(report)[0] for report in reports) == 180
    w.end(session)


@case  # quotas of one direction have a total of 0, which reads as exhausted at once; cases.md 49
def quotas_of_one_direction(w):
    for name, send in (("uplink", w.up), ("downlink", w.down)):
        session = w.establish(urr(1, ("volume_quota",), quota=quota(**{name: 100})), urrs=[1])
        assert w.up(payload=b"u" * 40) and w.down(payload=b"d" * 40)
        assert send(payload=b"x" * 80)
        usage_until(w, "VOLQU")
        assert w.blocked()
        session.modify(urr(1, ("volume_quota",), update=True, quota=quota(**{name: 1000})))
        assert w.up() and w.down()
        w.end(session)


@case  # a quota of nothing lets traffic pass uncounted, if the module is asked; START drops the first packet
def quotas_of_nothing_and_start_of_traffic(w):
    session = w.establish(urr(1, ("volume_quota",), quota=quota(total=0)), urrs=[1])
    assert w.blocked()
    session.modify(urr(1, ("volume_quota",), update=True, quota=quota(total=1 << 30)))
    assert w.up(payload=b"u" * 44)
    assert w.query(session) == (44, 44, 0)
    w.end(session)
    session = w.establish(urr(1, ("start_of_traffic",)), urrs=[1])
    assert w.up(payload=b"u" * 33)
    usage_until(w, "START")
    assert w.up(payload=b"u" * 33) and w.down(payload=b"d" * 22)
    answer = w.end(session)
    [final] = n4.all_of(answer, pfcp.IE_UsageReport_SDR)
    assert volumes(final)[2] == 22


@case  # a UE can make the module's counter go down: a TCP header that says it is longer than its packet
def a_packet_that_counts_less_than_nothing(w):
    session = w.establish(n4.urr(1, threshold=1 << 40), urrs=[1])
    lie = gtp.IP(src=net.UE1, dst=net.DN) / TCP(sport=5000, dport=7000, dataofs=15)
    for _ in range(3):
        w.gnb.send(gtp.uplink(TEID, lie))
    assert w.up(payload=b"u" * 500)
    total, up, down = w.query(session)
    assert total == up + down and up <= 1000 and down <= 200
    w.end(session)


@pytest.mark.parametrize("name", CASES)
def test_never_send(world, name):
    CASES[name](world)
    world.untouched()


def test_fuzzed_sequences_with_packets_between(plane, capable):
    options = ["--standin"] if plane == "standin" else []
    done = subprocess.run(
        [daemon.BUILD / "replay", *options, "--seconds", str(REPLAY), daemon.ROOT / "tests/fuzz/corpus/fuzz_sequence"],
        capture_output=True, text=True, timeout=REPLAY * 2 + 120)
    lines = done.stdout.splitlines()
    table.row("fuzzed sequences", plane, *[line for line in lines if line.startswith("seed")], *lines[-8:-7],
              "; ".join(line for line in lines if line.startswith("gtp5g_")))
    assert done.returncode == 0, done.stdout + done.stderr

"""Charging is exact: what a session's reports add up to is what an independent counter saw pass.

One session for each mix of triggers, all at once. The independent counters are nftables' in the namespaces of the host
(uplink) and of the gNB (downlink, by TEID): packets that the UPF forwarded, and no others.
UPF_CHARGING_ROUNDS rounds of traffic (8).
"""

import collections
import json
import os
import random
import struct
import time

import gtp
import n4
import net
import pytest
import table
from scapy.contrib import pfcp
from test_rules import volumes

ROUNDS = int(os.environ.get("UPF_CHARGING_ROUNDS", "8"))
PACKETS = 6  # of each session and round, each way
FIRST_TEID, FIRST_TUNNEL = 0x6001, 0x7001
NTP = 2208988800

VOLUME_TRIGGERS = {"VOLTH": "volume_threshold", "VOLQU": "volume_quota", "PERIO": "periodic_reporting",
                   "TIMTH": "time_threshold", "TIMQU": "time_quota", "START": "start_of_traffic", "STOPT": "stop_of_traffic",
                   "QUHTI": "quota_holding_time", "LIUSA": "linked_usage_reporting"}
QUVTI = {"spare": 2}, 0x08  # what scapy knows no name for: in Reporting Triggers, and in the third octet of a report's


def volume(kind, octets, way="total"):
    return kind(**{{"total": "TOVOL", "uplink": "ULVOL", "downlink": "DLVOL"}[way]: 1, way: octets})


def threshold(octets=3000, way="total"):
    return volume(pfcp.IE_VolumeThreshold, octets, way)


def quota(octets=9000, way="total"):
    return volume(pfcp.IE_VolumeQuota, octets, way)


PERIOD = pfcp.IE_MeasurementPeriod(period=1)
TIME_THRESHOLD = pfcp.IE_TimeThreshold(threshold=1)
TIME_QUOTA = pfcp.IE_TimeQuota(quota=1)
INACTIVE = pfcp.IE_InactivityDetectionTime(time_value=1)

# Name: triggers, and the IEs that go with them. An exhausted quota is renewed when its report comes.
MIXES = {
    "query only": ("VOLTH", [threshold(1 << 40)]),
    "VOLTH": ("VOLTH", [threshold()]),
    "VOLTH up": ("VOLTH", [threshold(2000, "uplink")]),
    "VOLTH down": ("VOLTH", [threshold(2000, "downlink")]),
    "VOLQU": ("VOLQU", [quota()]),
    "VOLQU up": ("VOLQU", [quota(2500, "uplink")]),
    "VOLQU down": ("VOLQU", [quota(5000, "downlink")]),
    "PERIO": ("PERIO", [PERIOD]),
    "TIMTH": ("TIMTH", [TIME_THRESHOLD, INACTIVE]),
    "TIMQU": ("TIMQU", [TIME_QUOTA]),
    "VOLTH VOLQU": ("VOLTH VOLQU", [threshold(), quota()]),
    "VOLTH PERIO": ("VOLTH PERIO", [threshold(), PERIOD]),
    "VOLTH TIMTH": ("VOLTH TIMTH", [threshold(), TIME_THRESHOLD]),
    "VOLQU TIMQU": ("VOLQU TIMQU", [quota(), TIME_QUOTA]),
    "QUHTI": ("QUHTI", [quota(1 << 40), pfcp.IE_QuotaHoldingTime(time_value=1)]),
    "QUVTI": ("QUVTI", [quota(1 << 40), pfcp.IE_NotImplemented(ietype=181, data=struct.pack("!I", 1))]),
    "before QoS": ("VOLTH", [threshold(), pfcp.IE_MeasurementInformation(MBQE=1)]),
    "START STOPT": ("START STOPT VOLTH", [threshold(1 << 40), INACTIVE]),
    "all": ("VOLTH VOLQU PERIO TIMTH TIMQU", [threshold(), quota(), PERIOD, TIME_THRESHOLD, TIME_QUOTA]),
    "linked": ("VOLTH", [threshold()]),  # beside URR 2, which is linked to it
    "monitoring time": ("VOLTH", [threshold()]),  # and a Monitoring Time in the midst of it
    "removed URR": ("VOLTH PERIO", [threshold(), PERIOD]),
    "removed PDRs": ("VOLTH", [threshold()]),
}


def triggers(names):
    flags = {VOLUME_TRIGGERS[name]: 1 for name in names.split() if name != "QUVTI"}
    return pfcp.IE_ReportingTriggers(**flags, **(QUVTI[0] if "QUVTI" in names else {}))


def raw_udp(source, target, payload):
    """A UDP packet of a UE: quicker than scapy's."""
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0,
                         bytes(map(int, source.split("."))), bytes(map(int, target.split("."))))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    checked = header[:10] + struct.pack("!H", ~total & 0xffff) + header[12:]
    return checked + struct.pack("!HHHH", 5000, 7000, 8 + len(payload), 0) + payload


class Charged:
    """A session whose URRs' reports are added up."""

    def __init__(self, number, name):
        self.name, self.number = name, number
        self.ue, self.teid, self.tunnel = f"10.60.1.{number + 1}", FIRST_TEID + number, FIRST_TUNNEL + number
        self.triggers, self.limits = MIXES[name]
        self.urrs = [1, 2] if name == "linked" else [1]
        self.reported = {urr: [0, 0] for urr in self.urrs}
        self.raised = collections.Counter()
        self.numbers = set()  # (URR, UR-SEQN)
        self.renew = False

    def establish(self, smf):
        more = []
        if self.name == "monitoring time":
            more = [pfcp.IE_MonitoringTime(time_value=int(time.time()) + NTP + 2),
                    volume(pfcp.IE_SubsequentVolumeThreshold, 2000)]
        rules = [pfcp.IE_CreateURR(IE_list=[pfcp.IE_URR_Id(id=1), pfcp.IE_MeasurementMethod(
            VOLUM=1, DURAT=int("TIM" in self.triggers)), triggers(self.triggers), *self.limits, *more])]
        if 2 in self.urrs:
            rules.append(pfcp.IE_CreateURR(IE_list=[
                pfcp.IE_URR_Id(id=2), pfcp.IE_MeasurementMethod(VOLUM=1), triggers("LIUSA"), pfcp.IE_LinkedURR_Id(id=1)]))
        options = {"ue": self.ue, "urrs": self.urrs, "qers": [1]}
        self.session = smf.establish(
            n4.pdr_uplink(teid=self.teid, **options), n4.pdr_downlink(**options), n4.far_forward(1),
            n4.far_forward(2, n4.ACCESS, (self.tunnel, net.GNB1)), n4.qer(1), *rules)

    def add(self, report):
        urr = n4.one_of(report, pfcp.IE_URR_Id).id
        number = urr, n4.one_of(report, pfcp.IE_UR_SEQN).number
        if number in self.numbers:  # told again because our answer came late
            return
        self.numbers.add(number)
        raised = n4.one_of(report, pfcp.IE_UsageReportTrigger)
        names = [name for name in ("PERIO", "VOLTH", "TIMTH", "QUHTI", "START", "STOPT", "IMMER", "VOLQU", "TIMQU",
                                   "LIUSA", "TERMR", "MONIT") if getattr(raised, name)]
        if raised.extra_data[:1] and raised.extra_data[0] & QUVTI[1]:
            names.append("QUVTI")
        self.raised.update(names)
        if n4.one_of(report, pfcp.IE_VolumeMeasurement) is not None:
            total, up, down = volumes(report)
            assert total == up + down
            self.reported[urr][0] += up
            self.reported[urr][1] += down
        if urr == 1 and set(names) & {"VOLQU", "TIMQU", "QUHTI", "QUVTI"}:
            self.renew = True

    def add_answer(self, answer, kind):
        for report in n4.all_of(answer, kind):
            self.add(report)

    def go_on(self):
        """What an SMF does between two bursts."""
        if self.renew:
            self.renew = False
            again = [ie for ie in self.limits if isinstance(ie, (pfcp.IE_VolumeQuota, pfcp.IE_TimeQuota))]
            self.add_answer(self.session.modify(pfcp.IE_UpdateURR(IE_list=[pfcp.IE_URR_Id(id=1), *again])),
                            pfcp.IE_UsageReport_SMR)

    def query(self):
        self.add_answer(self.session.modify(*(n4.query_urr(urr) for urr in self.urrs)), pfcp.IE_UsageReport_SMR)

    def end(self):
        if self.name == "removed URR":
            answer = self.session.modify(pfcp.IE_RemoveURR(IE_list=[pfcp.IE_URR_Id(id=1)]))
            self.add_answer(answer, pfcp.IE_UsageReport_SMR)
        if self.name == "removed PDRs":
            answer = self.session.modify(n4.remove_pdr(1), n4.remove_pdr(2))
            self.add_answer(answer, pfcp.IE_UsageReport_SMR)
        self.add_answer(self.session.delete(), pfcp.IE_UsageReport_SDR)


class Counters:
    """nftables counters of each session's forwarded packets."""

    def __init__(self, topology, sessions):
        self.topology = topology
        # Trains of datagrams that the kernel carries as one packet would count as one.
        for link in ("n3", "n6"):
            topology.upf.ip("link", "set", link, "gso_max_segs", "1")
        up = [(f"s{s.number}", f"ip saddr {s.ue} udp dport 7000") for s in sessions]
        down = [(f"s{s.number}", f"udp sport 2152 @th,72,8 0xff @th,96,32 {s.tunnel:#x}") for s in sessions]
        self._load(topology.dn, up)
        self._load(topology.ran, down)

    @staticmethod
    def _load(namespace, rules):
        text = "".join(f" counter {name} {{}}\n" for name, _ in rules)
        text += " chain seen { type filter hook prerouting priority -300;\n"
        text += "".join(f"  {match} counter name {name}\n" for name, match in rules) + " }\n"
        namespace.run("nft", f"table ip charged {{\n{text}}}")

    @staticmethod
    def _read(namespace):
        listed = json.loads(namespace.run("nft", "-j", "list", "counters", "table", "ip", "charged"))["nftables"]
        return {one["counter"]["name"]: (one["counter"]["packets"], one["counter"]["bytes"])
                for one in listed if "counter" in one}

    def payload(self):
        """By session number: (octets up, octets down) behind the inner UDP header, and packets of both."""
        up, down = self._read(self.topology.dn), self._read(self.topology.ran)
        # Outer IP, UDP, GTP-U with PDU Session Container: 44 octets.
        return {int(name[1:]): (up[name][1] - 28 * up[name][0], down[name][1] - (44 + 28) * down[name][0],
                                up[name][0], down[name][0]) for name in up}

    def delete(self):
        for namespace in (self.topology.dn, self.topology.ran):
            namespace.run("nft", "delete", "table", "ip", "charged", check=False)
        for link in ("n3", "n6"):
            self.topology.upf.ip("link", "set", link, "gso_max_segs", "65535")


@pytest.fixture
def charged(topology):
    sessions = [Charged(number, name) for number, name in enumerate(MIXES)]
    counters = Counters(topology, sessions)
    yield sessions, counters
    counters.delete()


def collect(smf, sessions, seconds):
    by_seid = {session.session.cp_seid: session for session in sessions}
    until = time.monotonic() + seconds
    while (report := smf.wait_report(max(0.01, until - time.monotonic()))) is not None:
        for usage in n4.all_of(report.payload, pfcp.IE_UsageReport_SRR):
            by_seid[report.seid].add(usage)


def burst(sessions, smf, gnb, host, dice):
    for _ in range(PACKETS):
        for session in sessions:
            payload = bytes(dice.choice((0, 1, 99, dice.randrange(1200))))
            gnb.send(gtp.uplink(session.teid, raw_udp(session.ue, net.DN, payload)))
            host.send(bytes(dice.randrange(1200)), ue=session.ue)
        smf.poll()


# cases.md 48, 49, 50, 51, 53
def test_reports_add_up_to_what_passed(upf, plane, smf, gnb, host, charged):
    sessions, counters = charged
    dice = random.Random(4)
    for session in sessions:
        session.establish(smf)
    started = time.monotonic()
    for number in range(ROUNDS):
        burst(sessions, smf, gnb, host, dice)
        collect(smf, sessions, 0.05)
        for session in sessions:
            session.go_on()
            if number % 4 == 2:
                session.query()
        # Periods and time thresholds of a second, each at least once.
        collect(smf, sessions, max(0.05, started + max(2.5, 0.2 * ROUNDS) * (number + 1) / ROUNDS - time.monotonic()))
    collect(smf, sessions, 2.2)  # gtp5g says what was sent, not when: a second of silence is seen after two
    burst(sessions, smf, gnb, host, dice)
    for session in sessions:
        session.end()
        smf.poll()
    # What had no place in the answers comes behind them, each report when the one before it was answered.
    before = None
    while before != (before := sum(len(session.numbers) for session in sessions)):
        collect(smf, sessions, 0.5)

    wrong, silent = [], []
    for number, (up, down, packets_up, packets_down) in counters.payload().items():
        session = sessions[number]
        if plane == "userspace":  # counts whole T-PDUs
            up, down = up + 28 * packets_up, down + 28 * packets_down
        raised = " ".join(f"{name}:{count}" for name, count in sorted(session.raised.items()))
        for urr, (reported_up, reported_down) in session.reported.items():
            exact = (reported_up, reported_down) == (up, down)
            table.row("charging", plane, session.name + f" URR {urr}", f"nftables {up} up {down} down",
                      f"reports {reported_up} up {reported_down} down", "exact" if exact else "WRONG", raised)
            if not exact or packets_up == 0 or packets_down == 0:
                wrong.append((session.name, urr))
        # Of several triggers some keep others from firing.
        if session.name != "query only" and not any(session.raised[trigger] for trigger in session.triggers.split()):
            silent.append(session.name)
    assert not wrong, f"the sums are not what passed: {wrong}"
    assert not silent, f"no report by its own trigger: {silent}"

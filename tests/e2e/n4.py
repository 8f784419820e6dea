"""An SMF written with scapy's PFCP: an implementation of the protocol that is not ours."""

import itertools
import logging
import random
import socket
import struct
import time

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.contrib import pfcp  # noqa: E402

import net  # noqa: E402

ACCEPTED, NOT_FOUND, MANDATORY_MISSING, INVALID_LENGTH, MANDATORY_INCORRECT = 1, 65, 66, 68, 69
NO_ASSOCIATION, RULE_FAILURE = 72, 73
ACCESS, CORE = 0, 1
PFCP_PORT = 8805
SO_RCVBUFFORCE = 33


# Rules, with the IDs of one session. What a test cares about it says; the rest is as an SMF would write it.

def far_forward(identity, to=CORE, tunnel=None, end_marker=False, update=False):
    """`tunnel`: (TEID, address) of an Outer Header Creation."""
    parameters = [pfcp.IE_DestinationInterface(interface=to)]
    if tunnel is not None:
        parameters.append(pfcp.IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=tunnel[0], ipv4=tunnel[1]))
    if end_marker:
        parameters.append(pfcp.IE_PFCPSMReqFlags(SNDEM=1))
    group = pfcp.IE_UpdateForwardingParameters if update else pfcp.IE_ForwardingParameters
    return far(identity, pfcp.IE_ApplyAction(FORW=1), [group(IE_list=parameters)], update)


def far_buffer(identity, notify=True, update=False, bar=None):
    extra = [pfcp.IE_BAR_Id(id=bar)] if bar is not None else []
    return far(identity, pfcp.IE_ApplyAction(BUFF=1, NOCP=int(notify)), extra, update)


def far_drop(identity, update=False):
    return far(identity, pfcp.IE_ApplyAction(DROP=1), [], update)


def far(identity, action, more, update=False):
    group = pfcp.IE_UpdateFAR if update else pfcp.IE_CreateFAR
    return group(IE_list=[pfcp.IE_FAR_Id(id=identity), action, *more])


def sdf(description):
    return pfcp.IE_SDF_Filter(FD=1, flow_description=description)


def _pdr(identity, precedence, pdi, removal, far_id, qers, urrs, update):
    parts = [pfcp.IE_PDR_Id(id=identity), pfcp.IE_Precedence(precedence=precedence), pfcp.IE_PDI(IE_list=pdi)]
    if removal:
        parts.append(pfcp.IE_OuterHeaderRemoval(header=0))
    parts.append(pfcp.IE_FAR_Id(id=far_id))
    parts += [pfcp.IE_URR_Id(id=urr) for urr in urrs] + [pfcp.IE_QER_Id(id=qer) for qer in qers]
    return (pfcp.IE_UpdatePDR if update else pfcp.IE_CreatePDR)(IE_list=parts)


def pdr_uplink(identity=1, far_id=1, teid=None, ue=net.UE1, precedence=255, filters=(), qers=(), urrs=(),
               choose=False, update=False):
    if choose:
        f_teid = pfcp.IE_FTEID(CH=1, V4=1)
    else:
        f_teid = pfcp.IE_FTEID(V4=1, TEID=teid, ipv4=net.UPF)
    pdi = [pfcp.IE_SourceInterface(interface=ACCESS), f_teid, pfcp.IE_NetworkInstance(instance="internet")]
    if ue is not None:
        pdi.append(pfcp.IE_UE_IP_Address(V4=1, ipv4=ue))
    pdi += [sdf(text) for text in filters]
    return _pdr(identity, precedence, pdi, True, far_id, qers, urrs, update)


def pdr_downlink(identity=2, far_id=2, ue=net.UE1, precedence=255, filters=(), qers=(), urrs=(), update=False):
    pdi = [pfcp.IE_SourceInterface(interface=CORE), pfcp.IE_NetworkInstance(instance="internet"),
           pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=ue)] + [sdf(text) for text in filters]
    return _pdr(identity, precedence, pdi, False, far_id, qers, urrs, update)


def pdr_tunnel(identity, far_id, teid, source=CORE, precedence=255, ue=None, filters=()):
    """What comes out of a tunnel and is not for the access side: N9, indirect forwarding."""
    pdi = [pfcp.IE_SourceInterface(interface=source), pfcp.IE_FTEID(V4=1, TEID=teid, ipv4=net.UPF)]
    if ue is not None:
        pdi.append(pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=ue))
    pdi += [sdf(text) for text in filters]
    return _pdr(identity, precedence, pdi, True, far_id, (), (), False)


def qer(identity=1, qfi=9, uplink_open=True, downlink_open=True, mbr=None, update=False):
    parts = [pfcp.IE_QER_Id(id=identity),
             pfcp.IE_GateStatus(ul=0 if uplink_open else 1, dl=0 if downlink_open else 1)]
    if mbr is not None:
        parts.append(pfcp.IE_MBR(ul=mbr[0], dl=mbr[1]))
    parts.append(pfcp.IE_QFI(QFI=qfi))
    return (pfcp.IE_UpdateQER if update else pfcp.IE_CreateQER)(IE_list=parts)


def urr(identity=1, threshold=None, quota=None, period=None):
    triggers = pfcp.IE_ReportingTriggers(volume_threshold=int(threshold is not None),
                                         volume_quota=int(quota is not None),
                                         periodic_reporting=int(period is not None))
    parts = [pfcp.IE_URR_Id(id=identity), pfcp.IE_MeasurementMethod(VOLUM=1), triggers]
    if period is not None:
        parts.append(pfcp.IE_MeasurementPeriod(period=period))
    if threshold is not None:
        parts.append(pfcp.IE_VolumeThreshold(TOVOL=1, total=threshold))
    if quota is not None:
        parts.append(pfcp.IE_VolumeQuota(TOVOL=1, total=quota))
    return pfcp.IE_CreateURR(IE_list=parts)


def query_urr(identity=1):
    return pfcp.IE_QueryURR(IE_list=[pfcp.IE_URR_Id(id=identity)])


def remove_pdr(identity):
    return pfcp.IE_RemovePDR(IE_list=[pfcp.IE_PDR_Id(id=identity)])


# Reading.

def all_of(holder, kind):
    return [ie for ie in holder.IE_list if isinstance(ie, kind)]


def one_of(holder, kind):
    """The IE of that kind, or None; two of them are an error of the test's subject."""
    found = all_of(holder, kind)
    assert len(found) <= 1, f"{kind.__name__} {len(found)} times"
    return found[0] if found else None


def cause(response):
    """The cause of a response (its payload or the whole message)."""
    body = response.payload if isinstance(response, pfcp.PFCP) else response
    ie = one_of(body, pfcp.IE_Cause)
    return None if ie is None else ie.cause


class Session:
    """A session of an Smf, by its two SEIDs."""

    def __init__(self, smf, cp_seid, up_seid, response):
        self.smf, self.cp_seid, self.up_seid, self.response = smf, cp_seid, up_seid, response

    def modify(self, *ies, expect=ACCEPTED):
        response = self.smf.request(pfcp.PFCPSessionModificationRequest(IE_list=list(ies)), self.up_seid)
        assert response.seid == self.cp_seid
        assert cause(response) == expect, response.show(dump=True)
        return response.payload

    def delete(self, expect=ACCEPTED):
        response = self.smf.request(pfcp.PFCPSessionDeletionRequest(IE_list=[]), self.up_seid)
        assert cause(response) == expect, response.show(dump=True)
        return response.payload

    def created_teid(self, pdr=1):
        for created in all_of(self.response, pfcp.IE_CreatedPDR):
            if one_of(created, pfcp.IE_PDR_Id).id == pdr:
                return one_of(created, pfcp.IE_FTEID).TEID
        raise AssertionError(f"no Created PDR {pdr}: {self.response.show(dump=True)}")


class Smf:
    def __init__(self, topology, address=net.SMF2, node_id=None):
        self.address, self.node_id = address, node_id
        self.socket = topology.ran.udp(address, PFCP_PORT)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        self.sequences = itertools.count(random.randrange(1, 1 << 20))
        self.seids = itertools.count(random.randrange(1, 1 << 32))
        self.reports = []
        self.seen = set()  # sequence numbers of reports
        self.up_seids = {}  # by CP SEID
        self.recovery = int(time.time()) + 2208988800
        self.answers_reports = True

    def close(self):
        self.socket.close()

    def node(self):
        if self.node_id is not None:
            return pfcp.IE_NodeId(id_type=2, id=self.node_id)
        return pfcp.IE_NodeId(id_type=0, ipv4=self.address)

    def send(self, octets):
        self.socket.sendto(octets, (net.UPF, PFCP_PORT))

    def receive(self, seconds):
        """The next response, or None. Heartbeats and Session Reports are answered; reports are kept."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and (octets := self._read(left)) is not None:
            if not self._serve(octets):
                return pfcp.PFCP(octets)
        return None

    def poll(self):
        """Serves what the UPF asks, without waiting."""
        while (octets := self._read(1e-6)) is not None:
            self._serve(octets)

    def _read(self, seconds):
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(65536)
        except (socket.timeout, BlockingIOError):
            return None

    def _serve(self, octets):
        """Whether it was a request of the UPF. By hand: scapy takes its time, and reports may come in crowds."""
        if octets[1:2] == b"\x01":
            self.send(bytes(pfcp.PFCP(S=0, seq=int.from_bytes(octets[4:7], "big")) / pfcp.PFCPHeartbeatResponse(
                IE_list=[pfcp.IE_RecoveryTimeStamp(timestamp=self.recovery)])))
            return True
        if octets[1:2] != b"\x38":
            return False
        cp_seid, sequence = int.from_bytes(octets[4:12], "big"), octets[12:15]
        if sequence not in self.seen:  # sent again: answered again, counted once
            self.seen.add(sequence)
            self.reports.append(octets)
        if self.answers_reports:
            accepted = bytes([0, 19, 0, 1, ACCEPTED])
            self.send(struct.pack("!BBHQ", 0x21, 57, 12 + len(accepted), self.up_seids.get(cp_seid, 0)) +
                      sequence + b"\0" + accepted)
        return True

    def exchange(self, octets, sequence, seconds=5, tries=3):
        """The response with that sequence number; Session Reports that come first are kept."""
        while tries > 0:
            self.send(octets)
            if (response := self._await(sequence, seconds)) is not None:
                return response
            tries -= 1
        return None

    def _await(self, sequence, seconds):
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            message = self.receive(left)
            if message is not None and message.seq == sequence:
                return message
        return None

    def request(self, body, seid=None, sequence=None):
        sequence = next(self.sequences) & 0xffffff if sequence is None else sequence
        header = pfcp.PFCP(S=0, seq=sequence) if seid is None else pfcp.PFCP(S=1, seid=seid, seq=sequence)
        response = self.exchange(bytes(header / body), sequence)
        assert response is not None, f"no answer to {body.name}"
        assert isinstance(response.payload, pfcp.Packet) and response.payload.name != "Raw", response
        return response

    def associate(self):
        response = self.request(pfcp.PFCPAssociationSetupRequest(
            IE_list=[self.node(), pfcp.IE_RecoveryTimeStamp(timestamp=self.recovery)]))
        assert cause(response) == ACCEPTED, response.show(dump=True)
        return response.payload

    def establish(self, *ies, expect=ACCEPTED):
        """A Session, or the refusal's body where another cause than Accepted is expected."""
        cp_seid = next(self.seids)
        response = self.request(pfcp.PFCPSessionEstablishmentRequest(
            IE_list=[self.node(), pfcp.IE_FSEID(v4=1, seid=cp_seid, ipv4=self.address), *ies,
                     pfcp.IE_PDNType(pdn_type=1)]), seid=0)
        assert response.seid == cp_seid, "the header does not carry the CP F-SEID"
        assert cause(response) == expect, response.show(dump=True)
        if expect != ACCEPTED:
            return response.payload
        up_seid = one_of(response.payload, pfcp.IE_FSEID).seid
        self.up_seids[cp_seid] = up_seid
        return Session(self, cp_seid, up_seid, response.payload)

    def wait_report(self, seconds=5):
        """The oldest Session Report that was not taken yet, or None."""
        deadline = time.monotonic() + seconds
        while not self.reports and (left := deadline - time.monotonic()) > 0:
            if (octets := self._read(left)) is not None:
                self._serve(octets)
        return pfcp.PFCP(self.reports.pop(0)) if self.reports else None

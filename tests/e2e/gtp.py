"""GTP-U by hand: a gNB (or another UPF) and a host in the data network that see each packet as it is."""

import logging
import select
import socket
import struct
import sys
import time

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import ICMP, IP, TCP, UDP  # noqa: E402,F401
from scapy.packet import Raw  # noqa: E402

import net  # noqa: E402

GTPU_PORT = 2152
ECHO_REQUEST, ECHO_RESPONSE, ERROR_INDICATION, END_MARKER, G_PDU = 1, 2, 26, 254, 255


def uplink(teid, inner, qfi=9):
    """A G-PDU as a gNB sends it, with the uplink PDU Session Container (TS 38.415 5.5.2.2)."""
    inner = bytes(inner)
    return struct.pack("!BBHI", 0x34, G_PDU, 8 + len(inner), teid) + bytes(
        [0, 0, 0, 0x85, 1, 0x10, qfi, 0]) + inner


def plain(teid, inner):
    """A G-PDU of 8 octets of header, as on N9 and from old gNBs."""
    inner = bytes(inner)
    return struct.pack("!BBHI", 0x30, G_PDU, len(inner), teid) + inner


def echo_request(sequence):
    return struct.pack("!BBHIHBB", 0x32, ECHO_REQUEST, 4, 0, sequence, 0, 0)


FLOOD = """
import socket, sys
own, *datagrams = sys.argv[1:]
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind((own, 0))
datagrams = [((address, int(port)), bytes.fromhex(octets)) for address, port, octets in (one.split("/") for one in datagrams)]
while True:
    for to, octets in datagrams:
        out.sendto(octets, to)
"""


def flood(namespace, own, datagrams):
    """A process that sends (address, port, octets) in turn, as fast as it can, until it is killed."""
    words = [f"{address}/{port}/{bytes(octets).hex()}" for address, port, octets in datagrams]
    return namespace.popen(sys.executable, "-c", FLOOD, own, *words)


class Packet:
    """A GTP-U datagram, taken apart by hand: fields as on the wire."""

    def __init__(self, octets):
        self.octets = octets
        self.flags, self.type = octets[0], octets[1]
        self.length, self.teid = int.from_bytes(octets[2:4], "big"), int.from_bytes(octets[4:8], "big")
        assert self.flags >> 4 == 3, f"not GTPv1-U: {octets.hex()}"
        assert self.length == len(octets) - 8, f"wrong length: {octets.hex()}"
        self.sequence = self.qfi = self.container = None
        at = 8
        if self.flags & 7:
            if self.flags & 2:
                self.sequence = int.from_bytes(octets[8:10], "big")
            next_type, at = octets[11], 12
            while self.flags & 4 and next_type:
                size = octets[at] * 4
                assert size, "an extension header of length 0"
                if next_type == 0x85:
                    self.container = octets[at + 1:at + size - 1]
                    self.qfi = self.container[1] & 0x3f
                next_type = octets[at + size - 1]
                at += size
        self.payload = octets[at:]

    @property
    def inner(self):
        return IP(self.payload)


class Peer:
    """A GTP-U peer in the ran namespace."""

    def __init__(self, topology, address):
        self.address = address
        self.socket = topology.ran.udp(address, GTPU_PORT)

    def close(self):
        self.socket.close()

    def send(self, octets, to=net.UPF):
        self.socket.sendto(octets, (to, GTPU_PORT))

    def receive(self, seconds=5):
        """The next datagram as a Packet, or None. Echo Requests of the UPF are answered, and not told."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                packet = Packet(self.socket.recv(65536))
            except socket.timeout:
                return None
            if packet.type != ECHO_REQUEST:
                return packet
            self.send(struct.pack("!BBHIHBBBB", 0x32, ECHO_RESPONSE, 6, 0, packet.sequence, 0, 0, 14, 0))
        return None

    def drain(self, quiet=0.3):
        """All that comes until nothing comes for `quiet` seconds."""
        packets = []
        while (packet := self.receive(quiet)) is not None:
            packets.append(packet)
        return packets


class Host:
    """A host in the data network: UDP on a port, and all IPv4 packets that reach its link."""

    def __init__(self, topology, address=net.DN, port=7000):
        self.address, self.port = address, port
        self.socket = topology.dn.udp(address, port)
        self.frames = topology.dn.packets("n6")

    def close(self):
        self.socket.close()
        self.frames.close()

    def send(self, payload, ue=net.UE1, port=5000):
        self.socket.sendto(payload, (ue, port))

    def receive(self, seconds=5):
        """(payload, (address, port)) of the next datagram, or None."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recvfrom(65536)
        except socket.timeout:
            return None

    def frame_from(self, source, seconds=5):
        """The next IPv4 packet on the link from that address, as scapy's IP, or None."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self.frames], [], [], left)[0]:
                return None
            octets, where = self.frames.recvfrom(65536)
            if where[2] != socket.PACKET_OUTGOING and octets[12:14] == b"\x08\x00":
                packet = IP(octets[14:])
                if packet.src == source:
                    return packet
        return None


def error_indication(teid, peer):
    """We don't know the tunnel that is sent to as `teid` at `peer` (TS 29.281 7.3.1)."""
    body = struct.pack("!BI", 16, teid) + struct.pack("!BH", 133, 4) + socket.inet_aton(peer)
    return struct.pack("!BBHIHBB", 0x32, ERROR_INDICATION, 4 + len(body), 0, 1, 0, 0) + body


def ue_udp(payload, ue=net.UE1, to=net.DN, sport=5000, dport=7000, **ip):
    return IP(src=ue, dst=to, **ip) / UDP(sport=sport, dport=dport) / Raw(payload)

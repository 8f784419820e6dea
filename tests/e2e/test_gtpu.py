"""The GTP-U node itself: path management, unknown tunnels, and what it must survive."""

import socket
import struct

import gtp
import net
import pytest
from test_sessions import TEID, establish

SO_NO_CHECK = 11


# cases.md 64
@pytest.mark.parametrize("sequence", [0, 1, 65535])
def test_echo_is_answered_with_its_sequence_number(upf, gnb, sequence):
    gnb.send(gtp.echo_request(sequence))
    answer = gnb.receive()
    assert (answer.type, answer.teid, answer.sequence) == (gtp.ECHO_RESPONSE, 0, sequence)
    assert answer.payload == bytes([14, 0]), "Recovery IE with restart counter 0, TS 29.281 7.2.2"


# cases.md 64
def test_an_echo_request_with_an_extension_header_is_answered(upf, gnb):
    # Between two namespaces checksums are left half made, and to a longer request than usual the module then gives a wrong
    # one: this request has none.
    gnb.socket.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    container = bytes([1, 0x10, 9, 0])
    gnb.send(struct.pack("!BBHIHBB", 0x36, gtp.ECHO_REQUEST, 4 + len(container), 0, 7, 0, 0x85) + container)
    answer = gnb.receive()
    assert (answer.type, answer.teid, answer.sequence) == (gtp.ECHO_RESPONSE, 0, 7)


# cases.md 64
def test_an_unknown_teid_gets_an_error_indication(upf, plane, gnb):
    if plane != "userspace":
        pytest.skip("gtp5g drops unknown TEIDs in the kernel, where nobody can see them")
    gnb.send(gtp.uplink(0xdeadbeef, gtp.ue_udp(b"lost")))
    answer = gnb.receive()
    assert (answer.type, answer.teid) == (gtp.ERROR_INDICATION, 0)
    assert answer.payload[:5] == struct.pack("!BI", 16, 0xdeadbeef), "TEID Data I, TS 29.281 8.3"
    assert answer.payload[5:12] == b"\x85\x00\x04" + bytes(map(int, net.UPF.split("."))), "GTP-U Peer Address"


HOSTILE = {
    "empty": b"",
    "one octet": b"\x30",
    "header cut": b"\x30\xff\x00\x00\x11\x22\x33",
    "no payload": struct.pack("!BBHI", 0x30, gtp.G_PDU, 0, TEID),
    "length beyond the datagram": struct.pack("!BBHI", 0x30, gtp.G_PDU, 65535, TEID) + b"E" * 20,
    "version 0": struct.pack("!BBHI", 0x10, gtp.G_PDU, 20, TEID) + b"E" * 20,
    "GTP prime": struct.pack("!BBHI", 0x20, gtp.G_PDU, 20, TEID) + b"E" * 20,
    "extension of length 0": struct.pack("!BBHI", 0x34, gtp.G_PDU, 8, TEID) + bytes([0, 0, 0, 0x85, 0, 0, 0, 0]),
    "extension past the end": struct.pack("!BBHI", 0x34, gtp.G_PDU, 8, TEID) + bytes([0, 0, 0, 0x85, 255, 0, 0, 0]),
    "endless extensions": struct.pack("!BBHI", 0x34, gtp.G_PDU, 804, TEID) + bytes([0, 0, 0, 0x20]) +
                          bytes([1, 0, 0, 0x20]) * 200,
    "inner IPv4 cut": struct.pack("!BBHI", 0x30, gtp.G_PDU, 10, TEID) + bytes(gtp.ue_udp(b""))[:10],
    "inner length lies": struct.pack("!BBHI", 0x30, gtp.G_PDU, 28, TEID) + bytes(gtp.ue_udp(b"", len=4000)),
    "inner version 7": struct.pack("!BBHI", 0x30, gtp.G_PDU, 28, TEID) + b"\x75" + bytes(27),
    "inner header length 0": struct.pack("!BBHI", 0x30, gtp.G_PDU, 28, TEID) + b"\x40" + bytes(gtp.ue_udp(b""))[1:],
    "unknown type": struct.pack("!BBHI", 0x32, 99, 4, 0) + bytes(4),
    "error indication cut": struct.pack("!BBHI", 0x32, gtp.ERROR_INDICATION, 5, 0) + bytes([0, 0, 0, 0, 16]),
    "end marker": struct.pack("!BBHI", 0x30, gtp.END_MARKER, 0, TEID),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_datagrams_change_nothing(upf, smf, gnb, host, what):
    establish(smf, downlink=(0x2001, net.GNB1))
    for _ in range(3):
        gnb.send(HOSTILE[what])
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"still here")))
    assert host.receive()[0] == b"still here"
    assert host.receive(0.1) is None

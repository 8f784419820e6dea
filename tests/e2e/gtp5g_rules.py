"""Meddles with the gtp5g module's rules by plain generic netlink, as no UPF should: `gtp5g_rules.py LINK COMMAND`.

list          prints "KIND SEID ID" of each rule, one a line
lose KIND     deletes the first rule of that kind (a PDR, or what no PDR uses)
drop          turns every FAR to DROP
stray         makes a FAR and a PDR of a session that nobody has
"""

import socket
import struct
import sys

KINDS = ["pdr", "far", "qer", "urr"]
ADD, DELETE, GET = ({"pdr": 1, "far": 2}, {"pdr": 4, "far": 5, "qer": 6, "urr": 12}, {"pdr": 7, "far": 8, "qer": 9, "urr": 14})
SEID = {"pdr": 11, "far": 7, "qer": 13, "urr": 8}  # attribute numbers; 3 is the ID of each
REQUEST, ACK, REPLACE, EXCL, DUMP = 1, 4, 0x100, 0x200, 0x300
NESTED = 0x8000


def attribute(number, octets):
    return struct.pack("=HH", len(octets) + 4, number) + octets + b"\0" * (-len(octets) % 4)


def attributes(octets):
    found = {}
    while len(octets) >= 4:
        length, number = struct.unpack_from("=HH", octets)
        found[number & 0x3FFF] = octets[4:length]
        octets = octets[(length + 3) & ~3:]
    return found


class Module:
    def __init__(self, link):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.settimeout(10)
        family, *_ = self.ask(16, 3, REQUEST | ACK, attribute(2, b"gtp5g\0"), version=1)  # to its ack
        self.family = struct.unpack("=H", attributes(family)[1])[0]
        self.link = attribute(1, struct.pack("=I", socket.if_nametoindex(link)))

    def ask(self, family, command, flags, body, version=0):
        """The answers' attributes; ends with the ack or the end of a dump."""
        self.socket.send(struct.pack("=IHHIIBBH", 20 + len(body), family, flags, 1, 0, command, version, 0) + body)
        while True:
            data = self.socket.recv(65536)
            while len(data) >= 16:
                length, kind = struct.unpack_from("=IH", data)
                if kind == 3:
                    return
                if kind == 2:
                    error = struct.unpack_from("=i", data, 16)[0]
                    if error != 0:
                        raise OSError(-error, f"command {command}")
                    return
                yield data[20:length]
                data = data[(length + 3) & ~3:]

    def rules(self):
        for kind in KINDS:
            for answer in self.ask(self.family, GET[kind], REQUEST | DUMP, b""):
                found = attributes(answer)
                yield kind, int.from_bytes(found[SEID[kind]], sys.byteorder), int.from_bytes(found[3], sys.byteorder)

    def run(self, command, kind, seid, number, flags, more=b""):
        width = "=H" if kind == "pdr" else "=I"
        body = self.link + attribute(3, struct.pack(width, number)) + attribute(SEID[kind], struct.pack("=Q", seid)) + more
        list(self.ask(self.family, command[kind], REQUEST | ACK | flags, body))


def main(link, command, *words):
    module = Module(link)
    if command == "list":
        for kind, seid, number in module.rules():
            print(kind, seid, number)
    elif command == "lose":
        kind, seid, number = next(rule for rule in module.rules() if rule[0] == words[0])
        module.run(DELETE, kind, seid, number, 0)
    elif command == "drop":
        for kind, seid, number in list(module.rules()):
            if kind == "far":
                module.run(ADD, kind, seid, number, REPLACE, attribute(4, struct.pack("=H", 1)))
    elif command == "stray":
        module.run(ADD, "far", 0x5EED, 7, EXCL, attribute(4, struct.pack("=H", 1)))
        tunnel = attribute(2 | NESTED, attribute(1, struct.pack("=I", 0x999)) + attribute(2, socket.inet_aton("10.200.3.1")))
        module.run(ADD, "pdr", 0x5EED, 7, EXCL,
                   attribute(4, struct.pack("=I", 1)) + attribute(5 | NESTED, attribute(4, b"\0") + tunnel)
                   + attribute(6, b"\0") + attribute(7, struct.pack("=I", 7)) + attribute(8, socket.inet_aton("10.200.3.1"))
                   + attribute(9, b"/\0"))


if __name__ == "__main__":
    main(*sys.argv[1:])

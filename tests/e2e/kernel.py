"""What the real gtp5g holds, read and changed past the daemon by generic netlink; and the kernel's log."""

import os
import re
import socket
import struct

NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 16, 3
REQUEST_DUMP, NLMSG_ERROR, NLMSG_DONE = 0x301, 2, 3
REQUEST_ACK, REPLACE, EXCL, NESTED = 5, 0x100, 0x200, 0x8000
ADD_PDR, ADD_FAR, DEL_PDR = 1, 2, 4
# Command, and the attribute that holds the SEID; 3 is the ID of each.
DUMPS = {"pdr": (7, 11), "far": (8, 7), "qer": (9, 13), "urr": (14, 8)}

BROKEN = re.compile(r"BUG|Oops|WARNING:|Call Trace|general protection|blocked for more|refcount|NULL pointer")


def _attributes(octets):
    at = 0
    while at + 4 <= len(octets):
        length, kind = struct.unpack_from("HH", octets, at)
        if length < 4:
            return
        yield kind & 0x3fff, octets[at + 4:at + length]
        at += (length + 3) & ~3


def _attribute(number, octets):
    return struct.pack("HH", len(octets) + 4, number) + octets + bytes(-len(octets) % 4)


def _messages(octets):
    at = 0
    while at + 16 <= len(octets):
        length, kind = struct.unpack_from("IH", octets, at)
        yield kind, octets[at + 16:at + length]
        at += (length + 3) & ~3


class Gtp5g:
    """The module's rules in one network namespace."""

    def __init__(self, namespace):
        with namespace.inside():
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.socket.settimeout(10)
        name = b"gtp5g\0"
        self._send(GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY, _attribute(2, name))
        [(kind, body)] = _messages(self.socket.recv(65536))
        assert kind != NLMSG_ERROR, "the module gtp5g isn't loaded"
        self.family = struct.unpack("H", dict(_attributes(body[4:]))[1])[0]

    def close(self):
        self.socket.close()

    def _send(self, kind, flags, command, attributes=b""):
        body = struct.pack("BBH", command, 0, 0) + attributes
        self.socket.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)

    def rules(self, what):
        """(SEID, octets of the rule's attributes), in the kernel's order."""
        command, seid_attribute = DUMPS[what]
        self._send(self.family, REQUEST_DUMP, command)
        found = []
        while True:
            for kind, body in _messages(self.socket.recv(1 << 20)):
                if kind == NLMSG_DONE:
                    return found
                assert kind != NLMSG_ERROR, f"the dump of {what}s ended with an error"
                attributes = body[4:]
                seid = dict(_attributes(attributes)).get(seid_attribute, bytes(8))
                found.append((struct.unpack("Q", seid)[0], attributes))

    def everything(self, seid=None):
        """All rules, or those of a session, as one comparable value."""
        return {what: sorted(rule for owner, rule in self.rules(what) if seid in (None, owner)) for what in DUMPS}

    def counts(self):
        return {what: len(self.rules(what)) for what in DUMPS}


class Meddler(Gtp5g):
    """Changes the module's rules as no UPF should."""

    DROP = _attribute(4, struct.pack("H", 1))

    def __init__(self, namespace, link):
        super().__init__(namespace)
        with namespace.inside():
            self.link = _attribute(1, struct.pack("I", socket.if_nametoindex(link)))

    def _run(self, command, what, seid, identity, flags=0, more=b""):
        owner = _attribute(DUMPS[what][1], struct.pack("Q", seid))
        self._send(self.family, REQUEST_ACK | flags, command, self.link + _attribute(3, identity) + owner + more)
        [(kind, body)] = _messages(self.socket.recv(65536))
        assert (kind, struct.unpack_from("i", body)[0]) == (NLMSG_ERROR, 0), f"the module refused command {command}"

    def lose_a_pdr(self):
        seid, rule = self.rules("pdr")[0]
        self._run(DEL_PDR, "pdr", seid, dict(_attributes(rule))[3])

    def drop_everywhere(self):
        for seid, rule in self.rules("far"):
            self._run(ADD_FAR, "far", seid, dict(_attributes(rule))[3], REPLACE, self.DROP)

    def leave_strays(self):
        """A FAR and a PDR of a session that nobody has."""
        address = socket.inet_aton("10.200.3.1")
        tunnel = _attribute(2 | NESTED, _attribute(1, struct.pack("I", 0x999)) + _attribute(2, address))
        self._run(ADD_FAR, "far", 0x5EED, struct.pack("I", 7), EXCL, self.DROP)
        self._run(ADD_PDR, "pdr", 0x5EED, struct.pack("H", 7), EXCL,
                  _attribute(4, struct.pack("I", 1)) + _attribute(5 | NESTED, _attribute(4, b"\0") + tunnel)
                  + _attribute(6, b"\0") + _attribute(7, struct.pack("I", 7)) + _attribute(8, address) + _attribute(9, b"/\0"))


class Log:
    """The kernel's log from now on."""

    def __init__(self):
        self.descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.descriptor, 0, os.SEEK_END)

    def alarms(self):
        lines = []
        while True:
            try:
                lines.append(os.read(self.descriptor, 8192).decode(errors="replace"))
            except BlockingIOError:
                return [line for line in lines if BROKEN.search(line)]
            except BrokenPipeError:  # lines were overwritten
                continue

    def close(self):
        os.close(self.descriptor)

"""Runs a command as a systemd unit says, as far as that goes without systemd: user, capabilities, no
new privileges, readiness and watchdog over a notify socket."""

import os
import re
import socket
import subprocess


def setting(unit, name):
    """All values of a key of the unit, in one list."""
    return [word for line in re.findall(rf"^{name}=(.*)$", unit, re.M) for word in line.split()]


def command(unit):
    """The unit's ExecStart behind setpriv with the unit's user and capabilities."""
    (user,), (group,) = setting(unit, "User"), setting(unit, "Group")
    bounding = ",".join("+" + name[4:].lower() for name in setting(unit, "CapabilityBoundingSet"))
    ambient = ",".join("+" + name[4:].lower() for name in setting(unit, "AmbientCapabilities"))
    assert bounding and setting(unit, "NoNewPrivileges") == ["yes"]
    return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs",
            f"--inh-caps=-all,{ambient}", f"--ambient-caps={ambient}", f"--bounding-set=-all,{bounding}",
            *setting(unit, "ExecStart")]


def capability_mask(unit):
    numbers = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13}  # capabilities(7)
    return sum(1 << numbers[name] for name in setting(unit, "CapabilityBoundingSet"))


class Notify:
    """The socket that Type=notify services write to."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        os.chmod(path, 0o666)
        self.socket.settimeout(20)

    def wait_for(self, word):
        """Messages up to one that has the word as a line; fails after the time-out."""
        while True:
            message = self.socket.recv(4096).decode()
            if word in message.split("\n"):
                return message


def call_set(name):
    """The system calls of a set of systemd's, such as @system-service."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    calls = set()
    for word in re.findall(r"^    (\S+)$", listed, re.M):
        calls |= call_set(word) if word.startswith("@") else {word}
    return calls


def allowed_calls(unit):
    allowed = set()
    for value in re.findall(r"^SystemCallFilter=(.*)$", unit, re.M):
        calls = set().union(*(call_set(word) for word in value.lstrip("~").split()))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed

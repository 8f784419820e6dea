"""Network namespaces for the tests: ran (gNBs, SMFs, UEs), upf and dn (a host in the data network).

    ran --n3-- upf --n6-- dn

N3 and N4 share one link. Namespaces carry the process ID in their names, so that runs don't meet.
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import time

UPF = "10.200.3.1"
GNB1, GNB2 = "10.200.3.11", "10.200.3.12"
SMF1, SMF2, SMF3 = "10.200.3.101", "10.200.3.102", "10.200.3.103"
PEER_UPF = "10.200.3.201"  # the far end of an N9 tunnel
N6, DN, DN2 = "10.200.6.1", "10.200.6.2", "10.200.6.3"
UE_POOL = "10.60.0.0/16"
UE1, UE2 = "10.60.0.1", "10.60.0.2"

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def eventually(check, seconds=15.0):
    """Polls until `check` gives something true, and returns it; the last value after the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        value = check()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.01)


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def missing_capability():
    """Why the tests can't run here, or None."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    name = f"e2e{os.getpid()}probe"
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "del", name)
    except (OSError, RuntimeError) as error:
        return f"can't make network namespaces: {error}"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    return None


class Namespace:
    def __init__(self, role):
        self.name = f"e2e{os.getpid()}{role}"
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")

    def ip(self, *words):
        return run("ip", "-n", self.name, *words)

    def command(self, *words):
        """The words that run a command in here."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def run(self, *words, check=True):
        return run(*self.command(*words), check=check)

    def popen(self, *words, **options):
        return subprocess.Popen(self.command(*words), **options)

    @contextlib.contextmanager
    def inside(self):
        """This thread's sockets are made in the namespace."""
        home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._enter(there)
            yield
        finally:
            self._enter(home)
            os.close(there)
            os.close(home)

    @staticmethod
    def _enter(descriptor):
        if _libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def udp(self, address, port):
        with self.inside():
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.settimeout(5)
        return made

    def packets(self, interface):
        """A socket that sees every frame of the interface."""
        with self.inside():
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        made.bind((interface, 0))
        made.settimeout(5)
        return made

    def delete(self):
        run("ip", "netns", "del", self.name, check=False)


class Topology:
    def __init__(self):
        self.ran, self.upf, self.dn = (Namespace(role) for role in ("ran", "upf", "dn"))
        for outer, name in ((self.ran, "n3"), (self.dn, "n6")):
            outer.ip("link", "add", name, "type", "veth", "peer", "name", name, "netns", self.upf.name)
        for address in (GNB1, GNB2, SMF1, SMF2, SMF3, PEER_UPF):
            self.ran.ip("address", "add", f"{address}/24", "dev", "n3")
        self.upf.ip("address", "add", f"{UPF}/24", "dev", "n3")
        self.upf.ip("address", "add", f"{N6}/24", "dev", "n6")
        for address in (DN, DN2):
            self.dn.ip("address", "add", f"{address}/24", "dev", "n6")
        for namespace, link in ((self.ran, "n3"), (self.upf, "n3"), (self.upf, "n6"), (self.dn, "n6")):
            namespace.ip("link", "set", link, "up")
        self.dn.ip("route", "add", UE_POOL, "via", N6)
        self.upf.run("sysctl", "-qw", "net.ipv4.ip_forward=1")

    def delete(self):
        for namespace in (self.ran, self.upf, self.dn):
            namespace.delete()

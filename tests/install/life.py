"""What tests/install/run does inside its namespaces: WORK PACKAGE LAB."""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

import notes
import service
from machine import Machine

UPF, GNB, SMF, N6, DN, UE = ("10.213.3.1", "10.213.3.11", "10.213.3.101", "10.213.6.1", "10.213.6.2",
                             "10.60.0.1")
CONFIG = f"""version: 1.0.3
description: installed by hand
pfcp: {{addr: {UPF}, nodeID: {UPF}}}
gtpu:
  forwarder: userspace
  ifList: [{{addr: {UPF}, type: N3}}]
dnnList: [{{dnn: internet, cidr: 10.60.0.0/16, ipForwardEnable: true}}]
api: {{socket: /run/kupf/api.sock}}
"""
HEALTH_CHECK = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy/docker/healthcheck"
UNIT = "usr/lib/systemd/system/kupf.service"


def eventually(what, condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def clean(output, what):
    """A package manager's output without a word of trouble."""
    wrong = [line for line in output.splitlines() if re.search(r"warning|error|fail|cannot", line, re.I)]
    assert not wrong, f"{what} said: {wrong}"


class Life:
    def __init__(self, work, package, lab):
        self.machine = Machine(pathlib.Path(work))
        self.root = self.machine.root
        shutil.copy(package, self.root / "tmp" / "kupf.deb")
        shutil.copy(lab, self.root / "tmp" / "lab")
        shutil.copy(HEALTH_CHECK, self.root / "tmp" / "healthcheck")
        self.daemon = None

    def install(self):
        clean(self.machine.run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i")
        assert self.machine.run("dpkg", "-V", "kupf").stdout == ""
        assert self.machine.run("getent", "passwd", "kupf").stdout.endswith(":/usr/sbin/nologin\n")
        assert not (self.root / "etc/systemd/system/multi-user.target.wants/kupf.service").exists()
        assert "good" in self.machine.run("upf", "--check", "-c", "/etc/kupf/upfcfg.yaml").stdout
        maintainer = self.machine.run("dpkg-query", "-W", "-f", "${Maintainer}", "kupf").stdout
        assert f" -- {maintainer}  " in gzip.decompress((self.root / "usr/share/doc/kupf/changelog.gz").read_bytes()).decode()
        for page in ("upf.8", "upfcfg.yaml.5", "upfctl.1"):
            assert list(self.root.glob(f"usr/share/man/man?/{page}.gz")), page

    def unit(self):
        """The unit as systemd itself reads it, on the machine where its programs and manuals are."""
        checked = self.machine.run("systemd-analyze", "verify", "--man=no", f"/{UNIT}", check=False)
        assert checked.returncode == 0 and "kupf" not in checked.stdout, checked.stdout
        rated = self.machine.run("systemd-analyze", "security", "--offline=yes", "--no-pager", f"/{UNIT}")
        exposure = float(re.search(r"Overall exposure level for kupf.service: ([\d.]+)", rated.stdout)[1])
        assert exposure <= 2.5, rated.stdout
        notes.note("passed", f"unit verified; exposure level {exposure} of 10")

    def network(self):
        ip = lambda *words: self.machine.run("ip", *words)
        for name in ("ran", "dn"):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("link", "set", "lo", "up")
        for device, name, ours, theirs in (("n3", "ran", UPF, [GNB, SMF]), ("n6", "dn", N6, [DN])):
            ip("link", "add", device, "type", "veth", "peer", "name", device, "netns", name)
            ip("address", "add", f"{ours}/24", "dev", device)
            for address in theirs:
                ip("-n", name, "address", "add", f"{address}/24", "dev", device)
            ip("link", "set", device, "up")
            ip("-n", name, "link", "set", device, "up")
        ip("-n", "dn", "route", "add", "10.60.0.0/16", "via", N6)

    def start(self):
        (self.root / "etc/kupf/upfcfg.yaml").write_text(CONFIG)
        unit = (self.root / UNIT).read_text()
        command = service.command(unit)
        self.traced = shutil.which("strace") is not None
        if self.traced:
            at = command.index("/usr/bin/upf")
            command[at:at] = ["strace", "-f", "-qq", "-o", "/tmp/calls"]
        (self.root / "run/kupf").mkdir()
        shutil.chown(self.root / "run/kupf", *self.ids())
        notify = service.Notify(self.root / "run/notify")
        log = open(self.root / "tmp/upf.log", "w")
        self.daemon = self.machine.start(
            *command, stdout=log, stderr=subprocess.STDOUT,
            env={"PATH": "/usr/sbin:/usr/bin:/bin", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "2000000"})
        said = notify.wait_for("READY=1")
        notify.wait_for("WATCHDOG=1")
        status = (self.root / f"proc/{self.pid()}/status").read_text()
        assert re.search(r"^Uid:\t(\d+)", status, re.M)[1] == str(self.ids()[0])
        for which in ("CapBnd", "CapEff"):
            mask = int(re.search(rf"^{which}:\t(\S+)", status, re.M)[1], 16)
            assert mask == service.capability_mask(unit), f"{which} is {mask:#x}"
        assert re.search(r"^NoNewPrivs:\t1", status, re.M)
        notes.note("passed", "ready as user kupf: " + said.split("STATUS=")[-1].split("\n")[0])

    def ids(self):
        words = self.machine.run("getent", "passwd", "kupf").stdout.split(":")
        return int(words[2]), int(words[3])

    def pid(self):
        for entry in (self.root / "proc").glob("[0-9]*/comm"):
            if entry.read_text() == "upf\n":
                return int(entry.parent.name)
        raise AssertionError("no process upf")

    def play(self, *words):
        answer = self.machine.run("/tmp/lab", "--connect", "/tmp/lab.sock", *words, check=False)
        assert answer.returncode == 0 and json.loads(answer.stdout)["ok"], f"{words}: {answer.stdout}"

    def session(self):
        """An association and a session that carries pings."""
        self.play("associate")
        self.play("establish", f"ue={UE}", "dnn=internet", "qfi=9")
        self.play("activate", "gnb=gnb1")
        pings = self.machine.run("ip", "netns", "exec", "ran", "ping", "-n", "-q", "-c", "5", "-i", "0.2", "-W",
                                 "5", DN, check=False)
        received = re.search(r"5 packets transmitted, (\d) received", pings.stdout)
        assert received and int(received[1]) >= 4, pings.stdout
        notes.note("passed", f"{received[1]} of 5 pings through a PDU session")

    def traffic(self):
        self.lab = self.machine.start("ip", "netns", "exec", "ran", "/tmp/lab", "--socket", "/tmp/lab.sock",
                                      stdout=subprocess.DEVNULL)
        eventually("lab's socket", (self.root / "tmp/lab.sock").exists)
        self.play("ran", "tun=ue0", "mtu=1400")
        self.machine.run("ip", "-n", "ran", "address", "add", f"{UE}/32", "dev", "ue0")
        self.machine.run("ip", "-n", "ran", "route", "add", f"{DN}/32", "dev", "ue0", "src", UE)
        self.play("gnb", "name=gnb1", f"address={GNB}")
        self.play("smf", "name=smf", "dialect=free5gc", f"address={SMF}", f"upf={UPF}")
        self.session()
        self.play("delete")
        # Anyone may look; only root, and the daemon's own user, may act.
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "upfctl")
        assert f"{UPF}:8805" in self.machine.run(*nobody, "status").stdout
        assert self.machine.run(*nobody, "drain", check=False).returncode == 1
        assert self.machine.run("upfctl", "reload", check=False).returncode == 0

    def stop(self):
        # This process is the first of its process namespace: /proc in the copy counts as it does.
        os.kill(self.pid(), signal.SIGTERM)
        assert self.daemon.wait(timeout=15) == 0
        self.daemon = None
        links = self.machine.run("ip", "-br", "link").stdout
        assert "upfgtp" not in links, links
        self.lab.kill()

    def calls(self):
        """Every system call made is one that the unit's filter lets through."""
        if not self.traced:
            code = notes.missing("the unit's system call filter: strace is missing (package strace)")
            assert code == 0, "this must run here"
            return
        made = set(re.findall(r"^\d+ +(\w+)\(", (self.root / "tmp/calls").read_text(), re.M))
        made -= {"execve"}
        unit = (self.root / UNIT).read_text()
        refused = made - service.allowed_calls(unit)
        assert len(made) > 20 and not refused, f"SystemCallFilter= forbids {sorted(refused)}"
        notes.note("passed", f"{len(made)} system calls made, all within the unit's filter")

    def healthy(self):
        """What the image's health check says in the daemon's network."""
        return self.machine.run("/tmp/healthcheck", check=False).returncode == 0

    def container(self):
        """The image's entry point: another user, the capability from the program's file, nothing else."""
        assert not self.healthy(), "nothing runs"
        os.chown(self.root / "run/kupf", 805, 805)
        self.machine.run("setcap", "cap_net_admin+ep", "/usr/bin/upf")
        self.daemon = self.machine.start("setpriv", "--reuid=805", "--regid=805", "--clear-groups",
                                         "--inh-caps=-all", "--bounding-set=-all,+net_admin", "/usr/bin/upf", "-c",
                                         "/etc/kupf/upfcfg.yaml", stdout=open(self.root / "tmp/upf.log", "w"),
                                         stderr=subprocess.STDOUT)
        eventually("a healthy daemon", self.healthy)
        os.kill(self.pid(), signal.SIGTERM)
        assert self.daemon.wait(timeout=15) == 0 and not self.healthy()
        refused = self.machine.run("setpriv", "--reuid=805", "--regid=805", "--clear-groups",
                                   "--bounding-set=-all", "/usr/bin/upf", "--version", check=False)
        assert refused.returncode != 0 and "not permitted" in refused.stdout, refused.stdout

    def upgrade(self):
        clean(self.machine.run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i over the same version")
        assert (self.root / "etc/kupf/upfcfg.yaml").read_text() == CONFIG
        assert "installed by hand" in self.machine.run("upf", "--check", "-c", "/etc/kupf/upfcfg.yaml").stdout

    def purge(self):
        clean(self.machine.run("dpkg", "-r", "kupf").stdout, "dpkg -r")
        assert (self.root / "etc/kupf/upfcfg.yaml").exists(), "a mere removal keeps the configuration"
        clean(self.machine.run("dpkg", "-P", "kupf").stdout, "dpkg -P")
        left = self.machine.changed()
        assert not left, f"left behind: {left}"
        assert self.machine.run("getent", "passwd", "kupf", check=False).returncode != 0

    def steps(self):
        return (("dpkg -i", self.install), ("unit", self.unit), ("namespaces", self.network),
                ("start by hand as the unit does", self.start), ("traffic", self.traffic),
                ("clean stop", self.stop), ("system calls", self.calls),
                ("the image's entry point and health check", self.container),
                ("upgrade to the same version", self.upgrade),
                ("remove and purge, nothing left", self.purge))


def main():
    life = Life(*sys.argv[1:])
    for what, step in life.steps():
        try:
            step()
        except Exception:  # whatever it was, it is this step's failure
            traceback.print_exc()
            log = life.root / "tmp/upf.log"
            if log.exists():
                print(log.read_text()[-2000:])
            notes.note("failed", what)
            return 1
        notes.note("passed", what)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The service under systemd as process 1: RESULTS PACKAGE LAB. tests/install/boot runs it in a virtual machine.

What life.py plays by hand systemd does here: users, sandbox, readiness, reload, watchdog, stop.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import traceback

import life
import notes
import service

OVERRIDES = pathlib.Path("/run/systemd/system/kupf.service.d")


class Here:
    """This machine, as machine.Machine is a copy of it."""

    root = pathlib.Path("/")

    def run(self, *command, check=True):
        return subprocess.run(command, text=True, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *command, **options):
        return subprocess.Popen(command, text=True, **options)


class Booted(life.Life):
    def __init__(self, package, lab):
        self.machine = Here()
        self.root = self.machine.root
        self.systemctl("start", "basic.target")  # a boot empties /tmp, when the first service starts at the latest
        shutil.copy(package, "/tmp/kupf.deb")
        shutil.copy(lab, "/tmp/lab")

    def systemctl(self, *words, check=True):
        return self.machine.run("systemctl", "--no-pager", *words, check=check)

    def shown(self, key):
        return self.systemctl("show", "kupf", "--property", key, "--value").stdout.strip()

    def journal(self, *words):
        self.machine.run("journalctl", "--sync")
        return self.machine.run("journalctl", "--no-pager", "-u", "kupf", *words).stdout

    def pid(self):
        return int(self.shown("MainPID"))

    def install(self):
        life.clean(self.machine.run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i")
        assert self.systemctl("is-active", "kupf", check=False).stdout.strip() == "inactive"
        pathlib.Path("/etc/kupf/upfcfg.yaml").write_text(life.CONFIG)

    def start(self):
        self.systemctl("start", "kupf")  # returns when the daemon has said READY=1
        assert self.shown("ActiveState") == "active" and self.shown("SubState") == "running"
        assert self.shown("StatusText").startswith("serving N4 at "), self.shown("StatusText")
        assert "ready" in self.journal() and "kupf[" in self.journal()
        # Levels are the journal's own: nothing of a good start is a warning.
        assert "-- No entries --" in self.journal("-p", "warning"), self.journal("-p", "warning")
        notes.note("passed", f"systemd: {self.shown('StatusText')}")

    def sandbox(self):
        status = pathlib.Path(f"/proc/{self.pid()}/status").read_text()
        unit = (self.root / life.UNIT).read_text()
        for which in ("CapBnd", "CapEff", "CapPrm"):
            mask = int(re.search(rf"^{which}:\t(\S+)", status, re.M)[1], 16)
            assert mask == service.capability_mask(unit), f"{which} is {mask:#x}"
        assert re.search(r"^NoNewPrivs:\t1", status, re.M) and re.search(r"^Seccomp:\t2", status, re.M), status
        assert re.search(r"^Uid:\t(\d+)", status, re.M)[1] == str(self.ids()[0]) != "0"
        inside = ("nsenter", f"--mount=/proc/{self.pid()}/ns/mnt", "--")
        for path in ("/usr/x", "/etc/kupf/x", "/var/x"):
            assert self.machine.run(*inside, "touch", path, check=False).returncode != 0, f"{path} can be written"
        assert self.machine.run(*inside, "ls", "/home", check=False).stdout.count("ermission") or \
            not self.machine.run(*inside, "ls", "/home", check=False).stdout.strip()

    def reload(self):
        before = self.pid()
        self.systemctl("reload", "kupf")
        life.eventually("a reload in the journal", lambda: "reload: " in self.journal())
        assert self.pid() == before and self.shown("ActiveState") == "active"

    def sessions(self):
        return json.loads(self.machine.run("upfctl", "-o", "json", "status").stdout)["sessions"]

    def upgrade(self):
        before = self.pid()
        self.session()
        assert self.sessions() == 1
        life.clean(self.machine.run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i over the same version")
        life.eventually("the service after the upgrade", lambda: self.shown("ActiveState") == "active")
        assert self.pid() not in (0, before), "an upgrade restarts what runs"
        assert self.sessions() == 0, "sessions end with it: deploy/docs/install.md"
        self.session()

    def watchdog(self):
        OVERRIDES.mkdir(parents=True)
        (OVERRIDES / "short.conf").write_text("[Service]\nWatchdogSec=15s\n")
        self.systemctl("daemon-reload")
        self.systemctl("restart", "kupf")
        os.kill(self.pid(), signal.SIGSTOP)  # a daemon that hangs
        life.eventually("a restart by the watchdog", lambda: int(self.shown("NRestarts")) >= 1, 120)
        life.eventually("the service after that", lambda: self.shown("ActiveState") == "active", 60)
        assert re.search("[Ww]atchdog timeout", self.journal())
        shutil.rmtree(OVERRIDES)
        self.systemctl("daemon-reload")

    def stop(self):
        self.lab.kill()
        self.systemctl("stop", "kupf")
        assert self.shown("Result") == "success" and self.shown("ExecMainStatus") == "0", self.journal()
        assert "upfgtp" not in self.machine.run("ip", "-br", "link").stdout
        assert not pathlib.Path("/run/kupf").exists()

    def wrong(self):
        """A configuration that is wrong ends the start at once, and no restart is tried."""
        pathlib.Path("/etc/kupf/upfcfg.yaml").write_text(life.CONFIG + "gtp: {}\n")
        assert self.systemctl("start", "kupf", check=False).returncode != 0
        assert self.shown("ActiveState") == "failed" and self.shown("ExecMainStatus") == "2"
        assert self.shown("NRestarts") == "0"
        assert "gtp: unknown key" in self.journal("-n", "20")

    def purge(self):
        """Of a service that has failed: systemd would remember that."""
        files = [path for path in map(pathlib.Path, self.machine.run("dpkg", "-L", "kupf").stdout.split()) if path.is_file()]
        assert len(files) > 10
        life.clean(self.machine.run("dpkg", "-P", "kupf").stdout, "dpkg -P")
        assert "could not be found" in self.systemctl("status", "kupf", check=False).stdout
        left = [path for path in [*files, pathlib.Path("/etc/kupf"), pathlib.Path("/run/kupf")] if path.exists()]
        assert not left, left
        assert self.machine.run("getent", "passwd", "kupf", check=False).returncode != 0

    def steps(self):
        return (("dpkg -i starts nothing", self.install), ("namespaces", self.network), ("systemctl start", self.start),
                ("the unit's sandbox", self.sandbox), ("traffic", self.traffic), ("systemctl reload", self.reload),
                ("an upgrade with a session restarts the service, and the SMF comes back", self.upgrade),
                ("the watchdog restarts a daemon that hangs", self.watchdog), ("systemctl stop", self.stop),
                ("a wrong configuration isn't tried again", self.wrong), ("purge", self.purge))


def main():
    results, package, lab = sys.argv[1:]
    os.environ["KUPF_RESULTS"] = results
    booted = Booted(package, lab)
    code = 0
    for what, step in booted.steps():
        try:
            step()
        except Exception:  # whatever it was, it is this step's failure
            traceback.print_exc()
            print(booted.journal("-n", "30"))
            notes.note("failed", f"systemd: {what}")
            code = 1
            break
        notes.note("passed", f"systemd: {what}")
    pathlib.Path("/run/kupf-proof").write_text(str(code))


if __name__ == "__main__":
    main()

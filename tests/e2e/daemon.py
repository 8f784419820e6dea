"""The program under test, and `lab`, as child processes in the namespaces."""

import json
import os
import pathlib
import signal
import socket
import subprocess

import net

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("UPF_BUILD", ROOT / "build/release"))

# Kernel offloads that the user-space plane does without, as gtpu.withoutOffloads names them.
WITHOUT_OFFLOADS = os.environ.get("UPF_WITHOUT_OFFLOADS", "")

CONFIG = f"""\
version: 1.0.3
description: end-to-end test
pfcp:
  addr: {net.UPF}
  nodeID: {net.UPF}
  retransTimeout: {os.environ.get("UPF_RETRANSMIT_AFTER", "1s")}
  maxRetrans: 3
gtpu:
  forwarder: %(forwarder)s
  ifList:
    - addr: {net.UPF}
      type: N3
dnnList:
  - dnn: internet
    cidr: {net.UE_POOL}
metrics:
  listen: 127.0.0.1:9805
logger:
  level: debug
"""


class Daemon:
    """upf on one of the planes: userspace, gtp5g (the kernel module), or standin (gtp5g's stand-in)."""

    def __init__(self, topology, plane, folder):
        self.topology, self.plane, self.folder = topology, plane, folder
        self.log_path = folder / "upf.log"
        self.config_path = folder / "upfcfg.yaml"
        forwarder = "userspace" if plane == "userspace" else "gtp5g"
        if plane == "userspace" and WITHOUT_OFFLOADS:
            forwarder += f"\n  withoutOffloads: [{WITHOUT_OFFLOADS}]"
        self.config_path.write_text(CONFIG % {"forwarder": forwarder})
        self.process = None
        self.wrapper = []  # words before the program's

    @property
    def program(self):
        return BUILD / ("upf-standin" if self.plane == "standin" else "upf")

    def start(self, ready=True):
        with open(self.log_path, "a") as log:
            self.process = self.topology.upf.popen(
                *self.wrapper, self.program, "-c", self.config_path, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if ready and not net.eventually(self.listens):
            raise AssertionError(f"the daemon does not listen on N4 and N3:\n{self.log()}")
        return self

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.log()}")
        return all(self.topology.upf.run("ss", "-Hlun", f"sport = :{port}").strip() for port in (8805, 2152))

    def log(self):
        return self.log_path.read_text(errors="replace")

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=10):
        return self.process.wait(seconds)

    def stop(self):
        """Ends it as an operator would; its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            return self.wait()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"SIGTERM did not end the daemon in 10 s:\n{self.log()}") from None


class Lab:
    """The program `lab` in the ran namespace: SMFs that speak as free5GC's and Open5GS's do, gNBs, UEs."""

    def __init__(self, topology, folder):
        self.topology, self.path = topology, folder / "lab.sock"
        with open(folder / "lab.log", "a") as log:
            self.process = topology.ran.popen(BUILD / "lab", "--socket", self.path, stdout=log, stderr=log,
                                              stdin=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        assert net.eventually(self.connects), (folder / "lab.log").read_text()
        self.lines = self.socket.makefile("r")

    def connects(self):
        return self.socket.connect_ex(str(self.path)) == 0

    def ask(self, command, **values):
        """The answer to a command, as a dictionary, whatever it says."""
        words = [command]
        for name, value in values.items():
            for one in value if isinstance(value, list) else [value]:
                words.append(f'{name.replace("_", "-")}="{one}"')
        self.socket.sendall((" ".join(words) + "\n").encode())
        return json.loads(self.lines.readline())

    def __call__(self, command, **values):
        """The answer to a command that must succeed."""
        answer = self.ask(command, **values)
        assert answer["ok"], f"lab: {command} {values}: {answer}"
        return answer

    def start_ran(self):
        self("ran", tun="ue0", mtu=1400)
        for ue in (net.UE1, net.UE2):
            self.topology.ran.ip("address", "add", f"{ue}/32", "dev", "ue0")
        self.topology.ran.ip("route", "add", "10.200.6.0/24", "dev", "ue0", "src", net.UE1)
        self("gnb", name="gnb1", address=net.GNB1)
        self("gnb", name="gnb2", address=net.GNB2)

    def start_smf(self, dialect, name="smf", address=net.SMF1):
        self.dialect = dialect
        self("smf", name=name, dialect=dialect, address=address, upf=net.UPF)
        self("associate", smf=name)

    def stop(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(10)

"""What the benchmark compares: each subject forwards between n3 and n6 of its namespace while it runs."""

import ipaddress
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

import daemon
import net

UES = ["10.60.0.1", "10.60.0.2", "10.60.0.3", "10.60.0.4"]
METRICS = "127.0.0.1:9090"
TICKS = os.sysconf("SC_CLK_TCK")


def memory_lock_prefix():
    """eUPF insists on lifting the limit of locked memory, which kernels since 5.11 don't need and containers
    don't allow: there, it is told that it did."""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return []
    except (OSError, ValueError):
        return ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=prlimit64,setrlimit",
                "-e", "inject=prlimit64,setrlimit:retval=0"]


class Subject:
    gtpu = True  # whether packets arrive in GTP-U
    measures = None  # those that make sense; None: all
    many = False  # flows: more than sockets can send for, or compared with as many

    def __init__(self, bed, options, folder):
        self.bed, self.options, self.folder = bed, options, folder
        self.sessions = []  # (UE, uplink TEID)
        self.process = None

    def start(self):
        pass

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)

    def flows(self):
        """Where uplink packets come from, as `traffic offer` takes it."""
        return [f"{ue}:{teid}" for ue, teid in self.sessions] if self.gtpu else UES

    def arrived(self, namespace, link):
        """Packets that have left the UPF, at the link's far end."""
        return self.bed.received(namespace, link)

    def spawn(self, *words, **options):
        with open(self.folder / f"{type(self).__name__}.log", "w") as log:
            self.process = self.bed.upf.popen(*words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)

    def gro_forwarding(self, on):
        self.bed.upf.run("ethtool", "-K", "n6", "rx-udp-gro-forwarding", "on" if on else "off", check=False)

    def cpu_seconds(self):
        """Of the UPF's process, with its threads."""
        if self.process is None:
            return 0.0
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


class Plain(Subject):
    """Kernel forwarding, no GTP-U: what the namespaces themselves cost."""

    gtpu = False

    def start(self):
        self.gro_forwarding(True)
        self.bed.upf.ip("route", "replace", net.UE_POOL, "via", net.GNB1, "mtu", "1400")

    def stop(self):
        self.bed.upf.ip("route", "del", net.UE_POOL)


class Naive(Subject):
    def start(self):
        self.gro_forwarding(False)
        self.sessions = [(ue, index + 1) for index, ue in enumerate(UES)]
        words = [f"{ue}:{teid}:{teid + 100}:{net.GNB1}" for ue, teid in self.sessions]
        self.spawn(pathlib.Path(self.options.build) / "naive", net.UPF, "naive0", *words)
        net.eventually(lambda: "naive0" in self.bed.upf.ip("-br", "link"))
        self.bed.upf.ip("route", "replace", net.UE_POOL, "dev", "naive0")


class Drain(Subject):
    """No UPF at all: takes what the socket gives, and throws it away. What the source and the kernel's way to the
    socket allow any UPF."""

    measures = ("small-up",)

    def start(self):
        self.gro_forwarding(False)
        self.sessions = [(ue, index + 1) for index, ue in enumerate(UES)]
        self.count = self.folder / "drained"
        self.count.unlink(missing_ok=True)
        self.spawn(pathlib.Path(self.options.build) / "drain", net.UPF, self.count)
        assert net.eventually(lambda: self.count.exists() and self.count.stat().st_size == 8)

    def arrived(self, namespace, link):
        return int.from_bytes(self.count.read_bytes(), sys.byteorder)


class WithSmf(Subject):
    """A UPF that gets its sessions over N4 from `lab`."""

    dialect = "free5gc"

    def open_sessions(self):
        assert net.eventually(self.listens), (self.folder / f"{type(self).__name__}.log").read_text()
        self.lab = daemon.Lab(self.bed, self.folder)
        self.lab("ran")  # a gNB that answers; its packets are the kernel's
        self.lab("gnb", name="gnb1", address=net.GNB1)
        self.lab.start_smf(self.dialect)
        for ue in UES:
            answer = self.lab("establish", ue=ue, dnn="internet", qfi=9)
            self.sessions.append((ue, answer["uplink"]["teid"]))
            self.lab("activate", gnb="gnb1")

    def listens(self):
        assert self.process.poll() is None, (self.folder / f"{type(self).__name__}.log").read_text()
        return self.bed.upf.run("ss", "-Hlun", "sport = :8805").strip() != ""

    def stop(self):
        if hasattr(self, "lab"):
            self.lab.stop()
            (self.folder / "lab.sock").unlink(missing_ok=True)
        super().stop()


class Kupf(WithSmf):
    def start(self):
        self.gro_forwarding(True)
        config = self.folder / "upfcfg.yaml"
        config.write_text(self.configuration())
        self.spawn(self.options.upf or pathlib.Path(self.options.build) / "upf", "-c", config)
        self.open_sessions()

    def configuration(self):
        text = (daemon.CONFIG % {"forwarder": "userspace"}).replace("level: debug", "level: warn")
        return re.sub(r"^metrics:\n  listen: .*\n", "", text, flags=re.M)

    def stop(self):
        super().stop()
        log = (self.folder / f"{type(self).__name__}.log").read_text()
        # With 100,000 sessions it may need longer than it allows itself, and says so.
        if self.process.returncode != 0 and "stopping took too long" not in log:
            raise RuntimeError(f"upf ended with {self.process.returncode}: {log}")


class KupfScraped(Kupf):
    """kupf with metrics that are scraped each second: what they cost is nothing, or the ratio to kupf says."""

    def start(self):
        super().start()
        # As cheap as a scraper can be: in production it runs elsewhere.
        host, port = METRICS.split(":")
        script = (f"import socket, time\nwhile True:\n s = socket.create_connection(('{host}', {port}))\n"
                  " s.send(b'GET /metrics HTTP/1.0\\r\\n\\r\\n')\n while s.recv(1 << 20): pass\n time.sleep(1)")
        self.scraper = self.bed.upf.popen("/usr/bin/python3", "-c", script, stdin=subprocess.DEVNULL)

    def configuration(self):
        return super().configuration() + f"metrics:\n  listen: {METRICS}\n"

    def stop(self):
        self.scraper.terminate()
        self.scraper.wait(10)
        super().stop()


class Loaded(Kupf):
    """kupf with sessions of n4load, for what more of them, or more rules, cost."""

    live, words = 4, ()
    measures = ("small-up",)
    pool = net.UE_POOL

    def configuration(self):
        return super().configuration().replace(net.UE_POOL, self.pool)

    def open_sessions(self):
        assert net.eventually(self.listens), (self.folder / f"{type(self).__name__}.log").read_text()
        # n4load numbers UEs and TEIDs on behind those of its window of open requests.
        window = 64
        first = ipaddress.ip_address(UES[0]) - window
        with open(self.folder / "n4load.log", "w") as log:
            self.load = self.bed.ran.popen(
                pathlib.Path(self.options.build) / "n4load", "--target", net.UPF, "--smf", net.SMF1, "--ue", first,
                "--gnb", net.GNB1, "--window", window, "--live", self.live, "--hold", *self.words,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.load.stdout.readline().strip() == "ready", (self.folder / "n4load.log").read_text()
        self.sessions = [(ue, window + 1 + index) for index, ue in enumerate(UES[:self.live])]

    def stop(self):
        try:
            super().stop()  # its last reports still have somebody who answers them
        finally:
            if hasattr(self, "load"):
                self.load.kill()
                self.load.wait()


class KupfBare(Loaded):
    """PDRs and FARs only."""

    words = ("--ambr", 0)
    measures = ("tcp-up", "tcp-down", "small-up")


class KupfRules(Loaded):
    """Five PDRs with an SDF filter each way before the one that matches, its QERs limit, a URR counts."""

    words = ("--flows", 5, "--usage")
    measures = ("tcp-up", "tcp-down", "small-up")


class KupfOne(Loaded):
    """One session with six PDRs; each burst is of another flow of it than the last."""

    live, words = 1, ("--flows", 2)
    many = True

    def flows(self):
        return super().flows() * 8


class KupfMany(Loaded):
    """100,000 such sessions, a burst for each in turn."""

    live, words = 100_000, ("--flows", 2)
    many = True
    pool = "10.60.0.0/14"

    def flows(self):
        ue, teid = self.sessions[0]
        return [f"{ue}:{teid}+{self.live}"]


class Open5gs(WithSmf):
    dialect = "open5gs"

    def start(self):
        self.gro_forwarding(False)
        upf = self.bed.upf
        upf.run("ip", "tuntap", "add", "name", "ogstun", "mode", "tun", check=False)
        upf.run("ip", "address", "replace", "10.60.255.254/16", "dev", "ogstun")
        upf.run("ip", "link", "set", "ogstun", "up", "mtu", "1400")
        config = self.folder / "open5gs.yaml"
        config.write_text(
            f"logger: {{file: {{path: {self.folder}/open5gs-upfd.log}}, level: error}}\n"
            "global: {max: {ue: 1024}}\n"
            f"upf:\n  pfcp: {{server: [{{address: {net.UPF}}}]}}\n  gtpu: {{server: [{{address: {net.UPF}}}]}}\n"
            f"  session: [{{subnet: {net.UE_POOL}, gateway: 10.60.255.254}}]\n")
        self.spawn(self.options.open5gs, "-c", config)
        self.open_sessions()

    def stop(self):
        super().stop()
        self.bed.upf.run("ip", "link", "del", "ogstun", check=False)


class Eupf(WithSmf):
    def start(self):
        self.gro_forwarding(False)
        config = self.folder / "eupf.yaml"
        config.write_text(json.dumps({
            "interface_name": ["n3", "n6"], "xdp_attach_mode": "native", "api_address": ":8081",
            "pfcp_address": f"{net.UPF}:8805", "pfcp_node_id": net.UPF, "metrics_address": ":9091",
            "n3_address": net.UPF, "gtp_peer": [], "qer_map_size": 1024,
            "far_map_size": 1024, "pdr_map_size": 1024, "logging_level": "error", "feature_ftup": False}))
        self.bed.upf.ip("route", "replace", net.UE_POOL, "dev", "n6")
        # Its XDP program asks no neighbour for its address, and the kernel refuses what it then passes on.
        for address, link, owner in ((net.GNB1, "n3", self.bed.ran), (net.DN, "n6", self.bed.dn)):
            self.bed.upf.ip("neighbour", "replace", address, "lladdr", self.bed.mac(owner, link), "dev", link)
        # Pinned maps need bpffs, and `ip netns exec` has a /sys of its own.
        self.spawn("sh", "-c", 'mount -t bpf bpf /sys/fs/bpf && exec "$@"', "sh", *memory_lock_prefix(),
                   self.options.eupf, "--config", config)
        self.open_sessions()

    def stop(self):
        super().stop()
        self.bed.upf.run("ip", "route", "del", net.UE_POOL, "dev", "n6", check=False)


SUBJECTS = {"plain": Plain, "naive": Naive, "drain": Drain, "kupf": Kupf, "scraped": KupfScraped, "open5gs": Open5gs, "eupf": Eupf,
            "kupf-bare": KupfBare, "kupf-rules": KupfRules, "kupf-one": KupfOne, "kupf-many": KupfMany}

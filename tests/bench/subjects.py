"""What the benchmark compares: each subject forwards between n3 and n6 of its namespace while it runs."""

import json
import os
import pathlib
import re
import subprocess

import daemon
import net

UES = ["10.60.0.1", "10.60.0.2", "10.60.0.3", "10.60.0.4"]
METRICS = "127.0.0.1:9090"
TICKS = os.sysconf("SC_CLK_TCK")


class Subject:
    gtpu = True  # whether packets arrive in GTP-U

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
        self.spawn(pathlib.Path(self.options.build) / "upf", "-c", config)
        self.open_sessions()

    def configuration(self):
        text = (daemon.CONFIG % {"forwarder": "userspace"}).replace("level: debug", "level: warn")
        return re.sub(r"^metrics:\n  listen: .*\n", "", text, flags=re.M)


class KupfScraped(Kupf):
    """kupf with metrics that are scraped each second: what they cost is nothing, or the ratio to kupf says."""

    def start(self):
        super().start()
        script = (f"import time, urllib.request as r\nwhile True: r.urlopen('http://{METRICS}/metrics').read(); "
                  "time.sleep(1)")
        self.scraper = self.bed.upf.popen("/usr/bin/python3", "-c", script, stdin=subprocess.DEVNULL)

    def configuration(self):
        return super().configuration() + f"metrics:\n  listen: {METRICS}\n"

    def stop(self):
        self.scraper.terminate()
        self.scraper.wait(10)
        super().stop()


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
            "n3_address": net.UPF, "gtp_peer": [], "echo_interval": 10, "qer_map_size": 1024,
            "far_map_size": 1024, "pdr_map_size": 1024, "logging_level": "error", "feature_ftup": False}))
        self.bed.upf.ip("route", "replace", net.UE_POOL, "dev", "n6")
        self.spawn(self.options.eupf, "--config", config)
        self.open_sessions()


SUBJECTS = {"plain": Plain, "naive": Naive, "kupf": Kupf, "scraped": KupfScraped, "open5gs": Open5gs, "eupf": Eupf}

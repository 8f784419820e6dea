"""The daemon with its API, metrics and page on, and what an operator's tests ask of it."""

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import termios

import daemon
import pytest

METRICS = "127.0.0.1:9805"
PAGE = "127.0.0.1:9806"


class Operated(daemon.Daemon):
    """The daemon with its API, metrics and page on."""

    def __init__(self, topology, plane, folder):
        super().__init__(topology, plane, folder)
        self.socket = folder / "api.sock"
        self.write("debug")

    def write(self, level, more="", pfcp="", metrics=METRICS):
        """`pfcp`: more lines of that section."""
        text = daemon.CONFIG % {"forwarder": "userspace" if self.plane == "userspace" else "gtp5g"}
        text = text.replace("level: debug", f"level: {level}")
        text = text.replace("  maxRetrans: 3\n", "  maxRetrans: 3\n" + pfcp)
        text = text.replace(f"metrics:\n  listen: {METRICS}\n", "")  # written below
        self.config_path.write_text(text + f"metrics:\n  listen: {metrics}\napi:\n  socket: {self.socket}\n"
                                           f"  listen: {PAGE}\n  page: true\n" + more)

    def ctl(self, *words, code=0):
        done = subprocess.run([daemon.BUILD / "upfctl", "-s", self.socket, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == code, f"upfctl {words}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def ctl_on_terminal(self, columns, *words):
        """What a terminal of so many columns shows."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([daemon.BUILD / "upfctl", "-s", self.socket, *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # EIO: nobody has the other end any more
            pass
        os.close(ours)
        assert process.wait(10) == 0, shown
        return shown.decode().replace("\r\n", "\n")

    def api(self, path):
        return json.loads(self.get(PAGE + path))

    def get(self, url):
        return self.topology.upf.run("curl", "-sS", "--max-time", "10", url)


def needs(what):
    """A skip; a failure where a missing capability is one."""
    if os.environ.get("UPF_REQUIRE_NETNS"):
        pytest.fail(f"this must run here: it needs {what}")
    pytest.skip(f"needs {what}")


def value(metrics, name):
    """The sum of a metric's samples; `name` may hold labels."""
    head, _, labels = name.partition("{")
    total = 0.0
    for line in metrics.splitlines():
        sample, _, number = line.rpartition(" ")
        if sample.split("{")[0] == head and all(label in sample for label in labels.rstrip("}").split(",") if label):
            total += float(number)
    return total


def promtool(metrics):
    """Lint of the exposition."""
    if shutil.which("promtool") is None:
        needs("promtool (package prometheus)")
    done = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True)
    # promtool's opinion on the metrics that its own client libraries export is no fault of ours.
    faults = [line for line in done.stderr.splitlines() if line and not line.startswith("process_")]
    assert not faults, faults


def validate(operated):
    """Every answer of the API has the shape that its own document says."""
    jsonschema = pytest.importorskip("jsonschema")
    document = operated.api("/v1/openapi.json")
    sessions = operated.api("/v1/sessions?limit=5")["sessions"]
    checked = 0
    for path, methods in document["paths"].items():
        if "get" not in methods:
            continue
        schema = methods["get"]["responses"]["200"].get("content", {}).get("application/json", {}).get("schema")
        if schema is None or "traces" in path:
            continue
        answer = operated.api(path.replace("{seid}", sessions[0]["seid"]))
        jsonschema.validate(answer, {**schema, "components": document["components"]})
        checked += 1
    assert checked >= 10
    return document

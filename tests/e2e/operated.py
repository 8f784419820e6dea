"""The daemon with its API, metrics and page on, and what an operator's tests ask of it."""

import contextlib
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import termios
import urllib.parse

import daemon
import pytest

try:
    import jsonschema
except ImportError:
    jsonschema = None

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

    def listens(self):
        """Its API comes up last."""
        return super().listens() and "start: ready" in self.log()

    @contextlib.contextmanager
    def running(self):
        """Started, and stopped whatever happens; its clean end is part of the test."""
        try:
            yield self.start()
        finally:
            code = self.stop()
        assert code == 0, self.log()

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

    def call(self, method, path, *more, privileged=True):
        """(status, media type, body) of any call; a privileged one goes over the UNIX socket."""
        where = ["--unix-socket", self.socket, f"http://upf{path}"] if privileged else [f"http://{PAGE}{path}"]
        body = self.folder / "answer"
        told = self.topology.upf.run("curl", "-sS", "--max-time", "10", "-X", method, "-o", body, "-w",
                                     "%{http_code} %{content_type}", *more, *where)
        status, _, media = told.partition(" ")
        return int(status), media.split(";")[0], body.read_bytes()


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
    assert done.returncode == 0 and not done.stderr, done.stderr


class Documented:
    """Calls of the API that are checked against its own document: parameters, status, media type and shape."""

    def __init__(self, operated):
        self.operated = operated
        self.document = json.loads(operated.call("GET", "/v1/openapi.json")[2])
        self.seen = set()

    def answers(self):
        """Each (method, path, status) that the document names."""
        return {(method.upper(), path, int(code)) for path, methods in self.document["paths"].items()
                for method, described in methods.items() for code in described["responses"] if code != "default"}

    def check(self, content, body):
        answer = json.loads(body)
        if "schema" in content:
            if jsonschema is None:
                needs("python3-jsonschema")
            jsonschema.validate(answer, {**content["schema"], "components": self.document["components"]})
        return answer

    def __call__(self, method, path, expect, privileged=True, **parameters):
        """The answer to an operation; `parameters` are those of its path and its query."""
        described = self.document["paths"][path][method.lower()]
        places = {parameter["name"]: parameter["in"] for parameter in described["parameters"]}
        in_path = {name: value for name, value in parameters.items() if places[name] == "path"}
        in_query = {name: value for name, value in parameters.items() if places[name] == "query"}
        target = path.format(**in_path) + ("?" + urllib.parse.urlencode(in_query) if in_query else "")
        status, media, body = self.operated.call(method, target, privileged=privileged)
        assert status == expect, f"{method} {target}: {status} {body[:500]}"
        [(wanted, content)] = described["responses"][str(status)]["content"].items()
        assert media == wanted, f"{method} {target}: {media}"
        self.seen.add((method, path, status))
        return self.check(content, body) if "json" in media else body


def validate(operated):
    """Everything that anyone may look at has the shape that the API's own document says; the document."""
    call = Documented(operated)
    for method, path, status in sorted(call.answers()):
        if method == "GET" and status == 200 and (method, path, 403) not in call.answers():
            seid = operated.api("/v1/sessions?limit=1")["sessions"][0]["seid"]
            call(method, path, 200, **({"seid": seid} if "{seid}" in path else {}))
    assert len(call.seen) >= 10
    return call.document

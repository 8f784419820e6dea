"""The operator's side, as a tour: many sessions with traffic, and all that can be asked and done meanwhile.

UPF_TOUR_SESSIONS says how many (scapy needs tens of milliseconds for each).
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import daemon
import gtp
import n4
import net
import pytest

SESSIONS = int(os.environ.get("UPF_TOUR_SESSIONS", "200"))
METRICS = "127.0.0.1:9805"
PAGE = "127.0.0.1:9806"
SHOTS = pathlib.Path(os.environ.get("UPF_SCREENSHOTS", "/tmp/kupf-screenshots"))


class Operated(daemon.Daemon):
    """The daemon with its API, metrics and page on."""

    def __init__(self, topology, plane, folder):
        super().__init__(topology, plane, folder)
        self.socket = folder / "api.sock"
        self.write("debug")

    def write(self, level, more=""):
        text = daemon.CONFIG % {"forwarder": "userspace" if self.plane == "userspace" else "gtp5g"}
        text = text.replace("level: debug", f"level: {level}")
        text = text.replace(f"metrics:\n  listen: {METRICS}\n", "")  # written below
        self.config_path.write_text(text + f"metrics:\n  listen: {METRICS}\napi:\n  socket: {self.socket}\n"
                                           f"  listen: {PAGE}\n  page: true\n" + more)

    def ctl(self, *words, code=0):
        done = subprocess.run([daemon.BUILD / "upfctl", "-s", self.socket, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == code, f"upfctl {words}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def api(self, path):
        return json.loads(self.get(PAGE + path))

    def get(self, url):
        return self.topology.upf.run("curl", "-sS", "--max-time", "10", url)


@pytest.fixture
def operated(topology, capture, plane, tmp_path):
    under_test = Operated(topology, plane, tmp_path)
    for program in (under_test.program, daemon.BUILD / "upfctl"):
        if not program.exists():
            pytest.skip(f"{program.name} is not built")
    under_test.start()
    yield under_test
    assert under_test.stop() == 0, under_test.log()


@pytest.fixture
def upf(operated):
    """The daemon that conftest's SMF, gNB and host are peers of."""
    return operated


def ue_of(number):
    return f"10.60.{number // 250 + 1}.{number % 250 + 1}"


def establish(smf, number):
    return smf.establish(
        n4.pdr_uplink(teid=0x1000 + number, ue=ue_of(number)), n4.pdr_downlink(ue=ue_of(number)),
        n4.far_forward(1), n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + number, net.GNB1)))


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
    """Lint of the exposition; skipped without the tool."""
    if shutil.which("promtool") is None:
        return
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


CROWD = min(SESSIONS, 20)  # scapy needs a while for each session: only the first test makes them all


@pytest.fixture
def crowd(operated, smf):
    return [establish(smf, number) for number in range(CROWD)]


def traffic(gnb, host, number=0):
    """One packet each way through a session's tunnel."""
    gnb.send(gtp.uplink(0x1000 + number, gtp.ue_udp(b"up", ue=ue_of(number))))
    assert host.receive()[0] == b"up"
    host.send(b"down", ue=ue_of(number))
    answer = gnb.receive()
    assert answer is not None and answer.teid == 0x2000 + number


def test_scrape_and_query_many_sessions(operated, smf, gnb, host, plane):
    crowd = [establish(smf, number) for number in range(SESSIONS)]
    for number in range(0, SESSIONS, max(SESSIONS // 20, 1)):
        traffic(gnb, host, number)
    metrics = operated.get(f"{METRICS}/metrics")
    promtool(metrics)
    assert value(metrics, "kupf_sessions") == SESSIONS
    assert value(metrics, 'kupf_rules{kind="pdr"}') == 2 * SESSIONS
    assert value(metrics, 'kupf_network_sessions{network="internet"}') == SESSIONS
    assert value(metrics, 'kupf_pfcp_answers_total{direction="out",type="session_establishment_response"}') == SESSIONS
    assert value(metrics, 'kupf_pfcp_request_duration_seconds_count{stage="total",type="session_establishment_request"}') == SESSIONS
    if plane == "userspace":
        assert value(metrics, 'kupf_gtpu_packets_total{direction="uplink"}') >= 20
    validate(operated)
    # Paged, each session once.
    seen, after = [], ""
    while True:
        page = operated.api(f"/v1/sessions?limit=300{after}")
        seen += [session["seid"] for session in page["sessions"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert len(seen) == len(set(seen)) == SESSIONS
    # Found by what people know of it.
    number = SESSIONS // 2
    by_ue = operated.api(f"/v1/sessions?ue={ue_of(number)}")["sessions"]
    by_teid = operated.api(f"/v1/sessions?teid={0x1000 + number:#x}")["sessions"]
    assert len(by_ue) == 1 and by_ue == by_teid
    assert int(by_ue[0]["seid"], 16) == crowd[number].up_seid


def test_upfctl(operated, crowd, smf, gnb, host):
    assert f"sessions       {CROWD} " in operated.ctl("status")
    listed = operated.ctl("sessions", "--limit", 7).splitlines()
    assert listed[0].split()[:3] == ["SEID", "UE", "DNN"] and listed[-2] == f"7 of {CROWD}"
    shown = operated.ctl("session", ue_of(3))
    assert ue_of(3) in shown and f"{0x1003:#010x}@{net.UPF}" in shown and f"{0x2003:#010x}@{net.GNB1}" in shown
    assert json.loads(operated.ctl("-o", "json", "session", ue_of(3)))["state"] == "active"
    assert '"forwarder"' in operated.ctl("-o", "yaml", "status")
    assert net.SMF2 in operated.ctl("peers")
    assert "no session has the address" in subprocess.run(
        [daemon.BUILD / "upfctl", "-s", operated.socket, "session", "10.9.9.9"], capture_output=True, text=True).stderr
    operated.ctl("session", "10.9.9.9", code=4)
    operated.ctl("nonsense", code=2)
    assert len(operated.ctl("watch", "--count", 2).splitlines()) == 3
    assert f"{operated.config_path}: good" in operated.ctl("check", operated.config_path)
    subprocess.run(["bash", "-n"], input=operated.ctl("completion", "bash"), text=True, check=True)
    # A refusal is remembered with its reason.
    smf.establish(n4.pdr_uplink(teid=0x9001), expect=n4.MANDATORY_MISSING)
    assert "Session Establishment Request" in operated.ctl("refusals")


def test_one_subscribers_story(operated, crowd, smf, gnb, host, tmp_path):
    """trace and capture: this subscriber's messages and packets, and nobody else's."""
    number, other = 4, 5
    trace = subprocess.Popen([daemon.BUILD / "upfctl", "-s", operated.socket, "trace", ue_of(number), "--seconds", "60"],
                             stdout=open(tmp_path / "trace", "w"), stderr=subprocess.PIPE, text=True)
    trace.stderr.readline()  # "following"
    started = json.loads(operated.topology.upf.run(
        "curl", "-sS", "--unix-socket", operated.socket, "-X", "POST",
        f"http://upf/v1/captures?target={ue_of(number)}&seconds=60"))
    for changed in (number, other):
        crowd[changed].modify(n4.far_buffer(2, update=True))
        crowd[changed].modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + changed, net.GNB1), update=True))
        traffic(gnb, host, changed)
    told = lambda: (tmp_path / "trace").read_text()
    assert net.eventually(lambda: told().count("~FAR 2") == 2), told()
    trace.send_signal(signal.SIGINT)
    assert trace.wait(10) == 0
    for word in ("Session Modification Request", "Session Modification Response", "n4-in", "n4-out", "plane"):
        assert word in told(), told()
    assert f"{crowd[other].up_seid:x}" not in told()
    capture = tmp_path / "story.pcapng"
    operated.topology.upf.run("curl", "-sS", "--unix-socket", operated.socket, "-o", capture,
                              f"http://upf/v1/captures/{started['id']}")
    told_by = lambda *words: subprocess.run(["tshark", "-r", capture, *words], capture_output=True, text=True, check=True).stdout
    assert len(told_by("-Y", "pfcp").splitlines()) == 4
    assert told_by("-Y", "pfcp && _ws.malformed") == ""
    inner = told_by("-Y", f"ip.addr == {ue_of(number)} && udp.port == 7000").splitlines()
    assert len(inner) == 2, told_by()
    assert told_by("-Y", f"ip.addr == {ue_of(other)}") == ""


def test_reload_and_log_level(operated, smf, gnb, host):
    session = establish(smf, 0)
    operated.write("warn", "description: changed\n".replace("description", "# description"))
    assert 'logger.level "debug" -> "warn"' in operated.ctl("reload")
    operated.config_path.write_text("version: 1.0.2\n")
    operated.ctl("reload", code=1)
    operated.ctl("check", operated.config_path, code=1)
    operated.ctl("log", "debug")
    operated.write("debug")
    operated.signal(signal.SIGHUP)
    assert net.eventually(lambda: "reload: " in operated.log())
    traffic(gnb, host)  # none of it touched the session
    session.delete()


def test_release_drop_and_drain(operated, smf, gnb, host):
    sessions = [establish(smf, number) for number in range(3)]
    operated.ctl("release", ue_of(0))
    assert operated.api("/v1/status")["sessions"] == 2
    sessions[1].delete()
    assert operated.get(PAGE + "/v1/ready") and operated.api("/v1/ready")["ok"]
    operated.ctl("drain")
    assert not operated.api("/v1/ready")["ok"]
    refused = smf.establish(n4.pdr_uplink(teid=0x9001), n4.far_forward(1), expect=75)
    assert n4.cause(refused) == 75
    traffic(gnb, host, 2)  # who is there stays
    operated.ctl("drain", "off")
    establish(smf, 9)
    operated.ctl("drop", net.SMF2)
    status = operated.api("/v1/status")
    assert (status["sessions"], status["associations"]) == (0, 0)
    operated.ctl("drop", net.SMF2, code=1)


def test_who_may_act(operated, smf):
    """TCP and other users only look."""
    answer = operated.topology.upf.run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST",
                                       f"{PAGE}/v1/log?level=debug")
    assert answer == "403"
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv")
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "-sS", "-o", "/dev/null", "-w",
              "%{http_code}", "--unix-socket"]
    reachable = operated.folder
    while reachable != reachable.parent:
        reachable.chmod(0o755)
        reachable = reachable.parent if reachable.parent != pathlib.Path("/tmp") else pathlib.Path("/")
    assert operated.topology.upf.run(*nobody, operated.socket, "http://upf/v1/status") == "200"
    assert operated.topology.upf.run(*nobody, operated.socket, "-X", "POST", "http://upf/v1/log?level=debug") == "403"


@pytest.mark.parametrize("name, size", [("desktop", "1280,1500"), ("phone", "390,1800")])
def test_status_page(operated, crowd, smf, gnb, host, tmp_path, name, size):
    """In a browser: numbers are there, nothing is wider than the window. The picture is for people."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    for number in range(20):
        traffic(gnb, host, number)
    browser = operated.topology.upf.command(
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={tmp_path}/{name}",
        f"--window-size={size}", "--virtual-time-budget=6000", "--run-all-compositor-stages-before-draw")
    text = subprocess.run([*browser, "--dump-dom", f"http://{PAGE}/"], capture_output=True, text=True, timeout=60).stdout
    assert f"<b>{CROWD}</b>" in text and net.SMF2 in text and "ready" in text, text[-2000:]
    SHOTS.mkdir(parents=True, exist_ok=True)
    shot = SHOTS / f"status-{name}.png"
    subprocess.run([*browser, f"--screenshot={shot}", f"http://{PAGE}/"], capture_output=True, timeout=60)
    assert shot.stat().st_size > 10_000


def test_scraping_does_not_slow_n4(operated, smf):
    """Requests in lockstep, with and without a scraper that never pauses: the ratio is printed, not judged."""
    def rate():
        begin = time.monotonic()
        for number in range(100):
            establish(smf, number).delete()
        return 200 / (time.monotonic() - begin)
    rate()
    alone = rate()
    scraper = operated.topology.upf.popen("bash", "-c", f"while curl -sS -o /dev/null {METRICS}/metrics; do :; done")
    scraped = rate()
    scraper.terminate()
    scraper.wait(10)
    print(f"\nN4 requests a second: {alone:.0f} alone, {scraped:.0f} while scraped without a pause, ratio {scraped / alone:.2f}")

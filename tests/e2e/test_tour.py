"""The tour: one daemon on the user-space plane, 1,000 sessions with traffic, and everything that an operator asks and does.

The steps are in order and share the daemon. UPF_TOUR_SESSIONS says how many sessions.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import daemon
import gtp
import n4
import net
import pytest
import yaml
from browser import Browser
from operated import METRICS, PAGE, Operated, needs, promtool, validate, value

SESSIONS = int(os.environ.get("UPF_TOUR_SESSIONS", "1000"))
SHOTS = daemon.ROOT / "build/results"
IP_TRANSPARENT = 19  # linux/in.h; the socket module has no name for it
PORT = 7000


def ue_of(number):
    return f"10.60.{number // 250 + 1}.{number % 250 + 1}"


class Tour:
    """The daemon, the lab's SMF and gNB, a host, and a UE for each session."""

    def __init__(self, topology, folder):
        self.topology, self.folder = topology, folder
        self.upf = Operated(topology, "userspace", folder)
        if not self.upf.program.exists() or not (daemon.BUILD / "upfctl").exists():
            needs("upf and upfctl built")
        self.upf.start()
        self.lab = daemon.Lab(topology, folder)
        self.lab.start_ran()
        # Every address of the pool is this namespace's, so that a UE is no more than a socket.
        topology.ran.ip("route", "add", "local", net.UE_POOL, "dev", "lo")
        self.lab.start_smf("free5gc")
        self.host = gtp.Host(topology, port=PORT)
        self.smf = n4.Smf(topology, net.SMF2)
        self.smf.associate()
        self.sessions = {}

    def establish(self, number):
        made = self.lab("establish", ue=ue_of(number), usage=1)
        self.lab("activate", gnb="gnb1", session=made["session"])
        self.sessions[number] = made

    def ue(self, number):
        with self.topology.ran.inside():
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_IP, IP_TRANSPARENT, 1)
        made.bind((ue_of(number), PORT))
        made.settimeout(10)
        return made

    def traffic(self, numbers):
        """A packet each way through each session's tunnel; none is lost, and each gets its own answer."""
        numbers = list(numbers)
        for at in range(0, len(numbers), 100):
            ues = {number: self.ue(number) for number in numbers[at:at + 100]}
            for number, ue in ues.items():
                ue.sendto(b"up %d" % number, (net.DN, PORT))
            for _ in ues:
                payload, sender = self.host.receive(10)
                assert sender[0] == ue_of(int(payload[3:])), (payload, sender)
                self.host.send(b"down" + payload[2:], sender[0], PORT)
            for number, ue in ues.items():
                assert ue.recv(100) == b"down %d" % number
                ue.close()

    def metrics(self):
        return self.upf.get(f"{METRICS}/metrics")

    def close(self):
        self.smf.close()
        self.host.close()
        self.lab.stop()
        self.topology.ran.ip("route", "del", "local", net.UE_POOL, "dev", "lo")


@pytest.fixture(scope="module")
def tour(topology, tmp_path_factory):
    if "userspace" not in os.environ.get("UPF_PLANES", "userspace").split(","):
        pytest.skip("the tour is on the user-space plane")
    made = Tour(topology, tmp_path_factory.mktemp("tour"))
    yield made
    made.close()
    assert made.upf.stop() == 0, made.upf.log()[-3000:]


def test_sessions_with_traffic(tour):
    begin = time.monotonic()
    for number in range(SESSIONS):
        tour.establish(number)
    made = time.monotonic()
    tour.traffic(range(SESSIONS))
    print(f"\n{SESSIONS} sessions in {made - begin:.1f} s, traffic over all in {time.monotonic() - made:.1f} s")
    assert tour.upf.api("/v1/status")["sessions"] == SESSIONS
    counters = tour.lab("counters")
    assert counters["uplink_packets"] >= SESSIONS and counters["downlink_packets"] >= SESSIONS, counters
    assert counters["unknown_teid"] == counters["malformed"] == 0, counters


def test_scrape(tour):
    metrics = tour.metrics()
    promtool(metrics)
    expected = {
        "kupf_ready": 1,
        "kupf_sessions": SESSIONS,
        "kupf_sessions_established_total": SESSIONS,
        f'kupf_association_sessions{{peer="{net.SMF1}"}}': SESSIONS,
        'kupf_rules{kind="pdr"}': 2 * SESSIONS,
        'kupf_rules{kind="urr"}': SESSIONS,
        f'kupf_dnn_sessions{{peer="{net.SMF1}",dnn="internet"}}': SESSIONS,
        f'kupf_pfcp_messages_total{{direction="in",type="session_establishment_request",peer="{net.SMF1}"}}': SESSIONS,
        'kupf_pfcp_answers_total{direction="out",type="session_establishment_response",cause="request_accepted"}': SESSIONS,
        'kupf_pfcp_discarded_total{reason="malformed"}': 0,
        f'kupf_gtpu_path_tunnels{{peer="{net.GNB1}"}}': SESSIONS,
        f'kupf_gtpu_path_up{{peer="{net.GNB1}"}}': 1,
        "kupf_waiting_packets": 0,
    }
    for name, number in expected.items():
        assert value(metrics, name) == number, name
    # What the kernel itself sends into the device (IPv6 neighbour discovery) is for no UE.
    assert value(metrics, "kupf_gtpu_drops_total") == value(metrics, 'kupf_gtpu_drops_total{reason="unknown_address"}') < 50
    for stage in ("decode", "plan", "plane", "answer", "total"):
        name = f'kupf_pfcp_request_duration_seconds_count{{stage="{stage}",type="session_establishment_request"}}'
        assert value(metrics, name) == SESSIONS, name
    for way in ("uplink", "downlink"):
        assert value(metrics, f'kupf_gtpu_packets_total{{direction="{way}"}}') >= SESSIONS
        assert value(metrics, f'kupf_gtpu_bytes_total{{direction="{way}"}}') >= 30 * SESSIONS
    for role in ("n3", "n6"):
        assert value(metrics, f'kupf_interface_packets_total{{role="{role}",direction="in"}}') >= SESSIONS, role
    # The gNB answered an Echo Request; how soon is this machine's affair.
    assert 0 < value(metrics, "kupf_gtpu_path_round_trip_seconds") < 30


def test_query(tour):
    document = validate(tour.upf)
    assert document["openapi"].startswith("3.1")
    seen, after = [], ""
    while True:  # paged, each session once
        page = tour.upf.api(f"/v1/sessions?limit=300{after}")
        seen += [session["seid"] for session in page["sessions"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert len(seen) == len(set(seen)) == SESSIONS
    number = SESSIONS // 2
    made = tour.sessions[number]
    by_ue = tour.upf.api(f"/v1/sessions?ue={ue_of(number)}")["sessions"]
    by_teid = tour.upf.api(f"/v1/sessions?teid={made['uplink']['teid']:#x}")["sessions"]
    assert len(by_ue) == 1 and by_ue == by_teid
    assert int(by_ue[0]["seid"], 16) == made["up_seid"]
    cp_seid = tour.upf.api(f"/v1/sessions/{by_ue[0]['seid']}")["cp_seid"]
    for seid in (by_ue[0]["seid"], cp_seid):
        assert by_ue[0] in tour.upf.api(f"/v1/sessions?seid={seid}")["sessions"]
    by_network = tour.upf.api("/v1/sessions?limit=1000&dnn=internet&peer=" + net.SMF1)["sessions"]
    assert len(by_network) == min(SESSIONS, 1000)
    assert tour.upf.api("/v1/sessions?dnn=other")["sessions"] == []
    assert "FTUP" in tour.upf.api("/v1/features")["up_function"]


def test_every_answer_as_json_and_yaml(tour):
    steady = {"sessions": [], "session": [ue_of(1)], "refusals": [], "peers": []}
    for command, words in steady.items():
        as_json = json.loads(tour.upf.ctl("-o", "json", command, *words))
        as_yaml = yaml.safe_load(tour.upf.ctl("-o", "yaml", command, *words))
        if command != "peers":  # whose ages go on
            assert as_yaml == as_json, command
        assert as_yaml.keys() == as_json.keys(), command
    peers = json.loads(tour.upf.ctl("-o", "json", "peers"))
    assert [path["peer"] for path in peers["paths"]] == [path["peer"] for path in tour.upf.api("/v1/paths")["paths"]] != []
    for command in ("status", "counters"):
        assert json.loads(tour.upf.ctl("-o", "json", command)).keys() == yaml.safe_load(tour.upf.ctl("-o", "yaml", command)).keys()
    for words, code in ((["session", "10.9.9.9"], 4), (["session", "0x1"], 4), (["nonsense"], 2), (["-o", "xml", "status"], 2),
                        (["log", "loud"], 2), (["release", "0x1", "0x2"], 2), (["release", "0x1"], 4), (["release", "all"], 2), (["status", "--count", 1], 2)):
        tour.upf.ctl(*words, code=code)
    assert subprocess.run([daemon.BUILD / "upfctl", "-s", "/nowhere", "status"], capture_output=True).returncode == 3


def test_one_session(tour):
    """Rules, what the plane has of them, and what they counted, side by side."""
    number = SESSIONS // 3
    before = json.loads(tour.upf.ctl("-o", "json", "session", ue_of(number)))
    tour.traffic([number])
    after = json.loads(tour.upf.ctl("-o", "json", "session", ue_of(number)))
    assert after["in_plane"] and after["state"] == "active" and after["waiting_packets"] == 0
    for kind in ("pdrs", "fars", "qers", "urrs"):
        assert after[kind] and all(rule["installed"] for rule in after[kind]), kind
    counted = [{urr["id"]: urr["counted"] for urr in session["urrs"]} for session in (before, after)]
    for urr, now in counted[1].items():
        for way in ("uplink", "downlink"):
            assert now[f"{way}_packets"] == counted[0][urr][f"{way}_packets"] + 1
            assert now[f"{way}_octets"] == counted[0][urr][f"{way}_octets"] + 28 + len(f"up {number}") + 2 * (way != "uplink")
    shown = tour.upf.ctl("session", ue_of(number))
    assert "INSTALLED" in shown and "to tunnel" in shown and "in 2 packets" in shown, shown
    peers = tour.upf.ctl("peers")
    assert net.SMF1 in peers and net.GNB1 in peers and str(SESSIONS) in peers, peers


def test_watch(tour):
    with concurrent.futures.ThreadPoolExecutor(1) as background:
        watching = background.submit(tour.upf.ctl, "watch", "--count", 3)
        while not watching.done():
            tour.traffic(range(min(SESSIONS, 50)))
    lines = watching.result().splitlines()
    assert lines[0].split()[:3] == ["SESSIONS", "UP", "DOWN"] and len(lines) == 4, lines
    assert all(line.split()[0] == str(SESSIONS) for line in lines[1:])
    assert any(line.split()[1] != "0" for line in lines[1:]), lines
    assert max(map(len, lines)) <= 80, lines


def test_trace_and_capture(tour):
    """One subscriber's story: live text, and a file for Wireshark with N4 and user packets."""
    number, file = 4, tour.folder / "story.pcapng"
    follow = lambda *words: subprocess.Popen([daemon.BUILD / "upfctl", "-s", tour.upf.socket, *map(str, words)],
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    trace = follow("trace", ue_of(number), "--seconds", 60)
    capture = follow("-o", "yaml", "capture", ue_of(number), "-w", file, "--seconds", 60)
    for process in (trace, capture):
        assert process.stderr.readline()  # "following", "capturing": from here on nothing is missed
    session = tour.sessions[number]["session"]
    tour.lab("idle", session=session)
    tour.lab("activate", gnb="gnb1", session=session)
    tour.traffic([number, number + 1])
    for process in (trace, capture):
        process.send_signal(signal.SIGINT)
    told, _ = trace.communicate(timeout=20)
    wrote, _ = capture.communicate(timeout=20)
    assert yaml.safe_load(wrote) == {"file": str(file), "octets": file.stat().st_size, "warning": ""}
    assert trace.returncode == capture.returncode == 0
    for word in ("Session Modification Request", "Session Modification Response", "n4-in", "n4-out", "plane", "~FAR"):
        assert word in told, told
    assert f"{tour.sessions[number + 1]['up_seid']:x}" not in told
    if shutil.which("tshark") is None:
        needs("tshark")
    read = lambda *words: subprocess.run(["tshark", "-r", file, *words], capture_output=True, text=True, check=True).stdout
    assert len(read("-Y", "pfcp").splitlines()) >= 4
    assert read("-Y", "_ws.malformed") == ""
    user = read("-Y", f"ip.addr == {ue_of(number)} && udp.port == {PORT}").splitlines()
    assert len(user) == 2, read()
    assert read("-Y", f"ip.addr == {ue_of(number + 1)}") == ""


def test_a_capture_ends_by_itself_and_keeps_to_its_size(tour):
    """It ends when nothing more fits, long before its time, and says so."""
    number, file = 7, tour.folder / "small.pcapng"
    words = ["-o", "json", "capture", ue_of(number), "-w", file, "--seconds", 3600, "--octets", 4096]
    capturing = subprocess.Popen([daemon.BUILD / "upfctl", "-s", tour.upf.socket, *map(str, words)], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
    try:
        while capturing.poll() is None:
            tour.traffic([number])
    finally:
        capturing.kill()
    wrote, said = capturing.communicate()
    assert capturing.returncode == 0 and re.search(r"^upfctl: full: at least \d+ items? left out$", said, re.M), said
    assert json.loads(wrote)["warning"].startswith("full: at least ")
    assert 2048 < file.stat().st_size <= 4096
    done = subprocess.run(["tshark", "-r", file], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) >= 10 and done.stderr.count("cut short") == 0, done.stderr


def test_every_metric_of_the_page_is_there(tour):
    """What the page lists is exposed once there was reason to, but for what only the kernel module has."""
    number = 6
    with tour.ue(number) as ue:
        tour.lab("idle", session=tour.sessions[number]["session"])
        tour.host.send(b"page", ue_of(number), PORT)
        assert net.eventually(lambda: value(tour.metrics(), 'kupf_session_reports_total{kind="downlink_data"}') >= 1)
        tour.lab("activate", gnb="gnb1", session=tour.sessions[number]["session"])
        assert ue.recv(100) == b"page"
    tour.lab("delete", session=tour.sessions[number]["session"])  # brings its last usage
    tour.establish(number)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    page = set(re.findall(r"^\| `(\w+)` \|", (root / "deploy/monitoring/README.md").read_text(), re.M))
    exposed = set(re.findall(r"^# TYPE (\w+) ", tour.metrics(), re.M))
    assert len(page) >= 60 and exposed <= page
    assert page - exposed == {"kupf_kernel_requests_total", "kupf_kernel_errors_total"}


# The part of a plot's height and of its width that the line of the first colour takes.
LINE = """(() => {
  const c = document.getElementById("%s"), g = c.getContext("2d");
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--a");
  const colour = [1, 3, 5].map(i => parseInt(g.fillStyle.substr(i, 2), 16));
  const p = g.getImageData(0, 0, c.width, c.height).data;
  let top = c.height, left = c.width;
  for (let i = 0; i < p.length; i += 4)
    if (colour.every((one, n) => p[i + n] === one)) {
      top = Math.min(top, Math.floor(i / 4 / c.width));
      left = Math.min(left, i / 4 %% c.width);
    }
  return [1 - top / c.height, 1 - left / c.width];
})()"""


@pytest.fixture
def page(tour):
    chromium = shutil.which("chromium")
    if chromium is None:
        needs("chromium")
    made = Browser(tour.topology.upf, chromium, tour.folder / "chromium")
    yield made
    made.close()


def test_status_page(tour, page):
    """In a browser, as an operator has it: traffic and signalling move, a refusal says why, a session is found."""
    tour.smf.establish(n4.pdr_uplink(teid=0x900002), expect=n4.MANDATORY_MISSING)
    page.resize(1280, 900, mobile=False)
    page.open(f"http://{PAGE}/")
    text = lambda element: page.ask(f"document.getElementById('{element}').innerText")
    rows = lambda element: page.ask(f"[...document.getElementById('{element}').rows].map(r => [...r.cells].map(c => c.innerText))")

    def busy():
        tour.traffic(range(min(SESSIONS, 50)))
        for number in range(10):
            session = tour.sessions[number]["session"]
            tour.lab("idle", session=session)
            tour.lab("activate", gnb="gnb1", session=session)

    def drawn(seconds):
        busy()
        lines = [page.ask(LINE % plot) for plot in ("traffic", "n4")]
        return all(height > 0.8 and width > seconds / 120 for height, width in lines)

    assert net.eventually(lambda: drawn(5), 60), [page.ask(LINE % plot) for plot in ("traffic", "n4")]
    assert text("state") == "ready" and str(SESSIONS) in text("tiles")
    assert re.fullmatch(r"[1-9]\d* /s", text("msgs-in")) and "bit/s" in text("bits-up") and text("bits-up") != "0 bit/s"
    assert [row[1:3] for row in rows("smfs") if row[0] == net.SMF1] != [] and net.GNB1 in text("paths")
    refused = rows("refusals")[1]
    assert refused[1].startswith(net.SMF2) and refused[2:] == [
        "Session Establishment Request", "Mandatory IE missing, offending IE Create FAR"], refused

    page.ask("""window.most = 0; { let now = 0; const real = window.fetch; window.fetch = async path => {
        if (!path.startsWith("/v1/sessions")) return real(path);
        window.most = Math.max(window.most, ++now);
        try { return await real(path) } finally { now-- } } }""")
    page.ask("for (let i = 0; i < 5; i++) document.getElementById('search').dispatchEvent(new Event('input'))")
    found = lambda: [row[0] for row in rows("sessions")[1:]]
    assert net.eventually(lambda: len(found()) == min(SESSIONS, 20))
    number = SESSIONS // 2
    search = lambda: page.ask("(s => { s.focus(); s.select() })(document.getElementById('search'))")
    for typed in ("10.99.9.9", ue_of(number), f"{tour.sessions[number]['uplink']['teid']:#x}",
                  f"{tour.sessions[number]['up_seid']:#018x}"):
        search()
        page.type(typed)
        wanted = [] if typed == "10.99.9.9" else [ue_of(number)]
        assert net.eventually(lambda: found() == wanted), (typed, rows("sessions"))
    assert page.ask("window.most") == 1  # however fast one types
    assert rows("sessions")[1][1:4] == ["internet", "active", net.SMF1], rows("sessions")

    SHOTS.mkdir(parents=True, exist_ok=True)
    page.shoot(SHOTS / "status-desktop.png")
    assert found() == wanted  # no late answer to half of what was typed has taken its place
    page.resize(390, 844, mobile=True)
    assert net.eventually(lambda: drawn(10), 60)
    # Nothing is out of sight, neither of the page nor of a table.
    assert page.ask("[document.documentElement, ...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth)")
    page.shoot(SHOTS / "status-phone.png")


def test_reload(tour):
    """A data network and another level while all sessions go on."""
    text = tour.upf.config_path.read_text()
    more = text.replace(f"    cidr: {net.UE_POOL}\n", f"    cidr: {net.UE_POOL}\n  - dnn: ims\n    cidr: 10.61.0.0/16\n")
    assert more != text
    tour.upf.config_path.write_text(more.replace("level: debug", "level: info") + "gtpu_: {}\n")
    tour.upf.ctl("reload", code=1)  # refused as a whole
    tour.upf.config_path.write_text(more.replace("level: debug", "level: info").replace("type: N3", "type: N3\n      mtu: 1400"))
    would = tour.upf.ctl("check", tour.upf.config_path)
    assert 'dnnList[1].dnn: "" -> "ims" (reload)' in would and 'gtpu.ifList[0].mtu: "0" -> "1400" (restart)' in would, would
    checked = tour.topology.upf.run(tour.upf.program, "--check", "-c", tour.upf.config_path)
    assert 'logger.level: "debug" -> "info" (reload)' in checked, checked
    done = tour.upf.ctl("reload")
    assert 'dnnList[1].dnn "" -> "ims"' in done and 'needs a restart: gtpu.ifList[0].mtu "0" -> "1400"' in done, done
    assert "10.61.0.0/16 dev upfgtp" in tour.topology.upf.ip("route")
    assert [pool["dnn"] for pool in tour.upf.api("/v1/pools")["pools"]] == ["internet", "ims"]
    tour.upf.ctl("reload")
    assert tour.upf.api("/v1/status")["sessions"] == SESSIONS
    tour.traffic(range(0, SESSIONS, max(SESSIONS // 50, 1)))


def test_drain(tour):
    """New sessions are refused, those that are there go on, and with the last one the daemon ends."""
    assert "SMFs are told" in tour.upf.ctl("drain")
    assert tour.upf.api("/v1/ready") == {"ok": False, "reason": "draining"}
    assert value(tour.metrics(), "kupf_ready") == 0
    refused = tour.smf.establish(n4.pdr_uplink(teid=0x900001), n4.far_forward(1), expect=75)  # 8.2.1: no resources
    assert n4.cause(refused) == 75
    assert "No resources available" in tour.upf.ctl("refusals")
    tour.traffic(range(0, SESSIONS, max(SESSIONS // 50, 1)))
    for made in tour.sessions.values():
        tour.lab("delete", session=made["session"])
    assert tour.upf.wait(15) == 0
    assert "the last session is gone" in tour.upf.log()
    assert "upfgtp" not in tour.topology.upf.ip("link")

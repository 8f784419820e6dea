"""The operator's side on every data plane, in small; test_tour.py does it with a thousand sessions."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import daemon
import gtp
import n4
import net
import pytest
import yaml
from operated import METRICS, PAGE, Documented, Operated, needs, promtool, validate, value

CROWD = 20


@pytest.fixture
def operated(topology, capture, plane, tmp_path):
    under_test = Operated(topology, plane, tmp_path)
    for program in (under_test.program, daemon.BUILD / "upfctl"):
        if not program.exists():
            pytest.skip(f"{program.name} is not built")
    with under_test.running():
        yield under_test


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


def test_scrape_and_query(operated, crowd, smf, gnb, host, plane):
    for number in range(CROWD):
        traffic(gnb, host, number)
    metrics = operated.get(f"{METRICS}/metrics")
    promtool(metrics)
    assert value(metrics, "kupf_sessions") == CROWD
    assert value(metrics, 'kupf_rules{kind="pdr"}') == 2 * CROWD
    assert value(metrics, 'kupf_plane_call_duration_seconds_count{call="apply"}') == CROWD
    assert value(metrics, f'kupf_gtpu_path_tunnels{{peer="{net.GNB1}"}}') == CROWD
    for direction in ("uplink", "downlink"):
        assert value(metrics, f'kupf_gtpu_packets_total{{direction="{direction}"}}') >= CROWD
        assert value(metrics, f'kupf_gtpu_bytes_total{{direction="{direction}"}}') >= 28 * CROWD
    if plane != "userspace":
        assert value(metrics, "kupf_kernel_requests_total") >= 4 * CROWD
        assert value(metrics, "kupf_kernel_errors_total") == 0
    validate(operated)
    session = json.loads(operated.ctl("-o", "json", "session", ue_of(3)))
    for kind in ("pdrs", "fars"):
        assert session[kind] and all(rule["installed"] for rule in session[kind]), session


def test_echo_responses_are_counted(operated, gnb):
    """On every plane. Of requests the kernel module answers nearly all by itself."""
    gnb.send(bytes.fromhex("3202000600000000000700000e00"))
    assert net.eventually(lambda: value(operated.get(f"{METRICS}/metrics"), 'kupf_echo_messages_total{type="response"}') == 1)


def test_every_answer_of_the_document(operated, crowd, smf):
    """Each operation with each status that the document names for it, right and wrong calls alike."""
    call = Documented(operated)
    ue, seid = ue_of(0), f"{crowd[0].up_seid:#x}"
    for method, path, status in sorted(call.answers()):
        if status == 403:  # TCP only looks
            call(method, path, 403, privileged=False, **{name: 1 for name in re.findall(r"{(\w+)}", path)})
        elif method == "GET" and status == 200 and "{" not in path:
            call(method, path, 200)
    for path in call.document["paths"]:
        answer = operated.call("PUT", re.sub(r"{\w+}", "1", path))
        assert answer[:2] == (405, "application/json") and json.loads(answer[2]).keys() == {"error"}, (path, answer)
    assert operated.call("GET", "/v1/nothing")[0] == 404

    assert len(call("GET", "/v1/sessions", 200, ue=ue, limit=5)["sessions"]) == 1
    for teid in (0x1000, 0x2000):  # ours and the gNB's
        assert [row["ue"] for row in call("GET", "/v1/sessions", 200, teid=f"{teid:#x}")["sessions"]] == [[ue]]
    for wrong in ({"limit": 0}, {"ue": "x"}, {"teid": "x"}, {"teid": "0x100001000"}, {"seid": "x"}, {"after": "x"}):
        call("GET", "/v1/sessions", 400, **wrong)
    call("GET", "/v1/sessions/{seid}", 200, seid=seid)
    call("GET", "/v1/sessions/{seid}", 400, seid="x")
    call("GET", "/v1/sessions/{seid}", 404, seid="0x1")

    call("POST", "/v1/log", 200, level="debug")
    call("POST", "/v1/log", 400, level="loud")
    # Parameters are in the query: a body says nothing.
    body = ("-H", "content-type: application/json", "-d", '{"level": "debug"}')
    assert operated.call("POST", "/v1/log", *body)[0] == 400
    whole = operated.config_path.read_text()
    call("POST", "/v1/reload", 200)
    operated.config_path.write_text("version: 1.0.2\n")
    call("POST", "/v1/reload", 409)
    operated.config_path.write_text(whole.replace("page: true", "page: false"))
    call("POST", "/v1/reload", 200)
    call("GET", "/", 404)
    call("POST", "/v1/audit", 200, repair="false")
    call("POST", "/v1/audit", 400, repair="perhaps")

    for what, nothing, wrong in (("traces", {}, "x"), ("captures", {"octets": 4096}, "")):
        begun = [call("POST", f"/v1/{what}", 200, target=ue, seconds=60, **nothing)["id"]]
        call("POST", f"/v1/{what}", 400, target=wrong)
        call("POST", f"/v1/{what}", 400, target=ue, seconds=0)
        got = call("GET", f"/v1/{what}/{{id}}", 200, id=begun[0])
        assert what == "traces" or got.startswith(b"\x0a\x0d\x0d\x0a")
        call("GET", f"/v1/{what}/{{id}}", 404, id=999)
        if what == "captures":
            state = call("GET", "/v1/captures/{id}/state", 200, id=begun[0])
            assert state == {"octets": len(got), "packets": 0, "full": False, "left_out": 0, "lost": 0}
            call("GET", "/v1/captures/{id}/state", 404, id=999)
        while len(begun) < 8:  # as many as there may be
            begun.append(call("POST", f"/v1/{what}", 200, target=ue)["id"])
        call("POST", f"/v1/{what}", 409, target=ue)
        for one in begun:
            call("DELETE", f"/v1/{what}/{{id}}", 200, id=one)
        call("DELETE", f"/v1/{what}/{{id}}", 404, id=begun[0])

    call("POST", "/v1/drain", 400, on="perhaps")
    call("POST", "/v1/drain", 200, on="true")
    assert call("GET", "/v1/ready", 503) == {"ok": False, "reason": "draining"}
    call("POST", "/v1/drain", 200, on="false", end="false")
    call("DELETE", "/v1/sessions/{seid}", 200, seid=seid)
    call("DELETE", "/v1/sessions/{seid}", 404, seid=seid)
    call("DELETE", "/v1/associations/{node_id}", 200, node_id=net.SMF2)
    call("DELETE", "/v1/sessions/{seid}", 400, seid="x")
    call("DELETE", "/v1/associations/{node_id}", 404, node_id=net.SMF2)
    # The first is test_a_lost_device_is_told's; whether an audit still runs is a matter of time.
    assert call.answers() - call.seen == {("GET", "/v1/health", 503), ("POST", "/v1/audit", 409)}


def test_upfctl(operated, crowd, smf, gnb, host):
    assert f"sessions       {CROWD} " in operated.ctl("status")
    listed = operated.ctl("sessions", "--limit", 7).splitlines()
    assert listed[0].split()[:3] == ["SEID", "UE", "DNN"] and listed[-2] == f"7 of {CROWD} sessions"
    after = listed[-1].removeprefix("more with --after ")
    rest = json.loads(operated.ctl("-o", "json", "sessions", "--after", after))
    assert len(rest["sessions"]) == CROWD - 7 and rest["next"] is None
    shown = operated.ctl("session", ue_of(3))
    assert ue_of(3) in shown and f"{0x1003:#010x}@{net.UPF}" in shown and f"{0x2003:#010x}@{net.GNB1}" in shown
    assert json.loads(operated.ctl("-o", "json", "session", ue_of(3)))["state"] == "active"
    assert "forwarder: " in operated.ctl("-o", "yaml", "status")
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
    refusals = operated.ctl("refusals")
    assert "Session Establishment Request" in refusals and "Mandatory IE missing, offending IE Create FAR" in refusals, refusals


def test_upfctl_on_a_terminal(operated, crowd, smf):
    """Nothing is wider than the terminal, and what a row is about is whole."""
    smf.establish(n4.pdr_uplink(teid=0x9001), expect=n4.MANDATORY_MISSING)
    for words in (["status"], ["sessions"], ["session", ue_of(3)], ["peers"], ["refusals"], ["counters"], ["features"],
                  ["pools"], ["config"], ["watch", "--count", 1]):
        shown = operated.ctl_on_terminal(80, *words)
        assert len(shown.splitlines()) >= 2 and max(map(len, shown.splitlines())) <= 80, shown
    shown, whole = operated.ctl_on_terminal(60, "sessions"), operated.ctl("sessions")
    for session in crowd:
        assert f"{session.up_seid:#018x}" in shown and f"{session.up_seid:#018x}" in whole, shown
    assert all(f" {ue_of(number)} " in shown for number in range(CROWD)), shown
    assert "no room for" in shown and "no room for" not in whole and "…" not in whole, shown
    assert max(map(len, shown.splitlines())) <= 60, shown
    assert "Mandatory IE missing" in operated.ctl_on_terminal(80, "refusals")


def test_what_goes_on_as_json_and_yaml(operated, crowd):
    ticks = [json.loads(line) for line in operated.ctl("-o", "json", "watch", "--count", 2).splitlines()]
    assert [tick["sessions"] for tick in ticks] == [CROWD, CROWD] and "uplink_bits_per_second" in ticks[0], ticks
    documents = list(yaml.safe_load_all(operated.ctl("-o", "yaml", "watch", "--count", 2)))
    assert [tick.keys() for tick in documents] == [tick.keys() for tick in ticks]
    checked = json.loads(operated.ctl("-o", "json", "check", operated.config_path))
    assert checked == yaml.safe_load(operated.ctl("-o", "yaml", "check", operated.config_path))
    assert checked["good"] and checked["daemon"] == str(operated.socket) and checked["differences"] == [], checked
    traced = operated.ctl("-o", "yaml", "trace", ue_of(3), "--seconds", 1)
    assert list(yaml.safe_load_all(traced)) == []  # nothing happened
    assert operated.ctl("-o", "json", "completion", "bash", code=2) == ""


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


def test_a_capture_says_what_the_kernel_lost(operated, crowd, host):
    """More packets than a socket holds, while the daemon takes none."""
    started = json.loads(operated.call("POST", f"/v1/captures?target={ue_of(0)}&seconds=60")[2])
    state = lambda: json.loads(operated.call("GET", f"/v1/captures/{started['id']}/state")[2])
    assert state()["lost"] == 0 and started["warning"] == ""
    operated.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(2000):
            host.send(b"x" * 1000, ue=ue_of(0))
    finally:
        operated.process.send_signal(signal.SIGCONT)
    assert net.eventually(lambda: state()["lost"] > 0), state()
    assert state()["packets"] > 0 and not state()["full"]


def test_traces_end_with_who_asked_for_them(operated, crowd):
    """However upfctl ends, nothing goes on in the daemon, which keeps to eight at once."""
    for number in range(9):
        trace = subprocess.Popen([daemon.BUILD / "upfctl", "-s", operated.socket, "trace", ue_of(0)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        assert trace.stderr.readline().startswith("following")
        trace.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3])
        assert trace.wait(10) == 0


def test_a_trace_tells_what_plane_and_kernel_did(operated, smf, gnb, gnb2, host, plane):
    """From its first message on: rules, kernel calls, limits, paging, End Markers, Error Indications."""
    ue, other = ue_of(30), ue_of(31)
    trace = json.loads(operated.call("POST", f"/v1/traces?target={ue}&seconds=60")[2])["id"]
    records = lambda: json.loads(operated.call("GET", f"/v1/traces/{trace}")[2])["records"]
    made = []
    for number, address in ((30, ue), (31, other)):
        made.append(smf.establish(
            n4.pdr_uplink(teid=0x1000 + number, ue=address, urrs=[1]), n4.pdr_downlink(ue=address), n4.urr(threshold=100),
            n4.far_forward(1), n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + number, net.GNB1))))
        gnb.send(gtp.uplink(0x1000 + number, gtp.ue_udp(b"u" * 200, ue=address)))
        assert host.receive()[0] == b"u" * 200
        assert smf.wait_report() is not None
    session = made[0]
    session.modify(n4.far_buffer(2, update=True))
    host.send(b"page", ue=ue)
    assert smf.wait_report() is not None
    session.modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + 30, net.GNB1), update=True))
    assert gnb.receive().teid == 0x2000 + 30
    session.modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x3000 + 30, net.GNB2), end_marker=True, update=True))
    assert gnb.receive().type == gtp.END_MARKER
    gnb2.send(gtp.error_indication(0x3000 + 30, net.GNB2))
    assert smf.wait_report() is not None
    session.delete()
    told = {}
    for record in records():
        told.setdefault(record["kind"], []).append(record["text"])
    has = lambda kind, pattern: any(re.search(pattern, text) for text in told.get(kind, []))
    for kind, pattern in (
            ("n4-in", "Session Establishment Request"), ("n4-out", "Session Establishment Response"),
            ("plane", r"\+PDR 1 \+PDR 2 .*: done in \d+ us"), ("plane", r"~FAR 2"),
            ("event", r"URR 1: threshold reached after \d+ octets up"), ("n4-out", r"Usage Report Trigger{ volth }"),
            ("event", "first packet for an idle UE, PDR 2"), ("n4-out", "Downlink Data Report"),
            ("plane", "FAR 2: waiting packets sent on: 1"),
            ("plane", f"FAR 2: End Marker to tunnel {0x201e:#010x}@{net.GNB1}"),
            ("event", f"Error Indication: {net.GNB2} doesn't know tunnel {0x301e:#010x}"),
            ("n4-out", "Error Indication Report"), ("n4-in", "Session Deletion Request")):
        assert has(kind, pattern), (kind, pattern, told)
    if plane == "userspace":
        assert "kernel" not in told
        assert has("plane", f"tunnel {0x101e:#010x} is served") and has("plane", f"UE address {ue} is no longer served"), told
    else:
        for command in ("ADD_PDR", "ADD_FAR", "ADD_URR", "DEL_PDR"):
            assert has("kernel", rf"{command} #\d+.*: done, request \d+ of \d+ in \d+ us"), (command, told)
    assert not has("n4-in", f"{made[1].up_seid:x}") and not has("plane", f"{0x101f:#010x}")


def test_a_capture_without_cap_net_raw_has_the_n4_messages(topology, capture, plane, tmp_path):
    if shutil.which("setpriv") is None:
        needs("setpriv")
    under_test = Operated(topology, plane, tmp_path)
    if not under_test.program.exists():
        pytest.skip(f"{under_test.program.name} is not built")
    under_test.wrapper = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"]
    file = tmp_path / "n4.pcapng"
    with under_test.running():
        smf = n4.Smf(topology, net.SMF2)
        smf.associate()
        session = establish(smf, 1)
        following = subprocess.Popen([daemon.BUILD / "upfctl", "-s", under_test.socket, "capture", ue_of(1), "-w", file],
                                     stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert following.stderr.readline().startswith("capturing ")
        assert re.match(r"upfctl: N4 messages only: user packets can't be captured: .*CAP_NET_RAW", following.stderr.readline())
        session.modify(n4.far_buffer(2, update=True))
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=20)
        assert following.returncode == 0
        smf.close()
    told = subprocess.run(["tshark", "-r", file], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 2 and all("PFCP" in line for line in told), told


def test_a_lost_device_is_told(topology, capture, tmp_path):
    """Health, readiness and metrics say that the plane is out of order, and why."""
    if "userspace" not in os.environ.get("UPF_PLANES", "userspace").split(","):
        pytest.skip("this fault is of the user-space plane")
    with Operated(topology, "userspace", tmp_path).running() as under_test:
        call = Documented(under_test)
        assert call("GET", "/v1/health", 200) == {"ok": True, "reason": ""}
        topology.upf.ip("link", "del", "upfgtp")
        assert net.eventually(lambda: under_test.call("GET", "/v1/health")[0] == 503)
        why = "the TUN device upfgtp is gone: restart upf"
        for path in ("/v1/health", "/v1/ready"):
            assert call("GET", path, 503) == {"ok": False, "reason": why}
        assert value(under_test.get(f"{METRICS}/metrics"), "kupf_ready") == 0
        assert f"faulty: {why}" in under_test.ctl("status")
        assert net.eventually(lambda: why in under_test.log())


def test_reload_and_log_level(operated, smf, gnb, host):
    session = establish(smf, 0)
    operated.write("warn", "description: changed\n".replace("description", "# description"))
    assert 'logger.level "debug" -> "warn"' in operated.ctl("reload")
    operated.config_path.write_text("version: 1.0.2\n")
    operated.ctl("reload", code=1)
    operated.ctl("check", operated.config_path, code=1)
    assert not json.loads(operated.ctl("-o", "json", "check", operated.config_path, code=1))["good"]
    operated.ctl("log", "debug")
    operated.write("debug")
    operated.signal(signal.SIGHUP)
    assert net.eventually(lambda: "reload: " in operated.log())
    traffic(gnb, host)  # none of it touched the session
    session.delete()


@pytest.fixture
def other_smf(operated, topology):
    made = n4.Smf(topology, net.SMF3)
    yield made
    made.close()


def reload(operated, **changes):
    """What the daemon says of it; and that this is what the check said beforehand."""
    operated.write("debug", **changes)
    would = operated.ctl("check", operated.config_path)
    done = operated.ctl("reload")
    applied = done.split("; needs a restart: ")[0]
    for key in re.findall(r"^  (\S+): .* \(reload\)$", would, re.M):
        assert f"{key} " in applied, (would, done)
    for key in re.findall(r"^  (\S+): .* \(restart.*\)$", would, re.M):
        assert f"{key} " not in applied and f"{key} " in done, (would, done)
    return done


def discarded(operated, reason):
    return value(operated.get(f"{METRICS}/metrics"), f'kupf_pfcp_discarded_total{{reason="{reason}"}}')


def setup_of(smf):
    return n4.pfcp.PFCPAssociationSetupRequest(
        IE_list=[smf.node(), n4.pfcp.IE_RecoveryTimeStamp(timestamp=smf.recovery)])


def test_reload_of_the_allow_list(operated, smf, other_smf, gnb, host):
    """Who is no longer on it is not heard; its sessions and everybody else's go on."""
    other_smf.associate()
    mine, others = establish(smf, 0), establish(other_smf, 1)
    reload(operated, pfcp=f"  allow: [{net.SMF2}]\n")
    other_smf.send(bytes(n4.pfcp.PFCP(S=0, seq=77) / setup_of(other_smf)))
    assert net.eventually(lambda: discarded(operated, "not_allowed") == 1)
    mine.modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000, net.GNB1), update=True))
    assert other_smf.receive(1e-3) is None  # what the daemon answers in order has come by now
    for number in (0, 1):
        traffic(gnb, host, number)
    reload(operated)
    others.modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2001, net.GNB1), update=True))
    traffic(gnb, host, 1)


def test_reload_of_limits(operated, smf, other_smf, gnb, host):
    """A limit that is reached, or already passed, refuses what comes next and nothing that is there."""
    sessions = [establish(smf, number) for number in range(2)]
    refuse = lambda maker, number=2: n4.cause(maker.establish(
        n4.pdr_uplink(teid=0x1000 + number, ue=ue_of(number)), n4.far_forward(1), expect=75))
    for limit in ("sessions: 1", "sessionsPerPeer: 2"):
        reload(operated, pfcp=f"  limits: {{{limit}}}\n")
        assert refuse(smf) == 75
    other_smf.associate()
    establish(other_smf, 3).delete()  # a limit of one SMF is no limit of another
    reload(operated, pfcp="  limits: {rulesPerSession: 1}\n")
    assert n4.cause(smf.establish(n4.pdr_uplink(teid=0x1004, ue=ue_of(4)), n4.pdr_downlink(ue=ue_of(4)), n4.far_forward(1),
                                  n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2004, net.GNB1)), expect=75)) == 75
    operated.ctl("drop", net.SMF3)
    reload(operated, pfcp="  limits: {associations: 1}\n")
    assert n4.cause(other_smf.request(setup_of(other_smf))) == 75
    reload(operated, pfcp="  limits: {requestsPerSecond: 1}\n")
    for sequence in range(100, 120):
        other_smf.send(bytes(n4.pfcp.PFCP(S=1, seid=1, seq=sequence) / n4.pfcp.PFCPSessionDeletionRequest(IE_list=[])))
    assert net.eventually(lambda: discarded(operated, "stranger_over_rate") >= 1)
    for number, session in enumerate(sessions):
        session.modify(n4.far_forward(2, to=n4.ACCESS, tunnel=(0x2000 + number, net.GNB1), update=True))
        traffic(gnb, host, number)
    reload(operated)
    establish(smf, 2)


def test_reload_of_peers(operated, smf, other_smf, gnb, host):
    """A new peer is asked at once, one that is taken out keeps its association, a new name needs a restart."""
    session = establish(smf, 0)
    reload(operated, pfcp=f"  peers: [{net.SMF3}]\n")
    request = other_smf.receive(10)
    assert isinstance(request.payload, n4.pfcp.PFCPAssociationSetupRequest), request.show(dump=True)
    other_smf.send(bytes(n4.pfcp.PFCP(S=0, seq=request.seq) / n4.pfcp.PFCPAssociationSetupResponse(IE_list=[
        other_smf.node(), n4.pfcp.IE_Cause(cause=1), n4.pfcp.IE_RecoveryTimeStamp(timestamp=other_smf.recovery)])))
    assert net.eventually(lambda: net.SMF3 in operated.ctl("peers"))
    establish(other_smf, 1)
    done = reload(operated, pfcp=f"  peers: [{net.SMF3}, smf.example.org]\n  allow: [10.0.0.0/8]\n")
    assert "a new name is looked up at start" in done and 'applied: pfcp.allow "" -> "10.0.0.0/8"' in done, done
    reload(operated)
    assert operated.api("/v1/status")["associations"] == 2
    for number in (0, 1):
        traffic(gnb, host, number)
    session.delete()


def test_reload_moves_the_metrics(operated, smf):
    """From one address to all of them and back, on the same port; to a port that is taken, not."""
    port = METRICS.split(":")[1]
    for address in (f"0.0.0.0:{port}", METRICS):
        reload(operated, metrics=address)
        assert "kupf_ready 1" in operated.get(f"{METRICS}/metrics")
        assert operated.topology.upf.run("ss", "-Hlnt", f"sport = :{port}").split()[3] == address
    operated.write("debug", metrics="0.0.0.0:" + PAGE.split(":")[1])
    operated.config_path.write_text(operated.config_path.read_text().replace(f"  listen: {PAGE}\n", ""))
    operated.ctl("reload", code=1)  # the API's port is free after a restart only
    assert "kupf_ready 1" in operated.get(f"{METRICS}/metrics")


def test_a_reload_that_fails_leaves_the_host_alone(operated, smf):
    """Another data network, with rules and a route of its own, and an address that isn't this host's."""
    upf = operated.topology.upf
    host = lambda: (upf.run("ip", "route"), upf.run("nft", "list", "ruleset"))
    before = host()
    network = "  - {dnn: ims, cidr: 10.99.0.0/16, natifname: lo}\n"
    for metrics, code in (("192.0.2.1:9805", 1), (METRICS, 0)):
        operated.write("debug", metrics=metrics)
        operated.config_path.write_text(operated.config_path.read_text().replace("logger:\n", network + "logger:\n"))
        operated.ctl("reload", code=code)
        assert (host() == before) == (code == 1)


def test_sessions_of_a_peer_by_node_id_and_address(operated, topology):
    smf = n4.Smf(topology, net.SMF3, node_id="smf.example.org")
    smf.associate()
    establish(smf, 0)
    for peer, count in (("smf.example.org", 1), (net.SMF3, 1), (net.SMF2, 0), ("other", 0)):
        listed = json.loads(operated.ctl("-o", "json", "sessions", "--peer", peer))["sessions"]
        assert [row["node_id"] for row in listed] == ["smf.example.org"] * count, peer
    smf.close()


def test_release_drop_and_drain(operated, smf, gnb, host):
    sessions = [establish(smf, number) for number in range(3)]
    operated.ctl("release", ue_of(0))
    assert operated.api("/v1/status")["sessions"] == 2
    sessions[1].delete()
    assert operated.get(PAGE + "/v1/ready") and operated.api("/v1/ready")["ok"]
    operated.ctl("drain", "stay")
    assert not operated.api("/v1/ready")["ok"]
    operated.ctl("ready", code=1)
    refused = smf.establish(n4.pdr_uplink(teid=0x9001), n4.far_forward(1), expect=75)
    assert n4.cause(refused) == 75
    traffic(gnb, host, 2)  # who is there stays
    operated.ctl("drain", "off")
    operated.ctl("ready")
    establish(smf, 9)
    operated.ctl("drop", net.SMF2)
    status = operated.api("/v1/status")
    assert (status["sessions"], status["associations"]) == (0, 0)
    operated.ctl("drop", net.SMF2, code=4)


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

"""The operator's side on every data plane, in small; test_tour.py does it with a thousand sessions."""

import json
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
from operated import METRICS, PAGE, Operated, promtool, validate, value

CROWD = 20


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
        assert value(metrics, f'kupf_gtpu_octets_total{{direction="{direction}"}}') >= 28 * CROWD
    if plane != "userspace":
        assert value(metrics, "kupf_kernel_requests_total") >= 4 * CROWD
        assert value(metrics, "kupf_kernel_errors_total") == 0
    validate(operated)
    session = json.loads(operated.ctl("-o", "json", "session", ue_of(3)))
    for kind in ("pdrs", "fars"):
        assert session[kind] and all(rule["installed"] for rule in session[kind]), session


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
    assert "Session Establishment Request" in refusals and "Mandatory IE missing: " in refusals, refusals


def test_upfctl_on_a_terminal(operated, crowd, smf):
    """Nothing is wider than the terminal, and what a row is about is whole."""
    smf.establish(n4.pdr_uplink(teid=0x9001), expect=n4.MANDATORY_MISSING)
    for words in (["status"], ["sessions"], ["session", ue_of(3)], ["peers"], ["refusals"], ["counters"], ["watch", "--count", 1]):
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


def test_traces_end_with_who_asked_for_them(operated, crowd):
    """However upfctl ends, nothing goes on in the daemon, which keeps to eight at once."""
    for number in range(9):
        trace = subprocess.Popen([daemon.BUILD / "upfctl", "-s", operated.socket, "trace", ue_of(0)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        assert trace.stderr.readline().startswith("following")
        trace.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3])
        assert trace.wait(10) == 0


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
    refused = smf.establish(n4.pdr_uplink(teid=0x9001), n4.far_forward(1), expect=75)
    assert n4.cause(refused) == 75
    traffic(gnb, host, 2)  # who is there stays
    operated.ctl("drain", "off")
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

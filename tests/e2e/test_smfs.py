"""The two SMFs as they are, real applications behind the UE: the program `lab` plays them."""

import hashlib
import os
import threading

import gtp
import net
import pytest

DIALECTS = ["free5gc", "open5gs"]


@pytest.fixture(params=DIALECTS)
def ran(request, lab, topology):
    """The lab with a RAN and an associated SMF of one dialect."""
    lab.start_ran()
    lab.start_smf(request.param)
    return lab


def ping(topology, count=3):
    return topology.ran.run("ping", "-n", "-q", "-c", count, "-i", "0.2", "-W", "5", "-I", net.UE1, net.DN)


def transfer(topology, source, sink, bind, octets, port=7100, smallest=1):
    """Sends octets in pieces of mixed sizes over TCP; fails unless they arrive the same."""
    with sink.inside():
        listener = gtp.socket.create_server((bind, port))
    listener.settimeout(20)
    digest = []

    def receive():
        connection, _ = listener.accept()
        connection.settimeout(20)
        sha = hashlib.sha256()
        while data := connection.recv(1 << 16):
            sha.update(data)
        digest.append(sha.hexdigest())
        connection.close()

    thread = threading.Thread(target=receive)
    thread.start()
    with source.inside():
        sender = gtp.socket.create_connection((bind, port), timeout=20)
    sender.setsockopt(gtp.socket.IPPROTO_TCP, gtp.socket.TCP_NODELAY, 1)
    sha, left, size = hashlib.sha256(), octets, smallest
    while left > 0:
        data = os.urandom(min(size, left))
        sender.sendall(data)
        sha.update(data)
        left -= len(data)
        size = smallest + size * 7 % 65521
    sender.close()
    thread.join(30)
    listener.close()
    assert digest == [sha.hexdigest()]


def test_a_session_carries_ping_and_tcp_both_ways(upf, ran, topology):
    ran("establish", ue=net.UE1, dnn="internet", usage=1, threshold=1 << 40)
    ran("activate", gnb="gnb1")
    assert " 0% packet loss" in ping(topology)
    transfer(topology, topology.ran, topology.dn, net.DN, 2_000_000)
    transfer(topology, topology.dn, topology.ran, net.UE1, 2_000_000)
    answer = ran("delete")
    [report] = answer["usage"]
    # Open5GS counts the downlink only.
    octets = 4_000_000 if ran.dialect == "free5gc" else 2_000_000
    assert report["trigger"] == "TERMR" and report["total"] >= octets
    assert ran("counters")["malformed"] == 0


def counts(topology):
    """What the user-space plane counted so far, by name."""
    text = topology.upf.run("curl", "-sS", "--max-time", "10", "http://127.0.0.1:9805/metrics")
    found = {}
    for line in text.splitlines():
        if line.startswith("kupf_plane_count_total{"):
            name, value = line.split('name="')[1].split('"')[0], float(line.rsplit(" ", 1)[1])
            found[name] = found.get(name, 0) + value
    return found


@pytest.mark.skipif(os.environ.get("UPF_WITHOUT_OFFLOADS", "") != "", reason="the trains need all offloads")
def test_bulk_tcp_passes_in_trains(upf, plane, ran, topology):
    if plane != "userspace":
        pytest.skip("the user-space plane's mechanics")
    ran("establish", ue=net.UE1)
    ran("activate", gnb="gnb1")
    before = counts(topology)
    transfer(topology, topology.ran, topology.dn, net.DN, 20_000_000, smallest=20_000)
    middle = counts(topology)
    transfer(topology, topology.dn, topology.ran, net.UE1, 20_000_000, smallest=20_000)
    after = counts(topology)
    up = {name: middle[name] - before.get(name, 0) for name in middle}
    down = {name: after[name] - middle.get(name, 0) for name in after}
    from_n3 = up["received_packets"] - up["n6_packets"]
    assert from_n3 >= 8 * (up["receive_messages"] - up["n6_messages"]), up
    assert down["n6_packets"] >= 8 * down["n6_messages"], down
    assert up["glued_packets"] >= 0.9 * from_n3, up
    for one in (up, down):
        assert one["receive_calls"] + one["send_calls"] <= 0.2 * one["received_packets"], one
        assert one["bad_inner_checksums"] == 0


def test_idle_page_and_come_back(upf, ran, topology):
    ran("establish", ue=net.UE1)
    ran("activate", gnb="gnb1")
    assert " 0% packet loss" in ping(topology, 1)
    ran("idle")
    pinging = topology.dn.popen("ping", "-n", "-q", "-c", "1", "-W", "20", net.UE1, stdout=-1, text=True)
    [report] = ran("reports", count=1, wait=10000)["reports"]
    assert report["downlink_data"] and report["pdr"] in (1, 2)
    ran("activate", gnb="gnb1")
    assert " 0% packet loss" in pinging.communicate(timeout=30)[0], "the packet that paged the UE was lost"


def test_handover_keeps_the_session(upf, ran, topology):
    ran("establish", ue=net.UE1)
    ran("activate", gnb="gnb1")
    assert " 0% packet loss" in ping(topology, 1)
    answer = ran("handover", gnb="gnb2")
    assert " 0% packet loss" in ping(topology)
    assert net.eventually(lambda: ran("counters")["end_markers"]) == [answer["before"]["teid"]]


def test_indirect_forwarding(upf, ran):
    ran("establish", ue=net.UE1)
    ran("activate", gnb="gnb1")
    assert ran("indirect", gnb="gnb2")["indirect"]["teid"] != 0
    ran("handover", gnb="gnb2")
    ran("indirect-remove")
    ran("delete")


def test_quota_renewal_and_query(upf, ran, topology):
    ran("establish", ue=net.UE1, usage=1, threshold=1 << 40, quota=1 << 40)
    ran("activate", gnb="gnb1")
    ping(topology)
    [report] = ran("query")["usage"]
    assert report["trigger"] == "IMMER" and report["total"] > 0
    ran("quota", octets=1 << 40)
    assert " 0% packet loss" in ping(topology)


def test_both_smfs_at_once(upf, lab, topology):
    lab.start_ran()
    lab.start_smf("free5gc", "one", net.SMF1)
    lab.start_smf("open5gs", "two", net.SMF3)
    lab("establish", smf="one", ue=net.UE1)
    lab("establish", smf="two", ue=net.UE2)
    lab("activate", smf="one", gnb="gnb1")
    lab("activate", smf="two", gnb="gnb2")
    assert " 0% packet loss" in ping(topology)
    lab("release", smf="two")
    assert " 0% packet loss" in ping(topology)

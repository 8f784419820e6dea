"""Start, stop, crash and restart; datagrams that once stopped other UPFs."""

import os
import signal
import subprocess

import daemon
import gtp
import n4
import net
import pytest
from test_sessions import TEID, establish


# cases.md 78
def test_sigterm_ends_cleanly_and_leaves_no_interface(upf, smf, topology):
    establish(smf)
    before = set(topology.upf.ip("-o", "link").split("\n"))
    assert upf.stop() == 0
    names = [line.split(": ")[1].split("@")[0] for line in topology.upf.ip("-o", "link").splitlines()]
    assert sorted(names) == ["lo", "n3", "n6"], before


# cases.md 66
def test_kill_and_restart_serves_again(upf, topology, smf, gnb, host):
    establish(smf, downlink=(0x2001, net.GNB1))
    upf.signal(signal.SIGKILL)
    upf.wait()
    upf.start()
    smf.associate()
    establish(smf, downlink=(0x2001, net.GNB1))
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"again")))
    assert host.receive()[0] == b"again"


RESTARTS = int(os.environ.get("UPF_RESTARTS", "10"))


# gNBs go on sending while their UPF restarts. A packet that reached the module between having its socket and having
# registered its link made the host panic.
@pytest.mark.parametrize("way", ["SIGTERM", "SIGKILL"])
def test_it_ends_and_starts_under_traffic(upf, topology, smf, gnb, way):
    datagrams = [gtp.uplink(TEID, gtp.ue_udp(b"all the time"))]
    if way == "SIGTERM":  # a killed process can't see to it that no Echo Request is being answered with its socket
        datagrams.append(gtp.echo_request(7))
    flood = gtp.flood(topology.ran, net.GNB2, [(net.UPF, gtp.GTPU_PORT, octets) for octets in datagrams])
    try:
        for _ in range(RESTARTS):
            establish(smf)
            upf.signal(signal.Signals[way])
            assert upf.wait() == (0 if way == "SIGTERM" else -signal.SIGKILL)
            upf.start()
            smf.associate()
    finally:
        flood.kill()
        flood.wait()
    gnb.send(gtp.echo_request(1))
    assert gnb.receive().type == gtp.ECHO_RESPONSE


# cases.md 14, 25: peers see a restart by it
def test_the_recovery_time_stamp_is_one_per_life(upf, smf):
    from scapy.contrib import pfcp

    def stamp():
        response = smf.request(pfcp.PFCPHeartbeatRequest(
            IE_list=[pfcp.IE_RecoveryTimeStamp(timestamp=smf.recovery)]))
        return n4.one_of(response.payload, pfcp.IE_RecoveryTimeStamp).timestamp
    first = stamp()
    assert stamp() == first
    upf.signal(signal.SIGKILL)
    upf.wait()
    upf.start()
    assert stamp() >= first


# cases.md 70
def test_a_busy_port_is_an_error_that_says_so(upf, topology):
    second = topology.upf.popen(upf.program, "-c", upf.config_path, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    output = second.communicate(timeout=15)[0]
    assert second.returncode not in (0, None) and second.returncode > 0
    assert "8805" in output, output


# A link that lives looks like one that a dead process left, and the module panics when it goes under traffic.
def test_a_second_daemon_leaves_the_link_alone(upf, topology, tmp_path, plane):
    if plane != "gtp5g":
        pytest.skip("there is a link only with the kernel module")
    other = tmp_path / "other.yaml"
    other.write_text(upf.config_path.read_text().replace(net.UPF, "127.0.0.1"))
    second = topology.upf.popen(upf.program, "-c", other, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = second.communicate(timeout=15)[0]
    assert second.returncode > 0 and "belongs to an upf that is running" in output, output
    assert "upfgtp" in topology.upf.ip("-o", "link")


# cases.md 70, 76
def test_a_bad_configuration_is_an_error_that_names_it(upf, topology, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text(upf.config_path.read_text().replace("forwarder:", "forwarderr:"))
    for options in (["--check"], []):
        process = topology.upf.popen(upf.program, "-c", broken, *options, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
        output = process.communicate(timeout=15)[0]
        assert process.returncode > 0
        assert "broken.yaml" in output and "forwarderr" in output, output


N4_HOSTILE = {
    "empty datagram": b"",  # cases.md 1
    "heartbeat, empty time stamp": bytes.fromhex("2001000c0000020000600000e81fe7b4"),  # cases.md 2
    "heartbeat without time stamp": bytes.fromhex("2001000400000200"),  # cases.md 2
    "association of V1": bytes.fromhex("2005001f00000100003c0005000a64c86400600004e81fdc30002b0006210000000000"),
    "association with S flag": bytes.fromhex("21050012000000000000000000000100003c000500"),  # cases.md 12
    "association without Node ID": bytes.fromhex("2005000c0000030000600004e81fdc30"),  # cases.md 12
    "establishment of V3": bytes.fromhex(  # cases.md 61
        "2132006e000000000000000000000100003c0005007f0000640039000d0200000000000027107f00006400010029003800020001"
        "001d0004000003e80002000a00140001030015000105005f000100006c00040000000100030017006c000400000001002c00020200"
        "00040005002a000100"),
    "version 2": bytes.fromhex("4001000400000200"),
    "length beyond the datagram": bytes.fromhex("2001ffff00000200"),
    "type 255": bytes.fromhex("20ff000400000200"),
    "a response nobody asked for": bytes.fromhex("2002000c0000020000600004e81fe7b4"),
}


@pytest.mark.parametrize("what", N4_HOSTILE)
def test_hostile_n4_datagrams_do_not_stop_the_daemon(upf, smf, topology, what):
    stranger = topology.ran.udp(net.SMF3, 8805)
    for _ in range(2):
        stranger.sendto(N4_HOSTILE[what], (net.UPF, 8805))
    stranger.close()
    session = establish(smf)
    session.delete()


# cases.md 13
def test_associations_of_strangers_do_not_touch_sessions(upf, smf, gnb, host, topology):
    establish(smf, downlink=(0x2001, net.GNB1))
    other = n4.Smf(topology, net.SMF3)
    other.associate()
    other.close()
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"untouched")))
    assert host.receive()[0] == b"untouched"


def test_a_storm_of_mutated_datagrams(upf, smf, gnb, host, topology):
    """A short one of what `storm UPF SMF 1000000` does by hand; live sessions stay as they are."""
    establish(smf, downlink=(0x2001, net.GNB1))
    for offset in range(4):
        topology.ran.ip("address", "replace", f"10.200.3.{211 + offset}/24", "dev", "n3")
    topology.ran.run(daemon.BUILD / "storm", net.UPF, "10.200.3.211", 10000, 7)
    gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"untouched")))
    assert host.receive()[0] == b"untouched"

"""Fixtures. A test that takes `plane` runs on each data plane that this machine has.

UPF_PLANES names the planes (default: userspace,standin; in a machine with the module: gtp5g).
UPF_REQUIRE_NETNS=1 makes a missing capability a failure instead of a skip.
"""

import os
import subprocess

import pytest

import daemon
import gtp
import net
import n4

collect_ignore = [] if os.environ.get("UPF_MEASURE") else ["test_rates.py"]

PLANES = os.environ.get("UPF_PLANES", "userspace,standin").split(",")


def pytest_generate_tests(metafunc):
    if "plane" in metafunc.fixturenames:
        planes = [plane for plane in PLANES if plane != "userspace"] if hasattr(metafunc.module, "KERNEL_PLANES_ONLY") else PLANES
        metafunc.parametrize("plane", planes, scope="session")


@pytest.fixture(scope="session")
def capable():
    why = net.missing_capability()
    if why is not None:
        if os.environ.get("UPF_REQUIRE_NETNS"):
            pytest.fail(why)
        pytest.skip(why)


@pytest.fixture(scope="session")
def topology(capable, tmp_path_factory):
    made = net.Topology()
    yield made
    made.delete()


@pytest.fixture(scope="session")
def capture(topology, tmp_path_factory):
    """All N4 traffic of the run, in a file."""
    path = tmp_path_factory.mktemp("capture") / "n4.pcap"
    process = topology.upf.popen("tcpdump", "-U", "--immediate-mode", "-s", "0", "-i", "n3", "-w", path, "udp", "port", "8805",
                                 stderr=subprocess.PIPE, text=True)
    process.stderr.readline()  # "listening on": from here on it sees everything
    yield path
    process.terminate()
    process.wait(10)


@pytest.fixture
def upf(topology, capture, plane, tmp_path):
    """The daemon, started; its clean end is part of each test."""
    under_test = daemon.Daemon(topology, plane, tmp_path)
    if not under_test.program.exists():
        pytest.skip(f"{under_test.program.name} is not built")
    under_test.start()
    yield under_test
    assert under_test.stop() == 0, under_test.log()


@pytest.fixture
def lab(upf, topology, tmp_path):
    made = daemon.Lab(topology, tmp_path)
    yield made
    made.stop()


@pytest.fixture
def smf(upf, topology):
    """An SMF written with scapy, associated."""
    made = n4.Smf(topology, net.SMF2)
    made.associate()
    yield made
    made.close()


@pytest.fixture
def gnb(upf, topology):
    made = gtp.Peer(topology, net.GNB1)
    yield made
    made.close()


@pytest.fixture
def gnb2(upf, topology):
    made = gtp.Peer(topology, net.GNB2)
    yield made
    made.close()


@pytest.fixture
def host(upf, topology):
    made = gtp.Host(topology)
    yield made
    made.close()

"""Data networks with routing tables of their own, and GTP-U bound to a device."""

import daemon
import gtp
import net
import pytest
from test_sessions import TEID, establish


class Networked(daemon.Daemon):
    TABLE = 100

    def __init__(self, topology, plane, folder):
        super().__init__(topology, plane, folder)
        text = self.config_path.read_text().replace(f"    cidr: {net.UE_POOL}\n", f"    cidr: {net.UE_POOL}\n    table: {self.TABLE}\n")
        if plane == "userspace":
            text = text.replace("      type: N3\n", "      type: N3\n      bindTo: n3\n")
        self.config_path.write_text(text)


@pytest.fixture
def upf(topology, capture, plane, tmp_path):
    under_test = Networked(topology, plane, tmp_path)
    if not under_test.program.exists():
        pytest.skip(f"{under_test.program.name} is not built")
    under_test.start()
    yield under_test
    assert under_test.stop() == 0, under_test.log()


def test_a_data_network_is_routed_by_its_own_table(upf, smf, gnb, host, plane):
    rule = f"from {net.UE_POOL} iif upfgtp lookup {upf.TABLE}"
    upf.topology.upf.ip("route", "add", "blackhole", net.DN2, "table", upf.TABLE)
    try:
        assert rule in upf.topology.upf.ip("rule", "show")
        assert f"{net.UE_POOL} dev upfgtp" in upf.topology.upf.ip("route", "show", "table", upf.TABLE)
        establish(smf)
        gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"ends in its table", to=net.DN2)))
        gnb.send(gtp.uplink(TEID, gtp.ue_udp(b"passes")))
        assert host.receive()[0] == b"passes"
        assert host.receive(0.3) is None
    finally:
        upf.topology.upf.ip("route", "flush", "table", upf.TABLE)
    if plane == "userspace":
        assert f"{net.UPF}%n3:2152" in upf.topology.upf.run("ss", "-Hlun", "sport = :2152")
    assert upf.stop() == 0
    assert rule not in upf.topology.upf.ip("rule", "show")

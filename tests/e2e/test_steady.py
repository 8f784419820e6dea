"""Rules that change under traffic: no packet lost, doubled or sent to the wrong place.

UPF_STEADY_UPDATES messages (60) while the session carries UPF_STEADY_PPS packets a second each way (300); more
where a fast machine is through with them before ENOUGH packets have come.
"""

import collections
import json
import os
import pathlib
import subprocess

import daemon
import n4
import net
import table
from scapy.contrib import pfcp
from test_sessions import TEID

UPDATES = int(os.environ.get("UPF_STEADY_UPDATES", "60"))
PPS = int(os.environ.get("UPF_STEADY_PPS", "300"))
TUNNELS = [(0x2001, net.GNB1), (0x3001, net.GNB2), (0x2002, net.GNB1)]
QFIS = [5, 9]
ENOUGH = 100


class Steady:
    """Numbered packets both ways, until stop() says what came of them."""

    def __init__(self, topology, pps=PPS, octets=64, gnbs=(net.GNB1, net.GNB2)):
        self.process = subprocess.Popen(
            [daemon.BUILD / "steady", f"ran={topology.ran.name}", f"dn={topology.dn.name}", f"upf={net.UPF}",
             f"gnbs={','.join(gnbs)}", f"host={net.DN}", f"ue={net.UE1}", f"teid={TEID}", f"pps={pps}", f"octets={octets}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stop(self):
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return json.loads(output)


def dropped_by_links():
    """Packets that this machine dropped between two network devices because a CPU had too many in its queue."""
    return sum(int(line.split()[1], 16) for line in pathlib.Path("/proc/net/softnet_stat").read_text().splitlines())


def arrived(topology):
    """Packets that have come to the UPF from the data network: on N3 there is N4 as well."""
    return int(topology.upf.run("cat", "/sys/class/net/n6/statistics/rx_packets"))


def change(step):
    """The IEs of one message: an Update PDR, FAR, QER or URR in turn."""
    turn = step // 4
    if step % 4 == 0:
        filters = [f"permit out udp from {net.DN} {7000 - turn % 5}-7010 to assigned"] if turn % 3 else []
        options = {"precedence": 100 + turn % 7, "filters": filters, "qers": [1], "urrs": [1] if turn % 2 else [1, 2],
                   "update": True}
        return [n4.pdr_uplink(teid=TEID, **options), n4.pdr_downlink(**options)]
    if step % 4 == 1:
        return [n4.far_forward(2, n4.ACCESS, TUNNELS[(turn + 1) % len(TUNNELS)], end_marker=turn % 2 == 0, update=True)]
    if step % 4 == 2:
        return [n4.qer(1, qfi=QFIS[turn % 2], mbr=(1_000_000 + turn, 1_000_000 + turn), update=True)]
    return [pfcp.IE_UpdateURR(IE_list=[pfcp.IE_URR_Id(id=1), pfcp.IE_VolumeThreshold(TOVOL=1, total=(1 << 40) + turn)])]


def test_updates_under_traffic_cost_no_packet(upf, plane, smf, topology):
    session = smf.establish(
        n4.pdr_uplink(teid=TEID, qers=[1], urrs=[1, 2]), n4.pdr_downlink(qers=[1], urrs=[1, 2]), n4.far_forward(1),
        n4.far_forward(2, n4.ACCESS, TUNNELS[0]), n4.qer(1, qfi=QFIS[0]), n4.urr(1, threshold=1 << 40),
        n4.urr(2, threshold=1 << 40))
    dropped = dropped_by_links()
    before = arrived(topology)
    steady = Steady(topology)
    step = 0
    while step < UPDATES or (step < 100 * UPDATES and arrived(topology) - before < ENOUGH):
        session.modify(*change(step))
        step += 1
    seen = steady.stop()
    places = collections.Counter()
    for place in seen["places"]:
        places[place["teid"], place["gnb"]] += place["packets"]
    up, down = seen["up"], seen["down"]
    table.row("updates under traffic", plane, f"{step} updates in {seen['seconds']:.1f} s",
              f"sent {up['sent']} up {down['sent']} down, {up['sent'] / seen['seconds']:.0f} a second each way",
              f"lost {up['lost']} and {down['lost']}, doubled {up['doubled']} and {down['doubled']}, "
              f"overtaken {up['overtaken']} and {down['overtaken']}, strange {seen['strange']}",
              f"dropped by the links' queues {dropped_by_links() - dropped}",
              "places " + " ".join(f"{teid:#x}@{gnb}:{count}" for (teid, gnb), count in places.items()))
    assert up["sent"] > ENOUGH / 2 and seen["strange"] == 0
    assert (up["lost"], up["doubled"], down["lost"], down["doubled"]) == (0, 0, 0, 0), seen
    assert set(places) <= set(TUNNELS), "a packet went to the wrong gNB or tunnel"
    assert {place["qfi"] for place in seen["places"]} <= set(QFIS)
    session.delete()

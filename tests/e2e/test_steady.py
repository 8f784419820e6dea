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


class Hops:
    """nftables counters of the session's packets on their way into the UPF and out of it: what was lost, where?"""

    RULES = """table ip hops {
      counter up_in {}
      counter up_out {}
      counter down_in {}
      counter down_out {}
      chain in {
        type filter hook prerouting priority -300;
        iifname n3 udp dport 2152 @th,72,8 0xff counter name up_in
        iifname n6 ip daddr UE counter name down_in
      }
      chain out {
        type filter hook postrouting priority -300;
        oifname n6 ip saddr UE counter name up_out
        oifname n3 udp dport 2152 @th,72,8 0xff counter name down_out
      }
    }"""

    def __init__(self, namespace):
        self.namespace = namespace
        namespace.run("nft", self.RULES.replace("UE", net.UE1))

    def read(self):
        listed = json.loads(self.namespace.run("nft", "-j", "list", "counters", "table", "ip", "hops"))["nftables"]
        return {one["counter"]["name"]: one["counter"]["packets"] for one in listed if "counter" in one}

    def close(self):
        """What was counted; the counters are gone."""
        seen = self.read()
        self.namespace.run("nft", "delete", "table", "ip", "hops")
        return seen


def dropped_by_devices(topology):
    """Packets that devices of any of the three namespaces dropped."""
    script = "cat /sys/class/net/*/statistics/[rt]x_dropped"
    return sum(int(line) for namespace in (topology.ran, topology.upf, topology.dn)
               for line in namespace.run("sh", "-c", script).split())


def fate(seen, hops, way):
    """Where packets of one way were lost."""
    came, left, sent = hops[f"{way}_in"], hops[f"{way}_out"], seen[way]["sent"]
    return f"{way}: {sent - came} before the UPF, {came - left} in it, {left - sent + seen[way]['lost']} behind it"


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
    by_devices = dropped_by_devices(topology)
    hops = Hops(topology.upf)
    steady = Steady(topology)
    step = 0
    while step < UPDATES or (step < 100 * UPDATES and hops.read()["down_in"] < ENOUGH):
        session.modify(*change(step))
        step += 1
    seen = steady.stop()
    passed = hops.close()
    places = collections.Counter()
    for place in seen["places"]:
        places[place["teid"], place["gnb"]] += place["packets"]
    up, down = seen["up"], seen["down"]
    table.row("updates under traffic", plane, f"{step} updates in {seen['seconds']:.1f} s",
              f"sent {up['sent']} up {down['sent']} down, {up['sent'] / seen['seconds']:.0f} a second each way",
              f"lost {up['lost']} and {down['lost']}, doubled {up['doubled']} and {down['doubled']}, "
              f"overtaken {up['overtaken']} and {down['overtaken']}, strange {seen['strange']}",
              # The user-space plane sends trains, which are one packet to the counters.
              "; ".join(fate(seen, passed, way) for way in ("up", "down")) if plane != "userspace" else "one process",
              f"dropped by the links' queues {dropped_by_links() - dropped}, by devices "
              f"{dropped_by_devices(topology) - by_devices}, by the test's sockets {seen['overflowed']}, not sent "
              f"{up['not_sent']} and {down['not_sent']}, longest pause of the sender {seen['longest_pause_ms']} ms",
              "places " + " ".join(f"{teid:#x}@{gnb}:{count}" for (teid, gnb), count in places.items()))
    assert up["sent"] > ENOUGH / 2 and seen["strange"] == 0
    assert (up["lost"], up["doubled"], down["lost"], down["doubled"]) == (0, 0, 0, 0), seen
    assert set(places) <= set(TUNNELS), "a packet went to the wrong gNB or tunnel"
    assert {place["qfi"] for place in seen["places"]} <= set(QFIS)
    session.delete()

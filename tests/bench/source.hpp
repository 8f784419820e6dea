#pragma once

#include <string>
#include <vector>

namespace upf::bench {

/// Offers packets at a rate, from the BPF program bpf/source.c:
///   PROGRAM LINK PEER_MAC GNB|- UPF SIZE BURST PPS SECONDS TO FROM[:TEID[+SPAN]]...
/// PROGRAM is the loaded program's ID, LINK the link whose far end gets the packets, PEER_MAC that
/// end's address. With - for PROGRAM they come from sockets, a burst a call (UDP_SEGMENT), by the
/// routes of this namespace. IP packets of SIZE octets to TO, from each FROM in turn, in bursts; in
/// GTP-U from GNB to UPF with the TEID, or as they are. A SPAN, with the only FROM, stands for so
/// many of addresses and TEIDs that follow each other. Prints how many were offered; returns the
/// exit code.
[[nodiscard]] int offer(const std::vector<std::string>& words);

}  // namespace upf::bench

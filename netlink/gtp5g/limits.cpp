// What the module can't do, in one table: the page for operators and the README are made from it.
#include "netlink/gtp5g/limits.hpp"

namespace upf::gtp5g {

const std::vector<Limitation>& limitations() {
  using enum Limitation::Handling;
  static const std::vector<Limitation> table{
      {"IPv6 UE address", Refused, "next to an IPv4 one: a warning, IPv4 only is served"},
      {"F-TEID or outer header of IPv6, or not GTP-U", Refused, "by PDR or FAR ID"},
      {"SDF filter on ToS, SPI or flow label", Refused, "by PDR ID; the module ignores them"},
      {"Framed routes", Refused, "by PDR ID"},
      {"DUPL", Refused, "by FAR ID"},
      {"Forwarding Policy that isn't a number above 0", Refused, "by FAR ID"},
      {"Tunnel without Outer Header Removal", Refused, "by PDR ID"},
      {"PDR with neither TEID nor UE address", Refused, "by PDR ID"},
      {"More than 127 kernel PDRs in a session", Refused, "by PDR ID, for lack of resources"},
      {"Dropped DL Traffic Threshold", Refused,
       "by URR ID; what the module drops it doesn't count"},
      {"Several SDF filters or UE addresses", Emulated, "a kernel PDR each"},
      {"`!` in an SDF filter", Emulated, "the prefixes that make up the rest"},
      {"Ports of any protocol", Emulated, "a kernel PDR for each of TCP, UDP and SCTP"},
      {"Equal precedences", Emulated, "order of PDR ID, by kernel precedences of our own"},
      {"Gate of downlink packets of N9", Emulated,
       "to what comes out of a tunnel the module applies the uplink gate: a QER with a shut gate"},
      {"Volume threshold with quota or period", Emulated, "meter, threshold and quota apart"},
      {"Uplink or downlink quota", Emulated, "with a total that is never reached"},
      {"Start of traffic", Emulated, "a threshold of one octet, no packet is lost"},
      {"RQI", Emulated, "in the octet of the QFI"},
      {"Buffering", Emulated, "in the daemon"},
      {"Tunnels of the CP function", Narrowed, "accepted, without a kernel rule"},
      {"SDF filter on IPv6 prefixes", Narrowed,
       "matches no IPv4 packet: no kernel rule, a warning"},
      {"Several MBRs on a PDR", Narrowed, "the tighter one is policed, a warning"},
      {"QFI in the PDI", Narrowed, "not matched; a warning where nothing else differs"},
      {"QFI 0", Narrowed, "sent without a PDU Session Container"},
      {"Unknown TEID", Narrowed, "dropped by the module: no Error Indication is sent"},
      {"Extension headers that must be understood", Narrowed,
       "passed over in G-PDUs; other messages get a Supported Extension Headers Notification"},
      {"Fragments and IP options", Narrowed, "ports are read at a fixed place"},
      {"Counting what is dropped", Narrowed,
       "`kupf_gtpu_drops_total` has the daemon's own drops; the module counts those of downlink "
       "packets as its link's errors (`kupf_interface_errors_total`), and others not at all"},
  };
  return table;
}

namespace {

std::string_view word(Limitation::Handling handling) {
  switch (handling) {
    case Limitation::Handling::Refused:
      return "refused";
    case Limitation::Handling::Emulated:
      return "emulated";
    case Limitation::Handling::Narrowed:
      break;
  }
  return "narrowed";
}

}  // namespace

std::string limits_table() {
  std::string text = "| What | Becomes | How |\n|---|---|---|\n";
  for (const Limitation& row : limitations()) {
    text += "| " + std::string{row.what} + " | " + std::string{word(row.handling)} + " | " +
            std::string{row.how} + " |\n";
  }
  return text;
}

}  // namespace upf::gtp5g

#pragma once

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/host.hpp"
#include "netlink/gtp5g/requests.hpp"

/// Somebody else with CAP_NET_ADMIN who changes the module's rules.
namespace upf::contract {

/// Deletes the session's PDRs that have an F-TEID; true if there was one.
inline bool lose_tunnel_pdrs(gtp5g::Host& host, std::uint32_t ifindex, Seid seid) {
  netlink::RequestSocket socket{*host.open_requests()};
  const auto family = netlink::resolve_family(socket, gtp5g::kFamilyName);
  if (!family) return false;
  const gtp5g::Target target{family->id, ifindex};
  gtp5g::RuleDump dump{*host.open_requests(), family->id};
  std::vector<gtp5g::RuleName> names;
  while (!dump.done() && dump.read(names)) {
  }
  bool lost = false;
  for (const gtp5g::RuleName& name : names) {
    if (name.kind != gtp5g::RuleName::Kind::Pdr || name.seid != seid) continue;
    const auto rule = socket.transact(gtp5g::get_request(target, name));
    if (!rule || rule->messages.empty()) continue;
    const auto pdi = netlink::Attributes{rule->messages.front()}.get(gtp5g::pdr::kPdi);
    if (!pdi || !pdi->get(gtp5g::pdi::kFTeid)) continue;
    const gtp5g::DeletePdr op{static_cast<std::uint16_t>(name.id)};
    const auto gone = socket.transact(gtp5g::to_request(target, seid, op));
    lost = lost || (gone && gone->error == 0);
  }
  return lost;
}

}  // namespace upf::contract

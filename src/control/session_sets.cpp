#include "src/control/session_sets.hpp"

#include <algorithm>

namespace upf::control {
namespace {

// The same node, and a number in common.
bool overlap(const pfcp::FqCsid& a, const pfcp::FqCsid& b) {
  return a.node_address == b.node_address && std::ranges::any_of(a.csids, [&](std::uint16_t id) {
           return std::ranges::find(b.csids, id) != b.csids.end();
         });
}

}  // namespace

bool SessionSets::in_any(Seid seid, const std::vector<pfcp::FqCsid>& wanted) const {
  const auto at = sets_.find(seid);
  if (at == sets_.end()) return false;
  return std::ranges::any_of(at->second.fq_csids, [&](const pfcp::FqCsid& own) {
    return std::ranges::any_of(wanted, [&](const auto& other) { return overlap(own, other); });
  });
}

bool SessionSets::in_any(Seid seid, const std::vector<pfcp::GroupId>& wanted) const {
  const auto at = sets_.find(seid);
  return at != sets_.end() && at->second.group &&
         std::ranges::find(wanted, *at->second.group) != wanted.end();
}

}  // namespace upf::control

#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "upf/base/ids.hpp"
#include "upf/pfcp/ies/node.hpp"

namespace upf::control {

/// The sets that sessions belong to, by which a node message speaks of many at once: FQ-CSIDs (TS
/// 23.007) and Group IDs (TS 29.244 5.22.2). Only of sessions that have some.
class SessionSets {
 public:
  /// What a request says replaces what was said before; silence changes nothing.
  void put(Seid seid, const std::vector<pfcp::FqCsid>& fq_csids,
           const std::optional<pfcp::GroupId>& group) {
    if (fq_csids.empty() && !group) return;
    Sets& sets = sets_[seid];
    if (!fq_csids.empty()) sets.fq_csids = fq_csids;
    if (group) sets.group = group;
  }
  void erase(Seid seid) { sets_.erase(seid); }
  [[nodiscard]] std::size_t size() const { return sets_.size(); }

  [[nodiscard]] bool in_any(Seid seid, const std::vector<pfcp::FqCsid>& wanted) const;
  [[nodiscard]] bool in_any(Seid seid, const std::vector<pfcp::GroupId>& wanted) const;

 private:
  struct Sets {
    std::vector<pfcp::FqCsid> fq_csids{};
    std::optional<pfcp::GroupId> group{};
  };
  std::unordered_map<Seid, Sets> sets_;
};

}  // namespace upf::control

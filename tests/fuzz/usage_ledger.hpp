#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "upf/pfcp/ies/urr.hpp"
#include "upf/rules/rules.hpp"
#include "upf/usage/engine.hpp"

namespace upf::fuzz {

/// What was counted and what the CP function has been told of it. Never more is told than was
/// counted; and of a session that ended by a request, in the end all of it.
class UsageLedger {
 public:
  /// One packet that the plane has forwarded by this PDR.
  void counted(Seid seid, const rules::Pdr& pdr, std::uint64_t octets) {
    for (const UrrId id : pdr.urrs) {
      if (id != usage::Prepared::kActivityUrr) owed_[seid][id] += octets;
    }
  }

  /// Nothing, or what is wrong with that. Of sessions that were forgotten nothing can be said.
  std::optional<std::string> told(Seid seid, const std::vector<pfcp::UsageReport>& reports) {
    const auto session = owed_.find(seid);
    if (session == owed_.end()) return std::nullopt;
    for (const pfcp::UsageReport& report : reports) {
      if (!report.volume_measurement) return "a usage report has no volume";
      const std::uint64_t octets = report.volume_measurement->total.value_or(0);
      std::uint64_t& owed = session->second[report.urr_id];
      if (exact_ && octets > owed) return "more usage is reported than was counted";
      owed -= std::min(owed, octets);
    }
    return std::nullopt;
  }

  void ended(Seid seid) { ended_.insert(seid); }
  /// Its CP function is gone: nobody is owed anything.
  void forget(Seid seid) {
    owed_.erase(seid);
    ended_.erase(seid);
  }
  void forget_ended() {
    for (const Seid seid : std::set<Seid>{ended_}) forget(seid);
  }
  /// Those of sessions that are neither there nor ended by a request.
  template <class IsThere>
  void forget_gone(const IsThere& is_there) {
    std::erase_if(owed_, [&](const auto& entry) {
      return !is_there(entry.first) && !ended_.contains(entry.first);
    });
  }
  /// From here on nothing can be said: messages that nobody has planned have been served.
  void give_up() { exact_ = false; }

  [[nodiscard]] bool all_ended_are_paid() const {
    if (!exact_) return true;
    for (const Seid seid : ended_) {
      const auto at = owed_.find(seid);
      if (at == owed_.end()) continue;
      for (const auto& [id, owed] : at->second) {
        if (owed != 0) return false;
      }
    }
    return true;
  }

 private:
  std::map<Seid, std::map<UrrId, std::uint64_t>> owed_{};
  std::set<Seid> ended_{};
  bool exact_{true};
};

}  // namespace upf::fuzz

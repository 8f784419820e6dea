#pragma once

#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "netlink/gtp5g/rule_dump.hpp"
#include "upf/base/clock.hpp"

namespace upf::gtp5g {

/// QERs that no PDR uses any more and that the kernel still has.
///
/// The module frees a QER's policers the moment it is deleted, and not when the packets are through
/// that met its PDRs before those went. So a QER outlives its PDRs by much more than a packet can
/// take, even on a virtual CPU that isn't let run for a while.
///
/// Its size is what was added within the hold, as long as its owner takes as many as it adds.
class HeldQers {
 public:
  explicit HeldQers(Clock::duration hold) : hold_(hold) {}

  void add(TimePoint now, const RuleName& qer);
  [[nodiscard]] bool contains(const RuleName& qer) const { return names_.contains(qer); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// When to take the next ones: a little late, so that many go in one call.
  [[nodiscard]] std::optional<TimePoint> next() const;
  /// The oldest that have been held for long enough, so many at most.
  [[nodiscard]] std::vector<RuleName> take_due(TimePoint now, std::size_t most);

 private:
  struct Held {
    TimePoint until{};
    RuleName qer{};
  };

  Clock::duration hold_;
  std::deque<Held> queue_{};  ///< oldest first
  std::set<RuleName> names_{};
};

}  // namespace upf::gtp5g

#include "netlink/gtp5g/held_qers.hpp"

namespace upf::gtp5g {

void HeldQers::add(TimePoint now, const RuleName& qer) {
  if (names_.insert(qer).second) queue_.push_back({now + hold_, qer});
}

std::optional<TimePoint> HeldQers::next() const {
  constexpr std::chrono::milliseconds kTogether{50};
  if (queue_.empty()) return std::nullopt;
  return queue_.front().until + kTogether;
}

std::vector<RuleName> HeldQers::take_due(TimePoint now, std::size_t most) {
  std::vector<RuleName> due;
  while (due.size() < most && !queue_.empty() && queue_.front().until <= now) {
    due.push_back(queue_.front().qer);
    names_.erase(due.back());
    queue_.pop_front();
  }
  return due;
}

}  // namespace upf::gtp5g

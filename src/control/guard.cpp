#include "upf/control/guard.hpp"

#include <algorithm>
#include <chrono>
#include <variant>

namespace upf::control {
namespace {

bool contains(const IpPrefix& prefix, const IpAddress& address) {
  if (const auto* v4 = std::get_if<Ipv4Prefix>(&prefix)) {
    const auto* ip = std::get_if<Ipv4>(&address);
    return ip != nullptr && v4->contains(*ip);
  }
  const auto* ip = std::get_if<Ipv6>(&address);
  return ip != nullptr && std::get<Ipv6Prefix>(prefix).contains(*ip);
}

}  // namespace

bool TokenBucket::take(TimePoint now) {
  const std::chrono::duration<double> passed = now - last_;
  last_ = now;
  tokens_ = std::min(per_second_, tokens_ + passed.count() * per_second_);
  if (tokens_ < 1.0) return false;
  tokens_ -= 1.0;
  return true;
}

bool Guard::allows(const IpAddress& source) const {
  return allow_.empty() ||
         std::ranges::any_of(allow_, [&](const auto& prefix) { return contains(prefix, source); });
}

bool Guard::admits(TimePoint now, const IpAddress& source) {
  const auto found = index_.find(source);
  if (found != index_.end()) {
    tracked_.splice(tracked_.begin(), tracked_, found->second);
  } else {
    if (tracked_.size() == kTracked) {
      index_.erase(tracked_.back().first);
      tracked_.pop_back();
    }
    tracked_.emplace_front(source, TokenBucket{rate_});
    index_.emplace(source, tracked_.begin());
  }
  return tracked_.front().second.take(now) && crowd_.take(now);
}

}  // namespace upf::control

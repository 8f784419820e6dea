#include "netlink/gtp5g/paths.hpp"

#include <algorithm>

namespace upf::gtp5g {
namespace {

constexpr unsigned kTries = 3;             // N3-REQUESTS
constexpr std::chrono::seconds kRetry{3};  // T3-RESPONSE

}  // namespace

void Paths::begin(TimePoint now, Ipv4 peer) {
  if (interval_.count() == 0) return;
  Peer& entry = peers_[peer];
  if (entry.users++ == 0) entry.next = now + interval_;
}

void Paths::end(Ipv4 peer) {
  const auto at = peers_.find(peer);
  if (at != peers_.end() && --at->second.users == 0) peers_.erase(at);
}

Paths::Due Paths::tick(TimePoint now) {
  Due due;
  for (auto& [address, peer] : peers_) {
    if (now < peer.next) continue;
    if (peer.unanswered >= kTries && !peer.down) {
      peer.down = true;
      due.changed.push_back({address, false});
    }
    peer.unanswered = std::min(peer.unanswered + 1, kTries);
    peer.next = now + (peer.down ? std::max(interval_, kRetry) : kRetry);
    due.ask.push_back(address);
  }
  return due;
}

std::optional<dataplane::PathState> Paths::answered(TimePoint now, Ipv4 address) {
  const auto at = peers_.find(address);
  if (at == peers_.end()) return std::nullopt;
  at->second.unanswered = 0;
  at->second.next = now + interval_;
  if (!std::exchange(at->second.down, false)) return std::nullopt;
  return dataplane::PathState{address, true};
}

std::optional<TimePoint> Paths::next() const {
  std::optional<TimePoint> first;
  for (const auto& [address, peer] : peers_) first = std::min(first.value_or(peer.next), peer.next);
  return first;
}

}  // namespace upf::gtp5g

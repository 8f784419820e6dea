#include "netlink/gtp5g/paths.hpp"

#include <algorithm>
#include <utility>

namespace upf::gtp5g {
void Paths::begin(TimePoint now, Ipv4 peer) {
  if (timers_.interval.count() == 0) return;
  Peer& entry = peers_[peer];
  if (entry.users++ == 0) entry.next = now + timers_.interval;
}

void Paths::end(Ipv4 peer) {
  const auto at = peers_.find(peer);
  if (at != peers_.end() && --at->second.users == 0) peers_.erase(at);
}

Paths::Due Paths::tick(TimePoint now) {
  Due due;
  for (auto& [address, peer] : peers_) {
    if (now < peer.next) continue;
    const unsigned most = std::max(timers_.requests, 1U);
    if (peer.unanswered >= most && !peer.down) {
      peer.down = true;
      peer.round_trip.reset();
      due.changed.push_back({address, false});
    }
    peer.unanswered = std::min(peer.unanswered + 1, most);
    peer.asked = now;
    peer.next = now + (peer.down ? std::max(timers_.interval, timers_.timeout) : timers_.timeout);
    due.ask.push_back(address);
  }
  return due;
}

std::optional<dataplane::PathState> Paths::answered(TimePoint now, Ipv4 address) {
  const auto at = peers_.find(address);
  if (at == peers_.end()) return std::nullopt;
  if (std::exchange(at->second.unanswered, 0U) != 0) at->second.round_trip = now - at->second.asked;
  at->second.next = now + timers_.interval;
  if (!std::exchange(at->second.down, false)) return std::nullopt;
  return dataplane::PathState{address, true};
}

std::optional<TimePoint> Paths::next() const {
  std::optional<TimePoint> first;
  for (const auto& [address, peer] : peers_) first = std::min(first.value_or(peer.next), peer.next);
  return first;
}

std::vector<dataplane::Path> Paths::all() const {
  std::vector<dataplane::Path> all;
  for (const auto& [address, peer] : peers_) {
    all.push_back({address, !peer.down, peer.users, peer.round_trip});
  }
  return all;
}

}  // namespace upf::gtp5g

#include "path_monitor.hpp"

#include <algorithm>
#include <utility>

namespace upf::userplane {

void PathMonitor::begin(const Snapshot& rules, TimePoint now) {
  if (timers_.interval.count() == 0) return;
  for (const FarEntry& far : rules.fars) {
    if (!far.has_tunnel) continue;
    Peer& peer = peers_[{far.tunnel.ipv6, far.tunnel.peer}];
    if (peer.users++ > 0) continue;
    next_ = peers_.size() == 1 ? now : std::min(next_, now);
    peer.socket = far.tunnel.socket;
    peer.next = now;
  }
}

void PathMonitor::end(const Snapshot& rules) {
  if (timers_.interval.count() == 0) return;
  for (const FarEntry& far : rules.fars) {
    const auto at = peers_.find({far.tunnel.ipv6, far.tunnel.peer});
    if (far.has_tunnel && at != peers_.end() && --at->second.users == 0) peers_.erase(at);
  }
}

void PathMonitor::on_answer(const EchoAnswered& answer, TimePoint now,
                            std::vector<dataplane::Event>& out) {
  const auto at = peers_.find({answer.ipv6, answer.peer});
  if (at == peers_.end() || at->second.unanswered == 0) return;
  Peer& peer = at->second;
  peer.unanswered = 0;
  peer.round_trip = now - peer.asked;
  peer.next = peer.asked + std::max(timers_.interval, timers_.timeout);
  if (std::exchange(peer.up, true)) return;
  out.push_back(dataplane::PathState{answer.peer.to_ip(answer.ipv6), true});
}

void PathMonitor::on_time(TimePoint now, std::vector<dataplane::Event>& out) {
  for (auto& [key, peer] : peers_) {
    if (peer.next > now) continue;
    if (peer.up && peer.unanswered >= std::max(timers_.requests, 1U)) {
      peer.up = false;
      peer.round_trip.reset();
      out.push_back(dataplane::PathState{key.second.to_ip(key.first), false});
    }
    ++peer.unanswered;
    peer.asked = now;
    peer.next = now + (peer.up ? timers_.timeout : std::max(timers_.interval, timers_.timeout));
    forwarder_.send({.socket = peer.socket, .peer = key.second, .ipv6 = key.first}, gtpu::kPort,
                    gtpu::encode_echo_request(++sequence_));
  }
  forwarder_.finish();
  const auto first =
      std::ranges::min_element(peers_, {}, [](const auto& entry) { return entry.second.next; });
  if (first != peers_.end()) next_ = first->second.next;
}

std::optional<TimePoint> PathMonitor::next_time() const {
  if (peers_.empty()) return std::nullopt;
  return next_;
}

std::vector<dataplane::Path> PathMonitor::paths() const {
  std::vector<dataplane::Path> all;
  for (const auto& [key, peer] : peers_) {
    all.push_back({key.second.to_ip(key.first), peer.up, peer.users, peer.round_trip});
  }
  return all;
}

}  // namespace upf::userplane

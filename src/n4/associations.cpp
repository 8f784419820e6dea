#include "upf/n4/associations.hpp"

#include <algorithm>

namespace upf::n4 {

Association* Associations::set_up(const Now& now, const pfcp::NodeId& node,
                                  const SocketAddress& peer, pfcp::NtpTime recovery) {
  if (!all_.contains(node) &&
      (all_.size() >= settings_.limit || by_address_.count(peer.ip) >= kMaxNodes)) {
    return nullptr;
  }
  remove(node);
  Association& association = all_[node];
  association = {.node = node,
                 .peer = peer,
                 .recovery = recovery,
                 .since = now.steady,
                 .last_heard = now.steady};
  add_address(association, peer.ip);
  if (settings_.heartbeat_interval.count() > 0) {
    schedule(node, now.steady + settings_.heartbeat_interval);
  }
  return &association;
}

void Associations::set_settings(const Now& now, const Settings& settings) {
  settings_ = settings;
  next_heartbeat_.clear();
  due_.clear();
  if (settings_.heartbeat_interval.count() == 0) return;
  for (const auto& [node, association] : all_) {
    schedule(node, now.steady + settings_.heartbeat_interval);
  }
}

bool Associations::remove(const pfcp::NodeId& node) {
  const auto found = all_.find(node);
  if (found == all_.end()) return false;
  std::erase_if(by_address_, [&](const auto& entry) { return entry.second == &found->second; });
  std::erase_if(heartbeats_, [&](const auto& entry) { return entry.second == node; });
  if (const auto next = next_heartbeat_.find(node); next != next_heartbeat_.end()) {
    due_.erase({next->second, node});
    next_heartbeat_.erase(next);
  }
  all_.erase(found);
  return true;
}

Association* Associations::find(const pfcp::NodeId& node) {
  const auto found = all_.find(node);
  return found == all_.end() ? nullptr : &found->second;
}

const Association* Associations::find(const pfcp::NodeId& node) const {
  const auto found = all_.find(node);
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<Association*> Associations::at(const IpAddress& address) const {
  std::vector<Association*> result;
  const auto [begin, end] = by_address_.equal_range(address);
  for (auto entry = begin; entry != end; ++entry) result.push_back(entry->second);
  return result;
}

Association* Associations::stand_in_for(const Association& association) {
  if (association.smf_set.empty()) return nullptr;
  for (auto& [node, other] : all_) {
    if (node != association.node && other.smf_set == association.smf_set && other.reachable) {
      return &other;
    }
  }
  return nullptr;
}

void Associations::add_address(Association& association, const IpAddress& address) {
  if (association.addresses.size() >= kMaxAddresses) return;
  if (by_address_.count(address) >= kMaxNodes) return;
  if (association.addresses.insert(address).second) by_address_.emplace(address, &association);
}

std::vector<pfcp::NodeId> Associations::heard(const Now& now, const IpAddress& address) {
  std::vector<pfcp::NodeId> returned;
  for (Association* association : at(address)) {
    association->last_heard = now.steady;
    if (association->reachable) continue;
    association->reachable = true;
    returned.push_back(association->node);
  }
  return returned;
}

std::vector<pfcp::NodeId> Associations::heartbeats_due(const Now& now) {
  std::vector<pfcp::NodeId> due;
  while (!due_.empty() && due_.begin()->first <= now.steady) {
    due.push_back(due_.begin()->second);
    schedule(due.back(), now.steady + settings_.heartbeat_interval);
  }
  return due;
}

void Associations::heartbeat_sent(const pfcp::NodeId& node, OwnRequest request) {
  heartbeats_.emplace(request, node);
}

std::optional<pfcp::NodeId> Associations::heartbeat_over(OwnRequest request) {
  const auto found = heartbeats_.find(request);
  if (found == heartbeats_.end()) return std::nullopt;
  const pfcp::NodeId node = found->second;
  heartbeats_.erase(found);
  return node;
}

bool Associations::lost(const pfcp::NodeId& node) {
  Association* const association = find(node);
  if (association == nullptr || !association->reachable) return false;
  association->reachable = false;
  return true;
}

std::vector<pfcp::NodeId> Associations::purge_due(const Now& now) const {
  std::vector<pfcp::NodeId> due;
  if (settings_.purge_after.count() == 0 || settings_.heartbeat_interval.count() == 0) return due;
  for (const auto& [node, association] : all_) {
    const bool silent = now.steady - association.last_heard >= settings_.purge_after;
    if (!association.reachable && silent) due.push_back(node);
  }
  return due;
}

std::optional<TimePoint> Associations::wake_at() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void Associations::schedule(const pfcp::NodeId& node, TimePoint at) {
  const auto [next, is_new] = next_heartbeat_.try_emplace(node, at);
  if (!is_new) {
    due_.erase({next->second, node});
    next->second = at;
  }
  due_.emplace(at, node);
}

}  // namespace upf::n4

#include "netlink/gtp5g/episodes.hpp"

namespace upf::gtp5g {

void Episodes::set(TimePoint now, Seid seid, FarId far, const Parameters& parameters) {
  const Key key{seid, far};
  Episode& episode = episodes_[key];
  if (parameters.notify && !episode.parameters.notify) {
    forget_due(key, episode);
    episode.announced = false;
  }
  episode.parameters = parameters;
  if (episode.first) announce(now, key, episode);
}

void Episodes::announce(TimePoint now, const Key& key, Episode& episode) {
  if (episode.announced || !episode.parameters.notify) return;
  episode.announced = true;
  episode.due = now + episode.parameters.delay;
  due_.insert({*episode.due, key});
}

void Episodes::forget_due(const Key& key, const Episode& episode) {
  if (episode.due) due_.erase({*episode.due, key});
}

void Episodes::end(Seid seid, FarId far) {
  const auto at = episodes_.find({seid, far});
  if (at == episodes_.end()) return;
  forget_due(at->first, at->second);
  episodes_.erase(at);
}

void Episodes::end(Seid seid) {
  auto at = episodes_.lower_bound({seid, FarId{0}});
  while (at != episodes_.end() && at->first.first == seid) {
    forget_due(at->first, at->second);
    at = episodes_.erase(at);
  }
}

const Episodes::Parameters* Episodes::find(Seid seid, FarId far) const {
  const auto at = episodes_.find({seid, far});
  return at == episodes_.end() ? nullptr : &at->second.parameters;
}

void Episodes::packet(TimePoint now, Seid seid, FarId far, const dataplane::DownlinkData& data) {
  const auto at = episodes_.find({seid, far});
  if (at == episodes_.end()) return;
  if (!at->second.first) at->second.first = data;
  announce(now, at->first, at->second);
}

std::vector<dataplane::DownlinkData> Episodes::take_due(TimePoint now) {
  std::vector<dataplane::DownlinkData> events;
  while (!due_.empty() && due_.begin()->first <= now) {
    Episode& episode = episodes_.at(due_.begin()->second);
    due_.erase(due_.begin());
    episode.due.reset();
    events.push_back(*episode.first);
  }
  return events;
}

std::optional<TimePoint> Episodes::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace upf::gtp5g

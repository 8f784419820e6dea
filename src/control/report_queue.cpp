#include "upf/control/report_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "upf/base/assert.hpp"

namespace upf::control {
namespace {

constexpr ReportQueue::Lane kLanes[] = {ReportQueue::Lane::Usage, ReportQueue::Lane::Other};

rules::Volume sum(const rules::Volume& a, const rules::Volume& b) {
  return {a.uplink + b.uplink, a.downlink + b.downlink};
}

// Two reports of one URR as one: the later's name and reason, both spans and both counts.
void merge_into(usage::Report& later, const usage::Report& earlier) {
  later.octets = sum(earlier.octets, later.octets);
  later.packets = sum(earlier.packets, later.packets);
  later.with_packets = later.with_packets && earlier.with_packets;
  if (earlier.start) later.start = earlier.start;
  if (earlier.first_packet) later.first_packet = earlier.first_packet;
  if (!later.last_packet) later.last_packet = earlier.last_packet;
  if (!later.end) later.end = earlier.end;
  if (earlier.duration_s) later.duration_s = later.duration_s.value_or(0) + *earlier.duration_s;
}

}  // namespace

ReportQueue::Entry& ReportQueue::entry(Seid seid, const ReportTarget& target) {
  Entry& found = sessions_[seid];
  found.target = target;
  return found;
}

void ReportQueue::add_usage(Seid seid, const ReportTarget& target,
                            const std::vector<usage::Report>& reports) {
  if (reports.empty()) return;
  Entry& to = entry(seid, target);
  for (const usage::Report& report : reports) {
    to.usage.push_back(report);
    ++usage_reports_;
    if (to.usage.size() > per_session_) merge_oldest(to);
  }
  settle(seid);
}

// The oldest report that was never sent goes into the next one of its URR; if it has none, the
// second oldest does, and so on. If no URR has two, nothing can be merged: there are more URRs than
// `per_session`, or one request's worth of reports that were sent.
void ReportQueue::merge_oldest(Entry& entry) {
  auto earlier = entry.usage.begin() + static_cast<std::ptrdiff_t>(entry.tried);
  for (; earlier != entry.usage.end(); ++earlier) {
    const auto later = std::find_if(std::next(earlier), entry.usage.end(),
                                    [&](const auto& other) { return other.urr == earlier->urr; });
    if (later == entry.usage.end()) continue;
    merge_into(*later, *earlier);
    entry.usage.erase(earlier);
    --usage_reports_;
    return;
  }
}

void ReportQueue::add_downlink(Seid seid, const ReportTarget& target,
                               const dataplane::DownlinkData& data) {
  entry(seid, target).downlink.insert_or_assign(data.pdr, data);
  settle(seid);
}

void ReportQueue::add_error(Seid seid, const ReportTarget& target,
                            const dataplane::ErrorIndication& error) {
  Entry& to = entry(seid, target);
  std::erase_if(to.errors, [&](const auto& other) {
    return other.teid == error.teid && other.peer == error.peer;
  });
  to.errors.push_back(error);
  if (to.errors.size() > kMaxErrors) to.errors.pop_front();
  settle(seid);
}

void ReportQueue::add_inactivity(Seid seid, const ReportTarget& target) {
  entry(seid, target).inactive = true;
  settle(seid);
}

void ReportQueue::retarget(Seid seid, const ReportTarget& target) {
  if (const auto at = sessions_.find(seid); at != sessions_.end()) at->second.target = target;
}

void ReportQueue::forget_downlink(Seid seid, PdrId pdr) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return;
  at->second.downlink.erase(pdr);
  std::erase_if(at->second.lanes[index(Lane::Other)].sent.downlink,
                [&](const auto& data) { return data.pdr == pdr; });
  settle(seid);
}

void ReportQueue::forget(Seid seid) { drop(seid); }

void ReportQueue::forget_all_but_usage(Seid seid) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return;
  at->second.downlink.clear();
  at->second.errors.clear();
  at->second.inactive = false;
  at->second.lanes[index(Lane::Other)].sent = {};
  settle(seid);
}

std::vector<usage::Report> ReportQueue::take_waiting_usage(Seid seid) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return {};
  std::vector<usage::Report> taken{std::make_move_iterator(at->second.usage.begin()),
                                   std::make_move_iterator(at->second.usage.end())};
  at->second.usage.clear();
  at->second.tried = 0;
  usage_reports_ -= taken.size();
  settle(seid);
  return taken;
}

std::vector<PdrId> ReportQueue::pages_of(Seid seid) const {
  std::vector<PdrId> pages;
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return pages;
  for (const auto& [pdr, data] : at->second.downlink) pages.push_back(pdr);
  for (const auto& data : at->second.lanes[index(Lane::Other)].sent.downlink) {
    pages.push_back(data.pdr);
  }
  return pages;
}

void ReportQueue::defer(const Ready& ready, const Now& now) {
  const auto at = sessions_.find(ready.seid);
  if (at == sessions_.end()) return;
  at->second.lanes[index(ready.lane)].due = now.steady + retry_after_;
  settle(ready.seid);
}

void ReportQueue::forget_owner(const std::string& owner) {
  std::vector<Seid> theirs;
  for (const auto& [seid, entry] : sessions_) {
    if (entry.target.owner == owner) theirs.push_back(seid);
  }
  for (const Seid seid : theirs) drop(seid);
}

std::vector<ReportQueue::Ready> ReportQueue::ready(const Now& now, std::size_t most) const {
  std::vector<Ready> result;
  for (const auto& [due, lane] : due_) {
    if (due > now.steady || result.size() == most) break;
    result.push_back({lane.first, lane.second});
  }
  return result;
}

const ReportTarget* ReportQueue::target(Seid seid) const {
  const auto at = sessions_.find(seid);
  return at == sessions_.end() ? nullptr : &at->second.target;
}

ReportContent ReportQueue::content(const Ready& ready) const {
  const auto at = sessions_.find(ready.seid);
  return at == sessions_.end() ? ReportContent{} : waiting(at->second, ready.lane);
}

ReportContent ReportQueue::waiting(const Entry& entry, Lane lane) {
  ReportContent content;
  if (lane == Lane::Usage) {
    content.usage.assign(entry.usage.begin(), entry.usage.end());
    return content;
  }
  for (const auto& [pdr, data] : entry.downlink) content.downlink.push_back(data);
  content.errors.assign(entry.errors.begin(), entry.errors.end());
  content.inactive = entry.inactive;
  return content;
}

void ReportQueue::sent(const Ready& ready, std::size_t usage_reports, n4::OwnRequest request) {
  const auto at = sessions_.find(ready.seid);
  UPF_ASSERT(at != sessions_.end());
  Entry& entry = at->second;
  LaneState& lane = entry.lanes[index(ready.lane)];
  UPF_ASSERT(!lane.under_way);
  lane.sent = waiting(entry, ready.lane);
  if (ready.lane == Lane::Usage) {
    UPF_ASSERT(usage_reports <= lane.sent.usage.size());
    lane.sent.usage.resize(usage_reports);
    entry.usage.erase(entry.usage.begin(),
                      entry.usage.begin() + static_cast<std::ptrdiff_t>(usage_reports));
    entry.tried -= std::min(entry.tried, usage_reports);
  } else {
    entry.downlink.clear();
    entry.errors.clear();
    entry.inactive = false;
  }
  lane.under_way = request;
  under_way_.emplace(request, ready);
  settle(ready.seid);
}

// Ends the request and returns whose it was. The lane's `sent` is left for the caller.
std::optional<ReportQueue::Ready> ReportQueue::finish(n4::OwnRequest request) {
  const auto found = under_way_.find(request);
  if (found == under_way_.end()) return std::nullopt;
  const Ready ready = found->second;
  under_way_.erase(found);
  sessions_.at(ready.seid).lanes[index(ready.lane)].under_way.reset();
  return ready;
}

std::optional<ReportQueue::Ready> ReportQueue::acknowledged(n4::OwnRequest request) {
  const std::optional<Ready> ready = finish(request);
  if (!ready) return std::nullopt;
  const ReportContent done =
      std::exchange(sessions_.at(ready->seid).lanes[index(ready->lane)].sent, {});
  usage_reports_ -= done.usage.size();
  settle(ready->seid);
  return ready;
}

std::optional<ReportQueue::Ready> ReportQueue::unanswered(n4::OwnRequest request, const Now& now) {
  const std::optional<Ready> ready = finish(request);
  if (!ready) return std::nullopt;
  Entry& entry = sessions_.at(ready->seid);
  LaneState& lane = entry.lanes[index(ready->lane)];
  put_back(entry, std::exchange(lane.sent, {}));
  lane.due = now.steady + retry_after_;
  while (entry.usage.size() > per_session_) {
    const std::size_t before = entry.usage.size();
    merge_oldest(entry);
    if (entry.usage.size() == before) break;
  }
  settle(ready->seid);
  return ready;
}

// What came up in the meantime is newer, and stays.
void ReportQueue::put_back(Entry& entry, ReportContent content) {
  entry.tried += content.usage.size();
  entry.usage.insert(entry.usage.begin(), std::make_move_iterator(content.usage.begin()),
                     std::make_move_iterator(content.usage.end()));
  for (const auto& data : content.downlink) entry.downlink.try_emplace(data.pdr, data);
  entry.errors.insert(entry.errors.begin(), content.errors.begin(), content.errors.end());
  while (entry.errors.size() > kMaxErrors) entry.errors.pop_front();
  entry.inactive = entry.inactive || content.inactive;
}

void ReportQueue::retry(const std::string& owner) {
  for (auto& [seid, entry] : sessions_) {
    if (entry.target.owner != owner) continue;
    for (LaneState& lane : entry.lanes) lane.due = {};
    for (const Lane lane : kLanes) {
      LaneState& state = entry.lanes[index(lane)];
      if (!state.listed) continue;
      due_.erase({*state.listed, {seid, lane}});
      state.listed = state.due;
      due_.insert({state.due, {seid, lane}});
    }
  }
}

std::optional<TimePoint> ReportQueue::wake_at() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void ReportQueue::settle(Seid seid) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return;
  bool busy = false;
  for (const Lane lane : kLanes) {
    LaneState& state = at->second.lanes[index(lane)];
    if (state.listed) due_.erase({*state.listed, {seid, lane}});
    state.listed.reset();
    if (at->second.has(lane) && !state.under_way) {
      state.listed = state.due;
      due_.insert({state.due, {seid, lane}});
    }
    busy = busy || state.listed || state.under_way;
  }
  if (!busy) sessions_.erase(at);
}

void ReportQueue::drop(Seid seid) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return;
  Entry& entry = at->second;
  usage_reports_ -= entry.usage.size();
  for (const Lane lane : kLanes) {
    LaneState& state = entry.lanes[index(lane)];
    usage_reports_ -= state.sent.usage.size();
    if (state.listed) due_.erase({*state.listed, {seid, lane}});
    if (state.under_way) under_way_.erase(*state.under_way);
  }
  sessions_.erase(at);
}

}  // namespace upf::control

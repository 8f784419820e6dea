#include "src/app/metrics/metered_plane.hpp"

#include "src/app/metrics/interfaces.hpp"
#include "upf/base/clock.hpp"

namespace upf::app::metrics {
namespace {

std::string_view name_of(dataplane::Failure::Kind kind) {
  switch (kind) {
    case dataplane::Failure::Kind::Unsupported:
      return "unsupported";
    case dataplane::Failure::Kind::NoResources:
      return "no_resources";
    case dataplane::Failure::Kind::Refused:
      return "refused";
    case dataplane::Failure::Kind::Unavailable:
      return "unavailable";
  }
  return "refused";
}

struct EventName {
  std::string_view operator()(const dataplane::DownlinkData&) const { return "downlink_data"; }
  std::string_view operator()(const dataplane::LimitReached& event) const {
    using Limit = dataplane::LimitReached::Limit;
    if (event.limit == Limit::Dropped) return "limit_dropped";
    return event.limit == Limit::Notify ? "limit_notify" : "limit_block";
  }
  std::string_view operator()(const dataplane::TrafficStart&) const { return "traffic_start"; }
  std::string_view operator()(const dataplane::ErrorIndication&) const {
    return "error_indication";
  }
  std::string_view operator()(const dataplane::PathState& event) const {
    return event.up ? "path_up" : "path_down";
  }
  std::string_view operator()(const dataplane::Overrun&) const { return "overrun"; }
};

double seconds(MeteredPlane::Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Result<dataplane::Applied, dataplane::Failure> MeteredPlane::apply(
    const dataplane::Change& change) {
  const TimePoint start = Clock::now();
  auto applied = inner_->apply(change);
  const Time took = Clock::now() - start;
  time_in_calls_ += took;
  applies_.durations.observe(seconds(took));
  ++applies_.outcomes[applied ? "ok" : name_of(applied.error().kind)];
  if (applied) count_change(change);
  if (observer_.on_change) observer_.on_change(change, applied, took);
  return applied;
}

Result<std::vector<dataplane::Reading>, dataplane::Failure> MeteredPlane::read_usage(
    Seid seid, std::span<const UrrId> urrs) {
  const TimePoint start = Clock::now();
  auto readings = inner_->read_usage(seid, urrs);
  const Time took = Clock::now() - start;
  time_in_calls_ += took;
  reads_.durations.observe(seconds(took));
  ++reads_.outcomes[readings ? "ok" : name_of(readings.error().kind)];
  return readings;
}

std::vector<dataplane::Counter> MeteredPlane::counters() const {
  std::vector<dataplane::Counter> all = inner_->counters();
  if (device_.empty()) return all;
  for (const DeviceCounts& counts : read_devices()) {
    if (counts.device != device_) continue;
    // What the module takes out of tunnels the device receives.
    const auto number = [](double value) { return static_cast<std::uint64_t>(value); };
    all.push_back({"uplink_packets", {}, number(counts.packets[0])});
    all.push_back({"downlink_packets", {}, number(counts.packets[1])});
    all.push_back({"uplink_octets", {}, number(counts.octets[0])});
    all.push_back({"downlink_octets", {}, number(counts.octets[1])});
  }
  return all;
}

std::vector<dataplane::Event> MeteredPlane::take_events() {
  auto events = inner_->take_events();
  for (const auto& event : events) {
    ++events_[std::visit(EventName{}, event)];
    if (observer_.on_event) observer_.on_event(event);
  }
  return events;
}

void MeteredPlane::count_rules(const rules::SessionRules& rules, int sign) {
  const std::size_t sizes[] = {rules.pdrs.size(), rules.fars.size(), rules.qers.size(),
                               rules.urrs.size(), rules.bars.size()};
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    rules_[i] += sign * static_cast<std::int64_t>(sizes[i]);
  }
}

void MeteredPlane::count_change(const dataplane::Change& change) {
  if (change.before != nullptr) count_rules(*change.before, -1);
  if (change.after != nullptr) count_rules(*change.after, +1);
  if (change.before == nullptr && change.after != nullptr) {
    ++totals_.established;
    ++totals_.sessions;
  } else if (change.before != nullptr && change.after == nullptr) {
    ++totals_.ended;
    --totals_.sessions;
  }
}

void MeteredPlane::expose(Exposition& to) const {
  constexpr std::string_view kKinds[] = {"pdr", "far", "qer", "urr", "bar"};
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    to.add("kupf_rules", {{"kind", std::string{kKinds[i]}}}, static_cast<double>(rules_[i]));
  }
  to.add("kupf_sessions", static_cast<double>(totals_.sessions));
  to.add("kupf_sessions_established_total", static_cast<double>(totals_.established));
  to.add("kupf_sessions_ended_total", static_cast<double>(totals_.ended));
  for (const auto& [name, call] :
       {std::pair{"apply", &applies_}, std::pair{"read_usage", &reads_}}) {
    for (const auto& [outcome, count] : call->outcomes) {
      to.add("kupf_plane_calls_total", {{"call", name}, {"outcome", std::string{outcome}}},
             static_cast<double>(count));
    }
    to.add("kupf_plane_call_duration_seconds", {{"call", name}}, call->durations);
  }
  for (const auto& [kind, count] : events_) {
    to.add("kupf_plane_events_total", {{"kind", std::string{kind}}}, static_cast<double>(count));
  }
}

}  // namespace upf::app::metrics

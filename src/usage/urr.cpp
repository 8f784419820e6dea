#include "src/usage/urr.hpp"

#include <algorithm>

// The life of a URR (TS 29.244 5.2.2).
//
// Counting is the plane's: a Reading takes what was counted since the one before, so every octet is
// added here exactly once, and leaves in exactly one report. Volume limits are the plane's too;
// each time one is set anew it gets a new generation, and an event of an older generation is only a
// reading. Reports for other reasons don't touch the limits: a periodic report doesn't restart a
// threshold (5.2.2.3.1: thresholds are applied anew when one of them was reached, quotas go on).
//
// Time is measured here, from the first packet (or at once with ISTM) until no packet has come for
// the Inactivity Detection Time. Planes say when traffic starts; that it has stopped is seen by
// readings that are empty.

namespace upf::usage {
namespace {

using std::chrono::seconds;

/// STOPT without an Inactivity Detection Time: the standard leaves it to us what a stop is.
constexpr seconds kDefaultIdle{60};

Duration of(std::uint32_t s) { return seconds{s}; }

std::optional<std::uint64_t> left(std::optional<std::uint64_t> amount, std::uint64_t used) {
  if (!amount) return std::nullopt;
  return *amount > used ? *amount - used : 1;  // 1: with the next packet
}

rules::VolumeLimit limit(const rules::VolumeAmount& amount, const rules::Volume& used,
                         std::uint32_t generation) {
  return {.generation = generation,
          .total = left(amount.total, used.total()),
          .uplink = left(amount.uplink, used.uplink),
          .downlink = left(amount.downlink, used.downlink)};
}

bool reached(const rules::VolumeLimit& limit, const rules::Volume& counted) {
  return (limit.total && counted.total() >= *limit.total) ||
         (limit.uplink && counted.uplink >= *limit.uplink) ||
         (limit.downlink && counted.downlink >= *limit.downlink);
}

bool is_nothing(const rules::VolumeAmount& amount) {
  return amount.total == 0 || amount.uplink == 0 || amount.downlink == 0;
}

void add_to(rules::Volume& sum, const rules::Volume& more) {
  sum.uplink += more.uplink;
  sum.downlink += more.downlink;
}

void keep_earlier(std::optional<TimePoint>& earliest, std::optional<TimePoint> at) {
  if (at && (!earliest || *at < *earliest)) earliest = at;
}

}  // namespace

UrrState::UrrState(const rules::UsageUpdate& created, Now now, const UrrState* predecessor)
    : rule_(created.rule), since_(now.wall), last_traffic_(now.steady) {
  constexpr rules::UsageGrant kAll{true, true, true, true, true, true,
                                   true, true, true, true, true, true};
  if (predecessor != nullptr) {
    generation_ = predecessor->generation_;
    start_generation_ = predecessor->start_generation_ + 1;
  }
  active_ = rule_.immediate_start;
  update({created.rule, kAll}, now);
}

void UrrState::update(const rules::UsageUpdate& update, Now now) {
  const bool immediate = update.rule.immediate_start && !rule_.immediate_start;
  rule_ = update.rule;
  const auto& grant = update.grant;
  const bool wanted = rule_.triggers.volume_threshold && rule_.volume_threshold;
  if (grant.volume_threshold || wanted != notify_.has_value()) set_volume_threshold();
  const bool drops = rule_.triggers.dropped_threshold && rule_.dropped_threshold;
  if (grant.dropped_threshold || drops != drops_.has_value()) arm_drops();
  if (grant.time_threshold) threshold_from_ = reported_;
  if (grant.volume_quota) grant_volume();
  if (grant.time_quota) grant_time(now.steady);
  if (grant.volume_quota || grant.time_quota) {
    quota_void_ = false;
    granted_ = now.steady;
  }
  if (immediate) saw_traffic(now.steady, now.steady);
  set_times(grant, now);
  run_or_stop(now.steady);
}

void UrrState::arm_notify(const rules::Volume& used) {
  notify_.reset();
  since_notify_ = {};
  if (!rule_.triggers.volume_threshold || !rule_.volume_threshold) return;
  // A threshold of 0 is none: it would make a report of every packet.
  rules::VolumeAmount amount = *rule_.volume_threshold;
  for (auto* part : {&amount.total, &amount.uplink, &amount.downlink}) {
    if (*part == 0U) part->reset();
  }
  if (amount != rules::VolumeAmount{}) notify_ = limit(amount, used, ++generation_);
}

void UrrState::arm_drops() {
  drops_.reset();
  dropped_packets_ = dropped_octets_ = 0;
  if (!rule_.triggers.dropped_threshold || !rule_.dropped_threshold) return;
  rules::DropLimit limit{.packets = rule_.dropped_threshold->packets,
                         .octets = rule_.dropped_threshold->octets};
  for (auto* part : {&limit.packets, &limit.octets}) {
    if (*part == 0U) part->reset();  // none, as with volumes
  }
  if (!limit.packets && !limit.octets) return;
  limit.generation = ++generation_;
  drops_ = limit;
}

void UrrState::set_volume_threshold() { arm_notify(counts_.octets); }

// What came since the last report is not covered by any earlier grant that was reported as used, so
// it counts against the new one. No Volume Quota left in the rule: unlimited again.
void UrrState::grant_volume() {
  block_.reset();
  since_block_ = {};
  volume_used_up_ = rule_.volume_quota && is_nothing(*rule_.volume_quota);
  if (rule_.volume_quota && !volume_used_up_) {
    block_ = limit(*rule_.volume_quota, counts_.octets, ++generation_);
  }
}

void UrrState::grant_time(TimePoint now) {
  quota_from_ = std::min(reported_, watch_.total(now));
  time_used_up_ = rule_.time_quota == 0U;
}

void UrrState::set_times(const rules::UsageGrant& grant, Now now) {
  const bool periodic = rule_.triggers.periodic && rule_.period.value_or(0) > 0;
  if (!periodic) period_at_.reset();
  if (periodic && (grant.period || !period_at_)) period_at_ = now.steady + of(*rule_.period);

  // Quota Validity Time without QUVTI is not looked at: free5GC's SMF fills it with anything.
  const bool validity = rule_.triggers.quota_validity && rule_.quota_validity_time && has_quota();
  if (!validity) valid_until_.reset();
  if (validity && (grant.volume_quota || grant.time_quota || grant.quota_validity_time)) {
    valid_until_ = now.steady + of(*rule_.quota_validity_time);
  }
  if (grant.monitoring_time) {
    monitoring_at_.reset();
    if (rule_.monitoring_time && *rule_.monitoring_time > now.wall) {
      monitoring_at_ =
          now.steady + std::chrono::duration_cast<Duration>(*rule_.monitoring_time - now.wall);
    }
  }
}

void UrrState::add(const dataplane::Reading& reading, Now now) {
  dropped_packets_ += reading.dropped_packets;
  dropped_octets_ += reading.dropped_octets;
  if (reading.octets.total() == 0 && reading.packets.total() == 0) return;
  add_to(counts_.octets, reading.octets);
  add_to(since_notify_, reading.octets);
  add_to(since_block_, reading.octets);
  add_to(counts_.packets, reading.packets);
  if (!counts_.first_packet) counts_.first_packet = reading.first_packet;
  if (reading.last_packet) counts_.last_packet = reading.last_packet;
  const TimePoint last = steady_time(reading.last_packet.value_or(now.wall), now);
  saw_traffic(std::min(last, steady_time(reading.first_packet.value_or(now.wall), now)), last);
  run_or_stop(now.steady);
}

std::optional<Trigger> UrrState::on_limit(const dataplane::LimitReached& event, Now now) {
  using Limit = dataplane::LimitReached::Limit;
  add(event.reading, now);
  if (event.limit == Limit::Dropped) {
    if (!drops_ || drops_->generation != event.generation) return std::nullopt;
    arm_drops();
    return Trigger::DroppedThreshold;
  }
  auto& armed = event.limit == Limit::Notify ? notify_ : block_;
  if (!armed || armed->generation != event.generation) return std::nullopt;
  if (event.limit == Limit::Notify) {
    reapply_thresholds(now.steady);
    return Trigger::VolumeThreshold;
  }
  return use_up_volume(now.steady);
}

std::optional<Trigger> UrrState::use_up_volume(TimePoint now) {
  block_.reset();
  volume_used_up_ = true;
  run_or_stop(now);
  if (!rule_.triggers.volume_quota) return std::nullopt;
  return Trigger::VolumeQuota;
}

std::vector<Trigger> UrrState::on_overrun(Now now) {
  std::vector<Trigger> due;
  const auto add_due = [&](std::optional<Trigger> trigger) {
    if (trigger) due.push_back(*trigger);
  };
  if (counts_.octets.total() + counts_.packets.total() > 0 && !start_reported_ &&
      rule_.triggers.start_of_traffic) {
    add_due(on_start(counts_.first_packet.value_or(now.wall), now));
  }
  if (notify_ && reached(*notify_, since_notify_)) {
    reapply_thresholds(now.steady);
    due.push_back(Trigger::VolumeThreshold);
  }
  if (drops_ && ((drops_->packets && dropped_packets_ >= *drops_->packets) ||
                 (drops_->octets && dropped_octets_ >= *drops_->octets))) {
    arm_drops();
    due.push_back(Trigger::DroppedThreshold);
  }
  if (block_ && reached(*block_, since_block_)) add_due(use_up_volume(now.steady));
  return due;
}

std::optional<Trigger> UrrState::on_start(WallTime at, Now now) {
  const TimePoint first = steady_time(at, now);
  saw_traffic(first, first);
  run_or_stop(now.steady);
  if (!rule_.triggers.start_of_traffic || start_reported_) return std::nullopt;
  start_reported_ = true;
  return Trigger::StartOfTraffic;
}

std::vector<Trigger> UrrState::on_timer(Now now) {
  std::vector<Trigger> due;
  if (monitoring_at_ && *monitoring_at_ <= now.steady) pass_monitoring_time(now);
  pass_idle_time(now.steady, due);
  if (const auto at = time_threshold_at(); at && *at <= now.steady) {
    reapply_thresholds(now.steady);
    due.push_back(Trigger::TimeThreshold);
  }
  pass_quota_times(now.steady, due);
  if (period_at_ && *period_at_ <= now.steady) {
    due.push_back(Trigger::Periodic);
    // In phase, unless we come so late that a period was missed.
    *period_at_ += of(*rule_.period);
    if (*period_at_ <= now.steady) period_at_ = now.steady + of(*rule_.period);
  }
  return due;
}

void UrrState::pass_idle_time(TimePoint now, std::vector<Trigger>& due) {
  const auto at = idle_at();
  if (!at || *at > now) return;
  watch_.stop(*at);
  active_ = false;
  start_reported_ = false;
  ++start_generation_;
  if (rule_.triggers.stop_of_traffic) due.push_back(Trigger::StopOfTraffic);
}

void UrrState::pass_quota_times(TimePoint now, std::vector<Trigger>& due) {
  if (const auto at = time_quota_at(); at && *at <= now) {
    time_used_up_ = true;
    if (rule_.triggers.time_quota) due.push_back(Trigger::TimeQuota);
  }
  if (const auto at = holding_ends(); at && *at <= now) {
    quota_void_ = true;
    due.push_back(Trigger::QuotaHoldingTime);
  }
  if (valid_until_ && *valid_until_ <= now) {
    valid_until_.reset();
    if (!exhausted()) due.push_back(Trigger::QuotaValidityTime);
    quota_void_ = true;
  }
  run_or_stop(now);
}

// What was counted so far is the part before (5.2.2.2: reported apart from what follows, with the
// next report). The Subsequent values are in force from now on, where they were given.
void UrrState::pass_monitoring_time(Now now) {
  monitoring_at_.reset();
  if (!before_) {
    before_ = make(Trigger::MonitoringTime, now);
    before_->part = Report::Part::BeforeMonitoringTime;
    split_ = true;
  }
  if (rule_.subsequent_volume_threshold) {
    rule_.volume_threshold = std::exchange(rule_.subsequent_volume_threshold, std::nullopt);
    set_volume_threshold();
  }
  if (rule_.subsequent_time_threshold) {
    rule_.time_threshold = std::exchange(rule_.subsequent_time_threshold, std::nullopt);
    threshold_from_ = watch_.total(now.steady);
  }
  if (rule_.subsequent_volume_quota) {
    rule_.volume_quota = std::exchange(rule_.subsequent_volume_quota, std::nullopt);
    grant_volume();
  }
  if (rule_.subsequent_time_quota) {
    rule_.time_quota = std::exchange(rule_.subsequent_time_quota, std::nullopt);
    grant_time(now.steady);
  }
  run_or_stop(now.steady);
}

void UrrState::reapply_thresholds(TimePoint now) {
  arm_notify({});
  threshold_from_ = watch_.total(now);
}

void UrrState::saw_traffic(TimePoint first, TimePoint last) {
  last_traffic_ = std::max(last_traffic_, last);
  if (active_) return;
  active_ = true;
  if (rule_.measure_duration && !rule_.inactive && !exhausted()) watch_.start(first);
}

void UrrState::run_or_stop(TimePoint now) {
  if (rule_.measure_duration && !rule_.inactive && !exhausted() && active_) {
    watch_.start(now);
  } else if (watch_.running()) {
    watch_.stop(now);
  }
}

std::optional<TimePoint> UrrState::idle_at() const {
  const bool stop = rule_.triggers.stop_of_traffic;
  const bool idle = rule_.measure_duration && rule_.inactivity_detection_time;
  if (!active_ || !(stop || idle)) return std::nullopt;
  const auto given = rule_.inactivity_detection_time;
  return last_traffic_ + (given.value_or(0) > 0 ? of(*given) : Duration{kDefaultIdle});
}

std::optional<TimePoint> UrrState::holding_ends() const {
  const bool asked = rule_.triggers.quota_holding_time && rule_.quota_holding_time.value_or(0) > 0;
  if (!asked || !has_quota() || exhausted()) return std::nullopt;
  return std::max(last_traffic_, granted_) + of(*rule_.quota_holding_time);
}

std::optional<TimePoint> UrrState::time_threshold_at() const {
  if (!rule_.triggers.time_threshold || rule_.time_threshold.value_or(0) == 0) return std::nullopt;
  return watch_.reaches(threshold_from_ + of(*rule_.time_threshold));
}

std::optional<TimePoint> UrrState::time_quota_at() const {
  if (!rule_.time_quota || time_used_up_) return std::nullopt;
  return watch_.reaches(quota_from_ + of(*rule_.time_quota));
}

std::optional<TimePoint> UrrState::wake() const {
  std::optional<TimePoint> earliest = period_at_;
  keep_earlier(earliest, valid_until_);
  keep_earlier(earliest, monitoring_at_);
  keep_earlier(earliest, idle_at());
  keep_earlier(earliest, holding_ends());
  keep_earlier(earliest, time_threshold_at());
  keep_earlier(earliest, time_quota_at());
  return earliest;
}

void UrrState::report(Trigger trigger, Now now, std::vector<Report>& out) {
  if (before_) out.push_back(*std::exchange(before_, std::nullopt));
  out.push_back(make(trigger, now));
  if (std::exchange(split_, false)) out.back().part = Report::Part::AfterMonitoringTime;
}

Report UrrState::make(Trigger trigger, Now now) {
  Report report{.urr = rule_.id,
                .sequence = sequence_++,
                .trigger = trigger,
                .octets = counts_.octets,
                .packets = counts_.packets,
                .with_packets = rule_.with_packet_counts,
                .first_packet = counts_.first_packet,
                .last_packet = counts_.last_packet,
                .before_qos = rule_.before_qos};
  // Tables 7.5.5.2-1 and 7.5.8.3-1: no times with the start and the stop of traffic.
  if (trigger != Trigger::StartOfTraffic && trigger != Trigger::StopOfTraffic) {
    report.start = since_;
    report.end = now.wall;
  }
  if (rule_.measure_duration) {
    // Whole seconds; what is left over comes with the next report.
    const auto whole =
        std::chrono::floor<seconds>(std::max(watch_.total(now.steady) - reported_, Duration{}));
    report.duration_s = static_cast<std::uint32_t>(whole.count());
    reported_ += whole;
  }
  counts_ = {};
  since_ = now.wall;
  return report;
}

rules::Urr UrrState::armed() const {
  const bool start_asked = rule_.triggers.start_of_traffic && !start_reported_;
  const bool start_needed = (rule_.measure_duration || rule_.triggers.stop_of_traffic) && !active_;
  return {.id = rule_.id,
          .before_qos = rule_.before_qos,
          .notify_at = notify_,
          .block_at = exhausted() ? std::nullopt : block_,
          .blocked = exhausted() && !rule_.quota_action,
          .notify_start = start_asked || start_needed,
          .start_generation = start_generation_,
          .notify_dropped = drops_};
}

}  // namespace upf::usage

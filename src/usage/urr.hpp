#pragma once

#include <optional>
#include <vector>

#include "upf/dataplane/data_plane.hpp"
#include "upf/rules/usage_rule.hpp"
#include "upf/usage/report.hpp"

namespace upf::usage {

using Duration = Clock::duration;

/// A time of the wall on the steady clock, not later than now.
[[nodiscard]] inline TimePoint steady_time(WallTime at, Now now) {
  if (at >= now.wall) return now.steady;
  return now.steady - std::chrono::duration_cast<Duration>(now.wall - at);
}

/// Measures time while it runs.
class Stopwatch {
 public:
  void start(TimePoint at) {
    if (!since_) since_ = at;
  }
  void stop(TimePoint at) {
    total_ = total(at);
    since_.reset();
  }
  [[nodiscard]] bool running() const { return since_.has_value(); }
  [[nodiscard]] Duration total(TimePoint at) const {
    return since_ && at > *since_ ? total_ + (at - *since_) : total_;
  }
  /// When the total will be `goal`; nothing while it stands still.
  [[nodiscard]] std::optional<TimePoint> reaches(Duration goal) const {
    if (!since_) return std::nullopt;
    return *since_ + (goal - total_);
  }

 private:
  Duration total_{};
  std::optional<TimePoint> since_{};
};

/// What was counted and isn't reported yet.
struct Counts {
  rules::Volume octets{};
  rules::Volume packets{};
  std::optional<WallTime> first_packet{};
  std::optional<WallTime> last_packet{};
};

/// One URR of one session. The member functions are the events of its life; wake() says when the
/// clock matters next.
class UrrState {
 public:
  /// `created`: what Create URR said. `predecessor`: the URR of the same ID that it replaces in the
  /// plane, whose generations must not come again.
  UrrState(const rules::UsageUpdate& created, Now now, const UrrState* predecessor = nullptr);

  void update(const rules::UsageUpdate& update, Now now);
  /// Takes over what a plane has counted.
  void add(const dataplane::Reading& reading, Now now);

  /// A limit that the plane was armed with; nothing if it is an old one, or nobody asked.
  [[nodiscard]] std::optional<Trigger> on_limit(const dataplane::LimitReached& event, Now now);
  [[nodiscard]] std::optional<Trigger> on_start(WallTime at, Now now);
  /// Events may have been lost: what they would have said, as far as readings show it. Add a fresh
  /// reading first. An event that comes after all is an old one.
  [[nodiscard]] std::vector<Trigger> on_overrun(Now now);
  /// What the clock has made due. Add a fresh reading first.
  [[nodiscard]] std::vector<Trigger> on_timer(Now now);
  [[nodiscard]] std::optional<TimePoint> wake() const;

  /// Appends a report of what wasn't reported yet: two if the Monitoring Time lies in between.
  void report(Trigger trigger, Now now, std::vector<Report>& out);

  [[nodiscard]] const rules::UsageRule& rule() const { return rule_; }
  /// Packets are not let through for want of quota.
  [[nodiscard]] bool exhausted() const { return volume_used_up_ || time_used_up_ || quota_void_; }
  /// What the plane has to do for it.
  [[nodiscard]] rules::Urr armed() const;

 private:
  void arm_notify(const rules::Volume& used);
  void arm_drops();
  void set_volume_threshold();
  [[nodiscard]] std::optional<Trigger> use_up_volume(TimePoint now);
  void grant_volume();
  void grant_time(TimePoint now);
  void set_times(const rules::UsageGrant& grant, Now now);
  void reapply_thresholds(TimePoint now);
  void pass_monitoring_time(Now now);
  void pass_idle_time(TimePoint now, std::vector<Trigger>& due);
  void pass_quota_times(TimePoint now, std::vector<Trigger>& due);
  void saw_traffic(TimePoint first, TimePoint last);
  void run_or_stop(TimePoint now);
  [[nodiscard]] bool has_quota() const { return rule_.volume_quota || rule_.time_quota; }
  [[nodiscard]] std::optional<TimePoint> idle_at() const;
  [[nodiscard]] std::optional<TimePoint> holding_ends() const;
  [[nodiscard]] std::optional<TimePoint> time_threshold_at() const;
  [[nodiscard]] std::optional<TimePoint> time_quota_at() const;
  [[nodiscard]] Report make(Trigger trigger, Now now);

  rules::UsageRule rule_;
  Counts counts_{};
  std::optional<Report> before_{};  ///< the part before the Monitoring Time, not sent yet
  bool split_{};                    ///< what is counted now comes after the Monitoring Time
  WallTime since_{};                ///< of the last report
  std::uint32_t sequence_{};

  std::uint32_t generation_{};
  std::optional<rules::VolumeLimit> notify_{};
  std::optional<rules::VolumeLimit> block_{};
  rules::Volume since_notify_{};  ///< read since the limit was armed
  rules::Volume since_block_{};
  std::optional<rules::DropLimit> drops_{};
  std::uint64_t dropped_packets_{};  ///< read since the limit was armed
  std::uint64_t dropped_octets_{};
  bool volume_used_up_{};
  bool time_used_up_{};
  bool quota_void_{};  ///< unused for too long, or no longer valid

  Stopwatch watch_{};
  Duration reported_{};        ///< how much of the watch's total is in reports
  Duration threshold_from_{};  ///< from where on it counts for the time threshold
  Duration quota_from_{};

  bool active_{};  ///< traffic has begun and not stopped since
  TimePoint last_traffic_{};
  bool start_reported_{};
  std::uint32_t start_generation_{1};

  std::optional<TimePoint> period_at_{};
  std::optional<TimePoint> valid_until_{};
  TimePoint granted_{};
  std::optional<TimePoint> monitoring_at_{};
};

}  // namespace upf::usage

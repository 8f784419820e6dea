#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/rules/rules.hpp"
#include "upf/rules/usage_rule.hpp"
#include "upf/usage/report.hpp"

/// Usage of all sessions: triggers, periods, thresholds, quotas and reports, the same for every
/// plane. The planes count, watch the limits that are armed and block; nothing else.
namespace upf::usage {

struct SessionReports {
  Seid seid{};
  std::vector<Report> reports{};
};

/// What an event or the clock brought about.
struct Outcome {
  std::vector<SessionReports> reports{};  ///< one Session Report Request each
  /// Sessions whose URRs are armed or blocked anew: apply their rules again, after arm().
  std::vector<Seid> rearmed{};
  std::vector<Seid> inactive{};  ///< user plane inactivity, one UPIR each
};

/// Takes readings from the plane, of the URRs named. What it can't read it leaves out; nothing is
/// lost by that, as the next reading has it.
using Reader =
    std::function<std::vector<dataplane::Reading>(Seid seid, std::span<const UrrId> urrs)>;

/// A session's usage: one value that is copied, changed and put back.
struct SessionUsage;

/// A change that is thought through but not in the plane yet.
class Prepared {
 public:
  /// The URR by which arm() sees whether a session with a User Plane Inactivity Timer has traffic.
  /// Its top bit is the mark of rules that the UP function makes itself (TS 29.244 8.2.54).
  static constexpr UrrId kActivityUrr{0xffffffff};

  Prepared();
  Prepared(Prepared&&) noexcept;
  Prepared& operator=(Prepared&&) noexcept;
  ~Prepared();

  /// Fills rules.urrs, and where a FAR for Quota Action is in force, puts it into the PDRs.
  void arm(rules::SessionRules& rules) const;

 private:
  friend class Engine;
  Seid seid_{};
  rules::UsageChange change_{};
  std::unique_ptr<SessionUsage> next_;
};

/// How a request is served:
///
///     auto prepared = engine.prepare(seid, plan.usage, now, reader);
///     prepared.arm(after);                       // after: the rules that the plane is to have
///     auto applied = plane.apply({... &after ... .query = plan.query});
///     if (applied) reports = engine.commit(std::move(prepared), applied->readings, now);
///
/// If the plane refuses, `prepared` is dropped: usage goes on as before, and what was read in
/// between is kept.
class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Prepared prepare(Seid seid, const rules::UsageChange& change, Now now,
                                 const Reader& read);
  /// `readings`: what the change brought back. Returns the reports that belong into the answer:
  /// final and immediate ones, and those linked with them.
  [[nodiscard]] std::vector<Report> commit(Prepared prepared,
                                           std::span<const dataplane::Reading> readings, Now now);

  /// The same as Prepared::arm, for a session as it is.
  void arm(Seid seid, rules::SessionRules& rules) const;

  [[nodiscard]] Outcome on_limit(const dataplane::LimitReached& event, Now now, const Reader& read);
  [[nodiscard]] Outcome on_start(const dataplane::TrafficStart& event, Now now, const Reader& read);
  [[nodiscard]] Outcome on_timer(Now now, const Reader& read);
  /// Events were lost: reads everything, and reports what they would have made due.
  [[nodiscard]] Outcome on_overrun(Now now, const Reader& read);
  /// When on_timer has something to do next.
  [[nodiscard]] std::optional<TimePoint> wake_at() const;

  /// Forgets a session without reports (its CP function is gone).
  void drop(Seid seid);
  [[nodiscard]] std::size_t urr_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace upf::usage

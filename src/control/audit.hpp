#pragma once

#include <optional>
#include <vector>

#include "src/control/core.hpp"
#include "src/control/sessions.hpp"
#include "upf/control/audit.hpp"

namespace upf::control {

/// Compares what the plane holds with what it was given, a slice of the sessions at a time: at
/// start, when asked, and slowly in the background.
class Audit {
 public:
  Audit(Core& core, const Sessions& sessions) : core_(core), sessions_(sessions) {}

  /// Begins a pass; one that runs in the background gives way. False: one that was asked for runs.
  bool start(AuditReason reason, bool repair);
  /// After the settings have changed.
  void schedule();
  void on_timer();
  [[nodiscard]] std::optional<TimePoint> wake_at() const { return next_; }
  [[nodiscard]] const AuditState& state() const { return state_; }

 private:
  void slice();
  void compare(Seid seid);
  void look_for_strays();
  void take(const dataplane::Audited& found);
  void fail(const dataplane::Failure& failure);
  void finish();

  Core& core_;
  const Sessions& sessions_;
  AuditState state_{};
  std::vector<Seid> seids_{};  ///< of the pass that runs
  std::size_t at_{};
  std::optional<TimePoint> next_{};
};

}  // namespace upf::control

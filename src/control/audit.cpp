// A pass never holds the control thread: a slice, then whatever waits on N4, then the next slice.
// In the background there is a pause between slices as well.
#include "src/control/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace upf::control {
namespace {

using dataplane::Drift;
using Level = LogRecord::Level;

constexpr std::size_t kSessionsASlice = 16;
constexpr std::chrono::milliseconds kPause{200};  // 80 sessions a second

std::string_view word(Drift::Kind kind) {
  constexpr std::string_view kWords[] = {"missing", "different", "foreign"};
  return kWords[static_cast<std::size_t>(kind)];
}

}  // namespace

bool Audit::start(AuditReason reason, bool repair) {
  AuditPass& pass = state_.pass;
  if (pass.running && pass.reason != AuditReason::Background) return false;
  seids_ = core_.store.all();
  at_ = 0;
  pass = {.reason = reason,
          .repair = repair,
          .running = true,
          .began = core_.now.wall,
          .of_sessions = seids_.size()};
  next_ = core_.now.steady;
  return true;
}

void Audit::schedule() {
  if (state_.pass.running) return;
  const auto interval = core_.settings.audit.interval;
  next_ = interval.count() == 0 ? std::nullopt : std::optional{core_.now.steady + interval};
}

void Audit::on_timer() {
  if (!next_ || core_.now.steady < *next_) return;
  if (!state_.pass.running) {
    (void)start(AuditReason::Background, core_.settings.audit.repair);
  }
  slice();
  if (!state_.pass.running) return;
  const bool slowly = state_.pass.reason == AuditReason::Background;
  next_ = core_.now.steady + (slowly ? kPause : std::chrono::milliseconds{0});
}

void Audit::slice() {
  if (at_ == seids_.size()) return look_for_strays();
  const std::size_t end = std::min(seids_.size(), at_ + kSessionsASlice);
  while (at_ < end && state_.pass.running) compare(seids_[at_++]);
}

void Audit::compare(Seid seid) {
  const auto session = core_.store.find(seid);
  // It has ended since; or the plane is asked again and again to let go of it.
  if (!session || sessions_.is_doomed(seid)) return;
  const auto found = core_.plane.audit(seid, session->installed, state_.pass.repair);
  if (!found) return fail(found.error());
  ++state_.pass.sessions;
  take(*found);
}

void Audit::look_for_strays() {
  const auto known = [this](Seid seid) { return core_.store.contains(seid); };
  const auto strays = core_.plane.audit_strays(known, state_.pass.repair);
  if (!strays) return fail(strays.error());
  take(strays->found);
  if (strays->done) finish();
}

void Audit::take(const dataplane::Audited& found) {
  AuditPass& pass = state_.pass;
  pass.rules += found.rules;
  state_.rules += found.rules;
  for (const Drift& drift : found.drifts) {
    const auto kind = static_cast<std::size_t>(drift.kind);
    ++pass.drift[kind];
    ++state_.drift[kind];
    pass.repaired += drift.repaired ? 1U : 0U;
    state_.repaired += drift.repaired ? 1U : 0U;
    if (pass.drifts.size() >= AuditPass::kMostKept) continue;
    pass.drifts.push_back(drift);
    core_.log({.level = drift.repaired ? Level::Warning : Level::Error,
               .text = fmt::format("{} in the data plane: {}{}", word(drift.kind), drift.what,
                                   drift.repaired ? ", repaired" : ""),
               .procedure = "audit",
               .seid = drift.seid});
  }
}

void Audit::fail(const dataplane::Failure& failure) {
  state_.pass.error = failure.detail;
  ++state_.failed_passes;
  core_.log({.level = Level::Warning,
             .text = "the audit ended early: " + failure.detail,
             .procedure = "audit"});
  finish();
}

void Audit::finish() {
  AuditPass& pass = state_.pass;
  pass.running = false;
  pass.ended = core_.now.wall;
  ++state_.passes;
  seids_ = {};
  const std::uint64_t drift = pass.drift[0] + pass.drift[1] + pass.drift[2];
  const bool quiet = drift == 0 && pass.reason != AuditReason::Asked;
  core_.log({.level = quiet ? Level::Debug : Level::Info,
             .text = fmt::format("audit done: sessions={} rules={} missing={} different={} "
                                 "foreign={} repaired={}",
                                 pass.sessions, pass.rules, pass.drift[0], pass.drift[1],
                                 pass.drift[2], pass.repaired),
             .procedure = "audit"});
  schedule();
}

}  // namespace upf::control

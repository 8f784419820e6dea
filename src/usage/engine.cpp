#include "upf/usage/engine.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/usage/urr.hpp"

// The usage of all sessions. A session's usage is one value: a request works on a copy of it, which
// replaces it once the plane has taken the change. Readings, though, can't be taken back, so they
// are always added to the value that is in force.
//
// Time: each session that waits for the clock is once in `wakes`, an ordered set, so that the cost
// of a tick is in proportion to what is due.

namespace upf::usage {

struct SessionUsage {
  std::map<UrrId, UrrState> urrs{};
  std::optional<std::uint32_t> inactivity_timer{};
  TimePoint last_traffic{};
  std::optional<TimePoint> activity_check{};
  bool told_inactive{};
  std::optional<TimePoint> wakes_at{};  ///< its entry in State::wakes
};

struct Engine::State {
  std::unordered_map<Seid, SessionUsage> sessions{};
  std::set<std::pair<TimePoint, Seid>> wakes{};

  SessionUsage* find(Seid seid) {
    const auto at = sessions.find(seid);
    return at == sessions.end() ? nullptr : &at->second;
  }
};

namespace {

constexpr UrrId kActivity = Prepared::kActivityUrr;

Duration seconds(std::uint32_t s) { return std::chrono::seconds{s}; }

std::optional<TimePoint> wake(const SessionUsage& usage) {
  std::optional<TimePoint> earliest = usage.activity_check;
  for (const auto& [id, urr] : usage.urrs) {
    const auto at = urr.wake();
    if (at && (!earliest || *at < *earliest)) earliest = at;
  }
  return earliest;
}

std::vector<rules::Urr> armed(const SessionUsage& usage) {
  std::vector<rules::Urr> urrs;
  for (const auto& [id, urr] : usage.urrs) urrs.push_back(urr.armed());
  if (usage.inactivity_timer && !usage.urrs.contains(kActivity)) {
    urrs.push_back({.id = kActivity});
  }
  return urrs;
}

/// Whether the plane has to be told of what has become of this.
bool same_for_plane(const SessionUsage& usage, const std::vector<rules::Urr>& before) {
  return armed(usage) == before;
}

void arm_rules(const SessionUsage& usage, rules::SessionRules& rules) {
  rules.urrs = armed(usage);
  for (auto& pdr : rules.pdrs) {
    const auto paused = [&](UrrId id) {
      const auto at = usage.urrs.find(id);
      return at != usage.urrs.end() && at->second.rule().inactive;
    };
    for (const UrrId id : pdr.urrs) {
      const auto at = usage.urrs.find(id);
      if (at == usage.urrs.end() || !at->second.exhausted()) continue;
      const auto& action = at->second.rule().quota_action;
      if (action && rules::find(rules.fars, *action) != nullptr) pdr.far = *action;
    }
    std::erase_if(pdr.urrs, paused);
    if (usage.inactivity_timer && !usage.urrs.contains(kActivity)) pdr.urrs.push_back(kActivity);
  }
}

void take(SessionUsage& usage, std::span<const dataplane::Reading> readings, Now now) {
  for (const auto& reading : readings) {
    if (reading.octets.total() + reading.packets.total() > 0) {
      usage.last_traffic =
          std::max(usage.last_traffic, steady_time(reading.last_packet.value_or(now.wall), now));
      usage.told_inactive = false;
    }
    const auto at = usage.urrs.find(reading.urr);
    if (at != usage.urrs.end()) at->second.add(reading, now);
  }
}

/// URRs that want a report when one of `reported` has one (LIUSA), and have none yet.
std::vector<UrrId> linked_with(const SessionUsage& usage, const std::set<UrrId>& reported) {
  std::vector<UrrId> linked;
  for (const auto& [id, urr] : usage.urrs) {
    if (!urr.rule().triggers.linked || reported.contains(id)) continue;
    const auto& to = urr.rule().linked;
    const auto is_reported = [&](UrrId other) { return reported.contains(other); };
    if (std::ranges::any_of(to, is_reported)) linked.push_back(id);
  }
  return linked;
}

}  // namespace

// --- Prepared ----------------------------------------------------------------------------------

Prepared::Prepared() = default;
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;

void Prepared::arm(rules::SessionRules& rules) const {
  if (next_) arm_rules(*next_, rules);
}

// --- requests ----------------------------------------------------------------------------------

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;

namespace {

/// URRs whose counts have to be known before the change: those whose thresholds or quotas are set
/// anew (what they have counted since the last report counts already), those that a new URR of the
/// same ID replaces, those that are paused or resumed, and those that a report in the answer is
/// linked with.
std::vector<UrrId> to_read_first(const SessionUsage& usage, const rules::UsageChange& change) {
  std::vector<UrrId> ids;
  for (const auto& update : change.updates) {
    const auto at = usage.urrs.find(update.rule.id);
    if (at == usage.urrs.end()) continue;
    const auto& grant = update.grant;
    const bool limits =
        grant.created || grant.volume_threshold || grant.volume_quota || grant.triggers;
    if (limits || update.rule.inactive != at->second.rule().inactive) ids.push_back(at->first);
  }
  std::set<UrrId> reported{change.queried.begin(), change.queried.end()};
  reported.insert(change.removed.begin(), change.removed.end());
  reported.insert(change.detached.begin(), change.detached.end());
  if (!reported.empty() && !change.ends) {
    const auto linked = linked_with(usage, reported);
    ids.insert(ids.end(), linked.begin(), linked.end());
  }
  return ids;
}

void set_inactivity(SessionUsage& usage, std::uint32_t timer, Now now) {
  usage.inactivity_timer = timer > 0 ? std::optional{timer} : std::nullopt;
  usage.last_traffic = now.steady;
  usage.told_inactive = false;
  usage.activity_check.reset();
  if (timer > 0) usage.activity_check = now.steady + seconds(timer);
}

}  // namespace

Prepared Engine::prepare(Seid seid, const rules::UsageChange& change, Now now, const Reader& read) {
  SessionUsage* usage = state_->find(seid);
  if (usage != nullptr) {
    const auto ids = to_read_first(*usage, change);
    if (!ids.empty() && read) take(*usage, read(seid, ids), now);
  }
  Prepared prepared;
  prepared.seid_ = seid;
  // Most requests say nothing of usage to a session that has none.
  if (usage == nullptr && change.updates.empty() && !change.inactivity_timer) return prepared;
  prepared.change_ = change;
  prepared.next_ = std::make_unique<SessionUsage>(usage != nullptr ? *usage : SessionUsage{});
  SessionUsage& next = *prepared.next_;
  // arm() must not see those that are removed; commit() takes their last state from what is in
  // force.
  for (const UrrId id : change.removed) next.urrs.erase(id);
  for (const auto& update : change.updates) {
    const UrrId id = update.rule.id;
    if (const auto at = next.urrs.find(id); at != next.urrs.end()) {
      at->second.update(update, now);
      continue;
    }
    const UrrState* predecessor = nullptr;
    if (usage != nullptr) {
      const auto old = usage->urrs.find(id);
      if (old != usage->urrs.end()) predecessor = &old->second;
    }
    next.urrs.try_emplace(id, update, now, predecessor);
  }
  if (change.inactivity_timer) set_inactivity(next, *change.inactivity_timer, now);
  return prepared;
}

std::vector<Report> Engine::commit(Prepared prepared, std::span<const dataplane::Reading> readings,
                                   Now now) {
  if (!prepared.next_) return {};
  const rules::UsageChange& change = prepared.change_;
  SessionUsage& next = *prepared.next_;
  std::vector<Report> reports;
  std::set<UrrId> reported;
  SessionUsage* before = state_->find(prepared.seid_);
  // Readings of a URR that is gone are its old state's, and its final report is the last of it.
  for (const UrrId id : change.removed) {
    if (before == nullptr) break;
    const auto at = before->urrs.find(id);
    if (at == before->urrs.end()) continue;
    const auto reading = std::ranges::find(readings, id, &dataplane::Reading::urr);
    if (reading != readings.end()) at->second.add(*reading, now);
    at->second.report(Trigger::Termination, now, reports);
    before->urrs.erase(at);
    reported.insert(id);
  }
  std::vector<dataplane::Reading> rest{readings.begin(), readings.end()};
  std::erase_if(rest, [&](const auto& r) { return reported.contains(r.urr); });
  take(next, rest, now);
  const auto report = [&](UrrId id, Trigger trigger) {
    const auto at = next.urrs.find(id);
    if (at == next.urrs.end() || !reported.insert(id).second) return;
    const std::size_t first = reports.size();
    at->second.report(trigger, now, reports);
    for (std::size_t i = first; trigger == Trigger::Immediate && i < reports.size(); ++i) {
      reports[i].query_reference = change.query_reference;
    }
  };
  for (const UrrId id : change.detached) report(id, Trigger::Termination);
  for (const UrrId id : change.queried) report(id, Trigger::Immediate);
  if (change.ends) {
    for (const auto& [id, urr] : next.urrs) report(id, Trigger::Termination);
  } else {
    for (const UrrId id : linked_with(next, reported)) report(id, Trigger::Linked);
  }
  if (before != nullptr && before->wakes_at)
    state_->wakes.erase({*before->wakes_at, prepared.seid_});
  if (change.ends) {
    state_->sessions.erase(prepared.seid_);
    return reports;
  }
  next.wakes_at = wake(next);
  if (next.wakes_at) state_->wakes.emplace(*next.wakes_at, prepared.seid_);
  state_->sessions.insert_or_assign(prepared.seid_, std::move(next));
  return reports;
}

void Engine::arm(Seid seid, rules::SessionRules& rules) const {
  if (const SessionUsage* usage = state_->find(seid); usage != nullptr) arm_rules(*usage, rules);
}

// --- events and the clock ----------------------------------------------------------------------

namespace {

using Due = std::vector<std::pair<UrrId, Trigger>>;

/// Reports what is due and what is linked with it, which is read first.
void report_due(SessionUsage& usage, Seid seid, const Due& due, Now now, const Reader& read,
                Outcome& outcome) {
  if (due.empty()) return;
  SessionReports out{.seid = seid};
  std::set<UrrId> reported;
  for (const auto& [id, trigger] : due) {
    usage.urrs.at(id).report(trigger, now, out.reports);
    reported.insert(id);
  }
  const auto linked = linked_with(usage, reported);
  if (!linked.empty() && read) take(usage, read(seid, linked), now);
  for (const UrrId id : linked) usage.urrs.at(id).report(Trigger::Linked, now, out.reports);
  outcome.reports.push_back(std::move(out));
}

/// What has to be read before the clock is looked at: whatever is due itself.
std::vector<UrrId> to_read(const SessionUsage& usage, TimePoint now) {
  std::vector<UrrId> ids;
  for (const auto& [id, urr] : usage.urrs) {
    const auto at = urr.wake();
    if (at && *at <= now) ids.push_back(id);
  }
  const bool checks = usage.activity_check && *usage.activity_check <= now;
  if (checks && !usage.urrs.contains(kActivity)) ids.push_back(kActivity);
  return ids;
}

/// true: the session has been idle for its User Plane Inactivity Timer, which wasn't said yet.
bool became_inactive(SessionUsage& usage, TimePoint now) {
  if (!usage.activity_check || *usage.activity_check > now) return false;
  const Duration timer = seconds(*usage.inactivity_timer);
  const bool idle = usage.last_traffic + timer <= now;
  usage.activity_check = idle ? now + timer : usage.last_traffic + timer;
  return idle && !std::exchange(usage.told_inactive, true);
}

}  // namespace

/// Runs `act` on a session's usage, and keeps the clock and the plane informed.
template <class Act>
void on_session(auto& state, Seid seid, Outcome& outcome, Act act) {
  SessionUsage* usage = state.find(seid);
  if (usage == nullptr) return;
  const auto before = armed(*usage);
  act(*usage);
  if (!same_for_plane(*usage, before)) outcome.rearmed.push_back(seid);
  if (usage->wakes_at) state.wakes.erase({*usage->wakes_at, seid});
  usage->wakes_at = wake(*usage);
  if (usage->wakes_at) state.wakes.emplace(*usage->wakes_at, seid);
}

Outcome Engine::on_limit(const dataplane::LimitReached& event, Now now, const Reader& read) {
  Outcome outcome;
  on_session(*state_, event.seid, outcome, [&](SessionUsage& usage) {
    usage.last_traffic = now.steady;
    const auto at = usage.urrs.find(event.reading.urr);
    if (at == usage.urrs.end()) return;
    const auto trigger = at->second.on_limit(event, now);
    if (trigger) report_due(usage, event.seid, {{at->first, *trigger}}, now, read, outcome);
  });
  return outcome;
}

Outcome Engine::on_start(const dataplane::TrafficStart& event, Now now, const Reader& read) {
  Outcome outcome;
  on_session(*state_, event.seid, outcome, [&](SessionUsage& usage) {
    usage.last_traffic = now.steady;
    const auto at = usage.urrs.find(event.urr);
    if (at == usage.urrs.end()) return;
    const auto trigger = at->second.on_start(event.at, now);
    if (trigger) report_due(usage, event.seid, {{at->first, *trigger}}, now, read, outcome);
  });
  return outcome;
}

Outcome Engine::on_timer(Now now, const Reader& read) {
  Outcome outcome;
  std::vector<Seid> due_sessions;
  for (const auto& [at, seid] : state_->wakes) {
    if (at > now.steady) break;
    due_sessions.push_back(seid);
  }
  for (const Seid seid : due_sessions) {
    on_session(*state_, seid, outcome, [&](SessionUsage& usage) {
      const auto ids = to_read(usage, now.steady);
      if (!ids.empty() && read) take(usage, read(seid, ids), now);
      Due due;
      for (auto& [id, urr] : usage.urrs) {
        const auto at = urr.wake();
        if (!at || *at > now.steady) continue;
        for (const Trigger trigger : urr.on_timer(now)) due.emplace_back(id, trigger);
      }
      report_due(usage, seid, due, now, read, outcome);
      if (became_inactive(usage, now.steady)) outcome.inactive.push_back(seid);
    });
  }
  return outcome;
}

Outcome Engine::on_overrun(Now now, const Reader& read) {
  Outcome outcome;
  std::vector<Seid> seids;
  for (const auto& [seid, usage] : state_->sessions) seids.push_back(seid);
  for (const Seid seid : seids) {
    on_session(*state_, seid, outcome, [&](SessionUsage& usage) {
      std::vector<UrrId> ids;
      for (const auto& urr : armed(usage)) ids.push_back(urr.id);
      if (ids.empty()) return;
      if (read) take(usage, read(seid, ids), now);
      Due due;
      for (auto& [id, urr] : usage.urrs) {
        for (const Trigger trigger : urr.on_overrun(now)) due.emplace_back(id, trigger);
      }
      report_due(usage, seid, due, now, read, outcome);
    });
  }
  return outcome;
}

std::optional<TimePoint> Engine::wake_at() const {
  if (state_->wakes.empty()) return std::nullopt;
  return state_->wakes.begin()->first;
}

void Engine::drop(Seid seid) {
  const auto at = state_->sessions.find(seid);
  if (at == state_->sessions.end()) return;
  if (at->second.wakes_at) state_->wakes.erase({*at->second.wakes_at, seid});
  state_->sessions.erase(at);
}

std::size_t Engine::urr_count() const {
  std::size_t count = 0;
  for (const auto& [seid, usage] : state_->sessions) count += usage.urrs.size();
  return count;
}

}  // namespace upf::usage

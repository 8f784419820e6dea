// What the kernel counts. All volume of a URR comes from its meter, read here; thresholds and
// quotas are kernel rules of their own and only say that it is time to read (gtp5g reports 0 for a
// URR that has a threshold as well, and checks a quota only for one with a period).
#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/controller.hpp"
#include "netlink/gtp5g/requests.hpp"

namespace upf::gtp5g {

using dataplane::LimitReached;
using dataplane::Reading;

Reading Controller::take_unread(Session& session, UrrId urr) {
  Reading reading{.urr = urr};
  const auto at = session.unread.find(urr);
  if (at == session.unread.end()) return reading;
  add(reading, at->second.octets, at->second.packets);
  session.unread.erase(at);
  return reading;
}

Reading Controller::read_now(Seid seid, Session& session, UrrId urr) {
  const Step step{.seid = seid};
  auto readings = clean_up(session, step, {urr});
  const auto at = readings.find(urr);
  return at != readings.end() ? at->second : take_unread(session, urr);
}

void Controller::on_report(const Report& report) {
  const auto at = sessions_.find(report.seid);
  if (at == sessions_.end()) return;  // of another UPF on this host, or a session that is over
  const auto name = at->second.urr_names.find(report.urr);
  if (name == at->second.urr_names.end()) return;  // of a limit that was armed anew since
  const UrrKey key = name->second;
  Session& session = at->second;
  switch (key.role) {
    case UrrKey::Role::Meter:
      add(session.unread[key.urr], report.octets, report.packets);
      break;
    case UrrKey::Role::Threshold:
      on_threshold(report.seid, session, key);
      break;
    case UrrKey::Role::Quota:
      on_quota(report.seid, session, key);
      break;
    case UrrKey::Role::Start: {
      const std::uint32_t generation = session.installed.urrs.at(key).body.limit.generation;
      if (session.fired.started[key.urr] == generation) break;
      session.fired.started[key.urr] = generation;
      pending_.emplace_back(
          dataplane::TrafficStart{report.seid, key.urr, std::chrono::system_clock::now()});
      resync(report.seid, session);  // or each packet would say it again
      break;
    }
  }
}

// --- limits ----------------------------------------------------------------------------------

/// Limits that are new begin with what the meter says now; clean_up() reads it.
void Controller::arm(Session& session, const Installed& before) {
  for (const auto& [key, rule] : session.installed.urrs) {
    if (key.role != UrrKey::Role::Threshold && key.role != UrrKey::Role::Quota) continue;
    const auto at = session.armed.find(key);
    if (at != session.armed.end() && at->second.generation == rule.body.limit.generation) continue;
    session.armed[key] = {rule.body.limit.generation, session.metered[key.urr]};
    if (before.urrs.contains({key.urr, UrrKey::Role::Meter})) session.to_base.push_back(key);
  }
}

void Controller::count_here(Session& session, const rules::Pdr& pdr, const rules::Volume& octets) {
  const rules::Volume packets{octets.uplink == 0 ? 0U : 1U, octets.downlink == 0 ? 0U : 1U};
  for (const UrrId urr : pdr.urrs) {
    add(session.unread[urr], octets, packets);
    session.metered[urr].uplink += octets.uplink;
    session.metered[urr].downlink += octets.downlink;
    session.counted_here.insert(urr);
  }
}

/// A URR that counts before QoS from now on, or after it, is another kernel rule, whose limits have
/// what was counted so far behind them.
void Controller::keep_limits(const rules::SessionRules& before, Session& session) {
  for (const rules::Urr& urr : session.rules.urrs) {
    const rules::Urr* old = rules::find(before.urrs, urr.id);
    if (old != nullptr && old->before_qos != urr.before_qos) session.counted_here.insert(urr.id);
  }
}

namespace {

bool reached(const rules::VolumeLimit& limit, const rules::Volume& octets) {
  return (limit.total && octets.total() >= *limit.total) ||
         (limit.uplink && octets.uplink >= *limit.uplink) ||
         (limit.downlink && octets.downlink >= *limit.downlink);
}

}  // namespace

/// The daemon sent packets itself: limits of their URRs are reached now, or have less left than the
/// kernel knows.
void Controller::recount(Seid seid, Session& session) {
  bool changed = false;
  for (const UrrId id : std::exchange(session.counted_here, {})) {
    const rules::Urr* urr = rules::find(session.rules.urrs, id);
    if (urr == nullptr || (!urr->notify_at && !urr->block_at)) continue;
    const Reading reading = read_now(seid, session, id);
    add(session.unread[id], reading.octets, reading.packets);
    for (const UrrKey::Role role : {UrrKey::Role::Threshold, UrrKey::Role::Quota}) {
      const UrrKey key{id, role};
      const bool threshold = role == UrrKey::Role::Threshold;
      const auto& limit = threshold ? urr->notify_at : urr->block_at;
      if (!limit || !session.installed.urrs.contains(key)) continue;
      const rules::Volume& base = session.armed[key].base;
      const rules::Volume& all = session.metered[id];
      const rules::Volume octets{all.uplink - base.uplink, all.downlink - base.downlink};
      if (reached(*limit, octets)) {
        threshold ? on_threshold(seid, session, key) : on_quota(seid, session, key);
      } else {
        session.fired.counted[key] = {limit->generation, octets};
        changed = true;
      }
    }
  }
  if (changed) resync(seid, session);
}

void Controller::on_threshold(Seid seid, Session& session, const UrrKey& key) {
  const std::uint32_t generation = session.installed.urrs.at(key).body.limit.generation;
  const auto [fired, first] = session.fired.notified.try_emplace(key.urr, generation);
  if (!first && fired->second == generation) {
    // The kernel starts over at each threshold; ours are reached once. Disarmed only now: mostly
    // the control half arms the next one before there is a second time.
    resync(seid, session);
    return;
  }
  fired->second = generation;
  pending_.emplace_back(LimitReached{seid, LimitReached::Limit::Notify, generation,
                                     read_now(seid, session, key.urr)});
}

void Controller::on_quota(Seid seid, Session& session, const UrrKey& key) {
  const std::uint32_t generation = session.installed.urrs.at(key).body.limit.generation;
  session.fired.exhausted[key.urr] = generation;
  // The kernel turned these FARs to DROP when it reported. It is said again: they may have been
  // updated between its report and now.
  std::vector<Op> ops;
  for (auto& [far_key, far] : session.installed.fars) {
    const bool under = std::ranges::any_of(
        far_key.quotas, [&](const QuotaRef& quota) { return quota.urr == key.urr; });
    if (!under) continue;
    far.body.action = action::kDrop;
    session.kernel.fars[far_key].action = action::kDrop;
    ops.emplace_back(UpdateFar{far.id, far.body, false});
  }
  (void)send(seid, ops);
  pending_.emplace_back(
      LimitReached{seid, LimitReached::Limit::Block, generation, read_now(seid, session, key.urr)});
}

}  // namespace upf::gtp5g

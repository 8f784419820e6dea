// Changes, from the port to the kernel. A change is compiled, compared with what is installed, and
// sent in two or three steps (plan.hpp). Nothing that packets use is taken away before everything
// new is in; if the kernel refuses something new, what was done is taken back from our own state.
#include "netlink/gtp5g/controller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "netlink/gtp5g/requests.hpp"

namespace upf::gtp5g {

using dataplane::Applied;
using dataplane::Change;
using dataplane::Reading;
using dataplane::RuleId;
using Kind = dataplane::Failure::Kind;

namespace {

constexpr std::size_t kReceiveBuffer = 65536;
constexpr std::size_t kMostPdrNames = 4 * kMostKernelPdrs;
constexpr std::size_t kManyHeld = 16384;

Kind kind_of(int error) {
  if (error == ENOMEM || error == ENOBUFS) return Kind::NoResources;
  if (error == ENODEV || error == ETIMEDOUT) return Kind::Unavailable;
  return Kind::Refused;
}

/// The PFCP rule that a request is for.
std::optional<RuleId> rule_of(const KernelPlan& plan, const Op& op) {
  const auto named = [&](const auto& rules, std::uint32_t id, auto name) -> std::optional<RuleId> {
    for (const auto& [key, rule] : rules) {
      if (rule.id == id) return RuleId{name(key)};
    }
    return std::nullopt;
  };
  if (const auto* pdr = std::get_if<CreatePdr>(&op)) return RuleId{pdr->key.pdr};
  const auto far_name = [](const FarKey& key) { return key.far; };
  if (const auto* far = std::get_if<CreateFar>(&op))
    return named(plan.next.fars, far->id, far_name);
  if (const auto* far = std::get_if<UpdateFar>(&op))
    return named(plan.next.fars, far->id, far_name);
  if (const auto* qer = std::get_if<CreateQer>(&op)) {
    return named(plan.next.qers, qer->id, [](const QerKey& key) { return key.qers.front(); });
  }
  if (const auto* urr = std::get_if<CreateUrr>(&op)) {
    return named(plan.next.urrs, urr->id, [](const UrrKey& key) { return key.urr; });
  }
  return std::nullopt;
}

bool buffers(const rules::SessionRules& rules) {
  return std::ranges::any_of(rules.fars, [](const rules::Far& far) { return far.action.buffer; });
}

bool ends_quota(const Op& op) {
  const auto* urr = std::get_if<DeleteUrr>(&op);
  return urr != nullptr && urr->key.role == UrrKey::Role::Quota;
}

}  // namespace

Controller::Controller(Settings settings, Parts parts)
    : settings_(std::move(settings)),
      parts_(std::move(parts)),
      target_{parts_.socket->family().id, parts_.link.index},
      ids_(settings_.hash_size),
      held_(settings_.qer_hold),
      buffer_(settings_.buffer),
      paths_(settings_.echo),
      receive_buffer_(kReceiveBuffer) {
  wakeup_.watch(parts_.events->descriptor());
  wakeup_.watch(parts_.gtpu->descriptor());
}

Controller::~Controller() {
  parts_.gtpu->silence();
  if (parts_.socket->broken()) {
    // One more call would hang the exit as well. The socket stays open: the call that hangs may go
    // on one day, and on a link without a socket it would panic. Kept for good in a place that is
    // never destroyed, and that the leak sanitizer can see.
    using Kept = std::vector<decltype(parts_.gtpu)>;
    static Kept* const kept = std::make_unique<Kept>().release();
    kept->push_back(std::move(parts_.gtpu));
    return;
  }
  for (auto& [seid, session] : sessions_) end_quotas(seid, session);
  std::this_thread::sleep_for(kWalk);
  for (auto& [seid, session] : sessions_) {
    (void)send(seid, make_plan(seid, session.installed, {}, ids_).remove);
  }
  // The socket before the link: the module frees what uplink packets under way still use. Closing
  // it waits for all that are under way.
  parts_.gtpu.reset();
  while (held_.size() > 0) {
    (void)delete_qers(held_.take_due(TimePoint::max(), kQersAtOnce));
  }
  (void)parts_.host->remove_link(parts_.link);
}

std::vector<dataplane::Counter> Controller::counters() const {
  const auto now = [](std::size_t value) { return static_cast<std::uint64_t>(value); };
  return {
      {"gtp5g_kernel_requests", {}, parts_.socket->requests()},
      {"gtp5g_held_back", {}, parts_.socket->hazards()},
      {"gtp5g_kernel_refusals", {}, counts_.kernel_refusals},
      {"gtp5g_changes_undone", {}, counts_.undone},
      {"gtp5g_event_overruns", {}, counts_.overruns},
      {"gtp5g_strange_events", {}, counts_.strange_events},
      {"gtp5g_shared_qer_buckets", {}, ids_.shared_buckets()},
      {"waiting_packets", {}, now(buffer_.packets())},
      {"waiting_octets", {}, now(buffer_.octets())},
      {"buffered_packets_sent", {}, counts_.flushed},
      {"dropped_packets", "buffer", buffer_.dropped()},
      {"dropped_packets", "no_tunnel", counts_.no_tunnel},
      {"dropped_packets", "not_sent", counts_.not_sent},
      {"end_markers_sent", {}, counts_.end_markers},
      {"error_indications_received", {}, counts_.error_indications},
      {"echo_requests_received", {}, counts_.echo_requests},
      {"echo_responses_received", {}, counts_.echo_responses},
      {"gtpu_messages_ignored", {}, counts_.gtpu_ignored},
  };
}

/// What the kernel refused to let go of is left to the audit, as a stray: also a QER's number,
/// which else would look like one of ours for ever.
void Controller::forget(Seid seid, const Session& session) {
  for (const Op& op : session.leftovers) {
    if (const auto* qer = std::get_if<DeleteQer>(&op)) ids_.release_qer(seid, qer->id);
  }
  sessions_.erase(seid);
}

// --- the port --------------------------------------------------------------------------------

std::optional<Controller::Failure> Controller::refuse_early(const Change& change) const {
  if (parts_.socket->broken()) {
    return Failure{Kind::Unavailable, {}, "gtp5g: an earlier call to the kernel didn't return"};
  }
  if (change.after == nullptr) return std::nullopt;
  // The module looks TEIDs up without the local address, and finds the newest first.
  for (const rules::Pdr& pdr : change.after->pdrs) {
    if (!pdr.f_teid) continue;
    const auto owner = teids_.find(pdr.f_teid->teid);
    if (owner != teids_.end() && owner->second != change.seid) {
      return Failure{Kind::Refused, pdr.id, "TEID is in use by another session"};
    }
  }
  return std::nullopt;
}

Result<Applied, Controller::Failure> Controller::apply(const Change& change) {
  if (auto refusal = refuse_early(change)) return failure(std::move(*refusal));
  const CompileContext context{settings_.addresses.empty() ? Ipv4{} : settings_.addresses.front()};
  Session& session = sessions_[change.seid];
  Step step{.seid = change.seid, .after = change.after};
  const auto forget_if_new = [&] {
    if (session.installed.empty() && session.rules == rules::SessionRules{}) {
      forget(change.seid, session);
    }
  };
  if (change.after != nullptr) {
    auto compiled = compile(*change.after, session.fired, context);
    if (!compiled) {
      forget_if_new();
      return failure(compiled.error());
    }
    step.compiled = std::move(*compiled);
  }
  step.plan = make_plan(change.seid, session.installed, step.compiled.rules, ids_);
  step.flush = fars_to_flush(change);
  // Packets that came under the old rules are dealt with by the old rules.
  const bool buffering = buffers(session.rules);
  if (buffering) drain_events();

  if (auto ok = switch_over(session, step); !ok) {
    forget_if_new();
    return failure(ok.error());
  }
  const rules::SessionRules before = std::move(session.rules);
  adopt(session, step);
  index_teids(change.seid, &before, change.after);
  follow_buffering(change);
  if (buffering) drain_events();
  send_again();

  Applied applied{.warnings = std::move(step.compiled.warnings)};
  for (const auto& [urr, reading] : clean_up(session, step, change.query)) {
    applied.readings.push_back(reading);
  }
  send_end_markers(change, session);
  keep_limits(before, session);
  if (change.after == nullptr) {
    forget(change.seid, session);
  } else if (!session.counted_here.empty()) {
    recount(change.seid, session);
  }
  arm_wakeup();
  if (parts_.socket->broken()) {
    return failure(Failure{Kind::Unavailable, {}, "gtp5g: a call to the kernel didn't return"});
  }
  return applied;
}

// --- one step --------------------------------------------------------------------------------

Result<void, Controller::Failure> Controller::switch_over(Session& session, Step& step) {
  for (const auto& [key, pdr] : step.plan.next.pdrs) session.pdr_names[pdr.id] = key.pdr;
  if (step.flush.empty()) {
    std::vector<Op> all = step.plan.prepare;
    all.insert(all.end(), step.plan.switch_over.begin(), step.plan.switch_over.end());
    return run_ops(session, step, all);
  }
  if (auto ok = run_ops(session, step, step.plan.prepare); !ok) return ok;
  drain_events();
  flush(session, step);
  return run_ops(session, step, step.plan.switch_over);
}

/// Runs the requests. If one is refused, everything that the step did so far is taken back.
Result<void, Controller::Failure> Controller::run_ops(Session& session, Step& step,
                                                      const std::vector<Op>& ops) {
  if (ops.empty()) return {};
  std::vector<netlink::GenlRequest> requests;
  requests.reserve(ops.size());
  for (const Op& op : ops) requests.push_back(to_request(target_, step.seid, op));
  const auto answers = parts_.socket->transact(requests);
  if (!answers) {
    if (!parts_.socket->broken()) undo(session, step);
    const Kind kind = parts_.socket->broken() ? Kind::Unavailable : Kind::Refused;
    return failure(Failure{kind, {}, "gtp5g: " + answers.error().detail});
  }
  std::optional<Failure> first;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const int error = (*answers)[i].error;
    if (error == 0) {
      step.done.push_back(ops[i]);
      continue;
    }
    if (const auto* far = std::get_if<UpdateFar>(&ops[i])) step.failed_fars.insert(far->id);
    if (!first) first = why(step, ops[i], error);
  }
  if (!first) return {};
  ++counts_.kernel_refusals;
  undo(session, step);
  return failure(std::move(*first));
}

Controller::Failure Controller::why(const Step& step, const Op& op, int error) const {
  return Failure{kind_of(error), rule_of(step.plan, op),
                 std::string{"gtp5g: the kernel says "} + std::strerror(error)};
}

/// New PDRs go first, so that packets meet the old ones again; then FARs become what they were;
/// then the rest goes. A FAR whose update failed is gone (the module deletes what it can't update):
/// it is made anew under its number, which ties it to its PDRs again.
void Controller::undo(Session& session, const Step& step) {
  ++counts_.undone;
  std::vector<Op> ops = undo_of(step.done);
  std::vector<Op> fars;
  for (const CreateFar& before : step.plan.updated_fars) {
    const bool updated = std::ranges::any_of(step.done, [&](const Op& op) {
      const auto* update = std::get_if<UpdateFar>(&op);
      return update != nullptr && update->id == before.id;
    });
    if (step.failed_fars.contains(before.id)) {
      fars.emplace_back(before);
    } else if (updated) {
      fars.emplace_back(UpdateFar{before.id, before.body, true});
    }
  }
  const auto rest = std::ranges::find_if(
      ops, [](const Op& op) { return !std::holds_alternative<DeletePdr>(op); });
  ops.insert(rest, fars.begin(), fars.end());
  if (const auto answers = send(step.seid, ops)) settle_undo(session, step, ops, *answers);
  for (const Op& op : step.plan.prepare) {
    const auto* qer = std::get_if<CreateQer>(&op);
    const bool made = std::ranges::find(step.done, op) != step.done.end();  // and held by now
    if (qer != nullptr && !made) ids_.release_qer(step.seid, qer->id);
  }
}

/// What undo couldn't do exactly is written into what we believe is installed, so that the next
/// plan mends it: a FAR that isn't there, or one that kept a tunnel that an update can't take away.
void Controller::settle_undo(Session& session, const Step& step, const std::vector<Op>& ops,
                             const std::vector<netlink::Answer>& answers) {
  const auto by_id = [](auto& fars, std::uint32_t id) {
    return std::ranges::find_if(fars, [&](const auto& far) { return far.second.id == id; });
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const int error = answers[i].error;
    const auto* update = std::get_if<UpdateFar>(&ops[i]);
    const auto* create = std::get_if<CreateFar>(&ops[i]);
    if (update == nullptr && create == nullptr) {
      if (error != 0 && error != ENOENT) session.leftovers.push_back(ops[i]);
      continue;
    }
    const auto far = by_id(session.installed.fars, update != nullptr ? update->id : create->id);
    if (far == session.installed.fars.end()) continue;
    if (error != 0) {
      session.installed.fars.erase(far);
    } else if (update != nullptr) {
      const auto wanted = by_id(step.plan.next.fars, update->id);
      KernelFar& body = far->second.body;
      if (!body.tunnel) body.tunnel = wanted->second.body.tunnel;
      if (body.mark == 0) body.mark = wanted->second.body.mark;
    }
  }
}

/// Runs those of the requests.
bool Controller::send_some(Seid seid, const std::vector<Op>& ops,
                           const std::vector<std::size_t>& which,
                           std::vector<netlink::Answer>& answers) {
  if (which.empty()) return true;
  std::vector<netlink::GenlRequest> requests;
  requests.reserve(which.size());
  for (const std::size_t i : which) requests.push_back(to_request(target_, seid, ops[i]));
  auto part = parts_.socket->transact(requests);
  if (!part) return false;
  for (std::size_t i = 0; i < which.size(); ++i) answers[which[i]] = std::move((*part)[i]);
  return true;
}

/// The packet that uses a quota up walks a list of PDRs whose entries are freed at once when their
/// PDR goes. So the quota goes first, and a walk that has begun gets more time than it takes.
///
/// Deletions of QERs are held back; refused (EBUSY) if a PDR stays that may use them.
std::optional<std::vector<netlink::Answer>> Controller::send(Seid seid,
                                                             const std::vector<Op>& ops) {
  std::vector<netlink::Answer> answers(ops.size());
  std::vector<std::size_t> quotas;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (std::holds_alternative<DeleteQer>(ops[i])) continue;
    (ends_quota(ops[i]) ? quotas : others).push_back(i);
  }
  if (!send_some(seid, ops, quotas, answers)) return std::nullopt;
  if (!quotas.empty()) std::this_thread::sleep_for(kWalk);
  if (!send_some(seid, ops, others, answers)) return std::nullopt;
  bool free = true;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const bool stays = answers[i].error != 0 && answers[i].error != ENOENT;
    if (stays && std::holds_alternative<DeletePdr>(ops[i])) free = false;
  }
  std::vector<RuleName> unused;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto* qer = std::get_if<DeleteQer>(&ops[i]);
    if (qer == nullptr) continue;
    answers[i].error = free ? 0 : EBUSY;
    if (free) unused.push_back({RuleName::Kind::Qer, seid, qer->id});
  }
  if (!unused.empty()) hold(unused);
  return answers;
}

/// Before all sessions end: the wait is one for all.
void Controller::end_quotas(Seid seid, Session& session) {
  std::vector<netlink::GenlRequest> requests;
  std::erase_if(session.installed.urrs, [&](const auto& urr) {
    const DeleteUrr op{urr.second.id, urr.first};
    if (!ends_quota(op)) return false;
    requests.push_back(to_request(target_, seid, op));
    return true;
  });
  if (!requests.empty()) (void)parts_.socket->transact(requests);
}

void Controller::hold(std::span<const RuleName> qers) {
  // Wake-ups keep up with all but sessions of many QERs at full load. There a change takes two for
  // each that it adds, so that there are never more than these or those of the last second.
  if (held_.size() + qers.size() > kManyHeld) delete_held(2 * qers.size());
  const bool first = held_.size() == 0;
  for (const RuleName& qer : qers) held_.add(Clock::now(), qer);
  if (first) arm_wakeup();
}

/// What the kernel refuses is held anew.
void Controller::delete_held(std::size_t most) {
  for (const RuleName& refused : delete_qers(held_.take_due(Clock::now(), most))) {
    held_.add(Clock::now(), refused);
  }
}

/// Those that the kernel refused to delete; none if it is asked nothing more.
std::vector<RuleName> Controller::delete_qers(std::vector<RuleName> qers) {
  if (qers.empty()) return qers;
  std::vector<netlink::GenlRequest> requests;
  requests.reserve(qers.size());
  for (const RuleName& qer : qers) {
    requests.push_back(to_request(target_, qer.seid, DeleteQer{qer.id}));
  }
  const auto answers = parts_.socket->transact(requests);
  std::vector<RuleName> refused;
  if (!answers) return parts_.socket->broken() ? refused : qers;
  for (std::size_t i = 0; i < qers.size(); ++i) {
    const int error = (*answers)[i].error;
    if (error == 0 || error == ENOENT) {
      ids_.release_qer(qers[i].seid, qers[i].id);
    } else {
      ++counts_.kernel_refusals;
      refused.push_back(qers[i]);
    }
  }
  return refused;
}

void Controller::adopt(Session& session, Step& step) {
  session.rules = step.after != nullptr ? *step.after : rules::SessionRules{};
  session.kernel = step.compiled.rules;
  const Installed before = std::exchange(session.installed, step.plan.next);
  arm(session, before);
  follow_peers(before, session.installed);
  const auto gone = [&](const auto& entry) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(entry.first)>, UrrKey>) {
      return rules::find(session.rules.urrs, entry.first.urr) == nullptr;
    } else {
      return rules::find(session.rules.urrs, entry.first) == nullptr;
    }
  };
  std::erase_if(session.metered, gone);
  std::erase_if(session.armed, gone);
  std::erase_if(session.fired.counted, gone);
  std::erase_if(session.fired.notified, gone);
  std::erase_if(session.fired.exhausted, gone);
  std::erase_if(session.fired.started, gone);
  session.urr_names.clear();
  for (const auto& [key, urr] : session.installed.urrs) session.urr_names.emplace(urr.id, key);
  if (session.pdr_names.size() > kMostPdrNames) {
    session.pdr_names.clear();
    for (const auto& [key, pdr] : session.installed.pdrs) session.pdr_names[pdr.id] = key.pdr;
  }
}

void Controller::index_teids(Seid seid, const rules::SessionRules* before,
                             const rules::SessionRules* after) {
  if (before != nullptr) {
    for (const rules::Pdr& pdr : before->pdrs) {
      if (pdr.f_teid) teids_.erase(pdr.f_teid->teid);
    }
  }
  if (after == nullptr) return;
  for (const rules::Pdr& pdr : after->pdrs) {
    if (pdr.f_teid) teids_[pdr.f_teid->teid] = seid;
  }
}

/// Takes away what packets no longer meet, and reads what is asked for or gone.
std::map<UrrId, Reading> Controller::clean_up(Session& session, const Step& step,
                                              const std::vector<UrrId>& query) {
  std::vector<Op> ops = std::move(session.leftovers);
  session.leftovers.clear();
  ops.insert(ops.end(), step.plan.remove.begin(), step.plan.remove.end());
  std::map<UrrId, Reading> readings;
  for (const UrrId id : query) {
    const auto meter = session.installed.urrs.find({id, UrrKey::Role::Meter});
    if (meter == session.installed.urrs.end()) continue;
    ops.emplace_back(ReadUrr{meter->second.id, id});
    readings.emplace(id, Reading{.urr = id});
  }
  std::set<UrrId> own;  // read for ourselves
  for (const UrrKey& key : session.to_base) {
    const auto meter = session.installed.urrs.find({key.urr, UrrKey::Role::Meter});
    if (meter == session.installed.urrs.end() || readings.contains(key.urr)) continue;
    if (own.insert(key.urr).second) ops.emplace_back(ReadUrr{meter->second.id, key.urr});
  }
  const auto answers = send(step.seid, ops);
  for (std::size_t i = 0; answers && i < ops.size(); ++i) {
    const netlink::Answer& answer = (*answers)[i];
    const auto* read = std::get_if<ReadUrr>(&ops[i]);
    const auto* gone = std::get_if<DeleteUrr>(&ops[i]);
    if (read == nullptr && answer.error != 0 && answer.error != ENOENT) {
      ++counts_.kernel_refusals;
      session.leftovers.push_back(ops[i]);
    }
    const bool metered = gone != nullptr && gone->key.role == UrrKey::Role::Meter;
    if (read == nullptr && !metered) continue;
    const UrrId id = read != nullptr ? read->urr : gone->key.urr;
    for (const wire::Octets& message : answer.messages) {
      for (const Report& report : decode_reports(message)) {
        session.metered[id].uplink += report.octets.uplink;
        session.metered[id].downlink += report.octets.downlink;
        add(session.unread[id], report.octets, report.packets);
      }
    }
    // Of a URR that stays but has another kernel rule now, it is for the next reading.
    const bool stays = rules::find(session.rules.urrs, id) != nullptr;
    if (!stays) readings.emplace(id, Reading{.urr = id});
  }
  for (const UrrKey& key : std::exchange(session.to_base, {})) {
    session.armed[key].base = session.metered[key.urr];
  }
  for (auto& [id, reading] : readings) {
    const Reading unread = take_unread(session, id);
    add(reading, unread.octets, unread.packets);
  }
  return readings;
}

/// From what is believed to be installed to what the rules ask for now.
void Controller::resync(Seid seid, Session& session) {
  const CompileContext context{settings_.addresses.empty() ? Ipv4{} : settings_.addresses.front()};
  auto compiled = compile(session.rules, session.fired, context);
  if (!compiled) return;
  const rules::SessionRules rules = session.rules;
  Step step{.seid = seid, .after = &rules, .compiled = std::move(*compiled)};
  step.plan = make_plan(seid, session.installed, step.compiled.rules, ids_);
  if (!switch_over(session, step)) return;
  adopt(session, step);
  for (const auto& [urr, reading] : clean_up(session, step, {})) {
    add(session.unread[urr], reading.octets, reading.packets);
  }
}

Result<std::vector<Reading>, Controller::Failure> Controller::read_usage(
    Seid seid, std::span<const UrrId> urrs) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return failure(Failure{Kind::Refused, {}, "no such session"});
  if (parts_.socket->broken()) {
    return failure(Failure{Kind::Unavailable, {}, "gtp5g: a call to the kernel didn't return"});
  }
  std::vector<UrrId> wanted;
  for (const rules::Urr& urr : at->second.rules.urrs) {
    if (urrs.empty() || std::ranges::find(urrs, urr.id) != urrs.end()) wanted.push_back(urr.id);
  }
  const Step step{.seid = seid};
  std::vector<Reading> readings;
  for (auto& [id, reading] : clean_up(at->second, step, wanted)) readings.push_back(reading);
  return readings;
}

}  // namespace upf::gtp5g

// What the kernel really holds, compared with what we believe it does. A session's rules are read
// back one by one (GET). What nobody asked for can only be found by dumps, which are hints (see
// RuleDump): each find is asked for again on our own link before anything is made of it.
//
// A repair is a plan like any other: the rule that is wrong is taken out of what we believe is
// installed, so that the planner makes it anew under another number, and PDRs that use it too; then
// what was wrong is deleted, should it be there.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "netlink/gtp5g/controller.hpp"
#include "netlink/gtp5g/likeness.hpp"
#include "netlink/gtp5g/requests.hpp"
#include "netlink/watched_transport.hpp"

namespace upf::gtp5g {

using dataplane::Audited;
using dataplane::Drift;
using dataplane::Failure;
using dataplane::Strays;
using FailureKind = dataplane::Failure::Kind;

namespace {

// Answers to GETs queue up in the socket's receive buffer (212,992 octets by default, at worst a
// page each) before the first is read.
constexpr std::size_t kGetsAtOnce = 32;
constexpr int kPiecesASlice = 4;
constexpr std::size_t kMostSuspects = 10'000;

std::string_view word(RuleName::Kind kind) {
  constexpr std::string_view kWords[] = {"PDR", "FAR", "QER", "URR"};
  return kWords[static_cast<std::size_t>(kind)];
}

/// A rule that should be in the kernel: the request that made it, and whose it is.
struct Wanted {
  RuleName name{};
  netlink::GenlRequest made;
  Command add{};
  std::string of{};  ///< "PDR 3"
};

std::string kernel_name(const RuleName& name) {
  return fmt::format("kernel {} {}", word(name.kind), name.id);
}

std::vector<Wanted> wanted_of(const Target& target, Seid seid, const Installed& installed) {
  std::vector<Wanted> all;
  using Kind = RuleName::Kind;
  for (const auto& [key, pdr] : installed.pdrs) {
    all.push_back({{Kind::Pdr, seid, pdr.id},
                   to_request(target, seid, pdr),
                   Command::AddPdr,
                   fmt::format("PDR {}", key.pdr.value)});
  }
  for (const auto& [key, far] : installed.fars) {
    all.push_back({{Kind::Far, seid, far.id},
                   to_request(target, seid, CreateFar{far.id, far.body}),
                   Command::AddFar,
                   fmt::format("FAR {}", key.far.value)});
  }
  for (const auto& [key, qer] : installed.qers) {
    all.push_back({{Kind::Qer, seid, qer.id},
                   to_request(target, seid, CreateQer{qer.id, qer.body}),
                   Command::AddQer,
                   fmt::format("QER {}", key.qers.front().value)});
  }
  for (const auto& [key, urr] : installed.urrs) {
    all.push_back({{Kind::Urr, seid, urr.id},
                   to_request(target, seid, CreateUrr{urr.id, key.role, urr.body}),
                   Command::AddUrr,
                   fmt::format("URR {}", key.urr.value)});
  }
  return all;
}

}  // namespace

/// Answers to so many GETs; none: the socket is broken.
std::optional<std::vector<netlink::Answer>> Controller::get(const std::vector<RuleName>& names) {
  std::vector<netlink::Answer> answers;
  for (std::size_t at = 0; at < names.size(); at += kGetsAtOnce) {
    std::vector<netlink::GenlRequest> requests;
    for (std::size_t i = at; i < std::min(names.size(), at + kGetsAtOnce); ++i) {
      requests.push_back(get_request(target_, names[i]));
    }
    auto part = parts_.socket->transact(requests);
    if (!part) return std::nullopt;
    std::ranges::move(*part, std::back_inserter(answers));
  }
  return answers;
}

/// Events first: a quota that was exhausted a moment ago changed FARs.
void Controller::settle_events() {
  drain_events();
  for (const Report& report : std::exchange(reports_, {})) on_report(report);
}

Failure Controller::unavailable() {
  return {FailureKind::Unavailable, {}, "gtp5g: a call to the kernel didn't return"};
}

Result<Controller::Comparison, Failure> Controller::compare(Seid seid, const Session& session) {
  Comparison result;
  const auto all = wanted_of(target_, seid, session.installed);
  std::vector<RuleName> names;
  for (const Wanted& wanted : all) names.push_back(wanted.name);
  const auto answers = get(names);
  if (!answers) return failure(unavailable());
  result.rules = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const netlink::Answer& answer = (*answers)[i];
    if (answer.error != 0 || answer.messages.empty()) {
      result.wrong.insert(all[i].name);
      result.drifts.push_back(
          {Drift::Kind::Missing, seid, all[i].of + " (" + kernel_name(all[i].name) + ")"});
    } else if (const auto differs = difference(all[i].add, all[i].made, answer.messages.front())) {
      result.wrong.insert(all[i].name);
      result.drifts.push_back({Drift::Kind::Different, seid,
                               all[i].of + " (" + kernel_name(all[i].name) + ") " + *differs});
    }
  }
  // What an undo could not put back is known to be missing.
  for (const auto& [key, far] : session.kernel.fars) {
    if (session.installed.fars.contains(key)) continue;
    result.drifts.push_back({Drift::Kind::Missing, seid, fmt::format("FAR {}", key.far.value)});
  }
  return result;
}

Result<Audited, Failure> Controller::audit(Seid seid, const rules::SessionRules& intended,
                                           bool repair) {
  if (parts_.socket->broken()) return failure(unavailable());
  settle_events();
  const auto at = sessions_.find(seid);
  if (at == sessions_.end() || at->second.rules != intended) {
    return replace_whole(seid, intended, repair);
  }
  Session& session = at->second;
  auto found = compare(seid, session);
  if (found && !found->drifts.empty()) {  // once more: events were on their way
    settle_events();
    found = compare(seid, session);
  }
  if (!found) return failure(found.error());
  if (repair && !found->drifts.empty() && mend(seid, session, found->wrong)) {
    for (Drift& drift : found->drifts) drift.repaired = true;
  }
  arm_wakeup();
  return Audited{found->rules, std::move(found->drifts)};
}

/// The plane's own books differ from the control half's.
Result<Audited, Failure> Controller::replace_whole(Seid seid, const rules::SessionRules& intended,
                                                   bool repair) {
  const auto at = sessions_.find(seid);
  const bool missing = at == sessions_.end();
  Drift drift{missing ? Drift::Kind::Missing : Drift::Kind::Different, seid, "the session"};
  if (repair) {
    const rules::SessionRules before = missing ? rules::SessionRules{} : at->second.rules;
    drift.repaired =
        apply({.seid = seid, .before = missing ? nullptr : &before, .after = &intended})
            .has_value();
  }
  return Audited{1, {std::move(drift)}};
}

namespace {

Installed without(const Installed& installed, Seid seid, const std::set<RuleName>& wrong) {
  using Kind = RuleName::Kind;
  Installed rest = installed;
  const auto drop = [&](auto& rules, Kind kind) {
    std::erase_if(rules, [&](const auto& entry) {
      return wrong.contains({kind, seid, std::uint32_t{entry.second.id}});
    });
  };
  drop(rest.pdrs, Kind::Pdr);
  drop(rest.fars, Kind::Far);
  drop(rest.qers, Kind::Qer);
  drop(rest.urrs, Kind::Urr);
  return rest;
}

/// Deletions of what was wrong, in a plan that knows nothing of it: PDRs first, the rest last.
void delete_wrong(KernelPlan& plan, const Installed& installed, const std::set<RuleName>& wrong) {
  std::vector<Op> first;
  for (const RuleName& name : wrong) {
    switch (name.kind) {
      case RuleName::Kind::Pdr:
        first.emplace_back(DeletePdr{static_cast<std::uint16_t>(name.id)});
        break;
      case RuleName::Kind::Far:
        plan.remove.emplace_back(DeleteFar{name.id});
        break;
      case RuleName::Kind::Qer:
        plan.remove.emplace_back(DeleteQer{name.id});
        break;
      case RuleName::Kind::Urr:
        for (const auto& [key, urr] : installed.urrs) {
          if (urr.id == name.id) plan.remove.emplace_back(DeleteUrr{name.id, key});
        }
        break;
    }
  }
  plan.remove.insert(plan.remove.begin(), first.begin(), first.end());
}

}  // namespace

/// What was counted towards limits that are made anew: they get what is left of them.
void Controller::keep_counts(Seid seid, Session& session, const std::set<RuleName>& wrong) {
  for (const auto& [key, urr] : session.installed.urrs) {
    if (key.role == UrrKey::Role::Meter || key.role == UrrKey::Role::Start) continue;
    if (!wrong.contains({RuleName::Kind::Urr, seid, urr.id})) continue;
    const dataplane::Reading reading = read_now(seid, session, key.urr);
    add(session.unread[key.urr], reading.octets, reading.packets);
    const rules::Volume& base = session.armed[key].base;
    const rules::Volume& all = session.metered[key.urr];
    session.fired.counted[key] = {urr.body.limit.generation,
                                  {all.uplink - base.uplink, all.downlink - base.downlink}};
  }
}

bool Controller::mend(Seid seid, Session& session, const std::set<RuleName>& wrong) {
  keep_counts(seid, session, wrong);
  const CompileContext context{settings_.addresses.empty() ? Ipv4{} : settings_.addresses.front()};
  auto compiled = compile(session.rules, session.fired, context);
  if (!compiled) return false;
  const rules::SessionRules rules = session.rules;
  Step step{.seid = seid, .after = &rules, .compiled = std::move(*compiled)};
  step.plan = make_plan(seid, without(session.installed, seid, wrong), step.compiled.rules, ids_);
  delete_wrong(step.plan, session.installed, wrong);
  if (!switch_over(session, step)) return false;
  adopt(session, step);
  for (const auto& [urr, reading] : clean_up(session, step, {})) {
    add(session.unread[urr], reading.octets, reading.packets);
  }
  return !parts_.socket->broken();
}

// --- what belongs to nobody ------------------------------------------------------------------

bool Controller::is_ours(const RuleName& name) const {
  if (held_.contains(name)) return true;
  const auto at = sessions_.find(name.seid);
  if (at == sessions_.end()) return false;
  const Session& session = at->second;
  const auto has = [&](const auto& rules) {
    return std::ranges::any_of(rules,
                               [&](const auto& entry) { return entry.second.id == name.id; });
  };
  switch (name.kind) {
    case RuleName::Kind::Pdr:
      return has(session.installed.pdrs);
    case RuleName::Kind::Far:
      return has(session.installed.fars);
    case RuleName::Kind::Qer:
      return has(session.installed.qers);
    case RuleName::Kind::Urr:
      break;
  }
  return has(session.installed.urrs);
}

Result<void, Failure> Controller::open_dump() {
  auto transport = parts_.host->open_requests();
  if (!transport) return failure(Failure{FailureKind::NoResources, {}, transport.error()});
  suspects_.clear();
  dump_.emplace(
      std::make_unique<netlink::WatchedTransport>(std::move(*transport), settings_.call_timeout),
      target_.family);
  return {};
}

Result<Strays, Failure> Controller::audit_strays(const std::function<bool(Seid)>& known,
                                                 bool repair) {
  if (parts_.socket->broken()) return failure(unavailable());
  if (!dump_) {
    if (auto ok = open_dump(); !ok) return failure(ok.error());
  }
  std::vector<RuleName> names;
  for (int i = 0; i < kPiecesASlice && !dump_->done(); ++i) {
    if (auto ok = dump_->read(names); !ok) {
      dump_.reset();
      return failure(Failure{FailureKind::Refused,
                             {},
                             fmt::format("gtp5g: a dump of rules failed, errno {}", ok.error())});
    }
  }
  Strays strays;
  strays.found.rules = names.size();
  for (const RuleName& name : names) {
    if (suspects_.size() < kMostSuspects && !is_ours(name)) suspects_.insert(name);
  }
  if (!dump_->done()) return strays;
  dump_.reset();
  strays.done = true;
  end_unknown_sessions(known, repair, strays.found.drifts);
  if (!find_strays(repair, strays.found.drifts)) return failure(unavailable());
  return strays;
}

void Controller::end_unknown_sessions(const std::function<bool(Seid)>& known, bool repair,
                                      std::vector<Drift>& drifts) {
  std::vector<Seid> unknown;
  for (const auto& [seid, session] : sessions_) {
    if (!known(seid)) unknown.push_back(seid);
  }
  for (const Seid seid : unknown) {
    Drift drift{Drift::Kind::Foreign, seid, "the session"};
    const rules::SessionRules before = sessions_.at(seid).rules;
    if (repair) drift.repaired = apply({.seid = seid, .before = &before}).has_value();
    drifts.push_back(std::move(drift));
  }
}

/// Quotas before the PDRs under them, as send() has it; one wait for all of them. The others are
/// left to remove_stray().
std::set<RuleName> Controller::remove_stray_quotas(const std::vector<RuleName>& names,
                                                   const std::vector<netlink::Answer>& found) {
  std::set<RuleName> removed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].kind != RuleName::Kind::Urr || found[i].messages.empty()) continue;
    const netlink::Attributes rule{found[i].messages.front()};
    if ((rule.get(urr::kTrigger).value_or(0) & urr::kTriggerQuota) == 0) continue;
    const auto done = send(names[i].seid, {DeleteUrr{names[i].id, {}}});
    if (done && done->front().error == 0) removed.insert(names[i]);
  }
  if (!removed.empty()) std::this_thread::sleep_for(kWalk);
  return removed;
}

/// Suspects in order: PDRs come before what they use.
bool Controller::find_strays(bool repair, std::vector<Drift>& drifts) {
  std::vector<RuleName> names;
  for (const RuleName& name : std::exchange(suspects_, {})) {
    if (!is_ours(name)) names.push_back(name);
  }
  const auto answers = get(names);
  if (!answers) return false;
  const auto quotas = repair ? remove_stray_quotas(names, *answers) : std::set<RuleName>{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Not there: of another link (another UPF's), or gone meanwhile.
    if ((*answers)[i].error != 0) continue;
    Drift drift{Drift::Kind::Foreign, names[i].seid, kernel_name(names[i])};
    if (repair) drift.repaired = quotas.contains(names[i]) || remove_stray(names[i]);
    drifts.push_back(std::move(drift));
  }
  return !parts_.socket->broken();
}

/// Only what no PDR uses, and no QER whose removal would stop policing elsewhere (kernel_ids.hpp).
bool Controller::remove_stray(const RuleName& name) {
  if (name.kind == RuleName::Kind::Pdr) {
    const auto done = send(name.seid, {DeletePdr{static_cast<std::uint16_t>(name.id)}});
    return done && done->front().error == 0;
  }
  const auto now = get({name});
  if (!now || now->front().messages.empty()) return false;
  const netlink::Attributes rule{now->front().messages.front()};
  constexpr netlink::Blob kUsers[] = {{}, {6}, {12}, {13}};  // RELATED_TO_PDR of FAR, QER, URR
  if (rule.get(kUsers[static_cast<std::size_t>(name.kind)])) return false;
  Op op = DeleteFar{name.id};
  if (name.kind == RuleName::Kind::Qer) {
    if (ids_.shares_bucket(name.seid, name.id)) return false;
    ids_.reserve_qer(name.seid, name.id);
    op = DeleteQer{name.id};
  } else if (name.kind == RuleName::Kind::Urr) {
    op = DeleteUrr{name.id, {}};
  }
  const auto done = send(name.seid, {op});
  return done && done->front().error == 0;
}

}  // namespace upf::gtp5g

// One request, one answer. Whatever goes wrong before the plane has taken the change leaves the
// session as it was; the store is written only by execute(), after the plane said yes.
#include "src/control/sessions.hpp"

#include <algorithm>

#include "src/control/answers.hpp"
#include "src/control/load_information.hpp"

namespace upf::control {
namespace {

using Level = LogRecord::Level;

// Between attempts to remove a session that the plane failed to remove.
constexpr std::chrono::seconds kNextAttempt{1};

std::string counts_of(const rules::SessionRules& rules) {
  return "pdr=" + std::to_string(rules.pdrs.size()) + " far=" + std::to_string(rules.fars.size()) +
         " qer=" + std::to_string(rules.qers.size()) + " urr=" + std::to_string(rules.urrs.size());
}

bool has_address(const pfcp::FSeid& cp, const IpAddress& address) {
  if (const auto* v4 = std::get_if<Ipv4>(&address)) return cp.ipv4 == *v4;
  return cp.ipv6 == std::get<Ipv6>(address);
}

// Our addresses in the family, or families, that the peer speaks.
pfcp::FSeid up_f_seid(const Settings& settings, const pfcp::FSeid& peer) {
  pfcp::FSeid ours;
  if (peer.ipv4 || !settings.n4_ipv6) ours.ipv4 = settings.n4_ipv4;
  if (peer.ipv6 || !ours.ipv4) ours.ipv6 = settings.n4_ipv6;
  return ours;
}

}  // namespace

void Sessions::on_establishment(const n4::Request& request) {
  const auto cp = pfcp::peek_f_seid(request.body);
  const Seid peer_seid = cp ? cp->seid : Seid{};
  pfcp::SessionEstablishmentResponse response{.node_id = core_.node};
  const auto refuse_with = [&](const session::Refusal& refusal) {
    refuse(core_, request, response, refusal, "session-establishment", peer_seid);
  };

  if (request.invalid_length) return refuse_with(invalid_length());
  const auto decoded = pfcp::decode<pfcp::SessionEstablishmentRequest>(request.body);
  if (!decoded) return refuse_with(refusal_of(decoded.error()));
  core_.mark(&Served::decode);
  n4::Association* const association = core_.associations.find(decoded->node_id);
  if (const auto refusal = refusal_of_new(association)) return refuse_with(*refusal);
  core_.associations.add_address(*association, request.key.peer.ip);

  auto plan = session::plan_establishment(core_.sessions, owner_of(decoded->node_id), *decoded);
  core_.mark(&Served::plan);
  if (!plan) return refuse_with(plan.error());
  const Seid seid = plan->next.seid;
  for (const Seid old : plan->supersedes) {
    const auto removed = try_remove(old, true);
    if (!removed) {  // a UE address is one session's, and the plane still has the old one
      return refuse_with(
          {.cause = pfcp::Cause::SystemFailure,
           .text = "the session that it replaces can't be removed: " + removed.error().text});
    }
  }
  auto accepted = session::establishment_accepted(*plan, core_.node,
                                                  up_f_seid(core_.settings, decoded->cp_f_seid));
  const auto done = execute(*plan, nullptr);
  if (!done) return refuse_with(done.error());
  sets_.put(seid, decoded->fq_csids, decoded->group_id);
  add_load(core_, accepted, association);
  const session::Session& session = plan->next;
  if (core_.wants(Level::Info)) {
    core_.log_session(Level::Info, session, "session-establishment",
                      "session established " + counts_of(session.rules),
                      to_string(request.key.peer));
  }
  core_.answer(request, accepted, peer_seid);
}

void Sessions::on_modification(const n4::Request& request) {
  pfcp::SessionModificationResponse response;
  auto found = find_for(request);
  Seid peer_seid = found ? found->cp.seid : Seid{};
  const auto refuse_with = [&](const session::Refusal& refusal) {
    refuse(core_, request, response, refusal, "session-modification", peer_seid);
  };

  if (!found) return refuse_with({.cause = found.error()});
  if (request.invalid_length) return refuse_with(invalid_length());
  const auto decoded = pfcp::decode<pfcp::SessionModificationRequest>(request.body);
  if (!decoded) return refuse_with(refusal_of(decoded.error()));
  core_.mark(&Served::decode);
  const Seid seid = found->seid;
  const n4::Association* const heir = heir_of(request, *found, *decoded);
  if (heir != nullptr) peer_seid = decoded->cp_f_seid->seid;
  const rules::SessionRules installed = std::move(found->installed);
  auto plan = session::plan_modification(core_.sessions, std::move(*found), *decoded);
  core_.mark(&Served::plan);
  if (!plan) return refuse_with(plan.error());
  auto accepted = session::modification_accepted(*plan);
  auto done = execute(*plan, &installed);
  if (!done) return refuse_with(done.error());

  session::Session& after = plan->next;
  if (heir != nullptr) {
    move(seid, *heir, *decoded->cp_f_seid);
    after.owner = owner_of(heir->node);
    after.cp = *decoded->cp_f_seid;
  }
  sets_.put(seid, decoded->fq_csids, decoded->group_id);
  add_load(core_, accepted, association_of(after.owner));
  settle_pages(after);
  if (core_.wants(Level::Info)) {
    core_.log_session(Level::Info, after, "session-modification",
                      "session modified " + counts_of(after.rules), to_string(request.key.peer));
  }
  auto [octets, left] = encode_with_usage(std::move(accepted),
                                          {.seid = after.cp.seid, .sequence = request.key.sequence},
                                          std::move(*done), core_.settings.max_message_octets);
  core_.answer_octets(request, std::move(octets));
  core_.reports.retarget(seid, {after.owner, after.cp});
  core_.reports.add_usage(seid, {after.owner, after.cp}, left);
}

void Sessions::on_deletion(const n4::Request& request) {
  pfcp::SessionDeletionResponse response;
  auto found = find_for(request);
  const auto refuse_with = [&](const session::Refusal& refusal, Seid peer_seid) {
    refuse(core_, request, response, refusal, "session-deletion", peer_seid);
  };

  if (!found) return refuse_with({.cause = found.error()}, {});
  const session::Session& session = *found;
  const Seid seid = session.seid;
  const ReportTarget target{session.owner, session.cp};
  if (request.invalid_length) return refuse_with(invalid_length(), target.cp.seid);
  add_load(core_, response, association_of(session.owner));
  LogRecord record{};
  if (core_.wants(Level::Info)) {
    record = {.level = Level::Info,
              .text = "session deleted",
              .procedure = "session-deletion",
              .seid = seid,
              .peer = to_string(request.key.peer),
              .ue_address = ue_address_of(session)};
  }
  auto plan = session::plan_deletion(core_.sessions, std::move(*found));
  auto done = execute(plan, &plan.next.installed);
  if (!done) return refuse_with(done.error(), target.cp.seid);

  sets_.erase(seid);
  orphans_.erase(seid);
  if (record.seid) core_.log(std::move(record));
  response.cause = pfcp::Cause::RequestAccepted;
  // What was not sent yet goes along: the CP function won't know the session afterwards.
  Reports reports = core_.reports.take_waiting_usage(seid);
  reports.insert(reports.end(), std::make_move_iterator(done->begin()),
                 std::make_move_iterator(done->end()));
  auto [octets, left] = encode_with_usage(
      std::move(response), {.seid = target.cp.seid, .sequence = request.key.sequence},
      std::move(reports), core_.settings.max_message_octets);
  core_.answer_octets(request, std::move(octets));
  core_.reports.forget_all_but_usage(seid);
  core_.reports.add_usage(seid, target, left);
}

// The session that the header names, if the sender may: it speaks for the session's association, or
// from the CP F-SEID's address.
Result<session::Session, pfcp::Cause> Sessions::find_for(const n4::Request& request) const {
  const IpAddress& source = request.key.peer.ip;
  auto session = request.header.seid ? core_.store.find({*request.header.seid}) : session::Found{};
  if (session && !doomed_.contains(session->seid)) {
    if (has_address(session->cp, source)) return *std::move(session);
    const n4::Association* const association = association_of(session->owner);
    if (association != nullptr && association->addresses.contains(source)) {
      return *std::move(session);
    }
    // 5.22.3: any SMF of the set may go on with it.
    for (const n4::Association* other : core_.associations.at(source)) {
      const bool same_set = association != nullptr && !association->smf_set.empty() &&
                            association->smf_set == other->smf_set;
      if (same_set) return *std::move(session);
    }
  }
  return failure(core_.associations.is_known(source) ? pfcp::Cause::SessionContextNotFound
                                                     : pfcp::Cause::NoEstablishedPfcpAssociation);
}

n4::Association* Sessions::association_of(const std::string& owner) const {
  const auto node = node_of(owner);
  return node ? core_.associations.find(*node) : nullptr;
}

// Why no new session is begun now, whatever the request says.
std::optional<session::Refusal> Sessions::refusal_of_new(const n4::Association* association) const {
  if (association == nullptr) {  // 6.2.6.1: no session before an association
    return session::Refusal{.cause = pfcp::Cause::NoEstablishedPfcpAssociation};
  }
  if (association->releasing) {
    return session::Refusal{.cause = pfcp::Cause::RequestRejected,
                            .text = "the association is being released"};
  }
  if (core_.draining) {
    return session::Refusal{.cause = pfcp::Cause::NoResourcesAvailable, .text = "draining"};
  }
  if (!core_.load.admits_new_session()) {
    return session::Refusal{.cause = pfcp::Cause::PfcpEntityInCongestion, .text = "overload"};
  }
  return std::nullopt;
}

// 5.22.3: a modification that comes from another SMF of the set, with its own F-SEID, makes the
// session that SMF's, if it succeeds. nullptr: it stays whose it is.
const n4::Association* Sessions::heir_of(const n4::Request& request,
                                         const session::Session& session,
                                         const pfcp::SessionModificationRequest& message) const {
  if (!message.cp_f_seid) return nullptr;
  const n4::Association* const owner = association_of(session.owner);
  if (owner == nullptr || owner->addresses.contains(request.key.peer.ip)) return nullptr;
  for (const n4::Association* other : core_.associations.at(request.key.peer.ip)) {
    if (!other->smf_set.empty() && other->smf_set == owner->smf_set) return other;
  }
  return nullptr;
}

void Sessions::orphan(Seid seid, const n4::Association& to) {
  move(seid, to, core_.store.head(seid)->cp);
  orphans_.insert(seid);
}

void Sessions::move(Seid seid, const n4::Association& to, const pfcp::FSeid& cp) {
  orphans_.erase(seid);
  const std::string owner = owner_of(to.node);
  core_.store.move(seid, owner, cp);
  core_.reports.retarget(seid, {owner, cp});
  if (!core_.wants(Level::Info)) return;
  core_.log_session(Level::Info, *core_.store.find(seid), "smf-set",
                    "session goes on with another SMF", pfcp::to_text(to.node));
}

Result<Sessions::Reports, session::Refusal> Sessions::execute(session::Plan& plan,
                                                              const rules::SessionRules* before) {
  const Seid seid = plan.next.seid;
  auto prepared = core_.usage.prepare(seid, plan.usage, core_.now, core_.reader);
  if (!plan.ends) {
    plan.next.installed = plan.next.rules;
    prepared.arm(plan.next.installed);
  }
  const auto applied = core_.plane.apply({.seid = seid,
                                          .before = before,
                                          .after = plan.ends ? nullptr : &plan.next.installed,
                                          .end_markers = plan.end_markers,
                                          .drop_buffered = plan.drop_buffered,
                                          .query = plan.query});
  core_.mark(&Served::plane);
  if (!applied) return failure(refusal_of(applied.error()));
  for (const std::string& warning : applied->warnings) {
    core_.log({.level = Level::Warning, .text = warning, .procedure = "data-plane", .seid = seid});
  }
  Reports reports = core_.usage.commit(std::move(prepared), applied->readings, core_.now);
  session::commit(core_.sessions, plan);
  return reports;
}

// A PDR that no longer buffers has nobody to page for.
void Sessions::settle_pages(const session::Session& session) {
  for (const PdrId id : core_.reports.pages_of(session.seid)) {
    const rules::Pdr* const pdr = rules::find(session.rules.pdrs, id);
    const rules::Far* const far = pdr ? rules::find(session.rules.fars, pdr->far) : nullptr;
    if (far == nullptr || !far->action.buffer) core_.reports.forget_downlink(session.seid, id);
  }
}

// Ends the session. If the plane does not let go of it, everything is as it was.
Result<void, session::Refusal> Sessions::try_remove(Seid seid, bool report) {
  auto session = core_.store.find(seid);
  if (!session) return {};
  const ReportTarget target{.owner = session->owner, .cp = session->cp, .ended = true};
  auto plan = session::plan_deletion(core_.sessions, *std::move(session));
  const auto done = execute(plan, &plan.next.installed);
  if (!done) return failure(done.error());
  sets_.erase(seid);
  orphans_.erase(seid);
  doomed_.erase(seid);
  if (report) {
    core_.reports.forget_all_but_usage(seid);
    core_.reports.add_usage(seid, target, *done);
  } else {
    core_.reports.forget(seid);
  }
  return {};
}

// Ends the session, now or as soon as the plane lets go of it; until then it is nobody's.
void Sessions::remove(Seid seid, bool report) {
  const auto removed = try_remove(seid, report);
  if (removed) return;
  core_.log(
      {.level = Level::Error,
       .text = "the data plane did not remove the session, trying again: " + removed.error().text,
       .procedure = "session-end",
       .seid = seid});
  sets_.erase(seid);
  orphans_.erase(seid);
  doomed_.insert_or_assign(seid, report);
  next_attempt_ = core_.now.steady + kNextAttempt;
  if (!report) core_.reports.forget(seid);
}

void Sessions::on_timer() {
  if (doomed_.empty() || core_.now.steady < next_attempt_) return;
  const std::map<Seid, bool> attempts = doomed_;
  next_attempt_ = core_.now.steady + kNextAttempt;
  for (const auto& [seid, report] : attempts) remove(seid, report);
}

std::optional<TimePoint> Sessions::wake_at() const {
  if (doomed_.empty()) return std::nullopt;
  return next_attempt_;
}

void Sessions::end_and_report(Seid seid) {
  // One that has ended already ends as it was to: perhaps its CP function is owed nothing any more.
  if (!doomed_.contains(seid)) remove(seid, true);
}
void Sessions::end_silently(Seid seid) { remove(seid, false); }

std::size_t Sessions::end_all_of(const std::string& owner) {
  const std::vector<Seid> theirs = core_.store.of_owner(owner);
  for (const Seid seid : theirs) end_silently(seid);
  core_.reports.forget_owner(owner);
  return theirs.size();
}

void Sessions::modify(Seid seid, const pfcp::SessionModificationRequest& change) {
  const auto session = core_.store.find(seid);
  if (!session) return;
  auto plan = session::plan_modification(core_.sessions, *session, change);
  auto done = plan ? execute(*plan, &session->installed)
                   : Result<Reports, session::Refusal>{failure(plan.error())};
  if (!done) {
    core_.log({.level = Level::Warning,
               .text = "change in a Session Report Response can't be made, ignoring: " +
                       session::to_string(done.error()),
               .procedure = "session-report",
               .seid = seid});
    return;
  }
  core_.reports.add_usage(seid, {plan->next.owner, plan->next.cp}, *done);
}

void Sessions::rearm(Seid seid) {
  const auto session = core_.store.find(seid);
  if (!session) return;
  rules::SessionRules installed = session->rules;
  core_.usage.arm(seid, installed);
  if (installed == session->installed) return;
  const auto applied =
      core_.plane.apply({.seid = seid, .before = &session->installed, .after = &installed});
  if (!applied) {
    core_.log({.level = Level::Error,
               .text = "usage limits could not be armed: " + applied.error().detail,
               .procedure = "usage",
               .seid = seid});
    return;
  }
  core_.store.set_installed(seid, std::move(installed));
}

void Sessions::refresh(Seid seid) {
  const auto session = core_.store.find(seid);
  if (!session) return;
  auto plan = session::plan_refresh(core_.sessions, *session);
  const auto done = execute(plan, &session->installed);
  if (done) {  // of URRs that have lost their last PDR by it
    return core_.reports.add_usage(seid, {plan.next.owner, plan.next.cp}, *done);
  }
  core_.log({.level = Level::Error,
             .text = "new PFDs could not be put into the data plane: " + done.error().text,
             .procedure = "pfd-management",
             .seid = seid});
}

}  // namespace upf::control

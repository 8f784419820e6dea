#include "src/session/draft.hpp"

#include "upf/base/assert.hpp"

// Working a request into a session. Removals come first, so that an ID that is removed and created
// in one message is a new rule; then creations, so that updates and PDRs may refer to them; then
// updates. The order of the IEs in the message has no meaning (TS 29.244 8.1.1).

namespace upf::session {

using pfcp::IeType;

Draft::Draft(Context& context, Session start)
    : context_(context), plan_{.next = std::move(start), .ids = Reservation{context}} {
  new_ = !context.store.contains(plan_.next.seid);
  if (!new_) plan_.teids_before = teids_of(plan_.next);
  for (const auto& pdr : plan_.next.rules.pdrs) {
    measured_before_.insert(pdr.urrs.begin(), pdr.urrs.end());
  }
}

// --- removal -----------------------------------------------------------------------------------

Check Draft::remove(const pfcp::SessionModificationRequest& request) {
  const auto each = [this](const auto& ies) -> Check {
    for (const auto& ie : ies) {
      if (auto ok = drop(ie); !ok) return ok;
    }
    return {};
  };
  auto ok = each(request.remove_pdrs);
  if (ok) ok = each(request.remove_fars);
  if (ok) ok = each(request.remove_qers);
  if (ok) ok = each(request.remove_urrs);
  if (ok) ok = each(request.remove_bars);
  if (ok) ok = each(request.remove_traffic_endpoints);
  return ok;
}

Check Draft::drop(const pfcp::RemovePdr& ie) {
  Session& next = session();
  const bool derived = next.sources.erase(ie.pdr_id) > 0;
  if (!erase(next.rules.pdrs, ie.pdr_id) && !derived) {
    return bad_rule(ie.pdr_id, "is to be removed but doesn't exist");
  }
  return {};
}

Check Draft::drop(const pfcp::RemoveFar& ie) {
  if (!erase(session().rules.fars, ie.far_id)) {
    return bad_rule(ie.far_id, "is to be removed but doesn't exist");
  }
  removed_fars_.insert(ie.far_id);
  return {};
}

namespace {

/// Takes a rule that is removed out of the PDRs that use it: they go on without it.
template <class Id>
void detach(Session& session, std::vector<Id> rules::Pdr::*list, Id id) {
  for (auto& pdr : session.rules.pdrs) std::erase(pdr.*list, id);
  for (auto& [pdr_id, source] : session.sources) {
    if (std::ranges::find(source->bare.*list, id) == (source->bare.*list).end()) continue;
    PdrSource copy = *source;
    std::erase(copy.bare.*list, id);
    source = std::make_shared<const PdrSource>(std::move(copy));
  }
}

}  // namespace

Check Draft::drop(const pfcp::RemoveQer& ie) {
  if (!erase(session().rules.qers, ie.qer_id)) {
    return bad_rule(ie.qer_id, "is to be removed but doesn't exist");
  }
  detach(session(), &rules::Pdr::qers, ie.qer_id);
  return {};
}

Check Draft::drop(const pfcp::RemoveUrr& ie) {
  if (!erase(session().usage, ie.urr_id)) {
    return bad_rule(ie.urr_id, "is to be removed but doesn't exist");
  }
  erase(session().rules.urrs, ie.urr_id);
  detach(session(), &rules::Pdr::urrs, ie.urr_id);
  plan_.usage.removed.push_back(ie.urr_id);
  return {};
}

Check Draft::drop(const pfcp::RemoveBar& ie) {
  if (!erase(session().rules.bars, ie.bar_id)) {
    return bad_rule(ie.bar_id, "is to be removed but doesn't exist");
  }
  for (auto& far : session().rules.fars) {
    if (far.bar == ie.bar_id) far.bar.reset();
  }
  return {};
}

Check Draft::drop(const pfcp::RemoveTrafficEndpoint& ie) {
  const std::uint8_t id = ie.traffic_endpoint_id;
  if (session().endpoints.erase(id) == 0) {
    return incorrect(IeType::RemoveTrafficEndpoint,
                     "traffic endpoint " + std::to_string(id) + " doesn't exist");
  }
  // Table 7.5.4.14-1: the PDRs that refer to it go with it.
  std::vector<PdrId> gone;
  for (const auto& [pdr, source] : session().sources) {
    const auto& ids = source->pdi.traffic_endpoint_ids;
    if (std::ranges::find(ids, id) != ids.end()) gone.push_back(pdr);
  }
  for (const PdrId pdr : gone) {
    session().sources.erase(pdr);
    erase(session().rules.pdrs, pdr);
  }
  return {};
}

// --- creation ----------------------------------------------------------------------------------

Check Draft::create(const pfcp::CreateFar& ie) {
  auto rule = far(ie);
  if (!rule) return failure(in_rule(std::move(rule.error()), ie.far_id));
  if (!insert(session().rules.fars, std::move(*rule))) {
    return bad_rule(ie.far_id, "exists already");
  }
  return {};
}

Check Draft::create(const pfcp::CreateQer& ie) {
  if (!insert(session().rules.qers, qer(ie))) return bad_rule(ie.qer_id, "exists already");
  return {};
}

Check Draft::create(const pfcp::CreateBar& ie) {
  if (!insert(session().rules.bars, bar(ie))) return bad_rule(ie.bar_id, "exists already");
  return {};
}

Check Draft::create(const pfcp::CreateUrr& ie) {
  auto update = usage(ie);
  if (!update) return failure(in_rule(std::move(update.error()), ie.urr_id));
  if (!insert(session().usage, update->rule)) return bad_rule(ie.urr_id, "exists already");
  insert(session().rules.urrs, rules::Urr{.id = ie.urr_id});
  plan_.usage.updates.push_back(std::move(*update));
  return {};
}

Check Draft::create(const pfcp::CreateTrafficEndpoint& ie) {
  if (ie.redundant_transmission || ie.ethernet_pdu_session_information) {
    return unsupported(IeType::CreateTrafficEndpoint, "redundancy and Ethernet are not served");
  }
  pfcp::CreateTrafficEndpoint endpoint = ie;
  const std::string instance = ie.network_instance ? ie.network_instance->text : std::string{};
  ChosenEndpoint chosen{.id = ie.traffic_endpoint_id};
  bool any = false;
  if (endpoint.local_f_teid) {
    const auto done = resolve(*endpoint.local_f_teid, rules::Interface::Access, instance);
    if (!done) return failure(done.error());
    if (*done) chosen.f_teid = endpoint.local_f_teid;
    any = *done;
  }
  const auto done = resolve(endpoint.ue_ip_addresses, instance);
  if (!done) return failure(done.error());
  if (*done) chosen.ue_addresses = as_created(endpoint.ue_ip_addresses);
  if (any || *done) plan_.chosen_endpoints.push_back(std::move(chosen));
  const auto made = std::make_shared<const pfcp::CreateTrafficEndpoint>(std::move(endpoint));
  if (!session().endpoints.try_emplace(ie.traffic_endpoint_id, made).second) {
    return incorrect(
        IeType::TrafficEndpointId,
        "traffic endpoint " + std::to_string(ie.traffic_endpoint_id) + " exists already");
  }
  return {};
}

// --- update ------------------------------------------------------------------------------------

Check Draft::update(const pfcp::SessionModificationRequest& request) {
  for (const auto& ie : request.update_pdrs) {
    if (!ie.pdi) continue;
    if (auto ok = define_filters(*ie.pdi); !ok) {
      return failure(in_rule(std::move(ok.error()), ie.pdr_id));
    }
  }
  const auto each = [this](const auto& ies) -> Check {
    for (const auto& ie : ies) {
      if (auto ok = change(ie); !ok) return ok;
    }
    return {};
  };
  auto ok = each(request.update_bars);
  if (ok) ok = each(request.update_traffic_endpoints);
  if (ok) ok = each(request.update_fars);
  if (ok) ok = each(request.update_qers);
  if (ok) ok = each(request.update_urrs);
  if (ok) ok = each(request.update_pdrs);
  return ok;
}

Check Draft::change(const pfcp::UpdateFar& ie) {
  rules::Far* rule = rules::find(session().rules.fars, ie.far_id);
  if (rule == nullptr) return bad_rule(ie.far_id, "is to be updated but doesn't exist");
  const auto before = rule->forwarding ? rule->forwarding->outer_header : std::nullopt;
  if (auto ok = session::update(*rule, ie); !ok) {
    return failure(in_rule(std::move(ok.error()), ie.far_id));
  }
  const auto& parameters = ie.update_forwarding_parameters;
  const bool asked =
      parameters && parameters->pfcpsmreq_flags && parameters->pfcpsmreq_flags->sndem;
  const auto after = rule->forwarding ? rule->forwarding->outer_header : std::nullopt;
  // free5GC's SMF leaves SNDEM set in later messages: it means something only where the tunnel
  // changes (cases.md 58).
  if (asked && before && before != after) plan_.end_markers.push_back(ie.far_id);
  return {};
}

Check Draft::change(const pfcp::UpdateQer& ie) {
  rules::Qer* rule = rules::find(session().rules.qers, ie.qer_id);
  if (rule == nullptr) return bad_rule(ie.qer_id, "is to be updated but doesn't exist");
  session::update(*rule, ie);
  return {};
}

Check Draft::change(const pfcp::UpdateBar& ie) {
  rules::Bar* rule = rules::find(session().rules.bars, ie.bar_id);
  if (rule == nullptr) return bad_rule(ie.bar_id, "is to be updated but doesn't exist");
  session::update(*rule, ie);
  return {};
}

Check Draft::change(const pfcp::UpdateUrr& ie) {
  rules::UsageRule* rule = rules::find(session().usage, ie.urr_id);
  if (rule == nullptr) return bad_rule(ie.urr_id, "is to be updated but doesn't exist");
  auto update = usage(*rule, ie);
  if (!update) return failure(in_rule(std::move(update.error()), ie.urr_id));
  *rule = update->rule;
  set_usage(std::move(*update));
  return {};
}

/// Two Update URRs of one URR in a message are one update; so are its creation and an update.
void Draft::set_usage(rules::UsageUpdate update) {
  auto& updates = plan_.usage.updates;
  const auto at = std::ranges::find(updates, update.rule.id,
                                    [](const rules::UsageUpdate& u) { return u.rule.id; });
  if (at == updates.end()) {
    updates.push_back(std::move(update));
    return;
  }
  const rules::UsageGrant before = at->grant;
  *at = std::move(update);
  rules::UsageGrant& g = at->grant;
  g.created |= before.created;
  g.triggers |= before.triggers;
  g.period |= before.period;
  g.volume_threshold |= before.volume_threshold;
  g.volume_quota |= before.volume_quota;
  g.time_threshold |= before.time_threshold;
  g.time_quota |= before.time_quota;
  g.quota_validity_time |= before.quota_validity_time;
  g.monitoring_time |= before.monitoring_time;
}

Check Draft::change(const pfcp::UpdateTrafficEndpoint& ie) {
  const auto at = session().endpoints.find(ie.traffic_endpoint_id);
  if (at == session().endpoints.end()) {
    return incorrect(
        IeType::TrafficEndpointId,
        "traffic endpoint " + std::to_string(ie.traffic_endpoint_id) + " doesn't exist");
  }
  pfcp::CreateTrafficEndpoint next = *at->second;
  if (takes_away(ie, IeType::NetworkInstance)) next.network_instance.reset();
  if (takes_away(ie, IeType::UeIpAddress)) next.ue_ip_addresses.clear();
  if (takes_away(ie, IeType::Qfi)) next.qfis.clear();
  if (takes_away(ie, IeType::FramedRoute)) next.framed_routes.clear();
  if (takes_away(ie, IeType::FramedIpv6Route)) next.framed_ipv6_routes.clear();
  if (ie.network_instance) next.network_instance = ie.network_instance;
  if (!ie.framed_routes.empty()) next.framed_routes = ie.framed_routes;
  if (!ie.framed_ipv6_routes.empty()) next.framed_ipv6_routes = ie.framed_ipv6_routes;
  if (!ie.qfis.empty()) next.qfis = ie.qfis;
  const std::string instance = next.network_instance ? next.network_instance->text : "";
  ChosenEndpoint chosen{.id = ie.traffic_endpoint_id};
  if (ie.local_f_teid) {
    next.local_f_teid = ie.local_f_teid;
    const auto done = resolve(*next.local_f_teid, rules::Interface::Access, instance);
    if (!done) return failure(done.error());
    if (*done) chosen.f_teid = next.local_f_teid;
  }
  if (!ie.ue_ip_addresses.empty()) {
    next.ue_ip_addresses = ie.ue_ip_addresses;
    const auto done = resolve(next.ue_ip_addresses, instance);
    if (!done) return failure(done.error());
    if (*done) chosen.ue_addresses = as_created(next.ue_ip_addresses);
  }
  at->second = std::make_shared<const pfcp::CreateTrafficEndpoint>(std::move(next));
  if (chosen.f_teid || !chosen.ue_addresses.empty()) {
    plan_.chosen_endpoints.push_back(std::move(chosen));
  }
  return {};
}

}  // namespace upf::session

#include "src/session/draft.hpp"
#include "upf/rules/flow.hpp"

// PDRs: what they were provisioned with, and the rule that is made of it.
//
// A PDR whose rule depends on nothing outside of it is kept as its rule. One that refers to Traffic
// Endpoints, Application IDs, Predefined Rules or SDF Filter IDs keeps its source too, and its rule
// is derived again at the end of each request. Where a source matches nothing for now (an
// application without flows), there is no rule at all: an empty list of filters would match
// everything.

namespace upf::session {
namespace {

using pfcp::IeType;

bool is_derived(const PdrSource& source) {
  const auto by_id = [](const pfcp::SdfFilter& f) { return f.filter_id.has_value(); };
  return !source.pdi.traffic_endpoint_ids.empty() || source.pdi.application_id ||
         !source.predefined.empty() || std::ranges::any_of(source.pdi.sdf_filters, by_id);
}

bool says_more_than_its_id(const pfcp::SdfFilter& ie) {
  return ie.flow_description || ie.tos_traffic_class || ie.security_parameter_index ||
         ie.flow_label;
}

Check is_served(const pfcp::Pdi& pdi) {
  if (pdi.ethernet_pdu_session_information) {
    return unsupported(IeType::EthernetPduSessionInformation, "Ethernet is not served");
  }
  if (!pdi.ethernet_packet_filters.empty()) {
    return unsupported(IeType::EthernetPacketFilter, "Ethernet is not served");
  }
  if (!pdi.ip_multicast_addressing_infos.empty()) {
    return unsupported(IeType::IpMulticastAddressingInfo, "multicast is not served");
  }
  if (pdi.redundant_transmission) {
    return unsupported(IeType::RedundantTransmissionDetectionParameters, "it is not served");
  }
  if (pdi.dns_query_filter) return unsupported(IeType::DnsQueryFilter, "it is not served");
  return {};
}

Check is_served(const pfcp::CreatePdr& ie) {
  if (ie.mar_id) return unsupported(IeType::MarId, "multi-access rules are not served");
  if (ie.activation_time || ie.deactivation_time) {
    return unsupported(IeType::ActivationTime, "deferred activation is not served");
  }
  if (!ie.ip_multicast_addressing_infos.empty()) {
    return unsupported(IeType::IpMulticastAddressingInfo, "multicast is not served");
  }
  if (ie.transport_delay_reporting) {
    return unsupported(IeType::TransportDelayReporting, "it is not served");
  }
  return {};
}

pfcp::FTeid to_ie(const rules::LocalFTeid& f_teid) {
  return {.teid = f_teid.teid, .ipv4 = f_teid.ipv4, .ipv6 = f_teid.ipv6};
}
pfcp::UeIpAddress to_ie(const rules::UeAddress& address) {
  pfcp::UeIpAddress ie{.ipv4 = address.ipv4, .is_destination = address.is_destination};
  if (address.ipv6) {
    ie.ipv6 = address.ipv6->address;
    if (address.ipv6->length != 64) ie.ipv6_prefix_length = address.ipv6->length;
  }
  return ie;
}
pfcp::SdfFilter to_ie(const rules::SdfFilter& filter) {
  pfcp::SdfFilter ie{.security_parameter_index = filter.spi, .flow_label = filter.flow_label};
  if (filter.flow) ie.flow_description = rules::to_string(*filter.flow);
  if (filter.tos) ie.tos_traffic_class = {filter.tos->value, filter.tos->mask};
  return ie;
}
/// The PDI of a rule that isn't derived.
pfcp::Pdi pdi_of(const rules::Pdr& rule) {
  pfcp::Pdi pdi{.source_interface = static_cast<pfcp::SourceInterface>(rule.source_interface)};
  if (rule.f_teid) pdi.local_f_teid = to_ie(*rule.f_teid);
  if (!rule.network_instance.empty()) pdi.network_instance = {.text = rule.network_instance};
  for (const auto& address : rule.ue_addresses) pdi.ue_ip_addresses.push_back(to_ie(address));
  pdi.qfis = rule.qfis;
  for (const auto& filter : rule.filters) pdi.sdf_filters.push_back(to_ie(filter));
  for (const auto& route : rule.framed_routes) {
    const bool v4 = std::holds_alternative<Ipv4Prefix>(route);
    (v4 ? pdi.framed_routes : pdi.framed_ipv6_routes).push_back(upf::to_string(route));
  }
  return pdi;
}

/// Table 7.5.4.2-1: a PDI replaces the one before. Open5GS's SMF updates filters by a PDI without
/// an F-TEID, UE address or Traffic Endpoint, though, and means those that the PDR has: without any
/// of them it couldn't belong to a session.
pfcp::Pdi replaced(const pfcp::Pdi& before, pfcp::Pdi now) {
  if (now.local_f_teid || !now.ue_ip_addresses.empty() || !now.traffic_endpoint_ids.empty()) {
    return now;
  }
  now.local_f_teid = before.local_f_teid;
  now.ue_ip_addresses = before.ue_ip_addresses;
  now.traffic_endpoint_ids = before.traffic_endpoint_ids;
  if (!now.network_instance) now.network_instance = before.network_instance;
  if (now.qfis.empty()) now.qfis = before.qfis;
  if (now.framed_routes.empty()) now.framed_routes = before.framed_routes;
  if (now.framed_ipv6_routes.empty()) now.framed_ipv6_routes = before.framed_ipv6_routes;
  return now;
}

/// Drops IDs that were there before.
template <class Id>
void keep_first(std::vector<Id>& ids) {
  std::vector<Id> once;
  for (const Id id : ids) {
    if (std::ranges::find(once, id) == once.end()) once.push_back(id);
  }
  ids = std::move(once);
}

/// The parts of an Update PDR that are not its PDI.
Check merge(PdrSource& source, const pfcp::UpdatePdr& ie) {
  rules::Pdr& bare = source.bare;
  if (takes_away(ie, IeType::OuterHeaderRemoval)) bare.removal.reset();
  if (takes_away(ie, IeType::UrrId)) bare.urrs.clear();
  if (takes_away(ie, IeType::QerId)) bare.qers.clear();
  if (ie.precedence) bare.precedence = *ie.precedence;
  if (ie.far_id) {
    bare.far = *ie.far_id;
    source.without_far = false;
  }
  // A list that is there is the whole list; one that isn't leaves it (Table 7.5.4.2-1).
  if (!ie.urr_ids.empty()) bare.urrs = ie.urr_ids;
  if (!ie.qer_ids.empty()) bare.qers = ie.qer_ids;
  if (ie.outer_header_removal) {
    const auto removal = header_removal(*ie.outer_header_removal);
    if (!removal) return failure(removal.error());
    bare.removal = *removal;
  }
  for (const auto& name : ie.deactivate_predefined_rules) {
    if (std::erase(source.predefined, name) > 0) continue;
    return failure(Refusal{pfcp::Cause::UnknownPredefinedRule, IeType::DeactivatePredefinedRules,
                           std::nullopt, "Predefined Rules of this name are not active"});
  }
  for (const auto& name : ie.activate_predefined_rules) {
    if (std::ranges::find(source.predefined, name) == source.predefined.end()) {
      source.predefined.push_back(name);
    }
  }
  if (source.without_far && source.predefined.empty()) {
    return failure(Refusal{pfcp::Cause::ConditionalIeMissing, IeType::FarId, std::nullopt,
                           "without Predefined Rules the PDR needs a FAR ID"});
  }
  return {};
}

}  // namespace

std::vector<pfcp::UeIpAddress> as_created(std::vector<pfcp::UeIpAddress> ies) {
  for (auto& ie : ies) {
    // 8.2.62: these are for PDIs only. What was delegated shows in the length.
    ie.is_destination = false;
    const auto delegated = std::exchange(ie.ipv6_prefix_delegation_bits, std::nullopt);
    if (ie.ipv6 && delegated.value_or(0) > 0) {
      ie.ipv6_prefix_length =
          static_cast<std::uint8_t>(ie.ipv6_prefix_length.value_or(64) - *delegated);
    }
  }
  return ies;
}

bool Draft::has(PdrId id) const {
  return rules::find(plan_.next.rules.pdrs, id) != nullptr || plan_.next.sources.contains(id);
}

PdrSource Draft::source_of(PdrId id) const {
  const auto derived = plan_.next.sources.find(id);
  if (derived != plan_.next.sources.end()) return *derived->second;
  const rules::Pdr& rule = *rules::find(plan_.next.rules.pdrs, id);
  return {.pdi = pdi_of(rule),
          .bare = {.id = id,
                   .precedence = rule.precedence,
                   .removal = rule.removal,
                   .far = rule.far,
                   .qers = rule.qers,
                   .urrs = rule.urrs}};
}

Check Draft::create(const pfcp::CreatePdr& ie) {
  const auto blame = [&](Refusal refusal) {
    return failure(in_rule(std::move(refusal), ie.pdr_id));
  };
  if (has(ie.pdr_id)) return bad_rule(ie.pdr_id, "exists already");
  if (auto ok = is_served(ie); !ok) return blame(std::move(ok.error()));
  // gtp5g dereferences the FAR of each PDR: none goes without (cases.md 8).
  if (!ie.far_id && ie.activate_predefined_rules.empty()) {
    return blame(
        {pfcp::Cause::ConditionalIeMissing, IeType::FarId, std::nullopt, "FAR ID missing"});
  }
  PdrSource source{.pdi = ie.pdi,
                   .bare = {.id = ie.pdr_id,
                            .precedence = ie.precedence,
                            .far = ie.far_id.value_or(FarId{}),
                            .qers = ie.qer_ids,
                            .urrs = ie.urr_ids},
                   .predefined = ie.activate_predefined_rules,
                   .without_far = !ie.far_id};
  if (ie.outer_header_removal) {
    const auto removal = header_removal(*ie.outer_header_removal);
    if (!removal) return blame(removal.error());
    source.bare.removal = *removal;
  }
  if (auto ok = resolve(source.pdi, ie.pdr_id, false); !ok) return blame(std::move(ok.error()));
  if (auto ok = put(std::move(source)); !ok) return blame(std::move(ok.error()));
  return {};
}

Check Draft::change(const pfcp::UpdatePdr& ie) {
  const auto blame = [&](Refusal refusal) {
    return failure(in_rule(std::move(refusal), ie.pdr_id));
  };
  if (!has(ie.pdr_id)) return bad_rule(ie.pdr_id, "is to be updated but doesn't exist");
  PdrSource source = source_of(ie.pdr_id);
  if (auto ok = merge(source, ie); !ok) return blame(std::move(ok.error()));
  if (ie.pdi) {
    source.pdi = replaced(source.pdi, *ie.pdi);
    if (auto ok = resolve(source.pdi, ie.pdr_id, true); !ok) return blame(std::move(ok.error()));
  }
  erase(session().rules.pdrs, ie.pdr_id);
  session().sources.erase(ie.pdr_id);
  if (auto ok = put(std::move(source)); !ok) return blame(std::move(ok.error()));
  return {};
}

Check Draft::put(PdrSource source) {
  // The order stays: where a plane takes only one of several QERs, the order says which.
  keep_first(source.bare.urrs);
  keep_first(source.bare.qers);
  if (is_derived(source)) {
    const PdrId id = source.bare.id;
    session().sources[id] = std::make_shared<const PdrSource>(std::move(source));
    return {};
  }
  auto rule = compile(source);
  if (!rule) return failure(std::move(rule.error()));
  insert(session().rules.pdrs, std::move(**rule));
  return {};
}

Check Draft::resolve(pfcp::Pdi& pdi, PdrId id, bool updated) {
  if (auto ok = is_served(pdi); !ok) return ok;
  const auto from = source_interface(pdi.source_interface);
  if (!from) return failure(from.error());
  const std::string instance = pdi.network_instance ? pdi.network_instance->text : std::string{};
  ChosenPdr chosen{.id = id, .updated = updated};
  if (pdi.local_f_teid) {
    const auto done = resolve(*pdi.local_f_teid, *from, instance);
    if (!done) return failure(done.error());
    if (*done || (restored_ && !updated)) chosen.f_teid = pdi.local_f_teid;
  }
  const auto done = resolve(pdi.ue_ip_addresses, instance);
  if (!done) return failure(done.error());
  if (*done) chosen.ue_addresses = as_created(pdi.ue_ip_addresses);
  if (chosen.f_teid || !chosen.ue_addresses.empty()) plan_.chosen_pdrs.push_back(std::move(chosen));
  return {};
}

// 8.2.5: an SDF Filter ID is unique within the session, and names the whole filter; a filter that
// has only an ID is the one of that ID.
Check Draft::define_filters(const pfcp::Pdi& pdi) {
  for (const auto& ie : pdi.sdf_filters) {
    if (!ie.filter_id || !says_more_than_its_id(ie)) continue;
    auto filter = sdf_filter(ie);
    if (!filter) return failure(std::move(filter.error()));
    session().filters[*ie.filter_id] = std::move(*filter);
  }
  return {};
}

Result<std::optional<rules::Pdr>, Refusal> Draft::compile(const PdrSource& source) const {
  const pfcp::Pdi& pdi = source.pdi;
  rules::Pdr rule = source.bare;
  rule.source_interface = static_cast<rules::Interface>(pdi.source_interface);
  rule.qfis = pdi.qfis;
  if (pdi.network_instance) rule.network_instance = pdi.network_instance->text;
  if (pdi.local_f_teid) {
    const auto& ie = *pdi.local_f_teid;
    rule.f_teid = rules::LocalFTeid{ie.teid, ie.ipv4, ie.ipv6};
  }
  for (const auto& ie : pdi.ue_ip_addresses) {
    const auto address = ue_address(ie);
    if (!address) return failure(address.error());
    rule.ue_addresses.push_back(*address);
  }
  auto routes = framed_routes(pdi.framed_routes, pdi.framed_ipv6_routes);
  if (!routes) return failure(std::move(routes.error()));
  rule.framed_routes = std::move(*routes);
  if (auto ok = compile_endpoints(pdi, rule); !ok) return failure(std::move(ok.error()));
  const auto matches = compile_filters(source, rule);
  if (!matches) return failure(matches.error());
  if (!*matches) return std::nullopt;
  return rule;
}

Check Draft::compile_endpoints(const pfcp::Pdi& pdi, rules::Pdr& rule) const {
  for (const std::uint8_t id : pdi.traffic_endpoint_ids) {
    const auto at = plan_.next.endpoints.find(id);
    if (at == plan_.next.endpoints.end()) {
      return incorrect(IeType::TrafficEndpointId,
                       "traffic endpoint " + std::to_string(id) + " doesn't exist");
    }
    const pfcp::CreateTrafficEndpoint& endpoint = *at->second;
    if (endpoint.local_f_teid) {
      if (rule.f_teid) return unsupported(IeType::TrafficEndpointId, "one F-TEID a PDR is served");
      const auto& ie = *endpoint.local_f_teid;
      rule.f_teid = rules::LocalFTeid{ie.teid, ie.ipv4, ie.ipv6};
    }
    if (endpoint.network_instance) rule.network_instance = endpoint.network_instance->text;
    for (auto ie : endpoint.ue_ip_addresses) {
      // 8.2.62: S/D in a Traffic Endpoint says nothing, the source interface of the PDR does.
      ie.is_destination = rule.source_interface != rules::Interface::Access;
      const auto address = ue_address(ie);
      if (!address) return failure(address.error());
      rule.ue_addresses.push_back(*address);
    }
    const auto routes = framed_routes(endpoint.framed_routes, endpoint.framed_ipv6_routes);
    if (!routes) return failure(routes.error());
    rule.framed_routes.insert(rule.framed_routes.end(), routes->begin(), routes->end());
    rule.qfis.insert(rule.qfis.end(), endpoint.qfis.begin(), endpoint.qfis.end());
  }
  return {};
}

/// false: it is to match filters, of which there is none now.
Result<bool, Refusal> Draft::compile_filters(const PdrSource& source, rules::Pdr& rule) const {
  const pfcp::Pdi& pdi = source.pdi;
  for (const auto& ie : pdi.sdf_filters) {
    if (says_more_than_its_id(ie)) {
      auto filter = sdf_filter(ie);
      if (!filter) return failure(std::move(filter.error()));
      rule.filters.push_back(std::move(*filter));
      continue;
    }
    const auto known =
        ie.filter_id ? plan_.next.filters.find(*ie.filter_id) : plan_.next.filters.end();
    if (known == plan_.next.filters.end()) {
      return incorrect(IeType::SdfFilter, ie.filter_id
                                              ? "SDF Filter ID " + std::to_string(*ie.filter_id) +
                                                    " doesn't refer to a filter"
                                              : std::string{"it describes nothing"});
    }
    rule.filters.push_back(known->second);
  }
  if (!source.predefined.empty()) return compile_predefined(source, rule);
  if (!pdi.application_id) return true;
  if (!rule.filters.empty()) {
    return incorrect(IeType::ApplicationId, "a PDI has an Application ID or SDF Filters");
  }
  const auto* flows = context_.applications ? context_.applications(*pdi.application_id) : nullptr;
  if (flows == nullptr && refresh_) return false;
  if (flows == nullptr) {
    return failure(Refusal{pfcp::Cause::UnknownApplicationId, IeType::ApplicationId, std::nullopt,
                           "no PFDs for this Application ID"});
  }
  rule.filters = *flows;
  return !rule.filters.empty();
}

/// A Predefined Rules name brings the filters; the PDR brings where packets are looked for (5.19).
Result<bool, Refusal> Draft::compile_predefined(const PdrSource& source, rules::Pdr& rule) const {
  if (!rule.filters.empty() || source.pdi.application_id) {
    return incorrect(IeType::ActivatePredefinedRules,
                     "a PDR has SDF Filters, an Application ID or Predefined Rules");
  }
  const PredefinedRule* first = nullptr;
  for (const std::string& name : source.predefined) {
    const auto known = context_.settings.predefined.find(name);
    if (known == context_.settings.predefined.end()) {
      if (refresh_) continue;
      return failure(Refusal{pfcp::Cause::UnknownPredefinedRule, IeType::ActivatePredefinedRules,
                             std::nullopt, "no Predefined Rules of this name are configured"});
    }
    const PredefinedRule& predefined = known->second;
    if (first == nullptr) first = &predefined;
    rule.filters.insert(rule.filters.end(), predefined.filters.begin(), predefined.filters.end());
    if (predefined.qer) rule.qers.push_back(predefined.qer->id);
  }
  if (first == nullptr) return false;
  if (!source.without_far) return true;
  if (rule.source_interface != rules::Interface::Access) {
    return failure(Refusal{pfcp::Cause::ConditionalIeMissing, IeType::FarId, std::nullopt,
                           "Predefined Rules have a FAR for uplink PDRs only"});
  }
  rule.far = first->far.id;
  return true;
}

/// The FARs and QERs that the names of a PDR bring into the session.
Check Draft::add_predefined(const PdrSource& source) {
  const auto has = [](const auto& list, auto id) {
    return std::ranges::find(list, id) != list.end();
  };
  Session& next = session();
  for (const std::string& name : source.predefined) {
    const auto known = context_.settings.predefined.find(name);
    if (known == context_.settings.predefined.end()) continue;
    const PredefinedRule& rule = known->second;
    if (source.without_far && !has(next.predefined_fars, rule.far.id)) {
      if (!insert(next.rules.fars, rule.far)) return bad_rule(rule.far.id, "exists already");
      next.predefined_fars.push_back(rule.far.id);
    }
    if (rule.qer && !has(next.predefined_qers, rule.qer->id)) {
      if (!insert(next.rules.qers, *rule.qer)) return bad_rule(rule.qer->id, "exists already");
      next.predefined_qers.push_back(rule.qer->id);
    }
  }
  return {};
}

Check Draft::derive() {
  for (const FarId id : std::exchange(session().predefined_fars, {})) {
    erase(session().rules.fars, id);
  }
  for (const QerId id : std::exchange(session().predefined_qers, {})) {
    erase(session().rules.qers, id);
  }
  for (const auto& [id, source] : session().sources) {
    auto rule = compile(*source);
    if (!rule) return failure(in_rule(std::move(rule.error()), id));
    erase(session().rules.pdrs, id);
    if (!*rule) continue;
    insert(session().rules.pdrs, std::move(**rule));
    if (auto ok = add_predefined(*source); !ok) return failure(in_rule(std::move(ok.error()), id));
  }
  return {};
}

}  // namespace upf::session

#include "upf/session/answer.hpp"

#include <array>

namespace upf::session {
namespace {

template <class Response>
void add_chosen(Response& response, const Plan& plan) {
  for (const auto& chosen : plan.chosen_endpoints) {
    response.created_traffic_endpoints.push_back({.traffic_endpoint_id = chosen.id,
                                                  .local_f_teid = chosen.f_teid,
                                                  .ue_ip_addresses = chosen.ue_addresses});
  }
  for (const auto& chosen : plan.chosen_pdrs) {
    if (chosen.updated) continue;
    response.created_pdrs.push_back({.pdr_id = chosen.id,
                                     .local_f_teid = chosen.f_teid,
                                     .ue_ip_addresses = chosen.ue_addresses});
  }
}

}  // namespace

std::string to_string(const FailedRule& rule) {
  constexpr std::array kNames{"PDR", "FAR", "QER", "URR", "BAR"};
  return std::string{kNames[static_cast<std::size_t>(rule.kind)]} + ' ' + std::to_string(rule.id);
}

std::string to_string(const Refusal& refusal) {
  std::string text = pfcp::to_string(refusal.cause);
  if (refusal.offending_ie) text += ", offending IE " + pfcp::to_string(*refusal.offending_ie);
  if (!refusal.text.empty()) text += ": " + refusal.text;
  return text;
}

pfcp::FailedRuleId to_ie(const FailedRule& rule) {
  switch (rule.kind) {
    case FailedRule::Kind::Pdr:
      return {PdrId{static_cast<std::uint16_t>(rule.id)}};
    case FailedRule::Kind::Far:
      return {FarId{rule.id}};
    case FailedRule::Kind::Qer:
      return {QerId{rule.id}};
    case FailedRule::Kind::Urr:
      return {UrrId{rule.id}};
    case FailedRule::Kind::Bar:
      return {BarId{static_cast<std::uint8_t>(rule.id)}};
  }
  return {};
}

pfcp::SessionEstablishmentResponse establishment_accepted(const Plan& plan,
                                                          const pfcp::NodeId& node,
                                                          const pfcp::FSeid& up) {
  pfcp::SessionEstablishmentResponse response{.node_id = node,
                                              .cause = pfcp::Cause::RequestAccepted};
  response.up_f_seid = up;
  response.up_f_seid->seid = plan.next.seid;
  add_chosen(response, plan);
  return response;
}

pfcp::SessionModificationResponse modification_accepted(const Plan& plan) {
  pfcp::SessionModificationResponse response{.cause = pfcp::Cause::RequestAccepted};
  add_chosen(response, plan);
  for (const auto& chosen : plan.chosen_pdrs) {
    if (!chosen.updated) continue;
    response.updated_pdrs.push_back({.pdr_id = chosen.id,
                                     .local_f_teid = chosen.f_teid,
                                     .ue_ip_addresses = chosen.ue_addresses});
  }
  return response;
}

}  // namespace upf::session

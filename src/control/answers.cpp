#include "src/control/answers.hpp"

namespace upf::control {
namespace {

pfcp::FTeid to_pfcp(const rules::LocalFTeid& tunnel) {
  return {.teid = tunnel.teid, .ipv4 = tunnel.ipv4, .ipv6 = tunnel.ipv6};
}

pfcp::UeIpAddress to_pfcp(const rules::UeAddress& address) {
  pfcp::UeIpAddress ie{.ipv4 = address.ipv4, .is_destination = address.is_destination};
  if (address.ipv6) {
    ie.ipv6 = address.ipv6->address;
    if (address.ipv6->length != 64) ie.ipv6_prefix_length = address.ipv6->length;
  }
  return ie;
}

template <class Ie, class Chosen>
Ie chosen_ie(const Chosen& chosen) {
  Ie ie;
  if (chosen.f_teid) ie.local_f_teid = to_pfcp(*chosen.f_teid);
  for (const auto& address : chosen.ue_addresses) ie.ue_ip_addresses.push_back(to_pfcp(address));
  return ie;
}

template <class Ie>
std::vector<Ie> chosen_pdr_ies(const session::Plan& plan, bool updated) {
  std::vector<Ie> ies;
  for (const session::ChosenPdr& chosen : plan.chosen_pdrs) {
    if (chosen.updated != updated) continue;
    ies.push_back(chosen_ie<Ie>(chosen));
    ies.back().pdr_id = chosen.id;
  }
  return ies;
}

session::FailedRule to_failed_rule(const dataplane::RuleId& rule) {
  using Kind = session::FailedRule::Kind;
  return {static_cast<Kind>(rule.index()),
          std::visit([](auto id) { return static_cast<std::uint32_t>(id.value); }, rule)};
}

}  // namespace

pfcp::FailedRuleId to_pfcp(const session::FailedRule& rule) {
  using Kind = session::FailedRule::Kind;
  switch (rule.kind) {
    case Kind::Pdr:
      return {PdrId{static_cast<std::uint16_t>(rule.id)}};
    case Kind::Far:
      return {FarId{rule.id}};
    case Kind::Qer:
      return {QerId{rule.id}};
    case Kind::Urr:
      return {UrrId{rule.id}};
    case Kind::Bar:
      return {BarId{static_cast<std::uint8_t>(rule.id)}};
  }
  return {};
}

std::vector<pfcp::CreatedPdr> created_pdrs(const session::Plan& plan) {
  return chosen_pdr_ies<pfcp::CreatedPdr>(plan, false);
}

std::vector<pfcp::UpdatedPdr> updated_pdrs(const session::Plan& plan) {
  return chosen_pdr_ies<pfcp::UpdatedPdr>(plan, true);
}

std::vector<pfcp::CreatedTrafficEndpoint> created_endpoints(const session::Plan& plan) {
  std::vector<pfcp::CreatedTrafficEndpoint> ies;
  for (const session::ChosenEndpoint& chosen : plan.chosen_endpoints) {
    ies.push_back(chosen_ie<pfcp::CreatedTrafficEndpoint>(chosen));
    ies.back().traffic_endpoint_id = chosen.id;
  }
  return ies;
}

session::Refusal refusal_of(const dataplane::Failure& failure) {
  session::Refusal refusal{.cause = pfcp::Cause::RuleCreationModificationFailure,
                           .text = failure.detail};
  using Kind = dataplane::Failure::Kind;
  if (failure.kind == Kind::NoResources) refusal.cause = pfcp::Cause::NoResourcesAvailable;
  if (failure.kind == Kind::Unavailable) refusal.cause = pfcp::Cause::SystemFailure;
  if (failure.rule) refusal.failed_rule = to_failed_rule(*failure.rule);
  return refusal;
}

session::Refusal refusal_of(const pfcp::DecodeError& error) {
  session::Refusal refusal{.cause = error.cause, .text = to_string(error)};
  if (error.offending_ie != pfcp::IeType::None) refusal.offending_ie = error.offending_ie;
  return refusal;
}

session::Refusal invalid_length() {
  return {.cause = pfcp::Cause::InvalidLength, .text = "the Message Length is not the datagram's"};
}

template <class Response>
std::pair<wire::Octets, std::vector<usage::Report>> encode_with_usage(
    Response response, const pfcp::Envelope& envelope, std::vector<usage::Report> reports,
    std::size_t most) {
  for (const usage::Report& report : reports) response.usage_reports.push_back(to_pfcp(report));
  wire::Octets octets = pfcp::encode(response, envelope);
  std::size_t fit = reports.size();
  while (octets.size() > most && fit > 0) {
    --fit;
    response.usage_reports.pop_back();
    // 5.2.2.3.1: the rest follows in Session Reports.
    response.additional_usage_reports_information = {
        .auri = true, .number_of_reports = static_cast<std::uint16_t>(reports.size() - fit)};
    octets = pfcp::encode(response, envelope);
  }
  reports.erase(reports.begin(), reports.begin() + static_cast<std::ptrdiff_t>(fit));
  return {std::move(octets), std::move(reports)};
}

template std::pair<wire::Octets, std::vector<usage::Report>> encode_with_usage(
    pfcp::SessionModificationResponse, const pfcp::Envelope&, std::vector<usage::Report>,
    std::size_t);
template std::pair<wire::Octets, std::vector<usage::Report>> encode_with_usage(
    pfcp::SessionDeletionResponse, const pfcp::Envelope&, std::vector<usage::Report>, std::size_t);

}  // namespace upf::control

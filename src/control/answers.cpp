#include "src/control/answers.hpp"

namespace upf::control {
namespace {

session::FailedRule to_failed_rule(const dataplane::RuleId& rule) {
  using Kind = session::FailedRule::Kind;
  return {static_cast<Kind>(rule.index()),
          std::visit([](auto id) { return static_cast<std::uint32_t>(id.value); }, rule)};
}

}  // namespace

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
  session::Refusal refusal{.cause = error.cause};
  if (error.offending_ie != pfcp::IeType::None) refusal.offending_ie = error.offending_ie;
  for (auto group = error.within.rbegin(); group != error.within.rend(); ++group) {
    if (*group == pfcp::IeType::None) continue;
    refusal.text += (refusal.text.empty() ? "in " : " in ") + to_string(*group);
  }
  return refusal;
}

session::Refusal invalid_length() {
  return {.cause = pfcp::Cause::InvalidLength, .text = "the Message Length is not the datagram's"};
}

void log_refusal(Core& core, const n4::Request& request, const session::Refusal& refusal,
                 const char* procedure) {
  LogRecord record{.level = LogRecord::Level::Warning,
                   .text = "refused: " + session::to_string(refusal),
                   .procedure = procedure,
                   .peer = to_string(request.key.peer)};
  // Of what begins a session the header names none yet.
  if (request.header.seid.value_or(0) != 0) record.seid = Seid{*request.header.seid};
  core.log(std::move(record));
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
    // 5.2.2.3.1: the rest follows in Session Reports. 8.2.91: their number, or AURI where it isn't
    // known; never both.
    response.additional_usage_reports_information = {
        .number_of_reports = static_cast<std::uint16_t>(reports.size() - fit)};
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

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "src/control/core.hpp"
#include "upf/control/usage_report.hpp"
#include "upf/pfcp/messages/session.hpp"
#include "upf/session/answer.hpp"

namespace upf::control {

/// What a plane's failure means for the answer (8.2.1).
[[nodiscard]] session::Refusal refusal_of(const dataplane::Failure& failure);
[[nodiscard]] session::Refusal refusal_of(const pfcp::DecodeError& error);
[[nodiscard]] session::Refusal invalid_length();

/// Cause, Offending IE and, where the message has one, Failed Rule ID.
template <class Response>
void refuse(Response& response, const session::Refusal& refusal) {
  response.cause = refusal.cause;
  response.offending_ie = refusal.offending_ie;
  if constexpr (requires { response.failed_rule_id; }) {
    if (refusal.failed_rule) response.failed_rule_id = session::to_ie(*refusal.failed_rule);
  }
}

/// Puts as many reports into the answer as fit into `most` octets of datagram, in order; returns
/// the encoded answer and the reports that are left for Session Reports.
template <class Response>
[[nodiscard]] std::pair<wire::Octets, std::vector<usage::Report>> encode_with_usage(
    Response response, const pfcp::Envelope& envelope, std::vector<usage::Report> reports,
    std::size_t most);

}  // namespace upf::control

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
void log_refusal(Core& core, const n4::Request& request, const session::Refusal& refusal,
                 const char* procedure);

/// Answers with Cause, Offending IE and, where the message has one, Failed Rule ID, and says why in
/// the log. `peer_seid`: of the answer's header, for session messages.
template <class Response>
void refuse(Core& core, const n4::Request& request, Response response, session::Refusal refusal,
            const char* procedure, std::optional<Seid> peer_seid = std::nullopt) {
  response.cause = refusal.cause;
  response.offending_ie = refusal.offending_ie;
  if constexpr (requires { response.failed_rule_id; }) {
    if (refusal.failed_rule) response.failed_rule_id = session::to_ie(*refusal.failed_rule);
  }
  log_refusal(core, request, refusal, procedure);
  core.serving.refusal = std::move(refusal);
  core.answer(request, response, peer_seid);
}

/// Puts as many reports into the answer as fit into `most` octets of datagram, in order; returns
/// the encoded answer and the reports that are left for Session Reports.
template <class Response>
[[nodiscard]] std::pair<wire::Octets, std::vector<usage::Report>> encode_with_usage(
    Response response, const pfcp::Envelope& envelope, std::vector<usage::Report> reports,
    std::size_t most);

}  // namespace upf::control

#pragma once

#include <string>
#include <utility>

#include "upf/session/plan.hpp"

/// Making refusals. An IE of optional or conditional presence whose content can't be is answered
/// like a mandatory one that is incorrect (TS 29.244 7.6.7).
namespace upf::session {

using Check = Result<void, Refusal>;

inline FailedRule failed(PdrId id) { return {FailedRule::Kind::Pdr, id.value}; }
inline FailedRule failed(FarId id) { return {FailedRule::Kind::Far, id.value}; }
inline FailedRule failed(QerId id) { return {FailedRule::Kind::Qer, id.value}; }
inline FailedRule failed(UrrId id) { return {FailedRule::Kind::Urr, id.value}; }
inline FailedRule failed(BarId id) { return {FailedRule::Kind::Bar, id.value}; }

/// The IE's content is wrong.
inline auto incorrect(pfcp::IeType ie, std::string text) {
  return failure(Refusal{pfcp::Cause::MandatoryIeIncorrect, ie, std::nullopt, std::move(text)});
}
/// The IE asks for something that isn't there to be had.
inline auto unsupported(pfcp::IeType ie, std::string text) {
  return failure(Refusal{pfcp::Cause::ServiceNotSupported, ie, std::nullopt, std::move(text)});
}
/// The rule can't be made, changed or removed.
template <class Id>
auto bad_rule(Id id, const std::string& text) {
  const FailedRule rule = failed(id);
  return failure(Refusal{pfcp::Cause::RuleCreationModificationFailure, std::nullopt, rule,
                         to_string(rule) + ' ' + text});
}
inline auto exhausted(std::string text) {
  return failure(
      Refusal{pfcp::Cause::NoResourcesAvailable, std::nullopt, std::nullopt, std::move(text)});
}

/// Says which rule a refusal of one of its IEs belongs to.
template <class Id>
Refusal in_rule(Refusal refusal, Id id) {
  if (!refusal.failed_rule) {
    refusal.failed_rule = failed(id);
    refusal.text = to_string(*refusal.failed_rule) + ": " + refusal.text;
  }
  return refusal;
}

}  // namespace upf::session

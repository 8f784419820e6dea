#pragma once

#include "upf/pfcp/messages/session.hpp"
#include "upf/session/plan.hpp"

/// Plans as responses. The caller adds usage reports, and load and overload control.
namespace upf::session {

[[nodiscard]] pfcp::SessionEstablishmentResponse establishment_accepted(const Plan& plan,
                                                                        const pfcp::NodeId& node,
                                                                        const pfcp::FSeid& up);
[[nodiscard]] pfcp::SessionModificationResponse modification_accepted(const Plan& plan);

[[nodiscard]] pfcp::FailedRuleId to_ie(const FailedRule& rule);

}  // namespace upf::session

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/session/refuse.hpp"
#include "upf/pfcp/ies/far.hpp"
#include "upf/pfcp/ies/pdr.hpp"
#include "upf/pfcp/ies/qer.hpp"
#include "upf/pfcp/ies/urr.hpp"
#include "upf/rules/rules.hpp"
#include "upf/rules/usage_rule.hpp"

/// From IEs to rules: single values, no session state.
namespace upf::session {

/// Whether an Update group carried the IE with length 0: it is to be removed (TS 29.244 5.6.3).
template <class Update>
bool takes_away(const Update& update, pfcp::IeType ie) {
  return std::ranges::find(update.removed, ie) != update.removed.end();
}

[[nodiscard]] Result<rules::Interface, Refusal> source_interface(pfcp::SourceInterface interface);
[[nodiscard]] Result<rules::HeaderRemoval, Refusal> header_removal(
    const pfcp::OuterHeaderRemoval& ie);
/// What the filter says itself; its SDF Filter ID is the caller's business.
[[nodiscard]] Result<rules::SdfFilter, Refusal> sdf_filter(const pfcp::SdfFilter& ie);
/// Of addresses that are given; not of those to be chosen.
[[nodiscard]] Result<rules::UeAddress, Refusal> ue_address(const pfcp::UeIpAddress& ie);
/// Framed-Route and Framed-IPv6-Route (RFC 2865 5.22, RFC 3162 2.5): the prefix is the first word.
[[nodiscard]] Result<std::vector<IpPrefix>, Refusal> framed_routes(
    const std::vector<std::string>& ipv4, const std::vector<std::string>& ipv6);

[[nodiscard]] Result<rules::Far, Refusal> far(const pfcp::CreateFar& ie);
/// Merges into `rule`, which is only good if this succeeds.
[[nodiscard]] Check update(rules::Far& rule, const pfcp::UpdateFar& ie);
[[nodiscard]] rules::Qer qer(const pfcp::CreateQer& ie);
void update(rules::Qer& rule, const pfcp::UpdateQer& ie);
[[nodiscard]] rules::Bar bar(const pfcp::CreateBar& ie);
void update(rules::Bar& rule, const pfcp::UpdateBar& ie);
[[nodiscard]] Result<rules::UsageUpdate, Refusal> usage(const pfcp::CreateUrr& ie);
[[nodiscard]] Result<rules::UsageUpdate, Refusal> usage(const rules::UsageRule& before,
                                                        const pfcp::UpdateUrr& ie);

}  // namespace upf::session

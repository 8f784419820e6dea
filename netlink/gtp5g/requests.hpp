#pragma once

#include <cstdint>

#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/plan.hpp"
#include "netlink/gtp5g/rule_dump.hpp"
#include "netlink/request.hpp"

namespace upf::gtp5g {

/// Where requests go: the family's number and the link's.
struct Target {
  std::uint16_t family{};
  std::uint32_t ifindex{};
};

[[nodiscard]] netlink::GenlRequest version_request(std::uint16_t family);
[[nodiscard]] netlink::GenlRequest to_request(const Target& target, Seid seid, const Op& op);
/// Reads a rule back.
[[nodiscard]] netlink::GenlRequest get_request(const Target& target, const RuleName& rule);

}  // namespace upf::gtp5g

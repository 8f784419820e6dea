#pragma once

#include <cstdint>
#include <string>

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
/// What a request is about, by its octets.
struct Subject {
  Command command{};
  bool replace{};  ///< NLM_F_REPLACE: an update
  Seid seid{};     ///< 0: of no session
  std::uint32_t id{};
};
[[nodiscard]] Subject subject_of(const netlink::GenlRequest& request);
/// "ADD_FAR #3 (update)": the module's own name of the command, and the kernel's number of the
/// rule.
[[nodiscard]] std::string to_string(const Subject& subject);
/// Reads a rule back.
[[nodiscard]] netlink::GenlRequest get_request(const Target& target, const RuleName& rule);

}  // namespace upf::gtp5g

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "netlink/gtp5g/kernel_rules.hpp"
#include "upf/base/result.hpp"

namespace upf::gtp5g {

/// A flow description as the flows that the kernel can match, any of them; none if no IPv4 packet
/// can match it. `ue` is what `assigned` stands for (none: any address). `uplink` swaps the ends.
/// An error if it takes more than `most`, or has no such form at all.
[[nodiscard]] Result<std::vector<KernelFlow>, std::string> expand_flow(
    const rules::FlowDescription& flow, bool uplink, std::optional<Ipv4> ue, std::size_t most);

/// Every address outside the prefix, as the fewest prefixes.
[[nodiscard]] std::vector<Ipv4Prefix> complement(Ipv4Prefix prefix);

}  // namespace upf::gtp5g

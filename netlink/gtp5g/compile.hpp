#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "netlink/gtp5g/kernel_rules.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::gtp5g {

struct Compiled {
  KernelRules rules{};
  /// Where the kernel does less than what is asked, in words for the operator.
  std::vector<std::string> warnings{};
};

struct CompileContext {
  Ipv4 default_source{};  ///< for downlink packets of a session without an access tunnel of its own
};

/// Session rules to kernel rules. Pure. What the kernel can't do and nothing stands in for is
/// refused as Failure::Unsupported, naming the rule; limits.hpp lists all of it.
[[nodiscard]] Result<Compiled, dataplane::Failure> compile(const rules::SessionRules& session,
                                                           const FiredLimits& fired,
                                                           const CompileContext& context);

/// Most kernel PDRs of one session. The module's table of a quota's PDRs has 255 places and no
/// check; a replacement needs two for one.
inline constexpr std::size_t kMostKernelPdrs = 127;

}  // namespace upf::gtp5g

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
/// refused as Failure::Unsupported, naming the rule; kLimits lists all of it.
[[nodiscard]] Result<Compiled, dataplane::Failure> compile(const rules::SessionRules& session,
                                                           const FiredLimits& fired,
                                                           const CompileContext& context);

/// One row of what gtp5g can't do, and what becomes of it (README.md shows the same table; a test
/// compares them).
struct Limitation {
  std::string_view what{};
  enum class Handling : std::uint8_t { Refused, Emulated, Narrowed } handling{};
  std::string_view how{};
};
[[nodiscard]] const std::vector<Limitation>& limitations();

/// Most kernel PDRs of one session. The module's table of a quota's PDRs has 255 places and no
/// check; a replacement needs two for one.
inline constexpr std::size_t kMostKernelPdrs = 127;

}  // namespace upf::gtp5g

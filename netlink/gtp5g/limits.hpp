#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace upf::gtp5g {

/// One row of what gtp5g can't do, and what becomes of it.
struct Limitation {
  std::string_view what{};
  enum class Handling : std::uint8_t { Refused, Emulated, Narrowed } handling{};
  std::string_view how{};
};
[[nodiscard]] const std::vector<Limitation>& limitations();

/// All of it as a table in Markdown. netlink/gtp5g/README.md and deploy/docs/gtp5g-limits.md hold
/// it; a test compares them.
[[nodiscard]] std::string limits_table();

}  // namespace upf::gtp5g

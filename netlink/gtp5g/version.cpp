#include "netlink/gtp5g/version.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace upf::gtp5g {
namespace {

using Version = std::array<unsigned, 3>;

constexpr Version kFirst{0, 9, 3};    // the attributes in use, GET_VERSION itself among them
constexpr Version kGood{0, 10, 2};    // the first whose QER update gives the rtnl lock back
constexpr Version kTooNew{0, 11, 0};  // nobody has read it yet
constexpr const char* kWanted = "0.9.3 or later, below 0.11.0";

std::optional<Version> parse(std::string_view text) {
  Version version{};
  if (text.starts_with('v')) text.remove_prefix(1);
  for (std::size_t i = 0; i < version.size(); ++i) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, version[i]);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (i + 1 == version.size()) break;
    if (!text.starts_with('.')) return std::nullopt;
    text.remove_prefix(1);
  }
  return version;
}

}  // namespace

Result<std::string, std::string> check_version(std::string_view found) {
  const std::string said =
      "the gtp5g module is version " + std::string{found} + ", wanted is " + kWanted;
  const std::optional<Version> version = parse(found);
  if (!version) return failure(said + ": that can't be compared");
  if (*version < kFirst) return failure(said + ": the module is too old, upgrade it");
  if (*version >= kTooNew) return failure(said + ": the module is too new, downgrade it");
  if (*version < kGood) {
    return "gtp5g " + std::string{found} +
           " works, but 0.10.2 is safer: before it, some updates kept the kernel's rtnl lock";
  }
  return std::string{};
}

}  // namespace upf::gtp5g

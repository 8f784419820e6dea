#pragma once

#include <cstddef>
#include <cstdint>

namespace upf {

/// Peers choose what tables are indexed by (TEIDs, addresses, sequence numbers), and std::hash of a
/// number may be that number: this spreads it over all bits.
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t key) {
  key = (key ^ (key >> 32U)) * 0xd6e8feb86659fd93ULL;
  key = (key ^ (key >> 32U)) * 0xd6e8feb86659fd93ULL;
  return key ^ (key >> 32U);
}

/// The key's place among `places`, fewer than 2^32 of any number.
[[nodiscard]] constexpr std::size_t home_of(std::uint64_t key, std::size_t places) {
  return static_cast<std::size_t>(((spread(key) >> 32U) * places) >> 32U);
}

}  // namespace upf

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace upf {

/// An integer that can't be mistaken for another kind of integer.
template <class Tag, class V>
struct Id {
  using Value = V;
  V value{};
  auto operator<=>(const Id&) const = default;
};

// Scopes and widths of TS 29.244: rule IDs are unique within a session, each kind on its own.
using PdrId = Id<struct PdrTag, std::uint16_t>;  // 8.2.36
using FarId = Id<struct FarTag, std::uint32_t>;  // 8.2.74
using QerId = Id<struct QerTag, std::uint32_t>;  // 8.2.75
using UrrId = Id<struct UrrTag, std::uint32_t>;  // 8.2.54
using BarId = Id<struct BarTag, std::uint8_t>;   // 8.2.57
using Seid =
    Id<struct SeidTag, std::uint64_t>;  // 8.2.37; ours (the UP function's) unless named otherwise
using Teid = Id<struct TeidTag, std::uint32_t>;  // TS 29.281 5.1

}  // namespace upf

template <class Tag, class V>
struct std::hash<upf::Id<Tag, V>> {
  std::size_t operator()(const upf::Id<Tag, V>& id) const noexcept {
    // SplitMix64's finaliser: std::hash of an integer is the integer, and a peer may choose ours.
    std::uint64_t x = static_cast<std::uint64_t>(id.value) + 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>(x ^ (x >> 31U));
  }
};

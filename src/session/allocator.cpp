#include "upf/session/allocator.hpp"

namespace upf::session {

std::optional<Teid> Teids::allocate(Seid owner) {
  constexpr std::size_t kMost = std::size_t{1} << 31U;
  if (owners_.size() >= kMost) return std::nullopt;
  // At most every second draw hits one that is taken, so this ends; the bound is for a random
  // source that doesn't deserve its name.
  for (int tries = 0; tries < 1000; ++tries) {
    const Teid teid{static_cast<std::uint32_t>(random_())};
    if (teid.value == 0) continue;  // TS 29.281 5.1: for messages that belong to no tunnel
    if (owners_.insert(teid, owner)) return teid;
  }
  return std::nullopt;
}

bool Teids::claim(Teid teid, Seid owner) {
  return owners_.insert(teid, owner) || *owners_.find(teid) == owner;
}

std::optional<Seid> Teids::owner(Teid teid) const {
  const Seid* const holder = owners_.find(teid);
  return holder == nullptr ? std::nullopt : std::optional{*holder};
}

}  // namespace upf::session

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/ids.hpp"

/// Identifiers that the UP function hands out.
namespace upf::session {

/// Uniformly random 64 bits; the shell's is the kernel's, a test's is seeded. Random identifiers
/// can't be guessed from one's own, and one that was given back isn't met again soon.
using Random = std::function<std::uint64_t()>;

/// TEIDs of local F-TEIDs: ours, which are random, and those that CP functions chose, side by side
/// (TS 29.244 5.5). A TEID belongs to one session whatever the local address: planes may look it
/// up without the address. Within its session it may be used by any number of PDRs.
class Teids {
 public:
  explicit Teids(Random random) : random_(std::move(random)) {}

  /// A TEID that nobody has; nothing if half of all are taken.
  [[nodiscard]] std::optional<Teid> allocate(Seid owner);
  /// Whether `owner` has it now, or had it before.
  [[nodiscard]] bool claim(Teid teid, Seid owner);
  void release(Teid teid) { owners_.erase(teid); }
  [[nodiscard]] std::optional<Seid> owner(Teid teid) const;
  [[nodiscard]] std::size_t size() const { return owners_.size(); }

 private:
  Random random_;
  std::unordered_map<Teid, Seid> owners_;
};

}  // namespace upf::session

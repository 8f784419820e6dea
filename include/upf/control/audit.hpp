#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/dataplane/audit.hpp"

namespace upf::control {

/// Why a pass of the audit runs.
enum class AuditReason : std::uint8_t { Start, Asked, Background };

struct AuditSettings {
  std::chrono::milliseconds interval{};  ///< between background passes; 0: none
  bool at_start{};                       ///< a pass before the first session
  bool repair{true};                     ///< what passes that nobody asked for do about drift
};

/// Drift by its kind (dataplane::Drift::Kind).
using DriftCounts = std::array<std::uint64_t, 3>;

/// A pass over all sessions and what belongs to none of them, under way or over.
struct AuditPass {
  static constexpr std::size_t kMostKept = 100;

  AuditReason reason{};
  bool repair{};
  bool running{};
  WallTime began{};
  WallTime ended{};
  std::uint64_t sessions{};  ///< compared so far
  std::uint64_t of_sessions{};
  std::uint64_t rules{};
  DriftCounts drift{};
  std::uint64_t repaired{};
  std::vector<dataplane::Drift> drifts{};  ///< the first kMostKept
  std::string error{};                     ///< why it ended early
};

struct AuditState {
  AuditPass pass{};  ///< the last one
  std::uint64_t passes{};
  std::uint64_t failed_passes{};
  std::uint64_t rules{};  ///< since start, as what follows
  DriftCounts drift{};
  std::uint64_t repaired{};
};

}  // namespace upf::control

#pragma once

#include <chrono>

namespace upf {

/// For intervals and timers. The core is handed `now`; only the shell reads a clock.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// Wall-clock time: what goes into PFCP time stamps.
using WallTime = std::chrono::system_clock::time_point;

/// Both, read at the same moment.
struct Now {
  TimePoint steady{};
  WallTime wall{};
};

}  // namespace upf

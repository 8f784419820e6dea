#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/app/log_line.hpp"
#include "upf/base/clock.hpp"

namespace upf::app {

/// How many lines of one kind may be logged: a burst, then a steady trickle, the rest is counted.
/// Pure: it is told the time.
///
/// Limits: 256 kinds at once; more share one allowance. So neither a flood of one event nor of made
/// up ones fills a disk.
class LogBudget {
 public:
  static constexpr double kBurst = 100;
  static constexpr double kPerSecond = 10;
  static constexpr std::size_t kKinds = 256;

  /// Whether this line may be written. If not it is counted.
  [[nodiscard]] bool take(Level level, const std::string& kind, TimePoint now);

  struct Suppressed {
    Level level{};  ///< of the most important line
    std::string kind{};
    std::uint64_t lines{};
    bool operator==(const Suppressed&) const = default;
  };
  /// What was counted since the last call. Kinds that have been silent long enough are forgotten.
  [[nodiscard]] std::vector<Suppressed> collect(TimePoint now);

 private:
  struct Bucket {
    double tokens = kBurst;
    TimePoint filled{};
    std::uint64_t suppressed{};
    Level level{};  ///< the highest of those
  };
  static void fill(Bucket& bucket, TimePoint now);

  std::map<std::string, Bucket> buckets_{};
};

}  // namespace upf::app

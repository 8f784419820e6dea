#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"

namespace upf::control {

/// So many at once, and so many a second after that.
class TokenBucket {
 public:
  explicit TokenBucket(std::uint32_t per_second) : per_second_(per_second), tokens_(per_second) {}
  [[nodiscard]] bool take(TimePoint now);

 private:
  double per_second_;
  double tokens_;
  TimePoint last_{};
};

/// Who may speak, and how much a source may ask for that we know nothing of.
///
/// Limits: kTracked sources have a bucket of their own; they are the ones heard last. All strangers
/// together share one bucket, so that forged sources gain nothing.
class Guard {
 public:
  static constexpr std::size_t kTracked = 1024;

  Guard(std::vector<IpPrefix> allow, std::uint32_t per_second_of_one, std::uint32_t per_second)
      : allow_(std::move(allow)), rate_(per_second_of_one), crowd_(per_second) {}

  /// Everyone, if there is no list.
  [[nodiscard]] bool allows(const IpAddress& source) const;
  /// Whether a stranger's request is served.
  [[nodiscard]] bool admits(TimePoint now, const IpAddress& source);

 private:
  using Tracked = std::pair<IpAddress, TokenBucket>;
  struct Hash {
    std::size_t operator()(const IpAddress& address) const noexcept {
      return std::hash<SocketAddress>{}({address, 0});
    }
  };

  std::vector<IpPrefix> allow_;
  std::uint32_t rate_;
  TokenBucket crowd_;
  std::list<Tracked> tracked_;  ///< heard last first
  std::unordered_map<IpAddress, std::list<Tracked>::iterator, Hash> index_;
};

}  // namespace upf::control

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::gtp5g {

/// Whether GTP-U peers that we send to are there (TS 29.281 7.2.1): each is asked once an interval;
/// one that doesn't answer is asked again every three seconds, and is down after three times. Pure.
class Paths {
 public:
  /// An interval of 0 asks nobody.
  explicit Paths(std::chrono::seconds interval) : interval_(interval) {}

  /// A FAR with a tunnel to the peer is there, or is gone.
  void begin(TimePoint now, Ipv4 peer);
  void end(Ipv4 peer);

  struct Due {
    std::vector<Ipv4> ask{};
    std::vector<dataplane::PathState> changed{};
  };
  [[nodiscard]] Due tick(TimePoint now);
  [[nodiscard]] std::optional<dataplane::PathState> answered(TimePoint now, Ipv4 peer);
  [[nodiscard]] std::optional<TimePoint> next() const;

 private:
  struct Peer {
    std::size_t users{};
    unsigned unanswered{};
    bool down{};
    TimePoint next{};
  };
  std::chrono::seconds interval_;
  std::map<Ipv4, Peer> peers_{};
};

}  // namespace upf::gtp5g

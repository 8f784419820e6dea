#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/dataplane/echo_timers.hpp"

namespace upf::gtp5g {

/// Whether GTP-U peers that we send to are there (TS 29.281 7.2.1): each is asked once an interval;
/// one that doesn't answer is asked again each timeout, and is down after so many times. Pure.
class Paths {
 public:
  /// An interval of 0 asks nobody.
  explicit Paths(dataplane::EchoTimers timers) : timers_(timers) {}

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
  [[nodiscard]] std::vector<dataplane::Path> all() const;

 private:
  struct Peer {
    std::size_t users{};
    unsigned unanswered{};
    bool down{};
    TimePoint asked{};
    TimePoint next{};
    std::optional<std::chrono::nanoseconds> round_trip{};
  };
  dataplane::EchoTimers timers_;
  std::map<Ipv4, Peer> peers_{};
};

}  // namespace upf::gtp5g

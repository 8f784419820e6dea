#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "forwarder.hpp"
#include "snapshot.hpp"
#include "upf/base/clock.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/dataplane/echo_timers.hpp"

namespace upf::userplane {

/// Watches the paths to GTP-U peers that rules send to (TS 29.281 7.2.1, TS 23.527 4.2): an Echo
/// Request each interval, repeated each timeout; a peer that leaves so many in a row unanswered is
/// down until it answers again. A peer is watched as long as a FAR names it.
class PathMonitor {
 public:
  /// An interval of zero watches nobody and costs nothing.
  PathMonitor(Forwarder& forwarder, dataplane::EchoTimers timers)
      : forwarder_(forwarder), timers_(timers) {}

  void begin(const Snapshot& rules, TimePoint now);
  void end(const Snapshot& rules);

  void on_answer(const EchoAnswered& answer, TimePoint now, std::vector<dataplane::Event>& out);
  void on_time(TimePoint now, std::vector<dataplane::Event>& out);
  [[nodiscard]] std::optional<TimePoint> next_time() const;

  [[nodiscard]] std::vector<dataplane::Path> paths() const;

 private:
  struct Peer {
    std::uint16_t socket{};
    std::size_t users{};
    unsigned unanswered{};
    bool up{true};  ///< until shown otherwise
    TimePoint asked{};
    TimePoint next{};
    std::optional<std::chrono::nanoseconds> round_trip{};
  };
  using Key = std::pair<bool, Address>;  ///< IPv6 or not

  Forwarder& forwarder_;
  const dataplane::EchoTimers timers_;
  std::map<Key, Peer> peers_{};
  TimePoint next_{};  ///< of no peer that is there earlier; too early does no harm
  std::uint16_t sequence_{};
};

}  // namespace upf::userplane

#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::gtp5g {

/// Which FARs buffer, and what the CP function is to be told of it: one DownlinkData an episode,
/// its BAR's delay after the first packet (TS 29.244 5.2.3.1). An episode begins when a FAR begins
/// to buffer and notify. Pure.
class Episodes {
 public:
  struct Parameters {
    bool notify{};
    Clock::duration delay{};
    std::optional<std::size_t> suggested_packets{};
    bool operator==(const Parameters&) const = default;
  };

  /// The FAR buffers. One that did so and notified already keeps its episode.
  void set(TimePoint now, Seid seid, FarId far, const Parameters& parameters);
  void end(Seid seid, FarId far);
  void end(Seid seid);

  /// The FAR's parameters while it buffers.
  [[nodiscard]] const Parameters* find(Seid seid, FarId far) const;
  /// A packet was held. `data` is told if it is the episode's first.
  void packet(TimePoint now, Seid seid, FarId far, const dataplane::DownlinkData& data);

  [[nodiscard]] std::vector<dataplane::DownlinkData> take_due(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_due() const;

 private:
  using Key = std::pair<Seid, FarId>;
  struct Episode {
    Parameters parameters{};
    std::optional<dataplane::DownlinkData> first{};
    bool announced{};
    std::optional<TimePoint> due{};
  };
  void announce(TimePoint now, const Key& key, Episode& episode);
  void forget_due(const Key& key, const Episode& episode);

  std::map<Key, Episode> episodes_{};
  std::set<std::pair<TimePoint, Key>> due_{};
};

}  // namespace upf::gtp5g

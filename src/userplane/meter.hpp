#pragma once

#include <cstdint>

#include "snapshot.hpp"
#include "state.hpp"

/// Policing and counting on the packet path. Lock-free: several threads may meet one QER or URR.
namespace upf::userplane {

/// Packets of one flow that stand or fall together: a super packet's segments, or one packet.
struct Train {
  std::uint32_t count{1};
  std::uint32_t octets_each{};
  std::uint32_t octets_last{};

  [[nodiscard]] std::uint64_t octets(std::uint32_t first_n) const {
    if (first_n == 0) return 0;
    const std::uint64_t each = octets_each;
    return first_n < count ? each * first_n : each * (count - 1) + octets_last;
  }
  [[nodiscard]] std::uint32_t octets_at(std::uint32_t i) const {
    return i + 1 < count ? octets_each : octets_last;
  }
};

/// Moments that the packet thread read once for many packets.
struct Instant {
  std::int64_t steady_ns{};
  std::int64_t wall_ns{};
};

/// Limits that a train reached, for the control thread.
class LimitSink {
 public:
  virtual ~LimitSink() = default;
  virtual void limit_reached(UrrState& urr, dataplane::LimitReached::Limit limit) = 0;
  virtual void traffic_started(UrrState& urr, std::int64_t wall_ns) = 0;
};

/// How many packets from the front of the train conform to all rates (of a PDR's QERs each that has
/// one applies). What conforms is taken from the buckets; what doesn't costs nothing.
[[nodiscard]] std::uint32_t police(const Snapshot& rules, const PdrEntry& pdr, const Train& train,
                                   std::int64_t steady_ns);

/// Counts the packets on the PDR's URRs that count before its rates have dropped some, or on those
/// that count behind them, exact to the packet where a limit blocks: the packet that reaches it
/// still passes, the next doesn't. Returns how many pass.
enum class Place : std::uint8_t { BeforeQos, AfterQos };
[[nodiscard]] std::uint32_t count(const Snapshot& rules, const PdrEntry& pdr, Place place,
                                  const Train& train, const Instant& now, LimitSink& sink);

/// Packets of a PDR that were dropped, whatever for.
void count_dropped(const Snapshot& rules, const PdrEntry& pdr, std::uint64_t packets,
                   std::uint64_t octets, LimitSink& sink);

/// Whether a URR's used-up limit closes the PDR.
[[nodiscard]] bool is_blocked(const Snapshot& rules, const PdrEntry& pdr);

}  // namespace upf::userplane

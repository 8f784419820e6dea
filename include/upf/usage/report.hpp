#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/rules/rules.hpp"

namespace upf::usage {

/// Why a report is made: the one bit of its Usage Report Trigger (TS 29.244 8.2.41). Never more
/// than one: free5GC's SMF takes only one of several.
enum class Trigger : std::uint8_t {
  Periodic,
  VolumeThreshold,
  TimeThreshold,
  QuotaHoldingTime,
  StartOfTraffic,
  StopOfTraffic,
  DroppedThreshold,
  Immediate,
  VolumeQuota,
  TimeQuota,
  Linked,
  Termination,
  MonitoringTime,
  QuotaValidityTime,
};

/// One Usage Report, TS 29.244 Tables 7.5.5.2-1, 7.5.7.2-1 and 7.5.8.3-1. Volumes are always there:
/// SMFs need them in every report.
struct Report {
  UrrId urr{};
  std::uint32_t sequence{};  ///< UR-SEQN, from 0
  Trigger trigger{};
  std::optional<WallTime> start{};  ///< none with start and stop of traffic
  std::optional<WallTime> end{};
  rules::Volume octets{};
  rules::Volume packets{};
  bool with_packets{};  ///< Measurement Information MNOP
  std::optional<std::uint32_t> duration_s{};
  std::optional<WallTime> first_packet{};
  std::optional<WallTime> last_packet{};
  /// Usage Information: which part of a usage that the Monitoring Time splits (8.2.48).
  enum class Part : std::uint8_t { Whole, BeforeMonitoringTime, AfterMonitoringTime };
  Part part{};
  bool before_qos{};  ///< Usage Information UBE, else UAE
  std::optional<std::uint32_t> query_reference{};
  bool operator==(const Report&) const = default;
};

}  // namespace upf::usage

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"

/// A URR as the CP function provisioned it, free of PFCP encoding. What of it a plane has to do is
/// rules::Urr; the rest (triggers, periods, reports) is the usage engine's.
namespace upf::rules {

/// Volume Threshold, Volume Quota and their Subsequent kin, TS 29.244 8.2.13: in octets.
struct VolumeAmount {
  std::optional<std::uint64_t> total{};
  std::optional<std::uint64_t> uplink{};
  std::optional<std::uint64_t> downlink{};
  bool operator==(const VolumeAmount&) const = default;
};

/// Reporting Triggers, TS 29.244 8.2.19, in its order.
struct UsageTriggers {
  bool periodic{};
  bool volume_threshold{};
  bool time_threshold{};
  bool quota_holding_time{};
  bool start_of_traffic{};
  bool stop_of_traffic{};
  bool dropped_threshold{};
  bool linked{};
  bool volume_quota{};
  bool time_quota{};
  bool quota_validity{};
  bool operator==(const UsageTriggers&) const = default;
};

/// Dropped DL Traffic Threshold, TS 29.244 8.2.49.
struct DroppedThreshold {
  std::optional<std::uint64_t> packets{};
  std::optional<std::uint64_t> octets{};
  bool operator==(const DroppedThreshold&) const = default;
};

/// Create URR with all Update URRs since, TS 29.244 Table 7.5.2.4-1. Durations are in seconds. A
/// trigger whose value is absent stays inactive.
struct UsageRule {
  UrrId id{};
  bool measure_duration{};
  bool measure_volume{};
  bool measure_events{};
  UsageTriggers triggers{};
  std::optional<std::uint32_t> period{};
  std::optional<VolumeAmount> volume_threshold{};
  std::optional<VolumeAmount> volume_quota{};
  std::optional<std::uint32_t> time_threshold{};
  std::optional<std::uint32_t> time_quota{};
  std::optional<std::uint32_t> quota_holding_time{};
  std::optional<std::uint32_t> quota_validity_time{};
  std::optional<std::uint32_t> inactivity_detection_time{};
  std::optional<DroppedThreshold> dropped_threshold{};
  std::optional<WallTime> monitoring_time{};
  std::optional<VolumeAmount> subsequent_volume_threshold{};
  std::optional<VolumeAmount> subsequent_volume_quota{};
  std::optional<std::uint32_t> subsequent_time_threshold{};
  std::optional<std::uint32_t> subsequent_time_quota{};
  std::vector<UrrId> linked{};          ///< with trigger `linked`: report when one of these does
  std::optional<FarId> quota_action{};  ///< FAR ID for Quota Action; none: drop
  std::optional<std::uint16_t> number_of_reports{};
  // Measurement Information, TS 29.244 8.2.68.
  bool before_qos{};          ///< MBQE
  bool inactive{};            ///< INAM: the measurement is paused
  bool reduced_info{};        ///< RADI
  bool immediate_start{};     ///< ISTM: the time counts from now on, not from the first packet
  bool with_packet_counts{};  ///< MNOP
  bool operator==(const UsageRule&) const = default;
};

/// What an Update URR (or Create URR) brings anew: a threshold or a quota that is sent again is a
/// new grant even if its value is the old one.
struct UsageGrant {
  bool created{};
  bool triggers{};
  bool period{};
  bool volume_threshold{};
  bool volume_quota{};
  bool time_threshold{};
  bool time_quota{};
  bool quota_holding_time{};
  bool quota_validity_time{};
  bool inactivity_detection_time{};
  bool dropped_threshold{};
  bool monitoring_time{};
};

struct UsageUpdate {
  UsageRule rule{};  ///< whole, as it is from now on
  UsageGrant grant{};
};

/// What a request means for the usage of a session.
struct UsageChange {
  std::vector<UsageUpdate> updates{};
  std::vector<UrrId> removed{};   ///< final reports
  std::vector<UrrId> detached{};  ///< they have lost their last PDR: final reports, but they stay
  std::vector<UrrId> queried{};   ///< immediate reports
  std::optional<std::uint32_t> query_reference{};  ///< Query URR Reference (8.2.90)
  /// User Plane Inactivity Timer (8.2.83), if the request says something of it; 0: off.
  std::optional<std::uint32_t> inactivity_timer{};
  bool ends{};  ///< the session ends: final reports of all that is left
};

}  // namespace upf::rules

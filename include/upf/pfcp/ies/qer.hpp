#pragma once

#include "upf/pfcp/ies/common.hpp"

/// QoS enforcement.
namespace upf::pfcp {

/// 8.2.7: two bits on the wire; 2 and 3 are for future use.
enum class Gate : std::uint8_t { Open = 0, Closed = 1 };

struct GateStatus {
  Gate uplink{};
  Gate downlink{};
  bool operator==(const GateStatus&) const = default;
  static const IeDef def;
};

/// MBR (8.2.8) and GBR (8.2.9): 40 bits each, in kbit/s (1000 bit).
struct BitRates {
  std::uint64_t uplink_kbps{};
  std::uint64_t downlink_kbps{};
  bool operator==(const BitRates&) const = default;
};

struct PacketRateLimit {
  std::uint8_t time_unit{};  ///< 0: minute, 1: 6 minutes, 2: hour, 3: day, 4: week
  std::uint16_t max_packets{};
  bool operator==(const PacketRateLimit&) const = default;
};

/// 8.2.63
struct PacketRate {
  std::optional<PacketRateLimit> uplink{};
  std::optional<PacketRateLimit> downlink{};
  bool additional{};  ///< APRC: the additional limits are there, for each direction engaged above
  PacketRateLimit additional_uplink{};
  PacketRateLimit additional_downlink{};
  bool operator==(const PacketRate&) const = default;
  static const IeDef def;
};

/// 8.2.139
struct PacketRateStatus {
  std::optional<std::uint16_t> remaining_uplink{};
  std::optional<std::uint16_t> remaining_downlink{};
  bool additional{};  ///< APR
  std::uint16_t additional_uplink{};
  std::uint16_t additional_downlink{};
  std::uint64_t validity_time{};
  bool operator==(const PacketRateStatus&) const = default;
  static const IeDef def;
};

/// 8.2.66
struct DlFlowLevelMarking {
  std::optional<TosTrafficClass> tos_traffic_class{};
  std::optional<std::uint16_t> service_class_indicator{};
  bool operator==(const DlFlowLevelMarking&) const = default;
  static const IeDef def;
};

/// 8.2.88
struct Rqi {
  bool rqi{};
  bool operator==(const Rqi&) const = default;
  static const IeDef def;
};

/// 8.2.174
struct QerControlIndications {
  bool rcsr{};
  bool moed{};
  bool nord{};
  bool operator==(const QerControlIndications&) const = default;
  static const IeDef def;
};

/// 8.2.216
struct QerIndications {
  bool iqfis{};
  bool operator==(const QerIndications&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.5-1
struct CreateQer {
  QerId qer_id{};
  std::optional<std::uint32_t> qer_correlation_id{};
  GateStatus gate_status{};
  std::optional<BitRates> mbr{};
  std::optional<BitRates> gbr{};
  std::optional<PacketRate> packet_rate{};
  std::optional<PacketRateStatus> packet_rate_status{};
  std::optional<DlFlowLevelMarking> dl_flow_level_marking{};
  std::optional<std::uint8_t> qfi{};  ///< 6 bits
  std::optional<Rqi> rqi{};
  std::optional<std::uint8_t> paging_policy_indicator{};  ///< 3 bits
  std::optional<std::uint32_t> averaging_window{};        ///< ms
  std::optional<QerControlIndications> qer_control_indications{};
  std::optional<QerIndications> qer_indications{};
  bool operator==(const CreateQer&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.5-1
struct UpdateQer {
  QerId qer_id{};
  std::optional<std::uint32_t> qer_correlation_id{};
  std::optional<GateStatus> gate_status{};
  std::optional<BitRates> mbr{};
  std::optional<BitRates> gbr{};
  std::optional<PacketRate> packet_rate{};
  std::optional<DlFlowLevelMarking> dl_flow_level_marking{};
  std::optional<std::uint8_t> qfi{};
  std::optional<Rqi> rqi{};
  std::optional<std::uint8_t> paging_policy_indicator{};
  std::optional<std::uint32_t> averaging_window{};
  std::optional<QerControlIndications> qer_control_indications{};
  std::optional<QerIndications> qer_indications{};
  Removed removed{};
  bool operator==(const UpdateQer&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.9-1
struct RemoveQer {
  QerId qer_id{};
  bool operator==(const RemoveQer&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

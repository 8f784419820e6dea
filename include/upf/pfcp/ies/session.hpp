#pragma once

#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/far.hpp"
#include "upf/pfcp/ies/monitoring.hpp"
#include "upf/pfcp/ies/multiaccess.hpp"
#include "upf/pfcp/ies/node.hpp"
#include "upf/pfcp/ies/pdr.hpp"
#include "upf/pfcp/ies/qer.hpp"
#include "upf/pfcp/ies/urr.hpp"

/// What belongs to a session as a whole, and its reports that are not usage.
namespace upf::pfcp {

/// 8.2.80
struct FailedRuleId {
  std::variant<PdrId, FarId, QerId, UrrId, BarId, MarId, SrrId> rule{};
  bool operator==(const FailedRuleId&) const = default;
  static const IeDef def;
};

/// 8.2.136
struct PfcpSeReqFlags {
  bool resti{};  ///< restoration: use the F-TEIDs and UE addresses that are given
  bool sumpc{};
  bool operator==(const PfcpSeReqFlags&) const = default;
  static const IeDef def;
};

/// 8.2.119
struct PfcpSrReqFlags {
  bool psdbu{};  ///< the UP function has deleted the session
  bool operator==(const PfcpSrReqFlags&) const = default;
  static const IeDef def;
};

/// 8.2.32
struct PfcpSrRspFlags {
  bool drobu{};  ///< drop what is buffered
  bool operator==(const PfcpSrRspFlags&) const = default;
  static const IeDef def;
};

/// 8.2.215
struct PfcpSdRspFlags {
  bool puru{};  ///< usage reports are still unacknowledged
  bool operator==(const PfcpSdRspFlags&) const = default;
  static const IeDef def;
};

/// 8.2.79: three bits on the wire.
enum class PdnType : std::uint8_t { Ipv4 = 1, Ipv6 = 2, Ipv4v6 = 3, NonIp = 4, Ethernet = 5 };

/// 8.2.101: digits are TBCD octets, the rest text, all as on the wire.
struct UserId {
  std::optional<std::string> imsi{};
  std::optional<std::string> imei{};
  std::optional<std::string> msisdn{};
  std::optional<std::string> nai{};
  std::optional<std::string> supi{};
  std::optional<std::string> gpsi{};
  std::optional<std::string> pei{};
  bool operator==(const UserId&) const = default;
  static const IeDef def;
};

/// 8.2.108
struct TraceInformation {
  std::array<std::uint8_t, 3> plmn{};
  std::uint32_t trace_id{};  ///< 24 bits
  std::string triggering_events{};
  std::uint8_t session_trace_depth{};
  std::string list_of_interfaces{};
  std::string trace_collection_entity{};  ///< 4 or 16 octets of address
  bool operator==(const TraceInformation&) const = default;
  static const IeDef def;
};

/// 8.2.21
struct ReportType {
  bool dldr{};
  bool usar{};
  bool erir{};
  bool upir{};
  bool tmir{};
  bool sesr{};
  bool uisr{};
  bool operator==(const ReportType&) const = default;
  static const IeDef def;
};

/// 8.2.27
struct DownlinkDataServiceInformation {
  std::optional<std::uint8_t> paging_policy_indication{};  ///< a DSCP, 6 bits
  std::optional<std::uint8_t> qfi{};                       ///< 6 bits
  bool operator==(const DownlinkDataServiceInformation&) const = default;
  static const IeDef def;
};

/// 8.2.179
struct DataStatus {
  bool drop{};
  bool buff{};
  bool operator==(const DataStatus&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.2-1
struct DownlinkDataReport {
  std::vector<PdrId> pdr_ids{};  ///< at least one
  std::vector<DownlinkDataServiceInformation> downlink_data_service_information{};
  std::optional<std::uint16_t> dl_data_packets_size{};
  std::optional<DataStatus> data_status{};
  bool operator==(const DownlinkDataReport&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.4-1
struct ErrorIndicationReport {
  std::vector<FTeid> remote_f_teids{};  ///< at least one
  bool operator==(const ErrorIndicationReport&) const = default;
  static const IeDef def;
};

/// 8.2.185
struct OffendingIeInformation {
  IeType type{};
  std::string value{};  ///< octets
  bool operator==(const OffendingIeInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.1-2
struct PartialFailureInformation {
  FailedRuleId failed_rule_id{};
  Cause failure_cause{};
  std::vector<OffendingIeInformation> offending_ie_information{};
  bool operator==(const PartialFailureInformation&) const = default;
  static const IeDef def;
};

/// 8.2.175: 16 octets
struct NfInstanceId {
  std::array<std::uint8_t, 16> uuid{};
  bool operator==(const NfInstanceId&) const = default;
  static const IeDef def;
};

/// Tables 7.5.7.1-2 (IE 252) and 7.5.5.4-1 (IE 264).
struct PacketRateStatusReport {
  QerId qer_id{};
  PacketRateStatus packet_rate_status{};
  bool operator==(const PacketRateStatusReport&) const = default;
};

/// Table 7.5.4.22-1
struct QueryPacketRateStatus {
  QerId qer_id{};
  bool operator==(const QueryPacketRateStatus&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

#pragma once

#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/pdr.hpp"
#include "upf/pfcp/ies/rule_ids.hpp"

/// What a UP function may be asked to watch beside usage: delays, accesses, clocks, TSC ports.
namespace upf::pfcp {

// ---- session reporting rules (7.5.2.9) ----------------------------------------------------------

/// 8.2.152
struct RequestedAccessAvailabilityInformation {
  bool rrca{};
  bool operator==(const RequestedAccessAvailabilityInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.9-2
struct AccessAvailabilityControlInformation {
  RequestedAccessAvailabilityInformation requested{};
  bool operator==(const AccessAvailabilityControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.167
struct RequestedQosMonitoring {
  bool dl{};
  bool ul{};
  bool rp{};
  bool gtpupm{};
  bool operator==(const RequestedQosMonitoring&) const = default;
  static const IeDef def;
};

/// 8.2.168
struct ReportingFrequency {
  bool evett{};
  bool perio{};
  bool sesrl{};
  bool operator==(const ReportingFrequency&) const = default;
  static const IeDef def;
};

/// 8.2.169: ms
struct PacketDelayThresholds {
  std::optional<std::uint32_t> downlink{};
  std::optional<std::uint32_t> uplink{};
  std::optional<std::uint32_t> round_trip{};
  bool operator==(const PacketDelayThresholds&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.9-3
struct QosMonitoringPerQosFlowControlInformation {
  std::vector<std::uint8_t> qfis{};  ///< at least one
  RequestedQosMonitoring requested_qos_monitoring{};
  ReportingFrequency reporting_frequency{};
  std::optional<PacketDelayThresholds> packet_delay_thresholds{};
  std::optional<Seconds> minimum_wait_time{};
  std::optional<Seconds> measurement_period{};
  bool operator==(const QosMonitoringPerQosFlowControlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.9-1
struct CreateSrr {
  SrrId srr_id{};
  std::optional<AccessAvailabilityControlInformation> access_availability_control_information{};
  std::vector<QosMonitoringPerQosFlowControlInformation> qos_monitoring{};
  bool operator==(const CreateSrr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.21-1
struct UpdateSrr {
  SrrId srr_id{};
  std::optional<AccessAvailabilityControlInformation> access_availability_control_information{};
  std::vector<QosMonitoringPerQosFlowControlInformation> qos_monitoring{};
  Removed removed{};
  bool operator==(const UpdateSrr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.19-1
struct RemoveSrr {
  SrrId srr_id{};
  bool operator==(const RemoveSrr&) const = default;
  static const IeDef def;
};

/// 8.2.153
struct AccessAvailabilityInformation {
  std::uint8_t access_type{};  ///< 0: 3GPP, 1: non-3GPP
  std::uint8_t status{};       ///< 0: unavailable, 1: available
  bool operator==(const AccessAvailabilityInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.6-2
struct AccessAvailabilityReport {
  std::vector<AccessAvailabilityInformation> access_availability_information{};  ///< at least one
  bool operator==(const AccessAvailabilityReport&) const = default;
  static const IeDef def;
};

/// 8.2.171: ms
struct QosMonitoringMeasurement {
  std::optional<std::uint32_t> downlink{};
  std::optional<std::uint32_t> uplink{};
  std::optional<std::uint32_t> round_trip{};
  bool plmf{};  ///< the measurement failed
  bool operator==(const QosMonitoringMeasurement&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.6-3
struct QosMonitoringReport {
  std::uint8_t qfi{};
  QosMonitoringMeasurement qos_monitoring_measurement{};
  NtpTime time_stamp{};
  std::optional<NtpTime> start_time{};
  bool operator==(const QosMonitoringReport&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.6-1
struct SessionReport {
  SrrId srr_id{};
  std::optional<AccessAvailabilityReport> access_availability_report{};
  std::vector<QosMonitoringReport> qos_monitoring_reports{};
  bool operator==(const SessionReport&) const = default;
  static const IeDef def;
};

// ---- GTP-U paths (7.4.4.1.3, 7.4.5.1.5) ---------------------------------------------------------

/// 8.2.165
struct QosReportTrigger {
  bool per{};
  bool thr{};
  bool ire{};
  bool operator==(const QosReportTrigger&) const = default;
  static const IeDef def;
};

/// 8.2.166
struct GtpuPathInterfaceType {
  bool n9{};
  bool n3{};
  bool operator==(const GtpuPathInterfaceType&) const = default;
  static const IeDef def;
};

/// Table 7.4.4.1.3-1
struct GtpuPathQosControlInformation {
  std::vector<RemoteGtpuPeer> remote_gtpu_peers{};
  std::optional<GtpuPathInterfaceType> gtpu_path_interface_type{};
  QosReportTrigger qos_report_trigger{};
  std::vector<TosTrafficClass> dscps{};
  std::optional<Seconds> measurement_period{};
  std::optional<std::uint32_t> average_packet_delay{};  ///< ms
  std::optional<std::uint32_t> minimum_packet_delay{};
  std::optional<std::uint32_t> maximum_packet_delay{};
  std::optional<UnitTimer> minimum_waiting_time{};
  bool operator==(const GtpuPathQosControlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.6-1
struct QosInformationInGtpuPathQosReport {
  std::uint32_t average_packet_delay{};
  std::optional<std::uint32_t> minimum_packet_delay{};
  std::optional<std::uint32_t> maximum_packet_delay{};
  std::optional<TosTrafficClass> dscp{};
  bool operator==(const QosInformationInGtpuPathQosReport&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.5-1
struct GtpuPathQosReport {
  RemoteGtpuPeer remote_gtpu_peer{};
  std::optional<GtpuPathInterfaceType> gtpu_path_interface_type{};
  QosReportTrigger qos_report_trigger{};
  NtpTime time_stamp{};
  std::optional<NtpTime> start_time{};
  std::vector<QosInformationInGtpuPathQosReport> qos_information{};  ///< at least one
  bool operator==(const GtpuPathQosReport&) const = default;
  static const IeDef def;
};

// ---- clocks (7.4.4.1.2, 7.4.5.1.4) --------------------------------------------------------------

/// 8.2.145
struct RequestedClockDriftInformation {
  bool rrto{};
  bool rrcr{};
  bool operator==(const RequestedClockDriftInformation&) const = default;
  static const IeDef def;
};

/// Table 7.4.4.1.2-1
struct ClockDriftControlInformation {
  RequestedClockDriftInformation requested{};
  std::vector<std::uint8_t> time_domain_numbers{};
  std::optional<std::int64_t> time_offset_threshold{};  ///< ns
  std::optional<std::uint32_t> cumulative_rate_ratio_threshold{};
  bool operator==(const ClockDriftControlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.4-1
struct ClockDriftReport {
  std::uint8_t time_domain_number{};
  std::optional<std::int64_t> time_offset_measurement{};  ///< ns
  std::optional<std::uint32_t> cumulative_rate_ratio_measurement{};
  std::optional<NtpTime> time_stamp{};
  bool operator==(const ClockDriftReport&) const = default;
  static const IeDef def;
};

// ---- time sensitive communication ---------------------------------------------------------------

/// 8.2.140
struct CreateBridgeInfoForTsc {
  bool bii{};
  bool operator==(const CreateBridgeInfoForTsc&) const = default;
  static const IeDef def;
};

/// 8.2.143
struct UserPlaneNode5gs {
  std::optional<std::string> value{};  ///< octets
  bool operator==(const UserPlaneNode5gs&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.6-1
struct CreatedBridgeInfoForTsc {
  std::optional<std::uint32_t> ds_tt_port_number{};
  std::vector<std::uint32_t> nw_tt_port_numbers{};
  std::optional<UserPlaneNode5gs> user_plane_node{};
  bool operator==(const CreatedBridgeInfoForTsc&) const = default;
  static const IeDef def;
};

/// Tables 7.5.4.18-1 (IE 199), 7.5.5.3-1 (IE 200) and 7.5.8.5-1 (IE 201). Containers are octets.
struct TscManagementInformation {
  std::optional<std::string> port_management_information_container{};
  std::optional<std::string> user_plane_node_management_information_container{};
  std::optional<std::uint32_t> nw_tt_port_number{};
  bool operator==(const TscManagementInformation&) const = default;
};

// ---- and the rest -------------------------------------------------------------------------------

/// Table 7.5.4.21-1
struct EthernetContextInformation {
  std::vector<MacAddresses> mac_addresses_detected{};  ///< at least one
  bool operator==(const EthernetContextInformation&) const = default;
  static const IeDef def;
};

/// 8.2.180
struct RdsConfigurationInformation {
  bool rds{};
  bool operator==(const RdsConfigurationInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.11-1
struct ProvideRdsConfigurationInformation {
  std::optional<RdsConfigurationInformation> rds_configuration_information{};
  bool operator==(const ProvideRdsConfigurationInformation&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

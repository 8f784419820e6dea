#pragma once

#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/ethernet.hpp"
#include "upf/pfcp/ies/pdr.hpp"

/// Usage: what to measure, when to report, and the reports.
namespace upf::pfcp {

/// 8.2.40
struct MeasurementMethod {
  bool durat{};
  bool volum{};
  bool event{};
  bool operator==(const MeasurementMethod&) const = default;
  static const IeDef def;
};

/// 8.2.19
struct ReportingTriggers {
  bool perio{};
  bool volth{};
  bool timth{};
  bool quhti{};
  bool start{};
  bool stopt{};
  bool droth{};
  bool liusa{};
  bool volqu{};
  bool timqu{};
  bool envcl{};
  bool macar{};
  bool eveth{};
  bool evequ{};
  bool ipmjl{};
  bool quvti{};
  bool reemr{};
  bool upint{};
  bool operator==(const ReportingTriggers&) const = default;
  static const IeDef def;
};

/// 8.2.41. Always three octets when we send it: free5GC's SMF takes no other length.
struct UsageReportTrigger {
  bool perio{};
  bool volth{};
  bool timth{};
  bool quhti{};
  bool start{};
  bool stopt{};
  bool droth{};
  bool immer{};
  bool volqu{};
  bool timqu{};
  bool liusa{};
  bool termr{};
  bool monit{};
  bool envcl{};
  bool macar{};
  bool eveth{};
  bool evequ{};
  bool tebur{};
  bool ipmjl{};
  bool quvti{};
  bool emrre{};
  bool upint{};
  bool operator==(const UsageReportTrigger&) const = default;
  static const IeDef def;
};

/// Volume Threshold (8.2.13), Subsequent Volume Threshold (8.2.16), Volume Quota (8.2.50),
/// Subsequent Volume Quota (8.2.86): octets.
struct Volumes {
  std::optional<std::uint64_t> total{};
  std::optional<std::uint64_t> uplink{};
  std::optional<std::uint64_t> downlink{};
  bool operator==(const Volumes&) const = default;
};

/// 8.2.44
struct VolumeMeasurement {
  std::optional<std::uint64_t> total{};
  std::optional<std::uint64_t> uplink{};
  std::optional<std::uint64_t> downlink{};
  std::optional<std::uint64_t> total_packets{};
  std::optional<std::uint64_t> uplink_packets{};
  std::optional<std::uint64_t> downlink_packets{};
  bool operator==(const VolumeMeasurement&) const = default;
  static const IeDef def;
};

/// 8.2.49
struct DroppedDlTrafficThreshold {
  std::optional<std::uint64_t> packets{};
  std::optional<std::uint64_t> octets{};
  bool operator==(const DroppedDlTrafficThreshold&) const = default;
  static const IeDef def;
};

/// 8.2.68
struct MeasurementInformation {
  bool mbqe{};  ///< measure before QoS enforcement
  bool inam{};  ///< inactive measurement
  bool radi{};  ///< reduced application detection information
  bool istm{};  ///< immediate start of time metering
  bool mnop{};  ///< number of packets too
  bool sspoc{};
  bool aspoc{};
  bool ciam{};
  bool operator==(const MeasurementInformation&) const = default;
  static const IeDef def;
};

/// 8.2.81
struct TimeQuotaMechanism {
  std::uint8_t base_time_interval_type{};  ///< 0: CTP, 1: DTP
  Seconds base_time_interval{};
  bool operator==(const TimeQuotaMechanism&) const = default;
  static const IeDef def;
};

/// 8.2.84: digits * 10^exponent
struct Multiplier {
  std::int64_t value_digits{};
  std::int32_t exponent{};
  bool operator==(const Multiplier&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.4-2
struct AggregatedUrrs {
  UrrId aggregated_urr_id{};
  Multiplier multiplier{};
  bool operator==(const AggregatedUrrs&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.4-3
struct AdditionalMonitoringTime {
  NtpTime monitoring_time{};
  std::optional<Volumes> subsequent_volume_threshold{};
  std::optional<Seconds> subsequent_time_threshold{};
  std::optional<Volumes> subsequent_volume_quota{};
  std::optional<Seconds> subsequent_time_quota{};
  std::optional<std::uint32_t> subsequent_event_threshold{};
  std::optional<std::uint32_t> subsequent_event_quota{};
  bool operator==(const AdditionalMonitoringTime&) const = default;
  static const IeDef def;
};

/// The members that Create URR and Update URR have in common. The former's mandatory ones are its
/// own.
struct UrrParameters {
  std::optional<Seconds> measurement_period{};
  std::optional<Volumes> volume_threshold{};
  std::optional<Volumes> volume_quota{};
  std::optional<std::uint32_t> event_threshold{};
  std::optional<std::uint32_t> event_quota{};
  std::optional<Seconds> time_threshold{};
  std::optional<Seconds> time_quota{};
  std::optional<Seconds> quota_holding_time{};
  std::optional<DroppedDlTrafficThreshold> dropped_dl_traffic_threshold{};
  std::optional<Seconds> quota_validity_time{};
  std::optional<NtpTime> monitoring_time{};
  std::optional<Volumes> subsequent_volume_threshold{};
  std::optional<Seconds> subsequent_time_threshold{};
  std::optional<Volumes> subsequent_volume_quota{};
  std::optional<Seconds> subsequent_time_quota{};
  std::optional<std::uint32_t> subsequent_event_threshold{};
  std::optional<std::uint32_t> subsequent_event_quota{};
  std::optional<Seconds> inactivity_detection_time{};
  std::vector<UrrId> linked_urr_ids{};
  std::optional<MeasurementInformation> measurement_information{};
  std::optional<TimeQuotaMechanism> time_quota_mechanism{};
  std::vector<AggregatedUrrs> aggregated_urrs{};
  std::optional<FarId> far_id_for_quota_action{};
  std::optional<Seconds> ethernet_inactivity_timer{};
  std::vector<AdditionalMonitoringTime> additional_monitoring_times{};
  std::optional<std::uint16_t> number_of_reports{};
  std::vector<std::string> exempted_application_ids_for_quota_action{};
  std::vector<SdfFilter> exempted_sdf_filters_for_quota_action{};
  std::optional<Seconds> user_plane_inactivity_timer{};
  bool operator==(const UrrParameters&) const = default;
};

/// Table 7.5.2.4-1
struct CreateUrr : UrrParameters {
  UrrId urr_id{};
  MeasurementMethod measurement_method{};
  ReportingTriggers reporting_triggers{};
  bool operator==(const CreateUrr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.4-1
struct UpdateUrr : UrrParameters {
  UrrId urr_id{};
  std::optional<MeasurementMethod> measurement_method{};
  std::optional<ReportingTriggers> reporting_triggers{};
  Removed removed{};
  bool operator==(const UpdateUrr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.8-1
struct RemoveUrr {
  UrrId urr_id{};
  bool operator==(const RemoveUrr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.10-1
struct QueryUrr {
  UrrId urr_id{};
  bool operator==(const QueryUrr&) const = default;
  static const IeDef def;
};

/// 8.2.59
struct UsageInformation {
  bool bef{};  ///< before a monitoring time
  bool aft{};  ///< after one
  bool uae{};  ///< after QoS enforcement
  bool ube{};  ///< before QoS enforcement
  bool operator==(const UsageInformation&) const = default;
  static const IeDef def;
};

/// 8.2.61
struct FlowInformation {
  std::uint8_t direction{};  ///< 0: unspecified, 1: downlink, 2: uplink, 3: both
  std::string description{};
  bool operator==(const FlowInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.3-2
struct ApplicationDetectionInformation {
  std::string application_id{};
  std::optional<std::string> application_instance_id{};
  std::optional<FlowInformation> flow_information{};
  std::optional<PdrId> pdr_id{};
  bool operator==(const ApplicationDetectionInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.3-4
struct JoinIpMulticastInformation {
  IpMulticastAddress ip_multicast_address{};
  std::vector<SourceIpAddress> source_ip_addresses{};
  bool operator==(const JoinIpMulticastInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.8.3-5
struct LeaveIpMulticastInformation {
  IpMulticastAddress ip_multicast_address{};
  std::vector<SourceIpAddress> source_ip_addresses{};
  bool operator==(const LeaveIpMulticastInformation&) const = default;
  static const IeDef def;
};

/// Tables 7.5.5.2-1 (IE 78), 7.5.7.2-1 (IE 79) and 7.5.8.3-1 (IE 80): the message it is in says
/// which. The members from application_detection_information on are of IE 80 only.
struct UsageReport {
  UrrId urr_id{};
  std::uint32_t ur_seqn{};
  UsageReportTrigger usage_report_trigger{};
  std::optional<NtpTime> start_time{};
  std::optional<NtpTime> end_time{};
  std::optional<VolumeMeasurement> volume_measurement{};
  std::optional<Seconds> duration_measurement{};
  std::optional<NtpTime> time_of_first_packet{};
  std::optional<NtpTime> time_of_last_packet{};
  std::optional<UsageInformation> usage_information{};
  std::optional<std::uint32_t> query_urr_reference{};
  std::optional<EthernetTrafficInformation> ethernet_traffic_information{};
  std::optional<ApplicationDetectionInformation> application_detection_information{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  std::optional<DomainName> network_instance{};
  std::vector<NtpTime> event_time_stamps{};
  std::vector<JoinIpMulticastInformation> join_ip_multicast_information{};
  std::vector<LeaveIpMulticastInformation> leave_ip_multicast_information{};
  std::optional<std::string> predefined_rules_name{};
  bool operator==(const UsageReport&) const = default;
};

/// 8.2.91
struct AdditionalUsageReportsInformation {
  bool auri{};                        ///< more will follow
  std::uint16_t number_of_reports{};  ///< 15 bits
  bool operator==(const AdditionalUsageReportsInformation&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

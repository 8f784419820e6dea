#pragma once

#include <vector>

#include "upf/pfcp/ies/session.hpp"

/// TS 29.244 7.5: messages about one session.
namespace upf::pfcp {

/// 7.5.2
struct SessionEstablishmentRequest {
  NodeId node_id{};
  FSeid cp_f_seid{};
  std::vector<CreatePdr> create_pdrs{};  ///< at least one
  std::vector<CreateFar> create_fars{};  ///< at least one
  std::vector<CreateUrr> create_urrs{};
  std::vector<CreateQer> create_qers{};
  std::vector<CreateBar> create_bars{};
  std::vector<CreateTrafficEndpoint> create_traffic_endpoints{};
  std::optional<PdnType> pdn_type{};
  std::vector<FqCsid> fq_csids{};
  std::optional<Seconds> user_plane_inactivity_timer{};
  std::optional<UserId> user_id{};
  std::optional<TraceInformation> trace_information{};
  std::optional<DomainName> apn_dnn{};
  std::optional<PfcpSeReqFlags> pfcpsereq_flags{};
  std::optional<NtpTime> recovery_time_stamp{};
  std::optional<Snssai> s_nssai{};
  std::optional<std::uint8_t> rat_type{};
  std::optional<GroupId> group_id{};
  std::vector<CreateMar> create_mars{};
  std::optional<CreateBridgeInfoForTsc> create_bridge_info_for_tsc{};
  std::vector<CreateSrr> create_srrs{};
  std::optional<ProvideAtsssControlInformation> provide_atsss_control_information{};
  std::optional<ProvideRdsConfigurationInformation> provide_rds_configuration_information{};
  bool operator==(const SessionEstablishmentRequest&) const = default;
  static const MessageDef def;
};

/// 7.5.3
struct SessionEstablishmentResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<IeType> offending_ie{};
  std::optional<FSeid> up_f_seid{};
  std::vector<CreatedPdr> created_pdrs{};
  std::optional<LoadControlInformation> load_control_information{};
  std::optional<OverloadControlInformation> overload_control_information{};
  std::vector<FqCsid> fq_csids{};
  std::optional<FailedRuleId> failed_rule_id{};
  std::vector<CreatedTrafficEndpoint> created_traffic_endpoints{};
  std::vector<PartialFailureInformation> partial_failure_information{};
  std::optional<CreatedBridgeInfoForTsc> created_bridge_info_for_tsc{};
  std::optional<AtsssControlParameters> atsss_control_parameters{};
  std::optional<RdsConfigurationInformation> rds_configuration_information{};
  bool operator==(const SessionEstablishmentResponse&) const = default;
  static const MessageDef def;
};

/// 7.5.4
struct SessionModificationRequest {
  std::optional<FSeid> cp_f_seid{};
  std::vector<RemovePdr> remove_pdrs{};
  std::vector<RemoveFar> remove_fars{};
  std::vector<RemoveUrr> remove_urrs{};
  std::vector<RemoveQer> remove_qers{};
  std::vector<RemoveBar> remove_bars{};
  std::vector<RemoveTrafficEndpoint> remove_traffic_endpoints{};
  std::vector<CreatePdr> create_pdrs{};
  std::vector<CreateFar> create_fars{};
  std::vector<CreateUrr> create_urrs{};
  std::vector<CreateQer> create_qers{};
  std::vector<CreateBar> create_bars{};
  std::vector<CreateTrafficEndpoint> create_traffic_endpoints{};
  std::vector<UpdatePdr> update_pdrs{};
  std::vector<UpdateFar> update_fars{};
  std::vector<UpdateUrr> update_urrs{};
  std::vector<UpdateQer> update_qers{};
  std::vector<UpdateBar> update_bars{};
  std::vector<UpdateTrafficEndpoint> update_traffic_endpoints{};
  std::optional<PfcpSmReqFlags> pfcpsmreq_flags{};
  std::vector<QueryUrr> query_urrs{};
  std::vector<FqCsid> fq_csids{};
  std::optional<Seconds> user_plane_inactivity_timer{};
  std::optional<std::uint32_t> query_urr_reference{};
  std::optional<TraceInformation> trace_information{};
  std::optional<NodeId> node_id{};
  std::vector<QueryPacketRateStatus> query_packet_rate_status{};
  std::optional<Snssai> s_nssai{};
  std::optional<std::uint8_t> rat_type{};
  std::optional<GroupId> group_id{};
  std::vector<RemoveMar> remove_mars{};
  std::vector<UpdateMar> update_mars{};
  std::vector<CreateMar> create_mars{};
  std::vector<TscManagementInformation> tsc_management_information{};
  std::vector<RemoveSrr> remove_srrs{};
  std::vector<CreateSrr> create_srrs{};
  std::vector<UpdateSrr> update_srrs{};
  std::optional<ProvideAtsssControlInformation> provide_atsss_control_information{};
  std::optional<EthernetContextInformation> ethernet_context_information{};
  std::vector<AccessAvailabilityInformation> access_availability_information{};
  bool operator==(const SessionModificationRequest&) const = default;
  static const MessageDef def;
};

/// 7.5.5
struct SessionModificationResponse {
  Cause cause{};
  std::optional<IeType> offending_ie{};
  std::vector<CreatedPdr> created_pdrs{};
  std::optional<LoadControlInformation> load_control_information{};
  std::optional<OverloadControlInformation> overload_control_information{};
  std::vector<UsageReport> usage_reports{};
  std::optional<FailedRuleId> failed_rule_id{};
  std::optional<AdditionalUsageReportsInformation> additional_usage_reports_information{};
  std::vector<CreatedTrafficEndpoint> created_traffic_endpoints{};
  std::vector<UpdatedPdr> updated_pdrs{};
  std::vector<PacketRateStatusReport> packet_rate_status_reports{};
  std::vector<PartialFailureInformation> partial_failure_information{};
  std::vector<TscManagementInformation> tsc_management_information{};
  std::optional<AtsssControlParameters> atsss_control_parameters{};
  bool operator==(const SessionModificationResponse&) const = default;
  static const MessageDef def;
};

/// 7.5.6
struct SessionDeletionRequest {
  bool operator==(const SessionDeletionRequest&) const = default;
  static const MessageDef def;
};

/// 7.5.7
struct SessionDeletionResponse {
  Cause cause{};
  std::optional<IeType> offending_ie{};
  std::optional<LoadControlInformation> load_control_information{};
  std::optional<OverloadControlInformation> overload_control_information{};
  std::vector<UsageReport> usage_reports{};
  std::optional<AdditionalUsageReportsInformation> additional_usage_reports_information{};
  std::vector<PacketRateStatusReport> packet_rate_status_reports{};
  std::optional<PfcpSdRspFlags> pfcpsdrsp_flags{};
  bool operator==(const SessionDeletionResponse&) const = default;
  static const MessageDef def;
};

/// 7.5.8
struct SessionReportRequest {
  ReportType report_type{};
  std::optional<DownlinkDataReport> downlink_data_report{};
  std::vector<UsageReport> usage_reports{};
  std::optional<ErrorIndicationReport> error_indication_report{};
  std::optional<LoadControlInformation> load_control_information{};
  std::optional<OverloadControlInformation> overload_control_information{};
  std::optional<AdditionalUsageReportsInformation> additional_usage_reports_information{};
  std::optional<PfcpSrReqFlags> pfcpsrreq_flags{};
  std::optional<FSeid> old_cp_f_seid{};
  std::vector<PacketRateStatusReport> packet_rate_status_reports{};
  std::optional<Cause> cause{};
  std::vector<TscManagementInformation> tsc_management_information{};
  std::vector<SessionReport> session_reports{};
  bool operator==(const SessionReportRequest&) const = default;
  static const MessageDef def;
};

/// 7.5.9
struct SessionReportResponse {
  Cause cause{};
  std::optional<IeType> offending_ie{};
  std::optional<UpdateBar> update_bar{};
  std::optional<PfcpSrRspFlags> pfcpsrrsp_flags{};
  std::optional<FSeid> cp_f_seid{};
  std::optional<FTeid> n4_u_f_teid{};
  std::optional<AlternativeSmfIpAddress> alternative_smf_ip_address{};
  std::vector<FqCsid> fq_csids{};
  std::optional<GroupId> group_id{};
  bool operator==(const SessionReportResponse&) const = default;
  static const MessageDef def;
};

}  // namespace upf::pfcp

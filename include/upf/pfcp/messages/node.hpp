#pragma once

#include <vector>

#include "upf/pfcp/ies/node.hpp"
#include "upf/pfcp/ies/session.hpp"

/// TS 29.244 7.4: messages between nodes.
namespace upf::pfcp {

/// 7.4.2.1
struct HeartbeatRequest {
  NtpTime recovery_time_stamp{};
  std::optional<SourceIpAddress> source_ip_address{};
  bool operator==(const HeartbeatRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.2.2
struct HeartbeatResponse {
  NtpTime recovery_time_stamp{};
  bool operator==(const HeartbeatResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.3.1. Without any Application ID's PFDs: all PFDs are to be removed.
struct PfdManagementRequest {
  std::vector<ApplicationIdsPfds> application_ids_pfds{};
  std::optional<NodeId> node_id{};
  bool operator==(const PfdManagementRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.3.2
struct PfdManagementResponse {
  Cause cause{};
  std::optional<IeType> offending_ie{};
  std::optional<NodeId> node_id{};
  bool operator==(const PfdManagementResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.4.1
struct AssociationSetupRequest {
  NodeId node_id{};
  NtpTime recovery_time_stamp{};
  std::optional<UpFunctionFeatures> up_function_features{};
  std::optional<CpFunctionFeatures> cp_function_features{};
  std::vector<UserPlaneIpResourceInformation> user_plane_ip_resource_information{};
  std::vector<AlternativeSmfIpAddress> alternative_smf_ip_addresses{};
  std::optional<SmfSetId> smf_set_id{};
  std::optional<PfcpSessionRetentionInformation> pfcp_session_retention_information{};
  std::vector<UeIpAddressPoolInformation> ue_ip_address_pool_information{};
  std::optional<NfInstanceId> nf_instance_id{};
  std::optional<PfcpAsReqFlags> pfcpasreq_flags{};
  std::vector<GtpuPathQosControlInformation> gtpu_path_qos_control_information{};
  std::vector<ClockDriftControlInformation> clock_drift_control_information{};
  bool operator==(const AssociationSetupRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.4.2
struct AssociationSetupResponse {
  NodeId node_id{};
  Cause cause{};
  NtpTime recovery_time_stamp{};
  std::optional<UpFunctionFeatures> up_function_features{};
  std::optional<CpFunctionFeatures> cp_function_features{};
  std::vector<UserPlaneIpResourceInformation> user_plane_ip_resource_information{};
  std::vector<AlternativeSmfIpAddress> alternative_smf_ip_addresses{};
  std::optional<SmfSetId> smf_set_id{};
  std::optional<PfcpAsRspFlags> pfcpasrsp_flags{};
  std::vector<UeIpAddressPoolInformation> ue_ip_address_pool_information{};
  std::optional<NfInstanceId> nf_instance_id{};
  /// Not in Table 7.4.4.2-1; a rejection names what was wrong all the same, and receivers skip it.
  std::optional<IeType> offending_ie{};
  std::vector<GtpuPathQosControlInformation> gtpu_path_qos_control_information{};
  std::vector<ClockDriftControlInformation> clock_drift_control_information{};
  bool operator==(const AssociationSetupResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.4.3
struct AssociationUpdateRequest {
  NodeId node_id{};
  std::optional<UpFunctionFeatures> up_function_features{};
  std::optional<CpFunctionFeatures> cp_function_features{};
  std::optional<PfcpAssociationReleaseRequest> pfcp_association_release_request{};
  std::optional<UnitTimer> graceful_release_period{};
  std::vector<UserPlaneIpResourceInformation> user_plane_ip_resource_information{};
  std::optional<PfcpAuReqFlags> pfcpaureq_flags{};
  std::vector<AlternativeSmfIpAddress> alternative_smf_ip_addresses{};
  std::optional<SmfSetId> smf_set_id{};
  std::vector<UeIpAddressPoolInformation> ue_ip_address_pool_information{};
  std::vector<UeIpAddressUsageInformation> ue_ip_address_usage_information{};
  std::vector<GtpuPathQosControlInformation> gtpu_path_qos_control_information{};
  std::vector<ClockDriftControlInformation> clock_drift_control_information{};
  bool operator==(const AssociationUpdateRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.4.4
struct AssociationUpdateResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<UpFunctionFeatures> up_function_features{};
  std::optional<CpFunctionFeatures> cp_function_features{};
  std::vector<UeIpAddressUsageInformation> ue_ip_address_usage_information{};
  std::optional<IeType> offending_ie{};  ///< not in Table 7.4.4.4-1, see the setup response
  bool operator==(const AssociationUpdateResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.4.5
struct AssociationReleaseRequest {
  NodeId node_id{};
  bool operator==(const AssociationReleaseRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.4.6
struct AssociationReleaseResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<IeType> offending_ie{};  ///< not in Table 7.4.4.6-1, see the setup response
  bool operator==(const AssociationReleaseResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.4.7: a header only.
struct VersionNotSupportedResponse {
  bool operator==(const VersionNotSupportedResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.5.1
struct NodeReportRequest {
  NodeId node_id{};
  NodeReportType node_report_type{};
  std::optional<UserPlanePathFailureReport> user_plane_path_failure_report{};
  std::optional<UserPlanePathRecoveryReport> user_plane_path_recovery_report{};
  std::optional<PeerUpRestartReport> peer_up_restart_report{};
  std::vector<ClockDriftReport> clock_drift_reports{};
  std::vector<GtpuPathQosReport> gtpu_path_qos_reports{};
  bool operator==(const NodeReportRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.5.2
struct NodeReportResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<IeType> offending_ie{};
  bool operator==(const NodeReportResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.6.1. The FQ-CSIDs of all kinds of nodes.
struct SessionSetDeletionRequest {
  NodeId node_id{};
  std::vector<FqCsid> fq_csids{};
  bool operator==(const SessionSetDeletionRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.6.2
struct SessionSetDeletionResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<IeType> offending_ie{};
  bool operator==(const SessionSetDeletionResponse&) const = default;
  static const MessageDef def;
};

/// 7.4.7.1
struct SessionSetModificationRequest {
  NodeId node_id{};
  std::vector<PfcpSessionChangeInfo> pfcp_session_change_infos{};
  bool operator==(const SessionSetModificationRequest&) const = default;
  static const MessageDef def;
};

/// 7.4.7.2
struct SessionSetModificationResponse {
  NodeId node_id{};
  Cause cause{};
  std::optional<IeType> offending_ie{};
  bool operator==(const SessionSetModificationResponse&) const = default;
  static const MessageDef def;
};

}  // namespace upf::pfcp

// Messages between nodes: TS 29.244 7.4. Members in the order of their tables.

#include "src/pfcp/tables/scalars.hpp"
#include "upf/pfcp/messages/node.hpp"

namespace upf::pfcp {
namespace {

using rows::member;
using rows::message;
using namespace tables;

constexpr MemberRow kHeartbeatRequest[] = {
    member<&HeartbeatRequest::recovery_time_stamp>(kRecoveryTimeStamp),
    member<&HeartbeatRequest::source_ip_address>(),
};

constexpr MemberRow kHeartbeatResponse[] = {
    member<&HeartbeatResponse::recovery_time_stamp>(kRecoveryTimeStamp),
};

constexpr MemberRow kPfdManagementRequest[] = {
    member<&PfdManagementRequest::application_ids_pfds>(),
    member<&PfdManagementRequest::node_id>(),
};

constexpr MemberRow kPfdManagementResponse[] = {
    member<&PfdManagementResponse::cause>(kCause),
    member<&PfdManagementResponse::offending_ie>(kOffendingIe),
    member<&PfdManagementResponse::node_id>(),
};

using SetupRequest = AssociationSetupRequest;
constexpr MemberRow kAssociationSetupRequest[] = {
    member<&SetupRequest::node_id>(),
    member<&SetupRequest::recovery_time_stamp>(kRecoveryTimeStamp),
    member<&SetupRequest::up_function_features>(),
    member<&SetupRequest::cp_function_features>(),
    member<&SetupRequest::user_plane_ip_resource_information>(),
    member<&SetupRequest::alternative_smf_ip_addresses>(),
    member<&SetupRequest::smf_set_id>(),
    member<&SetupRequest::pfcp_session_retention_information>(),
    member<&SetupRequest::ue_ip_address_pool_information>(),
    member<&SetupRequest::nf_instance_id>(),
    member<&SetupRequest::pfcpasreq_flags>(),
    member<&SetupRequest::gtpu_path_qos_control_information>(),
    member<&SetupRequest::clock_drift_control_information>(),
};

using SetupResponse = AssociationSetupResponse;
constexpr MemberRow kAssociationSetupResponse[] = {
    member<&SetupResponse::node_id>(),
    member<&SetupResponse::cause>(kCause),
    member<&SetupResponse::recovery_time_stamp>(kRecoveryTimeStamp),
    member<&SetupResponse::up_function_features>(),
    member<&SetupResponse::cp_function_features>(),
    member<&SetupResponse::user_plane_ip_resource_information>(),
    member<&SetupResponse::alternative_smf_ip_addresses>(),
    member<&SetupResponse::smf_set_id>(),
    member<&SetupResponse::pfcpasrsp_flags>(),
    member<&SetupResponse::ue_ip_address_pool_information>(),
    member<&SetupResponse::nf_instance_id>(),
    member<&SetupResponse::offending_ie>(kOffendingIe),
    member<&SetupResponse::gtpu_path_qos_control_information>(),
    member<&SetupResponse::clock_drift_control_information>(),
};

using UpdateRequest = AssociationUpdateRequest;
constexpr MemberRow kAssociationUpdateRequest[] = {
    member<&UpdateRequest::node_id>(),
    member<&UpdateRequest::up_function_features>(),
    member<&UpdateRequest::cp_function_features>(),
    member<&UpdateRequest::pfcp_association_release_request>(),
    member<&UpdateRequest::graceful_release_period>(kGracefulReleasePeriod),
    member<&UpdateRequest::user_plane_ip_resource_information>(),
    member<&UpdateRequest::pfcpaureq_flags>(),
    member<&UpdateRequest::alternative_smf_ip_addresses>(),
    member<&UpdateRequest::smf_set_id>(),
    member<&UpdateRequest::ue_ip_address_pool_information>(),
    member<&UpdateRequest::ue_ip_address_usage_information>(),
    member<&UpdateRequest::gtpu_path_qos_control_information>(),
    member<&UpdateRequest::clock_drift_control_information>(),
};

using UpdateResponse = AssociationUpdateResponse;
constexpr MemberRow kAssociationUpdateResponse[] = {
    member<&UpdateResponse::node_id>(),
    member<&UpdateResponse::cause>(kCause),
    member<&UpdateResponse::up_function_features>(),
    member<&UpdateResponse::cp_function_features>(),
    member<&UpdateResponse::ue_ip_address_usage_information>(),
    member<&UpdateResponse::offending_ie>(kOffendingIe),
};

constexpr MemberRow kAssociationReleaseRequest[] = {
    member<&AssociationReleaseRequest::node_id>(),
};

constexpr MemberRow kAssociationReleaseResponse[] = {
    member<&AssociationReleaseResponse::node_id>(),
    member<&AssociationReleaseResponse::cause>(kCause),
    member<&AssociationReleaseResponse::offending_ie>(kOffendingIe),
};

constexpr MemberRow kNodeReportRequest[] = {
    member<&NodeReportRequest::node_id>(),
    member<&NodeReportRequest::node_report_type>(),
    member<&NodeReportRequest::user_plane_path_failure_report>(),
    member<&NodeReportRequest::user_plane_path_recovery_report>(),
    member<&NodeReportRequest::peer_up_restart_report>(),
    member<&NodeReportRequest::clock_drift_reports>(),
    member<&NodeReportRequest::gtpu_path_qos_reports>(),
};

constexpr MemberRow kNodeReportResponse[] = {
    member<&NodeReportResponse::node_id>(),
    member<&NodeReportResponse::cause>(kCause),
    member<&NodeReportResponse::offending_ie>(kOffendingIe),
};

constexpr MemberRow kSessionSetDeletionRequest[] = {
    member<&SessionSetDeletionRequest::node_id>(),
    member<&SessionSetDeletionRequest::fq_csids>(),
};

constexpr MemberRow kSessionSetDeletionResponse[] = {
    member<&SessionSetDeletionResponse::node_id>(),
    member<&SessionSetDeletionResponse::cause>(kCause),
    member<&SessionSetDeletionResponse::offending_ie>(kOffendingIe),
};

constexpr MemberRow kSessionSetModificationRequest[] = {
    member<&SessionSetModificationRequest::node_id>(),
    member<&SessionSetModificationRequest::pfcp_session_change_infos>(),
};

constexpr MemberRow kSessionSetModificationResponse[] = {
    member<&SessionSetModificationResponse::node_id>(),
    member<&SessionSetModificationResponse::cause>(kCause),
    member<&SessionSetModificationResponse::offending_ie>(kOffendingIe),
};

}  // namespace

using M = MessageType;
constinit const MessageDef HeartbeatRequest::def =
    message<HeartbeatRequest>(M::HeartbeatRequest, kHeartbeatRequest);
constinit const MessageDef HeartbeatResponse::def =
    message<HeartbeatResponse>(M::HeartbeatResponse, kHeartbeatResponse);
constinit const MessageDef PfdManagementRequest::def =
    message<PfdManagementRequest>(M::PfdManagementRequest, kPfdManagementRequest);
constinit const MessageDef PfdManagementResponse::def =
    message<PfdManagementResponse>(M::PfdManagementResponse, kPfdManagementResponse);
constinit const MessageDef AssociationSetupRequest::def =
    message<AssociationSetupRequest>(M::AssociationSetupRequest, kAssociationSetupRequest);
constinit const MessageDef AssociationSetupResponse::def =
    message<AssociationSetupResponse>(M::AssociationSetupResponse, kAssociationSetupResponse);
constinit const MessageDef AssociationUpdateRequest::def =
    message<AssociationUpdateRequest>(M::AssociationUpdateRequest, kAssociationUpdateRequest);
constinit const MessageDef AssociationUpdateResponse::def =
    message<AssociationUpdateResponse>(M::AssociationUpdateResponse, kAssociationUpdateResponse);
constinit const MessageDef AssociationReleaseRequest::def =
    message<AssociationReleaseRequest>(M::AssociationReleaseRequest, kAssociationReleaseRequest);
constinit const MessageDef AssociationReleaseResponse::def =
    message<AssociationReleaseResponse>(M::AssociationReleaseResponse, kAssociationReleaseResponse);
constinit const MessageDef VersionNotSupportedResponse::def =
    message<VersionNotSupportedResponse>(M::VersionNotSupportedResponse, {});
constinit const MessageDef NodeReportRequest::def =
    message<NodeReportRequest>(M::NodeReportRequest, kNodeReportRequest);
constinit const MessageDef NodeReportResponse::def =
    message<NodeReportResponse>(M::NodeReportResponse, kNodeReportResponse);
constinit const MessageDef SessionSetDeletionRequest::def =
    message<SessionSetDeletionRequest>(M::SessionSetDeletionRequest, kSessionSetDeletionRequest);
constinit const MessageDef SessionSetDeletionResponse::def =
    message<SessionSetDeletionResponse>(M::SessionSetDeletionResponse, kSessionSetDeletionResponse);
constinit const MessageDef SessionSetModificationRequest::def =
    message<SessionSetModificationRequest>(M::SessionSetModificationRequest,
                                           kSessionSetModificationRequest);
constinit const MessageDef SessionSetModificationResponse::def =
    message<SessionSetModificationResponse>(M::SessionSetModificationResponse,
                                            kSessionSetModificationResponse);

}  // namespace upf::pfcp

// Messages about one session: TS 29.244 7.5. Members in the order of their tables.

#include "src/pfcp/tables/scalars.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace upf::pfcp {
namespace {

using rows::at_least_one;
using rows::member;
using rows::message;
using namespace tables;

using EstablishmentRequest = SessionEstablishmentRequest;
constexpr MemberRow kSessionEstablishmentRequest[] = {
    member<&EstablishmentRequest::node_id>(),
    member<&EstablishmentRequest::cp_f_seid>(),
    at_least_one<&EstablishmentRequest::create_pdrs>(),
    at_least_one<&EstablishmentRequest::create_fars>(),
    member<&EstablishmentRequest::create_urrs>(),
    member<&EstablishmentRequest::create_qers>(),
    member<&EstablishmentRequest::create_bars>(),
    member<&EstablishmentRequest::create_traffic_endpoints>(),
    member<&EstablishmentRequest::pdn_type>(kPdnType),
    member<&EstablishmentRequest::fq_csids>(),
    member<&EstablishmentRequest::user_plane_inactivity_timer>(kUserPlaneInactivityTimer),
    member<&EstablishmentRequest::user_id>(),
    member<&EstablishmentRequest::trace_information>(),
    member<&EstablishmentRequest::apn_dnn>(kApnDnn),
    member<&EstablishmentRequest::pfcpsereq_flags>(),
    member<&EstablishmentRequest::recovery_time_stamp>(kRecoveryTimeStamp),
    member<&EstablishmentRequest::s_nssai>(),
    member<&EstablishmentRequest::rat_type>(kRatType),
    member<&EstablishmentRequest::group_id>(),
    member<&EstablishmentRequest::create_mars>(),
    member<&EstablishmentRequest::create_bridge_info_for_tsc>(),
    member<&EstablishmentRequest::create_srrs>(),
    member<&EstablishmentRequest::provide_atsss_control_information>(),
    member<&EstablishmentRequest::provide_rds_configuration_information>(),
};

using EstablishmentResponse = SessionEstablishmentResponse;
constexpr MemberRow kSessionEstablishmentResponse[] = {
    member<&EstablishmentResponse::node_id>(),
    member<&EstablishmentResponse::cause>(kCause),
    member<&EstablishmentResponse::offending_ie>(kOffendingIe),
    member<&EstablishmentResponse::up_f_seid>(),
    member<&EstablishmentResponse::created_pdrs>(),
    member<&EstablishmentResponse::load_control_information>(),
    member<&EstablishmentResponse::overload_control_information>(),
    member<&EstablishmentResponse::fq_csids>(),
    member<&EstablishmentResponse::failed_rule_id>(),
    member<&EstablishmentResponse::created_traffic_endpoints>(),
    member<&EstablishmentResponse::partial_failure_information>(),
    member<&EstablishmentResponse::created_bridge_info_for_tsc>(),
    member<&EstablishmentResponse::atsss_control_parameters>(),
    member<&EstablishmentResponse::rds_configuration_information>(),
};

using ModificationRequest = SessionModificationRequest;
constexpr MemberRow kSessionModificationRequest[] = {
    member<&ModificationRequest::cp_f_seid>(),
    member<&ModificationRequest::remove_pdrs>(),
    member<&ModificationRequest::remove_fars>(),
    member<&ModificationRequest::remove_urrs>(),
    member<&ModificationRequest::remove_qers>(),
    member<&ModificationRequest::remove_bars>(),
    member<&ModificationRequest::remove_traffic_endpoints>(),
    member<&ModificationRequest::create_pdrs>(),
    member<&ModificationRequest::create_fars>(),
    member<&ModificationRequest::create_urrs>(),
    member<&ModificationRequest::create_qers>(),
    member<&ModificationRequest::create_bars>(),
    member<&ModificationRequest::create_traffic_endpoints>(),
    member<&ModificationRequest::update_pdrs>(),
    member<&ModificationRequest::update_fars>(),
    member<&ModificationRequest::update_urrs>(),
    member<&ModificationRequest::update_qers>(),
    member<&ModificationRequest::update_bars>(kUpdateBarModification),
    member<&ModificationRequest::update_traffic_endpoints>(),
    member<&ModificationRequest::pfcpsmreq_flags>(),
    member<&ModificationRequest::query_urrs>(),
    member<&ModificationRequest::fq_csids>(),
    member<&ModificationRequest::user_plane_inactivity_timer>(kUserPlaneInactivityTimer),
    member<&ModificationRequest::query_urr_reference>(kQueryUrrReference),
    member<&ModificationRequest::trace_information>(),
    member<&ModificationRequest::node_id>(),
    member<&ModificationRequest::query_packet_rate_status>(),
    member<&ModificationRequest::s_nssai>(),
    member<&ModificationRequest::rat_type>(kRatType),
    member<&ModificationRequest::group_id>(),
    member<&ModificationRequest::remove_mars>(),
    member<&ModificationRequest::update_mars>(),
    member<&ModificationRequest::create_mars>(),
    member<&ModificationRequest::tsc_management_information>(
        kTscManagementInformationModificationRequest),
    member<&ModificationRequest::remove_srrs>(),
    member<&ModificationRequest::create_srrs>(),
    member<&ModificationRequest::update_srrs>(),
    member<&ModificationRequest::provide_atsss_control_information>(),
    member<&ModificationRequest::ethernet_context_information>(),
    member<&ModificationRequest::access_availability_information>(),
};

using ModificationResponse = SessionModificationResponse;
constexpr MemberRow kSessionModificationResponse[] = {
    member<&ModificationResponse::cause>(kCause),
    member<&ModificationResponse::offending_ie>(kOffendingIe),
    member<&ModificationResponse::created_pdrs>(),
    member<&ModificationResponse::load_control_information>(),
    member<&ModificationResponse::overload_control_information>(),
    member<&ModificationResponse::usage_reports>(kUsageReportModification),
    member<&ModificationResponse::failed_rule_id>(),
    member<&ModificationResponse::additional_usage_reports_information>(),
    member<&ModificationResponse::created_traffic_endpoints>(),
    member<&ModificationResponse::updated_pdrs>(),
    member<&ModificationResponse::packet_rate_status_reports>(kPacketRateStatusReportModification),
    member<&ModificationResponse::partial_failure_information>(),
    member<&ModificationResponse::tsc_management_information>(
        kTscManagementInformationModificationResponse),
    member<&ModificationResponse::atsss_control_parameters>(),
};

using DeletionResponse = SessionDeletionResponse;
constexpr MemberRow kSessionDeletionResponse[] = {
    member<&DeletionResponse::cause>(kCause),
    member<&DeletionResponse::offending_ie>(kOffendingIe),
    member<&DeletionResponse::load_control_information>(),
    member<&DeletionResponse::overload_control_information>(),
    member<&DeletionResponse::usage_reports>(kUsageReportDeletion),
    member<&DeletionResponse::additional_usage_reports_information>(),
    member<&DeletionResponse::packet_rate_status_reports>(kPacketRateStatusReport),
    member<&DeletionResponse::pfcpsdrsp_flags>(),
};

using ReportRequest = SessionReportRequest;
constexpr MemberRow kSessionReportRequest[] = {
    member<&ReportRequest::report_type>(),
    member<&ReportRequest::downlink_data_report>(),
    member<&ReportRequest::usage_reports>(kUsageReportSessionReport),
    member<&ReportRequest::error_indication_report>(),
    member<&ReportRequest::load_control_information>(),
    member<&ReportRequest::overload_control_information>(),
    member<&ReportRequest::additional_usage_reports_information>(),
    member<&ReportRequest::pfcpsrreq_flags>(),
    member<&ReportRequest::old_cp_f_seid>(),
    member<&ReportRequest::packet_rate_status_reports>(kPacketRateStatusReport),
    member<&ReportRequest::cause>(kCause),
    member<&ReportRequest::tsc_management_information>(kTscManagementInformationSessionReport),
    member<&ReportRequest::session_reports>(),
};

using ReportResponse = SessionReportResponse;
constexpr MemberRow kSessionReportResponse[] = {
    member<&ReportResponse::cause>(kCause),
    member<&ReportResponse::offending_ie>(kOffendingIe),
    member<&ReportResponse::update_bar>(kUpdateBarSessionReport),
    member<&ReportResponse::pfcpsrrsp_flags>(),
    member<&ReportResponse::cp_f_seid>(),
    member<&ReportResponse::n4_u_f_teid>(),
    member<&ReportResponse::alternative_smf_ip_address>(),
    member<&ReportResponse::fq_csids>(),
    member<&ReportResponse::group_id>(),
};

}  // namespace

using M = MessageType;
constinit const MessageDef SessionEstablishmentRequest::def =
    message<EstablishmentRequest>(M::SessionEstablishmentRequest, kSessionEstablishmentRequest);
constinit const MessageDef SessionEstablishmentResponse::def =
    message<EstablishmentResponse>(M::SessionEstablishmentResponse, kSessionEstablishmentResponse);
constinit const MessageDef SessionModificationRequest::def =
    message<ModificationRequest>(M::SessionModificationRequest, kSessionModificationRequest);
constinit const MessageDef SessionModificationResponse::def =
    message<ModificationResponse>(M::SessionModificationResponse, kSessionModificationResponse);
constinit const MessageDef SessionDeletionRequest::def =
    message<SessionDeletionRequest>(M::SessionDeletionRequest, {});
constinit const MessageDef SessionDeletionResponse::def =
    message<DeletionResponse>(M::SessionDeletionResponse, kSessionDeletionResponse);
constinit const MessageDef SessionReportRequest::def =
    message<ReportRequest>(M::SessionReportRequest, kSessionReportRequest);
constinit const MessageDef SessionReportResponse::def =
    message<ReportResponse>(M::SessionReportResponse, kSessionReportResponse);

}  // namespace upf::pfcp

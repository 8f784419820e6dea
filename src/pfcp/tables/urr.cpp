// Usage: TS 29.244 7.5.2.4 and its update, and the usage reports of 7.5.5.2, 7.5.7.2 and 7.5.8.3.

#include "upf/pfcp/ies/urr.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::field;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::member;
using rows::more_flags;
using namespace tables;

constexpr FieldRow kMeasurementMethod[] = {
    flags<&MeasurementMethod::durat, &MeasurementMethod::volum, &MeasurementMethod::event>()};

/// Two octets in Release 15, the third came with 16.
constexpr FieldRow kReportingTriggers[] = {
    flags<&ReportingTriggers::perio, &ReportingTriggers::volth, &ReportingTriggers::timth,
          &ReportingTriggers::quhti, &ReportingTriggers::start, &ReportingTriggers::stopt,
          &ReportingTriggers::droth, &ReportingTriggers::liusa>(),
    more_flags<&ReportingTriggers::volqu, &ReportingTriggers::timqu, &ReportingTriggers::envcl,
               &ReportingTriggers::macar, &ReportingTriggers::eveth, &ReportingTriggers::evequ,
               &ReportingTriggers::ipmjl, &ReportingTriggers::quvti>(),
    more_flags<&ReportingTriggers::reemr, &ReportingTriggers::upint>(),
};

using Trigger = UsageReportTrigger;
constexpr FieldRow kUsageReportTrigger[] = {
    flags<&Trigger::perio, &Trigger::volth, &Trigger::timth, &Trigger::quhti, &Trigger::start,
          &Trigger::stopt, &Trigger::droth, &Trigger::immer>(),
    more_flags<&Trigger::volqu, &Trigger::timqu, &Trigger::liusa, &Trigger::termr, &Trigger::monit,
               &Trigger::envcl, &Trigger::macar, &Trigger::eveth>(),
    more_flags<&Trigger::evequ, &Trigger::tebur, &Trigger::ipmjl, &Trigger::quvti, &Trigger::emrre,
               &Trigger::upint>(),
};

using Volume = VolumeMeasurement;
constexpr FieldRow kVolumeMeasurement[] = {
    flags<&Volume::total, &Volume::uplink, &Volume::downlink, &Volume::total_packets,
          &Volume::uplink_packets, &Volume::downlink_packets>(),
    field<&Volume::total>(),
    field<&Volume::uplink>(),
    field<&Volume::downlink>(),
    field<&Volume::total_packets>(),
    field<&Volume::uplink_packets>(),
    field<&Volume::downlink_packets>(),
};

constexpr FieldRow kDroppedDlTrafficThreshold[] = {
    flags<&DroppedDlTrafficThreshold::packets, &DroppedDlTrafficThreshold::octets>(),
    field<&DroppedDlTrafficThreshold::packets>(),
    field<&DroppedDlTrafficThreshold::octets>(),
};

using Information = MeasurementInformation;
constexpr FieldRow kMeasurementInformation[] = {
    flags<&Information::mbqe, &Information::inam, &Information::radi, &Information::istm,
          &Information::mnop, &Information::sspoc, &Information::aspoc, &Information::ciam>(),
};

constexpr FieldRow kTimeQuotaMechanism[] = {
    rows::low_bits<&TimeQuotaMechanism::base_time_interval_type, 2>(),
    field<&TimeQuotaMechanism::base_time_interval>(),
};

constexpr FieldRow kMultiplier[] = {field<&Multiplier::value_digits>(),
                                    field<&Multiplier::exponent>()};

constexpr MemberRow kAggregatedUrrs[] = {
    member<&AggregatedUrrs::aggregated_urr_id>(kAggregatedUrrId),
    member<&AggregatedUrrs::multiplier>(),
};

using Additional = AdditionalMonitoringTime;
constexpr MemberRow kAdditionalMonitoringTime[] = {
    member<&Additional::monitoring_time>(kMonitoringTime),
    member<&Additional::subsequent_volume_threshold>(kSubsequentVolumeThreshold),
    member<&Additional::subsequent_time_threshold>(kSubsequentTimeThreshold),
    member<&Additional::subsequent_volume_quota>(kSubsequentVolumeQuota),
    member<&Additional::subsequent_time_quota>(kSubsequentTimeQuota),
    member<&Additional::subsequent_event_threshold>(kSubsequentEventThreshold),
    member<&Additional::subsequent_event_quota>(kSubsequentEventQuota),
};

/// What differs comes first, then what both groups have.
template <class G>
constexpr auto urr_rows(MemberRow id, MemberRow method, MemberRow triggers) {
  using P = UrrParameters;
  return std::to_array<MemberRow>({
      id,
      method,
      triggers,
      member<&P::measurement_period, G>(kMeasurementPeriod),
      member<&P::volume_threshold, G>(kVolumeThreshold),
      member<&P::volume_quota, G>(kVolumeQuota),
      member<&P::event_threshold, G>(kEventThreshold),
      member<&P::event_quota, G>(kEventQuota),
      member<&P::time_threshold, G>(kTimeThreshold),
      member<&P::time_quota, G>(kTimeQuota),
      member<&P::quota_holding_time, G>(kQuotaHoldingTime),
      member<&P::dropped_dl_traffic_threshold, G>(),
      member<&P::quota_validity_time, G>(kQuotaValidityTime),
      member<&P::monitoring_time, G>(kMonitoringTime),
      member<&P::subsequent_volume_threshold, G>(kSubsequentVolumeThreshold),
      member<&P::subsequent_time_threshold, G>(kSubsequentTimeThreshold),
      member<&P::subsequent_volume_quota, G>(kSubsequentVolumeQuota),
      member<&P::subsequent_time_quota, G>(kSubsequentTimeQuota),
      member<&P::subsequent_event_threshold, G>(kSubsequentEventThreshold),
      member<&P::subsequent_event_quota, G>(kSubsequentEventQuota),
      member<&P::inactivity_detection_time, G>(kInactivityDetectionTime),
      member<&P::linked_urr_ids, G>(kLinkedUrrId),
      member<&P::measurement_information, G>(),
      member<&P::time_quota_mechanism, G>(),
      member<&P::aggregated_urrs, G>(),
      member<&P::far_id_for_quota_action, G>(kFarId),
      member<&P::ethernet_inactivity_timer, G>(kEthernetInactivityTimer),
      member<&P::additional_monitoring_times, G>(),
      member<&P::number_of_reports, G>(kNumberOfReports),
      member<&P::exempted_application_ids_for_quota_action, G>(kApplicationId),
      member<&P::exempted_sdf_filters_for_quota_action, G>(),
      member<&P::user_plane_inactivity_timer, G>(kUserPlaneInactivityTimer),
  });
}

constexpr auto kCreateUrr = urr_rows<CreateUrr>(member<&CreateUrr::urr_id>(kUrrId),
                                                member<&CreateUrr::measurement_method>(),
                                                member<&CreateUrr::reporting_triggers>());
constexpr auto kUpdateUrr = urr_rows<UpdateUrr>(member<&UpdateUrr::urr_id>(kUrrId),
                                                member<&UpdateUrr::measurement_method>(),
                                                member<&UpdateUrr::reporting_triggers>());

constexpr MemberRow kRemoveUrr[] = {member<&RemoveUrr::urr_id>(kUrrId)};
constexpr MemberRow kQueryUrr[] = {member<&QueryUrr::urr_id>(kUrrId)};

constexpr FieldRow kUsageInformation[] = {flags<&UsageInformation::bef, &UsageInformation::aft,
                                                &UsageInformation::uae, &UsageInformation::ube>()};

constexpr FieldRow kFlowInformation[] = {
    rows::low_bits<&FlowInformation::direction, 3>(),
    rows::counted<&FlowInformation::description>(),
};

using Detection = ApplicationDetectionInformation;
constexpr MemberRow kApplicationDetectionInformation[] = {
    member<&Detection::application_id>(kApplicationId),
    member<&Detection::application_instance_id>(kApplicationInstanceId),
    member<&Detection::flow_information>(),
    member<&Detection::pdr_id>(kPdrId),
};

constexpr MemberRow kJoinIpMulticastInformation[] = {
    member<&JoinIpMulticastInformation::ip_multicast_address>(),
    member<&JoinIpMulticastInformation::source_ip_addresses>(),
};
constexpr MemberRow kLeaveIpMulticastInformation[] = {
    member<&LeaveIpMulticastInformation::ip_multicast_address>(),
    member<&LeaveIpMulticastInformation::source_ip_addresses>(),
};

/// In an answer to a modification or deletion.
constexpr MemberRow kUsageReportInAnswer[] = {
    member<&UsageReport::urr_id>(kUrrId),
    member<&UsageReport::ur_seqn>(kUrSeqn),
    member<&UsageReport::usage_report_trigger>(),
    member<&UsageReport::start_time>(kStartTime),
    member<&UsageReport::end_time>(kEndTime),
    member<&UsageReport::volume_measurement>(),
    member<&UsageReport::duration_measurement>(kDurationMeasurement),
    member<&UsageReport::time_of_first_packet>(kTimeOfFirstPacket),
    member<&UsageReport::time_of_last_packet>(kTimeOfLastPacket),
    member<&UsageReport::usage_information>(),
    member<&UsageReport::query_urr_reference>(kQueryUrrReference),
    member<&UsageReport::ethernet_traffic_information>(),
};

/// In the order of Table 7.5.8.3-1.
constexpr MemberRow kUsageReportInReport[] = {
    member<&UsageReport::urr_id>(kUrrId),
    member<&UsageReport::ur_seqn>(kUrSeqn),
    member<&UsageReport::usage_report_trigger>(),
    member<&UsageReport::start_time>(kStartTime),
    member<&UsageReport::end_time>(kEndTime),
    member<&UsageReport::volume_measurement>(),
    member<&UsageReport::duration_measurement>(kDurationMeasurement),
    member<&UsageReport::application_detection_information>(),
    member<&UsageReport::ue_ip_addresses>(),
    member<&UsageReport::network_instance>(kNetworkInstance),
    member<&UsageReport::time_of_first_packet>(kTimeOfFirstPacket),
    member<&UsageReport::time_of_last_packet>(kTimeOfLastPacket),
    member<&UsageReport::usage_information>(),
    member<&UsageReport::query_urr_reference>(kQueryUrrReference),
    member<&UsageReport::event_time_stamps>(kTimeStamp),
    member<&UsageReport::ethernet_traffic_information>(),
    member<&UsageReport::join_ip_multicast_information>(),
    member<&UsageReport::leave_ip_multicast_information>(),
    member<&UsageReport::predefined_rules_name>(kPredefinedRulesName),
};

/// AURI in the top bit, the number in the other fifteen.
constexpr FieldRow kAdditionalUsageReportsInformation[] = {
    {"",
     [](wire::Reader& in, void* ie) {
       auto& reports = *static_cast<AdditionalUsageReportsInformation*>(ie);
       const unsigned value = in.be<std::uint16_t>();
       reports.auri = (value & 0x8000U) != 0;
       reports.number_of_reports = static_cast<std::uint16_t>(value & 0x7fffU);
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       const auto& reports = *static_cast<const AdditionalUsageReportsInformation*>(ie);
       out.be(static_cast<std::uint16_t>((reports.auri ? 0x8000U : 0U) |
                                         (reports.number_of_reports & 0x7fffU)));
     },
     [](std::string_view, std::string& out, const void* ie) {
       const auto& reports = *static_cast<const AdditionalUsageReportsInformation*>(ie);
       out += fmt::format("{} {}", reports.auri ? " auri" : "", reports.number_of_reports);
     }},
};

}  // namespace

namespace tables {
constinit const Def<UsageReport> kUsageReportModification =
    rows::shared_group<UsageReport>(IeType::UsageReportModification, kUsageReportInAnswer);
constinit const Def<UsageReport> kUsageReportDeletion =
    rows::shared_group<UsageReport>(IeType::UsageReportDeletion, kUsageReportInAnswer);
constinit const Def<UsageReport> kUsageReportSessionReport =
    rows::shared_group<UsageReport>(IeType::UsageReportSessionReport, kUsageReportInReport);
}  // namespace tables

constinit const IeDef MeasurementMethod::def = leaf(IeType::MeasurementMethod, kMeasurementMethod);
constinit const IeDef ReportingTriggers::def =
    leaf(IeType::ReportingTriggers, kReportingTriggers, 2);
constinit const IeDef UsageReportTrigger::def =
    leaf(IeType::UsageReportTrigger, kUsageReportTrigger);
constinit const IeDef VolumeMeasurement::def = leaf(IeType::VolumeMeasurement, kVolumeMeasurement);
constinit const IeDef DroppedDlTrafficThreshold::def =
    leaf(IeType::DroppedDlTrafficThreshold, kDroppedDlTrafficThreshold);
constinit const IeDef MeasurementInformation::def =
    leaf(IeType::MeasurementInformation, kMeasurementInformation);
constinit const IeDef TimeQuotaMechanism::def =
    leaf(IeType::TimeQuotaMechanism, kTimeQuotaMechanism);
constinit const IeDef Multiplier::def = leaf(IeType::Multiplier, kMultiplier);
constinit const IeDef AggregatedUrrs::def =
    group<AggregatedUrrs>(IeType::AggregatedUrrs, kAggregatedUrrs);
constinit const IeDef AdditionalMonitoringTime::def =
    group<AdditionalMonitoringTime>(IeType::AdditionalMonitoringTime, kAdditionalMonitoringTime);
constinit const IeDef CreateUrr::def = group<CreateUrr>(IeType::CreateUrr, kCreateUrr);
constinit const IeDef UpdateUrr::def = group<UpdateUrr>(IeType::UpdateUrr, kUpdateUrr);
constinit const IeDef RemoveUrr::def = group<RemoveUrr>(IeType::RemoveUrr, kRemoveUrr);
constinit const IeDef QueryUrr::def = group<QueryUrr>(IeType::QueryUrr, kQueryUrr);
constinit const IeDef UsageInformation::def = leaf(IeType::UsageInformation, kUsageInformation);
constinit const IeDef FlowInformation::def = leaf(IeType::FlowInformation, kFlowInformation);
constinit const IeDef ApplicationDetectionInformation::def = group<ApplicationDetectionInformation>(
    IeType::ApplicationDetectionInformation, kApplicationDetectionInformation);
constinit const IeDef JoinIpMulticastInformation::def = group<JoinIpMulticastInformation>(
    IeType::JoinIpMulticastInformation, kJoinIpMulticastInformation);
constinit const IeDef LeaveIpMulticastInformation::def = group<LeaveIpMulticastInformation>(
    IeType::LeaveIpMulticastInformation, kLeaveIpMulticastInformation);
constinit const IeDef AdditionalUsageReportsInformation::def =
    leaf(IeType::AdditionalUsageReportsInformation, kAdditionalUsageReportsInformation);

}  // namespace upf::pfcp

// What a UP function may be asked to watch: TS 29.244 7.4.4.1.2, 7.4.4.1.3, 7.4.5.1.4, 7.4.5.1.5,
// 7.5.2.9 and their reports.

#include "upf/pfcp/ies/monitoring.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::at_least_one;
using rows::field;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::member;
using rows::scalar;
using namespace tables;
using T = IeType;

constinit const Def<SrrId> kSrrId = scalar<SrrId>(T::SrrId);
constinit const Def<Seconds> kMinimumWaitTime = scalar<Seconds>(T::MinimumWaitTime);
constinit const Def<std::uint32_t> kAveragePacketDelay =
    scalar<std::uint32_t>(T::AveragePacketDelay);
constinit const Def<std::uint32_t> kMinimumPacketDelay =
    scalar<std::uint32_t>(T::MinimumPacketDelay);
constinit const Def<std::uint32_t> kMaximumPacketDelay =
    scalar<std::uint32_t>(T::MaximumPacketDelay);
constinit const Def<std::uint8_t> kTimeDomainNumber = scalar<std::uint8_t>(T::TimeDomainNumber);
constinit const Def<std::int64_t> kTimeOffsetThreshold =
    scalar<std::int64_t>(T::TimeOffsetThreshold);
constinit const Def<std::uint32_t> kCumulativeRateRatioThreshold =
    scalar<std::uint32_t>(T::CumulativeRateRatioThreshold);
constinit const Def<std::int64_t> kTimeOffsetMeasurement =
    scalar<std::int64_t>(T::TimeOffsetMeasurement);
constinit const Def<std::uint32_t> kCumulativeRateRatioMeasurement =
    scalar<std::uint32_t>(T::CumulativeRateRatioMeasurement);
constinit const Def<std::uint32_t> kDsTtPortNumber = scalar<std::uint32_t>(T::DsTtPortNumber);
constinit const Def<std::uint32_t> kNwTtPortNumber = scalar<std::uint32_t>(T::NwTtPortNumber);
constinit const Def<Text> kPortManagementInformationContainer =
    scalar<Text>(T::PortManagementInformationContainer);
constinit const Def<Text> kUserPlaneNodeManagementInformationContainer =
    scalar<Text>(T::UserPlaneNodeManagementInformationContainer);

using RequestedAccess = RequestedAccessAvailabilityInformation;
constexpr FieldRow kRequestedAccess[] = {flags<&RequestedAccess::rrca>()};
constexpr MemberRow kAccessControl[] = {member<&AccessAvailabilityControlInformation::requested>()};

using RequestedQos = RequestedQosMonitoring;
constexpr FieldRow kRequestedQos[] = {
    flags<&RequestedQos::dl, &RequestedQos::ul, &RequestedQos::rp, &RequestedQos::gtpupm>()};
constexpr FieldRow kReportingFrequency[] = {
    flags<&ReportingFrequency::evett, &ReportingFrequency::perio, &ReportingFrequency::sesrl>()};

using Delays = PacketDelayThresholds;
constexpr FieldRow kPacketDelayThresholds[] = {
    flags<&Delays::downlink, &Delays::uplink, &Delays::round_trip>(),
    field<&Delays::downlink>(),
    field<&Delays::uplink>(),
    field<&Delays::round_trip>(),
};

using PerFlow = QosMonitoringPerQosFlowControlInformation;
constexpr MemberRow kPerFlow[] = {
    at_least_one<&PerFlow::qfis>(kQfi),
    member<&PerFlow::requested_qos_monitoring>(),
    member<&PerFlow::reporting_frequency>(),
    member<&PerFlow::packet_delay_thresholds>(),
    member<&PerFlow::minimum_wait_time>(kMinimumWaitTime),
    member<&PerFlow::measurement_period>(kMeasurementPeriod),
};

constexpr MemberRow kCreateSrr[] = {
    member<&CreateSrr::srr_id>(kSrrId),
    member<&CreateSrr::access_availability_control_information>(),
    member<&CreateSrr::qos_monitoring>(),
};
constexpr MemberRow kUpdateSrr[] = {
    member<&UpdateSrr::srr_id>(kSrrId),
    member<&UpdateSrr::access_availability_control_information>(),
    member<&UpdateSrr::qos_monitoring>(),
};
constexpr MemberRow kRemoveSrr[] = {member<&RemoveSrr::srr_id>(kSrrId)};

using AccessInformation = AccessAvailabilityInformation;
constexpr FieldRow kAccessInformation[] = {
    rows::packed<&AccessInformation::access_type, 2, &AccessInformation::status, 2>()};
constexpr MemberRow kAccessReport[] = {
    at_least_one<&AccessAvailabilityReport::access_availability_information>()};

using Measured = QosMonitoringMeasurement;
constexpr FieldRow kQosMonitoringMeasurement[] = {
    flags<&Measured::downlink, &Measured::uplink, &Measured::round_trip, &Measured::plmf>(),
    field<&Measured::downlink>(),
    field<&Measured::uplink>(),
    field<&Measured::round_trip>(),
};
constexpr MemberRow kQosMonitoringReport[] = {
    member<&QosMonitoringReport::qfi>(kQfi),
    member<&QosMonitoringReport::qos_monitoring_measurement>(),
    member<&QosMonitoringReport::time_stamp>(kTimeStamp),
    member<&QosMonitoringReport::start_time>(kStartTime),
};
constexpr MemberRow kSessionReport[] = {
    member<&SessionReport::srr_id>(kSrrId),
    member<&SessionReport::access_availability_report>(),
    member<&SessionReport::qos_monitoring_reports>(),
};

constexpr FieldRow kQosReportTrigger[] = {
    flags<&QosReportTrigger::per, &QosReportTrigger::thr, &QosReportTrigger::ire>()};
constexpr FieldRow kGtpuPathInterfaceType[] = {
    flags<&GtpuPathInterfaceType::n9, &GtpuPathInterfaceType::n3>()};

using PathControl = GtpuPathQosControlInformation;
constexpr MemberRow kPathControl[] = {
    member<&PathControl::remote_gtpu_peers>(),
    member<&PathControl::gtpu_path_interface_type>(),
    member<&PathControl::qos_report_trigger>(),
    member<&PathControl::dscps>(kTransportLevelMarking),
    member<&PathControl::measurement_period>(kMeasurementPeriod),
    member<&PathControl::average_packet_delay>(kAveragePacketDelay),
    member<&PathControl::minimum_packet_delay>(kMinimumPacketDelay),
    member<&PathControl::maximum_packet_delay>(kMaximumPacketDelay),
    member<&PathControl::minimum_waiting_time>(kTimer),
};
using PathInformation = QosInformationInGtpuPathQosReport;
constexpr MemberRow kPathInformation[] = {
    member<&PathInformation::average_packet_delay>(kAveragePacketDelay),
    member<&PathInformation::minimum_packet_delay>(kMinimumPacketDelay),
    member<&PathInformation::maximum_packet_delay>(kMaximumPacketDelay),
    member<&PathInformation::dscp>(kTransportLevelMarking),
};
constexpr MemberRow kGtpuPathQosReport[] = {
    member<&GtpuPathQosReport::remote_gtpu_peer>(),
    member<&GtpuPathQosReport::gtpu_path_interface_type>(),
    member<&GtpuPathQosReport::qos_report_trigger>(),
    member<&GtpuPathQosReport::time_stamp>(kTimeStamp),
    member<&GtpuPathQosReport::start_time>(kStartTime),
    at_least_one<&GtpuPathQosReport::qos_information>(),
};

using RequestedDrift = RequestedClockDriftInformation;
constexpr FieldRow kRequestedDrift[] = {flags<&RequestedDrift::rrto, &RequestedDrift::rrcr>()};
using DriftControl = ClockDriftControlInformation;
constexpr MemberRow kDriftControl[] = {
    member<&DriftControl::requested>(),
    member<&DriftControl::time_domain_numbers>(kTimeDomainNumber),
    member<&DriftControl::time_offset_threshold>(kTimeOffsetThreshold),
    member<&DriftControl::cumulative_rate_ratio_threshold>(kCumulativeRateRatioThreshold),
};
constexpr MemberRow kClockDriftReport[] = {
    member<&ClockDriftReport::time_domain_number>(kTimeDomainNumber),
    member<&ClockDriftReport::time_offset_measurement>(kTimeOffsetMeasurement),
    member<&ClockDriftReport::cumulative_rate_ratio_measurement>(kCumulativeRateRatioMeasurement),
    member<&ClockDriftReport::time_stamp>(kTimeStamp),
};

constexpr FieldRow kCreateBridgeInfoForTsc[] = {flags<&CreateBridgeInfoForTsc::bii>()};
constexpr FieldRow kUserPlaneNode5gs[] = {flags<&UserPlaneNode5gs::value>(),
                                          field<&UserPlaneNode5gs::value>()};
constexpr MemberRow kCreatedBridgeInfoForTsc[] = {
    member<&CreatedBridgeInfoForTsc::ds_tt_port_number>(kDsTtPortNumber),
    member<&CreatedBridgeInfoForTsc::nw_tt_port_numbers>(kNwTtPortNumber),
    member<&CreatedBridgeInfoForTsc::user_plane_node>(),
};
using Tsc = TscManagementInformation;
constexpr MemberRow kTsc[] = {
    member<&Tsc::port_management_information_container>(kPortManagementInformationContainer),
    member<&Tsc::user_plane_node_management_information_container>(
        kUserPlaneNodeManagementInformationContainer),
    member<&Tsc::nw_tt_port_number>(kNwTtPortNumber),
};

constexpr MemberRow kEthernetContextInformation[] = {
    at_least_one<&EthernetContextInformation::mac_addresses_detected>(kMacAddressesDetected)};
constexpr FieldRow kRdsConfigurationInformation[] = {flags<&RdsConfigurationInformation::rds>()};
constexpr MemberRow kProvideRds[] = {
    member<&ProvideRdsConfigurationInformation::rds_configuration_information>()};

}  // namespace

namespace tables {
constinit const Def<TscManagementInformation> kTscManagementInformationModificationRequest =
    rows::shared_group<Tsc>(T::TscManagementInformationModificationRequest, kTsc);
constinit const Def<TscManagementInformation> kTscManagementInformationModificationResponse =
    rows::shared_group<Tsc>(T::TscManagementInformationModificationResponse, kTsc);
constinit const Def<TscManagementInformation> kTscManagementInformationSessionReport =
    rows::shared_group<Tsc>(T::TscManagementInformationSessionReport, kTsc);
}  // namespace tables

constinit const IeDef RequestedAccessAvailabilityInformation::def =
    leaf(T::RequestedAccessAvailabilityInformation, kRequestedAccess);
constinit const IeDef AccessAvailabilityControlInformation::def =
    group<AccessAvailabilityControlInformation>(T::AccessAvailabilityControlInformation,
                                                kAccessControl);
constinit const IeDef RequestedQosMonitoring::def = leaf(T::RequestedQosMonitoring, kRequestedQos);
constinit const IeDef ReportingFrequency::def = leaf(T::ReportingFrequency, kReportingFrequency);
constinit const IeDef PacketDelayThresholds::def =
    leaf(T::PacketDelayThresholds, kPacketDelayThresholds);
constinit const IeDef QosMonitoringPerQosFlowControlInformation::def =
    group<PerFlow>(T::QosMonitoringPerQosFlowControlInformation, kPerFlow);
constinit const IeDef CreateSrr::def = group<CreateSrr>(T::CreateSrr, kCreateSrr);
constinit const IeDef UpdateSrr::def = group<UpdateSrr>(T::UpdateSrr, kUpdateSrr);
constinit const IeDef RemoveSrr::def = group<RemoveSrr>(T::RemoveSrr, kRemoveSrr);
constinit const IeDef AccessAvailabilityInformation::def =
    leaf(T::AccessAvailabilityInformation, kAccessInformation);
constinit const IeDef AccessAvailabilityReport::def =
    group<AccessAvailabilityReport>(T::AccessAvailabilityReport, kAccessReport);
constinit const IeDef QosMonitoringMeasurement::def =
    leaf(T::QosMonitoringMeasurement, kQosMonitoringMeasurement);
constinit const IeDef QosMonitoringReport::def =
    group<QosMonitoringReport>(T::QosMonitoringReport, kQosMonitoringReport);
constinit const IeDef SessionReport::def = group<SessionReport>(T::SessionReport, kSessionReport);
constinit const IeDef QosReportTrigger::def = leaf(T::QosReportTrigger, kQosReportTrigger);
constinit const IeDef GtpuPathInterfaceType::def =
    leaf(T::GtpuPathInterfaceType, kGtpuPathInterfaceType);
constinit const IeDef GtpuPathQosControlInformation::def =
    group<PathControl>(T::GtpuPathQosControlInformation, kPathControl);
constinit const IeDef QosInformationInGtpuPathQosReport::def =
    group<PathInformation>(T::QosInformationInGtpuPathQosReport, kPathInformation);
constinit const IeDef GtpuPathQosReport::def =
    group<GtpuPathQosReport>(T::GtpuPathQosReport, kGtpuPathQosReport);
constinit const IeDef RequestedClockDriftInformation::def =
    leaf(T::RequestedClockDriftInformation, kRequestedDrift);
constinit const IeDef ClockDriftControlInformation::def =
    group<DriftControl>(T::ClockDriftControlInformation, kDriftControl);
constinit const IeDef ClockDriftReport::def =
    group<ClockDriftReport>(T::ClockDriftReport, kClockDriftReport);
constinit const IeDef CreateBridgeInfoForTsc::def =
    leaf(T::CreateBridgeInfoForTsc, kCreateBridgeInfoForTsc);
constinit const IeDef UserPlaneNode5gs::def = leaf(T::UserPlaneNode5gs, kUserPlaneNode5gs);
constinit const IeDef CreatedBridgeInfoForTsc::def =
    group<CreatedBridgeInfoForTsc>(T::CreatedBridgeInfoForTsc, kCreatedBridgeInfoForTsc);
constinit const IeDef EthernetContextInformation::def =
    group<EthernetContextInformation>(T::EthernetContextInformation, kEthernetContextInformation);
constinit const IeDef RdsConfigurationInformation::def =
    leaf(T::RdsConfigurationInformation, kRdsConfigurationInformation);
constinit const IeDef ProvideRdsConfigurationInformation::def =
    group<ProvideRdsConfigurationInformation>(T::ProvideRdsConfigurationInformation, kProvideRds);

}  // namespace upf::pfcp

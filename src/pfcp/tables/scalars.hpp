#pragma once

#include "src/pfcp/rows.hpp"
#include "upf/pfcp/ies/session.hpp"

/// IEs whose value has no struct of its own, or one that several IEs share. Named as in
/// ie_types.def.
namespace upf::pfcp::tables {

using rows::Counted;
using Text = std::string;

extern const Def<Text> kActivatePredefinedRules;
extern const Def<NtpTime> kActivationTime;
extern const Def<UrrId> kAggregatedUrrId;
extern const Def<DomainName> kApnDnn;
extern const Def<Text> kApplicationId;
extern const Def<Text> kApplicationInstanceId;
extern const Def<std::uint32_t> kAveragingWindow;
extern const Def<BarId> kBarId;
extern const Def<VlanTag> kCTag;
extern const Def<Cause> kCause;
extern const Def<DualAddress> kCpIpAddress;
extern const Def<DualAddress> kCpPfcpEntityIpAddress;
extern const Def<Text> kDataNetworkAccessIdentifier;
extern const Def<Text> kDeactivatePredefinedRules;
extern const Def<NtpTime> kDeactivationTime;
extern const Def<DestinationInterface> kDestinationInterface;
extern const Def<UnitTimer> kDlBufferingDuration;
extern const Def<std::uint16_t> kDlBufferingSuggestedPacketCount;
extern const Def<std::uint16_t> kDlDataPacketsSize;
extern const Def<Text> kDnsQueryFilter;
extern const Def<std::uint8_t> kDownlinkDataNotificationDelay;
extern const Def<Seconds> kDurationMeasurement;
extern const Def<NtpTime> kEndTime;
extern const Def<std::uint32_t> kEthernetFilterId;
extern const Def<Seconds> kEthernetInactivityTimer;
extern const Def<std::uint16_t> kEthertype;
extern const Def<std::uint32_t> kEventQuota;
extern const Def<std::uint32_t> kEventThreshold;
extern const Def<FarId> kFarId;
extern const Def<Text> kForwardingPolicy;
extern const Def<Text> kFramedIpv6Route;
extern const Def<Text> kFramedRoute;
extern const Def<std::uint32_t> kFramedRouting;
extern const Def<BitRates> kGbr;
extern const Def<UnitTimer> kGracefulReleasePeriod;
extern const Def<Seconds> kInactivityDetectionTime;
extern const Def<InterfaceType3gpp> kInterfaceType3gpp;
extern const Def<UrrId> kLinkedUrrId;
extern const Def<MacAddresses> kMacAddressesDetected;
extern const Def<MacAddresses> kMacAddressesRemoved;
extern const Def<MarId> kMarId;
extern const Def<BitRates> kMbr;
extern const Def<Seconds> kMeasurementPeriod;
extern const Def<std::uint8_t> kMetric;
extern const Def<NtpTime> kMonitoringTime;
extern const Def<std::uint8_t> kMptcpApplicableIndication;
extern const Def<DomainName> kNetworkInstance;
extern const Def<std::uint16_t> kNumberOfReports;
extern const Def<IeType> kOffendingIe;
extern const Def<std::uint8_t> kPagingPolicyIndicator;
extern const Def<PdnType> kPdnType;
extern const Def<PdrId> kPdrId;
extern const Def<std::uint32_t> kPrecedence;
extern const Def<Text> kPredefinedRulesName;
extern const Def<std::uint32_t> kQerCorrelationId;
extern const Def<QerId> kQerId;
extern const Def<std::uint8_t> kQfi;
extern const Def<std::uint32_t> kQueryUrrReference;
extern const Def<Seconds> kQuotaHoldingTime;
extern const Def<Seconds> kQuotaValidityTime;
extern const Def<std::uint8_t> kRatType;
extern const Def<NtpTime> kRecoveryTimeStamp;
extern const Def<VlanTag> kSTag;
extern const Def<std::uint32_t> kSequenceNumber;
extern const Def<SourceInterface> kSourceInterface;
extern const Def<NtpTime> kStartTime;
extern const Def<std::uint32_t> kSubsequentEventQuota;
extern const Def<std::uint32_t> kSubsequentEventThreshold;
extern const Def<Seconds> kSubsequentTimeQuota;
extern const Def<Seconds> kSubsequentTimeThreshold;
extern const Def<Volumes> kSubsequentVolumeQuota;
extern const Def<Volumes> kSubsequentVolumeThreshold;
extern const Def<std::uint8_t> kSuggestedBufferingPacketsCount;
extern const Def<NtpTime> kTimeOfFirstPacket;
extern const Def<NtpTime> kTimeOfLastPacket;
extern const Def<Seconds> kTimeQuota;
extern const Def<NtpTime> kTimeStamp;
extern const Def<Seconds> kTimeThreshold;
extern const Def<UnitTimer> kTimer;
extern const Def<std::uint8_t> kTrafficEndpointId;
extern const Def<TosTrafficClass> kTransportLevelMarking;
extern const Def<Text> kUeIpAddressPoolIdentity;
extern const Def<std::uint32_t> kUrSeqn;
extern const Def<UrrId> kUrrId;
extern const Def<Seconds> kUserPlaneInactivityTimer;
extern const Def<std::uint16_t> kValidityTimer;
extern const Def<Volumes> kVolumeQuota;
extern const Def<Volumes> kVolumeThreshold;

// Groups that are one struct in several messages.
extern const Def<PacketRateStatusReport> kPacketRateStatusReport;
extern const Def<PacketRateStatusReport> kPacketRateStatusReportModification;
extern const Def<UpdateBar> kUpdateBarModification;
extern const Def<UpdateBar> kUpdateBarSessionReport;
extern const Def<UsageReport> kUsageReportDeletion;
extern const Def<UsageReport> kUsageReportModification;
extern const Def<UsageReport> kUsageReportSessionReport;

// Of multiaccess.cpp and monitoring.cpp.
extern const Def<AccessForwardingActionInformation> kAccessForwardingActionInformation1;
extern const Def<AccessForwardingActionInformation> kAccessForwardingActionInformation2;
extern const Def<UpdateAccessForwardingActionInformation> kUpdateAccessForwardingActionInformation1;
extern const Def<UpdateAccessForwardingActionInformation> kUpdateAccessForwardingActionInformation2;
extern const Def<TscManagementInformation> kTscManagementInformationModificationRequest;
extern const Def<TscManagementInformation> kTscManagementInformationModificationResponse;
extern const Def<TscManagementInformation> kTscManagementInformationSessionReport;

}  // namespace upf::pfcp::tables

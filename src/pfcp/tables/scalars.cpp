// IEs that are one value.

#include "src/pfcp/tables/scalars.hpp"

#include "src/pfcp/tables/domain_name.hpp"

namespace upf::pfcp::tables {
namespace {

using rows::kSelf;
using rows::LowBits;
using rows::packed;
using rows::scalar;
using rows::uint;
using rows::value_ie;
using T = IeType;

template <class V, unsigned Bits>
constexpr Def<V> low_bits(IeType type) {
  return scalar<V, LowBits<V, Bits>>(type);
}

/// 8.2.30: one octet, or two.
struct OneOrTwoOctets {
  static std::uint16_t read(wire::Reader& in) {
    return in.remaining() == 1 ? in.be<std::uint8_t>() : in.be<std::uint16_t>();
  }
  static void write(wire::Writer& out, std::uint16_t value) {
    if (value > 0xff) {
      out.be(value);
    } else {
      out.be(static_cast<std::uint8_t>(value));
    }
  }
  static std::string text(std::uint16_t value) { return fmt::format("{}", value); }
};

constexpr FieldRow kUnitTimer[] = {packed<&UnitTimer::value, 5, &UnitTimer::unit, 3>()};

constexpr FieldRow kBitRates[] = {uint<&BitRates::uplink_kbps, 5>(),
                                  uint<&BitRates::downlink_kbps, 5>()};

constexpr FieldRow kVolumes[] = {
    rows::flags<&Volumes::total, &Volumes::uplink, &Volumes::downlink>(),
    rows::field<&Volumes::total>(), rows::field<&Volumes::uplink>(),
    rows::field<&Volumes::downlink>()};

constexpr FieldRow kDualAddress[] = {rows::flags<&DualAddress::ipv6, &DualAddress::ipv4>(),
                                     rows::field<&DualAddress::ipv4>(),
                                     rows::field<&DualAddress::ipv6>()};

}  // namespace

constinit const Def<Text> kActivatePredefinedRules = scalar<Text>(T::ActivatePredefinedRules);
constinit const Def<NtpTime> kActivationTime = scalar<NtpTime>(T::ActivationTime);
constinit const Def<UrrId> kAggregatedUrrId = scalar<UrrId>(T::AggregatedUrrId);
constinit const Def<DomainName> kApnDnn = scalar<DomainName, DomainNameCodec>(T::ApnDnn);
constinit const Def<Text> kApplicationId = scalar<Text>(T::ApplicationId);
constinit const Def<Text> kApplicationInstanceId = scalar<Text>(T::ApplicationInstanceId);
constinit const Def<std::uint32_t> kAveragingWindow = scalar<std::uint32_t>(T::AveragingWindow);
constinit const Def<BarId> kBarId = scalar<BarId>(T::BarId);
constinit const Def<Cause> kCause = scalar<Cause>(T::Cause);
constinit const Def<DualAddress> kCpIpAddress = value_ie<DualAddress>(T::CpIpAddress, kDualAddress);
constinit const Def<DualAddress> kCpPfcpEntityIpAddress =
    value_ie<DualAddress>(T::CpPfcpEntityIpAddress, kDualAddress);
constinit const Def<Text> kDataNetworkAccessIdentifier =
    scalar<Text>(T::DataNetworkAccessIdentifier);
constinit const Def<Text> kDeactivatePredefinedRules = scalar<Text>(T::DeactivatePredefinedRules);
constinit const Def<NtpTime> kDeactivationTime = scalar<NtpTime>(T::DeactivationTime);
constinit const Def<DestinationInterface> kDestinationInterface =
    low_bits<DestinationInterface, 4>(T::DestinationInterface);
constinit const Def<UnitTimer> kDlBufferingDuration =
    value_ie<UnitTimer>(T::DlBufferingDuration, kUnitTimer);
constinit const Def<std::uint16_t> kDlBufferingSuggestedPacketCount =
    scalar<std::uint16_t, OneOrTwoOctets>(T::DlBufferingSuggestedPacketCount);
constinit const Def<std::uint16_t> kDlDataPacketsSize = scalar<std::uint16_t>(T::DlDataPacketsSize);
constinit const Def<Text> kDnsQueryFilter = scalar<Text>(T::DnsQueryFilter);
constinit const Def<std::uint8_t> kDownlinkDataNotificationDelay =
    scalar<std::uint8_t>(T::DownlinkDataNotificationDelay);
constinit const Def<Seconds> kDurationMeasurement = scalar<Seconds>(T::DurationMeasurement);
constinit const Def<NtpTime> kEndTime = scalar<NtpTime>(T::EndTime);
constinit const Def<std::uint32_t> kEthernetFilterId = scalar<std::uint32_t>(T::EthernetFilterId);
constinit const Def<Seconds> kEthernetInactivityTimer = scalar<Seconds>(T::EthernetInactivityTimer);
constinit const Def<std::uint16_t> kEthertype = scalar<std::uint16_t>(T::Ethertype);
constinit const Def<std::uint32_t> kEventQuota = scalar<std::uint32_t>(T::EventQuota);
constinit const Def<std::uint32_t> kEventThreshold = scalar<std::uint32_t>(T::EventThreshold);
constinit const Def<FarId> kFarId = scalar<FarId>(T::FarId);
constinit const Def<Text> kForwardingPolicy = scalar<Text, Counted<1>>(T::ForwardingPolicy);
constinit const Def<Text> kFramedIpv6Route = scalar<Text>(T::FramedIpv6Route);
constinit const Def<Text> kFramedRoute = scalar<Text>(T::FramedRoute);
constinit const Def<std::uint32_t> kFramedRouting = scalar<std::uint32_t>(T::FramedRouting);
constinit const Def<BitRates> kGbr = value_ie<BitRates>(T::Gbr, kBitRates);
constinit const Def<UnitTimer> kGracefulReleasePeriod =
    value_ie<UnitTimer>(T::GracefulReleasePeriod, kUnitTimer);
constinit const Def<Seconds> kInactivityDetectionTime = scalar<Seconds>(T::InactivityDetectionTime);
constinit const Def<InterfaceType3gpp> kInterfaceType3gpp =
    low_bits<InterfaceType3gpp, 6>(T::InterfaceType3gpp);
constinit const Def<UrrId> kLinkedUrrId = scalar<UrrId>(T::LinkedUrrId);
constinit const Def<MarId> kMarId = scalar<MarId>(T::MarId);
constinit const Def<BitRates> kMbr = value_ie<BitRates>(T::Mbr, kBitRates);
constinit const Def<Seconds> kMeasurementPeriod = scalar<Seconds>(T::MeasurementPeriod);
constinit const Def<std::uint8_t> kMetric = scalar<std::uint8_t>(T::Metric);
constinit const Def<NtpTime> kMonitoringTime = scalar<NtpTime>(T::MonitoringTime);
constinit const Def<std::uint8_t> kMptcpApplicableIndication =
    low_bits<std::uint8_t, 1>(T::MptcpApplicableIndication);
constinit const Def<DomainName> kNetworkInstance =
    scalar<DomainName, DomainNameCodec>(T::NetworkInstance);
constinit const Def<std::uint16_t> kNumberOfReports = scalar<std::uint16_t>(T::NumberOfReports);
constinit const Def<IeType> kOffendingIe = scalar<IeType>(T::OffendingIe);
constinit const Def<std::uint8_t> kPagingPolicyIndicator =
    low_bits<std::uint8_t, 3>(T::PagingPolicyIndicator);
constinit const Def<PdnType> kPdnType = low_bits<PdnType, 3>(T::PdnType);
constinit const Def<PdrId> kPdrId = scalar<PdrId>(T::PdrId);
constinit const Def<std::uint32_t> kPrecedence = scalar<std::uint32_t>(T::Precedence);
constinit const Def<Text> kPredefinedRulesName = scalar<Text>(T::PredefinedRulesName);
constinit const Def<std::uint32_t> kQerCorrelationId = scalar<std::uint32_t>(T::QerCorrelationId);
constinit const Def<QerId> kQerId = scalar<QerId>(T::QerId);
constinit const Def<std::uint8_t> kQfi = low_bits<std::uint8_t, 6>(T::Qfi);
constinit const Def<std::uint32_t> kQueryUrrReference = scalar<std::uint32_t>(T::QueryUrrReference);
constinit const Def<Seconds> kQuotaHoldingTime = scalar<Seconds>(T::QuotaHoldingTime);
constinit const Def<Seconds> kQuotaValidityTime = scalar<Seconds>(T::QuotaValidityTime);
constinit const Def<std::uint8_t> kRatType = scalar<std::uint8_t>(T::RatType);
constinit const Def<NtpTime> kRecoveryTimeStamp = scalar<NtpTime>(T::RecoveryTimeStamp);
constinit const Def<std::uint32_t> kSequenceNumber = scalar<std::uint32_t>(T::SequenceNumber);
constinit const Def<SourceInterface> kSourceInterface =
    low_bits<SourceInterface, 4>(T::SourceInterface);
constinit const Def<NtpTime> kStartTime = scalar<NtpTime>(T::StartTime);
constinit const Def<std::uint32_t> kSubsequentEventQuota =
    scalar<std::uint32_t>(T::SubsequentEventQuota);
constinit const Def<std::uint32_t> kSubsequentEventThreshold =
    scalar<std::uint32_t>(T::SubsequentEventThreshold);
constinit const Def<Seconds> kSubsequentTimeQuota = scalar<Seconds>(T::SubsequentTimeQuota);
constinit const Def<Seconds> kSubsequentTimeThreshold = scalar<Seconds>(T::SubsequentTimeThreshold);
constinit const Def<Volumes> kSubsequentVolumeQuota =
    value_ie<Volumes>(T::SubsequentVolumeQuota, kVolumes);
constinit const Def<Volumes> kSubsequentVolumeThreshold =
    value_ie<Volumes>(T::SubsequentVolumeThreshold, kVolumes);
constinit const Def<std::uint8_t> kSuggestedBufferingPacketsCount =
    scalar<std::uint8_t>(T::SuggestedBufferingPacketsCount);
constinit const Def<NtpTime> kTimeOfFirstPacket = scalar<NtpTime>(T::TimeOfFirstPacket);
constinit const Def<NtpTime> kTimeOfLastPacket = scalar<NtpTime>(T::TimeOfLastPacket);
constinit const Def<Seconds> kTimeQuota = scalar<Seconds>(T::TimeQuota);
constinit const Def<NtpTime> kTimeStamp = scalar<NtpTime>(T::TimeStamp);
constinit const Def<Seconds> kTimeThreshold = scalar<Seconds>(T::TimeThreshold);
constinit const Def<UnitTimer> kTimer = value_ie<UnitTimer>(T::Timer, kUnitTimer);
constinit const Def<std::uint8_t> kTrafficEndpointId = scalar<std::uint8_t>(T::TrafficEndpointId);
constinit const Def<TosTrafficClass> kTransportLevelMarking =
    scalar<TosTrafficClass>(T::TransportLevelMarking);
constinit const Def<Text> kUeIpAddressPoolIdentity =
    scalar<Text, Counted<2>>(T::UeIpAddressPoolIdentity);
constinit const Def<std::uint32_t> kUrSeqn = scalar<std::uint32_t>(T::UrSeqn);
constinit const Def<UrrId> kUrrId = scalar<UrrId>(T::UrrId);
constinit const Def<Seconds> kUserPlaneInactivityTimer =
    scalar<Seconds>(T::UserPlaneInactivityTimer);
constinit const Def<std::uint16_t> kValidityTimer = scalar<std::uint16_t>(T::ValidityTimer);
constinit const Def<Volumes> kVolumeQuota = value_ie<Volumes>(T::VolumeQuota, kVolumes);
constinit const Def<Volumes> kVolumeThreshold = value_ie<Volumes>(T::VolumeThreshold, kVolumes);

}  // namespace upf::pfcp::tables

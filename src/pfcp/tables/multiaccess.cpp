// Sessions over several accesses: TS 29.244 7.5.2.8, 7.5.2.10, 7.5.3.7 and their updates.

#include "upf/pfcp/ies/multiaccess.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::at_least_one;
using rows::field;
using rows::field_if;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::LowBits;
using rows::member;
using rows::scalar;
using namespace tables;

constinit const Def<std::uint8_t> kSteeringFunctionality =
    scalar<std::uint8_t, LowBits<std::uint8_t, 4>>(IeType::SteeringFunctionality);
constinit const Def<std::uint8_t> kSteeringMode =
    scalar<std::uint8_t, LowBits<std::uint8_t, 4>>(IeType::SteeringMode);
constinit const Def<std::uint8_t> kWeight = scalar<std::uint8_t>(IeType::Weight);
constinit const Def<std::uint8_t> kPriority =
    scalar<std::uint8_t, LowBits<std::uint8_t, 4>>(IeType::Priority);

using Information = AccessForwardingActionInformation;
constexpr MemberRow kInformation[] = {
    member<&Information::far_id>(kFarId),      member<&Information::weight>(kWeight),
    member<&Information::priority>(kPriority), member<&Information::urr_ids>(kUrrId),
    member<&Information::rat_type>(kRatType),
};

using Update = UpdateAccessForwardingActionInformation;
constexpr MemberRow kUpdate[] = {
    member<&Update::far_id>(kFarId),      member<&Update::weight>(kWeight),
    member<&Update::priority>(kPriority), member<&Update::urr_ids>(kUrrId),
    member<&Update::rat_type>(kRatType),
};

constexpr FieldRow kThresholds[] = {
    flags<&Thresholds::rtt, &Thresholds::packet_loss_rate>(),
    field<&Thresholds::rtt>(),
    field<&Thresholds::packet_loss_rate>(),
};
constexpr FieldRow kSteeringModeIndicator[] = {
    flags<&SteeringModeIndicator::albi, &SteeringModeIndicator::ueai>()};

constexpr MemberRow kCreateMar[] = {
    member<&CreateMar::mar_id>(kMarId),
    member<&CreateMar::steering_functionality>(kSteeringFunctionality),
    member<&CreateMar::steering_mode>(kSteeringMode),
    member<&CreateMar::access_3gpp>(kAccessForwardingActionInformation1),
    member<&CreateMar::access_non_3gpp>(kAccessForwardingActionInformation2),
    member<&CreateMar::thresholds>(),
    member<&CreateMar::steering_mode_indicator>(),
};

constexpr MemberRow kUpdateMar[] = {
    member<&UpdateMar::mar_id>(kMarId),
    member<&UpdateMar::steering_functionality>(kSteeringFunctionality),
    member<&UpdateMar::steering_mode>(kSteeringMode),
    member<&UpdateMar::update_access_3gpp>(kUpdateAccessForwardingActionInformation1),
    member<&UpdateMar::update_access_non_3gpp>(kUpdateAccessForwardingActionInformation2),
    member<&UpdateMar::access_3gpp>(kAccessForwardingActionInformation1),
    member<&UpdateMar::access_non_3gpp>(kAccessForwardingActionInformation2),
    member<&UpdateMar::thresholds>(),
    member<&UpdateMar::steering_mode_indicator>(),
};

constexpr MemberRow kRemoveMar[] = {member<&RemoveMar::mar_id>(kMarId)};

constexpr FieldRow kMptcpControlInformation[] = {flags<&MptcpControlInformation::tci>()};
constexpr FieldRow kAtsssLlControlInformation[] = {flags<&AtsssLlControlInformation::lli>()};

/// A number of QFIs and the QFIs, where PQPM is set.
struct CountedQfis {
  using Qfis = std::vector<std::uint8_t>;
  static Qfis read(wire::Reader& in) {
    const Bytes qfis = in.take(in.be<std::uint8_t>());
    return {qfis.begin(), qfis.end()};
  }
  static void write(wire::Writer& out, const Qfis& qfis) {
    const std::size_t count = std::min<std::size_t>(qfis.size(), 0xff);
    out.be(static_cast<std::uint8_t>(count));
    out.put(Bytes{qfis}.first(count));
  }
  static std::string text(const Qfis& qfis) { return fmt::format("{}", fmt::join(qfis, ",")); }
};
using Pmf = PmfControlInformation;
constexpr FieldRow kPmfControlInformation[] = {
    flags<&Pmf::pmfi, &Pmf::drtti, &Pmf::qfis>(),
    rows::value_row<&Pmf::qfis, CountedQfis, rows::kNever<&Pmf::qfis>>(),
};

constexpr MemberRow kProvideAtsssControlInformation[] = {
    member<&ProvideAtsssControlInformation::mptcp_control_information>(),
    member<&ProvideAtsssControlInformation::atsss_ll_control_information>(),
    member<&ProvideAtsssControlInformation::pmf_control_information>(),
};

constexpr FieldRow kMptcpAddressInformation[] = {
    flags<&MptcpAddressInformation::ipv4, &MptcpAddressInformation::ipv6>(),
    field<&MptcpAddressInformation::proxy_type>(),
    field<&MptcpAddressInformation::proxy_port>(),
    field<&MptcpAddressInformation::ipv4>(),
    field<&MptcpAddressInformation::ipv6>(),
};

using LinkSpecific = UeLinkSpecificIpAddress;
constexpr FieldRow kUeLinkSpecificIpAddress[] = {
    flags<&LinkSpecific::ipv4, &LinkSpecific::ipv6, &LinkSpecific::non_3gpp_ipv4,
          &LinkSpecific::non_3gpp_ipv6>(),
    field<&LinkSpecific::ipv4>(),
    field<&LinkSpecific::ipv6>(),
    field<&LinkSpecific::non_3gpp_ipv4>(),
    field<&LinkSpecific::non_3gpp_ipv6>(),
};

using PmfAddress = PmfAddressInformation;
constexpr FieldRow kPmfAddressInformation[] = {
    flags<&PmfAddress::ipv4, &PmfAddress::ipv6, &PmfAddress::mac>(),
    field<&PmfAddress::ipv4>(),
    field<&PmfAddress::ipv6>(),
    field<&PmfAddress::port_3gpp>(),
    field<&PmfAddress::port_non_3gpp>(),
    field_if<&PmfAddress::mac_3gpp, &PmfAddress::mac>(),
    field_if<&PmfAddress::mac_non_3gpp, &PmfAddress::mac>(),
};

constexpr FieldRow kAtsssLlInformation[] = {flags<&AtsssLlInformation::lli>()};

constexpr MemberRow kMptcpParameters[] = {
    member<&MptcpParameters::mptcp_address_information>(),
    member<&MptcpParameters::ue_link_specific_ip_address>(),
};
constexpr MemberRow kAtsssLlParameters[] = {member<&AtsssLlParameters::atsss_ll_information>()};
constexpr MemberRow kPmfParameters[] = {
    at_least_one<&PmfParameters::pmf_address_information>(),
    member<&PmfParameters::qfis>(kQfi),
};
constexpr MemberRow kAtsssControlParameters[] = {
    member<&AtsssControlParameters::mptcp_parameters>(),
    member<&AtsssControlParameters::atsss_ll_parameters>(),
    member<&AtsssControlParameters::pmf_parameters>(),
};

}  // namespace

namespace tables {
using T = IeType;
constinit const Def<AccessForwardingActionInformation> kAccessForwardingActionInformation1 =
    rows::shared_group<Information>(T::AccessForwardingActionInformation1, kInformation);
constinit const Def<AccessForwardingActionInformation> kAccessForwardingActionInformation2 =
    rows::shared_group<Information>(T::AccessForwardingActionInformation2, kInformation);
constinit const Def<UpdateAccessForwardingActionInformation>
    kUpdateAccessForwardingActionInformation1 =
        rows::shared_group<Update>(T::UpdateAccessForwardingActionInformation1, kUpdate);
constinit const Def<UpdateAccessForwardingActionInformation>
    kUpdateAccessForwardingActionInformation2 =
        rows::shared_group<Update>(T::UpdateAccessForwardingActionInformation2, kUpdate);
}  // namespace tables

constinit const IeDef Thresholds::def = leaf(IeType::Thresholds, kThresholds);
constinit const IeDef SteeringModeIndicator::def =
    leaf(IeType::SteeringModeIndicator, kSteeringModeIndicator);
constinit const IeDef CreateMar::def = group<CreateMar>(IeType::CreateMar, kCreateMar);
constinit const IeDef UpdateMar::def = group<UpdateMar>(IeType::UpdateMar, kUpdateMar);
constinit const IeDef RemoveMar::def = group<RemoveMar>(IeType::RemoveMar, kRemoveMar);
constinit const IeDef MptcpControlInformation::def =
    leaf(IeType::MptcpControlInformation, kMptcpControlInformation);
constinit const IeDef AtsssLlControlInformation::def =
    leaf(IeType::AtsssLlControlInformation, kAtsssLlControlInformation);
constinit const IeDef PmfControlInformation::def =
    leaf(IeType::PmfControlInformation, kPmfControlInformation);
constinit const IeDef ProvideAtsssControlInformation::def = group<ProvideAtsssControlInformation>(
    IeType::ProvideAtsssControlInformation, kProvideAtsssControlInformation);
constinit const IeDef MptcpAddressInformation::def =
    leaf(IeType::MptcpAddressInformation, kMptcpAddressInformation);
constinit const IeDef UeLinkSpecificIpAddress::def =
    leaf(IeType::UeLinkSpecificIpAddress, kUeLinkSpecificIpAddress);
constinit const IeDef PmfAddressInformation::def =
    leaf(IeType::PmfAddressInformation, kPmfAddressInformation);
constinit const IeDef AtsssLlInformation::def =
    leaf(IeType::AtsssLlInformation, kAtsssLlInformation);
constinit const IeDef MptcpParameters::def =
    group<MptcpParameters>(IeType::MptcpParameters, kMptcpParameters);
constinit const IeDef AtsssLlParameters::def =
    group<AtsssLlParameters>(IeType::AtsssLlParameters, kAtsssLlParameters);
constinit const IeDef PmfParameters::def =
    group<PmfParameters>(IeType::PmfParameters, kPmfParameters);
constinit const IeDef AtsssControlParameters::def =
    group<AtsssControlParameters>(IeType::AtsssControlParameters, kAtsssControlParameters);

}  // namespace upf::pfcp

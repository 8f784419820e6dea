// Forwarding and buffering: TS 29.244 7.5.2.3, 7.5.2.6 and their updates.

#include "upf/pfcp/ies/far.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::counted;
using rows::field_if;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::low_bits;
using rows::member;
using rows::more_flags;
using namespace tables;

/// The second octet came with Release 16.
constexpr FieldRow kApplyAction[] = {
    flags<&ApplyAction::drop, &ApplyAction::forw, &ApplyAction::buff, &ApplyAction::nocp,
          &ApplyAction::dupl, &ApplyAction::ipma, &ApplyAction::ipmd, &ApplyAction::dfrt>(),
    more_flags<&ApplyAction::edrt, &ApplyAction::bdpn, &ApplyAction::ddpn, &ApplyAction::fssm,
               &ApplyAction::mbsu>(),
};

using Ohc = OuterHeaderCreation;

/// Two octets of Outer Header Creation Description always, the second of which Release 15 has as
/// spare.
constexpr FieldRow kOuterHeaderCreation[] = {
    flags<&Ohc::gtpu_udp_ipv4, &Ohc::gtpu_udp_ipv6, &Ohc::udp_ipv4, &Ohc::udp_ipv6, &Ohc::ip_ipv4,
          &Ohc::ip_ipv6, &Ohc::c_tag, &Ohc::s_tag>(),
    flags<&Ohc::n19_indication, &Ohc::n6_indication>(),
    field_if<&Ohc::teid, &Ohc::has_teid>(),
    field_if<&Ohc::ipv4, &Ohc::has_ipv4>(),
    field_if<&Ohc::ipv6, &Ohc::has_ipv6>(),
    field_if<&Ohc::port, &Ohc::has_port>(),
    rows::uint<&Ohc::c_tag, 3>(),
    rows::uint<&Ohc::s_tag, 3>(),
};

/// The other address is there for the types that have two.
constexpr FieldRow kRedirectInformation[] = {
    low_bits<&RedirectInformation::address_type, 4>(),
    counted<&RedirectInformation::server_address>(),
    {"other_server_address",
     [](wire::Reader& in, void* ie) {
       auto& redirect = *static_cast<RedirectInformation*>(ie);
       if (!in.empty()) redirect.other_server_address = Counted<2>::read(in);
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       const auto& other = static_cast<const RedirectInformation*>(ie)->other_server_address;
       if (other) Counted<2>::write(out, *other);
     },
     [](std::string_view name, std::string& out, const void* ie) {
       const auto& other = static_cast<const RedirectInformation*>(ie)->other_server_address;
       if (other) rows::print_named(name, out, rows::quoted(*other));
     }},
};

constexpr FieldRow kHeaderEnrichment[] = {
    low_bits<&HeaderEnrichment::header_type, 5>(),
    counted<&HeaderEnrichment::name, 1>(),
    counted<&HeaderEnrichment::value, 1>(),
};

constexpr FieldRow kProxying[] = {flags<&Proxying::arp, &Proxying::ins>()};

constexpr FieldRow kPfcpSmReqFlags[] = {
    flags<&PfcpSmReqFlags::drobu, &PfcpSmReqFlags::sndem, &PfcpSmReqFlags::qaurr,
          &PfcpSmReqFlags::sumpc, &PfcpSmReqFlags::rumuc, &PfcpSmReqFlags::deteid>(),
};

constexpr MemberRow kForwardingParameters[] = {
    member<&ForwardingParameters::destination_interface>(kDestinationInterface),
    member<&ForwardingParameters::network_instance>(kNetworkInstance),
    member<&ForwardingParameters::redirect_information>(),
    member<&ForwardingParameters::outer_header_creation>(),
    member<&ForwardingParameters::transport_level_marking>(kTransportLevelMarking),
    member<&ForwardingParameters::forwarding_policy>(kForwardingPolicy),
    member<&ForwardingParameters::header_enrichment>(),
    member<&ForwardingParameters::linked_traffic_endpoint_id>(kTrafficEndpointId),
    member<&ForwardingParameters::proxying>(),
    member<&ForwardingParameters::destination_interface_type>(kInterfaceType3gpp),
    member<&ForwardingParameters::data_network_access_identifier>(kDataNetworkAccessIdentifier),
};

using UpdateForwarding = UpdateForwardingParameters;
constexpr MemberRow kUpdateForwardingParameters[] = {
    member<&UpdateForwarding::destination_interface>(kDestinationInterface),
    member<&UpdateForwarding::network_instance>(kNetworkInstance),
    member<&UpdateForwarding::redirect_information>(),
    member<&UpdateForwarding::outer_header_creation>(),
    member<&UpdateForwarding::transport_level_marking>(kTransportLevelMarking),
    member<&UpdateForwarding::forwarding_policy>(kForwardingPolicy),
    member<&UpdateForwarding::header_enrichment>(),
    member<&UpdateForwarding::pfcpsmreq_flags>(),
    member<&UpdateForwarding::linked_traffic_endpoint_id>(kTrafficEndpointId),
    member<&UpdateForwarding::destination_interface_type>(kInterfaceType3gpp),
    member<&UpdateForwarding::data_network_access_identifier>(kDataNetworkAccessIdentifier),
};

constexpr MemberRow kDuplicatingParameters[] = {
    member<&DuplicatingParameters::destination_interface>(kDestinationInterface),
    member<&DuplicatingParameters::outer_header_creation>(),
    member<&DuplicatingParameters::transport_level_marking>(kTransportLevelMarking),
    member<&DuplicatingParameters::forwarding_policy>(kForwardingPolicy),
};

constexpr MemberRow kUpdateDuplicatingParameters[] = {
    member<&UpdateDuplicatingParameters::destination_interface>(kDestinationInterface),
    member<&UpdateDuplicatingParameters::outer_header_creation>(),
    member<&UpdateDuplicatingParameters::transport_level_marking>(kTransportLevelMarking),
    member<&UpdateDuplicatingParameters::forwarding_policy>(kForwardingPolicy),
};

constexpr MemberRow kRedundantTransmissionForwardingParameters[] = {
    member<&RedundantTransmissionForwardingParameters::outer_header_creation>(),
    member<&RedundantTransmissionForwardingParameters::network_instance>(kNetworkInstance),
};

constexpr MemberRow kCreateFar[] = {
    member<&CreateFar::far_id>(kFarId),          member<&CreateFar::apply_action>(),
    member<&CreateFar::forwarding_parameters>(), member<&CreateFar::duplicating_parameters>(),
    member<&CreateFar::bar_id>(kBarId),          member<&CreateFar::redundant_transmission>(),
};

constexpr MemberRow kUpdateFar[] = {
    member<&UpdateFar::far_id>(kFarId),
    member<&UpdateFar::apply_action>(),
    member<&UpdateFar::update_forwarding_parameters>(),
    member<&UpdateFar::update_duplicating_parameters>(),
    member<&UpdateFar::redundant_transmission>(),
    member<&UpdateFar::bar_id>(kBarId),
};

constexpr MemberRow kRemoveFar[] = {member<&RemoveFar::far_id>(kFarId)};

constexpr FieldRow kMtEdtControlInformation[] = {flags<&MtEdtControlInformation::rdsi>()};

constexpr MemberRow kCreateBar[] = {
    member<&CreateBar::bar_id>(kBarId),
    member<&CreateBar::downlink_data_notification_delay>(kDownlinkDataNotificationDelay),
    member<&CreateBar::suggested_buffering_packets_count>(kSuggestedBufferingPacketsCount),
    member<&CreateBar::mt_edt_control_information>(),
};

constexpr MemberRow kUpdateBarInModification[] = {
    member<&UpdateBar::bar_id>(kBarId),
    member<&UpdateBar::downlink_data_notification_delay>(kDownlinkDataNotificationDelay),
    member<&UpdateBar::suggested_buffering_packets_count>(kSuggestedBufferingPacketsCount),
    member<&UpdateBar::mt_edt_control_information>(),
};

constexpr MemberRow kUpdateBarInReport[] = {
    member<&UpdateBar::bar_id>(kBarId),
    member<&UpdateBar::downlink_data_notification_delay>(kDownlinkDataNotificationDelay),
    member<&UpdateBar::dl_buffering_duration>(kDlBufferingDuration),
    member<&UpdateBar::dl_buffering_suggested_packet_count>(kDlBufferingSuggestedPacketCount),
    member<&UpdateBar::suggested_buffering_packets_count>(kSuggestedBufferingPacketsCount),
};

constexpr MemberRow kRemoveBar[] = {member<&RemoveBar::bar_id>(kBarId)};

}  // namespace

namespace tables {
constinit const Def<UpdateBar> kUpdateBarModification =
    rows::shared_group<UpdateBar>(IeType::UpdateBarModification, kUpdateBarInModification);
constinit const Def<UpdateBar> kUpdateBarSessionReport =
    rows::shared_group<UpdateBar>(IeType::UpdateBarSessionReport, kUpdateBarInReport);
}  // namespace tables

constinit const IeDef ApplyAction::def = leaf(IeType::ApplyAction, kApplyAction, 1);
constinit const IeDef OuterHeaderCreation::def =
    leaf(IeType::OuterHeaderCreation, kOuterHeaderCreation);
constinit const IeDef RedirectInformation::def =
    leaf(IeType::RedirectInformation, kRedirectInformation);
constinit const IeDef HeaderEnrichment::def = leaf(IeType::HeaderEnrichment, kHeaderEnrichment);
constinit const IeDef Proxying::def = leaf(IeType::Proxying, kProxying);
constinit const IeDef PfcpSmReqFlags::def = leaf(IeType::PfcpSmReqFlags, kPfcpSmReqFlags);
constinit const IeDef ForwardingParameters::def =
    group<ForwardingParameters>(IeType::ForwardingParameters, kForwardingParameters);
constinit const IeDef UpdateForwardingParameters::def = group<UpdateForwardingParameters>(
    IeType::UpdateForwardingParameters, kUpdateForwardingParameters);
constinit const IeDef DuplicatingParameters::def =
    group<DuplicatingParameters>(IeType::DuplicatingParameters, kDuplicatingParameters);
constinit const IeDef UpdateDuplicatingParameters::def = group<UpdateDuplicatingParameters>(
    IeType::UpdateDuplicatingParameters, kUpdateDuplicatingParameters);
constinit const IeDef RedundantTransmissionForwardingParameters::def =
    group<RedundantTransmissionForwardingParameters>(
        IeType::RedundantTransmissionForwardingParameters,
        kRedundantTransmissionForwardingParameters);
constinit const IeDef CreateFar::def = group<CreateFar>(IeType::CreateFar, kCreateFar);
constinit const IeDef UpdateFar::def = group<UpdateFar>(IeType::UpdateFar, kUpdateFar);
constinit const IeDef RemoveFar::def = group<RemoveFar>(IeType::RemoveFar, kRemoveFar);
constinit const IeDef MtEdtControlInformation::def =
    leaf(IeType::MtEdtControlInformation, kMtEdtControlInformation);
constinit const IeDef CreateBar::def = group<CreateBar>(IeType::CreateBar, kCreateBar);
constinit const IeDef RemoveBar::def = group<RemoveBar>(IeType::RemoveBar, kRemoveBar);

}  // namespace upf::pfcp

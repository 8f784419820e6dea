// Packet detection: TS 29.244 7.5.2.2, 7.5.2.7 and their updates.

#include "upf/pfcp/ies/pdr.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::field;
using rows::field_if;
using rows::field_unless;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::member;
using namespace tables;

constexpr FieldRow kFTeid[] = {
    flags<&FTeid::ipv4, &FTeid::ipv6, &FTeid::choose, &FTeid::choose_id>(),
    field_unless<&FTeid::teid, &FTeid::choose>(),
    field_unless<&FTeid::ipv4, &FTeid::choose>(),
    field_unless<&FTeid::ipv6, &FTeid::choose>(),
    field<&FTeid::choose_id>(),
};

constexpr FieldRow kUeIpAddress[] = {
    flags<&UeIpAddress::ipv6, &UeIpAddress::ipv4, &UeIpAddress::is_destination,
          &UeIpAddress::ipv6_prefix_delegation_bits, &UeIpAddress::choose_ipv4,
          &UeIpAddress::choose_ipv6, &UeIpAddress::ipv6_prefix_length>(),
    field<&UeIpAddress::ipv4>(),
    field<&UeIpAddress::ipv6>(),
    field<&UeIpAddress::ipv6_prefix_delegation_bits>(),
    field<&UeIpAddress::ipv6_prefix_length>(),
};

/// The second octet came with Release 15.
constexpr FieldRow kOuterHeaderRemoval[] = {
    field<&OuterHeaderRemoval::description>(),
    {"gtpu_extension_header_deletion",
     [](wire::Reader& in, void* ie) {
       auto& deletion = static_cast<OuterHeaderRemoval*>(ie)->gtpu_extension_header_deletion;
       if (!in.empty()) deletion = in.be<std::uint8_t>();
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       const auto& deletion =
           static_cast<const OuterHeaderRemoval*>(ie)->gtpu_extension_header_deletion;
       if (deletion) out.be(*deletion);
     },
     [](std::string_view name, std::string& out, const void* ie) {
       const auto& deletion =
           static_cast<const OuterHeaderRemoval*>(ie)->gtpu_extension_header_deletion;
       if (deletion) rows::print_named(name, out, fmt::format("{}", *deletion));
     }},
};

using Multicast = IpMulticastAddress;
constexpr auto kNotAny4 = [](const Multicast& m) { return m.ipv4 && !m.any; };
constexpr auto kNotAny6 = [](const Multicast& m) { return m.ipv6 && !m.any; };
constexpr auto kRange4 = [](const Multicast& m) { return m.ipv4 && m.range && !m.any; };
constexpr auto kRange6 = [](const Multicast& m) { return m.ipv6 && m.range && !m.any; };

constexpr FieldRow kIpMulticastAddress[] = {
    flags<&Multicast::ipv6, &Multicast::ipv4, &Multicast::range, &Multicast::any>(),
    field_if<&Multicast::ipv4, kNotAny4>(),
    field_if<&Multicast::ipv6, kNotAny6>(),
    field_if<&Multicast::end_ipv4, kRange4>(),
    field_if<&Multicast::end_ipv6, kRange6>(),
};

constexpr FieldRow kSourceIpAddress[] = {
    flags<&SourceIpAddress::ipv6, &SourceIpAddress::ipv4, &SourceIpAddress::mask_prefix_length>(),
    field<&SourceIpAddress::ipv4>(),
    field<&SourceIpAddress::ipv6>(),
    field<&SourceIpAddress::mask_prefix_length>(),
};

constexpr MemberRow kIpMulticastAddressingInfo[] = {
    member<&IpMulticastAddressingInfo::ip_multicast_address>(),
    member<&IpMulticastAddressingInfo::source_ip_addresses>(),
};

constexpr MemberRow kRedundantTransmissionDetectionParameters[] = {
    member<&RedundantTransmissionDetectionParameters::local_f_teid>(),
    member<&RedundantTransmissionDetectionParameters::network_instance>(kNetworkInstance),
};

constexpr MemberRow kPdi[] = {
    member<&Pdi::source_interface>(kSourceInterface),
    member<&Pdi::local_f_teid>(),
    member<&Pdi::network_instance>(kNetworkInstance),
    member<&Pdi::redundant_transmission>(),
    member<&Pdi::ue_ip_addresses>(),
    member<&Pdi::traffic_endpoint_ids>(kTrafficEndpointId),
    member<&Pdi::sdf_filters>(),
    member<&Pdi::application_id>(kApplicationId),
    member<&Pdi::ethernet_pdu_session_information>(),
    member<&Pdi::ethernet_packet_filters>(),
    member<&Pdi::qfis>(kQfi),
    member<&Pdi::framed_routes>(kFramedRoute),
    member<&Pdi::framed_routing>(kFramedRouting),
    member<&Pdi::framed_ipv6_routes>(kFramedIpv6Route),
    member<&Pdi::source_interface_type>(kInterfaceType3gpp),
    member<&Pdi::ip_multicast_addressing_infos>(),
    member<&Pdi::dns_query_filter>(kDnsQueryFilter),
};

using CarryOn = PacketReplicationAndDetectionCarryOnInformation;
constexpr FieldRow kCarryOn[] = {
    flags<&CarryOn::priueai, &CarryOn::prin19i, &CarryOn::prin6i, &CarryOn::dcaroni>(),
};

constexpr MemberRow kTransportDelayReporting[] = {
    member<&TransportDelayReporting::preceding_ul_gtpu_peer>(),
    member<&TransportDelayReporting::dscp>(kTransportLevelMarking),
};

constexpr MemberRow kCreatePdr[] = {
    member<&CreatePdr::pdr_id>(kPdrId),
    member<&CreatePdr::precedence>(kPrecedence),
    member<&CreatePdr::pdi>(),
    member<&CreatePdr::outer_header_removal>(),
    member<&CreatePdr::far_id>(kFarId),
    member<&CreatePdr::urr_ids>(kUrrId),
    member<&CreatePdr::qer_ids>(kQerId),
    member<&CreatePdr::activate_predefined_rules>(kActivatePredefinedRules),
    member<&CreatePdr::activation_time>(kActivationTime),
    member<&CreatePdr::deactivation_time>(kDeactivationTime),
    member<&CreatePdr::mar_id>(kMarId),
    member<&CreatePdr::packet_replication>(),
    member<&CreatePdr::ip_multicast_addressing_infos>(),
    member<&CreatePdr::ue_ip_address_pool_identities>(kUeIpAddressPoolIdentity),
    member<&CreatePdr::mptcp_applicable_indication>(kMptcpApplicableIndication),
    member<&CreatePdr::transport_delay_reporting>(),
    member<&CreatePdr::rat_type>(kRatType),
};

constexpr MemberRow kUpdatePdr[] = {
    member<&UpdatePdr::pdr_id>(kPdrId),
    member<&UpdatePdr::outer_header_removal>(),
    member<&UpdatePdr::precedence>(kPrecedence),
    member<&UpdatePdr::pdi>(),
    member<&UpdatePdr::far_id>(kFarId),
    member<&UpdatePdr::urr_ids>(kUrrId),
    member<&UpdatePdr::qer_ids>(kQerId),
    member<&UpdatePdr::activate_predefined_rules>(kActivatePredefinedRules),
    member<&UpdatePdr::deactivate_predefined_rules>(kDeactivatePredefinedRules),
    member<&UpdatePdr::activation_time>(kActivationTime),
    member<&UpdatePdr::deactivation_time>(kDeactivationTime),
    member<&UpdatePdr::ip_multicast_addressing_infos>(),
    member<&UpdatePdr::transport_delay_reporting>(),
    member<&UpdatePdr::rat_type>(kRatType),
};

constexpr MemberRow kRemovePdr[] = {member<&RemovePdr::pdr_id>(kPdrId)};

constexpr MemberRow kCreatedPdr[] = {
    member<&CreatedPdr::pdr_id>(kPdrId),
    member<&CreatedPdr::local_f_teid>(),
    member<&CreatedPdr::ue_ip_addresses>(),
};

constexpr MemberRow kUpdatedPdr[] = {
    member<&UpdatedPdr::pdr_id>(kPdrId),
    member<&UpdatedPdr::local_f_teid>(),
    member<&UpdatedPdr::ue_ip_addresses>(),
};

constexpr MemberRow kCreateTrafficEndpoint[] = {
    member<&CreateTrafficEndpoint::traffic_endpoint_id>(kTrafficEndpointId),
    member<&CreateTrafficEndpoint::local_f_teid>(),
    member<&CreateTrafficEndpoint::network_instance>(kNetworkInstance),
    member<&CreateTrafficEndpoint::redundant_transmission>(),
    member<&CreateTrafficEndpoint::ue_ip_addresses>(),
    member<&CreateTrafficEndpoint::ethernet_pdu_session_information>(),
    member<&CreateTrafficEndpoint::framed_routes>(kFramedRoute),
    member<&CreateTrafficEndpoint::framed_routing>(kFramedRouting),
    member<&CreateTrafficEndpoint::framed_ipv6_routes>(kFramedIpv6Route),
    member<&CreateTrafficEndpoint::qfis>(kQfi),
    member<&CreateTrafficEndpoint::source_interface_type>(kInterfaceType3gpp),
    member<&CreateTrafficEndpoint::rat_type>(kRatType),
};

constexpr MemberRow kUpdateTrafficEndpoint[] = {
    member<&UpdateTrafficEndpoint::traffic_endpoint_id>(kTrafficEndpointId),
    member<&UpdateTrafficEndpoint::local_f_teid>(),
    member<&UpdateTrafficEndpoint::network_instance>(kNetworkInstance),
    member<&UpdateTrafficEndpoint::redundant_transmission>(),
    member<&UpdateTrafficEndpoint::ue_ip_addresses>(),
    member<&UpdateTrafficEndpoint::framed_routes>(kFramedRoute),
    member<&UpdateTrafficEndpoint::framed_routing>(kFramedRouting),
    member<&UpdateTrafficEndpoint::framed_ipv6_routes>(kFramedIpv6Route),
    member<&UpdateTrafficEndpoint::qfis>(kQfi),
    member<&UpdateTrafficEndpoint::source_interface_type>(kInterfaceType3gpp),
    member<&UpdateTrafficEndpoint::rat_type>(kRatType),
};

constexpr MemberRow kRemoveTrafficEndpoint[] = {
    member<&RemoveTrafficEndpoint::traffic_endpoint_id>(kTrafficEndpointId),
};

constexpr MemberRow kCreatedTrafficEndpoint[] = {
    member<&CreatedTrafficEndpoint::traffic_endpoint_id>(kTrafficEndpointId),
    member<&CreatedTrafficEndpoint::local_f_teid>(),
    member<&CreatedTrafficEndpoint::ue_ip_addresses>(),
};

}  // namespace

constinit const IeDef FTeid::def = leaf(IeType::FTeid, kFTeid);
constinit const IeDef UeIpAddress::def = leaf(IeType::UeIpAddress, kUeIpAddress);
constinit const IeDef OuterHeaderRemoval::def =
    leaf(IeType::OuterHeaderRemoval, kOuterHeaderRemoval);
constinit const IeDef IpMulticastAddress::def =
    leaf(IeType::IpMulticastAddress, kIpMulticastAddress);
constinit const IeDef SourceIpAddress::def = leaf(IeType::SourceIpAddress, kSourceIpAddress);
constinit const IeDef IpMulticastAddressingInfo::def =
    group<IpMulticastAddressingInfo>(IeType::IpMulticastAddressingInfo, kIpMulticastAddressingInfo);
constinit const IeDef RedundantTransmissionDetectionParameters::def =
    group<RedundantTransmissionDetectionParameters>(
        IeType::RedundantTransmissionDetectionParameters,
        kRedundantTransmissionDetectionParameters);
constinit const IeDef Pdi::def = group<Pdi>(IeType::Pdi, kPdi);
constinit const IeDef PacketReplicationAndDetectionCarryOnInformation::def =
    leaf(IeType::PacketReplicationAndDetectionCarryOnInformation, kCarryOn);
constinit const IeDef TransportDelayReporting::def =
    group<TransportDelayReporting>(IeType::TransportDelayReporting, kTransportDelayReporting);
constinit const IeDef CreatePdr::def = group<CreatePdr>(IeType::CreatePdr, kCreatePdr);
constinit const IeDef UpdatePdr::def = group<UpdatePdr>(IeType::UpdatePdr, kUpdatePdr);
constinit const IeDef RemovePdr::def = group<RemovePdr>(IeType::RemovePdr, kRemovePdr);
constinit const IeDef CreatedPdr::def = group<CreatedPdr>(IeType::CreatedPdr, kCreatedPdr);
constinit const IeDef UpdatedPdr::def = group<UpdatedPdr>(IeType::UpdatedPdr, kUpdatedPdr);
constinit const IeDef CreateTrafficEndpoint::def =
    group<CreateTrafficEndpoint>(IeType::CreateTrafficEndpoint, kCreateTrafficEndpoint);
constinit const IeDef UpdateTrafficEndpoint::def =
    group<UpdateTrafficEndpoint>(IeType::UpdateTrafficEndpoint, kUpdateTrafficEndpoint);
constinit const IeDef RemoveTrafficEndpoint::def =
    group<RemoveTrafficEndpoint>(IeType::RemoveTrafficEndpoint, kRemoveTrafficEndpoint);
constinit const IeDef CreatedTrafficEndpoint::def =
    group<CreatedTrafficEndpoint>(IeType::CreatedTrafficEndpoint, kCreatedTrafficEndpoint);

}  // namespace upf::pfcp

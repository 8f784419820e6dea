#pragma once

#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/ethernet.hpp"
#include "upf/pfcp/ies/rule_ids.hpp"

/// What packets are, and the rules that detect them: PDI, PDRs, traffic endpoints.
namespace upf::pfcp {

/// 8.2.3. With `choose` the UP function allocates: `teid` is not on the wire, and an engaged
/// address (whatever it holds) asks for that family.
struct FTeid {
  Teid teid{};
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool choose{};
  std::optional<std::uint8_t> choose_id{};  ///< PDRs with the same one get the same F-TEID
  bool operator==(const FTeid&) const = default;
  static const IeDef def;
};

/// 8.2.62. With choose_* the UP function allocates.
struct UeIpAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool is_destination{};  ///< S/D
  std::optional<std::uint8_t> ipv6_prefix_delegation_bits{};
  bool choose_ipv4{};
  bool choose_ipv6{};
  std::optional<std::uint8_t> ipv6_prefix_length{};  ///< absent: 64
  bool operator==(const UeIpAddress&) const = default;
  static const IeDef def;
};

/// 8.2.64
struct OuterHeaderRemoval {
  enum class Description : std::uint8_t {
    GtpuUdpIpv4 = 0,
    GtpuUdpIpv6 = 1,
    UdpIpv4 = 2,
    UdpIpv6 = 3,
    Ipv4 = 4,
    Ipv6 = 5,
    GtpuUdpIp = 6,
    VlanSTag = 7,
    STagAndCTag = 8,
  };
  Description description{};
  /// Bit 1: the GTP-U extension header PDU Session Container is to be kept off the payload (5.7.3).
  std::optional<std::uint8_t> gtpu_extension_header_deletion{};
  bool operator==(const OuterHeaderRemoval&) const = default;
  static const IeDef def;
};

/// 8.2.137
struct IpMulticastAddress {
  bool any{};
  bool range{};  ///< the end addresses are there
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  Ipv4 end_ipv4{};  ///< with `range` and `ipv4`
  Ipv6 end_ipv6{};  ///< with `range` and `ipv6`
  bool operator==(const IpMulticastAddress&) const = default;
  static const IeDef def;
};

/// 8.2.138
struct SourceIpAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  std::optional<std::uint8_t> mask_prefix_length{};
  bool operator==(const SourceIpAddress&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-4
struct IpMulticastAddressingInfo {
  IpMulticastAddress ip_multicast_address{};
  std::vector<SourceIpAddress> source_ip_addresses{};
  bool operator==(const IpMulticastAddressingInfo&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-5
struct RedundantTransmissionDetectionParameters {
  FTeid local_f_teid{};
  std::optional<DomainName> network_instance{};
  bool operator==(const RedundantTransmissionDetectionParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-2
struct Pdi {
  SourceInterface source_interface{};
  std::optional<FTeid> local_f_teid{};
  std::optional<DomainName> network_instance{};
  std::optional<RedundantTransmissionDetectionParameters> redundant_transmission{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  std::vector<std::uint8_t> traffic_endpoint_ids{};
  std::vector<SdfFilter> sdf_filters{};
  std::optional<std::string> application_id{};
  std::optional<EthernetPduSessionInformation> ethernet_pdu_session_information{};
  std::vector<EthernetPacketFilter> ethernet_packet_filters{};
  std::vector<std::uint8_t> qfis{};
  std::vector<std::string> framed_routes{};
  std::optional<std::uint32_t> framed_routing{};
  std::vector<std::string> framed_ipv6_routes{};
  std::optional<InterfaceType3gpp> source_interface_type{};
  std::vector<IpMulticastAddressingInfo> ip_multicast_addressing_infos{};
  std::optional<std::string> dns_query_filter{};
  bool operator==(const Pdi&) const = default;
  static const IeDef def;
};

/// 8.2.130
struct PacketReplicationAndDetectionCarryOnInformation {
  bool priueai{};
  bool prin19i{};
  bool prin6i{};
  bool dcaroni{};
  bool operator==(const PacketReplicationAndDetectionCarryOnInformation&) const = default;
  static const IeDef def;
};

/// 8.2.70
struct RemoteGtpuPeer {
  std::optional<Ipv6> ipv6{};
  std::optional<Ipv4> ipv4{};
  std::optional<DestinationInterface> destination_interface{};
  std::optional<std::string> network_instance{};  ///< octets as on the wire
  bool operator==(const RemoteGtpuPeer&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-6
struct TransportDelayReporting {
  RemoteGtpuPeer preceding_ul_gtpu_peer{};
  std::optional<TosTrafficClass> dscp{};
  bool operator==(const TransportDelayReporting&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-1
struct CreatePdr {
  PdrId pdr_id{};
  std::uint32_t precedence{};
  Pdi pdi{};
  std::optional<OuterHeaderRemoval> outer_header_removal{};
  std::optional<FarId> far_id{};
  std::vector<UrrId> urr_ids{};
  std::vector<QerId> qer_ids{};
  std::vector<std::string> activate_predefined_rules{};
  std::optional<NtpTime> activation_time{};
  std::optional<NtpTime> deactivation_time{};
  std::optional<MarId> mar_id{};
  std::optional<PacketReplicationAndDetectionCarryOnInformation> packet_replication{};
  std::vector<IpMulticastAddressingInfo> ip_multicast_addressing_infos{};
  std::vector<std::string> ue_ip_address_pool_identities{};
  std::optional<std::uint8_t> mptcp_applicable_indication{};
  std::optional<TransportDelayReporting> transport_delay_reporting{};
  std::optional<std::uint8_t> rat_type{};
  bool operator==(const CreatePdr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.2-1
struct UpdatePdr {
  PdrId pdr_id{};
  std::optional<OuterHeaderRemoval> outer_header_removal{};
  std::optional<std::uint32_t> precedence{};
  std::optional<Pdi> pdi{};
  std::optional<FarId> far_id{};
  std::vector<UrrId> urr_ids{};
  std::vector<QerId> qer_ids{};
  std::vector<std::string> activate_predefined_rules{};
  std::vector<std::string> deactivate_predefined_rules{};
  std::optional<NtpTime> activation_time{};
  std::optional<NtpTime> deactivation_time{};
  std::vector<IpMulticastAddressingInfo> ip_multicast_addressing_infos{};
  std::optional<TransportDelayReporting> transport_delay_reporting{};
  std::optional<std::uint8_t> rat_type{};
  Removed removed{};
  bool operator==(const UpdatePdr&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.6-1
struct RemovePdr {
  PdrId pdr_id{};
  bool operator==(const RemovePdr&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.2-1
struct CreatedPdr {
  PdrId pdr_id{};
  std::optional<FTeid> local_f_teid{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  bool operator==(const CreatedPdr&) const = default;
  static const IeDef def;
};

/// Table 7.5.9.3-1
struct UpdatedPdr {
  PdrId pdr_id{};
  std::optional<FTeid> local_f_teid{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  bool operator==(const UpdatedPdr&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.7-1
struct CreateTrafficEndpoint {
  std::uint8_t traffic_endpoint_id{};
  std::optional<FTeid> local_f_teid{};
  std::optional<DomainName> network_instance{};
  std::optional<RedundantTransmissionDetectionParameters> redundant_transmission{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  std::optional<EthernetPduSessionInformation> ethernet_pdu_session_information{};
  std::vector<std::string> framed_routes{};
  std::optional<std::uint32_t> framed_routing{};
  std::vector<std::string> framed_ipv6_routes{};
  std::vector<std::uint8_t> qfis{};
  std::optional<InterfaceType3gpp> source_interface_type{};
  std::optional<std::uint8_t> rat_type{};
  bool operator==(const CreateTrafficEndpoint&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.13-1
struct UpdateTrafficEndpoint {
  std::uint8_t traffic_endpoint_id{};
  std::optional<FTeid> local_f_teid{};
  std::optional<DomainName> network_instance{};
  std::optional<RedundantTransmissionDetectionParameters> redundant_transmission{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  std::vector<std::string> framed_routes{};
  std::optional<std::uint32_t> framed_routing{};
  std::vector<std::string> framed_ipv6_routes{};
  std::vector<std::uint8_t> qfis{};
  std::optional<InterfaceType3gpp> source_interface_type{};
  std::optional<std::uint8_t> rat_type{};
  Removed removed{};
  bool operator==(const UpdateTrafficEndpoint&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.14-1
struct RemoveTrafficEndpoint {
  std::uint8_t traffic_endpoint_id{};
  bool operator==(const RemoveTrafficEndpoint&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.5-1
struct CreatedTrafficEndpoint {
  std::uint8_t traffic_endpoint_id{};
  std::optional<FTeid> local_f_teid{};
  std::vector<UeIpAddress> ue_ip_addresses{};
  bool operator==(const CreatedTrafficEndpoint&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

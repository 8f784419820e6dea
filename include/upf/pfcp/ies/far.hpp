#pragma once

#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"

/// What happens to packets: FARs and BARs.
namespace upf::pfcp {

/// 8.2.26
struct ApplyAction {
  bool drop{};
  bool forw{};
  bool buff{};
  bool nocp{};
  bool dupl{};
  bool ipma{};
  bool ipmd{};
  bool dfrt{};
  bool edrt{};
  bool bdpn{};
  bool ddpn{};
  bool fssm{};
  bool mbsu{};
  bool operator==(const ApplyAction&) const = default;
  static const IeDef def;
};

/// 8.2.56. The first flags are the Outer Header Creation Description and say which of the fields
/// are on the wire: GTP-U has `teid`, UDP has `port`, the IP families have their address.
struct OuterHeaderCreation {
  bool gtpu_udp_ipv4{};
  bool gtpu_udp_ipv6{};
  bool udp_ipv4{};
  bool udp_ipv6{};
  bool ip_ipv4{};  ///< plain IPv4, no UDP
  bool ip_ipv6{};
  bool n19_indication{};
  bool n6_indication{};
  Teid teid{};
  Ipv4 ipv4{};
  Ipv6 ipv6{};
  std::uint16_t port{};
  std::optional<std::uint32_t> c_tag{};  ///< 24 bits
  std::optional<std::uint32_t> s_tag{};  ///< 24 bits
  bool operator==(const OuterHeaderCreation&) const = default;
  static const IeDef def;

  [[nodiscard]] bool has_teid() const { return gtpu_udp_ipv4 || gtpu_udp_ipv6; }
  [[nodiscard]] bool has_ipv4() const { return gtpu_udp_ipv4 || udp_ipv4 || ip_ipv4; }
  [[nodiscard]] bool has_ipv6() const { return gtpu_udp_ipv6 || udp_ipv6 || ip_ipv6; }
  [[nodiscard]] bool has_port() const { return udp_ipv4 || udp_ipv6; }
};

/// 8.2.20
struct RedirectInformation {
  enum class AddressType : std::uint8_t {
    Ipv4 = 0,
    Ipv6 = 1,
    Url = 2,
    SipUri = 3,
    Ipv4AndIpv6 = 4,
    Port = 5,
    Ipv4AndPort = 6,
    Ipv6AndPort = 7,
    Ipv4AndIpv6AndPort = 8,
  };
  AddressType address_type{};
  std::string server_address{};
  std::optional<std::string> other_server_address{};
  bool operator==(const RedirectInformation&) const = default;
  static const IeDef def;
};

/// 8.2.67
struct HeaderEnrichment {
  std::uint8_t header_type{};  ///< 0: HTTP
  std::string name{};
  std::string value{};
  bool operator==(const HeaderEnrichment&) const = default;
  static const IeDef def;
};

/// 8.2.97
struct Proxying {
  bool arp{};
  bool ins{};
  bool operator==(const Proxying&) const = default;
  static const IeDef def;
};

/// 8.2.31
struct PfcpSmReqFlags {
  bool drobu{};
  bool sndem{};
  bool qaurr{};
  bool sumpc{};
  bool rumuc{};
  bool deteid{};
  bool operator==(const PfcpSmReqFlags&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.3-2
struct ForwardingParameters {
  DestinationInterface destination_interface{};
  std::optional<DomainName> network_instance{};
  std::optional<RedirectInformation> redirect_information{};
  std::optional<OuterHeaderCreation> outer_header_creation{};
  std::optional<TosTrafficClass> transport_level_marking{};
  std::optional<std::string> forwarding_policy{};
  std::optional<HeaderEnrichment> header_enrichment{};
  std::optional<std::uint8_t> linked_traffic_endpoint_id{};
  std::optional<Proxying> proxying{};
  std::optional<InterfaceType3gpp> destination_interface_type{};
  std::optional<std::string> data_network_access_identifier{};
  bool operator==(const ForwardingParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.3-2
struct UpdateForwardingParameters {
  std::optional<DestinationInterface> destination_interface{};
  std::optional<DomainName> network_instance{};
  std::optional<RedirectInformation> redirect_information{};
  std::optional<OuterHeaderCreation> outer_header_creation{};
  std::optional<TosTrafficClass> transport_level_marking{};
  std::optional<std::string> forwarding_policy{};
  std::optional<HeaderEnrichment> header_enrichment{};
  std::optional<PfcpSmReqFlags> pfcpsmreq_flags{};
  std::optional<std::uint8_t> linked_traffic_endpoint_id{};
  std::optional<InterfaceType3gpp> destination_interface_type{};
  std::optional<std::string> data_network_access_identifier{};
  Removed removed{};
  bool operator==(const UpdateForwardingParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.3-3
struct DuplicatingParameters {
  DestinationInterface destination_interface{};
  std::optional<OuterHeaderCreation> outer_header_creation{};
  std::optional<TosTrafficClass> transport_level_marking{};
  std::optional<std::string> forwarding_policy{};
  bool operator==(const DuplicatingParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.3-3
struct UpdateDuplicatingParameters {
  std::optional<DestinationInterface> destination_interface{};
  std::optional<OuterHeaderCreation> outer_header_creation{};
  std::optional<TosTrafficClass> transport_level_marking{};
  std::optional<std::string> forwarding_policy{};
  Removed removed{};
  bool operator==(const UpdateDuplicatingParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.3-4
struct RedundantTransmissionForwardingParameters {
  OuterHeaderCreation outer_header_creation{};
  std::optional<DomainName> network_instance{};
  bool operator==(const RedundantTransmissionForwardingParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.3-1
struct CreateFar {
  FarId far_id{};
  ApplyAction apply_action{};
  std::optional<ForwardingParameters> forwarding_parameters{};
  std::vector<DuplicatingParameters> duplicating_parameters{};
  std::optional<BarId> bar_id{};
  std::optional<RedundantTransmissionForwardingParameters> redundant_transmission{};
  bool operator==(const CreateFar&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.3-1
struct UpdateFar {
  FarId far_id{};
  std::optional<ApplyAction> apply_action{};
  std::optional<UpdateForwardingParameters> update_forwarding_parameters{};
  std::vector<UpdateDuplicatingParameters> update_duplicating_parameters{};
  std::optional<RedundantTransmissionForwardingParameters> redundant_transmission{};
  std::optional<BarId> bar_id{};
  Removed removed{};
  bool operator==(const UpdateFar&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.7-1
struct RemoveFar {
  FarId far_id{};
  bool operator==(const RemoveFar&) const = default;
  static const IeDef def;
};

/// 8.2.172
struct MtEdtControlInformation {
  bool rdsi{};
  bool operator==(const MtEdtControlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.6-1
struct CreateBar {
  BarId bar_id{};
  std::optional<std::uint8_t> downlink_data_notification_delay{};  ///< in 50 ms
  std::optional<std::uint8_t> suggested_buffering_packets_count{};
  std::optional<MtEdtControlInformation> mt_edt_control_information{};
  bool operator==(const CreateBar&) const = default;
  static const IeDef def;
};

/// Tables 7.5.4.11-1 (IE 86, in a Session Modification Request) and 7.5.9.2-1 (IE 12, in a Session
/// Report Response).
struct UpdateBar {
  BarId bar_id{};
  std::optional<std::uint8_t> downlink_data_notification_delay{};      ///< in 50 ms
  std::optional<UnitTimer> dl_buffering_duration{};                    ///< IE 12 only
  std::optional<std::uint16_t> dl_buffering_suggested_packet_count{};  ///< IE 12 only
  std::optional<std::uint8_t> suggested_buffering_packets_count{};
  std::optional<MtEdtControlInformation> mt_edt_control_information{};  ///< IE 86 only
  Removed removed{};
  bool operator==(const UpdateBar&) const = default;
};

/// Table 7.5.4.12-1
struct RemoveBar {
  BarId bar_id{};
  bool operator==(const RemoveBar&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

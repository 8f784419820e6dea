#pragma once

#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/ethernet.hpp"
#include "upf/pfcp/ies/rule_ids.hpp"

/// Sessions over several accesses (ATSSS): MARs and what goes with them.
namespace upf::pfcp {

/// Tables 7.5.2.8-2 (IE 166, 3GPP access) and 7.5.2.8-3 (IE 167, the other one).
struct AccessForwardingActionInformation {
  FarId far_id{};
  std::optional<std::uint8_t> weight{};    ///< percent
  std::optional<std::uint8_t> priority{};  ///< 4 bits
  std::vector<UrrId> urr_ids{};
  std::optional<std::uint8_t> rat_type{};
  bool operator==(const AccessForwardingActionInformation&) const = default;
};

/// Tables 7.5.4.16-2 (IE 175) and 7.5.4.16-3 (IE 176).
struct UpdateAccessForwardingActionInformation {
  std::optional<FarId> far_id{};
  std::optional<std::uint8_t> weight{};
  std::optional<std::uint8_t> priority{};
  std::vector<UrrId> urr_ids{};
  std::optional<std::uint8_t> rat_type{};
  Removed removed{};
  bool operator==(const UpdateAccessForwardingActionInformation&) const = default;
};

/// 8.2.196
struct Thresholds {
  std::optional<std::uint16_t> rtt{};              ///< ms
  std::optional<std::uint8_t> packet_loss_rate{};  ///< percent
  bool operator==(const Thresholds&) const = default;
  static const IeDef def;
};

/// 8.2.197
struct SteeringModeIndicator {
  bool albi{};
  bool ueai{};
  bool operator==(const SteeringModeIndicator&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.8-1
struct CreateMar {
  MarId mar_id{};
  std::uint8_t steering_functionality{};
  std::uint8_t steering_mode{};
  std::optional<AccessForwardingActionInformation> access_3gpp{};
  std::optional<AccessForwardingActionInformation> access_non_3gpp{};
  std::optional<Thresholds> thresholds{};
  std::optional<SteeringModeIndicator> steering_mode_indicator{};
  bool operator==(const CreateMar&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.16-1
struct UpdateMar {
  MarId mar_id{};
  std::optional<std::uint8_t> steering_functionality{};
  std::optional<std::uint8_t> steering_mode{};
  std::optional<UpdateAccessForwardingActionInformation> update_access_3gpp{};
  std::optional<UpdateAccessForwardingActionInformation> update_access_non_3gpp{};
  std::optional<AccessForwardingActionInformation> access_3gpp{};
  std::optional<AccessForwardingActionInformation> access_non_3gpp{};
  std::optional<Thresholds> thresholds{};
  std::optional<SteeringModeIndicator> steering_mode_indicator{};
  Removed removed{};
  bool operator==(const UpdateMar&) const = default;
  static const IeDef def;
};

/// Table 7.5.4.15-1
struct RemoveMar {
  MarId mar_id{};
  bool operator==(const RemoveMar&) const = default;
  static const IeDef def;
};

/// 8.2.154
struct MptcpControlInformation {
  bool tci{};
  bool operator==(const MptcpControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.155
struct AtsssLlControlInformation {
  bool lli{};
  bool operator==(const AtsssLlControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.156
struct PmfControlInformation {
  bool pmfi{};
  bool drtti{};
  std::optional<std::vector<std::uint8_t>> qfis{};  ///< PQPM
  bool operator==(const PmfControlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.10-1
struct ProvideAtsssControlInformation {
  std::optional<MptcpControlInformation> mptcp_control_information{};
  std::optional<AtsssLlControlInformation> atsss_ll_control_information{};
  std::optional<PmfControlInformation> pmf_control_information{};
  bool operator==(const ProvideAtsssControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.157
struct MptcpAddressInformation {
  std::uint8_t proxy_type{};
  std::uint16_t proxy_port{};
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool operator==(const MptcpAddressInformation&) const = default;
  static const IeDef def;
};

/// 8.2.158
struct UeLinkSpecificIpAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  std::optional<Ipv4> non_3gpp_ipv4{};
  std::optional<Ipv6> non_3gpp_ipv6{};
  bool operator==(const UeLinkSpecificIpAddress&) const = default;
  static const IeDef def;
};

/// 8.2.159
struct PmfAddressInformation {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool mac{};  ///< the MAC addresses are there
  std::uint16_t port_3gpp{};
  std::uint16_t port_non_3gpp{};
  Mac mac_3gpp{};
  Mac mac_non_3gpp{};
  bool operator==(const PmfAddressInformation&) const = default;
  static const IeDef def;
};

/// 8.2.160
struct AtsssLlInformation {
  bool lli{};
  bool operator==(const AtsssLlInformation&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.7-2
struct MptcpParameters {
  MptcpAddressInformation mptcp_address_information{};
  UeLinkSpecificIpAddress ue_link_specific_ip_address{};
  bool operator==(const MptcpParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.7-3
struct AtsssLlParameters {
  AtsssLlInformation atsss_ll_information{};
  bool operator==(const AtsssLlParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.7-4
struct PmfParameters {
  std::vector<PmfAddressInformation> pmf_address_information{};  ///< at least one
  std::vector<std::uint8_t> qfis{};
  bool operator==(const PmfParameters&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.7-1
struct AtsssControlParameters {
  std::optional<MptcpParameters> mptcp_parameters{};
  std::optional<AtsssLlParameters> atsss_ll_parameters{};
  std::optional<PmfParameters> pmf_parameters{};
  bool operator==(const AtsssControlParameters&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

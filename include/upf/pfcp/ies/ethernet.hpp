#pragma once

#include <array>
#include <vector>

#include "upf/pfcp/ies/common.hpp"

/// Ethernet PDU sessions.
namespace upf::pfcp {

using Mac = std::array<std::uint8_t, 6>;

/// 8.2.102
struct EthernetPduSessionInformation {
  bool ethi{};  ///< provisioned for the whole session, not for one flow
  bool operator==(const EthernetPduSessionInformation&) const = default;
  static const IeDef def;
};

/// 8.2.93
struct MacAddress {
  std::optional<Mac> source{};
  std::optional<Mac> destination{};
  std::optional<Mac> upper_source{};
  std::optional<Mac> upper_destination{};
  bool operator==(const MacAddress&) const = default;
  static const IeDef def;
};

/// 8.2.94 and 8.2.95
struct VlanTag {
  std::optional<std::uint8_t> pcp{};   ///< 3 bits
  std::optional<std::uint8_t> dei{};   ///< 1 bit
  std::optional<std::uint16_t> vid{};  ///< 12 bits
  bool operator==(const VlanTag&) const = default;
};

/// 8.2.99
struct EthernetFilterProperties {
  bool bide{};  ///< bidirectional
  bool operator==(const EthernetFilterProperties&) const = default;
  static const IeDef def;
};

/// Table 7.5.2.2-3
struct EthernetPacketFilter {
  std::optional<std::uint32_t> ethernet_filter_id{};
  std::optional<EthernetFilterProperties> ethernet_filter_properties{};
  std::vector<MacAddress> mac_addresses{};
  std::optional<std::uint16_t> ethertype{};
  std::optional<VlanTag> c_tag{};
  std::optional<VlanTag> s_tag{};
  std::vector<SdfFilter> sdf_filters{};
  bool operator==(const EthernetPacketFilter&) const = default;
  static const IeDef def;
};

/// 8.2.103 and 8.2.104
struct MacAddresses {
  std::vector<Mac> addresses{};
  std::optional<VlanTag> c_tag{};
  std::optional<VlanTag> s_tag{};
  bool operator==(const MacAddresses&) const = default;
};

/// Table 7.5.8.3-3
struct EthernetTrafficInformation {
  std::vector<MacAddresses> mac_addresses_detected{};
  std::vector<MacAddresses> mac_addresses_removed{};
  bool operator==(const EthernetTrafficInformation&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

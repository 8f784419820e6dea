#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "upf/base/result.hpp"
#include "upf/rules/rules.hpp"

namespace upf::rules {

/// Most port ranges that one end of a flow description may list.
inline constexpr std::size_t kMaxPortRanges = 64;

/// Text of an IPFilterRule (RFC 6733 4.3.1) to a value, within what TS 29.212 5.4.2 allows: `permit
/// out`, no options. The error is one line for the operator. What it can't express exactly it
/// refuses: no filter is ever wider than its text.
[[nodiscard]] Result<FlowDescription, std::string> parse_flow_description(std::string_view text);

/// The canonical text: parsing it gives the same value again.
[[nodiscard]] std::string to_string(const FlowDescription& flow);

/// What filters look at in a packet.
struct PacketFields {
  IpAddress source{};
  IpAddress destination{};
  std::uint8_t protocol{};
  std::optional<std::uint16_t> source_port{};  ///< none: no ports, or not the first fragment
  std::optional<std::uint16_t> destination_port{};
  std::uint8_t tos{};                         ///< IPv4 ToS or IPv6 traffic class
  std::optional<std::uint32_t> spi{};         ///< ESP and AH
  std::optional<std::uint32_t> flow_label{};  ///< IPv6
};

/// The addresses that `assigned` stands for: the PDR's UE addresses and framed routes.
struct Assigned {
  std::span<const UeAddress> ue{};
  std::span<const IpPrefix> framed{};
  [[nodiscard]] bool empty() const { return ue.empty() && framed.empty(); }
  [[nodiscard]] bool contains(const IpAddress& address) const;
};

/// Whether the packet is one that the flow describes. `swapped`: the packet goes uplink (source
/// interface Access), so that the flow's source is the packet's destination, addresses and ports
/// alike (TS 29.244 5.2.1A.2A). A port never matches a packet without one.
///
/// This is the meaning that planes are tested against; the fast paths compile their own form.
[[nodiscard]] bool matches(const FlowDescription& flow, const PacketFields& packet, bool swapped,
                           const Assigned& assigned);
[[nodiscard]] bool matches(const SdfFilter& filter, const PacketFields& packet, bool swapped,
                           const Assigned& assigned);

}  // namespace upf::rules

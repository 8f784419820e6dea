#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "upf/base/address.hpp"

/// The T-PDU seen as an IP packet: parsed once, then only values are looked at.
namespace upf::userplane {

/// Both families in two words: an IPv4 address is the lower 32 bits of `low`. Which it is, its
/// holder knows.
struct Address {
  std::uint64_t high{};
  std::uint64_t low{};
  auto operator<=>(const Address&) const = default;

  [[nodiscard]] static Address of(Ipv4 v4) { return {0, v4.host()}; }
  [[nodiscard]] static Address of(const Ipv6& v6);
  [[nodiscard]] static Address of_ipv6(const std::uint8_t* octets);
  [[nodiscard]] IpAddress to_ip(bool ipv6) const;
};

namespace protocol {
inline constexpr std::uint8_t kIcmp = 1;
inline constexpr std::uint8_t kTcp = 6;
inline constexpr std::uint8_t kUdp = 17;
inline constexpr std::uint8_t kEsp = 50;
inline constexpr std::uint8_t kAh = 51;
inline constexpr std::uint8_t kIcmpv6 = 58;
inline constexpr std::uint8_t kSctp = 132;
}  // namespace protocol

struct IpPacket {
  std::uint8_t* data{};
  std::uint32_t length{};     ///< of the IP packet: what its header says
  std::uint16_t l4_offset{};  ///< behind options and extension headers
  std::uint8_t version{};     ///< 4 or 6
  std::uint8_t protocol{};    ///< of the payload, behind extension headers
  std::uint8_t tos{};
  std::uint8_t ttl{};
  bool fragment{};        ///< first or later
  bool later_fragment{};  ///< without its L4 header
  bool plain{};           ///< no options, no extension headers, no fragment
  bool has_ports{};
  bool has_spi{};
  std::uint16_t source_port{};
  std::uint16_t destination_port{};
  std::uint32_t spi{};
  std::uint32_t flow_label{};
  std::uint32_t fragment_id{};
  Address source{};
  Address destination{};

  [[nodiscard]] std::span<const std::uint8_t> octets() const { return {data, length}; }
};

/// False: no IP packet, or its lengths don't fit. Octets behind the packet's own length are cut.
[[nodiscard]] bool parse_ip(std::uint8_t* data, std::size_t size, IpPacket& packet);

inline std::uint16_t load16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8U | at[1]);
}
inline std::uint32_t load32(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(load16(at)) << 16U | load16(at + 2);
}
inline void store16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}
inline void store32(std::uint8_t* at, std::uint32_t value) {
  store16(at, value >> 16U);
  store16(at + 2, value & 0xffffU);
}

}  // namespace upf::userplane

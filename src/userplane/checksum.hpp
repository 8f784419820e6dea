#pragma once

#include <cstddef>
#include <cstdint>

#include "ip_packet.hpp"

/// The Internet checksum (RFC 1071) over what TUN and sockets leave to us.
namespace upf::userplane {

/// Sum of the octets as 16-bit words in memory order, not folded to 16 bits yet, not inverted. An
/// odd last octet counts as if a zero followed.
[[nodiscard]] std::uint64_t sum_octets(const std::uint8_t* data, std::size_t size,
                                       std::uint64_t sum = 0);

/// To 16 bits, in memory order (a memcpy writes it).
[[nodiscard]] inline std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & 0xffffffffU) + (sum >> 32U);
  sum = (sum & 0xffffffffU) + (sum >> 32U);
  sum = (sum & 0xffffU) + (sum >> 16U);
  sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

/// Sum of the pseudo header (RFC 9293 3.1, RFC 8200 8.1) of an L4 segment of so many octets.
[[nodiscard]] std::uint64_t sum_pseudo_header(const IpPacket& packet, std::size_t l4_length);

/// Whether the TCP or UDP checksum of a packet without options or fragments holds. A UDP checksum
/// of zero does not.
[[nodiscard]] bool l4_checksum_holds(const IpPacket& packet);

/// Writes the IPv4 header checksum.
void write_ipv4_checksum(std::uint8_t* header, std::size_t header_length);

}  // namespace upf::userplane

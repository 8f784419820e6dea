#include "ip_packet.hpp"

#include <bit>
#include <cstring>

namespace upf::userplane {
namespace {

constexpr std::size_t kIpv4Header = 20;
constexpr std::size_t kIpv6Header = 40;

std::uint64_t load64(const std::uint8_t* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  return value;
}

/// Ports or SPI, if their octets are there.
void parse_l4(IpPacket& packet) {
  if (packet.later_fragment) return;
  const std::size_t rest = packet.length - packet.l4_offset;
  const std::uint8_t* at = packet.data + packet.l4_offset;
  switch (packet.protocol) {
    case protocol::kTcp:
    case protocol::kUdp:
    case protocol::kSctp:
      if (rest < 4) return;
      packet.has_ports = true;
      packet.source_port = load16(at);
      packet.destination_port = load16(at + 2);
      return;
    case protocol::kEsp:
    case protocol::kAh: {
      const std::size_t offset = packet.protocol == protocol::kAh ? 4 : 0;
      if (rest < offset + 4) return;
      packet.has_spi = true;
      packet.spi = load32(at + offset);
      return;
    }
    default:
      return;
  }
}

bool parse_ipv4(std::uint8_t* data, std::size_t size, IpPacket& packet) {
  if (size < kIpv4Header) return false;
  const std::size_t header = (data[0] & 0x0fU) * 4U;
  const std::size_t total = load16(data + 2);
  if (header < kIpv4Header || header > total || total > size) return false;
  packet.length = static_cast<std::uint32_t>(total);
  packet.l4_offset = static_cast<std::uint16_t>(header);
  packet.tos = data[1];
  packet.ttl = data[8];
  packet.protocol = data[9];
  const std::uint32_t fragment = load16(data + 6);
  packet.later_fragment = (fragment & 0x1fffU) != 0;
  packet.fragment = (fragment & 0x3fffU) != 0;
  packet.fragment_id = load16(data + 4);
  packet.plain = header == kIpv4Header && !packet.fragment;
  packet.source = {0, load32(data + 12)};
  packet.destination = {0, load32(data + 16)};
  return true;
}

bool is_extension_header(std::uint8_t next) {
  return next == 0 || next == 43 || next == 44 || next == 60;
}

/// Skips hop-by-hop, routing, fragment and destination options headers (RFC 8200 4.1).
bool skip_extensions(IpPacket& packet) {
  std::size_t at = kIpv6Header;
  std::uint8_t next = packet.data[6];
  while (is_extension_header(next) && !packet.later_fragment) {
    if (packet.length - at < 8) return false;
    const std::uint8_t* header = packet.data + at;
    const bool fragment = next == 44;
    const std::size_t length = fragment ? 8 : (header[1] + 1U) * 8U;
    if (length > packet.length - at) return false;
    if (fragment) {
      packet.fragment = true;
      packet.later_fragment = (load16(header + 2) & 0xfff8U) != 0;
      packet.fragment_id = load32(header + 4);
    }
    next = header[0];
    at += length;
  }
  packet.protocol = next;
  packet.l4_offset = static_cast<std::uint16_t>(at);
  packet.plain = at == kIpv6Header;
  return true;
}

bool parse_ipv6(std::uint8_t* data, std::size_t size, IpPacket& packet) {
  if (size < kIpv6Header) return false;
  const std::size_t total = load16(data + 4) + kIpv6Header;
  if (total > size) return false;
  packet.length = static_cast<std::uint32_t>(total);
  packet.tos = static_cast<std::uint8_t>((data[0] & 0x0fU) << 4U | data[1] >> 4U);
  packet.flow_label = load32(data) & 0xfffffU;
  packet.ttl = data[7];
  packet.source = Address::of_ipv6(data + 8);
  packet.destination = Address::of_ipv6(data + 24);
  return skip_extensions(packet);
}

}  // namespace

IpAddress Address::to_ip(bool ipv6) const {
  if (!ipv6) return Ipv4::from_host(static_cast<std::uint32_t>(low));
  Ipv6 address{};
  store32(&address.octets[0], static_cast<std::uint32_t>(high >> 32U));
  store32(&address.octets[4], static_cast<std::uint32_t>(high));
  store32(&address.octets[8], static_cast<std::uint32_t>(low >> 32U));
  store32(&address.octets[12], static_cast<std::uint32_t>(low));
  return address;
}
Address Address::of(const Ipv6& v6) { return of_ipv6(v6.octets.data()); }
Address Address::of_ipv6(const std::uint8_t* octets) {
  return {load64(octets), load64(octets + 8)};
}

bool parse_ip(std::uint8_t* data, std::size_t size, IpPacket& packet) {
  if (size == 0) return false;
  packet = {};
  packet.data = data;
  packet.version = data[0] >> 4U;
  const bool ok = packet.version == 4   ? parse_ipv4(data, size, packet)
                  : packet.version == 6 ? parse_ipv6(data, size, packet)
                                        : false;
  if (ok) parse_l4(packet);
  return ok;
}

}  // namespace upf::userplane

#include "segmenter.hpp"

#include <algorithm>
#include <cstring>

#include "checksum.hpp"

namespace upf::userplane {
namespace {

constexpr std::uint8_t kTcpFin = 0x01;
constexpr std::uint8_t kTcpPush = 0x08;
constexpr std::uint8_t kTcpCwr = 0x80;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::size_t kUdpChecksumAt = 6;

/// What CHECKSUM_PARTIAL leaves: the field holds the pseudo header's sum, the rest is to be added.
bool complete_checksum(const VnetHeader& header, std::uint8_t* data, std::size_t size) {
  const std::size_t start = header.checksum_start;
  const std::size_t field = start + header.checksum_offset;
  if (field + 2 > size) return false;
  auto sum = static_cast<std::uint16_t>(~fold(sum_octets(data + start, size - start)));
  // RFC 768: a computed UDP checksum of zero is sent as all ones. For TCP both mean zero.
  if (sum == 0) sum = 0xffff;
  std::memcpy(data + field, &sum, sizeof sum);
  return true;
}

bool is_tcp_gso(std::uint8_t type) { return type == kGsoTcp4 || type == kGsoTcp6; }

bool read_gso(const VnetHeader& header, SuperPacket& packet) {
  const IpPacket& ip = packet.ip;
  const auto type = static_cast<std::uint8_t>(header.gso_type & ~kGsoEcn);
  if (header.gso_size == 0 || ip.later_fragment || !ip.has_ports) return false;
  std::size_t l4_header = 8;
  if (is_tcp_gso(type)) {
    if (ip.protocol != protocol::kTcp || ip.length < ip.l4_offset + 20U) return false;
    l4_header = (ip.data[ip.l4_offset + 12U] >> 4U) * 4U;
    if (l4_header < 20) return false;
  } else if (type != kGsoUdpL4 || ip.protocol != protocol::kUdp) {
    return false;
  }
  const std::size_t headers = ip.l4_offset + l4_header;
  // More would not fit where write_segment()'s callers put it (IPv6 extension headers).
  if (headers > 120 || headers >= ip.length) return false;
  packet.header_size = static_cast<std::uint16_t>(headers);
  packet.segment_size = header.gso_size;
  packet.count = (packet.payload() + header.gso_size - 1) / header.gso_size;
  return true;
}

void write_tcp(const SuperPacket& packet, std::uint32_t index, std::uint8_t* l4) {
  store32(l4 + 4, load32(l4 + 4) + index * packet.segment_size);
  if (index + 1 < packet.count || packet.cut_short) {
    l4[13] = static_cast<std::uint8_t>(l4[13] & ~(kTcpFin | kTcpPush));
  }
  if (index > 0) l4[13] = static_cast<std::uint8_t>(l4[13] & ~kTcpCwr);
}

void write_ip(const SuperPacket& packet, std::uint32_t index, std::size_t size, std::uint8_t* out) {
  if (packet.ip.version == 4) {
    store16(out + 2, static_cast<std::uint32_t>(size));
    store16(out + 4, load16(out + 4) + index);
    write_ipv4_checksum(out, (out[0] & 0x0fU) * 4U);
  } else {
    store16(out + 4, static_cast<std::uint32_t>(size - 40));
  }
}

}  // namespace

bool read_super_packet(const VnetHeader& header, std::uint8_t* data, std::size_t size,
                       SuperPacket& packet) {
  packet = {};
  if (!parse_ip(data, size, packet.ip)) return false;
  if (header.gso_type != kGsoNone) return read_gso(header, packet);
  if ((header.flags & kVnetNeedsChecksum) == 0) return true;
  return complete_checksum(header, data, packet.ip.length);
}

std::span<const std::uint8_t> write_segment(const SuperPacket& packet, std::uint32_t index,
                                            std::uint8_t* out) {
  const std::size_t begin = std::size_t{index} * packet.segment_size;
  const std::size_t length = std::min<std::size_t>(packet.segment_size, packet.payload() - begin);
  const std::span<const std::uint8_t> payload{packet.ip.data + packet.header_size + begin, length};
  const std::size_t size = packet.header_size + length;
  std::memcpy(out, packet.ip.data, packet.header_size);
  write_ip(packet, index, size, out);
  const bool tcp = packet.ip.protocol == protocol::kTcp;
  const std::size_t l4_offset = packet.ip.l4_offset;
  std::uint8_t* l4 = out + l4_offset;
  if (tcp) {
    write_tcp(packet, index, l4);
  } else {
    store16(l4 + 4, static_cast<std::uint32_t>(size - l4_offset));
  }
  const std::size_t checksum_at = tcp ? kTcpChecksumAt : kUdpChecksumAt;
  store16(l4 + checksum_at, 0);
  std::uint64_t sum = sum_pseudo_header(packet.ip, size - l4_offset);
  // The headers are of even length, so the payload's words stay aligned to the sum's.
  sum = sum_octets(l4, packet.header_size - l4_offset, sum);
  sum = sum_octets(payload.data(), payload.size(), sum);
  auto checksum = static_cast<std::uint16_t>(~fold(sum));
  if (checksum == 0 && !tcp) checksum = 0xffff;
  std::memcpy(l4 + checksum_at, &checksum, sizeof checksum);
  return payload;
}

}  // namespace upf::userplane

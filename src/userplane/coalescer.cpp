#include "coalescer.hpp"

#include <cstring>

#include "checksum.hpp"

namespace upf::userplane {
namespace {

constexpr std::uint8_t kTcpPush = 0x08;
constexpr std::uint8_t kTcpAck = 0x10;
constexpr std::size_t kTcpHeader = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::size_t kUdpChecksumAt = 6;

}  // namespace

Coalescer::Candidate Coalescer::candidate(const IpPacket& packet) const {
  if (!vnet_ || !packet.plain || !packet.has_ports) return {};
  const std::uint8_t* l4 = packet.data + packet.l4_offset;
  const std::size_t rest = packet.length - packet.l4_offset;
  if (packet.protocol == protocol::kTcp) {
    if (rest < kTcpHeader) return {};
    const std::size_t header = (l4[12] >> 4U) * 4U;
    if (header < kTcpHeader || header >= rest) return {};
    if ((l4[13] & ~kTcpPush) != kTcpAck || (l4[12] & 0x0fU) != 0) return {};
    return {.header_size = static_cast<std::uint16_t>(packet.l4_offset + header),
            .payload = static_cast<std::uint16_t>(rest - header),
            .sequence = load32(l4 + 4),
            .tcp_flags = l4[13]};
  }
  if (packet.protocol == protocol::kUdp && udp_) {
    if (rest <= kUdpHeader || load16(l4 + 4) != rest || load16(l4 + 6) == 0) return {};
    return {.header_size = static_cast<std::uint16_t>(packet.l4_offset + kUdpHeader),
            .payload = static_cast<std::uint16_t>(rest - kUdpHeader)};
  }
  return {};
}

bool Coalescer::same_flow(const IpPacket& a, const IpPacket& b) {
  return a.source_port == b.source_port && a.destination_port == b.destination_port &&
         a.protocol == b.protocol && a.version == b.version && a.source == b.source &&
         a.destination == b.destination;
}

/// Everything that segmentation will copy from the first packet's headers is the same here.
bool Coalescer::same_headers(const Slot& slot, const IpPacket& packet, const Candidate& c) {
  const IpPacket& first = slot.first;
  if (first.tos != packet.tos || first.ttl != packet.ttl || first.flow_label != packet.flow_label ||
      slot.header_size != c.header_size) {
    return false;
  }
  if (first.version == 4 && ((first.data[6] ^ packet.data[6]) & 0x40U) != 0) return false;  // DF
  if (packet.protocol != protocol::kTcp) return true;
  const std::uint8_t* a = first.data + first.l4_offset;
  const std::uint8_t* b = packet.data + packet.l4_offset;
  const std::size_t options = c.header_size - packet.l4_offset - kTcpHeader;
  return std::memcmp(a + 8, b + 8, 4) == 0 &&    // acknowledgement
         std::memcmp(a + 14, b + 14, 2) == 0 &&  // window
         std::memcmp(a + kTcpHeader, b + kTcpHeader, options) == 0;
}

bool Coalescer::extends(Slot& slot, const IpPacket& packet, const Candidate& c) {
  if (slot.closed || slot.count == kSegments || c.payload > slot.segment_size ||
      slot.octets + c.payload > kMaxOctets || !same_headers(slot, packet, c)) {
    return false;
  }
  if (packet.protocol == protocol::kTcp && c.sequence != slot.next_sequence) return false;
  if (!slot.verified) {
    slot.verified = l4_checksum_holds(slot.first);
    if (!slot.verified) {
      ++counts_.bad_checksums;
      slot.closed = true;
      return false;
    }
  }
  if (l4_checksum_holds(packet)) return true;
  ++counts_.bad_checksums;
  return false;
}

void Coalescer::append(Slot& slot, const IpPacket& packet, const Candidate& c) {
  ++slot.count;
  slot.parts[slot.count] = {packet.data + c.header_size, c.payload};
  slot.octets += c.payload;
  slot.next_sequence += c.payload;
  slot.tcp_flags |= c.tcp_flags;
  slot.closed = c.payload < slot.segment_size || (c.tcp_flags & kTcpPush) != 0;
}

/// Of the slots in use; nullptr: none is. Flows leave in the order in which they came.
Coalescer::Slot* Coalescer::oldest() {
  Slot* found = nullptr;
  for (Slot& slot : slots_) {
    if (slot.used && (found == nullptr || slot.opened < found->opened)) found = &slot;
  }
  return found;
}

void Coalescer::open(const IpPacket& packet, const Candidate& c) {
  Slot* slot = nullptr;
  for (Slot& free : slots_) {
    if (!free.used) slot = &free;
  }
  if (slot == nullptr) {
    slot = oldest();
    write(*slot);
  }
  slot->used = true;
  slot->opened = opened_++;
  slot->closed = (c.tcp_flags & kTcpPush) != 0;
  slot->verified = false;
  slot->first = packet;
  slot->header_size = c.header_size;
  slot->segment_size = c.payload;
  slot->next_sequence = c.sequence + c.payload;
  slot->octets = packet.length;
  slot->tcp_flags = c.tcp_flags;
  slot->count = 1;
  slot->parts[1] = {packet.data, packet.length};
}

void Coalescer::add(const IpPacket& packet) {
  const Candidate c = candidate(packet);
  for (Slot& slot : slots_) {
    if (!slot.used) continue;
    if (c.header_size == 0) {
      // Fragments and packets without ports may belong to the same flow: same addresses suffice.
      if (slot.first.source == packet.source && slot.first.destination == packet.destination) {
        write(slot);
      }
      continue;
    }
    if (!same_flow(slot.first, packet)) continue;
    if (extends(slot, packet, c)) {
      append(slot, packet, c);
      return;
    }
    write(slot);
    break;
  }
  if (c.header_size == 0) {
    write_single(packet);
  } else {
    open(packet, c);
  }
}

void Coalescer::flush() {
  while (Slot* slot = oldest()) write(*slot);
}

void Coalescer::write_single(const IpPacket& packet) {
  VnetHeader header{};
  const std::array<iovec, 2> parts{{{&header, sizeof header}, {packet.data, packet.length}}};
  sink_.write_n6(std::span{parts}.subspan(vnet_ ? 0 : 1));
}

/// Lengths of the whole, checksums as the kernel wants them before it segments: IPv4's complete,
/// L4's the pseudo header's sum.
void Coalescer::finish_headers(Slot& slot, VnetHeader& header) {
  IpPacket& first = slot.first;
  first.length = slot.octets;
  const bool tcp = first.protocol == protocol::kTcp;
  std::uint8_t* l4 = first.data + first.l4_offset;
  const std::size_t l4_length = slot.octets - first.l4_offset;
  if (first.version == 4) {
    store16(first.data + 2, slot.octets);
    write_ipv4_checksum(first.data, first.l4_offset);
  } else {
    store16(first.data + 4, static_cast<std::uint32_t>(l4_length));
  }
  if (tcp) {
    l4[13] = slot.tcp_flags;
  } else {
    store16(l4 + 4, static_cast<std::uint32_t>(l4_length));
  }
  const std::size_t checksum_at = tcp ? kTcpChecksumAt : kUdpChecksumAt;
  const std::uint16_t sum = fold(sum_pseudo_header(first, l4_length));
  std::memcpy(l4 + checksum_at, &sum, sizeof sum);
  header.flags = kVnetNeedsChecksum;
  header.gso_type = !tcp ? kGsoUdpL4 : first.version == 4 ? kGsoTcp4 : kGsoTcp6;
  header.header_length = slot.header_size;
  header.gso_size = slot.segment_size;
  header.checksum_start = first.l4_offset;
  header.checksum_offset = static_cast<std::uint16_t>(checksum_at);
}

void Coalescer::write(Slot& slot) {
  slot.used = false;
  if (slot.count == 1) {
    write_single(slot.first);
    return;
  }
  counts_.glued += slot.count;
  VnetHeader header{};
  finish_headers(slot, header);
  slot.parts[0] = {&header, sizeof header};
  sink_.write_n6(std::span{slot.parts}.first(slot.count + 1));
}

}  // namespace upf::userplane

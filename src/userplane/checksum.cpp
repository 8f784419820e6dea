#include "checksum.hpp"

#include <bit>
#include <cstring>

namespace upf::userplane {
namespace {

template <class Word>
Word load(const std::uint8_t* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// A 16-bit value as it would be read from memory in network order.
std::uint64_t in_memory_order(std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) {
    return __builtin_bswap16(static_cast<std::uint16_t>(value));
  }
  return value;
}

}  // namespace

std::uint64_t sum_octets(const std::uint8_t* data, std::size_t size, std::uint64_t sum) {
  // 32-bit words into 64-bit sums: no carry to look after below 2^32 words, and the compiler turns
  // the four lanes into vectors.
  std::uint64_t lanes[4] = {sum, 0, 0, 0};
  while (size >= 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      lanes[i] += load<std::uint32_t>(data + 8 * i);
      lanes[i] += load<std::uint32_t>(data + 8 * i + 4);
    }
    data += 32;
    size -= 32;
  }
  sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
  for (; size >= 4; data += 4, size -= 4) sum += load<std::uint32_t>(data);
  if (size >= 2) {
    sum += load<std::uint16_t>(data);
    data += 2;
    size -= 2;
  }
  if (size == 1) sum += in_memory_order(static_cast<std::uint64_t>(*data) << 8U);
  return sum;
}

std::uint64_t sum_pseudo_header(const IpPacket& packet, std::size_t l4_length) {
  const std::uint64_t fixed = in_memory_order(packet.protocol) + in_memory_order(l4_length);
  return packet.version == 4 ? sum_octets(packet.data + 12, 8, fixed)
                             : sum_octets(packet.data + 8, 32, fixed);
}

bool l4_checksum_holds(const IpPacket& packet) {
  const std::size_t length = packet.length - packet.l4_offset;
  const std::uint8_t* l4 = packet.data + packet.l4_offset;
  if (packet.protocol == protocol::kUdp && load16(l4 + 6) == 0) return false;
  return fold(sum_octets(l4, length, sum_pseudo_header(packet, length))) == 0xffff;
}

void write_ipv4_checksum(std::uint8_t* header, std::size_t header_length) {
  store16(header + 10, 0);
  const auto sum = static_cast<std::uint16_t>(~fold(sum_octets(header, header_length)));
  std::memcpy(header + 10, &sum, sizeof sum);
}

}  // namespace upf::userplane

#include "tests/lab/gtpu.hpp"

#include <algorithm>

namespace upf::lab {
namespace {

constexpr std::uint8_t kPduSessionContainer = 0x85;

}  // namespace

void write_uplink_header(std::span<std::uint8_t, kUplinkHeader> out, std::uint32_t teid,
                         std::uint8_t qfi, std::size_t inner_octets) {
  const auto length = static_cast<std::uint16_t>(inner_octets + kUplinkHeader - 8);
  const std::uint8_t header[kUplinkHeader] = {0x34,
                                              kGPdu,
                                              static_cast<std::uint8_t>(length >> 8U),
                                              static_cast<std::uint8_t>(length),
                                              static_cast<std::uint8_t>(teid >> 24U),
                                              static_cast<std::uint8_t>(teid >> 16U),
                                              static_cast<std::uint8_t>(teid >> 8U),
                                              static_cast<std::uint8_t>(teid),
                                              0,
                                              0,
                                              0,
                                              kPduSessionContainer,
                                              1,
                                              0x10,
                                              qfi,
                                              0};
  std::ranges::copy(header, out.begin());
}

std::optional<GtpuPacket> parse_gtpu(wire::Bytes datagram) {
  wire::Reader in{datagram};
  const auto flags = in.be<std::uint8_t>();
  GtpuPacket packet;
  packet.type = in.be<std::uint8_t>();
  const auto length = in.be<std::uint16_t>();
  packet.teid = in.be<std::uint32_t>();
  if (in.failed() || (flags & 0xf0U) != 0x30 || length > in.remaining()) return std::nullopt;
  in = wire::Reader{in.take(length)};
  if ((flags & 0x07U) != 0) {
    const auto sequence = in.be<std::uint16_t>();
    if ((flags & 0x02U) != 0) packet.sequence = sequence;
    (void)in.be<std::uint8_t>();
    auto next = in.be<std::uint8_t>();
    while ((flags & 0x04U) != 0 && next != 0) {
      const auto units = in.be<std::uint8_t>();
      const wire::Bytes extension = in.take(units == 0 ? in.remaining() + 1 : units * 4U - 1U);
      if (in.failed()) return std::nullopt;
      if (next == kPduSessionContainer) packet.qfi = extension[1] & 0x3fU;
      next = extension.back();
    }
  }
  if (in.failed()) return std::nullopt;
  packet.payload = in.rest();
  return packet;
}

}  // namespace upf::lab

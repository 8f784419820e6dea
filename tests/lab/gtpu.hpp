#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "upf/wire/cursor.hpp"

namespace upf::lab {

// TS 29.281 Table 6.1-1.
inline constexpr std::uint8_t kEchoRequest = 1, kEchoResponse = 2, kErrorIndication = 26,
                              kEndMarker = 254, kGPdu = 255;
inline constexpr std::uint16_t kGtpuPort = 2152;

/// A G-PDU header with the uplink PDU Session Container (TS 38.415 5.5.2.2), as gNBs send it.
inline constexpr std::size_t kUplinkHeader = 16;
void write_uplink_header(std::span<std::uint8_t, kUplinkHeader> out, std::uint32_t teid,
                         std::uint8_t qfi, std::size_t inner_octets);

struct GtpuPacket {
  std::uint8_t type{};
  std::uint32_t teid{};
  std::optional<std::uint16_t> sequence{};
  std::optional<std::uint8_t> qfi{};  ///< of a PDU Session Container
  wire::Bytes payload{};
};

/// Nothing if it is not GTPv1-U or not whole.
[[nodiscard]] std::optional<GtpuPacket> parse_gtpu(wire::Bytes datagram);

}  // namespace upf::lab

#pragma once

#include <cstdint>
#include <optional>

#include "upf/base/address.hpp"
#include "upf/base/ids.hpp"
#include "upf/wire/cursor.hpp"

/// The little of GTP-U (TS 29.281) that the daemon speaks itself next to the kernel module.
namespace upf::gtp5g {

namespace gtpu {
inline constexpr std::uint16_t kPort = 2152;
inline constexpr std::uint8_t kEchoRequest = 1;
inline constexpr std::uint8_t kEchoResponse = 2;
inline constexpr std::uint8_t kErrorIndication = 26;
inline constexpr std::uint8_t kSupportedExtensionHeaders = 31;
inline constexpr std::uint8_t kEndMarker = 254;
inline constexpr std::uint8_t kGPdu = 255;
}  // namespace gtpu

/// What stands in front of a T-PDU.
struct GPduHeader {
  Teid teid{};
  std::optional<std::uint8_t> container{};  ///< PPP, RQI and QFI of a PDU Session Container
  bool uplink{};                            ///< the container's PDU type
  std::optional<std::uint16_t> sequence{};
};

[[nodiscard]] wire::Octets encode_g_pdu(const GPduHeader& header, wire::Bytes packet);
[[nodiscard]] wire::Octets encode_end_marker(Teid teid);
[[nodiscard]] wire::Octets encode_echo_request(std::uint16_t sequence);
/// Answers an Echo Request (7.2.2), or names the extension header types we know (7.2.3).
[[nodiscard]] wire::Octets encode_echo_response(std::uint16_t sequence);
[[nodiscard]] wire::Octets encode_supported_extension_headers(std::uint16_t sequence);

/// A message other than a G-PDU.
struct SignallingMessage {
  std::uint8_t type{};
  Teid teid{};
  std::uint16_t sequence{};
  /// Error Indication (7.3.1): the tunnel that the sender doesn't know.
  std::optional<Teid> unknown_teid{};
  std::optional<IpAddress> unknown_peer{};
  bool not_understood{};  ///< an extension header that we don't know demands to be (5.2.1)
};
/// None if it can't be GTP-U version 1.
[[nodiscard]] std::optional<SignallingMessage> decode_signalling(wire::Bytes datagram);

/// Octets of a packet that the module counts: what follows the IP header and the header of TCP or
/// UDP. 0 for what it doesn't count.
[[nodiscard]] std::uint64_t counted_octets(wire::Bytes packet);

/// DSCP of an IPv4 packet.
[[nodiscard]] std::optional<std::uint8_t> dscp_of(wire::Bytes packet);

}  // namespace upf::gtp5g

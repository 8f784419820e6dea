#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "upf/wire/cursor.hpp"

/// GTP-U headers, TS 29.281 clauses 5 and 7, and the PDU Session Container, TS 38.415 5.5.2.
namespace upf::userplane::gtpu {

inline constexpr std::uint16_t kPort = 2152;

enum class MessageType : std::uint8_t {
  EchoRequest = 1,
  EchoResponse = 2,
  ErrorIndication = 26,
  SupportedExtensionHeadersNotification = 31,
  EndMarker = 254,
  GPdu = 255,
};

/// Extension header types that this UPF knows (5.2.1, figure 5.2.1-3).
enum class Extension : std::uint8_t {
  None = 0x00,
  UdpPort = 0x40,
  LongPdcpPduNumber = 0x82,
  PduSessionContainer = 0x85,
  PdcpPduNumber = 0xc0,
};

enum class PduType : std::uint8_t { Downlink = 0, Uplink = 1 };

/// What a PDU Session Container says, as far as a UPF uses it.
struct PduSession {
  PduType type{};
  std::uint8_t qfi{};  ///< 6 bits
  bool rqi{};          ///< downlink only
  bool operator==(const PduSession&) const = default;
};

/// One extension header as it stands in the datagram, without the type of the next.
struct RawExtension {
  Extension type{};
  wire::Bytes content{};  ///< between the length octet and the next type
};

struct Header {
  MessageType type{};
  std::uint32_t teid{};
  std::optional<std::uint16_t> sequence{};
  std::optional<PduSession> pdu_session{};
  std::optional<RawExtension> pdcp{};  ///< carried along when a tunnel continues in another
  std::uint8_t not_understood{};       ///< first extension type that demands to be, 0: none
  wire::Bytes payload{};
};

enum class Malformed : std::uint8_t { None, Short, Version, Length, Extension };

/// The whole header or why not. The payload ends where the header's length says; octets behind it
/// are not looked at.
[[nodiscard]] Malformed decode(wire::Bytes datagram, Header& header);

/// Longest header that encode_tunnel writes.
inline constexpr std::size_t kMaxTunnelHeader = 32;

/// What stands before a T-PDU or an End Marker. The caller adds payload.
struct TunnelHeader {
  MessageType type{MessageType::GPdu};
  std::uint32_t teid{};
  std::optional<PduSession> pdu_session{};
  std::optional<RawExtension> pdcp{};  ///< content of at most 6 octets
};

/// Octets written. `payload_length` is what will follow.
std::size_t encode_tunnel(const TunnelHeader& header, std::size_t payload_length,
                          std::span<std::uint8_t, kMaxTunnelHeader> out);

[[nodiscard]] wire::Octets encode_echo_request(std::uint16_t sequence);
/// 7.2.2: the sequence number is the request's; Recovery is there and zero (8.2).
[[nodiscard]] wire::Octets encode_echo_response(std::uint16_t sequence);
/// 7.3.1: the TEID that nobody knows and the address it was sent to.
[[nodiscard]] wire::Octets encode_error_indication(std::uint32_t teid, wire::Bytes address);
/// 7.2.3: the extension headers that this UPF understands.
[[nodiscard]] wire::Octets encode_supported_extensions();

/// Tunnel Endpoint Identifier Data I and GTP-U Peer Address of an Error Indication's payload.
struct ErrorIndicationBody {
  std::uint32_t teid{};
  wire::Bytes address{};  ///< 4 or 16 octets
};
[[nodiscard]] std::optional<ErrorIndicationBody> decode_error_indication(wire::Bytes payload);

}  // namespace upf::userplane::gtpu

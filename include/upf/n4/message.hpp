#pragma once

#include <cstdint>
#include <optional>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/wire/cursor.hpp"

/// PFCP over UDP without a socket and without a clock: transactions, associations, heartbeats.
namespace upf::n4 {

/// PFCP's UDP port, TS 29.244 4.2.2: requests go there whatever port a peer's own came from.
inline constexpr std::uint16_t kPort = 8805;
/// Sequence numbers have 24 bits (TS 29.244 7.2.2.2). Ours go round from here to 1; 0 is not used.
inline constexpr std::uint32_t kLastSequence = 0xffffff;

/// What goes out, and where.
struct Datagram {
  SocketAddress to{};
  wire::Octets octets{};
  bool operator==(const Datagram&) const = default;
};

/// TS 29.244 Table 7.3-1.
namespace message_type {
inline constexpr std::uint8_t kHeartbeatRequest = 1;
inline constexpr std::uint8_t kHeartbeatResponse = 2;
inline constexpr std::uint8_t kPfdManagementRequest = 3;
inline constexpr std::uint8_t kAssociationSetupRequest = 5;
inline constexpr std::uint8_t kAssociationSetupResponse = 6;
inline constexpr std::uint8_t kAssociationUpdateRequest = 7;
inline constexpr std::uint8_t kAssociationReleaseRequest = 9;
inline constexpr std::uint8_t kAssociationReleaseResponse = 10;
inline constexpr std::uint8_t kVersionNotSupportedResponse = 11;
inline constexpr std::uint8_t kNodeReportRequest = 12;
inline constexpr std::uint8_t kSessionSetDeletionRequest = 14;
inline constexpr std::uint8_t kSessionSetModificationRequest = 16;
inline constexpr std::uint8_t kSessionEstablishmentRequest = 50;
inline constexpr std::uint8_t kSessionModificationRequest = 52;
inline constexpr std::uint8_t kSessionDeletionRequest = 54;
inline constexpr std::uint8_t kSessionReportRequest = 56;
}  // namespace message_type

/// The types of Table 7.3-1 that ask for an answer.
[[nodiscard]] bool is_request(std::uint8_t type);
/// The types of Table 7.3-1 that are answers. An unknown type is neither.
[[nodiscard]] bool is_response(std::uint8_t type);

/// The PFCP header, TS 29.244 7.2.2.
struct Header {
  std::uint8_t version{1};
  bool follow_on{};  ///< FO: another message follows in the datagram
  std::uint8_t type{};
  std::uint16_t length{};               ///< of all that follows the first 4 octets
  std::optional<std::uint64_t> seid{};  ///< S flag
  std::uint32_t sequence{};             ///< 24 bits
  std::uint8_t priority{};              ///< 4 bits, with the MP flag
  bool operator==(const Header&) const = default;

  [[nodiscard]] std::size_t size() const { return seid ? 16U : 8U; }
};

/// The header at the front of `octets`, or nothing if they are too few for it (7.6.3: discarded
/// silently). The length field is not judged here.
[[nodiscard]] std::optional<Header> read_header(wire::Bytes octets);

/// Puts the sequence number into an encoded message, which is at least a header.
void write_sequence(wire::Octets& message, std::uint32_t sequence);

}  // namespace upf::n4

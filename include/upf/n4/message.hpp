#pragma once

#include <cstdint>
#include <optional>

#include "upf/base/address.hpp"
#include "upf/pfcp/message_type.hpp"
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

/// Whether Table 7.3-1 lists it as one that asks for an answer.
[[nodiscard]] bool is_request(pfcp::MessageType type);

/// The PFCP header, TS 29.244 7.2.2, as it stands in a datagram. pfcp::decode_header refuses what
/// the transaction layer has to answer: other versions and lengths that don't fit.
struct Header {
  std::uint8_t version{1};
  bool follow_on{};  ///< FO: another message follows in the datagram
  pfcp::MessageType type{};
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

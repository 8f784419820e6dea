#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "upf/base/ids.hpp"
#include "upf/base/result.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/ie_type.hpp"
#include "upf/pfcp/message_type.hpp"
#include "upf/wire/cursor.hpp"

/// Datagrams to typed messages and back.
///
///   decode_header(datagram)        -> Header, body, and what follows a bundled message
///   decode<M>(body)                -> M, or the Cause and Offending IE of the refusal
///   encode(message, {seid, seq})   -> the whole message, header included
///   peek_node_id / peek_f_seid     -> what a refusal needs of a body that does not decode
///   describe(datagram)             -> text for logs and tests
///
/// Nothing here throws, logs, or keeps a reference to the octets it was given.
namespace upf::pfcp {

using wire::Bytes;
using wire::Octets;

struct IeDef;
struct MessageDef;

// ---- header (TS 29.244 7.2.2) -------------------------------------------------------------------

inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::uint32_t kMaxSequence = 0xffffff;

struct Header {
  MessageType type{};
  std::optional<Seid> seid{};              ///< S flag; the receiver's SEID
  std::uint32_t sequence{};                ///< 24 bits
  std::optional<std::uint8_t> priority{};  ///< MP flag; 0 (highest) to 15
  bool follow_on{};                        ///< FO flag: another message follows in the datagram
  bool operator==(const Header&) const = default;
};

/// One message of a datagram. The spans point into the datagram.
struct Frame {
  Header header{};
  Bytes body{};  ///< the IEs
  Bytes rest{};  ///< the messages bundled behind it (7.2.2.4.1); empty when FO is not set
};

struct HeaderError {
  enum class Kind : std::uint8_t {
    TooShort,            ///< not even a header: discard (7.6.3)
    UnsupportedVersion,  ///< answer Version Not Supported Response with `sequence` (7.6.2)
    LengthMismatch,      ///< Message Length is not what was received: discard (7.6.3)
  };
  Kind kind{};
  std::uint8_t version{};
  std::uint32_t
      sequence{};  ///< of an unsupported version: read where version 1 without SEID has it
  bool operator==(const HeaderError&) const = default;
};

/// The first message of a datagram. Its length must end the datagram unless FO is set.
[[nodiscard]] Result<Frame, HeaderError> decode_header(Bytes datagram);

/// "24 octets announced, 20 received" and the like.
[[nodiscard]] std::string to_string(const HeaderError& error);

// ---- bodies -------------------------------------------------------------------------------------

/// Why a message or IE does not decode, in the terms of the answer that says so (7.6).
struct DecodeError {
  Cause cause{};
  IeType offending_ie{};
  /// The grouped IEs around the offending one, outermost first; None where there are fewer.
  std::array<IeType, 4> within{};

  /// Two errors are equal when they are answered alike.
  bool operator==(const DecodeError& other) const {
    return cause == other.cause && offending_ie == other.offending_ie;
  }
};

/// "Invalid length: F-TEID in PDI in Create PDR".
[[nodiscard]] std::string to_string(const DecodeError& error);

/// What a message's header needs besides its type.
struct Envelope {
  std::optional<Seid> seid{};  ///< of the receiver; session messages only, and always there
  std::uint32_t sequence{};
  std::optional<std::uint8_t> priority{};
  bool follow_on{};
};

namespace detail {
[[nodiscard]] Result<void, DecodeError> decode_message(const MessageDef& def, Bytes body,
                                                       void* message);
[[nodiscard]] Result<void, DecodeError> decode_ie(const IeDef& def, Bytes value, void* ie);
void encode_message(const MessageDef& def, const void* message, const Envelope& envelope,
                    wire::Writer& out);
void encode_ie(const IeDef& def, const void* ie, wire::Writer& out);
[[nodiscard]] std::string print_message(const MessageDef& def, const void* message);
[[nodiscard]] std::string print_ie(const IeDef& def, const void* ie);
}  // namespace detail

/// Every struct of messages/*.hpp.
template <class M>
concept Message = std::is_same_v<decltype(M::def), const MessageDef>;

/// Every struct of ies/*.hpp that is the content of one IE type. (Scalars such as Precedence, and
/// the few structs that several IE types share, are decoded as members of their groups.)
template <class T>
concept Ie = std::is_same_v<decltype(T::def), const IeDef>;

/// `body`: the octets behind the header.
template <Message M>
[[nodiscard]] Result<M, DecodeError> decode(Bytes body) {
  M message{};
  if (auto ok = detail::decode_message(M::def, body, &message); !ok) return failure(ok.error());
  return message;
}

/// `value`: the octets behind the IE's type and length.
template <Ie T>
[[nodiscard]] Result<T, DecodeError> decode(Bytes value) {
  T ie{};
  if (auto ok = detail::decode_ie(T::def, value, &ie); !ok) return failure(ok.error());
  return ie;
}

/// The whole message, header included.
template <Message M>
[[nodiscard]] Octets encode(const M& message, const Envelope& envelope) {
  wire::Writer out;
  out.reserve(512);  // most messages, so that the buffer grows at most once
  detail::encode_message(M::def, &message, envelope, out);
  return std::move(out).take();
}

/// The IE with its type and length.
template <Ie T>
[[nodiscard]] Octets encode(const T& ie) {
  wire::Writer out;
  detail::encode_ie(T::def, &ie, out);
  return std::move(out).take();
}

/// "Create PDR{ PDR ID{ 1 } Precedence{ 255 } … }"
template <class T>
requires(Message<T> || Ie<T>) [[nodiscard]] std::string to_string(const T& value) {
  if constexpr (Message<T>) {
    return detail::print_message(T::def, &value);
  } else {
    return detail::print_ie(T::def, &value);
  }
}

/// A whole datagram as text, for logs and tests: header, IEs, and where decoding failed.
[[nodiscard]] std::string describe(Bytes datagram);

/// The value octets of the first IE of that type at the top level of a body, whatever else is wrong
/// with the body.
[[nodiscard]] std::optional<Bytes> find_ie(Bytes body, IeType type);

struct NodeId;
struct FSeid;

/// What an answer must carry even when the request can't be decoded (7.2.2.4.2): who asks, and the
/// SEID to answer to. nullopt: absent or itself malformed.
[[nodiscard]] std::optional<NodeId> peek_node_id(Bytes body);
[[nodiscard]] std::optional<FSeid> peek_f_seid(Bytes body);

}  // namespace upf::pfcp

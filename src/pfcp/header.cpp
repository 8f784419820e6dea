// The header of TS 29.244 7.2.2.1: flags, type, length, SEID if S is set, sequence number and, if
// MP is set, the message priority in the upper half of the last octet.

#include <fmt/format.h>

#include <memory>

#include "src/pfcp/defs.hpp"
#include "upf/pfcp/ies/common.hpp"

namespace upf::pfcp {
namespace {

constexpr std::size_t kShortHeader = 8;

HeaderError unsupported(Bytes datagram, std::uint8_t version) {
  wire::Reader in{datagram.subspan(4)};
  return {HeaderError::Kind::UnsupportedVersion, version, in.be<std::uint32_t, 3>()};
}

}  // namespace

Result<Frame, HeaderError> decode_header(Bytes datagram) {
  if (datagram.size() < kShortHeader)
    return failure(HeaderError{HeaderError::Kind::TooShort, 0, 0});
  wire::Reader in{datagram};
  const unsigned flags = in.be<std::uint8_t>();
  const auto version = static_cast<std::uint8_t>(flags >> 5U);
  if (version != kVersion) return failure(unsupported(datagram, version));

  Frame frame{};
  Header& header = frame.header;
  header.follow_on = (flags & 4U) != 0;
  header.type = static_cast<MessageType>(in.be<std::uint8_t>());
  const std::size_t length = in.be<std::uint16_t>();
  const std::size_t received = in.remaining();
  if (length > received || (length < received && !header.follow_on)) {
    return failure(HeaderError{HeaderError::Kind::LengthMismatch, version, 0});
  }
  wire::Reader message{in.take(length)};
  if ((flags & 1U) != 0) header.seid = Seid{message.be<std::uint64_t>()};
  header.sequence = message.be<std::uint32_t, 3>();
  const auto last = message.be<std::uint8_t>();
  if ((flags & 2U) != 0) header.priority = static_cast<std::uint8_t>(last >> 4U);
  if (message.failed()) return failure(HeaderError{HeaderError::Kind::TooShort, version, 0});
  frame.body = message.take_rest();
  frame.rest = in.take_rest();
  return frame;
}

std::string to_string(const HeaderError& error) {
  switch (error.kind) {
    case HeaderError::Kind::TooShort:
      return "shorter than a PFCP header";
    case HeaderError::Kind::UnsupportedVersion:
      return fmt::format("PFCP version {}, not {}", error.version, kVersion);
    case HeaderError::Kind::LengthMismatch:
      return "Message Length is not what was received";
  }
  return "header error";
}

std::string to_string(const DecodeError& error) {
  std::string text = to_string(error.cause);
  if (error.offending_ie != IeType::None) text += ": " + to_string(error.offending_ie);
  for (auto group = error.within.rbegin(); group != error.within.rend(); ++group) {
    if (*group != IeType::None) text += " in " + to_string(*group);
  }
  return text;
}

std::optional<NodeId> peek_node_id(Bytes body) {
  const std::optional<Bytes> value = find_ie(body, IeType::NodeId);
  if (!value) return std::nullopt;
  auto node = decode<NodeId>(*value);
  if (!node) return std::nullopt;
  return *std::move(node);
}

std::optional<FSeid> peek_f_seid(Bytes body) {
  const std::optional<Bytes> value = find_ie(body, IeType::FSeid);
  if (!value) return std::nullopt;
  const auto f_seid = decode<FSeid>(*value);
  if (!f_seid) return std::nullopt;
  return *f_seid;
}

namespace {

std::string describe_header(const Header& header) {
  std::string text;
  if (header.seid) text += fmt::format("seid={:#x} ", header.seid->value);
  text += fmt::format("seq={} ", header.sequence);
  if (header.priority) text += fmt::format("priority={} ", *header.priority);
  return text;
}

std::string describe_body(const Frame& frame) {
  const MessageType type = frame.header.type;
  const MessageDef* def = find_message(type);
  if (def == nullptr) return fmt::format("{}: {} octets", to_string(type), frame.body.size());
  const std::unique_ptr<void, void (*)(void*)> message{def->create(), def->destroy};
  if (auto ok = detail::decode_message(*def, frame.body, message.get()); !ok) {
    return to_string(type) + ": " + to_string(ok.error());
  }
  return detail::print_message(*def, message.get());
}

}  // namespace

std::string describe(Bytes datagram) {
  std::string text;
  while (true) {
    const auto frame = decode_header(datagram);
    if (!frame) return text + to_string(frame.error());
    text += describe_header(frame->header) + describe_body(*frame);
    if (frame->rest.empty()) return text;
    text += "; ";
    datagram = frame->rest;
  }
}

}  // namespace upf::pfcp

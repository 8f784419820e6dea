#include "netlink/gtp5g/gtpu.hpp"

#include <netinet/in.h>

namespace upf::gtp5g {
namespace {

constexpr std::uint8_t kVersion1 = 0x30;  // version 1, GTP and not GTP'
constexpr std::uint8_t kHasSequence = 0x02;
constexpr std::uint8_t kHasExtension = 0x04;
constexpr std::uint8_t kAnyOptional = 0x07;
constexpr std::uint8_t kPduSessionContainer = 0x85;
constexpr std::uint8_t kMustBeUnderstood = 0x80;  // of an extension header's type

// Information elements, TS 29.281 table 8.1-1.
constexpr std::uint8_t kRecovery = 14;
constexpr std::uint8_t kTeidDataI = 16;
constexpr std::uint8_t kPeerAddress = 133;
constexpr std::uint8_t kExtensionHeaderList = 141;
constexpr std::uint8_t kFirstTlv = 128;

wire::Writer header(std::uint8_t flags, std::uint8_t type, std::size_t length, Teid teid) {
  wire::Writer out;
  out.be(static_cast<std::uint8_t>(kVersion1 | flags));
  out.be(type);
  out.be(static_cast<std::uint16_t>(length));
  out.be(teid.value);
  return out;
}

void put_sequence(wire::Writer& out, std::uint16_t sequence, std::uint8_t next) {
  out.be(sequence);
  out.be(std::uint8_t{0});  // N-PDU number
  out.be(next);
}

/// Of an information element, as far as an Error Indication has them.
void take_ie(wire::Reader& in, SignallingMessage& message) {
  const auto type = in.be<std::uint8_t>();
  if (type == kRecovery) {
    (void)in.be<std::uint8_t>();
  } else if (type == kTeidDataI) {
    message.unknown_teid = Teid{in.be<std::uint32_t>()};
    if (in.failed()) message.unknown_teid.reset();
  } else if (type >= kFirstTlv) {
    const wire::Bytes value =
        in.take(type == kExtensionHeaderList ? in.be<std::uint8_t>() : in.be<std::uint16_t>());
    wire::Reader address{value};
    if (type != kPeerAddress || in.failed()) return;
    if (value.size() == 4) message.unknown_peer = Ipv4{address.array<4>()};
    if (value.size() == 16) message.unknown_peer = Ipv6{address.array<16>()};
  } else {
    in.fail();  // a type without a length that we don't know: what follows can't be found
  }
}

}  // namespace

wire::Octets encode_g_pdu(const GPduHeader& head, wire::Bytes packet) {
  const bool optional = head.container || head.sequence;
  const std::size_t length = packet.size() + (optional ? 4U : 0U) + (head.container ? 4U : 0U);
  std::uint8_t flags = 0;
  if (head.container) flags |= kHasExtension;
  if (head.sequence) flags |= kHasSequence;
  wire::Writer out = header(flags, gtpu::kGPdu, length, head.teid);
  if (optional) {
    put_sequence(out, head.sequence.value_or(0), head.container ? kPduSessionContainer : 0);
  }
  if (head.container) {
    out.be(std::uint8_t{1});  // in units of four octets
    out.be(static_cast<std::uint8_t>(head.uplink ? 0x10 : 0));
    out.be(*head.container);
    out.be(std::uint8_t{0});
  }
  out.put(packet);
  return std::move(out).take();
}

wire::Octets encode_end_marker(Teid teid) { return header(0, gtpu::kEndMarker, 0, teid).take(); }

wire::Octets encode_echo_request(std::uint16_t sequence) {
  wire::Writer out = header(kHasSequence, gtpu::kEchoRequest, 4, {});
  put_sequence(out, sequence, 0);
  return std::move(out).take();
}

wire::Octets encode_echo_response(std::uint16_t sequence) {
  wire::Writer out = header(kHasSequence, gtpu::kEchoResponse, 6, {});
  put_sequence(out, sequence, 0);
  out.be(kRecovery);
  out.be(std::uint8_t{0});
  return std::move(out).take();
}

wire::Octets encode_supported_extension_headers(std::uint16_t sequence) {
  wire::Writer out = header(kHasSequence, gtpu::kSupportedExtensionHeaders, 7, {});
  put_sequence(out, sequence, 0);
  out.be(kExtensionHeaderList);
  out.be(std::uint8_t{1});
  out.be(kPduSessionContainer);
  return std::move(out).take();
}

std::optional<SignallingMessage> decode_signalling(wire::Bytes datagram) {
  wire::Reader in{datagram};
  const auto flags = in.be<std::uint8_t>();
  SignallingMessage message{.type = in.be<std::uint8_t>()};
  const auto length = in.be<std::uint16_t>();
  message.teid = {in.be<std::uint32_t>()};
  wire::Reader body{in.take(length)};
  if (in.failed() || (flags & 0xf0U) != kVersion1) return std::nullopt;
  if ((flags & kAnyOptional) != 0) {
    message.sequence = body.be<std::uint16_t>();
    (void)body.be<std::uint8_t>();
    auto next = body.be<std::uint8_t>();
    while (next != 0 && !body.failed()) {
      if ((next & kMustBeUnderstood) != 0 && next != kPduSessionContainer) {
        message.not_understood = true;
      }
      const std::size_t units = body.be<std::uint8_t>();
      if (units == 0) return std::nullopt;
      const wire::Bytes content = body.take(units * 4 - 1);
      next = body.failed() ? 0 : content.back();
    }
  }
  while (!body.empty()) take_ie(body, message);
  return message;
}

std::uint64_t counted_octets(wire::Bytes packet) {
  if (packet.size() < 20) return 0;
  std::size_t headers = std::size_t{packet[0] & 0x0fU} * 4U;
  if (packet[9] == IPPROTO_TCP) {
    if (packet.size() < headers + 13) return 0;
    headers += (std::size_t{packet[headers + 12]} >> 4U) * 4U;
  } else if (packet[9] == IPPROTO_UDP) {
    headers += 8;
  }
  return packet.size() > headers ? packet.size() - headers : 0;
}

std::optional<std::uint8_t> dscp_of(wire::Bytes packet) {
  if (packet.size() < 20 || packet[0] >> 4U != 4) return std::nullopt;
  return static_cast<std::uint8_t>(packet[1] >> 2U);
}

}  // namespace upf::gtp5g

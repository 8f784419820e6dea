// The GTP-U header codec. decode() runs once per packet: it reads by offset, after one bounds check
// for the fixed part and one per extension header.
#include "gtpu.hpp"

#include <cstring>

namespace upf::userplane::gtpu {
namespace {

// First octet, 5.1: version 1, PT = GTP, then spare, E, S, PN.
constexpr std::uint8_t kVersionMask = 0xf0;
constexpr std::uint8_t kVersion1Gtp = 0x30;
constexpr std::uint8_t kFlagExtension = 0x04;
constexpr std::uint8_t kFlagSequence = 0x02;
constexpr std::uint8_t kAnyOptional = 0x07;

constexpr std::size_t kMandatory = 8;
constexpr std::size_t kOptional = 4;

// IE types, 8.1.
constexpr std::uint8_t kIeRecovery = 14;
constexpr std::uint8_t kIeTeidData1 = 16;
constexpr std::uint8_t kIePeerAddress = 133;
constexpr std::uint8_t kIeExtensionTypeList = 141;

std::uint16_t be16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8U | at[1]);
}
std::uint32_t be32(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(be16(at)) << 16U | be16(at + 2);
}
void put16(std::uint8_t* at, std::size_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
  put16(at, value >> 16U);
  put16(at + 2, value & 0xffffU);
}

/// TS 38.415 5.5.2: PDU type in the upper four bits, the QFI in the lower six of the next octet.
std::optional<PduSession> pdu_session(wire::Bytes content) {
  const unsigned type = content[0] >> 4U;
  if (type > 1) return std::nullopt;
  return PduSession{.type = static_cast<PduType>(type),
                    .qfi = static_cast<std::uint8_t>(content[1] & 0x3fU),
                    .rqi = type == 0 && (content[1] & 0x40U) != 0};
}

void note_extension(std::uint8_t type, wire::Bytes content, Header& header) {
  switch (static_cast<Extension>(type)) {
    case Extension::PduSessionContainer:
      if (!header.pdu_session) header.pdu_session = pdu_session(content);
      return;
    case Extension::PdcpPduNumber:
    case Extension::LongPdcpPduNumber:
      if (content.size() <= 6) header.pdcp = RawExtension{static_cast<Extension>(type), content};
      return;
    default:
      // 5.2.1: the upper two bits say who has to understand it; 10 and 11 demand it of us.
      if ((type & 0x80U) != 0 && header.not_understood == 0) {
        header.not_understood = type;
      }
  }
}

/// Walks the chain from `at`, which is the offset of the first extension header.
Malformed decode_extensions(wire::Bytes message, std::size_t at, std::uint8_t type,
                            Header& header) {
  while (type != 0) {
    if (at >= message.size()) return Malformed::Extension;
    const std::size_t length = std::size_t{message[at]} * 4U;
    if (length == 0 || length > message.size() - at) return Malformed::Extension;
    note_extension(type, message.subspan(at + 1, length - 2), header);
    type = message[at + length - 1];
    at += length;
  }
  header.payload = message.subspan(at);
  return Malformed::None;
}

/// A message with the optional octets, sequence number first (5.1, NOTE 4).
void put_header(wire::Writer& out, MessageType type, std::uint16_t sequence) {
  out.be(static_cast<std::uint8_t>(kVersion1Gtp | kFlagSequence));
  out.be(static_cast<std::uint8_t>(type));
  out.be(std::uint16_t{0});
  out.be(std::uint32_t{0});
  out.be(sequence);
  out.be(std::uint16_t{0});
}

wire::Octets finish(wire::Writer out) {
  out.patch_be16(2, static_cast<std::uint16_t>(out.size() - kMandatory));
  return std::move(out).take();
}

std::size_t put_extension(std::uint8_t* at, wire::Bytes content) {
  const std::size_t length = content.size() + 2;
  at[0] = static_cast<std::uint8_t>(length / 4U);
  std::memcpy(at + 1, content.data(), content.size());
  at[length - 1] = 0;
  return length;
}

}  // namespace

Malformed decode(wire::Bytes datagram, Header& header) {
  header = {};
  if (datagram.size() < kMandatory) return Malformed::Short;
  const std::uint8_t flags = datagram[0];
  if ((flags & kVersionMask) != kVersion1Gtp) return Malformed::Version;
  const std::size_t length = be16(&datagram[2]);
  if (length > datagram.size() - kMandatory) return Malformed::Length;
  header.type = static_cast<MessageType>(datagram[1]);
  header.teid = be32(&datagram[4]);
  const wire::Bytes message = datagram.first(kMandatory + length);
  if ((flags & kAnyOptional) == 0) {
    header.payload = message.subspan(kMandatory);
    return Malformed::None;
  }
  if (length < kOptional) return Malformed::Length;
  if ((flags & kFlagSequence) != 0) header.sequence = be16(&message[8]);
  const std::uint8_t next = (flags & kFlagExtension) != 0 ? message[11] : std::uint8_t{0};
  return decode_extensions(message, kMandatory + kOptional, next, header);
}

std::size_t encode_tunnel(const TunnelHeader& header, std::size_t payload_length,
                          std::span<std::uint8_t, kMaxTunnelHeader> out) {
  std::uint8_t* at = out.data();
  std::size_t size = kMandatory;
  std::uint8_t* next_type = nullptr;
  if (header.pdu_session || header.pdcp) {
    std::memset(at + size, 0, kOptional);
    next_type = at + size + 3;
    size += kOptional;
  }
  if (header.pdcp) {
    *next_type = static_cast<std::uint8_t>(header.pdcp->type);
    size += put_extension(at + size, header.pdcp->content);
    next_type = at + size - 1;
  }
  if (const auto& session = header.pdu_session) {
    *next_type = static_cast<std::uint8_t>(Extension::PduSessionContainer);
    const std::array<std::uint8_t, 2> content{
        static_cast<std::uint8_t>(static_cast<unsigned>(session->type) << 4U),
        static_cast<std::uint8_t>((session->rqi ? 0x40U : 0U) | (session->qfi & 0x3fU))};
    size += put_extension(at + size, content);
  }
  at[0] = next_type != nullptr ? kVersion1Gtp | kFlagExtension : kVersion1Gtp;
  at[1] = static_cast<std::uint8_t>(header.type);
  put16(at + 2, size - kMandatory + payload_length);
  put32(at + 4, header.teid);
  return size;
}

wire::Octets encode_echo_request(std::uint16_t sequence) {
  wire::Writer out;
  put_header(out, MessageType::EchoRequest, sequence);
  return finish(std::move(out));
}

wire::Octets encode_echo_response(std::uint16_t sequence) {
  wire::Writer out;
  put_header(out, MessageType::EchoResponse, sequence);
  out.be(kIeRecovery);
  out.be(std::uint8_t{0});
  return finish(std::move(out));
}

wire::Octets encode_error_indication(std::uint32_t teid, wire::Bytes address) {
  wire::Writer out;
  put_header(out, MessageType::ErrorIndication, 0);
  out.be(kIeTeidData1);
  out.be(teid);
  out.be(kIePeerAddress);
  out.be(static_cast<std::uint16_t>(address.size()));
  out.put(address);
  return finish(std::move(out));
}

wire::Octets encode_supported_extensions() {
  constexpr std::array kKnown{Extension::UdpPort, Extension::LongPdcpPduNumber,
                              Extension::PduSessionContainer, Extension::PdcpPduNumber};
  wire::Writer out;
  put_header(out, MessageType::SupportedExtensionHeadersNotification, 0);
  out.be(kIeExtensionTypeList);
  out.be(static_cast<std::uint8_t>(kKnown.size()));
  for (const Extension type : kKnown) out.be(static_cast<std::uint8_t>(type));
  return finish(std::move(out));
}

std::optional<ErrorIndicationBody> decode_error_indication(wire::Bytes payload) {
  wire::Reader in{payload};
  ErrorIndicationBody body;
  bool teid = false;
  while (!in.empty()) {
    const auto type = in.be<std::uint8_t>();
    if (type == kIeTeidData1) {
      body.teid = in.be<std::uint32_t>();
      teid = !in.failed();
    } else if (type == kIeRecovery) {
      (void)in.take(1);
    } else if (type >= 128) {
      const wire::Bytes value = in.take(in.be<std::uint16_t>());
      if (type == kIePeerAddress) body.address = value;
    } else {
      break;  // 8.1: a TV element that isn't known has no known length
    }
  }
  const std::size_t size = body.address.size();
  if (in.failed() || !teid || (size != 4 && size != 16)) return std::nullopt;
  return body;
}

}  // namespace upf::userplane::gtpu

#include "tests/lab/tlv.hpp"

#include <algorithm>

namespace upf::lab {

Message::Message(const Header& header) {
  std::uint8_t flags = 0x20;
  if (header.seid) flags |= 0x01U;
  if (header.priority) flags |= 0x02U;
  out_.be(flags);
  out_.be(header.type);
  out_.be(std::uint16_t{0});
  if (header.seid) out_.be(*header.seid);
  out_.be<std::uint32_t, 3>(header.sequence);
  out_.be(static_cast<std::uint8_t>(header.priority.value_or(0) << 4U));
}

void Message::put(std::uint16_t type, wire::Bytes value) {
  out_.be(type);
  out_.be(static_cast<std::uint16_t>(value.size()));
  out_.put(value);
}

void Message::put(std::uint16_t type, std::initializer_list<std::uint8_t> value) {
  put(type, wire::Bytes{value.begin(), value.size()});
}

void Message::text(std::uint16_t type, std::string_view value) {
  const auto* octets = reinterpret_cast<const std::uint8_t*>(value.data());
  put(type, wire::Bytes{octets, value.size()});
}

wire::Octets Message::finish() && {
  out_.patch_be16(2, static_cast<std::uint16_t>(out_.size() - 4));
  return std::move(out_).take();
}

std::vector<Ie> ies(wire::Bytes group) {
  std::vector<Ie> found;
  wire::Reader in{group};
  while (!in.empty()) {
    const auto type = in.be<std::uint16_t>();
    const auto length = in.be<std::uint16_t>();
    const wire::Bytes value = in.take(length);
    if (in.failed()) break;
    found.push_back({type, value});
  }
  return found;
}

std::optional<wire::Bytes> find(wire::Bytes group, std::uint16_t type) {
  const auto all = ies(group);
  const auto at = std::ranges::find(all, type, &Ie::type);
  if (at == all.end()) return std::nullopt;
  return at->value;
}

std::optional<Received> parse(wire::Bytes datagram) {
  wire::Reader in{datagram};
  const auto flags = in.be<std::uint8_t>();
  Received message;
  message.header.type = in.be<std::uint8_t>();
  const auto length = in.be<std::uint16_t>();
  if (in.failed() || flags >> 5U != 1 || length + 4U != datagram.size()) return std::nullopt;
  if ((flags & 1U) != 0) message.header.seid = in.be<std::uint64_t>();
  message.header.sequence = in.be<std::uint32_t, 3>();
  (void)in.be<std::uint8_t>();
  if (in.failed()) return std::nullopt;
  message.body_at = datagram.size() - in.remaining();
  message.octets.assign(datagram.begin(), datagram.end());
  return message;
}

}  // namespace upf::lab

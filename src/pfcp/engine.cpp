// The one place with rules about IEs in general; the tables say what each IE is made of.
//
// Decoding follows TS 29.244 7.6: unknown IEs are skipped (7.6.9), of an IE that may come once the
// first one counts (7.6.10), an IE too short for its content is an Invalid Length (7.6.7), a longer
// one is a later release's unless Table 8.1.2-1 gives it a fixed length, and a missing mandatory IE
// is named by its own type, also inside a group (7.6.6). Vendor IEs carry an Enterprise ID within
// their length and are unknown IEs to us.

#include <algorithm>
#include <array>
#include <memory>

#include "src/pfcp/rows.hpp"

namespace upf::pfcp {
namespace {

[[nodiscard]] Result<void, DecodeError> decode_members(std::span<const MemberRow> members,
                                                       wire::Reader in, void* group,
                                                       Removed* removed);

DecodeError inside(DecodeError error, IeType group) {
  std::shift_right(error.within.begin(), error.within.end(), 1);
  error.within.front() = group;
  return error;
}

[[nodiscard]] Result<void, DecodeError> decode_leaf(const IeDef& def, wire::Reader in, void* ie) {
  bool sensible = true;
  for (const FieldRow& row : def.fields) sensible = row.decode(in, ie) && sensible;
  const IeTypeInfo* known = info(def.type);
  const bool too_long = known != nullptr && known->length == LengthKind::Fixed && !in.empty();
  if (in.failed() || too_long) return failure(DecodeError{Cause::InvalidLength, def.type, {}});
  if (!sensible) return failure(DecodeError{Cause::MandatoryIeIncorrect, def.type, {}});
  return {};
}

[[nodiscard]] Result<void, DecodeError> decode_value(const IeDef& def, Bytes value, void* ie) {
  if (!def.is_group()) return decode_leaf(def, wire::Reader{value}, ie);
  Removed* removed = def.removed != nullptr ? def.removed(ie) : nullptr;
  auto ok = decode_members(def.members, wire::Reader{value}, ie, removed);
  if (!ok) return failure(inside(ok.error(), def.type));
  return {};
}

[[nodiscard]] Result<void, DecodeError> decode_member(const MemberRow& row, std::size_t times,
                                                      Bytes value, void* group, Removed* removed) {
  const bool single =
      row.multiplicity == Multiplicity::Mandatory || row.multiplicity == Multiplicity::Optional;
  if (single && times > 0) return {};
  if (value.empty() && removed != nullptr && row.multiplicity != Multiplicity::Mandatory) {
    if (std::ranges::find(*removed, row.ie->type) == removed->end()) {
      removed->push_back(row.ie->type);
    }
    return {};
  }
  return decode_value(*row.ie, value, row.slot(group));
}

[[nodiscard]] Result<void, DecodeError> decode_members(std::span<const MemberRow> members,
                                                       wire::Reader in, void* group,
                                                       Removed* removed) {
  std::array<std::uint16_t, kMaxMembers> seen{};  // a message has fewer IEs than that counts
  while (!in.empty()) {
    const auto type = static_cast<IeType>(in.be<std::uint16_t>());
    const auto length = in.be<std::uint16_t>();
    const Bytes value = in.take(length);
    if (in.failed()) return failure(DecodeError{Cause::InvalidLength, type, {}});

    const auto row =
        std::ranges::find(members, type, [](const MemberRow& m) { return m.ie->type; });
    if (row == members.end()) continue;
    std::uint16_t& times = seen[static_cast<std::size_t>(row - members.begin())];
    if (auto ok = decode_member(*row, times, value, group, removed); !ok) return ok;
    ++times;
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Multiplicity wanted = members[i].multiplicity;
    const bool needed = wanted == Multiplicity::Mandatory || wanted == Multiplicity::AtLeastOne;
    if (needed && seen[i] == 0) {
      return failure(DecodeError{Cause::MandatoryIeMissing, members[i].ie->type, {}});
    }
  }
  return {};
}

void patch_length(wire::Writer& out, std::size_t at, std::size_t length) {
  // More than 64 KiB can't be said, nor sent: UDP refuses the datagram.
  out.patch_be16(at, static_cast<std::uint16_t>(std::min<std::size_t>(length, 0xffff)));
}

void encode_members(std::span<const MemberRow> members, const void* group, wire::Writer& out) {
  for (const MemberRow& row : members) {
    const std::size_t count = row.count(group);
    for (std::size_t i = 0; i < count; ++i) detail::encode_ie(*row.ie, row.at(group, i), out);
  }
}

void print_value(const IeDef& def, const void* ie, std::string& out);

void print_members(std::span<const MemberRow> members, const void* group, std::string& out) {
  for (const MemberRow& row : members) {
    const std::size_t count = row.count(group);
    for (std::size_t i = 0; i < count; ++i) {
      out += ' ';
      print_value(*row.ie, row.at(group, i), out);
    }
  }
}

/// The list is only written through by the decoder.
const Removed* removed_of(const IeDef& def, const void* ie) {
  return def.removed != nullptr ? def.removed(const_cast<void*>(ie)) : nullptr;
}

void print_value(const IeDef& def, const void* ie, std::string& out) {
  out += to_string(def.type);
  out += '{';
  for (const FieldRow& row : def.fields) row.print(row.name, out, ie);
  print_members(def.members, ie, out);
  if (const Removed* removed = removed_of(def, ie)) {
    for (const IeType type : *removed) out += " -" + to_string(type);
  }
  out += " }";
}

}  // namespace

namespace detail {

[[nodiscard]] Result<void, DecodeError> decode_message(const MessageDef& def, Bytes body,
                                                       void* message) {
  return decode_members(def.members, wire::Reader{body}, message, nullptr);
}

[[nodiscard]] Result<void, DecodeError> decode_ie(const IeDef& def, Bytes value, void* ie) {
  return decode_value(def, value, ie);
}

void encode_ie(const IeDef& def, const void* ie, wire::Writer& out) {
  out.be(static_cast<std::uint16_t>(def.type));
  const std::size_t length_at = out.size();
  out.be(std::uint16_t{0});
  const std::size_t start = out.size();
  for (const FieldRow& row : def.fields) row.encode(out, ie);
  encode_members(def.members, ie, out);
  if (const Removed* removed = removed_of(def, ie)) {
    for (const IeType type : *removed) {
      out.be(static_cast<std::uint16_t>(type));
      out.be(std::uint16_t{0});
    }
  }
  if (def.trim_to < SIZE_MAX) out.trim_zeros(start + def.trim_to);
  patch_length(out, length_at, out.size() - start);
}

void encode_message(const MessageDef& def, const void* message, const Envelope& envelope,
                    wire::Writer& out) {
  const unsigned flags = static_cast<unsigned>(kVersion) << 5U | (envelope.follow_on ? 4U : 0U) |
                         (envelope.priority ? 2U : 0U) | (envelope.seid ? 1U : 0U);
  constexpr std::size_t kMostAnswers = 160;  // octets; longer ones make the buffer grow
  out.reserve(out.size() + kMostAnswers);
  const std::size_t start = out.size();
  out.be(static_cast<std::uint8_t>(flags));
  out.be(static_cast<std::uint8_t>(def.type));
  out.be(std::uint16_t{0});
  if (envelope.seid) out.be(envelope.seid->value);
  out.be<std::uint32_t, 3>(envelope.sequence & kMaxSequence);
  out.be(static_cast<std::uint8_t>((envelope.priority.value_or(0) & 0xfU) << 4U));
  encode_members(def.members, message, out);
  patch_length(out, start + 2, out.size() - start - 4);
}

std::string print_message(const MessageDef& def, const void* message) {
  std::string out = to_string(def.type) + '{';
  print_members(def.members, message, out);
  return out + " }";
}

std::string print_ie(const IeDef& def, const void* ie) {
  std::string out;
  print_value(def, ie, out);
  return out;
}

}  // namespace detail

std::optional<Bytes> find_ie(Bytes body, IeType type) {
  wire::Reader in{body};
  while (!in.empty()) {
    const auto found = static_cast<IeType>(in.be<std::uint16_t>());
    const auto length = in.be<std::uint16_t>();
    const Bytes value = in.take(length);
    if (in.failed()) return std::nullopt;
    if (found == type) return value;
  }
  return std::nullopt;
}

}  // namespace upf::pfcp

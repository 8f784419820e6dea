#pragma once

#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "src/pfcp/defs.hpp"
#include "upf/base/assert.hpp"

/// Makes rows from pointers to members. Each instantiation is three functions of a few lines; all
/// rules about IEs in general are in engine.cpp.
namespace upf::pfcp::rows {

// ---- names --------------------------------------------------------------------------------------

/// "ipv4" for &FTeid::ipv4, so that a printed name can't drift from the member's.
template <auto P>
consteval std::string_view member_name() {
  const std::string_view text = __PRETTY_FUNCTION__;  // "… [with auto P = &upf::pfcp::X::name; …]"
  const std::size_t from = text.find("P = ");
  const std::size_t end = text.find_first_of(";]", from);
  const std::size_t start = text.rfind(':', end) + 1;
  return text.substr(start, end - start);
}

/// A flag bit that is spare, or that is derived from something else.
struct Spare {};
inline constexpr Spare spare{};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class P>
struct MemberPointer;
template <class C, class M>
struct MemberPointer<M C::*> {
  using Class = C;
  using Member = M;
};
template <auto P>
using ClassOf = typename MemberPointer<std::remove_const_t<decltype(P)>>::Class;
template <auto P>
using MemberOf = typename MemberPointer<std::remove_const_t<decltype(P)>>::Member;

template <class T>
struct Element {
  using Type = T;
};
template <class T>
struct Element<std::optional<T>> {
  using Type = T;
};
template <class T>
struct Element<std::vector<T>> {
  using Type = T;
};
/// T of T, optional<T> and vector<T>.
template <auto P>
using ElementOf = typename Element<MemberOf<P>>::Type;

template <auto P, class G = ClassOf<P>>
auto& get(void* ie) {
  return static_cast<G*>(ie)->*P;
}
template <auto P, class G = ClassOf<P>>
const auto& get(const void* ie) {
  return static_cast<const G*>(ie)->*P;
}

// ---- values -------------------------------------------------------------------------------------

/// How a value is read, written and printed. `Width` octets on the wire, 0: the type's own.
template <class T, std::size_t Width = 0>
struct Value;

template <class T, std::size_t Width>
requires std::is_unsigned_v<T>
struct Value<T, Width> {
  static constexpr std::size_t kWidth = Width == 0 ? sizeof(T) : Width;
  static T read(wire::Reader& in) { return in.be<T, kWidth>(); }
  static void write(wire::Writer& out, T value) { out.be<T, kWidth>(value); }
  static std::string text(T value) { return fmt::format("{}", value); }
};

template <class T>
requires(std::is_signed_v<T>&& std::is_integral_v<T>) struct Value<T, 0> {
  using U = std::make_unsigned_t<T>;
  static T read(wire::Reader& in) { return static_cast<T>(in.be<U>()); }
  static void write(wire::Writer& out, T value) { out.be(static_cast<U>(value)); }
  static std::string text(T value) { return fmt::format("{}", value); }
};

template <class T>
requires std::is_enum_v<T>
struct Value<T, 0> {
  using U = std::underlying_type_t<T>;
  static T read(wire::Reader& in) { return static_cast<T>(in.be<U>()); }
  static void write(wire::Writer& out, T value) { out.be(static_cast<U>(value)); }
  static std::string text(T value) {
    if constexpr (std::is_same_v<T, Cause> || std::is_same_v<T, IeType>) {
      return fmt::format("{} ({})", static_cast<U>(value), to_string(value));
    } else {
      return fmt::format("{}", static_cast<U>(value));
    }
  }
};

template <class Tag, class V>
struct Value<Id<Tag, V>, 0> {
  static Id<Tag, V> read(wire::Reader& in) { return {in.be<V>()}; }
  static void write(wire::Writer& out, Id<Tag, V> id) { out.be(id.value); }
  static std::string text(Id<Tag, V> id) {
    constexpr bool hex = std::is_same_v<Id<Tag, V>, Seid> || std::is_same_v<Id<Tag, V>, Teid>;
    return hex ? fmt::format("{:#x}", id.value) : fmt::format("{}", id.value);
  }
};

template <>
struct Value<Seconds, 0> {
  static Seconds read(wire::Reader& in) { return Seconds{in.be<std::uint32_t>()}; }
  static void write(wire::Writer& out, Seconds value) { out.be(value.count()); }
  static std::string text(Seconds value) { return fmt::format("{}s", value.count()); }
};

template <>
struct Value<NtpTime, 0> {
  static NtpTime read(wire::Reader& in) { return {in.be<std::uint32_t>()}; }
  static void write(wire::Writer& out, NtpTime value) { out.be(value.seconds); }
  static std::string text(NtpTime value) { return fmt::format("{}", value.seconds); }
};

template <>
struct Value<Ipv4, 0> {
  static Ipv4 read(wire::Reader& in) { return {in.array<4>()}; }
  static void write(wire::Writer& out, Ipv4 value) { out.put(value.octets); }
  static std::string text(Ipv4 value) { return to_string(value); }
};

template <>
struct Value<Ipv6, 0> {
  static Ipv6 read(wire::Reader& in) { return {in.array<16>()}; }
  static void write(wire::Writer& out, const Ipv6& value) { out.put(value.octets); }
  static std::string text(const Ipv6& value) { return to_string(value); }
};

template <std::size_t N>
struct Value<std::array<std::uint8_t, N>, 0> {
  using Array = std::array<std::uint8_t, N>;
  static Array read(wire::Reader& in) { return in.array<N>(); }
  static void write(wire::Writer& out, const Array& value) { out.put(value); }
  static std::string text(const Array& value) {
    return fmt::format("{:02x}", fmt::join(value, N == 6 ? ":" : ""));
  }
};

template <>
struct Value<TosTrafficClass, 0> {
  static TosTrafficClass read(wire::Reader& in) {
    const auto value = in.be<std::uint8_t>();
    return {value, in.be<std::uint8_t>()};
  }
  static void write(wire::Writer& out, TosTrafficClass tos) {
    out.be(tos.value);
    out.be(tos.mask);
  }
  static std::string text(TosTrafficClass tos) {
    return fmt::format("{:#04x}/{:#04x}", tos.value, tos.mask);
  }
};

/// What may be any octets, in quotes, with the unprintable ones escaped.
[[nodiscard]] std::string quoted(std::string_view text);

[[nodiscard]] inline std::string to_text(Bytes octets) { return {octets.begin(), octets.end()}; }
[[nodiscard]] inline Bytes to_octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// All that is left of the IE.
template <>
struct Value<std::string, 0> {
  static std::string read(wire::Reader& in) { return to_text(in.take_rest()); }
  static void write(wire::Writer& out, const std::string& text) { out.put(to_octets(text)); }
  static std::string text(const std::string& text) { return quoted(text); }
};

/// A length of `Prefix` octets, then as many.
template <std::size_t Prefix>
struct Counted {
  static std::string read(wire::Reader& in) {
    const auto length = in.be<std::uint16_t, Prefix>();
    return to_text(in.take(length));
  }
  static void write(wire::Writer& out, const std::string& text) {
    const std::size_t length = std::min<std::size_t>(text.size(), Prefix == 1 ? 0xff : 0xffff);
    out.be<std::uint16_t, Prefix>(static_cast<std::uint16_t>(length));
    out.put(to_octets(text).first(length));
  }
  static std::string text(const std::string& text) { return quoted(text); }
};

// ---- fields of leaves ---------------------------------------------------------------------------

inline void print_named(std::string_view name, std::string& out, const std::string& text) {
  out += ' ';
  out += name;
  out += '=';
  out += text;
}

template <class T>
bool test(const T& member) {
  if constexpr (is_optional<T>) {
    return member.has_value();
  } else {
    return member;
  }
}
template <class T>
void assign(T& member, bool bit) {
  if constexpr (is_optional<T>) {
    if (bit) member.emplace();
  } else {
    member = bit;
  }
}

template <auto P>
void decode_bit(void* ie, bool bit) {
  if constexpr (!std::is_same_v<decltype(P), const Spare> && !std::is_same_v<decltype(P), Spare>) {
    assign(get<P>(ie), bit);
  }
}
template <auto P>
bool encode_bit(const void* ie) {
  if constexpr (std::is_same_v<std::remove_const_t<decltype(P)>, Spare>) {
    return false;
  } else {
    return test(get<P>(ie));
  }
}
template <auto P>
void print_bit(std::string& out, const void* ie) {
  if constexpr (!std::is_same_v<std::remove_const_t<decltype(P)>, Spare>) {
    if constexpr (std::is_same_v<MemberOf<P>, bool>) {
      if (get<P>(ie)) {
        out += ' ';
        out += member_name<P>();
      }
    }
  }
}

template <bool MayBeAbsent, auto... P>
constexpr FieldRow flags_row() {
  static_assert(sizeof...(P) <= 8);
  return {"flags",
          [](wire::Reader& in, void* ie) {
            if (MayBeAbsent && in.empty()) return true;
            unsigned octet = in.be<std::uint8_t>();
            ((decode_bit<P>(ie, (octet & 1U) != 0), octet >>= 1U), ...);
            return true;
          },
          [](wire::Writer& out, const void* ie) {
            unsigned octet = 0;
            unsigned bit = 0;
            ((octet |= (encode_bit<P>(ie) ? 1U : 0U) << bit++), ...);
            out.be(static_cast<std::uint8_t>(octet));
          },
          [](std::string_view, std::string& out, const void* ie) { (print_bit<P>(out, ie), ...); }};
}

/// One flags octet, lowest bit first: bools, optionals that the bit engages, `spare`.
template <auto... P>
constexpr FieldRow flags() {
  return flags_row<false, P...>();
}
/// One that an earlier release does not send.
template <auto... P>
constexpr FieldRow more_flags() {
  return flags_row<true, P...>();
}

/// A value, unless `absent(ie)`. Of an optional: only if it is engaged.
template <auto P, class Codec, auto Absent>
constexpr FieldRow value_row() {
  using T = MemberOf<P>;
  using G = ClassOf<P>;
  return {member_name<P>(),
          [](wire::Reader& in, void* ie) {
            if (Absent(*static_cast<const G*>(ie))) return true;
            auto& member = get<P>(ie);
            if constexpr (is_optional<T>) {
              if (member) *member = Codec::read(in);
            } else {
              member = Codec::read(in);
            }
            return true;
          },
          [](wire::Writer& out, const void* ie) {
            if (Absent(*static_cast<const G*>(ie))) return;
            const auto& member = get<P>(ie);
            if constexpr (is_optional<T>) {
              if (member) Codec::write(out, *member);
            } else {
              Codec::write(out, member);
            }
          },
          [](std::string_view name, std::string& out, const void* ie) {
            const bool absent = Absent(*static_cast<const G*>(ie));
            const auto& member = get<P>(ie);
            if constexpr (is_optional<T>) {
              if (!member) return;
              if (absent) {  // asked for without a value: an F-TEID to be chosen
                out.append(" ").append(name);
              } else {
                print_named(name, out, Codec::text(*member));
              }
            } else if (!absent) {
              print_named(name, out, Codec::text(member));
            }
          }};
}

template <auto P>
inline constexpr auto kNever = [](const ClassOf<P>&) { return false; };

template <auto P>
constexpr FieldRow field() {
  return value_row<P, Value<ElementOf<P>>, kNever<P>>();
}
/// `If`: a predicate of the struct, or a pointer to one of its bool members or member functions.
template <auto P, auto If>
constexpr FieldRow field_if() {
  constexpr auto absent = [](const ClassOf<P>& ie) {
    if constexpr (std::is_member_pointer_v<decltype(If)>) {
      if constexpr (std::is_member_function_pointer_v<decltype(If)>) {
        return !(ie.*If)();
      } else {
        return !test(ie.*If);
      }
    } else {
      return !If(ie);
    }
  };
  return value_row<P, Value<ElementOf<P>>, absent>();
}
template <auto P, auto Unless>
constexpr FieldRow field_unless() {
  return value_row<P, Value<ElementOf<P>>, [](const ClassOf<P>& ie) { return test(ie.*Unless); }>();
}
/// An unsigned of `Width` octets.
template <auto P, std::size_t Width>
constexpr FieldRow uint() {
  return value_row<P, Value<ElementOf<P>, Width>, kNever<P>>();
}
/// Text behind a length of one or two octets.
template <auto P, std::size_t Prefix = 2>
constexpr FieldRow counted() {
  return value_row<P, Counted<Prefix>, kNever<P>>();
}
/// The low `Bits` of an octet of their own; the rest of it is spare.
template <class T, unsigned Bits>
struct LowBits {
  static T read(wire::Reader& in) {
    return static_cast<T>(in.be<std::uint8_t>() & ((1U << Bits) - 1U));
  }
  static void write(wire::Writer& out, T value) {
    out.be(static_cast<std::uint8_t>(static_cast<unsigned>(value) & ((1U << Bits) - 1U)));
  }
  static std::string text(T value) { return fmt::format("{}", static_cast<unsigned>(value)); }
};
template <auto P, unsigned Bits>
constexpr FieldRow low_bits() {
  return value_row<P, LowBits<ElementOf<P>, Bits>, kNever<P>>();
}
/// Two values in one octet, the low bits first.
template <auto Low, unsigned LowWidth, auto High, unsigned HighWidth>
constexpr FieldRow packed() {
  static_assert(LowWidth + HighWidth <= 8);
  constexpr unsigned low_mask = (1U << LowWidth) - 1U;
  constexpr unsigned high_mask = (1U << HighWidth) - 1U;
  return {"packed",
          [](wire::Reader& in, void* ie) {
            const unsigned octet = in.be<std::uint8_t>();
            get<Low>(ie) = static_cast<MemberOf<Low>>(octet & low_mask);
            get<High>(ie) = static_cast<MemberOf<High>>((octet >> LowWidth) & high_mask);
            return true;
          },
          [](wire::Writer& out, const void* ie) {
            const unsigned low = static_cast<unsigned>(get<Low>(ie)) & low_mask;
            const unsigned high = static_cast<unsigned>(get<High>(ie)) & high_mask;
            out.be(static_cast<std::uint8_t>(low | high << LowWidth));
          },
          [](std::string_view, std::string& out, const void* ie) {
            print_named(member_name<Low>(), out,
                        fmt::format("{}", static_cast<unsigned>(get<Low>(ie))));
            print_named(member_name<High>(), out,
                        fmt::format("{}", static_cast<unsigned>(get<High>(ie))));
          }};
}
/// An octet that is sent as 0 and not looked at, where an earlier field announces it.
constexpr FieldRow spare_octet() {
  return {"spare",
          [](wire::Reader& in, void*) {
            (void)in.be<std::uint8_t>();
            return true;
          },
          [](wire::Writer& out, const void*) { out.be(std::uint8_t{0}); },
          [](std::string_view, std::string&, const void*) {}};
}

/// The IE is one value: no struct around it, and no name when printed.
template <class T, class Codec = Value<T>>
constexpr FieldRow self() {
  return {"",
          [](wire::Reader& in, void* ie) {
            *static_cast<T*>(ie) = Codec::read(in);
            return true;
          },
          [](wire::Writer& out, const void* ie) { Codec::write(out, *static_cast<const T*>(ie)); },
          [](std::string_view, std::string& out, const void* ie) {
            out += ' ';
            out += Codec::text(*static_cast<const T*>(ie));
          }};
}
template <class T, class Codec = Value<T>>
inline constexpr std::array<FieldRow, 1> kSelf{self<T, Codec>()};

constexpr IeDef leaf(IeType type, std::span<const FieldRow> fields,
                     std::size_t trim_to = SIZE_MAX) {
  return {type, fields, {}, nullptr, trim_to};
}
template <class T>
constexpr Def<T> value_ie(IeType type, std::span<const FieldRow> fields) {
  return {{type, fields, {}, nullptr, SIZE_MAX}};
}
/// An IE that is one scalar.
template <class T, class Codec = Value<T>>
constexpr Def<T> scalar(IeType type) {
  return value_ie<T>(type, kSelf<T, Codec>);
}

// ---- members of groups --------------------------------------------------------------------------

template <auto P, class G>
constexpr MemberRow member_row(const IeDef* ie, bool at_least_one) {
  using M = MemberOf<P>;
  if constexpr (is_vector<M>) {
    return {ie, at_least_one ? Multiplicity::AtLeastOne : Multiplicity::Repeated,
            [](void* group) -> void* { return &get<P, G>(group).emplace_back(); },
            [](const void* group) { return get<P, G>(group).size(); },
            [](const void* group, std::size_t i) -> const void* { return &get<P, G>(group)[i]; }};
  } else if constexpr (is_optional<M>) {
    return {ie, Multiplicity::Optional,
            [](void* group) -> void* { return &get<P, G>(group).emplace(); },
            [](const void* group) -> std::size_t { return get<P, G>(group) ? 1 : 0; },
            [](const void* group, std::size_t) -> const void* { return &*get<P, G>(group); }};
  } else {
    return {ie, Multiplicity::Mandatory, [](void* group) -> void* { return &get<P, G>(group); },
            [](const void*) -> std::size_t { return 1; },
            [](const void* group, std::size_t) -> const void* { return &get<P, G>(group); }};
  }
}

/// A child whose struct is the content of one IE type. `G`: the group, where P is of its base.
template <auto P, class G = ClassOf<P>>
constexpr MemberRow member() {
  return member_row<P, G>(&ElementOf<P>::def, false);
}
/// A child whose type several IEs share.
template <auto P, class G = ClassOf<P>>
constexpr MemberRow member(const Def<ElementOf<P>>& ie) {
  return member_row<P, G>(&ie, false);
}
/// A vector that must not be empty.
template <auto P, class G = ClassOf<P>>
constexpr MemberRow at_least_one() {
  return member_row<P, G>(&ElementOf<P>::def, true);
}
template <auto P, class G = ClassOf<P>>
constexpr MemberRow at_least_one(const Def<ElementOf<P>>& ie) {
  return member_row<P, G>(&ie, true);
}

/// Tables are made at compile time, so that too large a one does not compile.
constexpr void check_size(std::span<const MemberRow> members) {
  UPF_ASSERT(members.size() <= kMaxMembers);
}

template <class G>
constexpr IeDef group(IeType type, std::span<const MemberRow> members) {
  check_size(members);
  IeDef def{type, {}, members, nullptr, SIZE_MAX};
  if constexpr (requires(G g) { g.removed; }) {
    def.removed = [](void* ie) -> Removed* { return &static_cast<G*>(ie)->removed; };
  }
  return def;
}
template <class G>
constexpr Def<G> shared_group(IeType type, std::span<const MemberRow> members) {
  return {group<G>(type, members)};
}

template <class M>
constexpr MessageDef message(MessageType type, std::span<const MemberRow> members) {
  check_size(members);
  return {type,
          members,
          sizeof(M),
          []() -> void* { return new M{}; },
          [](void* m) { delete static_cast<M*>(m); },
          [](const void* a, const void* b) {
            return *static_cast<const M*>(a) == *static_cast<const M*>(b);
          }};
}

}  // namespace upf::pfcp::rows

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ies/common.hpp"

/// What the tables are made of and the engine walks. Everything here is data and plain function
/// pointers: the templates that make rows are in rows.hpp.
namespace upf::pfcp {

/// One field of a leaf IE, in the order of the wire.
struct FieldRow {
  /// For a flags octet the names of its bits, lowest first, separated by spaces; "-" is not
  /// printed.
  std::string_view name{};
  /// Too few octets latch in the reader. false: the octets are there but can't mean anything.
  bool (*decode)(wire::Reader& in, void* ie){};
  void (*encode)(wire::Writer& out, const void* ie){};
  /// Appends " name=value", or nothing for what is not there.
  void (*print)(std::string_view name, std::string& out, const void* ie){};
};

enum class Multiplicity : std::uint8_t { Mandatory, Optional, Repeated, AtLeastOne };

/// One child IE of a grouped IE or message.
struct MemberRow {
  const IeDef* ie{};
  Multiplicity multiplicity{};
  void* (*slot)(void* group){};  ///< where the next occurrence is decoded to
  std::size_t (*count)(const void* group){};
  const void* (*at)(const void* group, std::size_t index){};
};

/// An IE: fields if it is a leaf, members if it is a group.
struct IeDef {
  IeType type{};
  std::span<const FieldRow> fields{};
  std::span<const MemberRow> members{};
  Removed* (*removed)(void* group){};  ///< the group's list of children of length 0; may be null
  /// Trailing zero octets beyond this many are not sent: flag octets that a later release added.
  std::size_t trim_to{SIZE_MAX};

  [[nodiscard]] constexpr bool is_group() const { return fields.empty(); }
};

/// An IE whose value is a `T` that other IEs share: scalars, and structs like Volumes.
template <class T>
struct Def : IeDef {};

struct MessageDef {
  MessageType type{};
  std::span<const MemberRow> members{};
  std::size_t size{};
  void* (*create)(){};
  void (*destroy)(void* message){};
  bool (*equal)(const void* a, const void* b){};
};

/// All messages, in the order of their types.
[[nodiscard]] std::span<const MessageDef* const> all_messages();
/// nullptr for a type we have no table of.
[[nodiscard]] const MessageDef* find_message(MessageType type);

/// Members of one group or message; more need a larger array in decode_members.
inline constexpr std::size_t kMaxMembers = 64;

}  // namespace upf::pfcp

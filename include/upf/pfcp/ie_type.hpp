#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace upf::pfcp {

/// TS 29.244 Table 8.1.2-1. A received number that is not listed stays as it is: cast, compare and
/// print it like any other.
enum class IeType : std::uint16_t {
  None = 0,  ///< reserved on the wire; here: no IE to name
#define IE(id, number, name, length, clause) id = number,
#include "upf/pfcp/ie_types.def"
#undef IE
};

/// Third column of Table 8.1.2-1: whether a longer value is a later release's (octets past the
/// known ones are ignored) or an error.
enum class LengthKind : std::uint8_t { Extendable, Fixed, Variable };

/// Types from here on are a vendor's; an Enterprise ID follows the length (8.1.1).
inline constexpr std::uint16_t kFirstVendorIe = 32768;

struct IeTypeInfo {
  IeType type{};
  std::string_view name{};
  LengthKind length{};
  std::string_view clause{};  ///< "8.2.3" or "Table 7.5.2.2-1"
};

/// nullptr for a type that the table does not list.
[[nodiscard]] const IeTypeInfo* info(IeType type);

/// "F-TEID"; "IE 40000" for a type that the table does not list.
[[nodiscard]] std::string to_string(IeType type);

}  // namespace upf::pfcp

#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "upf/wire/cursor.hpp"

namespace upf::netlink {

/// An attribute of one fixed-width value: the width is part of the constant, so a wrong one doesn't
/// compile.
template <class V>
struct Attr {
  static_assert(std::is_trivially_copyable_v<V>);
  std::uint16_t id{};
};
/// Attributes inside an attribute.
struct Nest {
  std::uint16_t id{};
};
/// A string that ends with a NUL.
struct Text {
  std::uint16_t id{};
};
/// Octets as they are.
struct Blob {
  std::uint16_t id{};
};

/// The attributes of a message or of a nest, as received. Nothing in it is trusted: an attribute
/// whose length can't be ends the list, a value of the wrong width is absent. Of an attribute that
/// stands twice the last one counts, as for the kernel's own parser.
class Attributes {
 public:
  Attributes() = default;
  explicit Attributes(wire::Bytes octets) : octets_(octets) {}

  template <class V>
  [[nodiscard]] std::optional<V> get(Attr<V> attr) const {
    const std::optional<wire::Bytes> value = find(attr.id);
    if (!value || value->size() != sizeof(V)) return std::nullopt;
    V result{};
    std::memcpy(&result, value->data(), sizeof(V));
    return result;
  }
  [[nodiscard]] std::optional<Attributes> get(Nest attr) const {
    const std::optional<wire::Bytes> value = find(attr.id);
    if (!value) return std::nullopt;
    return Attributes{*value};
  }
  [[nodiscard]] std::optional<wire::Bytes> get(Blob attr) const { return find(attr.id); }
  /// Up to the first NUL or the attribute's end.
  [[nodiscard]] std::optional<std::string_view> get(Text attr) const {
    const std::optional<wire::Bytes> value = find(attr.id);
    if (!value) return std::nullopt;
    const std::string_view whole{reinterpret_cast<const char*>(value->data()), value->size()};
    return whole.substr(0, whole.find('\0'));
  }

  /// `visit(id, payload, nested)` for each attribute in order.
  template <class Visit>
  void for_each(Visit visit) const {
    wire::Bytes rest = octets_;
    while (rest.size() >= kHeader) {
      std::uint16_t length{};
      std::uint16_t type{};
      std::memcpy(&length, rest.data(), sizeof length);
      std::memcpy(&type, rest.data() + sizeof length, sizeof type);
      if (length < kHeader || length > rest.size()) return;
      visit(static_cast<std::uint16_t>(type & kTypeMask),
            rest.subspan(kHeader, length - std::size_t{kHeader}), (type & kNested) != 0);
      const std::size_t whole = (std::size_t{length} + 3U) & ~std::size_t{3};
      rest = rest.subspan(whole < rest.size() ? whole : rest.size());
    }
  }

 private:
  static constexpr std::uint16_t kHeader = 4;
  static constexpr std::uint16_t kNested = 0x8000;
  static constexpr std::uint16_t kTypeMask = 0x3fff;

  [[nodiscard]] std::optional<wire::Bytes> find(std::uint16_t id) const {
    std::optional<wire::Bytes> found;
    for_each([&](std::uint16_t type, wire::Bytes payload, bool) {
      if (type == id) found = payload;
    });
    return found;
  }

  wire::Bytes octets_{};
};

}  // namespace upf::netlink

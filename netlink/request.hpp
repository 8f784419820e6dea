#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "netlink/attributes.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::netlink {

/// Builds one netlink request. Pure: it owns no socket. An overflow is latched and reported by
/// overflowed(); what didn't fit is not in it.
class Request {
 public:
  /// A message of `type` whose family header are `family_header`'s octets (genlmsghdr, ifinfomsg,
  /// …).
  Request(std::uint16_t type, std::uint16_t flags, wire::Bytes family_header);

  template <class V>
  void put(Attr<V> attr, const std::type_identity_t<V>& value) {
    put_octets(attr.id, &value, sizeof value);
  }
  void put(Text attr, std::string_view value);
  void put(Blob attr, wire::Bytes value) { put_octets(attr.id, value.data(), value.size()); }

  /// Nests carry NLA_F_NESTED: gtp5g's parser answers EINVAL otherwise.
  template <class Fill>
  void nest(Nest attr, Fill fill) {
    const std::size_t at = open_nest(attr.id);
    fill();
    close_nest(at);
  }

  [[nodiscard]] bool overflowed() const { return overflowed_; }
  [[nodiscard]] wire::Bytes bytes() const { return wire::Bytes{storage_}.first(size_); }

 private:
  void put_octets(std::uint16_t id, const void* value, std::size_t size);
  [[nodiscard]] std::size_t open_nest(std::uint16_t id);
  void close_nest(std::size_t at);
  void set_length();

  static constexpr std::size_t kCapacity = 4096;
  // Zeroed on purpose: libmnl 1.0.4 leaves attribute padding as it finds it.
  alignas(8) std::array<std::uint8_t, kCapacity> storage_{};
  std::size_t size_{};
  bool overflowed_{};
};

/// A generic-netlink request (struct genlmsghdr: command, version).
class GenlRequest : public Request {
 public:
  /// NLM_F_REQUEST and NLM_F_ACK are always set; `flags` are what comes on top.
  GenlRequest(std::uint16_t family, std::uint8_t command, std::uint16_t flags = 0,
              std::uint8_t version = 0);
};

}  // namespace upf::netlink

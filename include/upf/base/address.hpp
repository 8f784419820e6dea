#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace upf {

/// Octets in network order, so that a memcpy is the wire form.
struct Ipv4 {
  std::array<std::uint8_t, 4> octets{};
  auto operator<=>(const Ipv4&) const = default;

  [[nodiscard]] static constexpr Ipv4 from_host(std::uint32_t host) {
    return {{static_cast<std::uint8_t>(host >> 24U), static_cast<std::uint8_t>(host >> 16U),
             static_cast<std::uint8_t>(host >> 8U), static_cast<std::uint8_t>(host)}};
  }
  [[nodiscard]] constexpr std::uint32_t host() const {
    return static_cast<std::uint32_t>(octets[0]) << 24U |
           static_cast<std::uint32_t>(octets[1]) << 16U |
           static_cast<std::uint32_t>(octets[2]) << 8U | static_cast<std::uint32_t>(octets[3]);
  }
};

struct Ipv6 {
  std::array<std::uint8_t, 16> octets{};
  auto operator<=>(const Ipv6&) const = default;
};

using IpAddress = std::variant<Ipv4, Ipv6>;

/// An address block. Host bits may be set (`10.0.0.1/8` names an interface address in configs);
/// contains() looks at the first `length` bits only.
struct Ipv4Prefix {
  Ipv4 address{};
  std::uint8_t length{};  ///< 0 to 32
  auto operator<=>(const Ipv4Prefix&) const = default;
  [[nodiscard]] bool contains(Ipv4 other) const;
};

struct Ipv6Prefix {
  Ipv6 address{};
  std::uint8_t length{};  ///< 0 to 128
  auto operator<=>(const Ipv6Prefix&) const = default;
  [[nodiscard]] bool contains(const Ipv6& other) const;
};

using IpPrefix = std::variant<Ipv4Prefix, Ipv6Prefix>;

/// Text to value: the whole text must be one address (inet_pton's forms); no names are resolved.
[[nodiscard]] std::optional<Ipv4> parse_ipv4(std::string_view text);
[[nodiscard]] std::optional<Ipv6> parse_ipv6(std::string_view text);
[[nodiscard]] std::optional<IpAddress> parse_ip(std::string_view text);
/// `10.0.0.0/8`, `2001:db8::/32`; without a slash the prefix is the one address.
[[nodiscard]] std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text);
[[nodiscard]] std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text);
[[nodiscard]] std::optional<IpPrefix> parse_ip_prefix(std::string_view text);

[[nodiscard]] std::string to_string(Ipv4 address);
[[nodiscard]] std::string to_string(const Ipv6& address);
[[nodiscard]] std::string to_string(const IpAddress& address);
[[nodiscard]] std::string to_string(const Ipv4Prefix& prefix);
[[nodiscard]] std::string to_string(const Ipv6Prefix& prefix);
[[nodiscard]] std::string to_string(const IpPrefix& prefix);

/// A UDP transport address.
struct SocketAddress {
  IpAddress ip{};
  std::uint16_t port{};
  auto operator<=>(const SocketAddress&) const = default;
};
[[nodiscard]] std::string to_string(
    const SocketAddress& address);  ///< `10.0.0.1:8805`, `[::1]:8805`

}  // namespace upf

template <>
struct std::hash<upf::Ipv4> {
  std::size_t operator()(const upf::Ipv4& a) const noexcept {
    return std::hash<std::uint32_t>{}(a.host());
  }
};
template <>
struct std::hash<upf::Ipv6> {
  std::size_t operator()(const upf::Ipv6& a) const noexcept;
};
template <>
struct std::hash<upf::SocketAddress> {
  std::size_t operator()(const upf::SocketAddress& a) const noexcept;
};

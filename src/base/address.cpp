#include "upf/base/address.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>
#include <span>

namespace upf {
namespace {

bool same_first_bits(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                     unsigned bits) {
  const std::size_t whole = bits / 8U;
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  const unsigned rest = bits % 8U;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xffU << (8U - rest));
  return ((a[whole] ^ b[whole]) & mask) == 0;
}

template <class Address>
std::optional<Address> parse(std::string_view text, int family) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (text.size() >= buffer.size()) return std::nullopt;
  std::memcpy(buffer.data(), text.data(), text.size());
  Address address{};
  if (::inet_pton(family, buffer.data(), address.octets.data()) != 1) return std::nullopt;
  return address;
}

template <class Prefix, class Address>
std::optional<Prefix> with_length(std::optional<Address> address, std::string_view length) {
  if (!address) return std::nullopt;
  constexpr unsigned kBits = sizeof(Address) * 8U;
  unsigned bits = 0;
  const char* end = length.data() + length.size();
  const auto [stop, error] = std::from_chars(length.data(), end, bits);
  if (error != std::errc{} || stop != end || bits > kBits) return std::nullopt;
  return Prefix{*address, static_cast<std::uint8_t>(bits)};
}

template <class Prefix, class Parse>
std::optional<Prefix> parse_prefix(std::string_view text, Parse parse_address,
                                   std::string_view whole) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return with_length<Prefix>(parse_address(text), whole);
  return with_length<Prefix>(parse_address(text.substr(0, slash)), text.substr(slash + 1));
}

std::string print(int family, const void* octets) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const char* text = ::inet_ntop(family, octets, buffer.data(), buffer.size());
  return text == nullptr ? std::string{} : std::string{text};
}

std::size_t hash_octets(std::span<const std::uint8_t> octets) {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(octets.data()), octets.size()});
}

}  // namespace

bool Ipv4Prefix::contains(Ipv4 other) const {
  return same_first_bits(address.octets, other.octets, length);
}
bool Ipv6Prefix::contains(const Ipv6& other) const {
  return same_first_bits(address.octets, other.octets, length);
}

std::optional<Ipv4> parse_ipv4(std::string_view text) { return parse<Ipv4>(text, AF_INET); }
std::optional<Ipv6> parse_ipv6(std::string_view text) { return parse<Ipv6>(text, AF_INET6); }

std::optional<IpAddress> parse_ip(std::string_view text) {
  if (const auto v4 = parse_ipv4(text)) return *v4;
  if (const auto v6 = parse_ipv6(text)) return *v6;
  return std::nullopt;
}

std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text) {
  return parse_prefix<Ipv4Prefix>(text, parse_ipv4, "32");
}
std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text) {
  return parse_prefix<Ipv6Prefix>(text, parse_ipv6, "128");
}
std::optional<IpPrefix> parse_ip_prefix(std::string_view text) {
  if (const auto v4 = parse_ipv4_prefix(text)) return *v4;
  if (const auto v6 = parse_ipv6_prefix(text)) return *v6;
  return std::nullopt;
}

std::string to_string(Ipv4 address) { return print(AF_INET, address.octets.data()); }
std::string to_string(const Ipv6& address) { return print(AF_INET6, address.octets.data()); }
std::string to_string(const IpAddress& address) {
  return std::visit([](const auto& a) { return to_string(a); }, address);
}
std::string to_string(const Ipv4Prefix& prefix) {
  return to_string(prefix.address) + '/' + std::to_string(prefix.length);
}
std::string to_string(const Ipv6Prefix& prefix) {
  return to_string(prefix.address) + '/' + std::to_string(prefix.length);
}
std::string to_string(const IpPrefix& prefix) {
  return std::visit([](const auto& p) { return to_string(p); }, prefix);
}
std::string to_string(const SocketAddress& address) {
  const std::string ip = to_string(address.ip);
  const std::string host = std::holds_alternative<Ipv6>(address.ip) ? '[' + ip + ']' : ip;
  return host + ':' + std::to_string(address.port);
}

}  // namespace upf

std::size_t std::hash<upf::Ipv6>::operator()(const upf::Ipv6& a) const noexcept {
  return upf::hash_octets(a.octets);
}
std::size_t std::hash<upf::SocketAddress>::operator()(const upf::SocketAddress& a) const noexcept {
  const std::size_t ip =
      std::visit([](const auto& address) { return upf::hash_octets(address.octets); }, a.ip);
  return ip * 31U + a.port;
}

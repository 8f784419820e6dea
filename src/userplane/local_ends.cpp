#include "local_ends.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "fd.hpp"
#include "gtpu_socket.hpp"

namespace upf::userplane {
namespace {

constexpr std::size_t kMostRoutes = 65536;
constexpr std::uint32_t kUsualMtu = 1500;

std::optional<IpAddress> ip_of(const sockaddr* name) {
  if (name == nullptr) return std::nullopt;
  if (name->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, name, sizeof v4);
    return Ipv4::from_host(ntohl(v4.sin_addr.s_addr));
  }
  if (name->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, name, sizeof v6);
    Ipv6 address{};
    std::memcpy(address.octets.data(), v6.sin6_addr.s6_addr, 16);
    return address;
  }
  return std::nullopt;
}

bool is_wildcard(const IpAddress& address) {
  return address == IpAddress{Ipv4{}} || address == IpAddress{Ipv6{}};
}

template <class Visit>
void for_each_interface_address(const Visit& visit) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return;
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    if (const auto ip = ip_of(at->ifa_addr)) visit(*at, *ip);
  }
  ::freeifaddrs(all);
}

std::uint32_t mtu_of_interface(const char* name) {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request{};
  std::string{name}.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(socket.get(), SIOCGIFMTU, &request) == 0
             ? static_cast<std::uint32_t>(request.ifr_mtu)
             : kUsualMtu;
}

/// The source address of a packet to the peer, by connecting a socket that sends nothing.
std::optional<IpAddress> routed_source(const IpAddress& peer) {
  const SocketName name = SocketName::of(peer, gtpu::kPort);
  const Fd socket{::socket(name.address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (::connect(socket.get(), &name.address.any, name.size) != 0) return std::nullopt;
  sockaddr_in6 own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return std::nullopt;
  }
  return ip_of(reinterpret_cast<sockaddr*>(&own));
}

}  // namespace

std::vector<std::uint16_t> RoutedEnds::candidates(const IpAddress& peer,
                                                  const std::string& network_instance) const {
  std::vector<std::uint16_t> family;
  std::vector<std::uint16_t> named;
  for (std::size_t i = 0; i < locals_.size(); ++i) {
    if (locals_[i].address.index() != peer.index()) continue;
    const auto index = static_cast<std::uint16_t>(i);
    family.push_back(index);
    if (!network_instance.empty() && locals_[i].network_instance == network_instance) {
      named.push_back(index);
    }
  }
  return named.empty() ? family : named;
}

std::optional<std::uint16_t> RoutedEnds::towards(const IpAddress& peer,
                                                 const std::string& network_instance) {
  const auto possible = candidates(peer, network_instance);
  if (possible.empty()) return std::nullopt;
  return possible.size() == 1 ? possible.front() : by_route(peer, possible);
}

std::uint16_t RoutedEnds::by_route(const IpAddress& peer,
                                   const std::vector<std::uint16_t>& candidates) {
  auto known = routed_.find(peer);
  if (known == routed_.end()) {
    if (routed_.size() >= kMostRoutes) routed_.clear();
    const auto source = routed_source(peer);
    if (!source) return candidates.front();
    known = routed_.emplace(peer, *source).first;
  }
  const auto match = std::ranges::find_if(
      candidates, [&](std::uint16_t index) { return locals_[index].address == known->second; });
  return match == candidates.end() ? candidates.front() : *match;
}

std::vector<IpAddress> host_addresses() {
  std::vector<IpAddress> all;
  for_each_interface_address([&](const ifaddrs&, const IpAddress& ip) { all.push_back(ip); });
  return all;
}

std::uint32_t mtu_of(const IpAddress& address) {
  std::uint32_t mtu = 0;
  for_each_interface_address([&](const ifaddrs& interface, const IpAddress& ip) {
    const bool meant =
        is_wildcard(address) ? (interface.ifa_flags & IFF_LOOPBACK) == 0 : ip == address;
    if (!meant) return;
    const std::uint32_t own = mtu_of_interface(interface.ifa_name);
    mtu = mtu == 0 ? own : std::min(mtu, own);
  });
  return mtu == 0 ? kUsualMtu : mtu;
}

}  // namespace upf::userplane

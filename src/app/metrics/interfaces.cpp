#include "src/app/metrics/interfaces.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace upf::app::metrics {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::optional<IpAddress> address_of(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    Ipv4 ip{};
    std::memcpy(ip.octets.data(), &v4.sin_addr, ip.octets.size());
    return ip;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  Ipv6 ip{};
  std::memcpy(ip.octets.data(), &v6.sin6_addr, ip.octets.size());
  return ip;
}

/// Whether a socket of that address has packets to the other one.
bool covers(const IpAddress& bound, const IpAddress& ip) {
  return bound == ip || (bound == IpAddress{Ipv4{}} && std::holds_alternative<Ipv4>(ip)) ||
         bound == IpAddress{Ipv6{}};
}

/// Devices that matter, and what they are for.
std::map<std::string, std::string> roles_of(const config::Config& config) {
  std::map<std::string, std::string> roles{{config.gtpu.ifname, "n6"}};
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return roles;
  const std::unique_ptr<ifaddrs, FreeAddresses> owned{list};
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    const auto ip = address_of(at->ifa_addr);
    for (const auto& entry : config.gtpu.if_list) {
      if (!ip || !entry.addr.address || !covers(*entry.addr.address, *ip)) continue;
      roles.try_emplace(at->ifa_name, entry.type == config::InterfaceType::N9 ? "n9" : "n3");
    }
  }
  return roles;
}

}  // namespace

std::vector<DeviceCounts> parse_devices(std::string_view text) {
  // Two lines of headings; then "device: " with octets, packets, errors, drops and four more, in,
  // and the same out.
  std::vector<DeviceCounts> all;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    DeviceCounts counts{.device = line.substr(0, colon)};
    counts.device.erase(0, counts.device.find_first_not_of(' '));
    std::istringstream numbers{line.substr(colon + 1)};
    double ignored{};
    for (std::size_t way = 0; way < 2; ++way) {
      numbers >> counts.octets[way] >> counts.packets[way] >> counts.errors[way] >>
          counts.drops[way];
      for (int i = 0; i < 4; ++i) numbers >> ignored;
    }
    if (numbers) all.push_back(std::move(counts));
  }
  return all;
}

std::vector<DeviceCounts> read_devices() {
  std::ifstream file{"/proc/self/net/dev"};
  std::ostringstream text;
  text << file.rdbuf();
  return parse_devices(text.str());
}

void expose_interfaces(const config::Config& config, Exposition& to) {
  const auto roles = roles_of(config);
  for (const DeviceCounts& counts : read_devices()) {
    const auto role = roles.find(counts.device);
    if (role == roles.end()) continue;
    for (std::size_t way = 0; way < 2; ++way) {
      const Labels labels{{"interface", counts.device},
                          {"role", role->second},
                          {"direction", way == 0 ? "in" : "out"}};
      to.add("kupf_interface_packets_total", labels, counts.packets[way]);
      to.add("kupf_interface_bytes_total", labels, counts.octets[way]);
      to.add("kupf_interface_drops_total", labels, counts.drops[way]);
      to.add("kupf_interface_errors_total", labels, counts.errors[way]);
    }
  }
}

}  // namespace upf::app::metrics

#include "src/app/host.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace upf::app {
namespace {

namespace fs = std::filesystem;

/// Of /proc/net/udp: `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …`.
std::optional<std::string> inode_of_port(const std::string& table, std::uint16_t port) {
  std::istringstream lines{table};
  std::string line;
  const std::string suffix = fmt::format(":{:04X}", port);
  while (std::getline(lines, line)) {
    std::istringstream words{line};
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (all.size() > 9 && all[1].ends_with(suffix)) return all[9];
  }
  return {};
}

bool holds_socket(const fs::path& process, const std::string& inode) {
  std::error_code error;
  const std::string wanted = "socket:[" + inode + "]";
  for (const auto& entry : fs::directory_iterator(process / "fd", error)) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone).string() == wanted) return true;
  }
  return false;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

IpAddress from_sockaddr(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    Ipv4 ip;
    std::memcpy(ip.octets.data(), &v4.sin_addr, 4);
    return ip;
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  Ipv6 ip;
  std::memcpy(ip.octets.data(), &v6.sin6_addr, 16);
  return ip;
}

[[nodiscard]] Result<void, std::string> resolve_into(config::Host& host, const std::string& key) {
  if (host.address) return {};
  auto addresses = resolve(host.text);
  if (!addresses) {
    return failure(
        fmt::format("{}: the name \"{}\" can't be resolved ({}): mend DNS or /etc/hosts, "
                    "or give an address",
                    key, host.text, addresses.error()));
  }
  host.address = addresses->front();
  return {};
}

}  // namespace

std::string Host::read(const std::string& path) const {
  std::ifstream file{root_ + path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::string> Host::owner_of_udp_port(std::uint16_t port) const {
  auto inode = inode_of_port(read("proc/net/udp"), port);
  if (!inode) inode = inode_of_port(read("proc/net/udp6"), port);
  if (!inode) return {};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ + "proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (!is_number(pid) || !holds_socket(entry.path(), *inode)) continue;
    std::string name = read("proc/" + pid + "/comm");
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return fmt::format("{} (pid {})", name, pid);
  }
  return {};
}

bool Host::has_net_admin() const {
  constexpr unsigned kNetAdmin = 12;  // CAP_NET_ADMIN, capabilities(7)
  std::istringstream lines{read("proc/self/status")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("CapEff:")) continue;
    const std::size_t start = line.find_first_not_of(" \t", 7);
    std::uint64_t bits{};
    if (start == std::string::npos) return false;
    std::from_chars(line.data() + start, line.data() + line.size(), bits, 16);
    return (bits >> kNetAdmin & 1U) != 0;
  }
  return false;
}

std::vector<std::string> Host::forwarding_faults(const config::Config& config) const {
  std::vector<std::string> faults;
  const auto off = [&](const std::string& path) {
    return read("proc/sys/" + path).starts_with("0");
  };
  bool v4 = false;
  bool v6 = false;
  for (const auto& dnn : config.dnn_list) {
    (std::holds_alternative<Ipv4Prefix>(dnn.cidr) ? v4 : v6) = true;
  }
  if (v4 && off("net/ipv4/ip_forward")) {
    faults.push_back(
        "IPv4 forwarding is off, so packets don't get from UEs to the data network: "
        "sysctl -w net.ipv4.ip_forward=1");
  }
  if (v6 && off("net/ipv6/conf/all/forwarding")) {
    faults.push_back(
        "IPv6 forwarding is off, so packets don't get from UEs to the data network: "
        "sysctl -w net.ipv6.conf.all.forwarding=1");
  }
  if (const std::string devices = strictly_filtered(config.gtpu.ifname); !devices.empty()) {
    faults.push_back(
        fmt::format("reverse path filtering is strict on {}, so packets whose way back is another "
                    "device are dropped: sysctl -w net.ipv4.conf.all.rp_filter=2",
                    devices));
  }
  return faults;
}

/// The larger of `all` and the device's own value counts (ip-sysctl); 1 is strict. A link that is
/// yet to be made will have the value of `default`.
std::string Host::strictly_filtered(const std::string& link) const {
  const fs::path conf = root_ + "proc/sys/net/ipv4/conf";
  const auto value = [&](const std::string& device) {
    const std::string text = read("proc/sys/net/ipv4/conf/" + device + "/rp_filter");
    return text.empty() ? '0' : text.front();
  };
  const char all = value("all");
  const auto strict = [&](char own) { return std::max(own, all) == '1'; };
  std::vector<std::string> devices;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(conf, error)) {
    const std::string device = entry.path().filename().string();
    const bool is_device = device != "all" && device != "default" && device != "lo";
    if (is_device && strict(value(device))) devices.push_back(device);
  }
  if (!fs::exists(conf / link, error) && strict(value("default"))) devices.push_back(link);
  std::ranges::sort(devices);
  return fmt::format("{}", fmt::join(devices, ", "));
}

Result<void, std::string> Host::enable_forwarding() const {
  std::ofstream file{root_ + "proc/sys/net/ipv4/ip_forward"};
  file << "1\n";
  file.flush();
  if (!file) {
    return failure(
        std::string{"can't switch IPv4 forwarding on (is /proc/sys read-only?): sysctl -w "
                    "net.ipv4.ip_forward=1"});
  }
  return {};
}

Result<std::vector<IpAddress>, std::string> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error != 0) return failure(std::string{::gai_strerror(error)});
  std::vector<IpAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    addresses.push_back(from_sockaddr(entry->ai_addr));
  }
  ::freeaddrinfo(list);
  // N4 and N3 of a lab are IPv4 more often than not, and go-upf knows nothing else.
  std::ranges::stable_partition(
      addresses, [](const IpAddress& ip) { return std::holds_alternative<Ipv4>(ip); });
  if (addresses.empty()) return failure(std::string{"no address"});
  return addresses;
}

Result<config::Config, std::string> resolve_names(config::Config config) {
  if (auto ok = resolve_into(config.pfcp.addr, "pfcp.addr"); !ok) return failure(ok.error());
  for (std::size_t i = 0; i < config.gtpu.if_list.size(); ++i) {
    auto ok = resolve_into(config.gtpu.if_list[i].addr, fmt::format("gtpu.ifList[{}].addr", i));
    if (!ok) return failure(ok.error());
  }
  for (auto& peer : config.pfcp.peers) {
    if (auto addresses =
            peer.address ? Result<std::vector<IpAddress>, std::string>{} : resolve(peer.text);
        !peer.address && addresses) {
      peer.address = addresses->front();
    }
  }
  return config;
}

}  // namespace upf::app

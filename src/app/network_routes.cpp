#include "src/app/network_routes.hpp"

#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "netlink/request.hpp"
#include "upf/runtime/unique_fd.hpp"

namespace upf::app {
namespace {

using netlink::Attr;
using netlink::Blob;
using netlink::Request;
using netlink::Text;

// Before the main table (32766), beside those of VRFs (1000).
constexpr std::uint32_t kPriority = 999;

template <class Header>
wire::Octets octets_of(const Header& header) {
  const auto* octets = reinterpret_cast<const std::uint8_t*>(&header);
  return {octets, octets + sizeof header};
}

/// errno; 0: done.
int run(const Request& request) {
  const runtime::UniqueFd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  const wire::Bytes octets = request.bytes();
  std::array<std::uint8_t, 1024> answer{};
  if (::send(socket.get(), octets.data(), octets.size(), 0) < 0) return errno;
  if (::recv(socket.get(), answer.data(), answer.size(), 0) < 0) return errno;
  nlmsgerr error{};
  std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
  return -error.error;
}

struct Prefix {
  std::uint8_t family{};
  std::uint8_t length{};
  wire::Octets octets{};  ///< host bits cleared
};

Prefix prefix_of(const IpPrefix& pool) {
  return std::visit(
      [](const auto& prefix) {
        wire::Octets octets{prefix.address.octets.begin(), prefix.address.octets.end()};
        for (std::size_t bit = prefix.length; bit < octets.size() * 8; ++bit) {
          octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] & ~(0x80U >> (bit % 8)));
        }
        const auto family = static_cast<std::uint8_t>(octets.size() == 4 ? AF_INET : AF_INET6);
        return Prefix{family, prefix.length, octets};
      },
      pool);
}

/// `ip rule {add|del} from POOL iif DEVICE lookup TABLE`.
int change_rule(std::uint16_t type, const config::Dnn& dnn, const std::string& device) {
  const Prefix pool = prefix_of(dnn.cidr);
  fib_rule_hdr header{};
  header.family = pool.family;
  header.src_len = pool.length;
  header.table = RT_TABLE_UNSPEC;  // FRA_TABLE has it, which isn't cut to an octet
  header.action = FR_ACT_TO_TBL;
  const auto flags =
      static_cast<std::uint16_t>(type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0);
  Request request{type, flags, octets_of(header)};
  request.put(Blob{FRA_SRC}, pool.octets);
  request.put(Text{FRA_IIFNAME}, device);
  request.put(Attr<std::uint32_t>{FRA_PRIORITY}, kPriority);
  request.put(Attr<std::uint32_t>{FRA_TABLE}, dnn.table);
  return run(request);
}

/// `ip route add POOL dev DEVICE table TABLE`.
int add_route(const config::Dnn& dnn, const std::string& device) {
  const Prefix pool = prefix_of(dnn.cidr);
  rtmsg header{};
  header.rtm_family = pool.family;
  header.rtm_dst_len = pool.length;
  header.rtm_table = RT_TABLE_UNSPEC;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  Request request{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, octets_of(header)};
  request.put(Blob{RTA_DST}, pool.octets);
  request.put(Attr<std::uint32_t>{RTA_OIF}, ::if_nametoindex(device.c_str()));
  request.put(Attr<std::uint32_t>{RTA_TABLE}, dnn.table);
  return run(request);
}

void remove_rules(const config::Dnn& dnn, const std::string& device) {
  constexpr int kMost = 16;  // of dead processes
  for (int i = 0; i < kMost && change_rule(RTM_DELRULE, dnn, device) == 0; ++i) {
  }
}

}  // namespace

Result<std::unique_ptr<NetworkRoutes>, std::string> NetworkRoutes::open(
    const config::Config& config) {
  std::unique_ptr<NetworkRoutes> self{new NetworkRoutes{config.gtpu.ifname}};
  for (const config::Dnn& dnn : config.dnn_list) {
    if (auto ok = self->add(dnn); !ok) return failure(ok.error());
  }
  return self;
}

Result<void, std::string> NetworkRoutes::add(const config::Dnn& dnn) {
  if (dnn.table == 0) return {};
  remove_rules(dnn, device_);
  if (const int error = change_rule(RTM_NEWRULE, dnn, device_); error != 0) {
    return failure(fmt::format("dnnList[].table: can't add the rule for {}: {}",
                               to_string(dnn.cidr), std::strerror(error)));
  }
  networks_.push_back(dnn);
  if (const int error = add_route(dnn, device_); error != 0) {
    return failure(fmt::format("dnnList[].table: can't route {} in table {}: {}",
                               to_string(dnn.cidr), dnn.table, std::strerror(error)));
  }
  return {};
}

NetworkRoutes::~NetworkRoutes() {
  for (const config::Dnn& dnn : networks_) remove_rules(dnn, device_);
}

}  // namespace upf::app

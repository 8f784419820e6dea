#include "tun.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>

namespace upf::userplane {
namespace {

// Since Linux 6.2.
constexpr unsigned kTunFUso4 = 0x20;
constexpr unsigned kTunFUso6 = 0x40;

constexpr int kQueueLength = 1000;

ifreq request_for(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

std::string explain_open() {
  if (errno == ENOENT || errno == ENODEV || errno == ENXIO) {
    return "/dev/net/tun is missing: load the module (modprobe tun) or, in a container, pass the "
           "device in (--device /dev/net/tun)";
  }
  return with_errno("/dev/net/tun");
}

std::string explain_attach(const std::string& name) {
  switch (errno) {
    case EPERM:
      return "TUN device " + name + ": not permitted: run as root or with CAP_NET_ADMIN";
    case EBUSY:
      return "TUN device " + name +
             " is in use by another process: stop that one (ip tuntap) or "
             "choose another name";
    case EINVAL:
      return "TUN device " + name +
             ": an interface of that name exists and is no TUN: remove it or "
             "choose another name";
    default:
      return with_errno("TUN device " + name);
  }
}

Result<Fd, std::string> attach(const std::string& name, short flags) {
  Fd fd{::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (!fd.open()) return failure(explain_open());
  ifreq request = request_for(name);
  request.ifr_flags = flags;
  if (::ioctl(fd.get(), TUNSETIFF, &request) != 0) return failure(explain_attach(name));
  return fd;
}

/// The most offloads that the kernel grants.
void set_offloads(Tun& tun, const Offloads& wanted) {
  const auto grant = [&](unsigned flags) {
    bool all = true;
    for (const Fd& queue : tun.queues) {
      all = ::ioctl(queue.get(), TUNSETOFFLOAD, static_cast<unsigned long>(flags)) == 0 && all;
    }
    return all;
  };
  const unsigned tso = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
  tun.tso = wanted.tso;
  tun.uso = wanted.uso && grant((tun.tso ? tso : unsigned{TUN_F_CSUM}) | kTunFUso4 | kTunFUso6);
  if (tun.uso) return;
  tun.tso = wanted.tso && grant(tso);
  if (!tun.tso) (void)grant(TUN_F_CSUM);
}

[[nodiscard]] Result<void, std::string> bring_up(const std::string& name, std::uint32_t mtu) {
  const Fd control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request = request_for(name);
  request.ifr_mtu = static_cast<int>(mtu);
  if (::ioctl(control.get(), SIOCSIFMTU, &request) != 0) {
    return failure(with_errno("MTU " + std::to_string(mtu) + " of " + name));
  }
  request = request_for(name);
  request.ifr_qlen = kQueueLength;
  if (::ioctl(control.get(), SIOCSIFTXQLEN, &request) != 0) {
    return failure(with_errno("queue length of " + name));
  }
  request = request_for(name);
  if (::ioctl(control.get(), SIOCGIFFLAGS, &request) != 0) {
    return failure(with_errno("flags of " + name));
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) {
    return failure(with_errno("bringing up " + name));
  }
  return {};
}

/// RTM_NEWROUTE for one prefix, as the kernel reads it.
struct RouteRequest {
  nlmsghdr header{};
  rtmsg route{};
  std::array<std::uint8_t, 64> attributes{};
};

void put_attribute(RouteRequest& request, std::uint16_t type, const void* value, std::size_t size) {
  const std::size_t at = request.header.nlmsg_len - offsetof(RouteRequest, attributes);
  const rtattr attribute{static_cast<unsigned short>(RTA_LENGTH(size)), type};
  std::memcpy(request.attributes.data() + at, &attribute, sizeof attribute);
  std::memcpy(request.attributes.data() + at + sizeof attribute, value, size);
  request.header.nlmsg_len += static_cast<std::uint32_t>(RTA_SPACE(size));
}

RouteRequest route_request(const IpPrefix& pool, unsigned interface) {
  RouteRequest request;
  request.header.nlmsg_len = offsetof(RouteRequest, attributes);
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  request.route.rtm_table = RT_TABLE_MAIN;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_scope = RT_SCOPE_LINK;
  request.route.rtm_type = RTN_UNICAST;
  std::visit(
      [&](const auto& prefix) {
        auto octets = prefix.address.octets;
        for (std::size_t bit = prefix.length; bit < octets.size() * 8; ++bit) {
          octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] & ~(0x80U >> (bit % 8)));
        }
        request.route.rtm_family = octets.size() == 4 ? AF_INET : AF_INET6;
        request.route.rtm_dst_len = prefix.length;
        put_attribute(request, RTA_DST, octets.data(), octets.size());
      },
      pool);
  put_attribute(request, RTA_OIF, &interface, sizeof interface);
  return request;
}

}  // namespace

Result<void, std::string> add_route(const IpPrefix& pool, const std::string& name) {
  const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  const RouteRequest request = route_request(pool, ::if_nametoindex(name.c_str()));
  struct {
    nlmsghdr header{};
    nlmsgerr error{};
    std::array<std::uint8_t, 512> rest{};
  } answer;
  const std::string what = "route to " + to_string(pool) + " through " + name;
  if (::send(socket.get(), &request, request.header.nlmsg_len, 0) < 0 ||
      ::recv(socket.get(), &answer, sizeof answer, 0) < 0) {
    return failure(with_errno(what));
  }
  errno = -answer.error.error;
  if (errno == 0) return {};
  if (errno == EEXIST) {
    return failure(what + ": another route to these addresses exists: remove it (ip route del " +
                   to_string(pool) + ")");
  }
  return failure(with_errno(what));
}

Result<Tun, std::string> Tun::open(const Settings& settings, std::uint32_t mtu, unsigned queues) {
  Tun tun{.name = settings.tun_name};
  int flags = IFF_TUN | IFF_NO_PI;
  if (settings.offloads.vnet_header) flags |= IFF_VNET_HDR;
  if (queues > 1) flags |= IFF_MULTI_QUEUE;
  tun.vnet_header = settings.offloads.vnet_header;
  for (unsigned i = 0; i < queues; ++i) {
    auto queue = attach(tun.name, static_cast<short>(flags));
    if (!queue) return failure(queue.error());
    tun.queues.push_back(std::move(*queue));
  }
  if (tun.vnet_header) set_offloads(tun, settings.offloads);
  if (auto up = bring_up(tun.name, mtu); !up) return failure(up.error());
  for (const IpPrefix& pool : settings.ue_pools) {
    if (auto added = add_route(pool, tun.name); !added) return failure(added.error());
  }
  return tun;
}

}  // namespace upf::userplane

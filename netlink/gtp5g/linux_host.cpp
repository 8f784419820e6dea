// This machine: sockets, the link, routes and /proc. Links and routes are plain rtnetlink requests,
// built like all others: libnl knows no kind gtp5g.
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <thread>

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/host.hpp"

namespace upf::gtp5g {
namespace {

using netlink::Request;
using netlink::RequestSocket;
using netlink::Transport;

std::string text_of(int error) { return std::strerror(error); }

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// --- netlink sockets -------------------------------------------------------------------------

class NetlinkSocket final : public Transport {
 public:
  explicit NetlinkSocket(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] Result<void, int> send(wire::Bytes messages) override {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    const ssize_t sent = ::sendto(socket_.get(), messages.data(), messages.size(), 0,
                                  reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
    if (sent < 0) return failure(int{errno});
    return {};
  }

  [[nodiscard]] Result<std::size_t, int> receive(std::span<std::uint8_t> buffer) override {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0) return failure(int{errno});
    return static_cast<std::size_t>(size);
  }

  [[nodiscard]] int descriptor() const override { return socket_.get(); }

 private:
  Descriptor socket_;
};

/// SO_*BUFFORCE passes the system's limit and needs CAP_NET_ADMIN, which we have.
void enlarge(int socket, int forced, int limited, std::size_t octets) {
  const int size = static_cast<int>(octets);
  if (::setsockopt(socket, SOL_SOCKET, forced, &size, sizeof size) != 0) {
    (void)::setsockopt(socket, SOL_SOCKET, limited, &size, sizeof size);
  }
}

[[nodiscard]] Result<Descriptor, std::string> netlink_socket(int protocol, int flags) {
  Descriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, protocol)};
  if (!socket.ok()) return failure("can't open a netlink socket: " + text_of(errno));
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return failure("can't bind a netlink socket: " + text_of(errno));
  }
  return socket;
}

constexpr std::size_t kRequestBuffer = 4U << 20U;
// An answer is queued before sendto() returns; the timeout is for a kernel that forgets it.
constexpr timeval kAnswerTimeout{.tv_sec = 2, .tv_usec = 0};

[[nodiscard]] Result<std::unique_ptr<Transport>, std::string> request_socket(int protocol) {
  auto socket = netlink_socket(protocol, 0);
  if (!socket) return failure(socket.error());
  const int on = 1;
  (void)::setsockopt(socket->get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  (void)::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerTimeout,
                     sizeof kAnswerTimeout);
  enlarge(socket->get(), SO_RCVBUFFORCE, SO_RCVBUF, kRequestBuffer);
  enlarge(socket->get(), SO_SNDBUFFORCE, SO_SNDBUF, kRequestBuffer);
  return std::unique_ptr<Transport>{std::make_unique<NetlinkSocket>(std::move(*socket))};
}

// --- the GTP-U socket ------------------------------------------------------------------------

sockaddr_in to_sockaddr(Ipv4 address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  std::memcpy(&out.sin_addr, address.octets.data(), sizeof out.sin_addr);
  return out;
}

/// Bound, so that nobody else gets the port, and yet out of reach: a connected socket takes only
/// what its peer sends, and this one's peer is a port of this host that nobody has.
[[nodiscard]] bool deafen(int socket, Ipv4 own) {
  constexpr std::uint16_t kTcpmux = 1;
  const sockaddr_in nobody = to_sockaddr(own, kTcpmux);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&nobody), sizeof nobody) == 0;
}

[[nodiscard]] bool listen_again(int socket) {
  sockaddr anybody{};
  anybody.sa_family = AF_UNSPEC;
  return ::connect(socket, &anybody, sizeof anybody) == 0;
}

/// Returns when no CPU is in the midst of a packet any more that it began before.
void let_packets_pass() {
  // The one system call that waits for a grace period of RCU and needs no capability. A kernel with
  // nohz_full CPUs refuses it; the other way is to give any packet more time than it can take.
  constexpr std::chrono::milliseconds kLongest{200};
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  std::this_thread::sleep_for(kLongest);
}

class LinuxGtpuSocket final : public GtpuSocket {
 public:
  LinuxGtpuSocket(Descriptor socket, Ipv4 own) : socket_(std::move(socket)), own_(own) {}

  /// The module forgets a socket that is closed while it may be answering an Echo Request with it,
  /// and panics then: first nothing comes in any more.
  ~LinuxGtpuSocket() override {
    if (deafen(socket_.get(), own_)) let_packets_pass();
  }
  LinuxGtpuSocket(const LinuxGtpuSocket&) = delete;
  LinuxGtpuSocket& operator=(const LinuxGtpuSocket&) = delete;

  [[nodiscard]] int descriptor() const override { return socket_.get(); }
  void silence() override { (void)deafen(socket_.get(), own_); }

  [[nodiscard]] std::optional<Datagram> receive(std::span<std::uint8_t> buffer) override {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t size = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return std::nullopt;
    Ipv4 address{};
    std::memcpy(address.octets.data(), &from.sin_addr, sizeof from.sin_addr);
    return Datagram{{address, ntohs(from.sin_port)}, static_cast<std::size_t>(size)};
  }

  [[nodiscard]] bool send(Ipv4 from, const SocketAddress& to, std::uint8_t tos,
                          wire::Bytes datagram) override {
    const auto* peer = std::get_if<Ipv4>(&to.ip);
    if (peer == nullptr) return false;
    sockaddr_in destination = to_sockaddr(*peer, to.port);
    iovec octets{const_cast<std::uint8_t*>(datagram.data()), datagram.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(int))>
        control{};
    msghdr message{};
    message.msg_name = &destination;
    message.msg_namelen = sizeof destination;
    message.msg_iov = &octets;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();

    in_pktinfo source{};
    std::memcpy(&source.ipi_spec_dst, from.octets.data(), sizeof source.ipi_spec_dst);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    put(head, IP_PKTINFO, &source, sizeof source);
    const int type_of_service = tos;
    put(CMSG_NXTHDR(&message, head), IP_TOS, &type_of_service, sizeof type_of_service);
    return ::sendmsg(socket_.get(), &message, MSG_DONTWAIT) >= 0;
  }

 private:
  static void put(cmsghdr* head, int type, const void* value, std::size_t size) {
    head->cmsg_level = IPPROTO_IP;
    head->cmsg_type = type;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), value, size);
  }

  Descriptor socket_;
  Ipv4 own_;
};

std::string why_no_gtpu(Ipv4 address, std::uint16_t port, int error) {
  const std::string where = to_string(address) + ':' + std::to_string(port) + "/udp";
  if (error == EADDRINUSE) {
    return where + " is taken by another process: ss -lunp 'sport = :" + std::to_string(port) +
           "' names it";
  }
  if (error == EADDRNOTAVAIL) {
    return where + ": no interface of this host has that address (gtpu.ifList[].addr)";
  }
  return "can't bind " + where + ": " + text_of(error);
}

// --- rtnetlink -------------------------------------------------------------------------------

template <class Header>
wire::Bytes octets_of(const Header& header) {
  return {reinterpret_cast<const std::uint8_t*>(&header), sizeof header};
}

constexpr Attr<std::uint32_t> kMtu{IFLA_MTU};
constexpr Text kName{IFLA_IFNAME};
constexpr Nest kLinkInfo{IFLA_LINKINFO};
constexpr Text kKind{IFLA_INFO_KIND};
constexpr Nest kInfoData{IFLA_INFO_DATA};

std::string why_no_link(const std::string& name, int error) {
  const std::string what = "can't create the link " + name + ": ";
  if (error == EOPNOTSUPP) {
    return what +
           "the gtp5g kernel module is not loaded: modprobe gtp5g, or set gtpu.forwarder to "
           "userspace";
  }
  if (error == EPERM) return what + "no permission: the daemon needs CAP_NET_ADMIN";
  if (error == EBUSY) return what + "another gtp5g link uses its socket";
  if (error == EEXIST) return what + "a link of that name appeared at the same time";
  return what + text_of(error);
}

class LinuxHost final : public Host {
 public:
  [[nodiscard]] std::optional<std::string> kernel_without_module() override;
  [[nodiscard]] Result<std::unique_ptr<Transport>, std::string> open_requests() override {
    return request_socket(NETLINK_GENERIC);
  }

  [[nodiscard]] Result<std::unique_ptr<Transport>, std::string> open_events(
      std::uint32_t group, std::size_t receive_buffer) override;
  [[nodiscard]] Result<std::unique_ptr<GtpuSocket>, std::string> open_gtpu(
      const std::vector<Ipv4>& addresses, std::uint16_t port) override;
  [[nodiscard]] Result<std::uint32_t, std::string> mtu_at(Ipv4 address) override;
  [[nodiscard]] Result<Link, std::string> create_link(const LinkRequest& request,
                                                      const GtpuSocket& socket) override;
  [[nodiscard]] Result<void, std::string> remove_link(const Link& link) override;
  [[nodiscard]] Result<void, std::string> add_route(const Link& link,
                                                    Ipv4Prefix destination) override;
  [[nodiscard]] Result<void, std::string> set_option(std::string_view name,
                                                     std::string_view value) override;

 private:
  /// errno of one rtnetlink request; 0: done.
  static int run(const Request& request);
  /// That the link is ours as long as we live.
  [[nodiscard]] Result<void, std::string> claim(const std::string& name);
  static std::optional<std::string> kind_of(std::uint32_t index);

  std::optional<Descriptor> claim_{};
};

std::optional<std::string> LinuxHost::kernel_without_module() {
  utsname kernel{};
  if (::uname(&kernel) != 0) return std::nullopt;
  std::ifstream modules{std::string{"/lib/modules/"} + kernel.release + "/modules.dep"};
  if (!modules) return std::nullopt;  // a container doesn't see them
  for (std::string line; std::getline(modules, line);) {
    if (line.find("gtp5g.ko") != std::string::npos) return std::nullopt;
  }
  return kernel.release;
}

int LinuxHost::run(const Request& request) {
  auto transport = request_socket(NETLINK_ROUTE);
  if (!transport) return EIO;
  RequestSocket socket{std::move(*transport), 0};
  const auto answer = socket.transact(request);
  return answer ? answer->error : answer.error();
}

Result<std::unique_ptr<Transport>, std::string> LinuxHost::open_events(std::uint32_t group,
                                                                       std::size_t receive_buffer) {
  auto socket = netlink_socket(NETLINK_GENERIC, SOCK_NONBLOCK);
  if (!socket) return failure(socket.error());
  enlarge(socket->get(), SO_RCVBUFFORCE, SO_RCVBUF, receive_buffer);
  if (::setsockopt(socket->get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
    return failure("can't listen to gtp5g's events: " + text_of(errno));
  }
  return std::unique_ptr<Transport>{std::make_unique<NetlinkSocket>(std::move(*socket))};
}

Result<std::unique_ptr<GtpuSocket>, std::string> LinuxHost::open_gtpu(
    const std::vector<Ipv4>& addresses, std::uint16_t port) {
  Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket.ok()) return failure("can't open a UDP socket: " + text_of(errno));
  const Ipv4 local = addresses.size() == 1 ? addresses.front() : Ipv4{};
  const sockaddr_in own = to_sockaddr(local, port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return failure(why_no_gtpu(local, port, errno));
  }
  if (!deafen(socket.get(), addresses.front())) {
    return failure("can't keep " + to_string(local) + ':' + std::to_string(port) +
                   "/udp from receiving until there is a link: " + text_of(errno));
  }
  let_packets_pass();                  // those that found it before
  const int never = IP_PMTUDISC_DONT;  // as the module sends: routers on the way may fragment
  (void)::setsockopt(socket.get(), IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof never);
  return std::make_unique<LinuxGtpuSocket>(std::move(socket), addresses.front());
}

Result<std::uint32_t, std::string> LinuxHost::mtu_at(Ipv4 address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return failure("can't list interfaces: " + text_of(errno));
  std::string name;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in held{};
    std::memcpy(&held, one->ifa_addr, sizeof held);
    if (std::memcmp(&held.sin_addr, address.octets.data(), sizeof held.sin_addr) == 0) {
      name = one->ifa_name;
    }
  }
  ::freeifaddrs(all);
  if (name.empty()) {
    return failure("no interface of this host has the address " + to_string(address) +
                   " (gtpu.ifList[].addr)");
  }
  const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0) {
    return failure("can't read the MTU of " + name + ": " + text_of(errno));
  }
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

std::optional<std::string> LinuxHost::kind_of(std::uint32_t index) {
  auto transport = request_socket(NETLINK_ROUTE);
  if (!transport) return std::nullopt;
  RequestSocket socket{std::move(*transport), sizeof(ifinfomsg)};
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  const auto answer = socket.transact(Request{RTM_GETLINK, 0, octets_of(header)});
  if (!answer || answer->messages.empty()) return std::nullopt;
  const auto info = netlink::Attributes{answer->messages.front()}.get(kLinkInfo);
  const auto kind = info ? info->get(kKind) : std::nullopt;
  return kind ? std::optional{std::string{*kind}} : std::nullopt;
}

/// A link that lives looks like one that a dead process left, and to remove it would free what its
/// packets use. So a daemon holds a name for it that the kernel takes back when it dies: an
/// abstract UNIX address, which is of the network namespace as the link is.
Result<void, std::string> LinuxHost::claim(const std::string& name) {
  Descriptor socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket.ok()) return failure("can't open a UNIX socket: " + text_of(errno));
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  const std::string address = std::string(1, '\0') + "kupf-link-" + name;
  address.copy(own.sun_path, sizeof own.sun_path);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), size) != 0) {
    if (errno != EADDRINUSE) return failure("can't claim the link " + name + ": " + text_of(errno));
    return failure("the link " + name +
                   " belongs to an upf that is running: choose another name (gtpu.ifname)");
  }
  claim_.emplace(std::move(socket));
  return {};
}

Result<Link, std::string> LinuxHost::create_link(const LinkRequest& request,
                                                 const GtpuSocket& socket) {
  // With a descriptor that isn't open the module makes a link all the same, and panics at its first
  // PDR.
  if (::fcntl(socket.descriptor(), F_GETFD) < 0) return failure(std::string{"no GTP-U socket"});
  // With a name that the kernel makes up the rest of, or refuses, the module frees its tables
  // twice.
  if (request.name.empty() || request.name.size() >= IFNAMSIZ ||
      request.name.find('%') != std::string::npos) {
    return failure("'" + request.name + "' can't be a link's name: 1 to 15 characters, no '%'");
  }
  if (auto ok = claim(request.name); !ok) return failure(ok.error());
  if (const unsigned old = ::if_nametoindex(request.name.c_str()); old != 0) {
    // What a dead process left has no socket any more; adopting it would panic as well.
    if (kind_of(old) != link::kKind) {
      return failure("there is an interface " + request.name +
                     " that is no gtp5g link: choose another name or remove it (ip link del " +
                     request.name + ")");
    }
    if (auto ok = remove_link({request.name, old}); !ok) return failure(ok.error());
  }
  ifinfomsg header{};
  header.ifi_flags = IFF_UP;
  header.ifi_change = IFF_UP;
  Request message{RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, octets_of(header)};
  message.put(kName, request.name);
  message.put(kMtu, request.mtu);
  message.nest(kLinkInfo, [&] {
    message.put(kKind, link::kKind);
    message.nest(kInfoData, [&] {
      message.put(link::kSocket, static_cast<std::uint32_t>(socket.descriptor()));
      message.put(link::kHashSize, request.hash_size);
      message.put(link::kRole, link::kRoleUpf);
    });
  });
  if (const int error = run(message); error != 0) return failure(why_no_link(request.name, error));
  // From the moment that the module has the socket until the link is registered, any GTP-U packet
  // would make it read through a null pointer.
  Link link{request.name, ::if_nametoindex(request.name.c_str())};
  if (listen_again(socket.descriptor())) return link;
  const std::string why = text_of(errno);
  (void)remove_link(link);
  return failure("can't receive GTP-U: " + why);
}

Result<void, std::string> LinuxHost::remove_link(const Link& link) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(link.index);
  header.ifi_change = IFF_UP;  // down, so that no packet is in it any more
  (void)run(Request{RTM_NEWLINK, 0, octets_of(header)});
  header.ifi_change = 0;
  const int error = run(Request{RTM_DELLINK, 0, octets_of(header)});
  if (error == 0 || error == ENODEV) return {};
  return failure("can't remove the link " + link.name + ": " + text_of(error));
}

Result<void, std::string> LinuxHost::add_route(const Link& link, Ipv4Prefix destination) {
  const std::uint32_t mask =
      destination.length == 0 ? 0U : ~std::uint32_t{0} << (32U - destination.length);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = destination.length;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  Request request{RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, octets_of(header)};
  request.put(Attr<Ipv4>{RTA_DST}, Ipv4::from_host(destination.address.host() & mask));
  request.put(Attr<std::uint32_t>{RTA_OIF}, link.index);
  const int error = run(request);
  if (error == 0) return {};
  const std::string what = "can't route " + to_string(destination) + " to " + link.name + ": ";
  if (error == EEXIST) {
    return failure(what + "it is routed elsewhere already (ip route show " +
                   to_string(destination) + ")");
  }
  return failure(what + text_of(error));
}

Result<void, std::string> LinuxHost::set_option(std::string_view name, std::string_view value) {
  const std::string path = "/proc/gtp5g/" + std::string{name};
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!file.ok()) return failure(path + ": " + text_of(errno));
  if (::write(file.get(), value.data(), value.size()) < 0) {
    return failure(path + ": " + text_of(errno));
  }
  return {};
}

}  // namespace

std::unique_ptr<Host> linux_host() { return std::make_unique<LinuxHost>(); }

}  // namespace upf::gtp5g

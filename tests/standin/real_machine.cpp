#include "tests/standin/real_machine.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace upf::standin {
namespace {

constexpr std::size_t kLargest = 65536;

sockaddr_in name_of(Ipv4 address, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  std::memcpy(&name.sin_addr, address.octets.data(), 4);
  return name;
}

std::string problem(const std::string& what) { return what + ": " + std::strerror(errno); }

}  // namespace

RealMachine::RealMachine()
    : linux_(gtp5g::linux_host()), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

RealMachine::~RealMachine() {
  stop();
  if (tun_ >= 0) ::close(tun_);
  if (udp_ >= 0) ::close(udp_);
  ::close(stop_);
}

Result<void, std::string> RealMachine::open_socket(const std::vector<Ipv4>& local,
                                                   std::uint16_t port) {
  addresses = local;
  udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in own = name_of(local.size() == 1 ? local.front() : Ipv4{}, port);
  if (::bind(udp_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return failure(problem("can't bind GTP-U"));
  }
  const int on = 1;
  (void)::setsockopt(udp_, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  const int never = IP_PMTUDISC_DONT;
  (void)::setsockopt(udp_, IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof never);
  return {};
}

Result<void, std::string> RealMachine::create_link(const gtp5g::LinkRequest& request) {
  tun_ = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq interface {};
  request.name.copy(interface.ifr_name, IFNAMSIZ - 1);
  interface.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (tun_ < 0 || ::ioctl(tun_, TUNSETIFF, &interface) != 0) {
    return failure(problem("can't make the TUN device " + request.name));
  }
  const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  interface.ifr_mtu = static_cast<int>(request.mtu);
  bool ok = ::ioctl(control, SIOCSIFMTU, &interface) == 0;
  interface.ifr_flags = IFF_UP;
  ok = ok && ::ioctl(control, SIOCSIFFLAGS, &interface) == 0;
  ::close(control);
  if (!ok) return failure(problem("can't bring up " + request.name));
  tun_link_ = {request.name, ::if_nametoindex(request.name.c_str())};
  thread_ = std::thread{[this] { forward(); }};
  return {};
}

Result<void, std::string> RealMachine::add_route(Ipv4Prefix destination) {
  return linux_->add_route(tun_link_, destination);
}
Result<std::uint32_t, std::string> RealMachine::mtu_at(Ipv4 address) {
  return linux_->mtu_at(address);
}

void RealMachine::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_, &one, sizeof one);
  thread_.join();
}

void RealMachine::close_socket() {
  stop();
  if (udp_ >= 0) ::close(udp_);
  udp_ = -1;
}

void RealMachine::remove_link() {
  stop();
  if (tun_ >= 0) ::close(tun_);
  tun_ = -1;
}

// --- packets ---------------------------------------------------------------------------------

void RealMachine::forward() {
  std::array<pollfd, 3> ready{pollfd{.fd = udp_, .events = POLLIN, .revents = 0},
                              pollfd{.fd = tun_, .events = POLLIN, .revents = 0},
                              pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    if (ready[2].revents != 0) return;
    if (ready[0].revents != 0) read_datagram();
    if (ready[1].revents != 0) read_packet();
  }
}

void RealMachine::read_datagram() {
  std::array<std::uint8_t, kLargest> buffer{};
  alignas(cmsghdr) std::array<char, 128> control{};
  sockaddr_in from{};
  iovec octets{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &octets;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(udp_, &message, 0);
  if (size < 0) return;
  Ipv4 to{};
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != IPPROTO_IP || head->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(head), sizeof info);
    std::memcpy(to.octets.data(), &info.ipi_addr, 4);
  }
  Ipv4 peer{};
  std::memcpy(peer.octets.data(), &from.sin_addr, 4);
  kernel.receive_datagram({peer, ntohs(from.sin_port)}, to,
                          wire::Bytes{buffer}.first(static_cast<std::size_t>(size)));
}

void RealMachine::read_packet() {
  std::array<std::uint8_t, kLargest> buffer{};
  const ssize_t size = ::read(tun_, buffer.data(), buffer.size());
  if (size > 0) kernel.receive_packet(wire::Bytes{buffer}.first(static_cast<std::size_t>(size)));
}

void RealMachine::to_n6(wire::Bytes packet, std::uint32_t) {
  (void)!::write(tun_, packet.data(), packet.size());
}

void RealMachine::to_peer(Ipv4 from, const SocketAddress& to, std::uint8_t tos,
                          wire::Bytes datagram) {
  const auto* peer = std::get_if<Ipv4>(&to.ip);
  if (peer == nullptr) return;
  sockaddr_in name = name_of(*peer, to.port);
  iovec octets{const_cast<std::uint8_t*>(datagram.data()), datagram.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(int))>
      control{};
  msghdr message{};
  message.msg_name = &name;
  message.msg_namelen = sizeof name;
  message.msg_iov = &octets;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto put = [](cmsghdr* head, int type, const void* value, std::size_t size) {
    head->cmsg_level = IPPROTO_IP;
    head->cmsg_type = type;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), value, size);
  };
  in_pktinfo source{};
  std::memcpy(&source.ipi_spec_dst, from.octets.data(), 4);
  const int service = tos;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  put(head, IP_PKTINFO, &source, sizeof source);
  put(CMSG_NXTHDR(&message, head), IP_TOS, &service, sizeof service);
  (void)::sendmsg(udp_, &message, MSG_DONTWAIT);
}

}  // namespace upf::standin

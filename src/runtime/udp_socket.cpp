#include "upf/runtime/udp_socket.hpp"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

namespace upf::runtime {
namespace {

constexpr std::size_t kLargest = 65535;
/// SMFs send bursts (all sessions of a UPF at once after its restart); what the default buffer of
/// 208 KiB loses is only sent again a second later.
constexpr int kBufferOctets = 8 << 20;

union AnyAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t to_kernel(const SocketAddress& address, AnyAddress& out) {
  std::memset(&out, 0, sizeof out);
  if (const auto* v4 = std::get_if<Ipv4>(&address.ip)) {
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(address.port);
    std::memcpy(&out.v4.sin_addr, v4->octets.data(), 4);
    return sizeof out.v4;
  }
  out.v6.sin6_family = AF_INET6;
  out.v6.sin6_port = htons(address.port);
  std::memcpy(&out.v6.sin6_addr, std::get<Ipv6>(address.ip).octets.data(), 16);
  return sizeof out.v6;
}

SocketAddress from_kernel(const AnyAddress& address) {
  SocketAddress out;
  if (address.any.sa_family == AF_INET) {
    Ipv4 ip;
    std::memcpy(ip.octets.data(), &address.v4.sin_addr, 4);
    out = {ip, ntohs(address.v4.sin_port)};
  } else if (address.any.sa_family == AF_INET6) {
    Ipv6 ip;
    std::memcpy(ip.octets.data(), &address.v6.sin6_addr, 16);
    out = {ip, ntohs(address.v6.sin6_port)};
  }
  return out;
}

constexpr std::size_t kControl = CMSG_SPACE(sizeof(in6_pktinfo));
struct alignas(cmsghdr) Control {
  std::array<char, kControl> octets{};
};

std::optional<IpAddress> local_address(msghdr& header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      Ipv4 ip;
      std::memcpy(ip.octets.data(), &info.ipi_addr, 4);
      return ip;
    }
    if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      Ipv6 ip;
      std::memcpy(ip.octets.data(), &info.ipi6_addr, 16);
      return ip;
    }
  }
  return {};
}

void put_local_address(msghdr& header, Control& control, const IpAddress& address) {
  header.msg_control = control.octets.data();
  header.msg_controllen = control.octets.size();
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (const auto* v4 = std::get_if<Ipv4>(&address)) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, v4->octets.data(), 4);
    part->cmsg_level = IPPROTO_IP;
    part->cmsg_type = IP_PKTINFO;
    part->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(part), &info, sizeof info);
    header.msg_controllen = CMSG_SPACE(sizeof info);
    return;
  }
  in6_pktinfo info{};
  std::memcpy(&info.ipi6_addr, std::get<Ipv6>(address).octets.data(), 16);
  part->cmsg_level = IPPROTO_IPV6;
  part->cmsg_type = IPV6_PKTINFO;
  part->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(part), &info, sizeof info);
  header.msg_controllen = CMSG_SPACE(sizeof info);
}

void enlarge_buffer(int fd, int forced, int plain) {
  // The forced form needs CAP_NET_ADMIN and passes net.core.rmem_max; the plain one is cut to it.
  if (::setsockopt(fd, SOL_SOCKET, forced, &kBufferOctets, sizeof kBufferOctets) != 0) {
    ::setsockopt(fd, SOL_SOCKET, plain, &kBufferOctets, sizeof kBufferOctets);
  }
}

}  // namespace

struct UdpSocket::Buffers {
  // Not zeroed: memory is used only as far as datagrams reach.
  std::unique_ptr<std::uint8_t[]> octets =
      std::make_unique_for_overwrite<std::uint8_t[]>(kBatch * kLargest);
  std::array<iovec, kBatch> parts{};
  std::array<AnyAddress, kBatch> peers{};
  std::array<Control, kBatch> controls{};
  std::array<mmsghdr, kBatch> messages{};
  std::array<Received, kBatch> received{};
};

UdpSocket::UdpSocket(UniqueFd fd, const SocketAddress& local)
    : fd_(std::move(fd)), local_(local), buffers_(std::make_unique<Buffers>()) {}
UdpSocket::UdpSocket(UdpSocket&&) noexcept = default;
UdpSocket& UdpSocket::operator=(UdpSocket&&) noexcept = default;
UdpSocket::~UdpSocket() = default;

Result<UdpSocket, SystemError> UdpSocket::bind(const SocketAddress& local) {
  const auto error = [&](const char* doing) {
    return failure(SystemError{errno, std::string{doing} + " " + to_string(local)});
  };
  const bool v6 = std::holds_alternative<Ipv6>(local.ip);
  UniqueFd fd{::socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!fd) return error("open a socket for");
  const int on = 1;
  if (v6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
  } else {
    ::setsockopt(fd.get(), IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  }
  enlarge_buffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF);
  enlarge_buffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF);
  AnyAddress address{};
  socklen_t length = to_kernel(local, address);
  if (::bind(fd.get(), &address.any, length) != 0) return error("bind");
  length = sizeof address;
  if (::getsockname(fd.get(), &address.any, &length) != 0) return error("getsockname of");
  return UdpSocket{std::move(fd), from_kernel(address)};
}

Result<std::span<const Received>, SystemError> UdpSocket::receive() {
  Buffers& b = *buffers_;
  for (std::size_t i = 0; i < kBatch; ++i) {
    b.parts[i] = {b.octets.get() + i * kLargest, kLargest};
    msghdr& header = b.messages[i].msg_hdr;
    header = {};
    header.msg_name = &b.peers[i];
    header.msg_namelen = sizeof b.peers[i];
    header.msg_iov = &b.parts[i];
    header.msg_iovlen = 1;
    header.msg_control = b.controls[i].octets.data();
    header.msg_controllen = b.controls[i].octets.size();
  }
  const int count = ::recvmmsg(fd_.get(), b.messages.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return std::span<const Received>{};
    return failure(SystemError{errno, "receive on " + to_string(local_)});
  }
  const auto arrived = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < arrived; ++i) {
    b.received[i].from = from_kernel(b.peers[i]);
    b.received[i].to = local_address(b.messages[i].msg_hdr).value_or(local_.ip);
    b.received[i].octets = {b.octets.get() + i * kLargest, b.messages[i].msg_len};
  }
  return std::span<const Received>{b.received.data(), arrived};
}

Backlog UdpSocket::backlog() const {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return {};
  const std::uint64_t used = memory[SK_MEMINFO_RMEM_ALLOC];
  const std::uint64_t whole = std::max<std::uint64_t>(memory[SK_MEMINFO_RCVBUF], 1);
  constexpr std::uint64_t kEach = 1024;  // with the kernel's own data about it
  return {static_cast<unsigned>(std::min<std::uint64_t>(used * 100 / whole, 100)), used / kEach,
          memory[SK_MEMINFO_DROPS]};
}

std::size_t UdpSocket::send(std::span<const Sending> datagrams) {
  std::size_t sent = 0;
  while (!datagrams.empty()) {
    const auto batch = datagrams.first(std::min(datagrams.size(), kBatch));
    sent += send_batch(batch);
    datagrams = datagrams.subspan(batch.size());
  }
  return sent;
}

std::size_t UdpSocket::send_batch(std::span<const Sending> datagrams) {
  std::array<iovec, kBatch> parts{};
  std::array<AnyAddress, kBatch> peers{};
  std::array<Control, kBatch> controls{};
  std::array<mmsghdr, kBatch> messages{};
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    // sendmsg() doesn't write through it.
    parts[i] = {const_cast<std::uint8_t*>(datagrams[i].octets.data()), datagrams[i].octets.size()};
    msghdr& header = messages[i].msg_hdr;
    header.msg_name = &peers[i];
    header.msg_namelen = to_kernel(datagrams[i].to, peers[i]);
    header.msg_iov = &parts[i];
    header.msg_iovlen = 1;
    if (datagrams[i].from && datagrams[i].from->index() == datagrams[i].to.ip.index()) {
      put_local_address(header, controls[i], *datagrams[i].from);
    }
  }
  std::size_t sent = 0;
  for (std::size_t next = 0; next < datagrams.size();) {
    const int taken = ::sendmmsg(fd_.get(), messages.data() + next,
                                 static_cast<unsigned>(datagrams.size() - next), MSG_DONTWAIT);
    if (taken > 0) {
      sent += static_cast<std::size_t>(taken);
      next += static_cast<std::size_t>(taken);
    } else if (errno != EINTR) {
      ++next;  // the first one is to blame; the others may have a better destination
    }
  }
  return sent;
}

}  // namespace upf::runtime

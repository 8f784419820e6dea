#include "gtpu_socket.hpp"

#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>

namespace upf::userplane {
namespace {

constexpr int kBufferOctets = 32 * 1024 * 1024;
constexpr int kSendPatienceMs = 5;

void set(int fd, int level, int option, int value) {
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

void set_buffers(int fd) {
  // FORCE needs CAP_NET_ADMIN; without it net.core.rmem_max is the limit.
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferOctets, sizeof kBufferOctets) != 0) {
    set(fd, SOL_SOCKET, SO_RCVBUF, kBufferOctets);
  }
  if (::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kBufferOctets, sizeof kBufferOctets) != 0) {
    set(fd, SOL_SOCKET, SO_SNDBUF, kBufferOctets);
  }
}

std::string explain_bind(const SocketAddress& address) {
  const std::string what = "GTP-U on " + to_string(address);
  if (errno == EADDRINUSE) {
    return what + ": the port is in use: stop the other UPF (ss -lunp 'sport = 2152')";
  }
  if (errno == EADDRNOTAVAIL) {
    return what + ": no interface has this address: correct gtpu.ifList or add the address";
  }
  return with_errno(what);
}

/// Segment size that UDP_GRO reports; 0: a single datagram.
std::size_t gro_size(msghdr& header) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
      int size = 0;
      std::memcpy(&size, CMSG_DATA(c), sizeof size);
      return size > 0 ? static_cast<std::size_t>(size) : 0;
    }
  }
  return 0;
}

DatagramSource source_of(const sockaddr_in6& name, std::uint16_t socket) {
  DatagramSource source{.socket = socket};
  if (name.sin6_family == AF_INET6) {
    source.ipv6 = true;
    source.peer = Address::of_ipv6(name.sin6_addr.s6_addr);
    source.port = ntohs(name.sin6_port);
    return source;
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &name, sizeof v4);
  source.peer = {0, ntohl(v4.sin_addr.s_addr)};
  source.port = ntohs(v4.sin_port);
  return source;
}

template <class Value>
std::size_t put_control(msghdr& header, std::size_t at, int level, int type, Value value) {
  auto* control = reinterpret_cast<cmsghdr*>(static_cast<std::uint8_t*>(header.msg_control) + at);
  control->cmsg_level = level;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(control), &value, sizeof value);
  return at + CMSG_SPACE(sizeof value);
}

}  // namespace

SocketName SocketName::of(bool ipv6, const Address& address, std::uint16_t port) {
  SocketName name;
  if (ipv6) {
    name.address.v6 = {};
    name.address.v6.sin6_family = AF_INET6;
    name.address.v6.sin6_port = htons(port);
    std::uint8_t* out = name.address.v6.sin6_addr.s6_addr;
    store32(out, static_cast<std::uint32_t>(address.high >> 32U));
    store32(out + 4, static_cast<std::uint32_t>(address.high));
    store32(out + 8, static_cast<std::uint32_t>(address.low >> 32U));
    store32(out + 12, static_cast<std::uint32_t>(address.low));
    name.size = sizeof name.address.v6;
  } else {
    name.address.v4 = {};
    name.address.v4.sin_family = AF_INET;
    name.address.v4.sin_port = htons(port);
    name.address.v4.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(address.low));
    name.size = sizeof name.address.v4;
  }
  return name;
}

SocketName SocketName::of(const IpAddress& address, std::uint16_t port) {
  return of(std::holds_alternative<Ipv6>(address),
            std::visit([](const auto& a) { return Address::of(a); }, address), port);
}

Result<GtpuSocket, std::string> GtpuSocket::open(const LocalAddress& local, bool shared,
                                                 const Offloads& offloads) {
  const bool ipv6 = std::holds_alternative<Ipv6>(local.address);
  GtpuSocket socket{
      .fd = Fd{::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}};
  const int fd = socket.fd.get();
  if (fd < 0) return failure(with_errno("GTP-U socket"));
  if (ipv6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (shared) set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  // Too large outer packets are fragmented rather than lost (TS 29.281 4.2.2).
  if (ipv6) {
    set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT);
  } else {
    set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
  }
  if (!local.interface.empty() &&
      ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, local.interface.c_str(),
                   static_cast<socklen_t>(local.interface.size())) != 0) {
    return failure(with_errno("binding GTP-U to interface " + local.interface));
  }
  const SocketName name = SocketName::of(local.address, gtpu::kPort);
  if (::bind(fd, &name.address.any, name.size) != 0) {
    return failure(explain_bind({local.address, gtpu::kPort}));
  }
  set_buffers(fd);
  const int on = 1;
  const int none = 0;
  socket.gro = offloads.udp_gro && ::setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
  socket.segment =
      offloads.udp_segment && ::setsockopt(fd, SOL_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
  return socket;
}

GtpuReceiver::GtpuReceiver()
    : buffers_(new std::uint8_t[kMost * kBuffer]),
      messages_(kMost),
      parts_(kMost),
      names_(kMost),
      controls_(kMost) {
  for (std::size_t i = 0; i < kMost; ++i) parts_[i] = {buffers_.get() + i * kBuffer, 65536};
}

void GtpuReceiver::prepare(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    messages_[i].msg_hdr = {.msg_name = &names_[i],
                            .msg_namelen = sizeof names_[i],
                            .msg_iov = &parts_[i],
                            .msg_iovlen = 1,
                            .msg_control = controls_[i].octets.data(),
                            .msg_controllen = controls_[i].octets.size(),
                            .msg_flags = 0};
  }
}

GtpuReceiver::Datagrams GtpuReceiver::datagrams(std::size_t index) {
  const std::size_t size = messages_[index].msg_len;
  const std::size_t each = gro_size(messages_[index].msg_hdr);
  return {{buffers_.get() + index * kBuffer, size}, each == 0 ? size : each};
}

void GtpuReceiver::deliver(std::size_t index, std::uint16_t socket_index, Forwarder& forwarder) {
  const auto [octets, each] = datagrams(index);
  const DatagramSource source = source_of(names_[index], socket_index);
  std::size_t at = 0;
  do {
    const std::size_t length = std::min(each, octets.size() - at);
    forwarder.from_tunnel(octets.subspan(at, length), source);
    at += length;
  } while (at < octets.size());
}

std::size_t GtpuReceiver::receive(int fd, std::uint16_t socket_index, Forwarder& forwarder,
                                  bool& drained, const std::function<void()>& between_messages) {
  const std::size_t asked = ask_;
  prepare(asked);
  const int got =
      ::recvmmsg(fd, messages_.data(), static_cast<unsigned>(asked), MSG_DONTWAIT, nullptr);
  forwarder.counters().add(Tally::ReceiveCalls);
  drained = got < static_cast<int>(asked);
  if (got <= 0) return 0;
  const auto count = static_cast<std::size_t>(got);
  forwarder.counters().add(Tally::ReceiveMessages, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [received, each] = datagrams(i);
    forwarder.expect(received, each);
  }
  forwarder.fetch_expected();
  std::size_t octets = 0;
  for (std::size_t i = 0; i < count; ++i) {
    deliver(i, socket_index, forwarder);
    between_messages();
    octets += messages_[i].msg_len;
  }
  const std::size_t each = octets / count;
  ask_ = each <= kSingle ? kMost : std::clamp(kBatchOctets / each, kFew, kMost);
  return count;
}

bool SocketSink::segmentable(const OutMessage& message) const {
  return segment_ && message.segment_size <= largest_segment_ && !gave_up_segmenting();
}

void SocketSink::send(std::span<const OutMessage> messages) {
  while (!messages.empty()) {
    const auto other = std::ranges::find_if(messages, [&](const OutMessage& m) {
      return m.socket != messages.front().socket ||
             (m.count > 1 && !segmentable(m)) !=
                 (messages.front().count > 1 && !segmentable(messages.front()));
    });
    const auto run = static_cast<std::size_t>(other - messages.begin());
    if (messages.front().count > 1 && !segmentable(messages.front())) {
      for (const OutMessage& message : messages.first(run)) send_singly(message);
      flush_singles(sockets_[messages.front().socket]);
    } else {
      send_run(messages.first(run));
    }
    messages = messages.subspan(run);
  }
}

void SocketSink::prepare(std::size_t index, const OutMessage& message, std::span<const iovec> parts,
                         bool segment) {
  Prepared& prepared = prepared_[index];
  prepared.name = SocketName::of(message.ipv6, message.peer, message.port);
  msghdr& header = headers_[index].msg_hdr;
  header = {.msg_name = &prepared.name.address,
            .msg_namelen = prepared.name.size,
            .msg_iov = const_cast<iovec*>(parts.data()),
            .msg_iovlen = parts.size(),
            .msg_control = prepared.control.octets.data(),
            .msg_controllen = 0,
            .msg_flags = 0};
  std::size_t used = 0;
  if (segment) {
    used = put_control(header, used, SOL_UDP, UDP_SEGMENT,
                       static_cast<std::uint16_t>(message.segment_size));
  }
  if (message.tos != 0) {
    used = message.ipv6 ? put_control(header, used, IPPROTO_IPV6, IPV6_TCLASS, int{message.tos})
                        : put_control(header, used, IPPROTO_IP, IP_TOS, int{message.tos});
  }
  header.msg_controllen = used;
  if (used == 0) header.msg_control = nullptr;
}

/// Sends prepared messages from `first` on; returns how many the kernel took before one failed.
std::size_t SocketSink::push(int fd, std::size_t first, std::size_t count) {
  counters_->add(Tally::SendCalls);
  int sent = ::sendmmsg(fd, &headers_[first], static_cast<unsigned>(count), MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
    // The device is slower than we are: give it a moment instead of dropping at once.
    pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
    (void)::poll(&ready, 1, kSendPatienceMs);
    counters_->add(Tally::SendCalls);
    sent = ::sendmmsg(fd, &headers_[first], static_cast<unsigned>(count), MSG_DONTWAIT);
  }
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void SocketSink::send_run(std::span<const OutMessage> messages) {
  const int fd = sockets_[messages.front().socket];
  for (std::size_t i = 0; i < messages.size(); ++i) {
    prepare(i, messages[i], messages[i].parts, messages[i].count > 1);
  }
  std::size_t done = 0;
  while (done < messages.size()) {
    const std::size_t sent = push(fd, done, messages.size() - done);
    done += sent;
    if (sent > 0) continue;
    const OutMessage& failed = messages[done];
    if (failed.count > 1 && (errno == EIO || errno == EINVAL || errno == EMSGSIZE)) {
      // EIO: the device can't. The others: a segment is larger than the path takes at once, and
      // goes as fragments.
      if (errno == EIO) {
        gave_up_.store(true, std::memory_order_relaxed);
      } else {
        largest_segment_ = failed.segment_size - 1;
      }
      // send_singly() reuses the prepared messages: what is left starts over behind it.
      send_singly(failed);
      flush_singles(fd);
      send(messages.subspan(done + 1));
      return;
    }
    counters_->drop(Drop::SendError, failed.count);
    ++done;
  }
}

/// The message's datagrams one by one, collected for flush_singles().
void SocketSink::send_singly(const OutMessage& message) {
  std::size_t part = 0;
  std::size_t offset = 0;
  for (std::uint32_t left = message.octets; left > 0;) {
    if (singles_ == kMost || single_parts_used_ + 4 > single_parts_.size()) {
      flush_singles(sockets_[message.socket]);
    }
    const std::size_t first = single_parts_used_;
    std::size_t wanted = std::min(left, message.segment_size);
    left -= static_cast<std::uint32_t>(wanted);
    while (wanted > 0) {
      const iovec& from = message.parts[part];
      const std::size_t take = std::min(wanted, from.iov_len - offset);
      single_parts_[single_parts_used_++] = {static_cast<std::uint8_t*>(from.iov_base) + offset,
                                             take};
      wanted -= take;
      offset += take;
      if (offset == from.iov_len) {
        ++part;
        offset = 0;
      }
    }
    prepare(singles_++, message,
            std::span{single_parts_}.subspan(first, single_parts_used_ - first), false);
    counters_->add(Tally::SentSingly);
  }
}

void SocketSink::flush_singles(int fd) {
  for (std::size_t done = 0; done < singles_;) {
    const std::size_t sent = push(fd, done, singles_ - done);
    if (sent == 0) {
      counters_->drop(Drop::SendError);
      ++done;
    }
    done += sent;
  }
  singles_ = 0;
  single_parts_used_ = 0;
}

void SocketSink::write_n6(std::span<const iovec> parts) {
  counters_->add(Tally::SendCalls);
  if (::writev(tun_, parts.data(), static_cast<int>(parts.size())) < 0) {
    counters_->drop(Drop::SendError);
  }
}

}  // namespace upf::userplane

// The limit of every UPF that takes its packets from a socket: receives datagrams as cheaply as the
// kernel lets it, counts them, and throws them away. What it can't take, no such UPF can, because
// the packets' source and the kernel's own way from the link to the socket leave no time for it. It
// doesn't sleep: to wake it is work for the source's CPU, which a busy UPF spares it.
//
//   drain ADDRESS FILE    the count is the first 8 octets of FILE, in the machine's order

#include <fcntl.h>
#include <netinet/udp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/lab/gtpu.hpp"
#include "tests/lab/socket.hpp"

namespace upf::bench {
namespace {

constexpr std::size_t kMessages = 4;
constexpr std::size_t kLargest = 65536;

/// Of a message that the kernel may have put together out of several datagrams.
std::uint64_t datagrams(const mmsghdr& message) {
  msghdr header = message.msg_hdr;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(c), sizeof size);
    if (size > 0) return (message.msg_len + static_cast<unsigned>(size) - 1) / unsigned(size);
  }
  return 1;
}

std::atomic<std::uint64_t>* counter(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || ::ftruncate(fd, sizeof(std::uint64_t)) != 0) return nullptr;
  void* at = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return at == MAP_FAILED ? nullptr : new (at) std::atomic<std::uint64_t>{0};
}

int run(const char* address, const char* path) {
  const auto udp = lab::bind_udp(parse_ipv4(address).value_or(Ipv4{}), lab::kGtpuPort);
  std::atomic<std::uint64_t>* const count = counter(path);
  const int on = 1;
  if (!udp || count == nullptr || ::setsockopt(udp->fd(), SOL_UDP, UDP_GRO, &on, sizeof on) != 0) {
    std::fprintf(stderr, "drain: %s\n", udp ? lab::errno_text(path).c_str() : udp.error().c_str());
    return 1;
  }
  std::vector<std::uint8_t> octets(kMessages * kLargest);
  std::array<std::array<std::uint8_t, 64>, kMessages> controls{};
  std::array<iovec, kMessages> parts{};
  std::array<mmsghdr, kMessages> messages{};
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    for (std::size_t i = 0; i < kMessages; ++i) {
      parts[i] = {octets.data() + i * kLargest, kLargest};
      messages[i].msg_hdr = {};
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = controls[i].data();
      messages[i].msg_hdr.msg_controllen = controls[i].size();
    }
    const int got = ::recvmmsg(udp->fd(), messages.data(), kMessages, MSG_DONTWAIT, nullptr);
    if (got < 0 && errno != EAGAIN) return 1;
    if (got <= 0) continue;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) all += datagrams(messages[i]);
    count->fetch_add(all, std::memory_order_relaxed);
  }
}

}  // namespace
}  // namespace upf::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: drain ADDRESS FILE\n", stderr);
    return 2;
  }
  return upf::bench::run(argv[1], argv[2]);
}

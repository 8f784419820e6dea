// Traffic for the benchmark, as cheap as the kernel allows: TCP by sendfile and receive-and-forget,
// UDP in UDP_SEGMENT bursts, paced by sleeping. One line of JSON at the end.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/lab/gtpu.hpp"
#include "tests/lab/offload.hpp"
#include "tests/lab/socket.hpp"

namespace upf::bench {
namespace {

using Clock = std::chrono::steady_clock;
using lab::Socket;

constexpr std::uint16_t kTcpPort = 7200, kSinkPort = 9;
constexpr std::size_t kChunk = 1 << 20;
constexpr std::chrono::milliseconds kRampUp{500};

Ipv4 address(const char* text) {
  const auto parsed = parse_ipv4(text);
  if (!parsed) {
    std::fprintf(stderr, "traffic: '%s' is not an IPv4 address\n", text);
    std::exit(2);
  }
  return *parsed;
}

Socket tcp_socket() { return Socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }

/// Sends until the peer closes or `stop` is set; the octets go to `count`.
void pour(int socket, std::atomic<std::uint64_t>& count, const std::atomic<bool>& stop) {
  static const int kSource = [] {
    const int fd = ::memfd_create("zeros", MFD_CLOEXEC);
    (void)!::ftruncate(fd, kChunk);
    return fd;
  }();
  while (!stop) {
    off_t from = 0;
    const ssize_t sent = ::sendfile(socket, kSource, &from, kChunk);
    if (sent <= 0) return;
    count += static_cast<std::uint64_t>(sent);
  }
}

/// Receives without copying to user space (MSG_TRUNC) until the peer closes or `stop` is set.
void drink(int socket, std::atomic<std::uint64_t>& count, const std::atomic<bool>& stop) {
  while (!stop) {
    const ssize_t received = ::recv(socket, nullptr, kChunk, MSG_TRUNC);
    if (received <= 0) return;
    count += static_cast<std::uint64_t>(received);
  }
}

void serve_connection(Socket connection) {
  std::atomic<std::uint64_t> count{};
  const std::atomic<bool> stop{};
  char direction = 0;
  if (::recv(connection.fd(), &direction, 1, 0) != 1) return;
  if (direction == 'd') {
    pour(connection.fd(), count, stop);
  } else {
    drink(connection.fd(), count, stop);
  }
}

int serve(const char* bind_address) {
  const Socket listener = tcp_socket();
  const int on = 1;
  (void)::setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in name = lab::socket_address(address(bind_address), kTcpPort);
  if (::bind(listener.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(listener.fd(), 64) != 0) {
    std::perror("traffic: serve");
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    Socket connection{::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (connection.fd() < 0) continue;
    std::thread([one = std::move(connection)]() mutable {
      serve_connection(std::move(one));
    }).detach();
  }
}

/// tcp SERVER up|down SECONDS UE...: one connection a UE address named (twice is two).
int tcp(const char* server, char direction, double seconds, const std::vector<Ipv4>& ues) {
  std::vector<Socket> connections;
  const sockaddr_in to = lab::socket_address(address(server), kTcpPort);
  for (const Ipv4 ue : ues) {
    Socket one = tcp_socket();
    const sockaddr_in from = lab::socket_address(ue, 0);
    if (::bind(one.fd(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(one.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      std::perror(("traffic: tcp from " + to_string(ue)).c_str());
      return 1;
    }
    (void)::send(one.fd(), &direction, 1, 0);
    connections.push_back(std::move(one));
  }
  std::atomic<std::uint64_t> count{};
  std::atomic<bool> stop{};
  std::vector<std::thread> workers;
  for (const Socket& one : connections) {
    workers.emplace_back(
        [&, fd = one.fd()] { direction == 'd' ? drink(fd, count, stop) : pour(fd, count, stop); });
  }
  std::this_thread::sleep_for(kRampUp);
  const std::uint64_t before = count;
  const auto started = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const std::uint64_t octets = count - before;
  const std::chrono::duration<double> took = Clock::now() - started;
  stop = true;
  for (const Socket& one : connections) (void)::shutdown(one.fd(), SHUT_RDWR);
  for (std::thread& worker : workers) worker.join();
  std::printf("{\"octets\": %llu, \"seconds\": %.6f}\n", static_cast<unsigned long long>(octets),
              took.count());
  return 0;
}

struct Load {
  Ipv4 from{};
  Ipv4 to{};
  std::uint16_t port{};
  std::size_t inner{};  ///< octets of the inner IP packet
  std::size_t burst{};
  double packets_per_second{};
  double seconds{};
};

/// An inner IPv4/UDP packet of the wanted size to the sink, checksums valid.
std::vector<std::uint8_t> inner_packet(Ipv4 ue, Ipv4 dn, std::size_t size) {
  std::vector<std::uint8_t> packet(size);
  const auto put16 = [&](std::size_t at, std::size_t value) {
    packet.at(at) = static_cast<std::uint8_t>(value >> 8U);
    packet.at(at + 1) = static_cast<std::uint8_t>(value);
  };
  packet[0] = 0x45;
  packet[8] = 64;
  packet[9] = IPPROTO_UDP;
  put16(2, size);
  std::ranges::copy(ue.octets, packet.begin() + 12);
  std::ranges::copy(dn.octets, packet.begin() + 16);
  put16(10, static_cast<std::uint16_t>(~lab::fold(lab::sum_octets({packet.data(), 20}))));
  put16(20, 5000);
  put16(22, kSinkPort);
  put16(24, size - 20);
  const auto pseudo = lab::sum_octets({packet.data() + 12, 8}, IPPROTO_UDP + size - 20);
  const auto check = static_cast<std::uint16_t>(
      ~lab::fold(lab::sum_octets({packet.data() + 20, size - 20}, pseudo)));
  put16(26, check == 0 ? 0xffff : check);
  return packet;
}

/// Sends `payload` (a burst of datagrams of `segment` octets) again and again, at the wanted rate.
std::uint64_t send_bursts(const Load& load, const std::vector<std::vector<std::uint8_t>>& payloads,
                          std::size_t segment) {
  const auto socket = lab::bind_udp(load.from, 0);
  if (!socket) {
    std::fprintf(stderr, "traffic: %s\n", socket.error().c_str());
    std::exit(1);
  }
  const int gso = load.burst > 1 ? static_cast<int>(segment) : 0;
  (void)::setsockopt(socket->fd(), SOL_UDP, UDP_SEGMENT, &gso, sizeof gso);
  (void)::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const auto started = Clock::now();
  std::uint64_t sent = 0;
  for (std::size_t turn = 0;; ++turn) {
    const std::chrono::duration<double> elapsed = Clock::now() - started;
    if (elapsed.count() >= load.seconds) return sent;
    const auto due = static_cast<std::uint64_t>(elapsed.count() * load.packets_per_second);
    if (sent > due) {
      // Sleeping, not spinning: on two cores a spinning sender looks like a lossy UPF.
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      continue;
    }
    const auto& payload = payloads[turn % payloads.size()];
    const sockaddr_in to = lab::socket_address(load.to, load.port);
    if (::sendto(socket->fd(), payload.data(), payload.size(), 0,
                 reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0) {
      sent += load.burst;
    }
  }
}

void print_sent(std::uint64_t sent) {
  std::printf("{\"sent\": %llu}\n", static_cast<unsigned long long>(sent));
}

/// up GNB UPF DN SIZE BURST PPS SECONDS UE:TEID...: G-PDUs, straight from a socket.
int uplink(Load load, Ipv4 dn, const std::vector<std::pair<Ipv4, std::uint32_t>>& sessions) {
  std::vector<std::vector<std::uint8_t>> payloads;
  for (const auto& [ue, teid] : sessions) {
    std::vector<std::uint8_t> burst;
    const auto inner = inner_packet(ue, dn, load.inner);
    for (std::size_t i = 0; i < load.burst; ++i) {
      std::array<std::uint8_t, lab::kUplinkHeader> header{};
      lab::write_uplink_header(header, teid, 9, inner.size());
      burst.insert(burst.end(), header.begin(), header.end());
      burst.insert(burst.end(), inner.begin(), inner.end());
    }
    payloads.push_back(std::move(burst));
  }
  load.port = lab::kGtpuPort;
  print_sent(send_bursts(load, payloads, load.inner + lab::kUplinkHeader));
  return 0;
}

int usage() {
  std::fputs(
      "usage: traffic serve ADDRESS\n"
      "       traffic tcp SERVER up|down SECONDS UE...\n"
      "       traffic up GNB UPF DN SIZE BURST PPS SECONDS UE:TEID...\n"
      "       traffic down DN UE SIZE BURST PPS SECONDS      (PPS of IP packets of SIZE octets)\n",
      stderr);
  return 2;
}

int run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "serve" && words.size() == 2) return serve(words[1].c_str());
  if (verb == "tcp" && words.size() > 4) {
    std::vector<Ipv4> ues;
    for (std::size_t i = 4; i < words.size(); ++i) ues.push_back(address(words[i].c_str()));
    return tcp(words[1].c_str(), words[2] == "down" ? 'd' : 'u', std::stod(words[3]), ues);
  }
  if (verb == "up" && words.size() > 8) {
    std::vector<std::pair<Ipv4, std::uint32_t>> sessions;
    for (std::size_t i = 8; i < words.size(); ++i) {
      const auto colon = words[i].find(':');
      sessions.emplace_back(address(words[i].substr(0, colon).c_str()),
                            static_cast<std::uint32_t>(std::stoul(words[i].substr(colon + 1))));
    }
    return uplink({.from = address(words[1].c_str()),
                   .to = address(words[2].c_str()),
                   .inner = std::stoul(words[4]),
                   .burst = std::stoul(words[5]),
                   .packets_per_second = std::stod(words[6]),
                   .seconds = std::stod(words[7])},
                  address(words[3].c_str()), sessions);
  }
  if (verb == "down" && words.size() == 7) {
    const Load load{.from = address(words[1].c_str()),
                    .to = address(words[2].c_str()),
                    .port = kSinkPort,
                    .inner = std::stoul(words[3]),
                    .burst = std::stoul(words[4]),
                    .packets_per_second = std::stod(words[5]),
                    .seconds = std::stod(words[6])};
    const std::size_t payload = load.inner - 28;
    print_sent(send_bursts(load, {std::vector<std::uint8_t>(payload * load.burst)}, payload));
    return 0;
  }
  return usage();
}

}  // namespace
}  // namespace upf::bench

int main(int argc, char** argv) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  return upf::bench::run({argv + 1, argv + argc});
}

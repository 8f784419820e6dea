// Traffic for the benchmark, as cheap as the kernel allows: TCP by sendfile and receive-and-forget,
// packets by a BPF program (source.cpp). One line of JSON at the end.

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "source.hpp"
#include "tests/lab/socket.hpp"

namespace upf::bench {
namespace {

using Clock = std::chrono::steady_clock;
using lab::Socket;

constexpr std::uint16_t kTcpPort = 7200;
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

int usage() {
  std::fputs(
      "usage: traffic serve ADDRESS\n"
      "       traffic tcp SERVER up|down SECONDS UE...\n"
      "       traffic offer PROGRAM LINK PEER_MAC GNB|- UPF SIZE BURST PPS SECONDS TO "
      "FROM[:TEID[+SPAN]]...\n",
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
  if (verb == "offer") return words.size() < 12 ? usage() : offer({words.begin() + 1, words.end()});
  return usage();
}

}  // namespace
}  // namespace upf::bench

int main(int argc, char** argv) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  return upf::bench::run({argv + 1, argv + argc});
}

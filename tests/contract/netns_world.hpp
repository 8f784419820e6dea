#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <stdexcept>

#include "contract/sessions.hpp"
#include "contract/world.hpp"

/// A network namespace around a plane that has real sockets: GTP-U peers are UDP sockets on
/// loopback addresses, the data network is a TUN device of the test's (`dn0`), and the kernel
/// routes between it and whatever the plane offers for N6.
namespace upf::contract {

/// Runs a command; a failure is a failure of the test's set-up.
inline void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

/// Moves the process into a network namespace of its own and builds what all tests share. Call
/// once, first in main(). False: no privileges (a skip; with UPF_REQUIRE_NETNS set, a failure).
inline bool enter_netns() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  shell("ip link set lo up");
  for (int i = 1; i <= 5; ++i) shell("ip addr add 10.100.0." + std::to_string(i) + "/32 dev lo");
  for (int i = 1; i <= 5; ++i) {
    shell("ip -6 addr add 2001:db8:ffff::" + std::to_string(i) + "/128 dev lo nodad");
  }
  shell("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
  for (const char* which : {"all", "default"}) {
    shell(std::string{"sysctl -qw net.ipv4.conf."} + which + ".rp_filter=0 net.ipv4.conf." + which +
          ".send_redirects=0");
  }
  return true;
}

/// The test's own TUN device: what the plane sends to N6 comes out here.
class DataNetwork {
 public:
  DataNetwork() : fd_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
    ifreq request{};
    std::string{"dn0"}.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (fd_ < 0 || ::ioctl(fd_, TUNSETIFF, &request) != 0) throw std::runtime_error("no dn0");
    shell("ip link set dn0 up mtu 9000");
    shell("ip addr add 198.51.100.1/24 dev dn0");
    shell("ip -6 addr add 2001:db8:100::1/64 dev dn0 nodad");
  }
  DataNetwork(const DataNetwork&) = delete;
  DataNetwork& operator=(const DataNetwork&) = delete;
  ~DataNetwork() { ::close(fd_); }

  void send(const Octets& packet) {
    if (::write(fd_, packet.data(), packet.size()) < 0) throw std::runtime_error("dn0 write");
  }
  [[nodiscard]] std::optional<Octets> receive() {
    Octets packet(65536);
    const ssize_t got = ::read(fd_, packet.data(), packet.size());
    if (got <= 0) return std::nullopt;
    packet.resize(static_cast<std::size_t>(got));
    return packet;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

/// World of a plane in this namespace. What the plane is, the derived class says.
class NetnsWorld : public World {
 public:
  NetnsWorld() {
    for (std::uint8_t i = 0; i < 3; ++i) peers_[i] = open_peer(i);
  }
  ~NetnsWorld() override {
    for (const auto& [number, fd] : peers_) ::close(fd);
  }

  void from_peer(std::uint8_t number, const Octets& datagram) override {
    const sockaddr_in to = name_of_address(local());
    ASSERT_EQ(::sendto(peers_.at(number), datagram.data(), datagram.size(), 0,
                       reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(datagram.size()));
  }
  /// Datagrams of one size in one send, as a gNB with UDP_SEGMENT does it.
  void train_from_peer(std::uint8_t number, const std::vector<Octets>& datagrams) {
    Octets whole;
    for (const Octets& one : datagrams) whole.insert(whole.end(), one.begin(), one.end());
    const int size = static_cast<int>(datagrams.front().size());
    const int fd = peers_.at(number);
    const sockaddr_in to = name_of_address(local());
    ASSERT_EQ(::setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof size), 0);
    ASSERT_EQ(::sendto(fd, whole.data(), whole.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                       sizeof to),
              static_cast<ssize_t>(whole.size()));
    const int off = 0;
    ASSERT_EQ(::setsockopt(fd, SOL_UDP, UDP_SEGMENT, &off, sizeof off), 0);
  }
  /// The kernel takes one hop off on the way to the plane.
  void from_n6(const Octets& packet) override { network_.send(unhop(packet)); }

  /// A thread sends what came of a batch kind by kind, so that a probe may come out before a packet
  /// that stood ahead of it. A second round is served once the first one's batches are through.
  std::vector<Output> settle() override {
    pass_backlogs();
    for (int round = 0; round < 2; ++round) probe();
    pass_backlogs();
    return std::exchange(outputs_, {});
  }

  /// Waits for that many packets, without probes: for tests that count what the plane does.
  std::vector<Output> await(std::size_t count) {
    EXPECT_TRUE(collect_until([&] { return outputs_.size() >= count; }))
        << outputs_.size() << " of " << count << " came";
    return std::exchange(outputs_, {});
  }

  std::vector<dataplane::Event> events() override {
    std::vector<dataplane::Event> all;
    pollfd ready{.fd = plane().event_descriptor(), .events = POLLIN, .revents = 0};
    // An event is behind its packet by a thread's wake-up.
    while (::poll(&ready, 1, all.empty() ? 50 : 20) > 0) {
      const auto more = plane().take_events();
      if (more.empty()) continue;
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

 protected:
  static constexpr Seid kProbeSeid{0xfffffff0};
  /// So many that each of four queues, to which flows are spread at random, gets one: with 12 one
  /// in thirty rounds left a queue out.
  static constexpr std::uint16_t kProbes = 48;
  static constexpr std::uint32_t kProbeTeid = 0xfffffff1;
  static constexpr std::uint32_t kMarkerTeid = 0xfffffff2;
  static constexpr Ipv4 kProbeUe{{10, 45, 255, 254}};
  static constexpr Ipv4 kProbeHost{{198, 51, 100, 254}};

  /// Downlink and uplink of the network cross no other hop.
  static Octets unhop(Octets packet) {
    ++packet[packet[0] >> 4U == 4 ? 8 : 7];
    if (packet[0] >> 4U == 4) {
      put16(packet, 10, 0);
      const auto header = static_cast<std::ptrdiff_t>((packet[0] & 0x0fU) * 4U);
      put16(packet, 10, checksum(Octets(packet.begin(), packet.begin() + header)));
    }
    return packet;
  }

 private:
  int open_peer(std::uint8_t number) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const sockaddr_in name = name_of_address(peer(number));
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
      throw std::runtime_error("peer socket");
    }
    return fd;
  }
  static sockaddr_in name_of_address(Ipv4 address) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(2152);
    name.sin_addr.s_addr = htonl(address.host());
    return name;
  }

  void begin_probe() {
    up_seen_ = 0;
    down_seen_ = 0;
    if (std::exchange(probing_, true)) return;
    probe_rules_ = usual_session(*this);
    pdr(probe_rules_, kUplinkPdr).f_teid->teid = {kProbeTeid};
    for (rules::Pdr& p : probe_rules_.pdrs) p.ue_addresses[0].ipv4 = kProbeUe;
    far(probe_rules_, kDownlinkFar).forwarding->outer_header->teid = {kProbeTeid};
    ASSERT_TRUE(plane().apply({.seid = kProbeSeid, .after = &probe_rules_}));
  }
  /// A datagram between local sockets stands in the backlog of the CPU on which it was sent. Where
  /// ksoftirqd has to wait for its turn, one that was sent later on another CPU overtakes it; one
  /// on the same CPU doesn't.
  void pass_backlogs() {
    cpu_set_t all;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
    markers_seen_ = 0;
    std::size_t sent = 0;
    const Octets marker = gtpu(kMarkerTeid, {}, {});
    const sockaddr_in self = name_of_address(peer(0));
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (::sched_setaffinity(0, sizeof one, &one) != 0) continue;
      if (::sendto(peers_.at(0), marker.data(), marker.size(), 0,
                   reinterpret_cast<const sockaddr*>(&self), sizeof self) > 0) {
        ++sent;
      }
    }
    (void)::sched_setaffinity(0, sizeof all, &all);
    if (!collect_until([&] { return markers_seen_ == sent; })) ADD_FAILURE() << "marker lost";
  }
  void probe() {
    begin_probe();
    // Uplink first: it may end in a tunnel, behind which the downlink probes then stand. Several
    // flows, since a plane may have several queues.
    for (std::uint16_t i = 0; i < kProbes; ++i) probe_up(i);
    if (!collect_until([&] { return up_seen_ == kProbes; })) ADD_FAILURE() << "uplink probe lost";
    for (std::uint16_t i = 0; i < kProbes; ++i) probe_down(i);
    if (!collect_until([&] { return down_seen_ == kProbes; })) {
      ADD_FAILURE() << "downlink probe lost";
    }
  }
  void probe_up(std::uint16_t flow) {
    const Packet packet{.source = kProbeUe, .destination = kProbeHost, .source_port = flow};
    from_peer(static_cast<std::uint8_t>(flow % 3), gtpu(kProbeTeid, build(packet), {.qfi = 1}));
  }
  void probe_down(std::uint16_t flow) {
    from_n6(build({.source = kProbeHost, .destination = kProbeUe, .source_port = flow}));
  }

  bool collect_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{15};
    while (!done()) {
      std::vector<pollfd> fds{{.fd = network_.fd(), .events = POLLIN, .revents = 0}};
      for (const auto& [number, fd] : peers_)
        fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      (void)::poll(fds.data(), fds.size(), 100);
      collect();
      if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
  }
  void collect() {
    while (auto packet = network_.receive()) on_n6(unhop(*packet));
    for (const auto& [number, fd] : peers_) {
      Octets datagram(65536);
      for (;;) {
        const ssize_t got = ::recv(fd, datagram.data(), datagram.size(), 0);
        if (got < 0) break;
        on_datagram(number, Octets(datagram.begin(), datagram.begin() + got));
      }
    }
  }
  void on_n6(const Octets& packet) {
    // What the kernel itself says on an interface (neighbour and router discovery) is not ours.
    if (packet[0] >> 4U == 6 && packet[6] != 17 && packet[6] != 6) return;
    if (packet[0] >> 4U == 4 && get32(packet, 12) == kProbeUe.host()) {
      ++up_seen_;
      return;
    }
    outputs_.push_back({.to_n6 = true, .octets = packet});
  }
  void on_datagram(std::uint8_t number, const Octets& datagram) {
    if (get32(datagram, 4) == kProbeTeid) {
      ++down_seen_;
      return;
    }
    if (get32(datagram, 4) == kMarkerTeid) {
      ++markers_seen_;
      return;
    }
    outputs_.push_back({.peer = peer(number), .octets = datagram});
  }

  DataNetwork network_{};
  std::map<std::uint8_t, int> peers_{};
  std::vector<Output> outputs_{};
  rules::SessionRules probe_rules_{};
  bool probing_{};
  std::size_t up_seen_{};
  std::size_t down_seen_{};
  std::size_t markers_seen_{};
};

}  // namespace upf::contract

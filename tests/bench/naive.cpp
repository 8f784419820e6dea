// The reference that the user-space plane is measured against: the loop that open UPFs run. One
// thread, one packet a system call, at most 32 packets of one side before the other has its turn,
// no offloads, no rules: a TEID and a UE address are all that it looks at.
//
//   naive ADDRESS TUN UE:UPLINK_TEID:DOWNLINK_TEID:GNB...

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/lab/gtpu.hpp"
#include "tests/lab/socket.hpp"

namespace upf::bench {
namespace {

constexpr int kTurn = 32;

struct Downlink {
  std::uint32_t teid{};
  sockaddr_in gnb{};
};

struct Sessions {
  std::unordered_map<std::uint32_t, std::uint32_t> ue_by_teid{};
  std::unordered_map<std::uint32_t, Downlink> by_ue{};
};

Sessions read_sessions(int count, char** words) {
  Sessions sessions;
  for (int i = 0; i < count; ++i) {
    std::istringstream in{words[i]};
    std::array<std::string, 4> part;
    for (std::string& one : part) std::getline(in, one, ':');
    const std::uint32_t ue = parse_ipv4(part[0]).value_or(Ipv4{}).host();
    const auto teid = static_cast<std::uint32_t>(std::stoul(part[1]));
    sessions.ue_by_teid[teid] = ue;
    sessions.by_ue[ue] = {
        static_cast<std::uint32_t>(std::stoul(part[2])),
        lab::socket_address(parse_ipv4(part[3]).value_or(Ipv4{}), lab::kGtpuPort)};
  }
  return sessions;
}

int open_plain_tun(const char* name) {
  const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (fd < 0 || ::ioctl(fd, TUNSETIFF, &request) != 0) return -1;
  const lab::Socket control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  request.ifr_mtu = 1400;
  (void)::ioctl(control.fd(), SIOCSIFMTU, &request);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  (void)::ioctl(control.fd(), SIOCSIFFLAGS, &request);
  return fd;
}

std::uint32_t be32(const std::uint8_t* at) { return wire::Reader{{at, 4}}.be<std::uint32_t>(); }

void uplink(int udp, int tun, const Sessions& sessions) {
  std::array<std::uint8_t, 2048> buffer{};
  for (int turn = 0; turn < kTurn; ++turn) {
    const ssize_t length = ::recv(udp, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length <= 0) return;
    const auto packet = lab::parse_gtpu({buffer.data(), static_cast<std::size_t>(length)});
    if (!packet || packet->type != lab::kGPdu || packet->payload.size() < 20) continue;
    const auto ue = sessions.ue_by_teid.find(packet->teid);
    if (ue == sessions.ue_by_teid.end() || be32(&packet->payload[12]) != ue->second) continue;
    (void)!::write(tun, packet->payload.data(), packet->payload.size());
  }
}

void downlink(int udp, int tun, const Sessions& sessions) {
  std::array<std::uint8_t, 2048> buffer{};
  for (int turn = 0; turn < kTurn; ++turn) {
    const ssize_t length =
        ::read(tun, buffer.data() + lab::kUplinkHeader, buffer.size() - lab::kUplinkHeader);
    if (length < 20) return;
    const auto session = sessions.by_ue.find(be32(&buffer[lab::kUplinkHeader + 16]));
    if (session == sessions.by_ue.end()) continue;
    const auto inner = static_cast<std::size_t>(length);
    lab::write_uplink_header(
        std::span<std::uint8_t, lab::kUplinkHeader>{buffer.data(), lab::kUplinkHeader},
        session->second.teid, 9, inner);
    buffer[13] = 0;  // a downlink PDU Session Container
    (void)::sendto(udp, buffer.data(), inner + lab::kUplinkHeader, 0,
                   reinterpret_cast<const sockaddr*>(&session->second.gnb),
                   sizeof session->second.gnb);
  }
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: naive ADDRESS TUN UE:UPLINK_TEID:DOWNLINK_TEID:GNB...\n", stderr);
    return 2;
  }
  const auto udp = lab::bind_udp(parse_ipv4(argv[1]).value_or(Ipv4{}), lab::kGtpuPort);
  const int tun = open_plain_tun(argv[2]);
  if (!udp || tun < 0) {
    std::fprintf(stderr, "naive: %s\n", udp ? lab::errno_text("TUN").c_str() : udp.error().c_str());
    return 1;
  }
  const Sessions sessions = read_sessions(argc - 3, argv + 3);
  std::puts("ready");
  std::fflush(stdout);
  std::array<pollfd, 2> waiting{{{udp->fd(), POLLIN, 0}, {tun, POLLIN, 0}}};
  while (::poll(waiting.data(), waiting.size(), -1) >= 0) {
    if ((waiting[0].revents & POLLIN) != 0) uplink(udp->fd(), tun, sessions);
    if ((waiting[1].revents & POLLIN) != 0) downlink(udp->fd(), tun, sessions);
  }
  return 0;
}

}  // namespace
}  // namespace upf::bench

int main(int argc, char** argv) { return upf::bench::run(argc, argv); }

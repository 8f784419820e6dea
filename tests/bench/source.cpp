#include "source.hpp"

#include <linux/bpf.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>
#include <thread>

#include "tests/lab/gtpu.hpp"
#include "tests/lab/offload.hpp"
#include "tests/lab/socket.hpp"

namespace upf::bench {
namespace {

constexpr std::size_t kEthernet = 14, kOuter = 44, kMostFlows = 8, kHead = 88;
constexpr std::uint16_t kSinkPort = 9;
constexpr std::uint8_t kQfi = 9;

/// The program's variables, as bpf/source.c has them.
using Flow = std::array<std::uint8_t, kHead>;
struct Control {
  std::uint64_t next_ns{}, gap_ns{}, sent{};
  std::uint32_t burst{}, left{}, turn{}, spare{}, flows{}, flow{}, ifindex{};
  std::uint32_t span{1}, teid{}, source{}, ip_sum{}, pseudo_sum{}, udp_sum{}, outer_sum{};

  std::array<Flow, kMostFlows> at{};
};

struct Load {
  std::optional<std::uint32_t> program{};  ///< none: from sockets
  std::string link{}, peer_mac{};
  std::optional<Ipv4> gnb{};  ///< none: packets are not tunnelled
  Ipv4 upf{};
  std::size_t size{};  ///< octets of the (inner) IP packet
  std::uint32_t burst{};
  double packets_per_second{}, seconds{};
  Ipv4 to{};
  std::vector<std::pair<Ipv4, std::uint32_t>> from{};  ///< with the TEID
  std::uint32_t span{1};  ///< flows that the only one of `from` stands for
};

[[nodiscard]] long bpf(bpf_cmd command, bpf_attr& attributes) {
  return ::syscall(SYS_bpf, command, &attributes, sizeof attributes);
}

[[noreturn]] void give_up(const char* what) {
  std::perror((std::string{"traffic: "} + what).c_str());
  std::exit(1);
}

int program_fd(std::uint32_t id) {
  bpf_attr attributes{};
  attributes.prog_id = id;
  return static_cast<int>(bpf(BPF_PROG_GET_FD_BY_ID, attributes));
}

/// The map that holds the program's variables.
int variables_of(int program) {
  std::array<std::uint32_t, 4> maps{};
  bpf_prog_info info{};
  info.map_ids = reinterpret_cast<std::uint64_t>(maps.data());
  info.nr_map_ids = maps.size();
  bpf_attr attributes{};
  attributes.info.bpf_fd = static_cast<std::uint32_t>(program);
  attributes.info.info_len = sizeof info;
  attributes.info.info = reinterpret_cast<std::uint64_t>(&info);
  if (bpf(BPF_OBJ_GET_INFO_BY_FD, attributes) != 0) return -1;
  attributes = {};
  attributes.map_id = maps[0];
  return static_cast<int>(bpf(BPF_MAP_GET_FD_BY_ID, attributes));
}

void access(bpf_cmd command, int map, Control& control) {
  const std::uint32_t key = 0;
  bpf_attr attributes{};
  attributes.map_fd = static_cast<std::uint32_t>(map);
  attributes.key = reinterpret_cast<std::uint64_t>(&key);
  attributes.value = reinterpret_cast<std::uint64_t>(&control);
  if (bpf(command, attributes) != 0) give_up("the program's variables");
}

void put16(std::uint8_t* at, std::size_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}

/// An IPv4 and a UDP header, all but the UDP checksum, which needs the payload.
void write_headers(std::uint8_t* ip, Ipv4 from, Ipv4 to, std::size_t size, std::uint16_t from_port,
                   std::uint16_t to_port) {
  ip[0] = 0x45;
  put16(ip + 2, size);
  ip[6] = 0x40;  // DF: equal IDs don't keep GRO from merging
  ip[8] = 64;
  ip[9] = IPPROTO_UDP;
  std::ranges::copy(from.octets, ip + 12);
  std::ranges::copy(to.octets, ip + 16);
  put16(ip + 10, static_cast<std::uint16_t>(~lab::fold(lab::sum_octets({ip, 20}))));
  put16(ip + 20, from_port);
  put16(ip + 22, to_port);
  put16(ip + 24, size - 20);
}

void write_udp_checksum(std::uint8_t* ip, std::size_t size) {
  const auto pseudo = lab::sum_octets({ip + 12, 8}, IPPROTO_UDP + size - 20);
  const auto check =
      static_cast<std::uint16_t>(~lab::fold(lab::sum_octets({ip + 20, size - 20}, pseudo)));
  put16(ip + 26, check == 0 ? 0xffff : check);
}

std::vector<std::uint8_t> frame_of(const Load& load, std::size_t number) {
  const auto& [from, teid] = load.from[number];
  const std::size_t outer = load.gnb ? kOuter : 0;
  std::vector<std::uint8_t> frame(kEthernet + outer + load.size);
  std::istringstream mac{load.peer_mac};
  std::string octet;
  for (std::size_t i = 0; i < 6 && std::getline(mac, octet, ':'); ++i) {
    frame[i] = static_cast<std::uint8_t>(std::stoul(octet, nullptr, 16));
  }
  frame[6] = 2;   // from a locally administered address
  frame[12] = 8;  // IPv4
  std::uint8_t* inner = frame.data() + kEthernet + outer;
  const auto port = static_cast<std::uint16_t>(5000 + number);  // a flow each, of one UE too
  write_headers(inner, from, load.to, load.size, port, kSinkPort);
  write_udp_checksum(inner, load.size);
  if (load.gnb) {
    std::uint8_t* ip = frame.data() + kEthernet;
    write_headers(ip, *load.gnb, load.upf, kOuter + load.size, lab::kGtpuPort, lab::kGtpuPort);
    lab::write_uplink_header(std::span<std::uint8_t, lab::kUplinkHeader>{ip + 28, 16}, teid, kQfi,
                             load.size);
    write_udp_checksum(ip, kOuter + load.size);
  }
  return frame;
}

std::uint32_t sum16(const std::uint8_t* at, std::size_t octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < octets; i += 2) sum += at[i] * 256U + at[i + 1];
  return (sum & 0xffffU) + (sum >> 16U);
}

/// What the program needs to make the other flows of a span out of the first, a tunnelled one.
void set_span(Control& control, const Load& load) {
  std::vector<std::uint8_t> frame = frame_of(load, 0);
  control.span = load.span;
  control.teid = load.from[0].second;
  control.source = load.from[0].first.host();
  for (const std::size_t at : {40U, 46U, 48U, 68U, 70U, 72U, 84U}) frame[at] = frame[at + 1] = 0;
  const std::uint8_t* outer = frame.data() + kEthernet;
  const std::uint8_t* inner = outer + kOuter;
  const auto pseudo = [](const std::uint8_t* ip, std::size_t size) {
    return sum16(ip + 12, 8) + IPPROTO_UDP + static_cast<std::uint32_t>(size - 20);
  };
  control.ip_sum = sum16(inner, 20);
  control.pseudo_sum = pseudo(inner, load.size);
  control.udp_sum = control.pseudo_sum + sum16(inner + 20, load.size - 20);
  // The inner IP header adds up to 0xffff.
  control.outer_sum = pseudo(outer, kOuter + load.size) + sum16(outer + 20, 24) + 0xffff;
}

Control control_of(const Load& load) {
  Control control;
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  control.next_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                    static_cast<std::uint64_t>(now.tv_nsec);
  control.gap_ns = static_cast<std::uint64_t>(1e9 * load.burst / load.packets_per_second);
  control.burst = load.burst;
  control.flows = static_cast<std::uint32_t>(std::min(load.from.size(), kMostFlows));
  control.ifindex = ::if_nametoindex(load.link.c_str());
  for (std::size_t i = 0; i < control.flows; ++i) {
    const auto frame = frame_of(load, i);
    std::copy_n(frame.begin(), kHead, control.at[i].begin());
  }
  if (load.span > 1) set_span(control, load);
  return control;
}

/// Until the time is over: a signal ends it.
void run(int program, const Load& load) {
  struct sigaction quiet {};
  quiet.sa_handler = [](int) {};
  (void)::sigaction(SIGALRM, &quiet, nullptr);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(load.seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((load.seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  (void)::setitimer(ITIMER_REAL, &timer, nullptr);
  std::vector<std::uint8_t> frame = frame_of(load, 0);
  bpf_attr attributes{};
  attributes.test.prog_fd = static_cast<std::uint32_t>(program);
  attributes.test.data_in = reinterpret_cast<std::uint64_t>(frame.data());
  attributes.test.data_size_in = static_cast<std::uint32_t>(frame.size());
  attributes.test.repeat = 0xffffffffU;
  attributes.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
  attributes.test.batch_size = load.burst;
  if (bpf(BPF_PROG_TEST_RUN, attributes) != 0 && errno != EINTR) give_up("BPF_PROG_TEST_RUN");
}

Ipv4 address(const std::string& text) {
  const auto parsed = parse_ipv4(text);
  if (parsed) return *parsed;
  std::fprintf(stderr, "traffic: '%s' is not an IPv4 address\n", text.c_str());
  std::exit(2);
}

Load load_of(const std::vector<std::string>& words) {
  Load load{.link = words[1],
            .peer_mac = words[2],
            .upf = address(words[4]),
            .size = std::max(std::stoul(words[5]), kHead),
            .burst = static_cast<std::uint32_t>(std::stoul(words[6])),
            .packets_per_second = std::stod(words[7]),
            .seconds = std::stod(words[8]),
            .to = address(words[9])};
  if (words[0] != "-") load.program = static_cast<std::uint32_t>(std::stoul(words[0]));
  if (words[3] != "-") load.gnb = address(words[3]);
  for (std::size_t i = 10; i < words.size(); ++i) {
    const auto colon = words[i].find(':');
    const auto plus = words[i].find('+');
    if (plus != std::string::npos) {
      load.span = static_cast<std::uint32_t>(std::stoul(words[i].substr(plus + 1)));
    }
    load.from.emplace_back(
        address(words[i].substr(0, colon)),
        colon == std::string::npos
            ? 0
            : static_cast<std::uint32_t>(std::stoul(words[i].substr(colon + 1))));
  }
  return load;
}

/// One flow's bursts: a socket, and a burst that one call sends.
struct Bursts {
  lab::Socket socket{};
  sockaddr_in to{};
  std::vector<std::uint8_t> octets{};
};

Bursts bursts_of(const Load& load, std::size_t number) {
  auto socket = lab::bind_udp(load.gnb.value_or(load.from[number].first), 0);
  if (!socket) give_up(socket.error().c_str());
  // What a UDP socket sends is all but its own headers.
  const std::vector<std::uint8_t> frame = frame_of(load, number);
  const auto datagram = std::span{frame}.subspan(kEthernet + 28);
  const int segment = static_cast<int>(datagram.size());
  (void)::setsockopt(socket->fd(), SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
  Bursts bursts{.socket = std::move(*socket),
                .to = load.gnb ? lab::socket_address(load.upf, lab::kGtpuPort)
                               : lab::socket_address(load.to, kSinkPort)};
  for (std::uint32_t i = 0; i < load.burst; ++i) {
    bursts.octets.insert(bursts.octets.end(), datagram.begin(), datagram.end());
  }
  return bursts;
}

std::uint64_t send_bursts(const Load& load) {
  using Clock = std::chrono::steady_clock;
  std::vector<Bursts> flows;
  for (std::size_t i = 0; i < load.from.size(); ++i) flows.push_back(bursts_of(load, i));
  (void)::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const auto started = Clock::now();
  std::uint64_t sent = 0;
  for (std::size_t turn = 0;; ++turn) {
    const std::chrono::duration<double> elapsed = Clock::now() - started;
    if (elapsed.count() >= load.seconds) return sent;
    if (static_cast<double>(sent) > elapsed.count() * load.packets_per_second) {
      // Sleeping: on two CPUs a source that spins looks like a UPF that loses packets.
      std::this_thread::sleep_for(std::chrono::microseconds{20});
      continue;
    }
    const Bursts& flow = flows[turn % flows.size()];
    if (::sendto(flow.socket.fd(), flow.octets.data(), flow.octets.size(), 0,
                 reinterpret_cast<const sockaddr*>(&flow.to), sizeof flow.to) > 0) {
      sent += load.burst;
    }
  }
}

void print_offered(std::uint64_t packets) {
  std::printf("{\"offered\": %llu}\n", static_cast<unsigned long long>(packets));
}

}  // namespace

int offer(const std::vector<std::string>& words) {
  const Load load = load_of(words);
  if (!load.program) {
    print_offered(send_bursts(load));
    return 0;
  }
  const int program = program_fd(*load.program);
  const int variables = program < 0 ? -1 : variables_of(program);
  if (variables < 0) give_up("the source's program");
  Control control = control_of(load);
  access(BPF_MAP_UPDATE_ELEM, variables, control);
  run(program, load);
  access(BPF_MAP_LOOKUP_ELEM, variables, control);
  print_offered(control.sent);
  return 0;
}

}  // namespace upf::bench

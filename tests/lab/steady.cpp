// steady: numbered packets at a steady rate through one PDU session, both ways, until standard
// input ends; then one line of JSON that says what came of each of them.
//
//   steady ran=NETNS dn=NETNS upf=ADDRESS gnbs=ADDRESS[,ADDRESS] host=ADDRESS ue=ADDRESS
//   teid=NUMBER
//          [pps=1000] [octets=64]
//
// The host sends from port 7000 to the UE's port 5000; the UE's packets leave through the first
// gNB. Lost and doubled packets are told by number and time, and so is where each downlink packet
// came out: gNB, TEID and QFI. Octets are UDP payload.
//
// What this program itself lost is told apart: packets that a socket didn't take are not sent ones,
// `overflowed` counts those that a socket of its own had no room for, and `longest_pause_ms` is how
// long its sender once didn't run.

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/lab/dialect.hpp"
#include "tests/lab/gtpu.hpp"
#include "tests/lab/socket.hpp"

namespace upf::lab {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::uint16_t kUePort = 5000, kHostPort = 7000;
constexpr std::size_t kInnerHeaders = 28, kNumber = 8;
constexpr auto kSlice = std::chrono::milliseconds{100};
constexpr auto kQuiet = std::chrono::milliseconds{500};  ///< nothing under way any more
constexpr std::size_t kListed = 10;

struct Settings {
  std::string ran{}, dn{};
  Ipv4 upf{}, host{}, ue{};
  std::vector<Ipv4> gnbs{};
  std::uint32_t teid{};
  std::uint64_t pps{1000};
  std::size_t octets{64};
};

/// What came of the packets of one direction.
class Tally {
 public:
  /// `taken`: by the socket that it was to leave through.
  void sent(bool taken, Clock::time_point since) {
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since);
    sent_at_.push_back(taken ? static_cast<std::int64_t>(at.count()) : kNotSent);
    not_sent_ += taken ? 0U : 1U;
  }
  void received(std::uint64_t number, std::size_t octets, Clock::time_point since) {
    if (seen_.size() <= number) seen_.resize(number + 1);
    if (seen_[number] < 255) ++seen_[number];
    if (number < newest_) ++overtaken_;
    newest_ = std::max(newest_, number);
    const auto slice = static_cast<std::size_t>((Clock::now() - since) / kSlice);
    if (slices_.size() <= slice) slices_.resize(slice + 1);
    slices_[slice] += octets;
  }
  [[nodiscard]] Json to_json() const {
    Json lost = Json::array(), lost_at = Json::array(), doubled = Json::array();
    std::uint64_t lost_count = 0, doubled_count = 0;
    for (std::uint64_t number = 0; number < sent_at_.size(); ++number) {
      const unsigned times = number < seen_.size() ? seen_[number] : 0;
      if (times == 0 && sent_at_[number] != kNotSent && ++lost_count <= kListed) {
        lost.push_back(number);
        lost_at.push_back(sent_at_[number]);
      }
      if (times > 1 && ++doubled_count <= kListed) doubled.push_back(number);
    }
    return {{"sent", sent_at_.size() - not_sent_},
            {"not_sent", not_sent_},
            {"lost", lost_count},
            {"doubled", doubled_count},
            {"overtaken", overtaken_},
            {"first_lost", lost},
            {"first_lost_ms", lost_at},
            {"first_doubled", doubled},
            {"octets_by_100ms", slices_}};
  }

 private:
  static constexpr std::int64_t kNotSent = -1;

  std::vector<std::int64_t> sent_at_{};  ///< the sender's: ms since it began
  std::uint64_t not_sent_{};
  std::vector<std::uint8_t> seen_{};  ///< the receiver's, as all below
  std::uint64_t newest_{};
  std::uint64_t overtaken_{};
  std::vector<std::uint64_t> slices_{};
};

[[nodiscard]] Result<void, std::string> enter(const std::string& netns) {
  const Socket there{::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC)};
  if (there.fd() < 0 || ::setns(there.fd(), CLONE_NEWNET) != 0) {
    return failure(errno_text("network namespace " + netns));
  }
  return {};
}

void put16(std::uint8_t* at, unsigned value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}

/// Datagrams that the socket had no room for.
std::uint64_t overflowed(const Socket& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t size = sizeof info;
  const int asked = ::getsockopt(socket.fd(), SOL_SOCKET, SO_MEMINFO, info.data(), &size);
  return asked == 0 ? info[SK_MEMINFO_DROPS] : 0;
}

class Steady {
 public:
  explicit Steady(Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] Result<void, std::string> open() {
    if (auto ok = enter(settings_.ran); !ok) return ok;
    for (const Ipv4 address : settings_.gnbs) {
      auto socket = bind_udp(address, kGtpuPort);
      if (!socket) return failure(socket.error());
      gnbs_.push_back(std::move(*socket));
    }
    if (auto ok = enter(settings_.dn); !ok) return ok;
    auto socket = bind_udp(settings_.host, kHostPort);
    if (!socket) return failure(socket.error());
    host_ = std::move(*socket);
    make_uplink_packet();
    return {};
  }

  Json run() {
    std::thread receiver{[this] { receive(); }};
    std::thread sender{[this] { send(); }};
    char ignored[64];
    while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
    }
    sending_ = false;
    sender.join();
    receiver.join();
    Json places = Json::array();
    for (const auto& [place, count] : places_) {
      const auto& [gnb, teid, qfi] = place;
      places.push_back({{"gnb", to_string(settings_.gnbs[gnb])},
                        {"teid", teid},
                        {"qfi", qfi},
                        {"packets", count}});
    }
    std::uint64_t dropped = overflowed(host_);
    for (const Socket& gnb : gnbs_) dropped += overflowed(gnb);
    return {{"seconds", seconds_},         {"up", up_.to_json()},
            {"down", down_.to_json()},     {"places", places},
            {"end_markers", end_markers_}, {"strange", strange_},
            {"overflowed", dropped},       {"longest_pause_ms", longest_pause_.count()}};
  }

 private:
  using Place = std::tuple<std::size_t, std::uint32_t, int>;

  void make_uplink_packet() {
    const std::size_t inner = kInnerHeaders + settings_.octets;
    uplink_.assign(kUplinkHeader + inner, 'u');
    write_uplink_header(std::span{uplink_}.first<kUplinkHeader>(), settings_.teid, 9, inner);
    std::uint8_t* ip = uplink_.data() + kUplinkHeader;
    std::memset(ip, 0, kInnerHeaders);
    ip[0] = 0x45;
    put16(ip + 2, static_cast<unsigned>(inner));
    ip[8] = 64;
    ip[9] = IPPROTO_UDP;
    std::ranges::copy(settings_.ue.octets, ip + 12);
    std::ranges::copy(settings_.host.octets, ip + 16);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) sum += ip[i] * 256U + ip[i + 1];
    while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
    put16(ip + 10, ~sum & 0xffffU);
    put16(ip + 20, kUePort);
    put16(ip + 22, kHostPort);
    put16(ip + 24, static_cast<unsigned>(8 + settings_.octets));  // checksum 0: none
  }

  static void write_number(std::uint8_t* at, std::uint64_t number) {
    std::memcpy(at, &number, kNumber);
  }

  void send() {
    const sockaddr_in upf = socket_address(settings_.upf, kGtpuPort);
    const sockaddr_in ue = socket_address(settings_.ue, kUePort);
    std::vector<std::uint8_t> downlink(settings_.octets, 'd');
    std::uint64_t number = 0;
    const auto started = Clock::now();
    auto awake = started;
    while (sending_) {
      const auto pause =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - awake);
      longest_pause_ = std::max(longest_pause_, pause);
      awake = Clock::now();
      const auto due =
          static_cast<std::uint64_t>(std::chrono::duration<double>(Clock::now() - started).count() *
                                     static_cast<double>(settings_.pps));
      // Behind time it catches up at four times the rate, not in a burst that links would drop.
      const std::uint64_t most = number + std::max<std::uint64_t>(settings_.pps * 4 / 1000, 1);
      for (; number < std::min(due, most) && sending_; ++number) {
        write_number(uplink_.data() + kUplinkHeader + kInnerHeaders, number);
        write_number(downlink.data(), number);
        up_.sent(::sendto(gnbs_[0].fd(), uplink_.data(), uplink_.size(), 0,
                          reinterpret_cast<const sockaddr*>(&upf), sizeof upf) >= 0,
                 started);
        down_.sent(::sendto(host_.fd(), downlink.data(), downlink.size(), 0,
                            reinterpret_cast<const sockaddr*>(&ue), sizeof ue) >= 0,
                   started);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - started).count();
  }

  void receive() {
    std::vector<pollfd> waiting{{host_.fd(), POLLIN, 0}};
    for (const Socket& gnb : gnbs_) waiting.push_back({gnb.fd(), POLLIN, 0});
    auto last = Clock::now();
    while (sending_ || Clock::now() - last < kQuiet) {
      if (::poll(waiting.data(), waiting.size(), 50) <= 0) continue;
      last = Clock::now();
      if (waiting[0].revents != 0) receive_at_host();
      for (std::size_t i = 0; i < gnbs_.size(); ++i) {
        if (waiting[i + 1].revents != 0) receive_at_gnb(i);
      }
    }
  }

  void receive_at_host() {
    for (;;) {
      const ssize_t size = ::recv(host_.fd(), buffer_, sizeof buffer_, MSG_DONTWAIT);
      if (size < 0) return;
      count(up_, {buffer_, static_cast<std::size_t>(size)});
    }
  }

  void receive_at_gnb(std::size_t index) {
    for (;;) {
      sockaddr_in from{};
      socklen_t length = sizeof from;
      const ssize_t size = ::recvfrom(gnbs_[index].fd(), buffer_, sizeof buffer_, MSG_DONTWAIT,
                                      reinterpret_cast<sockaddr*>(&from), &length);
      if (size < 0) return;
      on_datagram(index, {buffer_, static_cast<std::size_t>(size)}, from);
    }
  }

  void on_datagram(std::size_t index, wire::Bytes datagram, const sockaddr_in& from) {
    const auto packet = parse_gtpu(datagram);
    if (packet && packet->type == kEndMarker) {
      ++end_markers_;
    } else if (packet && packet->type == kEchoRequest) {
      answer_echo(index, packet->sequence.value_or(0), from);
    } else if (packet && packet->type == kGPdu && packet->payload.size() >= kInnerHeaders) {
      ++places_[{index, packet->teid, packet->qfi ? static_cast<int>(*packet->qfi) : -1}];
      count(down_, packet->payload.subspan(kInnerHeaders));
    } else {
      ++strange_;
    }
  }

  void answer_echo(std::size_t index, std::uint16_t sequence, const sockaddr_in& from) {
    std::uint8_t answer[] = {0x32, kEchoResponse, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 14, 0};
    put16(answer + 8, sequence);
    (void)::sendto(gnbs_[index].fd(), answer, sizeof answer, 0,
                   reinterpret_cast<const sockaddr*>(&from), sizeof from);
  }

  void count(Tally& tally, wire::Bytes payload) {
    if (payload.size() != settings_.octets) {
      ++strange_;
      return;
    }
    std::uint64_t number = 0;
    std::memcpy(&number, payload.data(), kNumber);
    tally.received(number, payload.size(), started_);
  }

  Settings settings_;
  std::vector<Socket> gnbs_{};
  Socket host_{};
  std::vector<std::uint8_t> uplink_{};
  std::atomic<bool> sending_{true};
  Clock::time_point started_{Clock::now()};
  double seconds_{};
  std::chrono::milliseconds longest_pause_{};
  Tally up_{}, down_{};
  std::map<Place, std::uint64_t> places_{};
  std::uint64_t end_markers_{}, strange_{};
  std::uint8_t buffer_[65536]{};
};

std::vector<Ipv4> addresses(const std::string& list) {
  std::vector<Ipv4> found;
  for (std::size_t at = 0; at < list.size();) {
    const auto comma = std::min(list.find(',', at), list.size());
    if (const auto one = parse_ipv4(list.substr(at, comma - at))) found.push_back(*one);
    at = comma + 1;
  }
  return found;
}

std::optional<Settings> settings_of(int argc, char** argv) {
  std::map<std::string, std::string> in;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    in[word.substr(0, equals)] = word.substr(equals + 1);
  }
  const auto upf = parse_ipv4(in["upf"]), host = parse_ipv4(in["host"]), ue = parse_ipv4(in["ue"]);
  Settings settings{.ran = in["ran"], .dn = in["dn"], .gnbs = addresses(in["gnbs"])};
  if (!upf || !host || !ue || settings.gnbs.empty() || in["teid"].empty()) return std::nullopt;
  settings.upf = *upf;
  settings.host = *host;
  settings.ue = *ue;
  settings.teid = static_cast<std::uint32_t>(std::stoul(in["teid"]));
  if (in.contains("pps")) settings.pps = std::stoull(in["pps"]);
  if (in.contains("octets")) settings.octets = std::max<std::size_t>(std::stoul(in["octets"]), 8);
  return settings;
}

int run(int argc, char** argv) {
  const auto settings = settings_of(argc, argv);
  if (!settings) {
    std::fputs("usage: steady ran=NETNS dn=NETNS upf= gnbs= host= ue= teid= [pps=] [octets=]\n",
               stderr);
    return 2;
  }
  Steady steady{*settings};
  if (auto opened = steady.open(); !opened) {
    std::fprintf(stderr, "steady: %s\n", opened.error().c_str());
    return 1;
  }
  std::puts(steady.run().dump().c_str());
  return 0;
}

}  // namespace
}  // namespace upf::lab

int main(int argc, char** argv) { return upf::lab::run(argc, argv); }

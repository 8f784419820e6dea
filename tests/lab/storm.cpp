// storm: random and mutated PFCP datagrams at a UPF, which has to keep answering. Every so often a
// heartbeat from a peer of its own must be answered, tried ten times two seconds. The seed makes a
// run repeatable.
//
//   storm UPF SMF COUNT [SEED] [PID]
//
// Mutants come from both SMFs' messages, from three addresses that follow SMF, two of which
// associate, with SEIDs of real sessions among them. With PID, the resident memory of the UPF is
// printed along the way, and growth beyond a quarter after the first tenth fails the run.

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <string>

#include "tests/lab/dialect.hpp"
#include "tests/lab/resident.hpp"
#include "tests/lab/socket.hpp"

namespace upf::lab {
namespace {

constexpr std::uint16_t kPort = 8805;
constexpr std::uint64_t kCheckEvery =
    500;                         ///< also the pace: no more than fit into a socket's buffer
constexpr int kHeartbeats = 10;  ///< tries; what waits before them is answered first

struct Peer {
  Identity identity{};
  Socket socket{};
};

class Storm {
 public:
  Storm(Ipv4 upf, std::uint32_t seed) : to_(socket_address(upf, kPort)), random_(seed) {}

  [[nodiscard]] Result<void, std::string> open(Ipv4 first) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      Peer peer{{.address = Ipv4::from_host(first.host() + i), .recovery_time_stamp = 0xe8000000},
                {}};
      auto socket = bind_udp(peer.identity.address, kPort);
      if (!socket) return failure(socket.error());
      peer.socket = std::move(*socket);
      peers_.push_back(std::move(peer));
    }
    // The last one only asks for signs of life; of the others one stays a stranger.
    for (const std::size_t i : {0U, 1U}) {
      if (!ask(peers_[i], association_setup(peers_[i].identity, 1))) {
        return failure(std::string{"the UPF does not answer an Association Setup"});
      }
      remember_session(peers_[i], i == 0 ? *free5gc_ : *open5gs_);
    }
    return {};
  }

  void send_one() {
    const Peer& peer = peers_[pick(3)];
    const wire::Octets octets = pick(10) == 0 ? noise() : mutate(message());
    (void)::sendto(peer.socket.fd(), octets.data(), octets.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
  }

  /// Whether a heartbeat is answered; what piled up at the others is thrown away.
  [[nodiscard]] bool alive() {
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint8_t sink[16];
      while (::recv(peers_[i].socket.fd(), sink, sizeof sink, MSG_DONTWAIT) > 0) ++answers_;
    }
    for (int attempt = 0; attempt < kHeartbeats; ++attempt) {
      if (answers_heartbeat()) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint64_t answers() const { return answers_; }

 private:
  [[nodiscard]] bool answers_heartbeat() {
    return ask(peers_[3],
               heartbeat(peers_[3].identity, static_cast<std::uint32_t>(random_() & 0xffffffU)))
        .has_value();
  }

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>{0, below - 1}(random_);
  }
  std::uint8_t octet() { return static_cast<std::uint8_t>(random_()); }

  std::optional<Received> ask(const Peer& peer, const wire::Octets& request) {
    const std::uint32_t sequence = parse(request)->header.sequence;
    (void)::sendto(peer.socket.fd(), request.data(), request.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < until && readable(peer.socket.fd(), 2000)) {
      std::uint8_t buffer[4096];
      const ssize_t length = ::recv(peer.socket.fd(), buffer, sizeof buffer, 0);
      auto answer = parse({buffer, static_cast<std::size_t>(std::max<ssize_t>(length, 0))});
      if (answer && answer->header.sequence == sequence) return answer;
    }
    return std::nullopt;
  }

  void remember_session(const Peer& peer, const Dialect& dialect) {
    const auto answer = ask(peer, dialect.establishment(peer.identity, session(), 2));
    if (!answer) return;
    const auto f_seid = find(answer->body(), ie::kFSeid);
    if (f_seid && f_seid->size() >= 9)
      seids_.push_back(wire::Reader{f_seid->subspan(1)}.be<std::uint64_t>());
  }

  Session session() {
    Session one;
    one.cp_seid = random_();
    one.up_seid = seids_.empty() || pick(3) == 0 ? random_() : seids_[pick(seids_.size())];
    one.ue = Ipv4::from_host(0x0a3c0001U + static_cast<std::uint32_t>(pick(60000)));
    one.first_id = static_cast<std::uint32_t>(pick(1000));
    one.uplink = {static_cast<std::uint32_t>(random_()),
                  Ipv4::from_host(ntohl(to_.sin_addr.s_addr))};
    one.downlink = TunnelEnd{static_cast<std::uint32_t>(random_()), peers_[0].identity.address};
    if (pick(2) == 0)
      one.flows.push_back({.description = "permit out ip from 192.0.2.0/24 80-90 to assigned"});
    one.usage = {.enabled = pick(2) == 0,
                 .period_s = 3600,
                 .threshold_octets = 1U << 20U,
                 .quota_octets = 1U << 30U};
    return one;
  }

  wire::Octets message() {
    const Dialect& dialect = pick(2) == 0 ? *free5gc_ : *open5gs_;
    const Identity& smf = peers_[pick(3)].identity;
    const auto sequence = static_cast<std::uint32_t>(random_() & 0xffffffU);
    switch (pick(12)) {
      case 0:
        return association_setup(smf, sequence);
      case 1:
        return heartbeat(smf, sequence);
      case 2:
        return dialect.deletion(session(), sequence);
      case 3:
        return dialect.activation(smf, session(), sequence);
      case 4:
        return dialect.idle(smf, session(), sequence);
      case 5:
        return dialect.handover(smf, session(), sequence);
      case 6:
        return dialect.indirect(smf, session(), {1, smf.address}, sequence);
      case 7:
        return dialect.query(smf, session(), sequence);
      case 8:
        return dialect.quota(smf, session(), sequence);
      default:
        return dialect.establishment(smf, session(), sequence);
    }
  }

  wire::Octets noise() {
    wire::Octets octets(pick(1500));
    for (std::uint8_t& one : octets) one = octet();
    return octets;
  }

  /// Up to four changes; every third message keeps a header that is right.
  wire::Octets mutate(wire::Octets octets) {
    const std::size_t first = pick(3) == 0 ? 16 : 0;
    for (std::size_t change = pick(5); change > 0 && octets.size() > first + 4; --change) {
      const std::size_t at = first + pick(octets.size() - first);
      switch (pick(5)) {
        case 0:
          octets[at] = octet();
          break;
        case 1:
          octets[at] = static_cast<std::uint8_t>(octets[at] ^ (1U << pick(8)));
          break;
        case 2:
          octets.resize(at);
          break;
        case 3:
          octets.insert(octets.begin() + static_cast<std::ptrdiff_t>(at), pick(64), octet());
          break;
        default:
          octets.erase(octets.begin() + static_cast<std::ptrdiff_t>(at),
                       octets.begin() + static_cast<std::ptrdiff_t>(at + pick(octets.size() - at)));
      }
    }
    if (octets.size() > 4 &&
        pick(4) != 0) {  // mostly a length that fits, or nothing gets past the header
      octets[2] = static_cast<std::uint8_t>((octets.size() - 4) >> 8U);
      octets[3] = static_cast<std::uint8_t>(octets.size() - 4);
    }
    return octets;
  }

  sockaddr_in to_;
  std::mt19937_64 random_;
  std::vector<Peer> peers_{};
  std::vector<std::uint64_t> seids_{};
  std::unique_ptr<Dialect> free5gc_{make_free5gc()};
  std::unique_ptr<Dialect> open5gs_{make_open5gs()};
  std::uint64_t answers_{};
};

int run(int argc, char** argv) {
  const auto upf = argc > 3 ? parse_ipv4(argv[1]) : std::nullopt;
  const auto smf = argc > 3 ? parse_ipv4(argv[2]) : std::nullopt;
  if (!upf || !smf) {
    std::fputs("usage: storm UPF_ADDRESS SMF_ADDRESS COUNT [SEED] [PID]\n", stderr);
    return 2;
  }
  const std::uint64_t count = std::stoull(argv[3]);
  const auto seed = static_cast<std::uint32_t>(argc > 4 ? std::stoul(argv[4]) : 1);
  const std::string pid = argc > 5 ? argv[5] : "";
  Storm storm{*upf, seed};
  if (auto opened = storm.open(*smf); !opened) {
    std::fprintf(stderr, "storm: %s\n", opened.error().c_str());
    return 1;
  }
  long early = 0;
  for (std::uint64_t sent = 1; sent <= count; ++sent) {
    storm.send_one();
    if (sent % kCheckEvery != 0 && sent != count) continue;
    if (!storm.alive()) {
      std::fprintf(stderr, "storm: no answer to a heartbeat after %llu datagrams, seed %u\n",
                   static_cast<unsigned long long>(sent), seed);
      return 1;
    }
    if (early == 0 && sent >= count / 10) early = resident_kib(pid);
  }
  const long late = resident_kib(pid);
  std::printf(
      "{\"sent\": %llu, \"answers\": %llu, \"kib_after_a_tenth\": %ld, \"kib_at_the_end\": %ld}\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(storm.answers()),
      early, late);
  return late > early + early / 4 ? 1 : 0;
}

}  // namespace
}  // namespace upf::lab

int main(int argc, char** argv) { return upf::lab::run(argc, argv); }

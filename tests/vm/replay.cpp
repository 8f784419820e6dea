// replay: the sequences of the stateful fuzzer (tests/fuzz/script.hpp) against the gtp5g plane,
// with packets both ways between the steps.
//
//   replay [--standin] [--seconds N] [--seed N] [CORPUS...]
//
// Without --standin the plane programs the real module, in a network namespace of its own. After
// each step every request got exactly one answer; a request that was refused has changed no rule in
// the kernel; the kernel holds no session that the store doesn't. After each sequence it holds
// nothing. The safety layer never had anything to hold back. Exit code 77: no module, or no
// privileges.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "netlink/gtp5g/plane.hpp"
#include "src/pfcp/defs.hpp"
#include "tests/fuzz/script.hpp"
#include "tests/standin/real_machine.hpp"
#include "tests/vm/kernel_rules.hpp"
#include "upf/control/up_function.hpp"

namespace upf::vm {
namespace {

using control::Output;
using control::UpFunction;
using fuzz::Script;
using pfcp::Cause;
using pfcp::MessageType;

constexpr Ipv4 kUpf{{10, 1, 0, 100}};
constexpr std::uint16_t kGtpuPort = 2152;
constexpr std::size_t kPeers = 2, kUes = 4;

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "replay: broken: %s\n", what.c_str());
  std::fflush(nullptr);
  std::_Exit(1);  // the link stays for whoever looks
}

void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) broken(command);
}

// --- the wires around the plane --------------------------------------------------------------

/// GTP-U peers on loopback addresses, and a TUN device that is the data network.
class Wires {
 public:
  Wires() : network_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
    ifreq request{};
    std::string{"dn0"}.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (network_ < 0 || ::ioctl(network_, TUNSETIFF, &request) != 0) broken("no TUN device");
    shell("ip link set dn0 up && ip addr add 10.9.0.1/16 dev dn0");
    for (std::size_t i = 0; i < kPeers; ++i) {
      peers_[i] = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      const sockaddr_in name = name_of({{10, 1, 0, static_cast<std::uint8_t>(1 + i)}});
      if (::bind(peers_[i], reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        broken("no peer");
    }
  }
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;
  ~Wires() {
    ::close(network_);
    for (const int peer : peers_) ::close(peer);
  }

  void uplink(unsigned from, std::uint32_t teid, unsigned ue, std::size_t octets) {
    wire::Octets datagram{0x34, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x85, 1, 0x10, 9, 0};
    put32(datagram, 4, teid);
    const wire::Octets inner = packet(ue_address(ue), {{10, 9, 0, 7}}, octets);
    datagram.insert(datagram.end(), inner.begin(), inner.end());
    put16(datagram, 2, datagram.size() - 8);
    const sockaddr_in to = name_of(kUpf);
    (void)::sendto(peers_[from % kPeers], datagram.data(), datagram.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  void downlink(unsigned ue, std::size_t octets) {
    const wire::Octets out = packet({{10, 9, 0, 7}}, ue_address(ue), octets);
    (void)!::write(network_, out.data(), out.size());
  }
  /// Takes what came out, and counts it.
  void drain() {
    std::uint8_t sink[2048];
    while (::read(network_, sink, sizeof sink) > 0) ++passed_;
    for (const int peer : peers_) {
      while (::recv(peer, sink, sizeof sink, 0) > 0) ++passed_;
    }
  }
  [[nodiscard]] std::uint64_t passed() const { return passed_; }

 private:
  static sockaddr_in name_of(Ipv4 address) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(kGtpuPort);
    name.sin_addr.s_addr = htonl(address.host());
    return name;
  }
  static Ipv4 ue_address(unsigned index) {
    return {{10, 60, 0, static_cast<std::uint8_t>(1 + index % kUes)}};
  }
  static void put16(wire::Octets& out, std::size_t at, std::size_t value) {
    out[at] = static_cast<std::uint8_t>(value >> 8U);
    out[at + 1] = static_cast<std::uint8_t>(value);
  }
  static void put32(wire::Octets& out, std::size_t at, std::uint32_t value) {
    put16(out, at, value >> 16U);
    put16(out, at + 2, value & 0xffffU);
  }
  static wire::Octets packet(Ipv4 from, Ipv4 to, std::size_t octets) {
    wire::Octets out(28 + octets);
    out[0] = 0x45;
    put16(out, 2, out.size());
    out[8] = 64;
    out[9] = IPPROTO_UDP;
    std::ranges::copy(from.octets, out.begin() + 12);
    std::ranges::copy(to.octets, out.begin() + 16);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) sum += out[i] * 256U + out[i + 1];
    while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
    put16(out, 10, ~sum & 0xffffU);
    put16(out, 20, 53);
    put16(out, 22, 53);
    put16(out, 24, 8 + octets);
    return out;
  }

  int network_;
  int peers_[kPeers]{};
  std::uint64_t passed_{};
};

// --- one sequence ----------------------------------------------------------------------------

struct Totals {
  std::uint64_t sequences{}, requests{}, accepted{}, refused{}, packets{}, events{}, most_rules{};
};

control::Settings settings(std::mt19937_64& dice) {
  control::Settings result;
  result.node_id = "10.0.0.100";
  result.n4_ipv4 = Ipv4{{10, 0, 0, 100}};
  result.sessions.gtpu = {{.ipv4 = kUpf}};
  result.limits.stranger_requests_per_second = 1'000'000;
  result.limits.requests_per_second_of_a_stranger = 1'000'000;
  result.sessions.limits.sessions = 6;
  result.random = [&dice] { return dice(); };
  return result;
}

class Sequence {
 public:
  Sequence(Script script, dataplane::DataPlane& plane, const KernelRules* kernel, Wires& wires,
           std::mt19937_64& dice, Totals& totals)
      : script_(script),
        plane_(plane),
        kernel_(kernel),
        wires_(wires),
        totals_(totals),
        up_(settings(dice), plane) {
    (void)up_.start(now_);
  }

  void run() {
    for (unsigned smf = 0; smf < 3; ++smf) {
      request(pfcp::AssociationSetupRequest{.node_id = node(smf), .recovery_time_stamp = {1}}, {},
              smf);
    }
    request(sound_establishment(), Seid{}, 0);
    for (int steps = 0; !script_.empty() && steps < 200; ++steps) {
      step();
      hear();
      check();
    }
    (void)up_.shutdown(now_);
    hear();
    wires_.drain();
    if (kernel_ != nullptr && !rules().empty()) {
      broken("rules are left after a sequence: " + rules().front().kind);
    }
    ++totals_.sequences;
  }

 private:
  static SocketAddress smf(unsigned index) {
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}, 8805};
  }
  static pfcp::NodeId node(unsigned index) {
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}};
  }

  void step() {
    switch (script_.below(12)) {
      case 0:
        return request(script_.establishment(node(script_.below(3))), Seid{}, script_.octet());
      case 1:
        return request(sound_establishment(), Seid{}, script_.octet());
      case 2:
      case 3:
      case 4:
      case 5:
        return request(script_.modification(), any_seid(), script_.octet());
      case 6:
        return request(pfcp::SessionDeletionRequest{}, any_seid(), script_.octet());
      case 7:
      case 8:
        return traffic();
      case 9:
        return mutate();
      case 10:
        return pass_time();
      default:
        return reply();
    }
  }

  /// One UE, both ways, with the URRs and QERs that the script makes: what packets meet.
  pfcp::SessionEstablishmentRequest sound_establishment() {
    auto made = script_.establishment(node(script_.below(3)));
    const auto ue = static_cast<std::uint8_t>(1 + script_.below(kUes));
    made.create_traffic_endpoints.clear();
    pfcp::CreatePdr up{.pdr_id = {1}, .precedence = 2};
    up.pdi.source_interface = pfcp::SourceInterface::Access;
    up.pdi.local_f_teid = pfcp::FTeid{.teid = {0xffU + ue}, .ipv4 = kUpf};
    up.pdi.ue_ip_addresses = {{.ipv4 = Ipv4{{10, 60, 0, ue}}}};
    up.outer_header_removal = pfcp::OuterHeaderRemoval{};
    up.far_id = FarId{1};
    pfcp::CreatePdr down{.pdr_id = {2}, .precedence = 2};
    down.pdi.source_interface = pfcp::SourceInterface::Core;
    down.pdi.ue_ip_addresses = {{.ipv4 = Ipv4{{10, 60, 0, ue}}, .is_destination = true}};
    down.far_id = FarId{2};
    for (pfcp::CreatePdr* pdr : {&up, &down}) {
      for (const auto& urr : made.create_urrs) pdr->urr_ids.push_back(urr.urr_id);
      for (const auto& qer : made.create_qers) pdr->qer_ids.push_back(qer.qer_id);
    }
    made.create_pdrs = {up, down};
    pfcp::CreateFar to_core{.far_id = {1}, .apply_action = {.forw = true}};
    to_core.forwarding_parameters.emplace().destination_interface =
        pfcp::DestinationInterface::Core;
    pfcp::CreateFar to_access{.far_id = {2}, .apply_action = {.forw = true}};
    auto& parameters = to_access.forwarding_parameters.emplace();
    parameters.destination_interface = pfcp::DestinationInterface::Access;
    parameters.outer_header_creation =
        pfcp::OuterHeaderCreation{.gtpu_udp_ipv4 = true, .teid = {0x2000}, .ipv4 = {{10, 1, 0, 1}}};
    made.create_fars = {to_core, to_access};
    return made;
  }

  template <pfcp::Message M>
  void request(const M& message, std::optional<Seid> seid, unsigned from) {
    hear();
    last_ = pfcp::encode(message, {.seid = seid, .sequence = ++sequence_});
    const auto type = pfcp::decode_header(last_)->header.type;
    const auto before = rules();
    const auto sessions_before = up_.sessions().all().size();
    const Output output = up_.on_datagram(now_, smf(from), last_);
    const Cause cause = only_answer(output, type);
    ++totals_.requests;
    take(output);
    if (pfcp::is_acceptance(cause)) {
      ++totals_.accepted;
      return;
    }
    ++totals_.refused;
    // An establishment that takes over a UE address ends the old session before it is tried.
    const bool ended = up_.sessions().all().size() < sessions_before;
    if (!ended && before != rules()) {
      broken("a refused request has changed rules: " + pfcp::describe(last_));
    }
  }

  Cause only_answer(const Output& output, MessageType type) {
    Cause cause{};
    int answers = 0;
    for (const auto& sent : output.send) {
      const auto frame = pfcp::decode_header(sent.octets);
      if (!frame || frame->header.type != pfcp::response_to(type) ||
          frame->header.sequence != sequence_)
        continue;
      ++answers;
      const auto ie = pfcp::find_ie(frame->body, pfcp::IeType::Cause);
      cause = ie && ie->size() == 1 ? Cause{(*ie)[0]} : Cause::RequestAccepted;
    }
    if (answers != 1) broken(std::to_string(answers) + " answers to " + pfcp::describe(last_));
    return cause;
  }

  void mutate() {
    if (last_.empty()) return;
    wire::Octets octets = last_;
    for (unsigned i = 1 + script_.below(4); i > 0; --i) script_.mutate(octets);
    script_.mend(octets, ++sequence_);
    take(up_.on_datagram(now_, smf(script_.octet()), octets));
  }

  /// Packets to tunnels and UEs that are there, and to some that aren't.
  void traffic() {
    for (unsigned n = 1 + script_.below(6); n > 0; --n) {
      const auto [teid, ue] = any_tunnel();
      wires_.uplink(script_.octet(), teid, ue, script_.octet() * 4U);
      wires_.downlink(ue, script_.octet() * 4U);
      totals_.packets += 2;
    }
    wires_.drain();
  }

  std::pair<std::uint32_t, unsigned> any_tunnel() {
    const std::pair<std::uint32_t, unsigned> none{0x100 + script_.below(6), script_.octet()};
    const auto seids = up_.sessions().all();
    if (seids.empty()) return none;
    const auto pdrs = up_.sessions().find(seids[script_.octet() % seids.size()])->rules.pdrs;
    for (const auto& pdr : pdrs) {
      if (!pdr.f_teid || pdr.ue_addresses.empty() || !pdr.ue_addresses[0].ipv4) continue;
      return {pdr.f_teid->teid.value, pdr.ue_addresses[0].ipv4->octets[3] - 1U};
    }
    return none;
  }

  void pass_time() {
    const auto step = std::chrono::milliseconds{script_.octet() * 100};
    now_.steady += step;
    now_.wall += step;
    take(up_.on_timer(now_));
  }

  void reply() {
    if (open_.empty()) return;
    const auto sent = open_.front();
    open_.erase(open_.begin());
    const auto header = pfcp::decode_header(sent.octets)->header;
    if (header.type != MessageType::SessionReportRequest) return;
    take(up_.on_datagram(now_, sent.to,
                         pfcp::encode(script_.report_response(),
                                      {.seid = header.seid, .sequence = header.sequence})));
  }

  Seid any_seid() {
    const auto seids = up_.sessions().all();
    const unsigned choice = script_.octet();
    if (seids.empty() || choice % 16 == 15) return {choice};
    return seids[choice % seids.size()];
  }

  /// What the plane has to say.
  void hear() {
    const auto events = plane_.take_events();
    totals_.events += events.size();
    if (!events.empty()) take(up_.on_plane_events(now_, events));
  }

  void take(const Output& output) {
    for (const auto& sent : output.send) {
      const auto frame = pfcp::decode_header(sent.octets);
      if (!frame) broken("a datagram of ours has no header that fits");
      if (!pfcp::is_response(frame->header.type)) open_.push_back(sent);
    }
    if (open_.size() > 64) open_.erase(open_.begin(), open_.end() - 64);
  }

  [[nodiscard]] std::vector<KernelRule> rules() const {
    if (kernel_ == nullptr) return {};
    auto read = kernel_->read();
    if (!read) broken(read.error());
    return std::move(*read);
  }

  void check() {
    for (const dataplane::Counter& counter : plane_.counters()) {
      if (counter.name == "gtp5g_held_back" && counter.value != 0) {
        broken("the safety layer held back what led from " + pfcp::describe(last_));
      }
    }
    const auto all = rules();
    totals_.most_rules = std::max<std::uint64_t>(totals_.most_rules, all.size());
    for (const KernelRule& rule : all) {
      if (!up_.sessions().contains(Seid{rule.seid})) {
        broken("the kernel holds a " + rule.kind + " of a session that is gone");
      }
    }
  }

  Script script_;
  dataplane::DataPlane& plane_;
  const KernelRules* kernel_;
  Wires& wires_;
  Totals& totals_;
  UpFunction up_;
  Now now_{.wall = WallTime{std::chrono::seconds{1'700'000'000}}};
  std::uint32_t sequence_{};
  wire::Octets last_{};
  std::vector<n4::Datagram> open_{};
};

// --- many of them ----------------------------------------------------------------------------

struct Options {
  bool standin{};
  unsigned seconds{10};
  std::uint64_t seed{std::random_device{}()};
  std::vector<wire::Octets> corpus{};
};

void read_corpus(const std::filesystem::path& folder, Options& options) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in{entry.path(), std::ios::binary};
    options.corpus.emplace_back(std::istreambuf_iterator<char>{in},
                                std::istreambuf_iterator<char>{});
  }
}

std::optional<Options> options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--standin") {
      options.standin = true;
    } else if ((word == "--seconds" || word == "--seed") && i + 1 < argc) {
      const unsigned long value = std::stoul(argv[++i]);
      word == "--seed" ? options.seed = value : options.seconds = static_cast<unsigned>(value);
    } else if (std::filesystem::is_directory(word)) {
      read_corpus(word, options);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

/// Every input of the corpus as it is, then mutants of it and octets of no origin, in turn.
wire::Octets next_input(const Options& options, std::uint64_t index, std::mt19937_64& dice) {
  if (index < options.corpus.size()) return options.corpus[index];
  wire::Octets octets;
  if (!options.corpus.empty() && index % 2 == 0) {
    octets = options.corpus[dice() % options.corpus.size()];
    for (std::size_t n = octets.size() / 20 + 1; n > 0 && !octets.empty(); --n) {
      octets[dice() % octets.size()] = static_cast<std::uint8_t>(dice());
    }
    return octets;
  }
  octets.resize(100 + dice() % 2000);
  for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(dice());
  return octets;
}

bool enter_netns() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  shell("ip link set lo up");
  for (const char* address : {"10.1.0.100", "10.1.0.1", "10.1.0.2"}) {
    shell(std::string{"ip addr add "} + address + "/32 dev lo");
  }
  shell(
      "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 "
      "net.ipv4.conf.default.rp_filter=0");
  return true;
}

void print(const Totals& totals, const Wires& wires, double seconds) {
  std::printf(
      "%.0f s: %llu sequences, %llu requests (%llu accepted, %llu refused), %llu packets sent, "
      "%llu came out, "
      "%llu events, at most %llu kernel rules\n",
      seconds, static_cast<unsigned long long>(totals.sequences),
      static_cast<unsigned long long>(totals.requests),
      static_cast<unsigned long long>(totals.accepted),
      static_cast<unsigned long long>(totals.refused),
      static_cast<unsigned long long>(totals.packets),
      static_cast<unsigned long long>(wires.passed()),
      static_cast<unsigned long long>(totals.events),
      static_cast<unsigned long long>(totals.most_rules));
  std::fflush(stdout);
}

int replay(const Options& options, dataplane::DataPlane& plane, const KernelRules* kernel) {
  using Clock = std::chrono::steady_clock;
  Wires wires;
  Totals totals;
  std::mt19937_64 dice{options.seed};
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  const auto started = Clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - started).count();
  };
  double told = 0;
  for (std::uint64_t index = 0; elapsed() < options.seconds; ++index) {
    const wire::Octets input = next_input(options, index, dice);
    Sequence{Script{input}, plane, kernel, wires, dice, totals}.run();
    if (elapsed() - told < 60) continue;
    told = elapsed();
    print(totals, wires, told);
  }
  print(totals, wires, elapsed());
  for (const dataplane::Counter& counter : plane.counters()) {
    if (counter.name.starts_with("gtp5g_")) {
      std::printf("%s %llu\n", counter.name.c_str(),
                  static_cast<unsigned long long>(counter.value));
    }
  }
  return totals.accepted > 0 && wires.passed() > 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const auto options = options_of(argc, argv);
  if (!options) {
    std::fputs("usage: replay [--standin] [--seconds N] [--seed N] [CORPUS...]\n", stderr);
    return 2;
  }
  if (!options->standin && ::access("/proc/gtp5g", F_OK) != 0) {
    std::puts("SKIPPED: the gtp5g module is not loaded");
    return 77;
  }
  if (!enter_netns()) {
    std::puts("SKIPPED: needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
    return 77;
  }
  gtp5g::Settings settings;
  settings.interface = "upfreplay";
  settings.addresses = {kUpf};
  settings.mtu = 1400;
  settings.hash_size = 256;  // a dump walks all buckets
  settings.qer_hold = {};    // what is left of a session shows at once
  settings.ue_networks = {Ipv4Prefix{{{10, 60, 0, 0}}, 16}};
  auto plane = gtp5g::Plane::open(
      settings, options->standin ? standin::host_of(std::make_shared<standin::RealMachine>())
                                 : gtp5g::linux_host());
  if (!plane) broken(plane.error());
  if (options->standin) return replay(*options, **plane, nullptr);
  const auto kernel = KernelRules::open();
  if (!kernel) broken(kernel.error());
  return replay(*options, **plane, &*kernel);
}

}  // namespace
}  // namespace upf::vm

int main(int argc, char** argv) { return upf::vm::run(argc, argv); }

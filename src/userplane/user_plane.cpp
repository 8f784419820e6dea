// The plane put together: sockets, TUN, packet threads, and the control thread's half.
#include "upf/userplane/user_plane.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include "local_ends.hpp"
#include "session_keeper.hpp"
#include "tun.hpp"
#include "worker.hpp"

namespace upf::userplane {
namespace {

// What a T-PDU gains on N3: IPv4 or IPv6, UDP, and GTP-U with a PDU Session Container.
constexpr std::uint32_t kOverIpv4 = 20 + 8 + 16;
constexpr std::uint32_t kOverIpv6 = 40 + 8 + 16;
constexpr unsigned kMostWorkers = Quiescence::kMaxThreads;
constexpr std::uint32_t kLeastMtu = 1280;  // RFC 8200 5

bool is_ipv6(const IpAddress& address) { return std::holds_alternative<Ipv6>(address); }

Shared::Local local_of(const IpAddress& address) {
  return {is_ipv6(address), std::visit([](const auto& a) { return Address::of(a); }, address)};
}

std::uint32_t tun_mtu(const Settings& settings) {
  if (settings.mtu != 0) return settings.mtu;
  std::uint32_t mtu = 65535;
  for (const LocalAddress& local : settings.local_addresses) {
    const std::uint32_t over = is_ipv6(local.address) ? kOverIpv6 : kOverIpv4;
    const std::uint32_t own = mtu_of(local.address);
    mtu = std::min(mtu, own > over + kLeastMtu ? own - over : kLeastMtu);
  }
  return mtu;
}

unsigned worker_count(const Settings& settings) {
  if (settings.workers != 0) return std::min(settings.workers, kMostWorkers);
  return std::thread::hardware_concurrency() > 1 ? 2 : 1;
}

/// How packet threads share the work: with one thread it does all, else some serve N3 and some N6,
/// each its own sockets or its own TUN queue.
struct Split {
  unsigned n3{};
  unsigned n6{};
  bool one{};
};
Split split_of(unsigned workers) {
  if (workers == 1) return {1, 1, true};
  return {workers - workers / 2, workers / 2, false};
}

void fill_shared(Shared& shared, const Settings& settings) {
  bool wildcard = false;
  for (const LocalAddress& local : settings.local_addresses) {
    shared.locals.push_back(local_of(local.address));
    shared.own_addresses.push_back(local_of(local.address));
    wildcard = wildcard || shared.locals.back().address == Address{};
  }
  if (wildcard) {
    for (const IpAddress& own : host_addresses()) shared.own_addresses.push_back(local_of(own));
  }
  shared.copy_dscp = settings.copy_dscp;
  const auto rate = settings.error_indications_per_second;
  shared.error_indication_gap_ns = rate == 0 ? 0 : 1'000'000'000 / std::int64_t{rate};
}

class Plane final : public UserPlane {
 public:
  static Result<std::unique_ptr<Plane>, std::string> open(const Settings& settings);
  ~Plane() override { workers_.clear(); }
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  [[nodiscard]] const dataplane::Capabilities& capabilities() const override {
    return capabilities_;
  }
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change) override {
    auto applied = keeper_->apply(change);
    // A new peer's path is watched from now on: take_events() arms the timer.
    if (forwarder_->take_signal() || keeper_->next_time() != armed_) signal();
    return applied;
  }
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) override {
    return keeper_->read_usage(seid, urrs);
  }
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair) override {
    return keeper_->audit(seid, intended, repair);
  }
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair) override {
    return keeper_->audit_strays(known, repair);
  }
  [[nodiscard]] int event_descriptor() const override { return events_.get(); }
  [[nodiscard]] std::vector<dataplane::Event> take_events() override;
  [[nodiscard]] std::vector<dataplane::Counter> counters() const override;
  [[nodiscard]] std::vector<dataplane::Path> paths() const override {
    return keeper_->paths().paths();
  }
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const override {
    return keeper_->inspect(seid);
  }
  [[nodiscard]] std::string fault() const override;
  void watch(const dataplane::Watcher& watcher) override { keeper_->watch(watcher); }
  [[nodiscard]] Result<void, std::string> add_network(const IpPrefix& network) override {
    return add_route(network, tun_.name);
  }
  [[nodiscard]] std::vector<std::string> take_notices() override;

 private:
  explicit Plane(const Settings& settings)
      : settings_(settings),
        shared_(quiescence_, settings.buffers),
        ends_(settings.local_addresses) {}

  [[nodiscard]] Result<void, std::string> open_devices();
  [[nodiscard]] Result<void, std::string> open_sockets(unsigned sets, bool shared);
  void start_workers(const Split& split);
  [[nodiscard]] Worker::Wiring wiring(std::size_t set, std::size_t queue, bool n3, bool n6) const;
  void note_host();
  void signal() const;
  void arm_timer();
  [[nodiscard]] std::vector<Forwarder*> forwarders() const;

  const Settings settings_;
  dataplane::Capabilities capabilities_{};
  std::vector<std::string> notices_{};
  bool said_segment_{};

  Quiescence quiescence_{};
  Shared shared_;
  RoutedEnds ends_;
  std::vector<std::vector<GtpuSocket>>
      sockets_{};  ///< by set (one a N3 worker), then local address
  Tun tun_{};
  Fd wake_{};
  Fd timer_{};
  std::optional<TimePoint> armed_{};  ///< what timer_ is set to
  Fd events_{};                       ///< epoll over the two
  Forwarder::Options options_{};
  std::unique_ptr<SocketSink> sink_{};
  std::unique_ptr<Forwarder> forwarder_{};  ///< the control thread's
  std::unique_ptr<SessionKeeper> keeper_{};
  std::vector<std::unique_ptr<Worker>> workers_{};
};

Result<std::unique_ptr<Plane>, std::string> Plane::open(const Settings& settings) {
  if (settings.local_addresses.empty()) {
    return failure(std::string{"no local GTP-U address: gtpu.ifList needs at least one"});
  }
  std::unique_ptr<Plane> plane{new Plane{settings}};
  if (auto opened = plane->open_devices(); !opened) return failure(opened.error());
  return plane;
}

Result<void, std::string> Plane::open_devices() {
  const Split split = split_of(worker_count(settings_));
  if (auto opened = open_sockets(split.n3, split.n3 > 1); !opened) return opened;
  auto tun = Tun::open(settings_, tun_mtu(settings_), split.n6);
  if (!tun) return failure(tun.error());
  tun_ = std::move(*tun);
  fill_shared(shared_, settings_);

  wake_ = Fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  timer_ = Fd{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  events_ = Fd{::epoll_create1(EPOLL_CLOEXEC)};
  if (!wake_.open() || !timer_.open() || !events_.open())
    return failure(with_errno("event descriptors"));
  for (const int fd : {wake_.get(), timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    (void)::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event);
  }
  options_ = {.vnet_header = tun_.vnet_header,
              .glue_udp = tun_.uso,
              .udp_segment = sockets_.front().front().segment};
  const Worker::Wiring own = wiring(0, 0, false, false);
  sink_ = std::make_unique<SocketSink>(own.sockets, own.tun, options_.udp_segment);
  forwarder_ = std::make_unique<Forwarder>(shared_, *sink_, options_);
  sink_->count_in(forwarder_->counters());
  keeper_ =
      std::make_unique<SessionKeeper>(shared_, quiescence_, *forwarder_, ends_, settings_.echo);
  capabilities_ = abilities(settings_);
  note_host();
  start_workers(split);
  return {};
}

Result<void, std::string> Plane::open_sockets(unsigned sets, bool shared) {
  for (unsigned set = 0; set < sets; ++set) {
    sockets_.emplace_back();
    for (const LocalAddress& local : settings_.local_addresses) {
      auto socket = GtpuSocket::open(local, shared, settings_.offloads);
      if (!socket) return failure(socket.error());
      sockets_.back().push_back(std::move(*socket));
    }
  }
  return {};
}

Worker::Wiring Plane::wiring(std::size_t set, std::size_t queue, bool n3, bool n6) const {
  Worker::Wiring wiring{
      .tun = tun_.queues[queue].get(), .event_fd = wake_.get(), .options = options_};
  for (const GtpuSocket& socket : sockets_[set]) {
    const auto index = static_cast<std::uint16_t>(wiring.sockets.size());
    wiring.sockets.push_back(socket.fd.get());
    if (n3) wiring.sources.push_back({socket.fd.get(), false, index});
  }
  if (n6) wiring.sources.push_back({wiring.tun, true, 0});
  return wiring;
}

void Plane::start_workers(const Split& split) {
  const auto start = [&](Worker::Wiring wiring, const std::string& name) {
    workers_.push_back(std::make_unique<Worker>(shared_, quiescence_, std::move(wiring), name));
  };
  if (split.one) return start(wiring(0, 0, true, true), "packets");
  for (unsigned i = 0; i < split.n3; ++i) {
    start(wiring(i, i % split.n6, true, false), "n3-" + std::to_string(i));
  }
  for (unsigned i = 0; i < split.n6; ++i) {
    start(wiring(i % split.n3, i, false, true), "n6-" + std::to_string(i));
  }
}

/// What the kernel lacks, and what would make an operator wonder why nothing flows.
void Plane::note_host() {
  const GtpuSocket& socket = sockets_.front().front();
  const Offloads& wanted = settings_.offloads;
  if (wanted.udp_gro && !socket.gro)
    notices_.push_back("the kernel has no UDP_GRO: uplink is slower");
  if (wanted.udp_segment && !socket.segment) {
    notices_.push_back("the kernel has no UDP_SEGMENT: downlink is slower");
  }
  if (tun_.vnet_header && wanted.tso && !tun_.tso) {
    notices_.push_back("the TUN device grants no TSO: downlink TCP is slower");
  }
  if (tun_.vnet_header && wanted.uso && !tun_.uso) {
    notices_.push_back("the TUN device grants no USO (Linux 6.2): UDP is slower");
  }
  std::ifstream file{"/proc/sys/net/ipv4/ip_forward"};
  int forwarding = 1;
  if (file >> forwarding && forwarding == 0) {
    notices_.push_back("net.ipv4.ip_forward is 0: packets reach " + tun_.name +
                       " but no other interface: sysctl -w net.ipv4.ip_forward=1");
  }
}

void Plane::signal() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::vector<Forwarder*> Plane::forwarders() const {
  std::vector<Forwarder*> all{forwarder_.get()};
  for (const auto& worker : workers_) all.push_back(&worker->forwarder());
  return all;
}

std::vector<dataplane::Event> Plane::take_events() {
  std::uint64_t ignored = 0;
  (void)!::read(wake_.get(), &ignored, sizeof ignored);
  (void)!::read(timer_.get(), &ignored, sizeof ignored);
  const Now now{Clock::now(), std::chrono::system_clock::now()};
  std::vector<dataplane::Event> out;
  for (Forwarder* forwarder : forwarders()) {
    if (forwarder->events().take_overrun()) out.push_back(dataplane::Overrun{});
    while (const auto event = forwarder->events().pop()) keeper_->on_packet_event(*event, now, out);
  }
  keeper_->on_time(now, out);
  quiescence_.collect();
  arm_timer();
  return out;
}

void Plane::arm_timer() {
  const auto next = keeper_->next_time();
  if (next == armed_ && (!next || *next > Clock::now())) return;
  armed_ = next;
  itimerspec timer{};
  if (next) {
    const auto ns = std::chrono::nanoseconds{next->time_since_epoch()}.count();
    timer.it_value = {.tv_sec = ns / 1'000'000'000,
                      .tv_nsec = std::max(ns % 1'000'000'000, std::int64_t{1})};
  }
  (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
}

std::vector<dataplane::Counter> Plane::counters() const {
  std::vector<dataplane::Counter> all;
  const auto sum = [&](auto what) {
    std::uint64_t total = 0;
    for (const Forwarder* forwarder : forwarders()) {
      total += const_cast<Forwarder*>(forwarder)->counters().of(what);
    }
    return total;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(Tally::Count_); ++i) {
    const auto tally = static_cast<Tally>(i);
    all.push_back({std::string{to_string(tally)}, {}, sum(tally)});
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(Drop::Count_); ++i) {
    const auto reason = static_cast<Drop>(i);
    all.push_back({"dropped_packets", std::string{to_string(reason)}, sum(reason)});
  }
  const auto [packets, octets] = keeper_->waiting();
  all.push_back({"waiting_packets", {}, packets});
  all.push_back({"waiting_octets", {}, octets});
  return all;
}

std::string Plane::fault() const {
  const auto lost = [](const auto& worker) { return worker->lost_tun(); };
  if (std::ranges::none_of(workers_, lost)) return {};
  return "the TUN device " + tun_.name + " is gone: restart upf";
}

std::vector<std::string> Plane::take_notices() {
  const auto gave_up = [](const auto& worker) { return worker->sink().gave_up_segmenting(); };
  if (!said_segment_ && std::ranges::any_of(workers_, gave_up)) {
    said_segment_ = true;
    notices_.push_back(
        "the N3 device refuses UDP_SEGMENT (no checksum offload, Linux before 6.11): downlink is "
        "slower");
  }
  return std::exchange(notices_, {});
}

}  // namespace

Result<std::unique_ptr<UserPlane>, std::string> UserPlane::open(const Settings& settings) {
  auto plane = Plane::open(settings);
  if (!plane) return failure("userspace: " + plane.error());
  return std::move(*plane);
}

dataplane::Capabilities UserPlane::abilities(const Settings& settings) {
  const auto has_v6 = [](const LocalAddress& local) { return is_ipv6(local.address); };
  return {.name = "userspace",
          .ipv6 = true,
          .outer_ipv6 = std::ranges::any_of(settings.local_addresses, has_v6),
          .buffering = true,
          .end_marker = true,
          .framed_routing = true,
          .quota_action = true,
          .cp_function = true,
          .ends_with_process = true};
}

}  // namespace upf::userplane

#include "src/app/daemon.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "src/app/control_settings.hpp"

namespace upf::app {
namespace {

constexpr auto kTick = std::chrono::seconds{1};
constexpr int kTicksPerReport = 10;
/// systemd kills after 90 s, Kubernetes after 30 s, people sooner (cases.md 78).
constexpr unsigned kStopSeconds = 4;

/// Only what is safe in a signal handler.
void give_up(int) {
  constexpr char kText[] = "upf: stopping took too long, giving up\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(kExitFailed);
}

Level level_of(control::LogRecord::Level level) {
  switch (level) {
    case control::LogRecord::Level::Debug:
      return Level::Debug;
    case control::LogRecord::Level::Info:
      return Level::Info;
    case control::LogRecord::Level::Warning:
      return Level::Warn;
    case control::LogRecord::Level::Error:
      return Level::Error;
  }
  return Level::Error;
}

void write(Log& log, control::LogRecord record) {
  if (!log.enabled(level_of(record.level))) return;
  Log::Fields fields;
  if (record.seid) fields.emplace_back("seid", fmt::format("{:#018x}", record.seid->value));
  fields.emplace_back("peer", std::move(record.peer));
  fields.emplace_back("ue", std::move(record.ue_address));
  if (record.took) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(*record.took);
    fields.emplace_back("took", fmt::format("{}us", took.count()));
  }
  log.write(level_of(record.level), std::move(record.procedure), std::move(record.text),
            std::move(fields));
}

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  if (all.empty()) {
    all = std::move(more);
  } else {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
}

std::string busy_text(const Host& host, const SocketAddress& local) {
  const auto owner = host.owner_of_udp_port(local.port);
  return fmt::format(
      "N4 port {} is taken by {}: stop that (another UPF?), or give another pfcp.addr",
      to_string(local), owner ? *owner : std::string{"another process"});
}

}  // namespace

Result<std::unique_ptr<Daemon>, std::string> Daemon::open(const config::Config& config,
                                                          const std::string& path,
                                                          const Factories& factories,
                                                          const Host& host, Log& log) {
  std::unique_ptr<Daemon> self{new Daemon{config, path, log}};
  if (auto ok = self->open_n4(factories, host); !ok) return failure(ok.error());
  if (auto ok = self->open_plane(factories, host); !ok) return failure(ok.error());
  if (auto ok = self->watch(); !ok) return failure(ok.error());
  if (auto ok = self->open_operations(); !ok) return failure(ok.error());
  return self;
}

Result<void, std::string> Daemon::open_n4(const Factories& factories, const Host& host) {
  const SocketAddress local{*config_.pfcp.addr.address, factories.n4_port};
  auto socket = runtime::UdpSocket::bind(local);
  if (socket) {
    n4_ = std::make_unique<N4Port>(std::move(*socket));
    return {};
  }
  switch (socket.error().number) {
    case EADDRINUSE:
      return failure(busy_text(host, local));
    case EADDRNOTAVAIL:
      return failure(
          fmt::format("pfcp.addr {} isn't an address of this host: see `ip address`, or add it "
                      "with `ip address "
                      "add {}/32 dev lo`",
                      to_string(local.ip), to_string(local.ip)));
    default:
      return failure("N4: " + runtime::to_string(socket.error()));
  }
}

Result<void, std::string> Daemon::open_plane(const Factories& factories, const Host& host) {
  if (factories.needs_net_admin && !host.has_net_admin()) {
    return failure(
        std::string{"no CAP_NET_ADMIN, so no link or route can be set up: run as root, or `setcap "
                    "cap_net_admin+ep` on the program, or in a container add NET_ADMIN"});
  }
  const bool kernel = config_.gtpu.forwarder == config::Forwarder::Gtp5g;
  auto opened = kernel ? factories.gtp5g(config_) : factories.userspace(config_);
  if (!opened) {
    return failure(fmt::format("forwarder {}: {}", kernel ? "gtp5g" : "userspace", opened.error()));
  }
  plane_ = std::make_unique<metrics::MeteredPlane>(std::move(opened->plane),
                                                   kernel ? config_.gtpu.ifname : std::string{});
  more_notes_ = std::move(opened->more_notes);
  for (const std::string& note : opened->notes) log_.info("plane", note);
  if (!factories.needs_net_admin) return {};
  auto netfilter = Netfilter::open(config_);
  if (!netfilter) return failure(netfilter.error());
  netfilter_ = std::move(*netfilter);
  auto routes = NetworkRoutes::open(config_);
  if (!routes) return failure(routes.error());
  routes_ = std::move(*routes);
  for (const auto& dnn : config_.dnn_list) {
    if (!dnn.ip_forward_enable) continue;
    if (auto ok = host.enable_forwarding(); !ok) log_.warn("host", ok.error());
    break;
  }
  for (const std::string& fault : host.forwarding_faults(config_)) log_.warn("host", fault);
  return {};
}

Result<void, std::string> Daemon::watch() {
  const auto keep = [this](Result<runtime::Loop::Source, runtime::SystemError> source) {
    if (source) sources_.push_back(std::move(*source));
    return source.has_value();
  };
  bool ok = keep(loop_.add_io(n4_->fd(), EPOLLIN, [this](std::uint32_t) { on_n4(); }));
  if (plane_->event_descriptor() >= 0) {
    ok = ok && keep(loop_.add_io(plane_->event_descriptor(), EPOLLIN,
                                 [this](std::uint32_t) { on_plane(); }));
  }
  for (const int signal : {SIGTERM, SIGINT}) {
    ok = ok && keep(loop_.on_signal(signal, [this] { on_stop(); }));
  }
  ok = ok && keep(loop_.on_signal(SIGHUP, [this] { on_reload(); }));
  auto timer = loop_.add_timer([this] { on_timer(); });
  auto tick = loop_.add_timer([this] { on_tick(); });
  if (!ok || !timer || !tick) return failure(std::string{"the event loop can't be set up"});
  timer_ = std::move(*timer);
  tick_ = std::move(*tick);
  return {};
}

Result<void, std::string> Daemon::open_operations() {
  started_ = runtime::now();
  control::Settings settings = control_settings(config_, started_);
  // Records of any level belong into the traces that are running.
  settings.log_wanted = [this](control::LogRecord::Level level) {
    return log_.enabled(level_of(level)) || (operations_ && operations_->follower().active());
  };
  settings.load_measure = [this]() -> control::LoadMeasures {
    const runtime::Backlog backlog = n4_->backlog();
    return {.cpu = runtime::thread_cpu_time(),
            .plane = plane_->time_in_calls(),
            .queue_percent = backlog.percent,
            .waiting = backlog.waiting};
  };
  control_ = std::make_unique<control::UpFunction>(std::move(settings), *plane_);
  operations_ = std::make_unique<ops::Operations>(
      ops::Scene{config_, path_, KUPF_VERSION, n4_->local(), started_, *control_, *plane_, meter_,
                 log_, draining_, [this] { return n4_->backlog(); }},
      actions(), loop_);
  plane_->observe({[this](const auto& change, const auto& outcome, auto took) {
                     operations_->follower().on_change(change, outcome, took);
                   },
                   [this](const auto& event) { operations_->follower().on_event(event); }});
  operations_->follower().when_active([this](bool active) {
    if (!active) return plane_->watch({});
    plane_->watch([this](const auto& deed) { operations_->follower().on_deed(deed); });
  });
  return operations_->listen(config_);
}

Daemon::~Daemon() {
  loop_.discard_posted();
  sources_.clear();
  if (plane_) {
    plane_->observe({});
    plane_->watch({});
  }
  operations_.reset();
  control_.reset();
  netfilter_.reset();
  routes_.reset();
  plane_.reset();
}

void Daemon::say_ready() {
  std::string networks;
  for (const auto& dnn : config_.dnn_list) {
    networks += (networks.empty() ? "" : ",") + dnn.dnn + "=" + to_string(dnn.cidr);
  }
  std::string gtpu;
  for (const auto& entry : config_.gtpu.if_list) {
    gtpu += (gtpu.empty() ? "" : ",") + to_string(*entry.addr.address);
  }
  log_.info("start", "ready",
            {{"n4", to_string(n4_->local())},
             {"node", config_.pfcp.node_id.text},
             {"forwarder", plane_->capabilities().name},
             {"gtpu", gtpu},
             {"dnns", networks}});
  runtime::notify_ready(state());
}

std::string Daemon::state() const {
  if (!fault_.empty()) return fault_;
  return draining_ ? "draining" : "serving N4 at " + to_string(n4_->local());
}

// The watchdog is pinged all the same. A call that never returns from the kernel keeps the process
// from ending, whoever kills it: a restart would wait for it for good, with N4's port still taken.
// And until somebody restarts the host, what is installed goes on forwarding.
void Daemon::watch_plane() {
  if (!fault_.empty()) return;
  fault_ = plane_->fault();
  if (fault_.empty()) return;
  log_.error("plane", fault_);
  runtime::notify_status(state());
}

int Daemon::run() {
  const Now now = runtime::now();
  loop_.set_timer(tick_, now.steady + kTick);
  act(control_->start(now));
  loop_.enable_watchdog();
  say_ready();
  const auto code = loop_.run();
  if (!code) {
    log_.error("stop", runtime::to_string(code.error()));
    return kExitFailed;
  }
  return *code;
}

void Daemon::on_n4() {
  const auto batch = n4_->receive();
  if (!batch) {
    log_.warn("n4", runtime::to_string(batch.error()) + ", ignoring");
    return;
  }
  // All answers of a batch in one system call, behind the last request of it: an SMF that sends
  // many at once waits for the last of them.
  control::Output all;
  for (const auto& datagram : *batch) {
    const Now now = runtime::now();
    meter_.on_datagram(metrics::Direction::In, datagram.from, datagram.octets);
    operations_->follower().begin(datagram.from, datagram.octets);
    control::Output one = control_->on_datagram(now, datagram.from, datagram.octets);
    account(now.wall, one);
    append(all.send, std::move(one.send));
    append(all.log, std::move(one.log));
    all.wake_at = one.wake_at;
  }
  if (!batch->empty()) carry_out(std::move(all));
}

void Daemon::on_plane() {
  const auto events = plane_->take_events();
  // What the plane did that is no event belongs into the traces that run.
  if (!events.empty() || operations_->follower().active())
    act(control_->on_plane_events(runtime::now(), events));
}

void Daemon::on_timer() {
  armed_.reset();  // it has gone off
  act(control_->on_timer(runtime::now()));
}

void Daemon::on_stop() {
  if (stopping_) return;
  stopping_ = true;
  log_.info("stop", "stopping as asked");
  runtime::notify_stopping();
  std::signal(SIGALRM, give_up);
  ::alarm(kStopSeconds);
  act(control_->shutdown(runtime::now()));
  loop_.set_timer(timer_, {});
  armed_.reset();
  loop_.stop(0);
}

void Daemon::on_tick() {
  static int ticks = 0;
  const TimePoint now = runtime::now().steady;
  operations_->tick(now);
  if (end_when_empty_ && control_->sessions().size() == 0) {
    log_.info("drain", "the last session is gone");
    return on_stop();
  }
  watch_plane();
  give_back_memory();
  if (++ticks % kTicksPerReport == 0) {
    log_.report_suppressed();
    if (more_notes_) {
      for (const std::string& note : more_notes_()) log_.info("plane", note);
    }
  }
  loop_.set_timer(tick_, now + kTick);
}

// What many sessions took stays with the C library when they go; it is asked to give it back once
// it is worth the walk over the heap, and nobody is waiting. And again later: answers that are kept
// for repetitions lie between what was freed.
void Daemon::give_back_memory() {
  constexpr std::size_t kWorthIt = 10000;
  constexpr std::uint64_t kQuiet = 100;  // datagrams since the last tick
  constexpr unsigned kAgainTicks = 20;   // answers are kept for 15 s
  const std::size_t sessions = control_->sessions().size();
  const std::uint64_t received = meter_.totals().received;
  const bool quiet = received - std::exchange(received_, received) < kQuiet;
  most_sessions_ = std::max(most_sessions_, sessions);
  if (again_in_ > 1) --again_in_;
  if (!quiet) return;
  const bool many_gone = most_sessions_ - sessions >= std::max(kWorthIt, most_sessions_ / 4);
  if (!many_gone && again_in_ != 1) return;
  if (!many_gone) act(control_->on_timer(runtime::now()));  // old answers go
  again_in_ = many_gone ? kAgainTicks : 0;
  most_sessions_ = sessions;
  ::malloc_trim(0);
}

void Daemon::act(control::Output output) {
  account(runtime::now().wall, output);
  carry_out(std::move(output));
}

void Daemon::account(WallTime at, const control::Output& output) {
  for (const auto& served : output.served) meter_.on_served(served, at);
  for (const auto& datagram : output.send) {
    meter_.on_datagram(metrics::Direction::Out, datagram.to, datagram.octets);
  }
  operations_->follower().end(at, n4_->local(), output);
}

void Daemon::carry_out(control::Output output) {
  if (const std::size_t refused = n4_->send(output.send); refused != 0) {
    meter_.on_send_failures(refused);
    log_.warn("n4", "datagrams that the kernel didn't take, ignoring",
              {{"count", std::to_string(refused)}});
  }
  if (armed_ != output.wake_at) loop_.set_timer(timer_, output.wake_at);
  armed_ = output.wake_at;
  for (auto& record : output.log) write(log_, std::move(record));
}

}  // namespace upf::app

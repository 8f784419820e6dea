#pragma once

#include <memory>
#include <set>
#include <string>

#include "src/app/host.hpp"
#include "src/app/log.hpp"
#include "src/app/metrics/metered_plane.hpp"
#include "src/app/metrics/n4_meter.hpp"
#include "src/app/n4_port.hpp"
#include "src/app/netfilter.hpp"
#include "src/app/network_routes.hpp"
#include "src/app/ops/operations.hpp"
#include "upf/app/run.hpp"
#include "upf/control/up_function.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app {

/// What there is to say about a good file.
void write_remarks(Log& log, const std::string& path, const config::Loaded& loaded);

/// Ties socket, plane and control half to the loop. Everything it does is done on the loop's
/// thread.
///
/// Life: open() takes what the host has to give and fails with one line for the operator; run()
/// serves until SIGTERM or SIGINT; SIGHUP reloads. The destructor gives everything back, newest
/// first.
class Daemon {
 public:
  /// `config`: of the file at `path`, names resolved. `log` outlives the daemon.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>, std::string> open(
      const config::Config& config, const std::string& path, const Factories& factories,
      const Host& host, Log& log);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  /// The exit code.
  [[nodiscard]] int run();

 private:
  Daemon(const config::Config& config, std::string path, Log& log)
      : config_(config), path_(std::move(path)), log_(log) {}

  [[nodiscard]] Result<void, std::string> open_n4(const Factories& factories, const Host& host);
  [[nodiscard]] Result<void, std::string> open_plane(const Factories& factories, const Host& host);
  [[nodiscard]] Result<void, std::string> open_operations();
  [[nodiscard]] Result<void, std::string> watch();
  [[nodiscard]] ops::Actions actions();
  void say_ready();
  /// For the service manager: what it serves, or why it doesn't.
  [[nodiscard]] std::string state() const;
  void watch_plane();

  void on_n4();
  void on_plane();
  void on_timer();
  void on_stop();
  void on_tick();
  /// Reads the configuration again and applies what can change in life. What it says is for the
  /// operator.
  [[nodiscard]] ops::Actions::Outcome reload();
  [[nodiscard]] Result<void, std::string> add_networks(const config::Config& next);
  [[nodiscard]] Result<void, std::string> apply_to_host(const config::Config& next);
  void on_reload();
  void give_back_memory();
  /// Does what the control half asks for: account(), then carry_out().
  void act(control::Output output);
  /// Tells the metrics and whoever follows a subscriber.
  void account(WallTime at, const control::Output& output);
  void carry_out(control::Output output);

  config::Config config_;
  std::string path_;
  Log& log_;
  runtime::Loop loop_{};
  std::unique_ptr<N4Port> n4_{};
  std::unique_ptr<metrics::MeteredPlane> plane_{};
  std::function<std::vector<std::string>()> more_notes_{};
  std::unique_ptr<Netfilter> netfilter_{};
  std::unique_ptr<NetworkRoutes> routes_{};
  std::unique_ptr<control::UpFunction> control_{};
  std::vector<runtime::Loop::Source> sources_{};
  runtime::Loop::Source timer_{};
  std::optional<TimePoint> armed_{};  ///< what timer_ is set to
  runtime::Loop::Source tick_{};
  Now started_{};
  metrics::N4Meter meter_{};
  std::unique_ptr<ops::Operations> operations_{};
  std::set<IpPrefix> routed_{};  ///< networks that reloads added, also failed ones
  std::size_t most_sessions_{};  ///< since memory was given back
  unsigned again_in_{};          ///< ticks until it is given back again; 0: it isn't
  std::uint64_t received_{};     ///< datagrams, at the last tick
  std::string fault_{};          ///< of the plane, once it was seen
  bool draining_{};
  bool end_when_empty_{};
  bool stopping_{};
};

}  // namespace upf::app

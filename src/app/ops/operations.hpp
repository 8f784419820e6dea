#pragma once

#include <map>
#include <memory>
#include <vector>

#include "src/app/http/server.hpp"
#include "src/app/ops/api.hpp"
#include "src/app/ops/follow.hpp"
#include "src/app/ops/packet_tap.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app::ops {

/// The operator's side of the daemon: API, metrics, status page, traces and captures. Servers have
/// threads of their own; what they are asked is answered on the loop's thread.
class Operations {
 public:
  /// Nothing listens yet; see listen().
  Operations(Scene scene, Actions actions, runtime::Loop& loop);
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  ~Operations();

  /// Listens where the configuration says, and nowhere else any more. Addresses that stay keep
  /// their servers. On failure what listened before goes on listening.
  [[nodiscard]] Result<void, std::string> listen(const config::Config& config);

  [[nodiscard]] Follower& follower() { return follower_; }
  /// Ends traces and captures whose time is over.
  void tick(TimePoint now);

 private:
  struct Tap {
    PacketTap tap;
    runtime::Loop::Source source{};
  };
  struct Listener {
    http::Address address{};
    bool metrics_only{};
    std::unique_ptr<http::Server> server{};
  };
  [[nodiscard]] http::Handler handler(bool metrics_only);
  [[nodiscard]] Result<Actions::Started, std::string> follow(Target target, bool capture,
                                                             std::size_t octets,
                                                             std::chrono::seconds time);
  [[nodiscard]] std::vector<IpPrefix> ues_of(const Following& following) const;
  [[nodiscard]] Result<void, std::string> open_tap(unsigned id, const std::vector<IpPrefix>& ues);
  void on_packets(unsigned id);

  runtime::Loop& loop_;
  std::string device_;
  const session::Store& sessions_;
  Follower follower_;
  Api api_;
  std::map<unsigned, std::unique_ptr<Tap>> taps_{};
  std::vector<Listener> listeners_{};
};

}  // namespace upf::app::ops

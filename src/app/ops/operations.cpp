#include "src/app/ops/operations.hpp"

#include <sys/epoll.h>

#include <algorithm>

#include "src/app/ops/views.hpp"

namespace upf::app::ops {
namespace {

struct Wanted {
  http::Address address{};
  bool metrics_only{};
};

std::vector<Wanted> wanted_by(const config::Config& config) {
  std::vector<Wanted> all;
  if (!config.api.socket.empty()) all.push_back({http::UnixPath{config.api.socket}, false});
  if (const auto& at = config.api.listen) all.push_back({SocketAddress{at->ip, at->port}, false});
  if (const auto& at = config.metrics.listen) {
    all.push_back({SocketAddress{at->ip, at->port}, true});
  }
  return all;
}

bool same(const http::Address& a, const http::Address& b) {
  if (a.index() != b.index()) return false;
  const auto* path = std::get_if<http::UnixPath>(&a);
  return path != nullptr ? path->path == std::get<http::UnixPath>(b).path
                         : std::get<SocketAddress>(a) == std::get<SocketAddress>(b);
}

}  // namespace

Operations::Operations(Scene scene, Actions actions, runtime::Loop& loop)
    : loop_(loop),
      device_(scene.config.gtpu.ifname),
      sessions_(scene.control.sessions()),
      follower_(scene.control.sessions()),
      api_(
          std::move(scene),
          [&] {
            actions.follow = [this](Target target, bool capture, std::size_t octets,
                                    std::chrono::seconds time) {
              return follow(std::move(target), capture, octets, time);
            };
            return std::move(actions);
          }(),
          follower_) {}

Operations::~Operations() = default;

http::Handler Operations::handler(bool metrics_only) {
  return [this, metrics_only](http::Call call, std::function<void(http::Reply)> done) {
    if (metrics_only && call.path != "/metrics") {
      return done({404, "text/plain", "only /metrics is here\n"});
    }
    loop_.post([this, call = std::move(call), done = std::move(done)] { done(api_.serve(call)); });
  };
}

Result<void, std::string> Operations::listen(const config::Config& config) {
  const auto wanted = wanted_by(config);
  const auto serves = [](const Listener& listener, const Wanted& want) {
    return listener.metrics_only == want.metrics_only && same(listener.address, want.address);
  };
  const auto leaves = [&](const Listener& listener) {
    return std::ranges::none_of(wanted, [&](const Wanted& want) { return serves(listener, want); });
  };
  std::vector<const http::Server*> leaving;
  for (const Listener& listener : listeners_) {
    if (leaves(listener)) leaving.push_back(listener.server.get());
  }
  std::vector<Listener> next;
  for (const Wanted& want : wanted) {
    const auto stays = std::ranges::any_of(
        listeners_, [&](const Listener& listener) { return serves(listener, want); });
    if (stays) continue;
    auto server = http::Server::open(want.address, handler(want.metrics_only), leaving);
    if (!server) return failure(server.error());
    next.push_back({want.address, want.metrics_only, std::move(*server)});
  }
  std::erase_if(listeners_, leaves);
  for (Listener& listener : next) listeners_.push_back(std::move(listener));
  return {};
}

Result<Actions::Started, std::string> Operations::follow(Target target, bool capture,
                                                         std::size_t octets,
                                                         std::chrono::seconds time) {
  const TimePoint until = runtime::now().steady + time;
  const auto id = follower_.start(std::move(target), capture ? octets : 4096, until);
  if (!id) return failure(id.error());
  Actions::Started started{*id, {}};
  if (!capture) return started;
  follower_.find(*id)->keeps_records = false;
  const std::vector<IpPrefix> ues = ues_of(*follower_.find(*id));
  if (ues.empty()) {
    follower_.stop(*id);
    return failure(std::string{"no such session; its UE's address isn't known"});
  }
  // The daemon knows the N4 messages by itself; without the right to see packets they are worth
  // having.
  if (auto ok = open_tap(*id, ues); !ok) started.warning = "N4 messages only: " + ok.error();
  return started;
}

std::vector<IpPrefix> Operations::ues_of(const Following& following) const {
  std::vector<IpPrefix> ues;
  if (following.target.ue) {
    if (const auto prefix = parse_ip_prefix(to_string(*following.target.ue))) {
      ues.push_back(*prefix);
    }
  }
  for (const Seid seid : following.seids) {
    const auto session = sessions_.find(seid);
    if (!session) continue;
    for (const auto& text : ue_addresses(*session)) {
      if (const auto prefix = parse_ip_prefix(text)) ues.push_back(*prefix);
    }
  }
  return ues;
}

Result<void, std::string> Operations::open_tap(unsigned id, const std::vector<IpPrefix>& ues) {
  auto tap = PacketTap::open(device_, ues);
  if (!tap) return failure(tap.error());
  auto entry = std::make_unique<Tap>(Tap{std::move(*tap), {}});
  auto source =
      loop_.add_io(entry->tap.fd(), EPOLLIN, [this, id](std::uint32_t) { on_packets(id); });
  if (!source) return failure(runtime::to_string(source.error()));
  entry->source = std::move(*source);
  taps_[id] = std::move(entry);
  return {};
}

void Operations::on_packets(unsigned id) {
  Following* following = follower_.find(id);
  const auto tap = taps_.find(id);
  if (tap == taps_.end()) return;
  if (following == nullptr || following->capture.full()) {
    taps_.erase(tap);
    return;
  }
  following->lost += tap->second->tap.lost();
  const WallTime at = runtime::now().wall;
  // So many at a time: N4 has its turn in between.
  for (int i = 0; i < 64; ++i) {
    const auto packet = tap->second->tap.next();
    if (!packet) return;
    following->capture.add(Pcapng::Interface::User, at, packet->octets, packet->length);
  }
}

void Operations::tick(TimePoint now) {
  follower_.expire(now);
  std::erase_if(taps_, [&](const auto& tap) { return follower_.find(tap.first) == nullptr; });
}

}  // namespace upf::app::ops

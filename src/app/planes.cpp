#include <fmt/format.h>

#include <algorithm>

#include "netlink/gtp5g/host.hpp"
#include "netlink/gtp5g/plane.hpp"
#include "upf/app/run.hpp"
#include "upf/config/config.hpp"
#include "upf/userplane/user_plane.hpp"

// From the configuration's words to each plane's own settings.
namespace upf::app {
namespace {

dataplane::BufferLimits buffer_limits(const config::Buffering& buffering) {
  dataplane::BufferLimits limits;
  limits.packets_per_session = buffering.packets;
  limits.octets_per_session = buffering.bytes;
  limits.octets_in_all = buffering.total_bytes;
  limits.drop_oldest = buffering.drop == config::DropPolicy::Oldest;
  return limits;
}

dataplane::EchoTimers echo_timers(const config::Echo& echo) {
  using std::chrono::milliseconds;
  return {std::chrono::ceil<milliseconds>(echo.interval),
          std::chrono::ceil<milliseconds>(echo.timeout), echo.retries};
}

gtp5g::Settings gtp5g_settings(const config::Config& config) {
  gtp5g::Settings settings;
  settings.interface = config.gtpu.ifname;
  for (const auto& entry : config.gtpu.if_list) {
    // The configuration's own check leaves only IPv4 addresses here; a name may have another.
    if (const auto* v4 = std::get_if<Ipv4>(&*entry.addr.address)) settings.addresses.push_back(*v4);
  }
  if (const auto mtu = config.gtpu.if_list.front().mtu; mtu != 0) settings.mtu = mtu;
  for (const auto& dnn : config.dnn_list) {
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&dnn.cidr)) settings.ue_networks.push_back(*v4);
  }
  settings.qos = config.gtpu.qos;
  settings.any_version = !config.gtpu.version_check;
  settings.buffer = buffer_limits(config.gtpu.buffering);
  settings.echo = echo_timers(config.gtpu.echo);
  return settings;
}

/// All that the kernel has but those that the file takes out.
userplane::Offloads offloads(const std::vector<config::Offload>& without) {
  const auto kept = [&](config::Offload offload) {
    return std::ranges::find(without, offload) == without.end();
  };
  return {.udp_gro = kept(config::Offload::UdpGro),
          .udp_segment = kept(config::Offload::UdpSegment),
          .vnet_header = kept(config::Offload::VnetHeader),
          .tso = kept(config::Offload::Tso),
          .uso = kept(config::Offload::Uso)};
}

userplane::Settings userplane_settings(const config::Config& config) {
  userplane::Settings settings;
  settings.tun_name = config.gtpu.ifname;
  settings.mtu = config.gtpu.if_list.front().mtu;
  for (const auto& entry : config.gtpu.if_list) {
    settings.local_addresses.push_back(
        {*entry.addr.address, entry.bind_to, entry.network_instance});
  }
  for (const auto& dnn : config.dnn_list) settings.ue_pools.push_back(dnn.cidr);
  settings.workers = config.gtpu.workers;
  settings.offloads = offloads(config.gtpu.without_offloads);
  settings.echo = echo_timers(config.gtpu.echo);
  settings.buffers = buffer_limits(config.gtpu.buffering);
  return settings;
}

[[nodiscard]] Result<OpenedPlane, std::string> open_gtp5g(const config::Config& config,
                                                          std::unique_ptr<gtp5g::Host> host) {
  gtp5g::Settings settings = gtp5g_settings(config);
  if (settings.addresses.empty()) {
    return failure(
        std::string{"gtpu.ifList has no IPv4 address, and forwarder gtp5g has no other"});
  }
  for (const auto& entry : config.gtpu.if_list) {
    if (entry.bind_to.empty()) continue;
    return failure(
        std::string{"gtpu.ifList[].bindTo: the module has one socket for all addresses, which "
                    "can't be bound to devices: take it out, or set forwarder userspace"});
  }
  auto plane = gtp5g::Plane::open(std::move(settings), std::move(host));
  if (!plane) return failure(plane.error());
  std::vector<std::string> notes = (*plane)->notes();
  return OpenedPlane{std::move(*plane), std::move(notes), {}};
}

[[nodiscard]] Result<OpenedPlane, std::string> open_userplane(const config::Config& config) {
  for (const auto& rule : config.predefined.rules) {
    if (rule.mark == 0) continue;
    return failure(fmt::format(
        "predefined rule {} marks its packets, which this forwarder can't do: take the mark out, "
        "or set forwarder gtp5g",
        rule.name));
  }
  auto plane = userplane::UserPlane::open(userplane_settings(config));
  if (!plane) return failure(plane.error());
  std::vector<std::string> notes = (*plane)->take_notices();
  auto more = [open = plane->get()] { return open->take_notices(); };
  return OpenedPlane{std::move(*plane), std::move(notes), std::move(more)};
}

}  // namespace

Factories with_gtp5g_host(std::function<std::unique_ptr<gtp5g::Host>()> host) {
  Factories factories;
  factories.gtp5g = [host = std::move(host)](const config::Config& config) {
    return open_gtp5g(config, host());
  };
  factories.userspace = open_userplane;
  return factories;
}

Factories product_factories() { return with_gtp5g_host(gtp5g::linux_host); }

}  // namespace upf::app

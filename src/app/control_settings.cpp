#include "src/app/control_settings.hpp"

#include <sys/random.h>

#include <array>

#include "upf/base/assert.hpp"
#include "upf/n4/message.hpp"

namespace upf::app {
namespace {

bool is_unspecified(const IpAddress& ip) {
  return ip == IpAddress{Ipv4{}} || ip == IpAddress{Ipv6{}};
}

/// The address that peers are told: the one set for that, else the one bound, else the Node ID's.
std::optional<IpAddress> n4_address(const config::Pfcp& pfcp) {
  if (pfcp.advertise) return pfcp.advertise;
  if (pfcp.addr.address && !is_unspecified(*pfcp.addr.address)) return pfcp.addr.address;
  return pfcp.node_id.address;
}

void add_gtpu(control::Settings& settings, const config::Config& config) {
  for (const auto& entry : config.gtpu.if_list) {
    const auto address = entry.advertise ? entry.advertise : entry.addr.address;
    if (!address || is_unspecified(*address)) continue;
    session::GtpuAddress gtpu{.n9 = entry.type == config::InterfaceType::N9,
                              .name = entry.network_instance};
    if (const auto* v4 = std::get_if<Ipv4>(&*address)) gtpu.ipv4 = *v4;
    if (const auto* v6 = std::get_if<Ipv6>(&*address)) gtpu.ipv6 = *v6;
    settings.sessions.gtpu.push_back(gtpu);
  }
}

/// 8.2.74: the top bit marks rules that are the UP function's own.
constexpr std::uint32_t kOurRule = 0x80000000U;

void add_predefined(control::Settings& settings, const config::PredefinedRules& rules) {
  std::uint32_t id = kOurRule;
  for (const config::PredefinedRule& rule : rules.rules) {
    session::PredefinedRule made{};
    for (const auto& flow : rule.flows) made.filters.push_back({.flow = flow});
    made.far.id = FarId{id};
    if (rule.action == config::PredefinedAction::Drop) {
      made.far.action.drop = true;
    } else {
      made.far.action.forward = true;
      made.far.forwarding = rules::Forwarding{
          .destination = rules::Interface::Core,
          .forwarding_policy = rule.mark == 0 ? std::string{} : std::to_string(rule.mark)};
    }
    if (rule.uplink_kbps != 0) {
      made.qer =
          rules::Qer{.id = QerId{id}, .mbr = rules::BitRate{rule.uplink_kbps, rule.downlink_kbps}};
    }
    settings.sessions.predefined.emplace(rule.name, std::move(made));
    ++id;
  }
}

void add_limits(control::Settings& settings, const config::PfcpLimits& limits) {
  settings.limits.associations = limits.associations;
  settings.limits.stranger_requests_per_second = limits.requests_per_second;
  session::Limits& of_sessions = settings.sessions.limits;
  of_sessions.sessions = limits.sessions;
  of_sessions.sessions_per_owner = limits.sessions_per_peer;
  of_sessions.pdrs = limits.rules_per_session;
  of_sessions.fars = limits.rules_per_session;
  of_sessions.qers = limits.rules_per_session;
  of_sessions.urrs = limits.rules_per_session;
}

control::AuditSettings audit_settings(const config::Gtpu& gtpu) {
  constexpr std::chrono::minutes kDefault{10};
  const bool kernel = gtpu.forwarder == config::Forwarder::Gtp5g;
  const config::Duration usual = kernel ? config::Duration{kDefault} : config::Duration{};
  return {
      .interval = std::chrono::ceil<std::chrono::milliseconds>(gtpu.audit.interval.value_or(usual)),
      .at_start = kernel,
      .repair = gtpu.audit.repair};
}

}  // namespace

std::uint64_t random_number() {
  // A page at a time: an establishment takes several, and a system call each would show.
  static std::array<std::uint64_t, 512> pool{};
  static std::size_t left = 0;
  if (left == 0) {
    std::size_t filled = 0;
    auto* octets = reinterpret_cast<char*>(pool.data());
    while (filled < sizeof pool) {
      const ssize_t got = ::getrandom(octets + filled, sizeof pool - filled, 0);
      UPF_ASSERT(got > 0 || errno == EINTR);
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    left = pool.size();
  }
  return pool[--left];
}

control::Settings control_settings(const config::Config& config, const Now& now) {
  using std::chrono::milliseconds;
  control::Settings settings;
  settings.node_id = config.pfcp.node_id.text;
  settings.recovery_time_stamp = now.wall;
  if (const auto address = n4_address(config.pfcp)) {
    if (const auto* v4 = std::get_if<Ipv4>(&*address)) settings.n4_ipv4 = *v4;
    if (const auto* v6 = std::get_if<Ipv6>(&*address)) settings.n4_ipv6 = *v6;
  }
  add_gtpu(settings, config);
  for (const auto& dnn : config.dnn_list) settings.sessions.pools.push_back({dnn.dnn, dnn.cidr});
  add_predefined(settings, config.predefined);
  settings.retransmit_after = std::chrono::ceil<milliseconds>(config.pfcp.retrans_timeout);
  settings.max_retransmissions = config.pfcp.max_retrans;
  settings.first_sequence = static_cast<std::uint32_t>(random_number() % n4::kLastSequence) + 1;
  settings.heartbeat_interval = std::chrono::ceil<milliseconds>(config.pfcp.heartbeat.interval);
  settings.purge_after = std::chrono::ceil<milliseconds>(config.pfcp.heartbeat.purge_after);
  for (const auto& peer : config.pfcp.peers) {
    if (peer.address) settings.peers.push_back({peer.text, {*peer.address, n4::kPort}});
  }
  settings.allow = config.pfcp.allow;
  add_limits(settings, config.pfcp.limits);
  settings.audit = audit_settings(config.gtpu);
  settings.clock = [] { return Clock::now(); };
  settings.random = random_number;
  return settings;
}

}  // namespace upf::app

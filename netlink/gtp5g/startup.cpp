#include "netlink/gtp5g/startup.hpp"

#include <algorithm>

#include "netlink/gtp5g/requests.hpp"
#include "netlink/gtp5g/version.hpp"
#include "netlink/watched_transport.hpp"

namespace upf::gtp5g {
namespace {

// Outer IPv4, UDP and GTP-U headers with sequence number and PDU Session Container. The module's
// own default forgets the container (cases.md 75).
constexpr std::uint32_t kOuterHeaders = 44;
constexpr std::uint32_t kLeastMtu = 576;

[[nodiscard]] Result<std::string, std::string> module_version(SafeSocket& socket) {
  const std::vector<netlink::GenlRequest> request{version_request(socket.family().id)};
  const auto answers = socket.transact(request);
  if (!answers) return failure(answers.error().detail);
  for (const wire::Octets& message : answers->front().messages) {
    if (const auto text = netlink::Attributes{message}.get(kVersion)) return std::string{*text};
  }
  return failure(std::string{"the gtp5g module doesn't say its version: it is older than 0.9.3"});
}

[[nodiscard]] Result<void, std::string> check_module(const Settings& settings, Parts& parts) {
  auto version = module_version(*parts.socket);
  if (!version) return failure(version.error());
  parts.version = *version;
  const auto verdict = check_version(*version);
  if (!verdict && !settings.any_version) {
    return failure(verdict.error() + " (gtpu.versionCheck: false starts anyway)");
  }
  const std::string remark = verdict ? *verdict : verdict.error() + "; started as configured";
  parts.notes.push_back(remark.empty() ? "gtp5g module " + *version : remark);
  return {};
}

[[nodiscard]] Result<void, std::string> open_events(const Settings& settings, Parts& parts) {
  const auto& groups = parts.socket->family().groups;
  const auto group = std::ranges::find(groups, kEventGroup, &netlink::Family::Group::name);
  if (group == groups.end()) {
    return failure(std::string{"the gtp5g module has no event group: it is older than 0.9.3"});
  }
  auto events = parts.host->open_events(group->id, settings.event_buffer_octets);
  if (!events) return failure(events.error());
  parts.events = std::move(*events);
  return {};
}

[[nodiscard]] Result<std::uint32_t, std::string> choose_mtu(const Settings& settings, Host& host) {
  if (settings.mtu) return *settings.mtu;
  auto mtu = host.mtu_at(settings.addresses.front());
  if (!mtu) return failure(mtu.error());
  if (*mtu < kLeastMtu + kOuterHeaders) {
    return failure("the interface of " + to_string(settings.addresses.front()) + " has an MTU of " +
                   std::to_string(*mtu) + ", too small to carry GTP-U");
  }
  return *mtu - kOuterHeaders;
}

[[nodiscard]] Result<void, std::string> make_link(const Settings& settings, Parts& parts) {
  auto gtpu = parts.host->open_gtpu(settings.addresses, settings.port);
  if (!gtpu) return failure(gtpu.error());
  parts.gtpu = std::move(*gtpu);
  const auto mtu = choose_mtu(settings, *parts.host);
  if (!mtu) return failure(mtu.error());
  auto link = parts.host->create_link({settings.interface, *mtu, settings.hash_size}, *parts.gtpu);
  if (!link) return failure(link.error());
  parts.link = std::move(*link);
  parts.notes.push_back("link " + parts.link.name + " is up, MTU " + std::to_string(*mtu));
  return {};
}

[[nodiscard]] Result<void, std::string> finish_link(const Settings& settings, Parts& parts) {
  for (const Ipv4Prefix& network : settings.ue_networks) {
    if (auto ok = parts.host->add_route(parts.link, network); !ok) return ok;
  }
  if (!settings.qos) {
    parts.notes.emplace_back("QoS is off as configured: no MBR is policed");
    return {};
  }
  if (auto ok = parts.host->set_option("qos", "1"); !ok) {
    return failure("can't switch QoS on: " + ok.error() + " (gtpu.qos: false starts without)");
  }
  parts.notes.emplace_back("QoS is on: MBRs are policed (/proc/gtp5g/qos)");
  return {};
}

}  // namespace

Result<Parts, std::string> start_up(const Settings& settings, std::unique_ptr<Host> host) {
  if (settings.addresses.empty()) {
    return failure(std::string{"gtpu.ifList names no N3 or N9 address"});
  }
  Parts parts{.host = std::move(host)};
  auto requests = parts.host->open_requests();
  if (!requests) return failure(requests.error());
  auto socket = SafeSocket::open(
      std::make_unique<netlink::WatchedTransport>(std::move(*requests), settings.call_timeout),
      parts.host->kernel_without_module());
  if (!socket) return failure(socket.error());
  parts.socket = std::move(*socket);

  if (auto ok = check_module(settings, parts); !ok) return failure(ok.error());
  if (auto ok = open_events(settings, parts); !ok) return failure(ok.error());
  if (auto ok = make_link(settings, parts); !ok) return failure(ok.error());
  if (auto ok = finish_link(settings, parts); !ok) {
    parts.gtpu.reset();
    (void)parts.host->remove_link(parts.link);
    return failure(ok.error());
  }
  return parts;
}

}  // namespace upf::gtp5g

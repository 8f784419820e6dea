#pragma once

#include "contract/world.hpp"
#include "upf/rules/rules.hpp"

/// Rules and packets that the contract's tests begin with and vary.
namespace upf::contract {

inline constexpr Seid kSeid{1};
inline constexpr std::uint32_t kUplinkTeid = 0x1001;  ///< ours, on N3
inline constexpr std::uint32_t kGnbTeid = 0x2001;
inline constexpr std::uint32_t kN9Teid = 0x1002;  ///< ours, on N9
inline constexpr std::uint32_t kPsaTeid = 0x2002;
inline constexpr PdrId kUplinkPdr{1};
inline constexpr PdrId kDownlinkPdr{2};
inline constexpr FarId kUplinkFar{1};
inline constexpr FarId kDownlinkFar{2};
inline constexpr UrrId kUrr{1};
inline constexpr Ipv4 kUe{{10, 45, 0, 1}};
inline constexpr Ipv4 kHost{{198, 51, 100, 7}};

inline Packet to_network() {
  return {.source = kUe, .destination = kHost, .source_port = 4000, .destination_port = 5000};
}
inline Packet to_ue() {
  return {.source = kHost, .destination = kUe, .source_port = 5000, .destination_port = 4000};
}
inline Packet marked(Packet packet, std::uint8_t mark) {
  packet.mark = mark;
  return packet;
}

inline rules::Far tunnel_far(const World& world, FarId id, rules::Interface destination,
                             std::uint8_t peer, std::uint32_t teid) {
  return {.id = id,
          .action = {.forward = true},
          .forwarding = rules::Forwarding{
              .destination = destination,
              .outer_header = rules::OuterHeader{.teid = {teid}, .peer = world.peer(peer)}}};
}

/// One UE as free5GC's SMF sets it up: uplink by F-TEID and UE address, downlink by UE address.
inline rules::SessionRules usual_session(const World& world) {
  rules::SessionRules rules;
  rules.pdrs = {{.id = kUplinkPdr,
                 .precedence = 255,
                 .source_interface = rules::Interface::Access,
                 .f_teid = rules::LocalFTeid{.teid = {kUplinkTeid}, .ipv4 = world.local()},
                 .ue_addresses = {{.ipv4 = kUe}},
                 .removal = rules::HeaderRemoval::GtpuUdpIpv4,
                 .far = kUplinkFar},
                {.id = kDownlinkPdr,
                 .precedence = 255,
                 .source_interface = rules::Interface::Core,
                 .ue_addresses = {{.ipv4 = kUe, .is_destination = true}},
                 .far = kDownlinkFar}};
  rules.fars = {{.id = kUplinkFar,
                 .action = {.forward = true},
                 .forwarding = rules::Forwarding{.destination = rules::Interface::Core}},
                tunnel_far(world, kDownlinkFar, rules::Interface::Access, 0, kGnbTeid)};
  return rules;
}

template <class Rules, class Id>
auto& must_find(Rules& rules, Id id) {
  auto* rule = rules::find(rules, id);
  if (rule == nullptr) std::abort();
  return *rule;
}
inline rules::Pdr& pdr(rules::SessionRules& rules, PdrId id) { return must_find(rules.pdrs, id); }
inline rules::Far& far(rules::SessionRules& rules, FarId id) { return must_find(rules.fars, id); }

/// An uplink PDR whose packets are dropped.
inline void add_dropping_pdr(rules::SessionRules& rules, PdrId id, std::uint32_t precedence) {
  rules::Pdr copy = rules.pdrs.back();
  for (const rules::Pdr& p : rules.pdrs) {
    if (p.source_interface == rules::Interface::Access) copy = p;
  }
  copy.id = id;
  copy.precedence = precedence;
  copy.far = {9};
  if (rules::find(rules.fars, FarId{9}) == nullptr) {
    rules.fars.push_back({.id = {9}, .action = {.drop = true}});
  }
  const auto at = std::ranges::find_if(rules.pdrs, [&](const rules::Pdr& p) { return p.id > id; });
  rules.pdrs.insert(at, copy);
}

/// `permit out 17 from HOST PORT to any`
inline rules::SdfFilter flow_from(Ipv4 host, std::uint16_t port) {
  rules::SdfFilter filter;
  filter.flow.emplace();
  filter.flow->protocol = 17;
  filter.flow->source.prefix = Ipv4Prefix{host, 32};
  if (port != 0) filter.flow->source.ports = {{port, port}};
  return filter;
}

/// All PDRs count on kUrr.
inline rules::SessionRules metered(rules::SessionRules rules) {
  rules.urrs = {{.id = kUrr}};
  for (rules::Pdr& p : rules.pdrs) p.urrs = {kUrr};
  return rules;
}

/// An I-UPF's session: N3 on one side, N9 to the PSA (peer 2) on the other.
inline rules::SessionRules n9_session(const World& world, bool with_ue, bool with_filter) {
  rules::SessionRules rules = usual_session(world);
  far(rules, kUplinkFar) = tunnel_far(world, kUplinkFar, rules::Interface::Core, 2, kPsaTeid);
  rules::Pdr& downlink = pdr(rules, kDownlinkPdr);
  downlink.f_teid = rules::LocalFTeid{.teid = {kN9Teid}, .ipv4 = world.local()};
  downlink.removal = rules::HeaderRemoval::GtpuUdpIpv4;
  for (rules::Pdr& p : rules.pdrs) {
    if (!with_ue) p.ue_addresses.clear();
    if (with_filter) p.filters = {flow_from(kHost, 0)};
  }
  return rules;
}

}  // namespace upf::contract

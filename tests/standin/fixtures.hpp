#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netlink/gtp5g/plane.hpp"
#include "tests/standin/host.hpp"
#include "upf/base/address.hpp"
#include "upf/rules/rules.hpp"

namespace upf::standin {

inline const Ipv4 kN3{{10, 0, 3, 1}};
inline const Ipv4 kGnb{{10, 0, 3, 2}};
inline const Ipv4 kGnb2{{10, 0, 3, 3}};
inline const Ipv4 kUe{{10, 60, 0, 1}};
inline const Ipv4 kServer{{192, 0, 2, 7}};
inline constexpr Teid kUplinkTeid{0x11};
inline constexpr Teid kGnbTeid{0xaabbccdd};
inline constexpr Teid kGnb2Teid{0x01020304};
inline constexpr PdrId kUp{1};
inline constexpr PdrId kDown{2};
inline constexpr FarId kToCore{1};
inline constexpr FarId kToGnb{2};

inline rules::Far far_to_core() {
  return {.id = kToCore,
          .action = {.forward = true},
          .forwarding = rules::Forwarding{.destination = rules::Interface::Core}};
}
inline rules::Far far_to_gnb(Ipv4 peer = kGnb, Teid teid = kGnbTeid) {
  return {.id = kToGnb,
          .action = {.forward = true},
          .forwarding =
              rules::Forwarding{.destination = rules::Interface::Access,
                                .outer_header = rules::OuterHeader{.teid = teid, .peer = peer}}};
}

/// One UE with one flow, both ways, as free5GC's SMF sets it up.
inline rules::SessionRules session() {
  rules::SessionRules rules;
  rules.pdrs = {{.id = kUp,
                 .precedence = 255,
                 .source_interface = rules::Interface::Access,
                 .f_teid = rules::LocalFTeid{.teid = kUplinkTeid, .ipv4 = kN3},
                 .ue_addresses = {{.ipv4 = kUe}},
                 .removal = rules::HeaderRemoval::GtpuUdpIpv4,
                 .far = kToCore},
                {.id = kDown,
                 .precedence = 255,
                 .source_interface = rules::Interface::Core,
                 .ue_addresses = {{.ipv4 = kUe, .is_destination = true}},
                 .far = kToGnb}};
  rules.fars = {far_to_core(), far_to_gnb()};
  return rules;
}
inline rules::SessionRules with_qer(rules::SessionRules rules, rules::Qer qer) {
  for (rules::Pdr& pdr : rules.pdrs) pdr.qers.push_back(qer.id);
  rules.qers.push_back(std::move(qer));
  return rules;
}
inline rules::SessionRules with_urr(rules::SessionRules rules, rules::Urr urr) {
  for (rules::Pdr& pdr : rules.pdrs) pdr.urrs.push_back(urr.id);
  rules.urrs.push_back(std::move(urr));
  return rules;
}
inline rules::SessionRules idle(rules::SessionRules rules, bool notify = true) {
  rules.fars[1].action = {.buffer = true, .notify_cp = notify};
  return rules;
}

/// An IPv4 UDP packet with a payload of so many octets.
inline wire::Octets udp(Ipv4 from, Ipv4 to, std::size_t payload, std::uint16_t from_port = 1000,
                        std::uint16_t to_port = 2000, std::uint8_t tos = 0) {
  wire::Writer out;
  out.be(std::uint8_t{0x45});
  out.be(tos);
  out.be(static_cast<std::uint16_t>(28 + payload));
  out.be(std::uint32_t{0});
  out.be(std::uint8_t{64});
  out.be(std::uint8_t{17});
  out.be(std::uint16_t{0});
  out.put(from.octets);
  out.put(to.octets);
  out.be(from_port);
  out.be(to_port);
  out.be(static_cast<std::uint16_t>(8 + payload));
  out.be(std::uint16_t{0});
  out.put(wire::Octets(payload, 0x55));
  return std::move(out).take();
}

inline wire::Octets g_pdu(Teid teid, wire::Bytes packet) {
  wire::Writer out;
  out.be(std::uint16_t{0x30ff});
  out.be(static_cast<std::uint16_t>(packet.size()));
  out.be(teid.value);
  out.put(packet);
  return std::move(out).take();
}

/// A machine with the plane on it. QERs are not held unless a test wants them to be.
class Rig {
 public:
  explicit Rig(gtp5g::Settings settings = {.qer_hold = {}}) : machine(std::make_shared<Machine>()) {
    if (settings.addresses.empty()) settings.addresses = {kN3};
    auto opened = gtp5g::Plane::open(std::move(settings), host_of(machine));
    if (opened) {
      plane = std::move(*opened);
    } else {
      error = opened.error();
    }
  }

  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const rules::SessionRules* before, const rules::SessionRules* after,
      dataplane::Change more = {}) {
    more.seid = seid;
    more.before = before;
    more.after = after;
    return plane->apply(more);
  }
  /// The next rules of the session; true if they were accepted.
  bool go(const rules::SessionRules& after, dataplane::Change more = {}) {
    const bool ok = apply(now ? &*now : nullptr, &after, std::move(more)).has_value();
    if (ok) now = after;
    return ok;
  }
  std::vector<dataplane::Reading> finish() {
    auto applied = apply(now ? &*now : nullptr, nullptr);
    now.reset();
    return applied ? applied->readings : std::vector<dataplane::Reading>{};
  }

  /// Rules in the kernel once those whose time it is are gone.
  [[nodiscard]] std::size_t rules_left() {
    (void)plane->take_events();
    return machine->kernel.rules();
  }

  void uplink(wire::Bytes packet, Teid teid = kUplinkTeid) {
    machine->kernel.receive_datagram({kGnb, 2152}, kN3, g_pdu(teid, packet));
  }
  void downlink(wire::Bytes packet) { machine->kernel.receive_packet(packet); }
  void uplink(std::size_t payload) { uplink(udp(kUe, kServer, payload)); }
  void downlink(std::size_t payload) { downlink(udp(kServer, kUe, payload)); }

  template <class Event>
  std::vector<Event> events() {
    std::vector<Event> found;
    for (const dataplane::Event& event : plane->take_events()) {
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    }
    return found;
  }
  [[nodiscard]] std::uint64_t counter(const std::string& name,
                                      const std::string& label = {}) const {
    for (const dataplane::Counter& counter : plane->counters()) {
      if (counter.name == name && counter.label == label) return counter.value;
    }
    return UINT64_MAX;
  }

  std::shared_ptr<Machine> machine;
  std::unique_ptr<gtp5g::Plane> plane;
  std::string error;
  std::optional<rules::SessionRules> now;
  Seid seid{0xabcdef0102030405};
};

}  // namespace upf::standin

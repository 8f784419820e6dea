#pragma once

#include "contract/fake_plane.hpp"
#include "contract/world.hpp"
#include "upf/rules/flow.hpp"

/// The fake plane with packets: the plainest reading of the rules, one packet at a time. It is what
/// the contract's tests themselves are checked with.
namespace upf::contract {

class FakeWorld : public World {
 public:
  FakePlane& plane() override { return plane_; }

  void from_peer(std::uint8_t number, const Octets& datagram) override {
    drain();
    const GtpuView view = read_gtpu(datagram);
    if (view.type == 1) {
      outputs_.push_back({.peer = peer(number), .octets = echo_response(datagram)});
    } else if (view.type == 26) {
      const Octets& body = view.payload;
      plane_.raise(dataplane::ErrorIndication{{get32(body, 1)},
                                              Ipv4{{body[8], body[9], body[10], body[11]}}});
    } else if (view.type == 255) {
      arrive({view.payload, view.teid, view.qfi});
    }
  }
  void from_n6(const Octets& packet) override {
    drain();
    arrive({packet, std::nullopt, std::nullopt});
  }
  std::vector<Output> settle() override {
    drain();
    return std::exchange(outputs_, {});
  }
  std::vector<dataplane::Event> events() override { return plane_.take_events(); }
  bool lose_uplink() override {
    plane_.lose_pdr({1}, {1});
    return true;
  }

 private:
  struct Arrived {
    Octets packet{};
    std::optional<std::uint32_t> teid{};
    std::optional<std::uint8_t> qfi{};
  };

  static Octets echo_response(const Octets& request) {
    Octets response = gtpu(0, {14, 0}, {.sequence = 0, .type = 2});
    put16(response, 8, get16(request, 8));
    return response;
  }

  /// What left buffers meets the rules of now; End Markers that the plane sent come out.
  void drain() {
    for (; markers_ < plane_.end_markers().size(); ++markers_) {
      const rules::OuterHeader& to = plane_.end_markers()[markers_];
      outputs_.push_back({.peer = to.peer, .octets = gtpu(to.teid.value, {}, {.type = 254})});
    }
    for (const std::uint64_t name : plane_.take_released()) arrive(Arrived{held_.at(name)});
  }

  void arrive(const Arrived& arrived) {
    for (const Seid seid : plane_.seids()) {
      const rules::SessionRules& rules = *plane_.rules_of(seid);
      const rules::Pdr* pdr = match(rules, arrived);
      if (pdr == nullptr) continue;
      held_.push_back(arrived);
      if (plane_.offer(seid, pdr->id, arrived.packet.size(),
                       static_cast<std::uint8_t>(arrived.packet[1] >> 2U),
                       held_.size() - 1) == Fate::Forwarded) {
        send(rules, *pdr, arrived);
      }
      return;
    }
  }

  static const rules::Pdr* match(const rules::SessionRules& rules, const Arrived& arrived) {
    const rules::Pdr* best = nullptr;
    for (const rules::Pdr& pdr : rules.pdrs) {
      if (matches(pdr, arrived) && (best == nullptr || pdr.precedence < best->precedence)) {
        best = &pdr;
      }
    }
    return best;
  }

  static bool matches(const rules::Pdr& pdr, const Arrived& arrived) {
    const bool uplink = pdr.source_interface == rules::Interface::Access;
    if (pdr.f_teid.has_value() != arrived.teid.has_value()) return false;
    if (pdr.f_teid ? pdr.f_teid->teid.value != *arrived.teid : uplink) return false;
    if (!pdr.qfis.empty() &&
        (!arrived.qfi || std::ranges::find(pdr.qfis, *arrived.qfi) == pdr.qfis.end())) {
      return false;
    }
    const rules::PacketFields fields = fields_of(arrived.packet);
    const rules::Assigned own{pdr.ue_addresses, pdr.framed_routes};
    if (!own.empty() && !own.contains(uplink ? fields.source : fields.destination)) return false;
    return pdr.filters.empty() || std::ranges::any_of(pdr.filters, [&](const auto& filter) {
             return rules::matches(filter, fields, uplink, own);
           });
  }

  /// IPv4 without options, which is what the contract sends.
  static rules::PacketFields fields_of(const Octets& packet) {
    rules::PacketFields fields;
    fields.source = Ipv4::from_host(get32(packet, 12));
    fields.destination = Ipv4::from_host(get32(packet, 16));
    fields.protocol = packet[9];
    fields.tos = packet[1];
    fields.source_port = static_cast<std::uint16_t>(get16(packet, 20));
    fields.destination_port = static_cast<std::uint16_t>(get16(packet, 22));
    return fields;
  }

  void send(const rules::SessionRules& rules, const rules::Pdr& pdr, const Arrived& arrived) {
    const rules::Forwarding& forwarding = *rules::find(rules.fars, pdr.far)->forwarding;
    if (!forwarding.outer_header) {
      outputs_.push_back({.to_n6 = true, .octets = arrived.packet});
      return;
    }
    GtpuOptions options{.qfi = arrived.qfi,
                        .downlink = forwarding.destination == rules::Interface::Access};
    for (const QerId id : pdr.qers) {
      const rules::Qer* qer = rules::find(rules.qers, id);
      if (qer->qfi) options.qfi = qer->qfi;
      options.rqi = options.rqi || (qer->rqi && options.downlink);
    }
    outputs_.push_back(
        {.peer = forwarding.outer_header->peer,
         .octets = gtpu(forwarding.outer_header->teid.value, arrived.packet, options)});
  }

  FakePlane plane_{};
  std::vector<Output> outputs_{};
  std::vector<Arrived> held_{};  ///< by name
  std::size_t markers_{};
};

}  // namespace upf::contract

// Rules to snapshot. Everything that can be decided before the packet comes is decided here:
// directions, swapped ends, gates, the way a FAR sends, what a rate costs an octet.
#include "snapshot.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace upf::userplane {
namespace {

using dataplane::Failure;
using rules::Interface;

/// A bucket is as deep as this much of its rate, and never less than a few packets.
constexpr double kBurstSeconds = 0.05;
constexpr double kLeastBurstOctets = 10.0 * 1500;

std::uint64_t high_bits(unsigned count) {
  return count == 0 ? 0 : ~std::uint64_t{0} << (64U - std::min(count, 64U));
}

/// The rate of a direction; 0 is no limit.
std::optional<Rate> rate_of(const rules::Qer& qer, QerState& state, bool uplink) {
  if (!qer.mbr) return std::nullopt;
  const std::uint64_t kbps = uplink ? qer.mbr->uplink_kbps : qer.mbr->downlink_kbps;
  if (kbps == 0) return std::nullopt;
  const double octets_per_second = static_cast<double>(kbps) * 1000.0 / 8.0;
  Rate rate;
  rate.full_at = uplink ? &state.uplink_full_at : &state.downlink_full_at;
  rate.ticks_per_octet = 1e9 * kTicksPerNs / octets_per_second;
  const double burst = std::max(octets_per_second * kBurstSeconds, kLeastBurstOctets);
  rate.burst = static_cast<Ticks>(burst * rate.ticks_per_octet);
  return rate;
}

template <class T>
std::uint16_t mark(const std::vector<T>& vector) {
  return static_cast<std::uint16_t>(vector.size());
}
template <class T>
Range since(const std::vector<T>& vector, std::uint16_t first) {
  return {first, static_cast<std::uint16_t>(vector.size() - first)};
}

class Compiler {
 public:
  Compiler(Seid seid, const rules::SessionRules& rules, const States& states, LocalEnds& ends)
      : rules_(rules), states_(states), ends_(ends) {
    out_.seid = seid;
  }

  Result<std::unique_ptr<const Snapshot>, Failure> run() {
    if (auto fits = check_size(); !fits) return failure(fits.error());
    out_.fars.reserve(rules_.fars.size());
    for (std::size_t i = 0; i < rules_.fars.size(); ++i) {
      if (auto ok = add_far(rules_.fars[i], *states_.fars[i]); !ok) return failure(ok.error());
    }
    std::vector<const rules::Pdr*> order;
    order.reserve(rules_.pdrs.size());
    for (const rules::Pdr& pdr : rules_.pdrs) order.push_back(&pdr);
    std::ranges::stable_sort(order, {}, [](const rules::Pdr* pdr) { return pdr->precedence; });
    out_.pdrs.reserve(order.size());
    reserve();
    for (const rules::Pdr* pdr : order) {
      if (auto ok = add_pdr(*pdr); !ok) return failure(ok.error());
    }
    return Snapshot::of(out_);
  }

 private:
  /// Indexes are 16 bits wide. A session that needs more is not a session.
  [[nodiscard]] Result<void, Failure> check_size() const {
    std::size_t most = rules_.pdrs.size() + rules_.fars.size();
    for (const rules::Pdr& pdr : rules_.pdrs) {
      most += 2 * pdr.ue_addresses.size() + pdr.framed_routes.size() + pdr.urrs.size() +
              pdr.qers.size() + pdr.filters.size();
      for (const rules::SdfFilter& filter : pdr.filters) {
        if (filter.flow) {
          most += filter.flow->source.ports.size() + filter.flow->destination.ports.size();
        }
      }
    }
    if (most < 0xffff) return {};
    return failure(Failure{Failure::Kind::NoResources, {}, "the session's rules are too many"});
  }

  /// One allocation each, and as a rule of what is needed.
  void reserve() {
    std::size_t ue = 0;
    std::size_t filters = 0;
    std::size_t urrs = 0;
    std::size_t rates = 0;
    for (const rules::Pdr& pdr : rules_.pdrs) {
      for (const rules::UeAddress& address : pdr.ue_addresses) {
        ue += (address.ipv4 ? 1U : 0U) + (address.ipv6 ? 1U : 0U);
      }
      filters += pdr.filters.size();
      urrs += pdr.urrs.size();
      for (const QerId id : pdr.qers) {
        const rules::Qer* const qer = rules::find(rules_.qers, id);
        rates += qer != nullptr && qer->mbr ? 1U : 0U;
      }
    }
    out_.ue.reserve(ue);
    out_.filters.reserve(filters);
    out_.urrs.reserve(urrs);
    out_.rates.reserve(rates);
  }

  [[nodiscard]] Result<void, Failure> add_far(const rules::Far& far, FarState& state) {
    if (far.action.duplicate) {
      return failure(Failure{Failure::Kind::Unsupported, far.id, "DUPL: no packet is duplicated"});
    }
    if (far.forwarding && !far.forwarding->forwarding_policy.empty()) {
      return failure(Failure{Failure::Kind::Unsupported, far.id,
                             "Forwarding Policy: a packet written to a TUN takes no mark"});
    }
    FarEntry entry{.id = far.id, .suggested = 0xffff, .state = &state};
    const rules::Bar* bar = far.bar ? rules::find(rules_.bars, *far.bar) : nullptr;
    if (bar != nullptr && bar->suggested_packets) entry.suggested = *bar->suggested_packets;
    if (bar != nullptr) entry.delay_50ms = bar->notification_delay_50ms;
    entry.notify = far.action.buffer && far.action.notify_cp;
    if (far.forwarding) {
      entry.to_access = far.forwarding->destination == Interface::Access;
      entry.to_network = far.forwarding->destination == Interface::Core ||
                         far.forwarding->destination == Interface::N6Lan;
      entry.has_tunnel = far.forwarding->outer_header.has_value();
      if (auto ok = add_tunnel(far, entry.tunnel); !ok) return ok;
    }
    entry.way = way_of(far, entry);
    out_.fars.push_back(entry);
    return {};
  }

  static Way way_of(const rules::Far& far, const FarEntry& entry) {
    if (far.action.drop) return Way::Drop;
    if (far.action.buffer) return Way::Hold;
    if (!far.forwarding) return Way::Nowhere;
    if (far.forwarding->outer_header) return Way::ToTunnel;
    return entry.to_network ? Way::ToN6 : Way::Nowhere;
  }

  [[nodiscard]] Result<void, Failure> add_tunnel(const rules::Far& far, Tunnel& tunnel) {
    const auto& header = far.forwarding->outer_header;
    if (!header) return {};
    using Kind = rules::OuterHeader::Kind;
    if (header->kind != Kind::GtpuUdpIpv4 && header->kind != Kind::GtpuUdpIpv6) {
      return failure(Failure{Failure::Kind::Unsupported, far.id, "outer header without GTP-U"});
    }
    tunnel.teid = header->teid.value;
    tunnel.ipv6 = std::holds_alternative<Ipv6>(header->peer);
    tunnel.peer = std::visit([](const auto& a) { return Address::of(a); }, header->peer);
    const auto socket = ends_.towards(header->peer, far.forwarding->network_instance);
    if (!socket) {
      return failure(Failure{Failure::Kind::Unsupported, far.id,
                             "no local GTP-U address of the family of " + to_string(header->peer)});
    }
    tunnel.socket = *socket;
    if (const auto& marking = far.forwarding->transport_level_marking) {
      tunnel.marked = true;
      // Congestion bits are not the rule's to set (RFC 6040).
      tunnel.tos = static_cast<std::uint8_t>(marking->value & marking->mask & 0xfcU);
    }
    return {};
  }

  [[nodiscard]] Result<void, Failure> add_pdr(const rules::Pdr& pdr) {
    PdrEntry entry{.id = pdr.id};
    entry.uplink = pdr.source_interface == Interface::Access;
    entry.tunnelled = pdr.f_teid.has_value();
    if (pdr.f_teid) entry.teid = pdr.f_teid->teid.value;
    for (const std::uint8_t qfi : pdr.qfis) entry.qfi_mask |= std::uint64_t{1} << (qfi & 0x3fU);
    const rules::Far* far = rules::find(rules_.fars, pdr.far);
    entry.far = static_cast<std::uint16_t>(far - rules_.fars.data());
    add_addresses(pdr, entry);
    entry.filters.first = mark(out_.filters);
    for (const rules::SdfFilter& filter : pdr.filters) add_filter(filter, entry.uplink);
    entry.filters = since(out_.filters, entry.filters.first);
    add_meters(pdr, entry);
    entry.check_source = entry.uplink && pdr.ue_addresses.empty() && pdr.framed_routes.empty() &&
                         out_.fars[entry.far].to_network;
    out_.filtered = out_.filtered || entry.filters.count > 0;
    out_.pdrs.push_back(entry);
    return {};
  }

  void add_addresses(const rules::Pdr& pdr, PdrEntry& entry) {
    const auto first = mark(out_.ue);
    for (const rules::UeAddress& ue : pdr.ue_addresses) {
      // A packet from N6 is the UE's by its destination; some SMFs leave S/D out there.
      const bool destination = ue.is_destination || !(entry.uplink || entry.tunnelled);
      if (ue.ipv4) out_.ue.push_back({Address::of(*ue.ipv4), 0, 4, destination});
      if (!ue.ipv6) continue;
      const auto rest = static_cast<std::uint8_t>(128 - ue.ipv6->length);
      out_.ue.push_back({Prefix::of(*ue.ipv6).value, rest, 6, destination});
    }
    entry.ue = since(out_.ue, first);
    const auto first_route = mark(out_.framed);
    for (const IpPrefix& route : pdr.framed_routes) out_.framed.push_back(Prefix::of(route));
    entry.framed = since(out_.framed, first_route);
  }

  void add_filter(const rules::SdfFilter& sdf, bool uplink) {
    Filter filter;
    if (sdf.flow) {
      filter.has_flow = true;
      filter.has_protocol = sdf.flow->protocol.has_value();
      filter.protocol = sdf.flow->protocol.value_or(0);
      filter.from = add_end(uplink ? sdf.flow->destination : sdf.flow->source);
      filter.to = add_end(uplink ? sdf.flow->source : sdf.flow->destination);
    }
    if (sdf.tos) {
      filter.has_tos = true;
      filter.tos = sdf.tos->value;
      filter.tos_mask = sdf.tos->mask;
    }
    filter.has_spi = sdf.spi.has_value();
    filter.spi = sdf.spi.value_or(0);
    filter.has_flow_label = sdf.flow_label.has_value();
    filter.flow_label = sdf.flow_label.value_or(0);
    if (sdf.spi || sdf.flow_label) out_.cacheable = false;
    out_.filters.push_back(filter);
  }

  EndMatch add_end(const rules::EndpointMatch& end) {
    EndMatch match;
    match.negated = end.negated;
    if (end.assigned) {
      match.kind = EndMatch::Kind::Assigned;
    } else if (end.prefix) {
      match.kind = EndMatch::Kind::Prefix;
      match.prefix = Prefix::of(*end.prefix);
    }
    const auto first = mark(out_.ports);
    for (const rules::PortRange& range : end.ports) out_.ports.push_back(range);
    match.ports = since(out_.ports, first);
    return match;
  }

  void add_meters(const rules::Pdr& pdr, PdrEntry& entry) {
    const auto first_urr = mark(out_.urrs);
    for (const bool before_qos : {true, false}) {
      for (const UrrId id : pdr.urrs) {
        const rules::Urr* urr = rules::find(rules_.urrs, id);
        if (urr->before_qos != before_qos) continue;
        entry.blocked = entry.blocked || urr->blocked;
        out_.urrs.push_back(states_.urrs[static_cast<std::size_t>(urr - rules_.urrs.data())]);
      }
      if (before_qos) entry.urrs_before_qos = since(out_.urrs, first_urr);
    }
    entry.urrs = since(out_.urrs, first_urr);
    const auto first_rate = mark(out_.rates);
    entry.gates_open = true;
    for (const QerId id : pdr.qers) {
      const rules::Qer* qer = rules::find(rules_.qers, id);
      QerState& state = *states_.qers[static_cast<std::size_t>(qer - rules_.qers.data())];
      entry.gates_open = entry.gates_open && (entry.uplink ? qer->uplink_open : qer->downlink_open);
      // The flow's own QER comes behind the session's in a PDR's list.
      if (qer->qfi) entry.qfi = *qer->qfi & 0x3fU;
      entry.rqi = entry.rqi || qer->rqi;
      if (const auto rate = rate_of(*qer, state, entry.uplink)) out_.rates.push_back(*rate);
    }
    entry.rates = since(out_.rates, first_rate);
  }

  const rules::SessionRules& rules_;
  const States& states_;
  LocalEnds& ends_;
  SnapshotParts out_{};
};

}  // namespace

Prefix Prefix::of(const Ipv4Prefix& prefix) {
  Prefix out{.version = 4};
  out.mask.low = high_bits(prefix.length) >> 32U;
  out.value.low = prefix.address.host() & out.mask.low;
  return out;
}

Prefix Prefix::of(const Ipv6Prefix& prefix) {
  Prefix out{.version = 6};
  const unsigned length = prefix.length;
  out.mask = {high_bits(length), length > 64 ? high_bits(length - 64) : 0};
  const Address address = Address::of(prefix.address);
  out.value = {address.high & out.mask.high, address.low & out.mask.low};
  return out;
}

Prefix Prefix::of(const IpPrefix& prefix) {
  return std::visit([](const auto& p) { return Prefix::of(p); }, prefix);
}

Snapshot::Snapshot(const SnapshotParts& parts, std::byte* rows)
    : serial([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      seid(parts.seid),
      filtered(parts.filtered),
      cacheable(parts.cacheable),
      pdrs(parts.pdrs, rows),
      fars(parts.fars, rows),
      ue(parts.ue, rows),
      framed(parts.framed, rows),
      filters(parts.filters, rows),
      ports(parts.ports, rows),
      urrs(parts.urrs, rows),
      rates(parts.rates, rows) {}

std::unique_ptr<const Snapshot> Snapshot::of(const SnapshotParts& parts) {
  const auto octets = [](const auto&... rows) {
    return (Row<typename std::decay_t<decltype(rows)>::value_type>::octets(rows) + ...);
  };
  const std::size_t behind = octets(parts.pdrs, parts.fars, parts.ue, parts.framed, parts.filters,
                                    parts.ports, parts.urrs, parts.rates);
  void* const block = ::operator new(sizeof(Snapshot) + behind);
  return std::unique_ptr<const Snapshot>{
      new (block) Snapshot{parts, static_cast<std::byte*>(block) + sizeof(Snapshot)}};
}

Result<std::unique_ptr<const Snapshot>, Failure> compile(Seid seid,
                                                         const rules::SessionRules& rules,
                                                         const States& states, LocalEnds& ends) {
  return Compiler{seid, rules, states, ends}.run();
}

}  // namespace upf::userplane

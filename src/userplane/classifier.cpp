#include "classifier.hpp"

#include <algorithm>
#include <span>

namespace upf::userplane {
namespace {

struct Subject {
  const Snapshot& rules;
  const PdrEntry& pdr;
  const IpPacket& packet;
};

/// Whether an address is one of the PDR's UE addresses or framed routes.
bool is_assigned(const Subject& s, const Address& address) {
  const auto holds = [&](const Prefix& prefix) {
    return prefix.version == s.packet.version && prefix.contains(address);
  };
  return std::ranges::any_of(
             part(s.rules.ue, s.pdr.ue),
             [&](const UeMatch& ue) { return ue.holds(s.packet.version, address); }) ||
         std::ranges::any_of(part(s.rules.framed, s.pdr.framed), holds);
}

bool end_matches(const Subject& s, const EndMatch& end, const Address& address,
                 std::uint16_t port) {
  switch (end.kind) {
    case EndMatch::Kind::Any:
      break;
    case EndMatch::Kind::Prefix:
      if (end.prefix.version != s.packet.version || end.prefix.contains(address) == end.negated) {
        return false;
      }
      break;
    case EndMatch::Kind::Assigned:
      if (s.pdr.ue.count == 0 && s.pdr.framed.count == 0) {
        if (end.negated) return false;
      } else if (is_assigned(s, address) == end.negated) {
        return false;
      }
      break;
  }
  if (end.ports.count == 0) return true;
  return s.packet.has_ports &&
         std::ranges::any_of(part(s.rules.ports, end.ports), [&](const rules::PortRange& range) {
           return range.first <= port && port <= range.last;
         });
}

bool filter_matches(const Subject& s, const Filter& filter) {
  const IpPacket& packet = s.packet;
  if (filter.has_flow) {
    if (filter.has_protocol && filter.protocol != packet.protocol) return false;
    if (!end_matches(s, filter.from, packet.source, packet.source_port)) return false;
    if (!end_matches(s, filter.to, packet.destination, packet.destination_port)) return false;
  }
  if (filter.has_tos && ((packet.tos ^ filter.tos) & filter.tos_mask) != 0) return false;
  if (filter.has_spi && !(packet.has_spi && packet.spi == filter.spi)) return false;
  return !filter.has_flow_label || (packet.version == 6 && packet.flow_label == filter.flow_label);
}

/// Any UE address or framed route that the PDI names; true if it names none.
bool ue_matches(const Subject& s) {
  if (s.pdr.ue.count == 0 && s.pdr.framed.count == 0) return true;
  for (const UeMatch& ue : part(s.rules.ue, s.pdr.ue)) {
    const Address& address = ue.destination ? s.packet.destination : s.packet.source;
    if (ue.holds(s.packet.version, address)) return true;
  }
  const Address& own = s.pdr.uplink ? s.packet.source : s.packet.destination;
  return std::ranges::any_of(part(s.rules.framed, s.pdr.framed), [&](const Prefix& prefix) {
    return prefix.version == s.packet.version && prefix.contains(own);
  });
}

/// TS 29.244 doesn't oblige an SMF to name the UE's address in an uplink PDI. Still a UE sends to
/// the network only from addresses that the session's other PDRs know, if they know any.
bool source_is_own(const Snapshot& rules, const IpPacket& packet) {
  if (rules.ue.empty() && rules.framed.empty()) return true;
  return std::ranges::any_of(
             rules.ue,
             [&](const UeMatch& ue) { return ue.holds(packet.version, packet.source); }) ||
         std::ranges::any_of(rules.framed, [&](const Prefix& prefix) {
           return prefix.version == packet.version && prefix.contains(packet.source);
         });
}

}  // namespace

const PdrEntry* match(const Snapshot& rules, const Arrival& arrival, const IpPacket& packet) {
  for (const PdrEntry& pdr : rules.pdrs) {
    if (pdr.tunnelled != arrival.tunnelled) continue;
    if (pdr.tunnelled ? pdr.teid != arrival.teid : pdr.uplink) continue;
    if (pdr.qfi_mask != 0 &&
        (arrival.qfi == kNoQfi || (pdr.qfi_mask >> (arrival.qfi & 0x3fU) & 1U) == 0)) {
      continue;
    }
    const Subject subject{rules, pdr, packet};
    if (!ue_matches(subject)) continue;
    if (pdr.check_source && !source_is_own(rules, packet)) continue;
    if (pdr.filters.count == 0 ||
        std::ranges::any_of(part(rules.filters, pdr.filters), [&](const Filter& filter) {
          return filter_matches(subject, filter);
        })) {
      return &pdr;
    }
  }
  return nullptr;
}

Classifier::Classifier() : flows_(kFlows), fragments_(kFragments) {}

std::size_t Classifier::hash(const Key& key) {
  std::uint64_t x = key.source.low ^ (key.source.high * 0x9e3779b97f4a7c15ULL);
  x = (x ^ key.destination.low) * 0xbf58476d1ce4e5b9ULL ^ key.destination.high;
  x = (x ^ key.ports ^ key.serial << 32U) * 0x94d049bb133111ebULL;
  x ^= (std::uint64_t{key.teid} << 32U | key.rest) + key.more;
  x *= 0xd6e8feb86659fd93ULL;
  return static_cast<std::size_t>(x ^ (x >> 32U));
}

const PdrEntry* Classifier::find(const Snapshot& rules, const Arrival& arrival,
                                 const IpPacket& packet) {
  if (!rules.filtered) return match(rules, arrival, packet);
  if (packet.fragment) return find_fragment(rules, arrival, packet);
  if (!rules.cacheable) return match(rules, arrival, packet);
  const Key key{.source = packet.source,
                .destination = packet.destination,
                .serial = rules.serial,
                .ports = std::uint32_t{packet.source_port} << 16U | packet.destination_port,
                .teid = arrival.teid,
                .rest = std::uint32_t{packet.version} << 24U |
                        std::uint32_t{packet.protocol} << 16U | std::uint32_t{packet.tos} << 8U |
                        arrival.qfi,
                .more = arrival.tunnelled ? 1U : 0U};
  Entry& entry = flows_[hash(key) % kFlows];
  if (entry.key == key)
    return entry.pdr < 0 ? nullptr : &rules.pdrs[static_cast<std::size_t>(entry.pdr)];
  const PdrEntry* pdr = match(rules, arrival, packet);
  entry = {key, pdr == nullptr ? -1 : static_cast<std::int32_t>(pdr - rules.pdrs.data())};
  return pdr;
}

const PdrEntry* Classifier::find_fragment(const Snapshot& rules, const Arrival& arrival,
                                          const IpPacket& packet) {
  const Key key{.source = packet.source,
                .destination = packet.destination,
                .serial = rules.serial,
                .teid = arrival.teid,
                .rest = std::uint32_t{packet.version} << 24U |
                        std::uint32_t{packet.version == 4 ? packet.protocol : std::uint8_t{0}},
                .more = packet.fragment_id};
  Entry& entry = fragments_[hash(key) % kFragments];
  if (packet.later_fragment && entry.key == key && entry.pdr >= 0) {
    return &rules.pdrs[static_cast<std::size_t>(entry.pdr)];
  }
  const PdrEntry* pdr = match(rules, arrival, packet);
  if (!packet.later_fragment && pdr != nullptr) {
    entry = {key, static_cast<std::int32_t>(pdr - rules.pdrs.data())};
  }
  return pdr;
}

}  // namespace upf::userplane

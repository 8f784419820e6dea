#include "upf/rules/flow.hpp"

namespace upf::rules {
namespace {

bool contains(const Ipv4Prefix& prefix, const IpAddress& address) {
  const auto* v4 = std::get_if<Ipv4>(&address);
  return v4 != nullptr && prefix.contains(*v4);
}
bool contains(const Ipv6Prefix& prefix, const IpAddress& address) {
  const auto* v6 = std::get_if<Ipv6>(&address);
  return v6 != nullptr && prefix.contains(*v6);
}
bool contains(const IpPrefix& prefix, const IpAddress& address) {
  return std::visit([&](const auto& p) { return contains(p, address); }, prefix);
}

bool same_family(const IpPrefix& prefix, const IpAddress& address) {
  return prefix.index() == address.index();  // both list IPv4 first
}

bool address_matches(const EndpointMatch& end, const IpAddress& address, const Assigned& assigned) {
  if (end.assigned) {
    // Nobody knows what isn't an unknown address: then `!assigned` matches nothing.
    if (assigned.empty()) return !end.negated;
    return assigned.contains(address) != end.negated;
  }
  if (!end.prefix) return true;
  // RFC 6733 4.3.1: also under `!` the packet has to be of the family that is written.
  return same_family(*end.prefix, address) && contains(*end.prefix, address) != end.negated;
}

bool port_matches(const EndpointMatch& end, std::optional<std::uint16_t> port) {
  if (end.ports.empty()) return true;
  return port && std::ranges::any_of(end.ports, [&](const PortRange& range) {
           return range.first <= *port && *port <= range.last;
         });
}

}  // namespace

bool Assigned::contains(const IpAddress& address) const {
  const auto is_ue = [&](const UeAddress& own) {
    const auto* v4 = std::get_if<Ipv4>(&address);
    if (v4 != nullptr) return own.ipv4 == *v4;
    return own.ipv6 && rules::contains(*own.ipv6, address);
  };
  return std::ranges::any_of(ue, is_ue) || std::ranges::any_of(framed, [&](const IpPrefix& p) {
           return rules::contains(p, address);
         });
}

bool matches(const FlowDescription& flow, const PacketFields& packet, bool swapped,
             const Assigned& assigned) {
  const EndpointMatch& from = swapped ? flow.destination : flow.source;
  const EndpointMatch& to = swapped ? flow.source : flow.destination;
  return (!flow.protocol || *flow.protocol == packet.protocol) &&
         address_matches(from, packet.source, assigned) &&
         address_matches(to, packet.destination, assigned) &&
         port_matches(from, packet.source_port) && port_matches(to, packet.destination_port);
}

bool matches(const SdfFilter& filter, const PacketFields& packet, bool swapped,
             const Assigned& assigned) {
  if (filter.flow && !matches(*filter.flow, packet, swapped, assigned)) return false;
  if (filter.tos && ((packet.tos ^ filter.tos->value) & filter.tos->mask) != 0) return false;
  if (filter.spi && packet.spi != filter.spi) return false;
  return !filter.flow_label || packet.flow_label == filter.flow_label;
}

}  // namespace upf::rules

#include "netlink/gtp5g/flows.hpp"

#include <netinet/in.h>

#include <array>

#include "netlink/gtp5g/attrs.hpp"

namespace upf::gtp5g {
namespace {

std::uint32_t mask_of(std::uint8_t length) {
  return length == 0 ? 0U : ~std::uint32_t{0} << (32U - length);
}

Ipv4Prefix normal(Ipv4Prefix prefix) {
  return {Ipv4::from_host(prefix.address.host() & mask_of(prefix.length)), prefix.length};
}

/// The addresses of one end: any of the prefixes; none if it can't be an IPv4 address.
std::vector<Ipv4Prefix> addresses_of(const rules::EndpointMatch& end, std::optional<Ipv4> ue) {
  Ipv4Prefix prefix{};
  if (end.assigned && ue) {
    prefix = {*ue, 32};
  } else if (end.prefix) {
    const auto* v4 = std::get_if<Ipv4Prefix>(&*end.prefix);
    if (v4 == nullptr) return {};
    prefix = normal(*v4);
  }
  if (end.negated) return complement(prefix);
  return {prefix};
}

/// The kernel reads two octets behind the IP header for every protocol; only these have ports
/// there.
constexpr std::array<std::uint8_t, 3> kWithPorts{IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP};

std::vector<std::uint8_t> protocols_of(const rules::FlowDescription& flow) {
  const bool ports = !flow.source.ports.empty() || !flow.destination.ports.empty();
  if (!ports) return {flow.protocol.value_or(flow::kAnyProtocol)};
  std::vector<std::uint8_t> protocols;
  for (const std::uint8_t protocol : kWithPorts) {
    if (!flow.protocol || *flow.protocol == protocol) protocols.push_back(protocol);
  }
  return protocols;
}

}  // namespace

std::vector<Ipv4Prefix> complement(Ipv4Prefix prefix) {
  std::vector<Ipv4Prefix> rest;
  const std::uint32_t address = prefix.address.host();
  for (unsigned length = 1; length <= prefix.length; ++length) {
    const std::uint32_t sibling = address ^ (1U << (32U - length));
    rest.push_back(normal({Ipv4::from_host(sibling), static_cast<std::uint8_t>(length)}));
  }
  return rest;
}

Result<std::vector<KernelFlow>, std::string> expand_flow(const rules::FlowDescription& flow,
                                                         bool uplink, std::optional<Ipv4> ue,
                                                         std::size_t most) {
  if (flow.protocol == flow::kAnyProtocol) {
    return failure(std::string{"protocol 255 in an SDF filter means any to the module"});
  }
  const std::vector<Ipv4Prefix> sources = addresses_of(flow.source, ue);
  const std::vector<Ipv4Prefix> destinations = addresses_of(flow.destination, ue);
  const std::vector<std::uint8_t> protocols = protocols_of(flow);
  if (sources.size() * destinations.size() * protocols.size() > most) {
    return failure(std::string{"an SDF filter that takes too many kernel PDRs"});
  }
  std::vector<KernelFlow> flows;
  for (const std::uint8_t protocol : protocols) {
    for (const Ipv4Prefix& source : sources) {
      for (const Ipv4Prefix& destination : destinations) {
        KernelFlow out{protocol, source, destination, flow.source.ports, flow.destination.ports};
        if (uplink) {
          std::swap(out.source, out.destination);
          std::swap(out.source_ports, out.destination_ports);
        }
        flows.push_back(std::move(out));
      }
    }
  }
  return flows;
}

}  // namespace upf::gtp5g

#include "src/session/translate.hpp"

#include <charconv>

#include "upf/rules/flow.hpp"

namespace upf::session {
namespace {

using pfcp::IeType;

std::optional<rules::MaskedOctet> masked(const std::optional<pfcp::TosTrafficClass>& ie) {
  if (!ie) return std::nullopt;
  return rules::MaskedOctet{ie->value, ie->mask};
}

std::optional<rules::BitRate> rate(const std::optional<pfcp::BitRates>& ie) {
  if (!ie) return std::nullopt;
  return rules::BitRate{ie->uplink_kbps, ie->downlink_kbps};
}

bool is_open(pfcp::Gate gate) { return gate == pfcp::Gate::Open; }  // 2 and 3 mean closed (8.2.7)

[[nodiscard]] Result<rules::Interface, Refusal> destination(pfcp::DestinationInterface ie) {
  switch (ie) {
    case pfcp::DestinationInterface::Access:
    case pfcp::DestinationInterface::Core:
    case pfcp::DestinationInterface::SgiLanN6Lan:
    case pfcp::DestinationInterface::CpFunction:
      return static_cast<rules::Interface>(ie);
    case pfcp::DestinationInterface::LiFunction:
    case pfcp::DestinationInterface::FiveGVnInternal:
      return unsupported(IeType::DestinationInterface,
                         "destination interface " + std::to_string(static_cast<int>(ie)) +
                             " (lawful interception, 5G VN) is not served");
  }
  return incorrect(
      IeType::DestinationInterface,
      "destination interface " + std::to_string(static_cast<int>(ie)) + " doesn't exist");
}

/// 8.2.26: one and only one of the flags that say where packets go.
[[nodiscard]] Result<rules::ApplyAction, Refusal> apply_action(const pfcp::ApplyAction& ie) {
  if (ie.dupl || ie.ipma || ie.ipmd || ie.dfrt || ie.edrt || ie.fssm || ie.mbsu) {
    return unsupported(IeType::ApplyAction, "duplication, multicast and redundancy are not served");
  }
  if (int{ie.drop} + int{ie.forw} + int{ie.buff} != 1) {
    return incorrect(IeType::ApplyAction, "Apply Action isn't one of DROP, FORW and BUFF");
  }
  return rules::ApplyAction{
      .drop = ie.drop, .forward = ie.forw, .buffer = ie.buff, .notify_cp = ie.nocp && ie.buff};
}

[[nodiscard]] Result<rules::OuterHeader, Refusal> outer_header(
    const pfcp::OuterHeaderCreation& ie) {
  using Kind = rules::OuterHeader::Kind;
  if (ie.ip_ipv4 || ie.ip_ipv6 || ie.c_tag || ie.s_tag) {
    return unsupported(IeType::OuterHeaderCreation, "outer headers are GTP-U/UDP/IP or UDP/IP");
  }
  rules::OuterHeader header{};
  if (ie.gtpu_udp_ipv4 || ie.udp_ipv4) {
    header.kind = ie.gtpu_udp_ipv4 ? Kind::GtpuUdpIpv4 : Kind::UdpIpv4;
    header.peer = ie.ipv4;
    if (ie.ipv4 == Ipv4{}) return incorrect(IeType::OuterHeaderCreation, "peer is 0.0.0.0");
  } else if (ie.gtpu_udp_ipv6 || ie.udp_ipv6) {
    header.kind = ie.gtpu_udp_ipv6 ? Kind::GtpuUdpIpv6 : Kind::UdpIpv6;
    header.peer = ie.ipv6;
    if (ie.ipv6 == Ipv6{}) return incorrect(IeType::OuterHeaderCreation, "peer is ::");
  } else {
    return incorrect(IeType::OuterHeaderCreation, "no outer header is described");
  }
  if (ie.has_teid()) {
    header.teid = ie.teid;
    if (ie.teid == Teid{}) return incorrect(IeType::OuterHeaderCreation, "TEID is 0");
  } else {
    header.port = ie.port;
    if (ie.port == 0) return incorrect(IeType::OuterHeaderCreation, "UDP port is 0");
  }
  return header;
}

/// The mark that a Forwarding Policy's packets get. No other policies exist, so any other name is
/// one that isn't configured (8.2.1, cause 70; cases.md 47).
Check known_policy(const std::string& name) {
  std::uint32_t mark = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, mark);
  if (error == std::errc{} && stop == end && mark != 0) return {};
  return failure(Refusal{pfcp::Cause::InvalidForwardingPolicy, IeType::ForwardingPolicy,
                         std::nullopt, "Forwarding Policy is not a mark of 1 to 4294967295"});
}

/// What Forwarding Parameters and their Update have in common, taken over where it is there.
template <class Parameters>
Check take_over(rules::Forwarding& rule, const Parameters& ie) {
  if (ie.redirect_information) {
    return unsupported(IeType::RedirectInformation, "redirection is not served");
  }
  if (ie.header_enrichment) {
    return unsupported(IeType::HeaderEnrichment, "header enrichment is not served");
  }
  if (ie.network_instance) rule.network_instance = ie.network_instance->text;
  if (ie.transport_level_marking) {
    rule.transport_level_marking = masked(ie.transport_level_marking);
  }
  if (ie.outer_header_creation) {
    auto header = outer_header(*ie.outer_header_creation);
    if (!header) return failure(std::move(header.error()));
    rule.outer_header = *header;
  }
  if (ie.forwarding_policy) {
    if (auto ok = known_policy(*ie.forwarding_policy); !ok) return ok;
    rule.forwarding_policy = *ie.forwarding_policy;
  }
  return {};
}

void take_away(rules::Forwarding& rule, const pfcp::UpdateForwardingParameters& ie) {
  if (takes_away(ie, IeType::NetworkInstance)) rule.network_instance.clear();
  if (takes_away(ie, IeType::OuterHeaderCreation)) rule.outer_header.reset();
  if (takes_away(ie, IeType::TransportLevelMarking)) rule.transport_level_marking.reset();
  if (takes_away(ie, IeType::ForwardingPolicy)) rule.forwarding_policy.clear();
}

Check merge(std::optional<rules::Forwarding>& rule, const pfcp::UpdateForwardingParameters& ie) {
  rules::Forwarding next = rule.value_or(rules::Forwarding{});
  take_away(next, ie);
  if (ie.destination_interface) {
    const auto to = destination(*ie.destination_interface);
    if (!to) return failure(to.error());
    next.destination = *to;
  } else if (!rule) {
    return failure(Refusal{pfcp::Cause::ConditionalIeMissing, IeType::DestinationInterface,
                           std::nullopt, "the FAR had no Destination Interface before"});
  }
  if (auto ok = take_over(next, ie); !ok) return ok;
  rule = std::move(next);
  return {};
}

/// Table 7.5.2.3-1: Forwarding Parameters are there when packets are to be forwarded.
Check can_forward(const rules::Far& rule) {
  if (!rule.action.forward || rule.forwarding) return {};
  return failure(Refusal{pfcp::Cause::ConditionalIeMissing, IeType::ForwardingParameters,
                         std::nullopt, "FORW without Forwarding Parameters"});
}

}  // namespace

Result<rules::Interface, Refusal> source_interface(pfcp::SourceInterface interface) {
  switch (interface) {
    case pfcp::SourceInterface::Access:
    case pfcp::SourceInterface::Core:
    case pfcp::SourceInterface::SgiLanN6Lan:
    case pfcp::SourceInterface::CpFunction:
      return static_cast<rules::Interface>(interface);
    case pfcp::SourceInterface::FiveGVnInternal:
      return unsupported(IeType::SourceInterface, "5G VN groups are not served");
  }
  return incorrect(
      IeType::SourceInterface,
      "source interface " + std::to_string(static_cast<int>(interface)) + " doesn't exist");
}

Result<rules::HeaderRemoval, Refusal> header_removal(const pfcp::OuterHeaderRemoval& ie) {
  const auto description = static_cast<unsigned>(ie.description);
  if (description > static_cast<unsigned>(rules::HeaderRemoval::GtpuUdpIp)) {
    return unsupported(IeType::OuterHeaderRemoval,
                       "outer header removal " + std::to_string(description) + " is not served");
  }
  return static_cast<rules::HeaderRemoval>(description);
}

Result<rules::SdfFilter, Refusal> sdf_filter(const pfcp::SdfFilter& ie) {
  constexpr std::uint32_t kFlowLabelBits = 0xfffff;
  rules::SdfFilter filter{.tos = masked(ie.tos_traffic_class), .spi = ie.security_parameter_index};
  if (ie.flow_label) filter.flow_label = *ie.flow_label & kFlowLabelBits;
  if (ie.flow_description) {
    auto flow = rules::parse_flow_description(*ie.flow_description);
    if (!flow) return incorrect(IeType::SdfFilter, std::move(flow.error()));
    filter.flow = std::move(*flow);
  }
  return filter;
}

Result<rules::UeAddress, Refusal> ue_address(const pfcp::UeIpAddress& ie) {
  rules::UeAddress address{.ipv4 = ie.ipv4, .is_destination = ie.is_destination};
  if (ie.ipv6) {
    const unsigned length = ie.ipv6_prefix_length.value_or(64);
    const unsigned delegated = ie.ipv6_prefix_delegation_bits.value_or(0);
    if (length > 128 || delegated >= length) {
      return incorrect(IeType::UeIpAddress, "IPv6 prefix of " + std::to_string(length) + " bits, " +
                                                std::to_string(delegated) + " of them delegated");
    }
    address.ipv6 = Ipv6Prefix{*ie.ipv6, static_cast<std::uint8_t>(length - delegated)};
  }
  if (!address.ipv4 && !address.ipv6) return incorrect(IeType::UeIpAddress, "it has no address");
  return address;
}

Result<std::vector<IpPrefix>, Refusal> framed_routes(const std::vector<std::string>& ipv4,
                                                     const std::vector<std::string>& ipv6) {
  std::vector<IpPrefix> routes;
  const auto prefix = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  for (const std::string& text : ipv4) {
    const auto route = parse_ipv4_prefix(prefix(text));
    if (!route) return incorrect(IeType::FramedRoute, "it doesn't begin with an IPv4 prefix");
    routes.emplace_back(*route);
  }
  for (const std::string& text : ipv6) {
    const auto route = parse_ipv6_prefix(prefix(text));
    if (!route) return incorrect(IeType::FramedIpv6Route, "it doesn't begin with an IPv6 prefix");
    routes.emplace_back(*route);
  }
  return routes;
}

Result<rules::Far, Refusal> far(const pfcp::CreateFar& ie) {
  const auto action = apply_action(ie.apply_action);
  if (!action) return failure(action.error());
  if (ie.redundant_transmission) {
    return unsupported(IeType::RedundantTransmissionForwardingParameters, "it is not served");
  }
  rules::Far rule{.id = ie.far_id, .action = *action, .bar = ie.bar_id};
  if (ie.forwarding_parameters) {
    const auto to = destination(ie.forwarding_parameters->destination_interface);
    if (!to) return failure(to.error());
    rules::Forwarding forwarding{.destination = *to};
    if (auto ok = take_over(forwarding, *ie.forwarding_parameters); !ok) {
      return failure(std::move(ok.error()));
    }
    rule.forwarding = std::move(forwarding);
  }
  if (auto ok = can_forward(rule); !ok) return failure(std::move(ok.error()));
  return rule;
}

Check update(rules::Far& rule, const pfcp::UpdateFar& ie) {
  if (ie.apply_action) {
    const auto action = apply_action(*ie.apply_action);
    if (!action) return failure(action.error());
    rule.action = *action;
  }
  if (ie.redundant_transmission) {
    return unsupported(IeType::RedundantTransmissionForwardingParameters, "it is not served");
  }
  if (takes_away(ie, IeType::UpdateForwardingParameters)) rule.forwarding.reset();
  if (ie.update_forwarding_parameters) {
    if (auto ok = merge(rule.forwarding, *ie.update_forwarding_parameters); !ok) return ok;
  }
  if (takes_away(ie, IeType::BarId)) rule.bar.reset();
  if (ie.bar_id) rule.bar = ie.bar_id;
  return can_forward(rule);
}

rules::Qer qer(const pfcp::CreateQer& ie) {
  return {.id = ie.qer_id,
          .uplink_open = is_open(ie.gate_status.uplink),
          .downlink_open = is_open(ie.gate_status.downlink),
          .mbr = rate(ie.mbr),
          .gbr = rate(ie.gbr),
          .qfi = ie.qfi,
          .rqi = ie.rqi && ie.rqi->rqi,
          .paging_policy = ie.paging_policy_indicator,
          .correlation = ie.qer_correlation_id};
}

void update(rules::Qer& rule, const pfcp::UpdateQer& ie) {
  if (takes_away(ie, IeType::Mbr)) rule.mbr.reset();
  if (takes_away(ie, IeType::Gbr)) rule.gbr.reset();
  if (takes_away(ie, IeType::Qfi)) rule.qfi.reset();
  if (takes_away(ie, IeType::Rqi)) rule.rqi = false;
  if (takes_away(ie, IeType::PagingPolicyIndicator)) rule.paging_policy.reset();
  if (takes_away(ie, IeType::QerCorrelationId)) rule.correlation.reset();
  if (ie.gate_status) {
    rule.uplink_open = is_open(ie.gate_status->uplink);
    rule.downlink_open = is_open(ie.gate_status->downlink);
  }
  if (ie.mbr) rule.mbr = rate(ie.mbr);
  if (ie.gbr) rule.gbr = rate(ie.gbr);
  if (ie.qfi) rule.qfi = ie.qfi;
  if (ie.rqi) rule.rqi = ie.rqi->rqi;
  if (ie.paging_policy_indicator) rule.paging_policy = ie.paging_policy_indicator;
  if (ie.qer_correlation_id) rule.correlation = ie.qer_correlation_id;
}

rules::Bar bar(const pfcp::CreateBar& ie) {
  rules::Bar rule{.id = ie.bar_id,
                  .notification_delay_50ms = ie.downlink_data_notification_delay.value_or(0)};
  if (ie.suggested_buffering_packets_count) {
    rule.suggested_packets = *ie.suggested_buffering_packets_count;
  }
  return rule;
}

void update(rules::Bar& rule, const pfcp::UpdateBar& ie) {
  if (takes_away(ie, IeType::DownlinkDataNotificationDelay)) rule.notification_delay_50ms = 0;
  if (takes_away(ie, IeType::SuggestedBufferingPacketsCount)) rule.suggested_packets.reset();
  if (ie.downlink_data_notification_delay) {
    rule.notification_delay_50ms = *ie.downlink_data_notification_delay;
  }
  if (ie.suggested_buffering_packets_count) {
    rule.suggested_packets = *ie.suggested_buffering_packets_count;
  }
  if (ie.dl_buffering_suggested_packet_count) {
    rule.suggested_packets = *ie.dl_buffering_suggested_packet_count;
  }
}

}  // namespace upf::session

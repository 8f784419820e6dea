#include <array>
#include <charconv>
#include <utility>

#include "upf/rules/flow.hpp"

// The parser of flow descriptions, `permit out PROTO from SOURCE to DESTINATION`.
//
// The grammar is RFC 6733 4.3.1, cut down by TS 29.212 5.4.2: only `permit`, only `out`, no options
// (frag, ipoptions, tcpflags, ...). A filter decides who may send where and who pays for it, so
// whatever isn't understood to the last token is refused: a token that is skipped would widen the
// filter. The ends are kept in the order of the text, the downlink view; planes swap them.
//
// Two liberties, both narrow: the common names of protocols are taken beside the numbers (policy
// servers send them), and ports are taken with `ip`, where they match the packets that have ports.

namespace upf::rules {
namespace {

using Tokens = std::vector<std::string_view>;
using Error = std::string;

struct ProtocolName {
  std::string_view name;
  std::uint8_t number;
};
// The first name of a number is the one that is printed.
constexpr std::array kProtocols{
    ProtocolName{"icmp", 1},    ProtocolName{"igmp", 2},      ProtocolName{"ipip", 4},
    ProtocolName{"tcp", 6},     ProtocolName{"udp", 17},      ProtocolName{"dccp", 33},
    ProtocolName{"ipv6", 41},   ProtocolName{"rsvp", 46},     ProtocolName{"gre", 47},
    ProtocolName{"esp", 50},    ProtocolName{"ah", 51},       ProtocolName{"ipv6-icmp", 58},
    ProtocolName{"icmpv6", 58}, ProtocolName{"icmp6", 58},    ProtocolName{"ospf", 89},
    ProtocolName{"pim", 103},   ProtocolName{"vrrp", 112},    ProtocolName{"l2tp", 115},
    ProtocolName{"sctp", 132},  ProtocolName{"udplite", 136},
};

constexpr bool has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 || protocol == 136;
}

std::string quoted(std::string_view token) {
  // What a peer sent goes into a log line: no control characters, and not much of it.
  constexpr std::size_t kShown = 40;
  std::string text = "'";
  for (const char c : token.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (token.size() > kShown ? "...'" : "'");
}

Tokens split(std::string_view text) {
  Tokens tokens;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::optional<unsigned> number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value > most) return std::nullopt;
  return value;
}

[[nodiscard]] Result<std::optional<std::uint8_t>, Error> parse_protocol(std::string_view token) {
  if (token == "ip") return std::nullopt;
  for (const auto& [name, value] : kProtocols) {
    if (token == name) return value;
  }
  if (const auto value = number(token, 255)) return static_cast<std::uint8_t>(*value);
  return failure("protocol " + quoted(token) + " is neither 'ip', a known name nor 0 to 255");
}

[[nodiscard]] Result<PortRange, Error> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash), 65535);
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1), 65535);
  if (!first || !last) return failure("port " + quoted(text) + " is not 0 to 65535 or a range");
  if (*first > *last) return failure("port range " + quoted(text) + " ends before it begins");
  return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

[[nodiscard]] Result<std::vector<PortRange>, Error> parse_ports(std::string_view list) {
  std::vector<PortRange> ports;
  for (std::size_t at = 0;;) {
    const std::size_t comma = list.find(',', at);
    auto range = parse_range(list.substr(at, comma == std::string_view::npos ? comma : comma - at));
    if (!range) return failure(std::move(range.error()));
    if (ports.size() == kMaxPortRanges) {
      return failure("more than " + std::to_string(kMaxPortRanges) + " ports or ranges at one end");
    }
    ports.push_back(*range);
    if (comma == std::string_view::npos) return ports;
    at = comma + 1;
  }
}

// "192.0.2.10/24" is every address of 192.0.2.0/24 (RFC 6733 4.3.1): the host bits say nothing, so
// they are not kept.
template <class Prefix>
Prefix masked(Prefix prefix) {
  for (std::size_t i = 0; i < prefix.address.octets.size(); ++i) {
    const std::size_t before = i * 8;
    const std::size_t kept = prefix.length > before ? prefix.length - before : 0;
    if (kept < 8) {
      prefix.address.octets[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
    }
  }
  return prefix;
}

[[nodiscard]] Result<EndpointMatch, Error> parse_address(std::string_view token) {
  EndpointMatch end{};
  std::string_view text = token;
  if (text.starts_with('!')) {
    end.negated = true;
    text.remove_prefix(1);
  }
  if (text == "any") {
    if (end.negated) return failure(Error{"'!any' can't match any packet"});
    return end;
  }
  if (text == "assigned") {
    end.assigned = true;
    return end;
  }
  const auto prefix = parse_ip_prefix(text);
  if (!prefix) {
    return failure("address " + quoted(token) + " is neither 'any', 'assigned' nor a prefix");
  }
  end.prefix = std::visit([](const auto& p) -> IpPrefix { return masked(p); }, *prefix);
  return end;
}

/// One `ADDRESS [PORTS]` of which the first token is at `at`; moves `at` behind it.
[[nodiscard]] Result<EndpointMatch, Error> parse_end(const Tokens& tokens, std::size_t& at,
                                                     std::string_view stop) {
  if (at == tokens.size()) return failure(Error{"it ends where an address is expected"});
  auto end = parse_address(tokens[at++]);
  if (!end || at == tokens.size() || tokens[at] == stop) return end;
  // What follows an address is ports or, at the end of the rule, options.
  const char first = tokens[at].front();
  if (first < '0' || first > '9') {
    return failure(stop.empty() ? "option " + quoted(tokens[at]) + " is not allowed"
                                : quoted(tokens[at]) + " stands where 'to' or ports are expected");
  }
  auto ports = parse_ports(tokens[at++]);
  if (!ports) return failure(std::move(ports.error()));
  end->ports = std::move(*ports);
  return end;
}

std::optional<Error> expect(const Tokens& tokens, std::size_t at, std::string_view word) {
  if (at >= tokens.size()) return "it ends where '" + std::string{word} + "' is expected";
  if (tokens[at] == word) return std::nullopt;
  return quoted(tokens[at]) + " stands where '" + std::string{word} + "' is expected";
}

/// What the grammar allows but no packet can match, or nobody can mean.
std::optional<Error> contradiction(const FlowDescription& flow) {
  const bool ports = !flow.source.ports.empty() || !flow.destination.ports.empty();
  if (ports && flow.protocol && !has_ports(*flow.protocol)) {
    return "protocol " + std::to_string(*flow.protocol) + " has no ports";
  }
  const auto& from = flow.source.prefix;
  const auto& to = flow.destination.prefix;
  if (from && to && from->index() != to->index()) {
    return Error{"source and destination are of different address families"};
  }
  return std::nullopt;
}

[[nodiscard]] Result<FlowDescription, Error> parse(std::string_view text) {
  const Tokens tokens = split(text);
  constexpr std::array<std::string_view, 2> kHead{"permit", "out"};
  for (std::size_t i = 0; i < kHead.size(); ++i) {
    if (auto error = expect(tokens, i, kHead[i])) return failure(std::move(*error));
  }
  if (tokens.size() < 3) return failure(Error{"it ends where a protocol is expected"});
  const auto protocol = parse_protocol(tokens[2]);
  if (!protocol) return failure(protocol.error());
  if (auto error = expect(tokens, 3, "from")) return failure(std::move(*error));
  std::size_t at = 4;
  auto source = parse_end(tokens, at, "to");
  if (!source) return failure(std::move(source.error()));
  if (auto error = expect(tokens, at++, "to")) return failure(std::move(*error));
  auto destination = parse_end(tokens, at, {});
  if (!destination) return failure(std::move(destination.error()));
  if (at != tokens.size()) return failure("option " + quoted(tokens[at]) + " is not allowed");
  FlowDescription flow{*protocol, std::move(*source), std::move(*destination)};
  if (auto error = contradiction(flow)) return failure(std::move(*error));
  return flow;
}

std::string print(const EndpointMatch& end) {
  std::string text = end.negated ? "!" : "";
  text += end.assigned ? "assigned" : end.prefix ? to_string(*end.prefix) : "any";
  char separator = ' ';
  for (const auto& [first, last] : end.ports) {
    text += separator + std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
    separator = ',';
  }
  return text;
}

std::string print(std::optional<std::uint8_t> protocol) {
  if (!protocol) return "ip";
  for (const auto& [name, value] : kProtocols) {
    if (value == *protocol) return std::string{name};
  }
  return std::to_string(*protocol);
}

}  // namespace

Result<FlowDescription, std::string> parse_flow_description(std::string_view text) {
  auto flow = parse(text);
  if (!flow) return failure("flow description " + quoted(text) + ": " + flow.error());
  return flow;
}

std::string to_string(const FlowDescription& flow) {
  return "permit out " + print(flow.protocol) + " from " + print(flow.source) + " to " +
         print(flow.destination);
}

}  // namespace upf::rules

#include <gtest/gtest.h>

#include "upf/rules/flow.hpp"

namespace upf::rules {
namespace {

FlowDescription flow(std::string_view text) {
  auto parsed = parse_flow_description(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error());
  return parsed ? *parsed : FlowDescription{};
}

struct Accepted {
  const char* text;
  const char* printed;  ///< canonical form
};
class Accepts : public testing::TestWithParam<Accepted> {};

TEST_P(Accepts, AndPrintsWhatItMeans) {
  const auto& [text, printed] = GetParam();
  const auto value = flow(text);
  EXPECT_EQ(to_string(value), printed);
  EXPECT_EQ(flow(printed), value);
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, Accepts,
    testing::Values(
        // cases.md 34: both places of `assigned`
        Accepted{"permit out ip from any to assigned", "permit out ip from any to assigned"},
        Accepted{"permit out ip from assigned to any", "permit out ip from assigned to any"},
        // cases.md 36: names, and ports behind them
        Accepted{"permit out udp from 172.22.0.20 49459 to any",
                 "permit out udp from 172.22.0.20/32 49459 to any"},
        Accepted{"permit out 6 from any to any 80", "permit out tcp from any to any 80"},
        Accepted{"permit out icmp from any to any", "permit out icmp from any to any"},
        Accepted{"permit out sctp from any 3868 to any", "permit out sctp from any 3868 to any"},
        Accepted{"permit out icmpv6 from any to any", "permit out ipv6-icmp from any to any"},
        Accepted{"permit out gre from any to any", "permit out gre from any to any"},
        Accepted{"permit out 50 from any to any", "permit out esp from any to any"},
        Accepted{"permit out ah from any to any", "permit out ah from any to any"},
        Accepted{"permit out 0 from any to any", "permit out 0 from any to any"},
        Accepted{"permit out 255 from any to any", "permit out 255 from any to any"},
        // cases.md 35: ports with `ip`
        Accepted{"permit out ip from 1.1.1.1 80 to assigned",
                 "permit out ip from 1.1.1.1/32 80 to assigned"},
        // cases.md 39: Open5GS's router solicitation filter
        Accepted{"permit out 58 from ff02::2/128 to assigned",
                 "permit out ipv6-icmp from ff02::2/128 to assigned"},
        Accepted{"permit out ip from !10.0.0.0/8 to !assigned",
                 "permit out ip from !10.0.0.0/8 to !assigned"},
        Accepted{"permit out tcp from 2001:db8::/32 80,443,8000-8080 to any 1024-65535",
                 "permit out tcp from 2001:db8::/32 80,443,8000-8080 to any 1024-65535"},
        Accepted{"permit out ip from 192.0.2.10/24 to any",
                 "permit out ip from 192.0.2.0/24 to any"},
        Accepted{"permit out ip from 0.0.0.0/0 to any", "permit out ip from 0.0.0.0/0 to any"},
        Accepted{"permit out ip from 2001:db8:ffff::1/33 to any",
                 "permit out ip from 2001:db8:8000::/33 to any"},
        Accepted{"  permit\tout  ip from any   to any ", "permit out ip from any to any"}));

struct Refused {
  const char* text;
  const char* because;
};
class Refuses : public testing::TestWithParam<Refused> {};

TEST_P(Refuses, AndSaysWhatIsWrong) {
  const auto& [text, because] = GetParam();
  const auto parsed = parse_flow_description(text);
  ASSERT_FALSE(parsed) << to_string(*parsed);
  EXPECT_NE(parsed.error().find(because), std::string::npos) << parsed.error();
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, Refuses,
    testing::Values(
        // cases.md 7
        Refused{"aaaaaaaabbbbcccc", "'permit' is expected"}, Refused{"", "'permit' is expected"},
        Refused{"   ", "'permit' is expected"}, Refused{"permit out", "a protocol is expected"},
        Refused{"permit", "'out' is expected"}, Refused{"permit out ip", "'from' is expected"},
        Refused{"permit out ip from", "an address is expected"},
        Refused{"permit out ip from any", "'to' is expected"},
        Refused{"permit out ip from any to", "an address is expected"},
        // TS 29.212 5.4.2: permit and out only
        Refused{"deny out ip from any to any", "'permit' is expected"},
        Refused{"permit in ip from any to any", "'out' is expected"},
        Refused{"PERMIT out ip from any to any", "'permit' is expected"},
        Refused{"permit out ip from any to any frag", "option 'frag' is not allowed"},
        Refused{"permit out ip from any to any 80 ipoptions ssrr", "option 'ipoptions'"},
        Refused{"permit out tcp from any to any setup", "option 'setup'"},
        Refused{"permit out tcp from any 80 81 to any", "'81' stands where 'to' is expected"},
        Refused{"permit out tcp from any to any 80, 443", "port '' is not"},
        Refused{"permit out foo from any to any", "protocol 'foo'"},
        Refused{"permit out 256 from any to any", "protocol '256'"},
        Refused{"permit out -1 from any to any", "protocol '-1'"},
        Refused{"permit out ip from 10.0.0.0/33 to any", "address '10.0.0.0/33'"},
        Refused{"permit out ip from 10.0.0/8 to any", "address '10.0.0/8'"},
        Refused{"permit out ip from 2001:db8::/129 to any", "address '2001:db8::/129'"},
        Refused{"permit out ip from !!10.0.0.1 to any", "address '!!10.0.0.1'"},
        Refused{"permit out ip from !any to any", "can't match"},
        Refused{"permit out ip from host.example to any", "address 'host.example'"},
        Refused{"permit out tcp from any 65536 to any", "port '65536'"},
        Refused{"permit out tcp from any 90-80 to any", "ends before it begins"},
        Refused{"permit out tcp from any 80- to any", "port '80-'"},
        Refused{"permit out tcp from any 1-2-3 to any", "port '1-2-3'"},
        Refused{"permit out tcp from any 80,,81 to any", "port ''"},
        Refused{"permit out icmp from any 80 to any", "protocol 1 has no ports"},
        Refused{"permit out ip from 10.0.0.1 to 2001:db8::1", "different address families"}));

TEST(ParseFlowDescription, NulAndControlCharactersAreNotShownRaw) {
  const auto parsed =
      parse_flow_description(std::string_view{"permit out ip from any to any\0", 30});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().find('\0'), std::string::npos);
}

TEST(ParseFlowDescription, PortListsAreBounded) {
  std::string text = "permit out tcp from any 1";
  for (std::size_t i = 1; i < kMaxPortRanges; ++i) text += ",1";
  EXPECT_TRUE(parse_flow_description(text + " to any"));
  EXPECT_FALSE(parse_flow_description(text + ",1 to any"));
}

PacketFields packet(const char* source, const char* destination, std::uint8_t protocol = 17,
                    std::optional<std::uint16_t> from = {}, std::optional<std::uint16_t> to = {}) {
  return {.source = *parse_ip(source),
          .destination = *parse_ip(destination),
          .protocol = protocol,
          .source_port = from,
          .destination_port = to};
}

// cases.md 35: one text on both PDRs; uplink swaps addresses and ports
TEST(MatchesFlow, UplinkSwapsAddressesAndPorts) {
  const auto f = flow("permit out udp from 1.1.1.1 80 to assigned");
  const UeAddress ue{.ipv4 = parse_ipv4("10.60.0.1")};
  const Assigned assigned{.ue = {&ue, 1}};
  EXPECT_TRUE(matches(f, packet("1.1.1.1", "10.60.0.1", 17, 80, 5000), false, assigned));
  EXPECT_FALSE(matches(f, packet("1.1.1.1", "10.60.0.1", 17, 80, 5000), true, assigned));
  EXPECT_TRUE(matches(f, packet("10.60.0.1", "1.1.1.1", 17, 5000, 80), true, assigned));
  EXPECT_FALSE(matches(f, packet("10.60.0.1", "1.1.1.1", 17, 80, 5000), true, assigned));
  EXPECT_FALSE(matches(f, packet("10.60.0.2", "1.1.1.1", 17, 5000, 80), true, assigned));
}

// cases.md 34: assigned is the UE's address, anything where the PDR names none
TEST(MatchesFlow, Assigned) {
  const auto f = flow("permit out ip from any to assigned");
  EXPECT_TRUE(matches(f, packet("1.1.1.1", "9.9.9.9"), false, {}));
  const UeAddress ue{.ipv6 = parse_ipv6_prefix("2001:db8:0:1::/64")};
  const IpPrefix route = *parse_ip_prefix("192.168.7.0/24");
  const Assigned assigned{{&ue, 1}, {&route, 1}};
  EXPECT_TRUE(matches(f, packet("2001:db8:9::9", "2001:db8:0:1::abcd"), false, assigned));
  EXPECT_FALSE(matches(f, packet("2001:db8:9::9", "2001:db8:0:2::abcd"), false, assigned));
  EXPECT_TRUE(matches(f, packet("1.1.1.1", "192.168.7.9"), false, assigned));
  EXPECT_FALSE(matches(f, packet("1.1.1.1", "192.168.8.9"), false, assigned));
  const auto other = flow("permit out ip from any to !assigned");
  EXPECT_TRUE(matches(other, packet("1.1.1.1", "192.168.8.9"), false, assigned));
  EXPECT_FALSE(matches(other, packet("1.1.1.1", "192.168.8.9"), false, {}));
}

TEST(MatchesFlow, NegationKeepsTheFamily) {
  const auto f = flow("permit out ip from !10.0.0.0/8 to any");
  EXPECT_TRUE(matches(f, packet("11.0.0.1", "10.60.0.1"), false, {}));
  EXPECT_FALSE(matches(f, packet("10.9.9.9", "10.60.0.1"), false, {}));
  EXPECT_FALSE(matches(f, packet("2001:db8::1", "2001:db8::2"), false, {}));
}

TEST(MatchesFlow, AFragmentWithoutPortsNeverMatchesPorts) {
  const auto f = flow("permit out udp from any 1-100,200 to any");
  EXPECT_TRUE(matches(f, packet("1.1.1.1", "2.2.2.2", 17, 200, 9), false, {}));
  EXPECT_TRUE(matches(f, packet("1.1.1.1", "2.2.2.2", 17, 100, 9), false, {}));
  EXPECT_FALSE(matches(f, packet("1.1.1.1", "2.2.2.2", 17, 101, 9), false, {}));
  EXPECT_FALSE(matches(f, packet("1.1.1.1", "2.2.2.2"), false, {}));
}

TEST(MatchesSdfFilter, AllThatIsEngagedMustMatch) {
  SdfFilter filter{.flow = flow("permit out esp from any to any"),
                   .tos = MaskedOctet{0xb8, 0xfc},
                   .spi = 0x1000};
  auto p = packet("1.1.1.1", "2.2.2.2", 50);
  p.tos = 0xb9;  // ECN bits are masked out
  p.spi = 0x1000;
  EXPECT_TRUE(matches(filter, p, false, {}));
  p.spi = 0x1001;
  EXPECT_FALSE(matches(filter, p, false, {}));
  p.spi = 0x1000;
  p.tos = 0;
  EXPECT_FALSE(matches(filter, p, false, {}));
  filter = {.flow_label = 0x12345};
  EXPECT_FALSE(matches(filter, p, false, {}));
  p.flow_label = 0x12345;
  EXPECT_TRUE(matches(filter, p, false, {}));
}

}  // namespace
}  // namespace upf::rules

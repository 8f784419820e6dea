#include "upf/base/address.hpp"

#include <gtest/gtest.h>

namespace upf {
namespace {

TEST(Ipv4, HostOrderRoundTrip) {
  EXPECT_EQ(Ipv4::from_host(0x0a000001).octets, (std::array<std::uint8_t, 4>{10, 0, 0, 1}));
  EXPECT_EQ((Ipv4{{10, 0, 0, 1}}.host()), 0x0a000001U);
}

TEST(ParseIp, TakesOneAddressAndNothingElse) {
  EXPECT_EQ(parse_ipv4("10.0.0.1"), (Ipv4{{10, 0, 0, 1}}));
  EXPECT_EQ(parse_ipv4("10.0.0.1 "), std::nullopt);
  EXPECT_EQ(parse_ipv4("10.0.1"), std::nullopt);
  EXPECT_EQ(parse_ipv4(""), std::nullopt);
  EXPECT_EQ(parse_ipv4("upf.example"), std::nullopt);
  EXPECT_EQ(to_string(*parse_ip("2001:db8::1")), "2001:db8::1");
}

TEST(ParsePrefix, LengthMustFitTheFamily) {
  EXPECT_EQ(to_string(*parse_ip_prefix("10.60.0.0/16")), "10.60.0.0/16");
  EXPECT_EQ(to_string(*parse_ip_prefix("10.60.0.1")), "10.60.0.1/32");
  EXPECT_EQ(to_string(*parse_ip_prefix("2001:db8::/48")), "2001:db8::/48");
  EXPECT_EQ(parse_ip_prefix("10.60.0.0/33"), std::nullopt);
  EXPECT_EQ(parse_ip_prefix("10.60.0.0/"), std::nullopt);
  EXPECT_EQ(parse_ip_prefix("10.60.0.0/-1"), std::nullopt);
  EXPECT_EQ(parse_ip_prefix("2001:db8::/129"), std::nullopt);
}

TEST(Prefix, ContainsLooksAtItsFirstBitsOnly) {
  const auto block = *parse_ipv4_prefix("10.60.128.0/17");
  EXPECT_TRUE(block.contains(*parse_ipv4("10.60.255.255")));
  EXPECT_FALSE(block.contains(*parse_ipv4("10.60.127.255")));
  EXPECT_TRUE(parse_ipv4_prefix("0.0.0.0/0")->contains(*parse_ipv4("255.1.2.3")));
  const auto block6 = *parse_ipv6_prefix("2001:db8::/33");
  EXPECT_TRUE(block6.contains(*parse_ipv6("2001:db8:7fff::1")));
  EXPECT_FALSE(block6.contains(*parse_ipv6("2001:db8:8000::1")));
}

TEST(SocketAddress, PrintsBracketsForIpv6) {
  EXPECT_EQ(to_string(SocketAddress{*parse_ip("::1"), 8805}), "[::1]:8805");
  EXPECT_EQ(to_string(SocketAddress{*parse_ip("127.0.0.1"), 2152}), "127.0.0.1:2152");
}

}  // namespace
}  // namespace upf

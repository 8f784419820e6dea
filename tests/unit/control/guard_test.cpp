#include "upf/control/guard.hpp"

#include <gtest/gtest.h>

namespace upf::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const IpAddress kStranger{Ipv4{{192, 0, 2, 1}}};

TEST(Guard, AllowsEveryoneWithoutAListAndOnlyTheListWithOne) {  // cases.md 13
  EXPECT_TRUE((Guard{{}, 10, 25}.allows(kStranger)));
  const Guard guard{{*parse_ip_prefix("10.0.0.0/8"), *parse_ip_prefix("2001:db8::/32")}, 10, 25};
  EXPECT_FALSE(guard.allows(kStranger));
  EXPECT_TRUE(guard.allows(*parse_ip("10.1.2.3")));
  EXPECT_TRUE(guard.allows(*parse_ip("2001:db8::7")));
  EXPECT_FALSE(guard.allows(*parse_ip("2001:db9::7")));
}

TEST(Guard, AStrangerHasARate) {
  Guard guard{{}, 10, 25};
  const TimePoint start{seconds{1000}};
  int served = 0;
  for (int i = 0; i < 1000; ++i) served += guard.admits(start, kStranger) ? 1 : 0;
  EXPECT_EQ(served, 10);
  EXPECT_FALSE(guard.admits(start + milliseconds{50}, kStranger));
  EXPECT_TRUE(guard.admits(start + milliseconds{200}, kStranger));
  EXPECT_TRUE(guard.admits(start + milliseconds{200}, Ipv4{{192, 0, 2, 2}})) << "its own rate";
}

TEST(Guard, ForgedSourcesGainNothing) {
  Guard guard{{}, 10, 25};
  const TimePoint start{seconds{1000}};
  std::uint32_t served = 0;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    served += guard.admits(start, Ipv4::from_host(0xc0000000 + i)) ? 1U : 0U;
  }
  EXPECT_EQ(served, 25U);
}

}  // namespace
}  // namespace upf::control

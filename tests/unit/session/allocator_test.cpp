#include "upf/session/allocator.hpp"

#include <gtest/gtest.h>

#include <set>

namespace upf::session {
namespace {

constexpr Seid kOne{1};
constexpr Seid kTwo{2};

/// Says these numbers, then counts on from the last.
Random scripted(std::vector<std::uint64_t> numbers) {
  return [numbers = std::move(numbers), at = std::size_t{0}]() mutable {
    const std::size_t last = numbers.size() - 1;
    const std::uint64_t value = at <= last ? numbers[at] : numbers[last] + (at - last);
    ++at;
    return value;
  };
}

TEST(Teids, NeverZeroAndNeverOneThatIsTaken) {
  Teids teids{scripted({0, 7, 7, 7, 0x1'0000'0000, 8})};
  EXPECT_EQ(teids.allocate(kOne), Teid{7});
  EXPECT_EQ(teids.allocate(kTwo), Teid{8});
}

TEST(Teids, ThoseOfCpFunctionsStandBesideOurs) {
  Teids teids{scripted({7, 8, 9})};
  EXPECT_TRUE(teids.claim(Teid{7}, kOne));
  EXPECT_TRUE(teids.claim(Teid{7}, kOne));
  EXPECT_FALSE(teids.claim(Teid{7}, kTwo));
  EXPECT_EQ(teids.allocate(kTwo), Teid{8});
  EXPECT_EQ(teids.owner(Teid{7}), kOne);
  EXPECT_FALSE(teids.claim(Teid{8}, kOne));
  teids.release(Teid{7});
  EXPECT_TRUE(teids.claim(Teid{7}, kTwo));
}

TEST(Teids, ARandomSourceThatRepeatsItselfEndsTheSearch) {
  Teids teids{[] { return 7; }};
  EXPECT_TRUE(teids.allocate(kOne));
  EXPECT_EQ(teids.allocate(kOne), std::nullopt);
}

constexpr auto kNobodys = [](const auto&) { return false; };

TEST(UeAddresses, AreInTheirPoolAndNotReservedAndNotDoubled) {
  UeAddresses addresses{{{"internet", *parse_ip_prefix("10.60.0.5/29")}}};
  std::set<Ipv4> given;
  while (const auto address = addresses.allocate_ipv4("internet", kNobodys)) given.insert(*address);
  // 10.60.0.0 and .7 are the network's, .1 the data network's own.
  EXPECT_EQ(given.size(), 5U);
  EXPECT_EQ(*given.begin(), *parse_ipv4("10.60.0.2"));
  EXPECT_EQ(*given.rbegin(), *parse_ipv4("10.60.0.6"));
  EXPECT_EQ(addresses.allocate_ipv4("ims", kNobodys), std::nullopt);
}

TEST(UeAddresses, APoolThatIsAddedTakesNothingFromTheOthers) {
  UeAddresses addresses{{{"internet", *parse_ip_prefix("10.60.0.0/29")}}};
  const auto taken = [](Ipv4) { return false; };
  const auto first = addresses.allocate_ipv4("internet", taken);
  EXPECT_FALSE(addresses.allocate_ipv4("ims", taken));
  addresses.add({"ims", *parse_ip_prefix("10.61.0.0/29")});
  EXPECT_EQ(addresses.allocate_ipv4("ims", taken), (Ipv4{{10, 61, 0, 2}}));
  EXPECT_NE(addresses.allocate_ipv4("internet", taken), first);
  EXPECT_EQ(addresses.size(), 3U);
}

TEST(UeAddresses, WhatComesBackComesLast) {
  UeAddresses addresses{{{"internet", *parse_ip_prefix("10.60.0.0/29")}}};
  const auto first = *addresses.allocate_ipv4("internet", kNobodys);
  addresses.release(first);
  addresses.release(first);
  addresses.release(*parse_ipv4("10.60.0.6"));  // never given
  std::vector<Ipv4> given;
  while (const auto address = addresses.allocate_ipv4("internet", kNobodys)) {
    given.push_back(*address);
  }
  ASSERT_EQ(given.size(), 5U);
  EXPECT_EQ(given.back(), first);
}

TEST(UeAddresses, ThoseOfCpFunctionsAreLeftAlone) {
  UeAddresses addresses{{{"internet", *parse_ip_prefix("10.60.0.0/29")}}};
  bool busy = true;
  const auto taken = [&](Ipv4 a) { return busy && a.octets[3] < 6; };
  EXPECT_EQ(addresses.allocate_ipv4("internet", taken), parse_ipv4("10.60.0.6"));
  EXPECT_EQ(addresses.allocate_ipv4("internet", taken), std::nullopt);
  busy = false;
  EXPECT_EQ(addresses.allocate_ipv4("internet", taken), parse_ipv4("10.60.0.2"));
}

TEST(UeAddresses, PrefixesOfTheLengthThatIsAsked) {
  UeAddresses addresses{{{"internet", *parse_ip_prefix("2001:db8::/56")}}};
  EXPECT_EQ(to_string(*addresses.allocate_ipv6("internet", 64, kNobodys)), "2001:db8:0:1::/64");
  EXPECT_EQ(to_string(*addresses.allocate_ipv6("internet", 60, kNobodys)), "2001:db8:0:10::/60");
  EXPECT_EQ(to_string(*addresses.allocate_ipv6("internet", 64, kNobodys)), "2001:db8:0:20::/64");
  EXPECT_EQ(addresses.allocate_ipv6("internet", 56, kNobodys), std::nullopt);
  std::size_t more = 0;
  while (addresses.allocate_ipv6("internet", 64, kNobodys)) ++more;
  EXPECT_EQ(more, 256U - 0x21U);
  addresses.release(*parse_ipv6_prefix("2001:db8:0:10::/60"));
  EXPECT_EQ(to_string(*addresses.allocate_ipv6("internet", 60, kNobodys)), "2001:db8:0:10::/60");
}

TEST(UeAddresses, TheNetworkIsTheFirstNameKnownOrTheOnlyOne) {
  const UeAddresses one{{{"internet", *parse_ip_prefix("10.60.0.0/16")}}};
  EXPECT_EQ(one.network({"", "other"}, false), "internet");
  EXPECT_EQ(one.network({"internet"}, true), std::nullopt);
  const UeAddresses two{
      {{"internet", *parse_ip_prefix("10.60.0.0/16")}, {"ims", *parse_ip_prefix("10.61.0.0/16")}}};
  EXPECT_EQ(two.network({"", "ims"}, false), "ims");
  EXPECT_EQ(two.network({"other"}, false), std::nullopt);
}

}  // namespace
}  // namespace upf::session

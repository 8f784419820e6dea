// The fake under the contract, and what is its own: its seams.
#include "contract/fake_plane.hpp"

#include "contract/data_plane_contract.hpp"
#include "contract/fake_world.hpp"

#include <gtest/gtest.h>

namespace upf::contract {

INSTANTIATE_TEST_SUITE_P(Fake, DataPlaneContract,
                         testing::Values(WorldFactory{
                             "Fake", [] { return std::make_unique<FakeWorld>(); }}),
                         name_of);

namespace {

rules::SessionRules one_way() {
  rules::SessionRules rules;
  rules.pdrs = {{.id = {1},
                 .precedence = 255,
                 .source_interface = rules::Interface::Access,
                 .f_teid = rules::LocalFTeid{.teid = {7}, .ipv4 = Ipv4{{10, 0, 0, 1}}},
                 .far = {1},
                 .urrs = {{1}}}};
  rules.fars = {{.id = {1},
                 .action = {.forward = true},
                 .forwarding = rules::Forwarding{.destination = rules::Interface::Core}}};
  rules.urrs = {{.id = {1}}};
  return rules;
}

TEST(FakePlane, FailsAtTheChosenCallAndKeepsNothingOfIt) {
  FakePlane plane;
  const rules::SessionRules rules = one_way();
  plane.fail_call(1, {dataplane::Failure::Kind::NoResources, dataplane::RuleId{PdrId{1}}, "full"});
  ASSERT_TRUE(plane.apply({.seid = {1}, .after = &rules}));
  rules::SessionRules other = rules;
  other.pdrs[0].f_teid->teid = {8};
  const auto refused = plane.apply({.seid = {2}, .after = &other});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, dataplane::Failure::Kind::NoResources);
  EXPECT_EQ(plane.session_count(), 1U);
  EXPECT_TRUE(plane.apply({.seid = {2}, .after = &other}));
}

TEST(FakePlane, CountsAPacketOnEachUrrAndReadingTakes) {
  FakePlane plane;
  const rules::SessionRules rules = one_way();
  ASSERT_TRUE(plane.apply({.seid = {1}, .after = &rules}));
  EXPECT_EQ(plane.offer({1}, {1}, 100), Fate::Forwarded);
  const auto readings = plane.read_usage({1}, {});
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_EQ(readings->front().octets, (rules::Volume{100, 0}));
  EXPECT_EQ(plane.read_usage({1}, {})->front().octets, rules::Volume{});
}

}  // namespace
}  // namespace upf::contract

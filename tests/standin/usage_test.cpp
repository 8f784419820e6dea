// What is counted, and what happens at limits, on the gtp5g plane.
#include <gtest/gtest.h>

#include "tests/standin/fixtures.hpp"

namespace upf::standin {
namespace {

using dataplane::LimitReached;
using dataplane::Reading;
using dataplane::TrafficStart;
using rules::Volume;

constexpr UrrId kUrr{5};

rules::SessionRules with(rules::Urr urr) { return with_urr(session(), std::move(urr)); }

TEST(Usage, ReadingIsTaking) {
  Rig rig;
  ASSERT_TRUE(rig.go(with({.id = kUrr})));
  rig.uplink(100);
  rig.downlink(30);
  const auto first = rig.plane->read_usage(rig.seid, {});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(*first, (std::vector{Reading{.urr = kUrr, .octets = {100, 30}, .packets = {1, 1}}}));
  rig.uplink(7);
  EXPECT_EQ(rig.plane->read_usage(rig.seid, {})->at(0).octets, (Volume{7, 0}));
  EXPECT_EQ(rig.finish().at(0).octets, (Volume{}));
}

TEST(Usage, NothingIsLostWithAThreshold) {
  // cases.md 48: gtp5g reads 0 for a URR with a threshold
  Rig rig;
  ASSERT_TRUE(rig.go(with({.id = kUrr, .notify_at = rules::VolumeLimit{1, 100}})));
  rig.uplink(60);
  rig.downlink(60);
  rig.uplink(11);
  const auto events = rig.events<LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].limit, LimitReached::Limit::Notify);
  EXPECT_EQ(events[0].generation, 1U);
  EXPECT_EQ(events[0].reading.octets, (Volume{71, 60}));
  rig.uplink(5);
  EXPECT_EQ(rig.finish().at(0).octets, (Volume{5, 0}));
}

TEST(Usage, ALimitIsReachedOnceAGeneration) {
  Rig rig;
  auto rules = with({.id = kUrr, .notify_at = rules::VolumeLimit{1, 10}});
  ASSERT_TRUE(rig.go(rules));
  std::size_t reached = 0;
  for (int i = 0; i < 50; ++i) {
    rig.uplink(10);
    reached += rig.events<LimitReached>().size();
  }
  EXPECT_EQ(reached, 1U);
  rules.urrs[0].notify_at->generation = 2;
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(9);
  EXPECT_TRUE(rig.events<LimitReached>().empty());
  rig.uplink(1);
  EXPECT_EQ(rig.events<LimitReached>().size(), 1U);
}

TEST(Usage, QuotaBlocksAndANewOneReopens) {
  // cases.md 49
  Rig rig;
  auto rules = with({.id = kUrr, .block_at = rules::VolumeLimit{1, 100}});
  ASSERT_TRUE(rig.go(rules));
  for (int i = 0; i < 5; ++i) rig.uplink(50);
  rig.downlink(50);
  EXPECT_EQ(rig.machine->take_n6().size(), 2U);
  EXPECT_TRUE(rig.machine->take_sent().empty());
  const auto events = rig.events<LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].limit, LimitReached::Limit::Block);
  EXPECT_EQ(events[0].reading.octets, (Volume{100, 0}));
  rules.urrs[0].block_at = rules::VolumeLimit{2, 60};
  ASSERT_TRUE(rig.go(rules));
  for (int i = 0; i < 5; ++i) rig.downlink(50);
  EXPECT_EQ(rig.machine->take_sent().size(), 2U);
  EXPECT_EQ(rig.events<LimitReached>().at(0).generation, 2U);
  EXPECT_EQ(rig.finish().at(0).octets, (Volume{}));
}

TEST(Usage, QuotaOfOneDirectionIsNotUsedUpAtOnce) {
  // cases.md 49
  Rig rig;
  ASSERT_TRUE(
      rig.go(with({.id = kUrr, .block_at = rules::VolumeLimit{.generation = 1, .downlink = 100}})));
  for (int i = 0; i < 3; ++i) {
    rig.uplink(200);
    rig.downlink(60);
  }
  EXPECT_EQ(rig.machine->take_sent().size(), 2U);
  EXPECT_EQ(rig.machine->take_n6().size(), 2U);
}

TEST(Usage, ZeroQuotaBlocksFromTheStart) {
  Rig rig;
  ASSERT_TRUE(rig.go(with({.id = kUrr, .block_at = rules::VolumeLimit{1, 0}})));
  rig.uplink(10);
  EXPECT_TRUE(rig.machine->take_n6().empty());
}

TEST(Usage, QuotaBlocksItsOwnPdrsOnly) {
  // cases.md 49: two PDRs share a FAR, one of them is under the quota
  Rig rig;
  auto rules = session();
  rules.urrs = {{.id = kUrr, .block_at = rules::VolumeLimit{1, 10}}};
  rules.pdrs.push_back(rules.pdrs[0]);
  rules.pdrs[2].id = {3};
  rules.pdrs[2].precedence = 10;
  rules.pdrs[2].urrs = {kUrr};
  rules.pdrs[2].filters = {
      {.flow = rules::FlowDescription{.source = {.prefix = Ipv4Prefix{kServer, 32}}}}};
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(20);
  (void)rig.plane->take_events();
  rig.uplink(20);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
  rig.uplink(udp(kUe, {{8, 8, 8, 8}}, 20));
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
}

TEST(Usage, QuotaOfOneSessionLeavesOthersAloneInAOneBucketTable) {
  // The module closes the FARs of every PDR in the bucket that lists a URR of that number.
  Rig rig{{.hash_size = 1}};
  const auto rules = with({.id = kUrr, .block_at = rules::VolumeLimit{1, 10}});
  ASSERT_TRUE(rig.go(rules));
  auto other = session();
  other.pdrs[0].f_teid->teid = {0x22};
  other.pdrs[0].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  other.pdrs[1].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  other = with_urr(other, {.id = kUrr, .block_at = rules::VolumeLimit{1, 1000}});
  const dataplane::Change change{.seid = {99}, .after = &other};
  ASSERT_TRUE(rig.plane->apply(change).has_value());
  rig.uplink(20);
  rig.uplink(20);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
  rig.uplink(udp({{10, 60, 0, 2}}, kServer, 20), {0x22});
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
}

TEST(Usage, AnUpdateBetweenExhaustionAndItsReportDoesNotReopen) {
  Rig rig;
  auto rules = with({.id = kUrr, .block_at = rules::VolumeLimit{1, 10}});
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(20);                                     // exhausted; the report is not read yet
  rules.fars[0].forwarding->forwarding_policy = "7";  // an update that says FORW
  ASSERT_TRUE(rig.go(rules));
  (void)rig.plane->take_events();
  (void)rig.machine->take_n6();
  rig.uplink(20);
  EXPECT_TRUE(rig.machine->take_n6().empty());
}

TEST(Usage, WhatTheDaemonSendsItselfCountsTowardsLimits) {
  Rig rig;
  auto rules = with({.id = kUrr, .notify_at = rules::VolumeLimit{1, 200}});
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(64);
  ASSERT_TRUE(rig.go(idle(rules)));
  rig.downlink(64);
  ASSERT_TRUE(rig.go(rules));  // flushed by the daemon: 128
  rig.uplink(64);
  EXPECT_TRUE(rig.events<LimitReached>().empty());
  rig.downlink(8);
  const auto events = rig.events<LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].reading.octets, (Volume{128, 72}));

  rules.urrs[0].block_at = rules::VolumeLimit{2, 100};
  ASSERT_TRUE(rig.go(idle(rules)));
  rig.downlink(150);
  ASSERT_TRUE(rig.go(rules));  // more than the quota at once
  const auto blocked = rig.events<LimitReached>();
  ASSERT_EQ(blocked.size(), 1U);
  EXPECT_EQ(blocked[0].limit, LimitReached::Limit::Block);
  EXPECT_EQ(blocked[0].reading.octets, (Volume{0, 150}));
  (void)rig.machine->take_sent();
  rig.downlink(10);
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

TEST(Usage, BlockedByTheEngine) {
  Rig rig;
  auto rules = with({.id = kUrr, .blocked = true});
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(10);
  rules.urrs[0].blocked = false;
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(11);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
  EXPECT_EQ(rig.finish().at(0).octets, (Volume{11, 0}));
}

TEST(Usage, StartOfTrafficLosesNoPacket) {
  Rig rig;
  auto rules = with({.id = kUrr, .notify_start = true, .start_generation = 1});
  ASSERT_TRUE(rig.go(rules));
  EXPECT_TRUE(rig.events<TrafficStart>().empty());
  std::size_t started = 0;
  for (int i = 0; i < 5; ++i) {
    rig.uplink(10);
    started += rig.events<TrafficStart>().size();
  }
  EXPECT_EQ(started, 1U);
  EXPECT_EQ(rig.machine->take_n6().size(), 5U);
  rules.urrs[0].start_generation = 2;
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(10);
  EXPECT_EQ(rig.events<TrafficStart>().size(), 1U);
}

TEST(Usage, RemovedUrrHasAFinalReading) {
  // cases.md 53
  Rig rig;
  ASSERT_TRUE(rig.go(with({.id = kUrr})));
  rig.uplink(10);
  const auto plain = session();
  const auto applied = rig.apply(&*rig.now, &plain);
  ASSERT_TRUE(applied.has_value());
  ASSERT_EQ(applied->readings.size(), 1U);
  EXPECT_EQ(applied->readings[0].octets, (Volume{10, 0}));
  rig.now = plain;
  EXPECT_TRUE(rig.finish().empty());
}

TEST(Usage, QueryComesWithTheChange) {
  Rig rig;
  ASSERT_TRUE(rig.go(with({.id = kUrr})));
  rig.downlink(10);
  const auto same = *rig.now;
  const auto applied = rig.apply(&same, &same, {.query = {kUrr}});
  ASSERT_TRUE(applied.has_value());
  ASSERT_EQ(applied->readings.size(), 1U);
  EXPECT_EQ(applied->readings[0].octets, (Volume{0, 10}));
}

TEST(Usage, ReadingOfAnUnknownSessionIsRefused) {
  Rig rig;
  EXPECT_FALSE(rig.plane->read_usage({1}, {}).has_value());
}

// --- QoS -------------------------------------------------------------------------------------

/// Octets that pass of `count` packets of 1000 octets at one moment.
std::size_t passing(Rig& rig, int count) {
  for (int i = 0; i < count; ++i) rig.downlink(1000);
  return rig.machine->take_sent().size();
}

TEST(Qos, TheTighterOfTwoRatesPolices) {
  // cases.md 43
  for (const bool session_first : {true, false}) {
    Rig rig;
    rig.machine->kernel.now = [] { return TimePoint{}; };
    auto rules = session();
    const rules::Qer wide{.id = {1}, .mbr = rules::BitRate{8000, 8000}, .qfi = 1};
    const rules::Qer tight{.id = {2}, .mbr = rules::BitRate{80, 80}, .qfi = 2};
    rules = with_qer(with_qer(rules, session_first ? wide : tight), session_first ? tight : wide);
    std::ranges::sort(rules.qers, {}, &rules::Qer::id);
    const auto applied = rig.apply(nullptr, &rules);
    ASSERT_TRUE(applied.has_value());
    EXPECT_EQ(applied->warnings.size(), 2U);  // one a PDR
    EXPECT_EQ(passing(rig, 100), 12U);        // 1 s and 0.2 s of 10000 octets a second
  }
}

TEST(Qos, EachDirectionsTighterRateCounts) {
  Rig rig;
  rig.machine->kernel.now = [] { return TimePoint{}; };
  auto rules = with_qer(session(), {.id = {1}, .mbr = rules::BitRate{80, 8000}});
  rules = with_qer(rules, {.id = {2}, .mbr = rules::BitRate{8000, 80}});
  ASSERT_TRUE(rig.go(rules));
  EXPECT_EQ(passing(rig, 100), 12U);
  for (int i = 0; i < 100; ++i) rig.uplink(1000);
  EXPECT_EQ(rig.machine->take_n6().size(), 12U);
}

TEST(Qos, ARateOfZeroLimitsNothingInItsDirection) {
  Rig rig;
  rig.machine->kernel.now = [] { return TimePoint{}; };
  auto rules = with_qer(session(), {.id = {1}, .mbr = rules::BitRate{80, 0}});  // the session's
  rules = with_qer(rules, {.id = {2}, .mbr = rules::BitRate{0, 0}, .qfi = 1});
  const auto applied = rig.apply(nullptr, &rules);
  ASSERT_TRUE(applied.has_value());
  EXPECT_TRUE(applied->warnings.empty());
  EXPECT_EQ(passing(rig, 100), 100U);
  for (int i = 0; i < 100; ++i) rig.uplink(1000);
  EXPECT_EQ(rig.machine->take_n6().size(), 12U);
}

// Measurement Information MBQE, TS 29.244 8.2.68: free5GC's SMF asks for both.
TEST(Qos, VolumeIsMeasuredBeforeOrBehindIt) {
  Rig rig;
  rig.machine->kernel.now = [] { return TimePoint{}; };
  auto rules = with_qer(session(), {.id = {1}, .mbr = rules::BitRate{80, 80}});
  rules = with_urr(rules, {.id = {1}, .before_qos = true});
  rules = with_urr(rules, {.id = {2}});
  ASSERT_TRUE(rig.go(rules));
  EXPECT_EQ(passing(rig, 100), 12U);
  const auto readings = rig.plane->read_usage(rig.seid, {});
  ASSERT_TRUE(readings.has_value());
  EXPECT_EQ((*readings)[0].octets, (rules::Volume{0, 100'000}));
  EXPECT_EQ((*readings)[0].packets, (rules::Volume{0, 100}));
  EXPECT_EQ((*readings)[1].octets, (rules::Volume{0, 12'000}));
  EXPECT_EQ((*readings)[1].packets, (rules::Volume{0, 12}));
}

// The kernel's rule is another one then; what was counted towards a limit is not forgotten.
TEST(Qos, ALimitGoesOnWhenItsUrrMeasuresElsewhere) {
  Rig rig;
  auto rules = with({.id = kUrr,
                     .notify_at = rules::VolumeLimit{1, 1000},
                     .block_at = rules::VolumeLimit{2, 1500}});
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(900);
  rules.urrs[0].before_qos = true;
  ASSERT_TRUE(rig.go(rules));
  EXPECT_TRUE(rig.events<LimitReached>().empty());
  rig.downlink(100);
  auto events = rig.events<LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].limit, LimitReached::Limit::Notify);
  EXPECT_EQ(events[0].reading.octets, (rules::Volume{0, 1000}));
  rig.downlink(500);
  events = rig.events<LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].limit, LimitReached::Limit::Block);
  (void)rig.machine->take_sent();
  rig.downlink(1);
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

TEST(Qos, WithoutAnMbrNothingIsPoliced) {
  // cases.md 42
  Rig rig;
  ASSERT_TRUE(rig.go(with_qer(session(), {.id = {1}, .qfi = 1})));
  EXPECT_EQ(passing(rig, 100), 100U);
}

TEST(Qos, DeletingAQerLeavesOthersPoliced) {
  // The module switches policing off for all PDRs that have a QER in the same hash bucket.
  Rig rig{{.hash_size = 64, .qer_hold = {}}};
  rig.machine->kernel.now = [] { return TimePoint{}; };
  const auto limited = with_qer(session(), {.id = {1}, .mbr = rules::BitRate{80, 80}});
  ASSERT_TRUE(rig.go(limited));
  auto other = session();
  other.pdrs[0].f_teid->teid = {0x22};
  other.pdrs[0].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  other.pdrs[1].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  for (std::uint32_t i = 1; i <= 300; ++i) {  // many QERs come and go
    const auto rules = with_qer(other, {.id = {i}, .mbr = rules::BitRate{80, 80}});
    const Seid seid{1000 + i};
    ASSERT_TRUE(rig.plane->apply({.seid = seid, .after = &rules}).has_value());
    ASSERT_TRUE(rig.plane->apply({.seid = seid, .before = &rules}).has_value());
    EXPECT_EQ(rig.rules_left(), 5U);
  }
  EXPECT_EQ(rig.counter("gtp5g_shared_qer_buckets"), 0U);
  EXPECT_EQ(passing(rig, 100), 12U);
}

}  // namespace
}  // namespace upf::standin

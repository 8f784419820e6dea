#include "unit/usage/support.hpp"

namespace upf::usage::test {
namespace {

using contract::Fate;
using Engine_ = EngineTest;
using Triggers = std::vector<Trigger>;

// cases.md 53: exactly one final report
TEST_F(Engine_, DeletionReportsWhatWasCounted) {
  const WallTime begin = now_.wall;
  create({volume_rule()});
  send(kUl, 100);
  send(kDl, 1000);
  advance(seconds{5});
  const auto reports = end();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::Termination);
  EXPECT_EQ(reports[0].octets, (rules::Volume{100, 1000}));
  EXPECT_EQ(reports[0].packets, (rules::Volume{1, 1}));
  EXPECT_EQ(reports[0].start, begin);
  EXPECT_EQ(reports[0].end, now_.wall);
  EXPECT_EQ(reports[0].sequence, 0U);
  EXPECT_FALSE(engine_.wake_at());
  EXPECT_EQ(engine_.urr_count(), 0U);
}

TEST_F(Engine_, RemovalReportsOnce) {
  create({volume_rule(), volume_rule(UrrId{2})});
  send(kUl, 100);
  const auto reports = remove(kUrr);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].urr, kUrr);
  EXPECT_EQ(reports[0].octets.uplink, 100U);
  const auto last = end();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].urr, UrrId{2});
}

TEST_F(Engine_, LossOfTheLastPdrReportsAndTheUrrStays) {
  create({volume_rule()});
  send(kUl, 100);
  for (auto& pdr : rules_.pdrs) pdr.urrs.clear();
  const auto reports = apply({.detached = {kUrr}}, {kUrr});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::Termination);
  EXPECT_EQ(reports[0].octets.uplink, 100U);
  const auto last = end();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].octets.total(), 0U);
  EXPECT_EQ(last[0].sequence, 1U);
}

TEST_F(Engine_, AQueryIsAnsweredAtOnceAndTakesWhatItTells) {
  create({volume_rule()});
  send(kUl, 100);
  auto reports = query(kUrr, 7);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::Immediate);
  EXPECT_EQ(reports[0].octets.uplink, 100U);
  EXPECT_EQ(reports[0].query_reference, 7U);
  reports = query(kUrr);
  EXPECT_EQ(reports[0].octets.total(), 0U);
  EXPECT_EQ(reports[0].sequence, 1U);
}

TEST_F(Engine_, VolumeThresholdsComeAgain) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  create({rule});
  send(kUl, 999);
  EXPECT_TRUE(news().empty());
  send(kDl, 500);
  auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::VolumeThreshold);
  EXPECT_EQ(reports[0].octets, (rules::Volume{999, 500}));
  send(kDl, 999);
  EXPECT_TRUE(news().empty());
  send(kDl, 1);
  EXPECT_EQ(news().size(), 1U);
}

// cases.md 48: periodic reports and thresholds, each with its own count
TEST_F(Engine_, PeriodicReportsDontRestartAThreshold) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.triggers.periodic = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  rule.period = 10;
  create({rule});
  send(kUl, 600);
  advance(seconds{10});
  auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::Periodic);
  EXPECT_EQ(reports[0].octets.uplink, 600U);
  send(kUl, 400);
  reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::VolumeThreshold);
  EXPECT_EQ(reports[0].octets.uplink, 400U);  // nothing is told twice
}

// n4-clients.md 3.16: triggers without their value
TEST_F(Engine_, ATriggerWithoutItsValueStaysInactive) {
  auto rule = volume_rule();
  rule.triggers = {.periodic = true,
                   .volume_threshold = true,
                   .time_threshold = true,
                   .quota_holding_time = true,
                   .volume_quota = true,
                   .time_quota = true,
                   .quota_validity = true};
  create({rule});
  EXPECT_FALSE(engine_.wake_at());
  EXPECT_EQ(send(kUl, 1'000'000), Fate::Forwarded);
  EXPECT_TRUE(news().empty());
}

TEST_F(Engine_, AThresholdOfNothingIsNone) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 0, .uplink = 0, .downlink = 100};
  create({rule});
  for (int i = 0; i < 10; ++i) send(kUl, 1000);
  EXPECT_TRUE(news().empty());
  send(kDl, 100);
  EXPECT_EQ(news().size(), 1U);
}

// cases.md 51: periods stop, change and end with their URR
TEST_F(Engine_, PeriodsFollowTheirUrr) {
  auto rule = volume_rule();
  rule.triggers.periodic = true;
  rule.period = 10;
  create({rule});
  advance(seconds{25});
  EXPECT_EQ(triggers(), (Triggers{Trigger::Periodic, Trigger::Periodic}));
  rule.period = 1;
  update(rule, {.period = true});
  advance(seconds{3});
  EXPECT_EQ(news().size(), 3U);
  rule.triggers.periodic = false;
  update(rule, {.triggers = true});
  EXPECT_FALSE(engine_.wake_at());
  rule.triggers.periodic = true;
  update(rule, {.triggers = true});
  remove(kUrr);
  news();
  advance(seconds{30});
  EXPECT_TRUE(news().empty());
}

// cases.md 49: a quota of one direction; blocked when it is used up; open again with the next
TEST_F(Engine_, AQuotaBlocksAndANewOneOpens) {
  auto rule = volume_rule();
  rule.triggers.volume_quota = true;
  rule.volume_quota = rules::VolumeAmount{.downlink = 1000};
  create({rule});
  EXPECT_EQ(send(kUl, 5000), Fate::Forwarded);
  EXPECT_EQ(send(kDl, 900), Fate::Forwarded);
  EXPECT_TRUE(news().empty());
  EXPECT_EQ(send(kDl, 100), Fate::Forwarded);
  const auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::VolumeQuota);
  EXPECT_EQ(reports[0].octets, (rules::Volume{5000, 1000}));
  EXPECT_EQ(send(kDl, 1), Fate::Dropped);
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  // n4-clients.md 3.9: VOLQU without a quota is no grant
  update(rule, {.triggers = true});
  EXPECT_EQ(send(kDl, 1), Fate::Dropped);
  update(rule, {.volume_quota = true});
  EXPECT_EQ(send(kDl, 1000), Fate::Forwarded);
  EXPECT_EQ(send(kDl, 1), Fate::Dropped);
  EXPECT_EQ(news().size(), 1U);
  rule.volume_quota.reset();
  update(rule, {.volume_quota = true});  // taken away: unlimited
  EXPECT_EQ(send(kDl, 1'000'000), Fate::Forwarded);
}

TEST_F(Engine_, AQuotaOfNothingBlocksFromTheStart) {
  auto rule = volume_rule();
  rule.triggers.volume_quota = true;
  rule.volume_quota = rules::VolumeAmount{.total = 0};
  create({rule});
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  EXPECT_TRUE(news().empty());
}

TEST_F(Engine_, AnExhaustedUrrBlocksItsOwnPdrsOnly) {
  auto rule = volume_rule();
  rule.triggers.volume_quota = true;
  rule.volume_quota = rules::VolumeAmount{.total = 100};
  create({rule});
  rules_.pdrs[0].urrs.clear();
  apply({});
  send(kDl, 100);
  EXPECT_EQ(send(kDl, 1), Fate::Dropped);
  EXPECT_EQ(send(kUl, 1), Fate::Forwarded);
}

TEST_F(Engine_, AFarForQuotaActionTakesOver) {
  auto rule = volume_rule();
  rule.triggers.volume_quota = true;
  rule.volume_quota = rules::VolumeAmount{.total = 100};
  rule.quota_action = FarId{3};
  create({rule});
  send(kDl, 100);
  EXPECT_EQ(rules::find(installed_->pdrs, kDl)->far, FarId{3});
  EXPECT_FALSE(installed_->urrs[0].blocked);
  EXPECT_EQ(rules::find(rules_.pdrs, kDl)->far, FarId{2});
  update(rule, {.volume_quota = true});
  EXPECT_EQ(rules::find(installed_->pdrs, kDl)->far, FarId{2});
  EXPECT_EQ(send(kDl, 1), Fate::Forwarded);
}

// What came after the last report counts for the grant that is given now.
TEST_F(Engine_, ANewQuotaCountsFromTheLastReport) {
  auto rule = volume_rule();
  rule.triggers.volume_quota = true;
  rule.volume_quota = rules::VolumeAmount{.total = 1000};
  create({rule});
  query(kUrr);
  send(kUl, 300);
  update(rule, {.volume_quota = true});
  EXPECT_EQ(send(kUl, 699), Fate::Forwarded);
  EXPECT_EQ(send(kUl, 1), Fate::Forwarded);
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
}

TEST_F(Engine_, QuotasGoOnAcrossReports) {
  auto rule = volume_rule();
  rule.triggers = {.volume_threshold = true, .volume_quota = true};
  rule.volume_threshold = rules::VolumeAmount{.total = 400};
  rule.volume_quota = rules::VolumeAmount{.total = 1000};
  create({rule});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(send(kUl, 100), Fate::Forwarded);
  EXPECT_EQ(send(kUl, 100), Fate::Dropped);
  EXPECT_EQ(triggers(),
            (Triggers{Trigger::VolumeThreshold, Trigger::VolumeThreshold, Trigger::VolumeQuota}));
  EXPECT_EQ(reported_[kUrr].uplink, 1000U);
}

// cases.md 50: time thresholds and quotas, in their own triggers
TEST_F(Engine_, TimeCountsFromTheFirstPacket) {
  rules::UsageRule rule{.id = kUrr, .measure_duration = true};
  rule.triggers = {.time_threshold = true, .time_quota = true};
  rule.time_threshold = 10;
  rule.time_quota = 25;
  create({rule});
  advance(seconds{100});
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  advance(seconds{24});
  auto reports = news();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].trigger, Trigger::TimeThreshold);
  EXPECT_EQ(reports[0].duration_s, 10U);
  EXPECT_EQ(reports[1].duration_s, 10U);
  advance(seconds{1});
  reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::TimeQuota);
  EXPECT_EQ(reports[0].duration_s, 5U);
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  advance(seconds{50});
  update(rule, {.time_quota = true});
  EXPECT_EQ(send(kUl, 1), Fate::Forwarded);
  advance(seconds{25});
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  const auto last = end();
  EXPECT_EQ(last[0].duration_s.value_or(99), 0U);
}

TEST_F(Engine_, ImmediateStartCountsFromTheBeginning) {
  rules::UsageRule rule{.id = kUrr, .measure_duration = true, .immediate_start = true};
  rule.triggers.time_threshold = true;
  rule.time_threshold = 10;
  create({rule});
  advance(seconds{10});
  EXPECT_EQ(triggers(), Triggers{Trigger::TimeThreshold});
}

TEST_F(Engine_, TimeStandsStillWithoutTraffic) {
  rules::UsageRule rule{.id = kUrr, .measure_duration = true};
  rule.inactivity_detection_time = 5;
  rule.triggers.time_threshold = true;
  rule.time_threshold = 12;
  create({rule});
  send(kUl, 1);
  advance(seconds{3});
  send(kUl, 1);
  advance(seconds{60});  // 3 s, and 5 s until it is seen to be idle
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  advance(seconds{3});
  EXPECT_TRUE(news().empty());
  advance(seconds{1});
  const auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].duration_s, 12U);
}

TEST_F(Engine_, FractionsOfSecondsAreNotLost) {
  rules::UsageRule rule{.id = kUrr, .measure_duration = true, .immediate_start = true};
  create({rule});
  std::uint32_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    advance(milliseconds{1300});
    sum += query(kUrr)[0].duration_s.value_or(0);
  }
  EXPECT_EQ(sum, 13U);
}

TEST_F(Engine_, StartAndStopOfTraffic) {
  auto rule = volume_rule();
  rule.triggers = {.start_of_traffic = true, .stop_of_traffic = true};
  rule.inactivity_detection_time = 10;
  create({rule});
  send(kUl, 1);
  auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::StartOfTraffic);
  EXPECT_EQ(reports[0].start, std::nullopt);
  send(kUl, 1);
  EXPECT_TRUE(news().empty());
  advance(seconds{8});
  send(kUl, 1);
  advance(seconds{9});
  EXPECT_TRUE(news().empty());
  advance(seconds{1});
  EXPECT_EQ(triggers(), Triggers{Trigger::StopOfTraffic});
  advance(seconds{50});
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  EXPECT_EQ(triggers(), Triggers{Trigger::StartOfTraffic});
}

TEST_F(Engine_, StartAloneIsSaidOnce) {
  auto rule = volume_rule();
  rule.triggers.start_of_traffic = true;
  create({rule});
  EXPECT_FALSE(engine_.wake_at());
  send(kUl, 1);
  send(kDl, 1);
  EXPECT_EQ(triggers(), Triggers{Trigger::StartOfTraffic});
}

TEST_F(Engine_, AQuotaThatIsHeldUnusedIsVoid) {
  auto rule = volume_rule();
  rule.triggers.quota_holding_time = true;
  rule.volume_quota = rules::VolumeAmount{.total = 1000};
  rule.quota_holding_time = 30;
  create({rule});
  advance(seconds{20});
  send(kUl, 1);
  advance(seconds{29});
  EXPECT_TRUE(news().empty());
  advance(seconds{1});
  EXPECT_EQ(triggers(), Triggers{Trigger::QuotaHoldingTime});
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  EXPECT_FALSE(engine_.wake_at());
  update(rule, {.volume_quota = true});
  EXPECT_EQ(send(kUl, 1), Fate::Forwarded);
}

// n4-clients.md 3.9: Quota Validity Time only with QUVTI
TEST_F(Engine_, QuotaValidityNeedsItsTrigger) {
  auto rule = volume_rule();
  rule.volume_quota = rules::VolumeAmount{.total = 1000};
  rule.quota_validity_time = 30;
  create({rule});
  EXPECT_FALSE(engine_.wake_at());
  rule.triggers.quota_validity = true;
  update(rule, {.triggers = true, .volume_quota = true});
  advance(seconds{30});
  EXPECT_EQ(triggers(), Triggers{Trigger::QuotaValidityTime});
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  update(rule, {.volume_quota = true});
  EXPECT_EQ(send(kUl, 1), Fate::Forwarded);
}

TEST_F(Engine_, LinkedUrrsReportTogether) {
  auto one = volume_rule();
  one.triggers.volume_threshold = true;
  one.volume_threshold = rules::VolumeAmount{.total = 100};
  auto two = volume_rule(UrrId{2});
  two.triggers.linked = true;
  two.linked = {kUrr};
  create({one, two});
  send(kUl, 100);
  const auto reports = news();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].urr, UrrId{2});
  EXPECT_EQ(reports[1].trigger, Trigger::Linked);
  EXPECT_EQ(reports[1].octets.uplink, 100U);
  send(kUl, 50);
  const auto answers = query(kUrr);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].octets.uplink, 50U);
}

TEST_F(Engine_, TheMonitoringTimeSplitsAReport) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  rule.monitoring_time = now_.wall + seconds{60};
  rule.subsequent_volume_threshold = rules::VolumeAmount{.total = 50};
  create({rule});
  send(kUl, 300);
  advance(seconds{60});
  EXPECT_TRUE(news().empty());
  send(kUl, 49);
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  const auto reports = news();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].part, Report::Part::BeforeMonitoringTime);
  EXPECT_EQ(reports[0].octets.uplink, 300U);
  EXPECT_EQ(reports[0].trigger, Trigger::MonitoringTime);
  EXPECT_EQ(reports[1].part, Report::Part::AfterMonitoringTime);
  EXPECT_EQ(reports[1].octets.uplink, 50U);
  EXPECT_EQ(reports[1].trigger, Trigger::VolumeThreshold);
  EXPECT_EQ(reports[0].end, reports[1].start);
  send(kUl, 50);
  EXPECT_EQ(news().size(), 1U);
}

TEST_F(Engine_, APausedMeasurementCountsNothing) {
  auto rule = volume_rule();
  create({rule});
  send(kUl, 100);
  rule.inactive = true;
  update(rule, {});
  EXPECT_EQ(send(kUl, 1000), Fate::Forwarded);
  rule.inactive = false;
  update(rule, {});
  send(kUl, 10);
  EXPECT_EQ(end()[0].octets.uplink, 110U);
}

// TS 29.244 5.11.3
TEST_F(Engine_, UserPlaneInactivityIsSaidOnceAnEpisode) {
  create({});
  apply({.inactivity_timer = 10});
  advance(seconds{8});
  send(kUl, 1);  // no URR of the CP function's is needed
  advance(seconds{9});
  EXPECT_EQ(inactive_, 0U);
  advance(seconds{1});
  EXPECT_EQ(inactive_, 1U);
  advance(seconds{60});
  EXPECT_EQ(inactive_, 1U);
  send(kUl, 1);
  advance(seconds{60});
  EXPECT_EQ(inactive_, 2U);
  EXPECT_TRUE(news().empty());
  apply({.inactivity_timer = 0});
  EXPECT_FALSE(engine_.wake_at());
  EXPECT_TRUE(installed_->urrs.empty());
}

TEST_F(Engine_, ARefusedChangeChangesNothing) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  create({rule});
  send(kUl, 600);
  plane_.fail_next(dataplane::Failure::Kind::NoResources);
  auto smaller = rule;
  smaller.volume_threshold = rules::VolumeAmount{.total = 10};
  update(smaller, {.volume_threshold = true});
  EXPECT_EQ(refused_, 1U);
  send(kUl, 399);
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_EQ(log_[0].octets.uplink, 1000U);  // also what was read for the change
}

TEST_F(Engine_, AUrrReplacedByOneOfItsIdStartsAnew) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  create({rule});
  send(kUl, 600);
  next_sequence_.clear();
  const auto reports =
      apply({.updates = {{.rule = rule, .grant = {.created = true}}}, .removed = {kUrr}});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].octets.uplink, 600U);
  next_sequence_.clear();
  news();
  send(kUl, 999);
  EXPECT_TRUE(news().empty());
  send(kUl, 1);
  EXPECT_EQ(news().size(), 1U);
}

TEST_F(Engine_, AnOldLimitIsOnlyAReading) {
  auto rule = volume_rule();
  rule.triggers.volume_threshold = true;
  rule.volume_threshold = rules::VolumeAmount{.total = 1000};
  create({rule});
  (void)engine_.on_limit({.seid = kSeid,
                          .limit = dataplane::LimitReached::Limit::Notify,
                          .generation = 77,
                          .reading = {.urr = kUrr, .octets = {5, 0}}},
                         now_, reader_);
  EXPECT_TRUE(news().empty());
  EXPECT_EQ(query(kUrr)[0].octets.uplink, 5U);
}

TEST_F(Engine_, LostEventsAreMadeUpForByReading) {
  auto rule = volume_rule();
  rule.triggers = {.volume_threshold = true, .start_of_traffic = true, .volume_quota = true};
  rule.volume_threshold = rules::VolumeAmount{.total = 400};
  rule.volume_quota = rules::VolumeAmount{.uplink = 1000};
  create({rule});
  settle(engine_.on_overrun(now_, reader_));
  EXPECT_TRUE(news().empty());
  plane_.offer(kSeid, kUl, 500);
  lose_events();
  settle(engine_.on_overrun(now_, reader_));
  EXPECT_EQ(triggers(), (Triggers{Trigger::StartOfTraffic, Trigger::VolumeThreshold}));
  plane_.offer(kSeid, kUl, 399);
  settle(engine_.on_overrun(now_, reader_));
  EXPECT_TRUE(news().empty());
  plane_.offer(kSeid, kUl, 101);
  lose_events();
  settle(engine_.on_overrun(now_, reader_));
  EXPECT_EQ(triggers(), (Triggers{Trigger::VolumeThreshold, Trigger::VolumeQuota}));
  EXPECT_EQ(send(kUl, 1), Fate::Dropped);
  EXPECT_EQ(reported_[kUrr].uplink, 1000U);
}

TEST_F(Engine_, DroppedPacketsAreReportedAtTheirThresholdEachTime) {
  auto rule = volume_rule();
  rule.triggers.dropped_threshold = true;
  rule.dropped_threshold = rules::DroppedThreshold{.packets = 2};
  rules_.pdrs[1].far = FarId{3};  // drops
  create({rule});
  EXPECT_EQ(send(kDl, 100), Fate::Dropped);
  EXPECT_TRUE(news().empty());
  send(kUl, 70);
  send(kDl, 100);
  auto reports = news();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].trigger, Trigger::DroppedThreshold);
  EXPECT_EQ(reports[0].octets, (rules::Volume{70, 0}));
  send(kDl, 100);
  EXPECT_TRUE(news().empty());
  send(kDl, 100);
  EXPECT_EQ(triggers(), (Triggers{Trigger::DroppedThreshold}));
  rule.dropped_threshold = rules::DroppedThreshold{.octets = 250};
  update(rule, {.dropped_threshold = true});
  send(kDl, 100);
  send(kDl, 100);
  EXPECT_TRUE(news().empty());
  send(kDl, 100);
  EXPECT_EQ(triggers(), (Triggers{Trigger::DroppedThreshold}));
  for (int i = 0; i < 3; ++i) plane_.offer(kSeid, kDl, 100);
  lose_events();
  settle(engine_.on_overrun(now_, reader_));
  EXPECT_EQ(triggers(), (Triggers{Trigger::DroppedThreshold}));
}

// n4-clients.md 3.16: a trigger without its value, and a value without its trigger.
TEST_F(Engine_, ADroppedThresholdThatIsNotWholeStaysInactive) {
  rules_.pdrs[1].far = FarId{3};
  auto triggered = volume_rule();
  triggered.triggers.dropped_threshold = true;
  auto valued = volume_rule(UrrId{2});
  valued.dropped_threshold = rules::DroppedThreshold{.packets = 1};
  auto zero = volume_rule(UrrId{3});
  zero.triggers.dropped_threshold = true;
  zero.dropped_threshold = rules::DroppedThreshold{.packets = 0, .octets = 0};
  create({triggered, valued, zero});
  for (const auto& urr : installed_->urrs) EXPECT_FALSE(urr.notify_dropped) << urr.id.value;
  for (int i = 0; i < 10; ++i) send(kDl, 100);
  EXPECT_TRUE(news().empty());
}

TEST_F(Engine_, MeasuringBeforeQosIsThePlanesToDo) {
  auto rule = volume_rule();
  rule.before_qos = true;
  create({rule});
  EXPECT_TRUE(installed_->urrs.at(0).before_qos);
  EXPECT_TRUE(query(kUrr)[0].before_qos);
  rule.before_qos = false;
  update(rule, {});
  EXPECT_FALSE(installed_->urrs.at(0).before_qos);
}

TEST_F(Engine_, EventsOfSessionsThatAreGoneAreNoMatter) {
  (void)engine_.on_limit({.seid = Seid{5}}, now_, reader_);
  (void)engine_.on_start({.seid = Seid{5}}, now_, reader_);
  create({volume_rule()});
  (void)engine_.on_start({.seid = kSeid, .urr = UrrId{77}}, now_, reader_);
  engine_.drop(kSeid);
  engine_.drop(kSeid);
  EXPECT_EQ(engine_.urr_count(), 0U);
}

}  // namespace
}  // namespace upf::usage::test

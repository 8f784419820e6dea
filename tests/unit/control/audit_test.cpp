#include "upf/control/audit.hpp"

#include "support.hpp"

namespace upf::control::test {
namespace {

using std::chrono::milliseconds;

class AuditTest : public UpFunctionTest {
 protected:
  void begin(Settings with) {
    up.emplace(std::move(with), plane);
    (void)up->start(now);
    associate();
  }
  /// Slices until the pass is over; how many there were.
  int run() {
    int slices = 0;
    while (up->audit().pass.running && slices < 1000) {
      last = up->on_timer(now);
      ++slices;
    }
    return slices;
  }
  bool ask(bool repair) {
    bool begun = false;
    last = up->start_audit(now, repair, begun);
    return begun;
  }
  [[nodiscard]] const AuditPass& pass() const { return up->audit().pass; }
  Output last{};
};

TEST_F(AuditTest, ReportsWithoutTouchingAndMendsWhenAsked) {
  begin(settings());
  const Seid seid = establish();
  plane.lose(seid);
  ASSERT_TRUE(ask(false));
  EXPECT_FALSE(ask(true)) << "one at a time";
  (void)run();
  EXPECT_EQ(pass().sessions, 1U);
  EXPECT_EQ(pass().drift, (DriftCounts{1, 0, 0}));
  EXPECT_EQ(pass().repaired, 0U);
  EXPECT_EQ(pass().drifts.at(0).seid, seid);
  EXPECT_EQ(plane.session_count(), 0U);

  ASSERT_TRUE(ask(true));
  (void)run();
  EXPECT_EQ(pass().repaired, 1U);
  EXPECT_EQ(plane.session_count(), 1U);
  ASSERT_NE(plane.rules_of(seid), nullptr);
  EXPECT_EQ(*plane.rules_of(seid), up->sessions().find(seid)->installed);
  ASSERT_TRUE(ask(true));
  (void)run();
  EXPECT_EQ(pass().drift, DriftCounts{});
  EXPECT_EQ(up->audit().passes, 3U);
  EXPECT_EQ(up->audit().drift, (DriftCounts{2, 0, 0}));
  // The next change finds the plane as the session has it.
  EXPECT_EQ(modify(seid, {}), pfcp::Cause::RequestAccepted);
}

TEST_F(AuditTest, SessionsThatNobodyAskedForAreEnded) {
  begin(settings());
  const Seid seid = establish();
  const rules::SessionRules stray = *plane.rules_of(seid);
  plane.lose(seid);
  ASSERT_TRUE(plane.apply({.seid = {99}, .after = &stray}));
  ASSERT_TRUE(ask(true));
  (void)run();
  EXPECT_EQ(pass().drift, (DriftCounts{1, 0, 1}));
  EXPECT_EQ(pass().repaired, 2U);
  EXPECT_EQ(plane.seids(), std::vector{seid});
}

TEST_F(AuditTest, ASliceIsShortAndSessionsMayEndMeanwhile) {
  begin(settings());
  std::vector<Seid> seids;
  for (std::uint8_t i = 0; i < 100; ++i) {
    seids.push_back(establish(establishment(0x100U + i, {{10, 60, 0, i}})));
  }
  ASSERT_TRUE(ask(false));
  (void)up->on_timer(now);
  EXPECT_GT(pass().sessions, 0U);
  EXPECT_LT(pass().sessions, 50U);
  for (const Seid seid : seids) (void)send(pfcp::SessionDeletionRequest{}, seid);
  EXPECT_GT(run(), 2);
  EXPECT_LT(pass().sessions, 50U);
  EXPECT_EQ(pass().drift, DriftCounts{});
}

TEST_F(AuditTest, AThousandSessionsAreThereAsTheyShouldBeAndGo) {
  // cases.md 80
  begin(settings());
  std::vector<Seid> seids;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto low = static_cast<std::uint8_t>(i % 250);
    const auto high = static_cast<std::uint8_t>(i / 250);
    seids.push_back(establish(establishment(0x1000U + i, {{10, 60, high, low}})));
  }
  EXPECT_EQ(plane.session_count(), 1000U);
  ASSERT_TRUE(ask(false));
  (void)run();
  EXPECT_EQ(pass().sessions, 1000U);
  EXPECT_EQ(pass().drift, DriftCounts{});
  for (const Seid seid : seids) {
    const auto answer = UpFunctionTest::answer<pfcp::SessionDeletionResponse>(
        send(pfcp::SessionDeletionRequest{}, seid));
    EXPECT_EQ(answer.cause, pfcp::Cause::RequestAccepted);
  }
  EXPECT_EQ(plane.session_count(), 0U);
  EXPECT_EQ(up->sessions().size(), 0U);
}

TEST_F(AuditTest, RunsAtStartAndSlowlyInTheBackground) {
  auto with = settings();
  with.audit = {.interval = milliseconds{60'000}, .at_start = true, .repair = true};
  begin(with);
  EXPECT_TRUE(pass().running);
  EXPECT_EQ(pass().reason, AuditReason::Start);
  (void)run();
  EXPECT_EQ(up->audit().passes, 1U);
  const Seid seid = establish();
  plane.lose(seid);
  (void)at(seconds{59});
  EXPECT_FALSE(pass().running);
  const Output begun = at(seconds{60});
  EXPECT_EQ(pass().reason, AuditReason::Background);
  EXPECT_EQ(plane.session_count(), 1U);
  ASSERT_TRUE(begun.wake_at);
  EXPECT_GT(*begun.wake_at, now.steady) << "a pause between slices";
  ASSERT_TRUE(ask(false)) << "who asks does not wait for it";
  (void)run();
  EXPECT_EQ(pass().reason, AuditReason::Asked);
  EXPECT_EQ(up->audit().drift, (DriftCounts{1, 0, 0}));
}

TEST_F(AuditTest, APlaneThatDoesNotAnswerEndsThePass) {
  begin(settings());
  (void)establish();
  plane.fail_next(dataplane::Failure::Kind::Unavailable);
  ASSERT_TRUE(ask(false));
  (void)run();
  EXPECT_EQ(up->audit().failed_passes, 1U);
  EXPECT_NE(pass().error, "");
  EXPECT_TRUE(ask(false));
}

}  // namespace
}  // namespace upf::control::test

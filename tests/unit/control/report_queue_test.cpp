#include "upf/control/report_queue.hpp"

#include <gtest/gtest.h>

namespace upf::control {
namespace {

using std::chrono::seconds;
using Lane = ReportQueue::Lane;

const Seid kSeid{0x99};
const ReportTarget kTarget{.owner = "smf", .cp = {}};

Now at(std::int64_t since_start) { return {.steady = TimePoint{seconds{since_start}}}; }

usage::Report report(std::uint32_t urr, std::uint32_t sequence, std::uint64_t octets) {
  return {.urr = {urr}, .sequence = sequence, .octets = {octets, 2 * octets}};
}

struct ReportQueueTest : testing::Test {
  ReportQueue queue{4, seconds{30}};
  std::uint32_t next{1};

  ReportQueue::Ready only(const Now& now = at(0)) {
    const auto ready = queue.ready(now, 100);
    EXPECT_EQ(ready.size(), 1U);
    return ready.at(0);
  }
  n4::OwnRequest send(const ReportQueue::Ready& ready) {
    const n4::OwnRequest request{next++};
    queue.sent(ready, queue.content(ready).usage.size(), request);
    return request;
  }
};

TEST_F(ReportQueueTest, AnAcknowledgedReportIsGone) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  const auto request = send(only());
  EXPECT_TRUE(queue.ready(at(0), 100).empty());
  EXPECT_EQ(queue.sessions(), 1U);
  EXPECT_EQ(queue.acknowledged(request)->seid, kSeid);
  EXPECT_EQ(queue.sessions(), 0U);
  EXPECT_EQ(queue.usage_reports(), 0U);
  EXPECT_FALSE(queue.acknowledged(request));
}

TEST_F(ReportQueueTest, AnUnansweredReportIsKeptAndComesFirst) {  // cases.md 23
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  const auto request = send(only());
  queue.add_usage(kSeid, kTarget, {report(1, 1, 50)});
  ASSERT_TRUE(queue.unanswered(request, at(10)));
  EXPECT_TRUE(queue.ready(at(39), 100).empty());
  EXPECT_EQ(queue.wake_at(), TimePoint{seconds{40}});
  const auto content = queue.content(only(at(40)));
  EXPECT_EQ(content.usage, (std::vector{report(1, 0, 100), report(1, 1, 50)}));
}

TEST_F(ReportQueueTest, APeerThatIsBackGetsItAtOnce) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  ASSERT_TRUE(queue.unanswered(send(only()), at(10)));
  queue.retry("other");
  EXPECT_TRUE(queue.ready(at(10), 100).empty());
  queue.retry("smf");
  EXPECT_EQ(queue.ready(at(10), 100).size(), 1U);
}

TEST_F(ReportQueueTest, IsBoundedByMergingAndForgetsNoOctet) {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    queue.add_usage(kSeid, kTarget, {report(i % 2, i, 10)});
  }
  const auto content = queue.content(only());
  EXPECT_EQ(content.usage.size(), 4U);
  EXPECT_EQ(queue.usage_reports(), 4U);
  rules::Volume total;
  for (const auto& one : content.usage) {
    total.uplink += one.octets.uplink;
    total.downlink += one.octets.downlink;
  }
  EXPECT_EQ(total, (rules::Volume{10000, 20000}));
  EXPECT_EQ(content.usage.back().sequence, 999U);
}

// The peer may have it and only the answer be lost: it tells a repeated one by its UR-SEQN.
TEST_F(ReportQueueTest, WhatWasSentOnceIsNeverMerged) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100), report(1, 1, 10)});
  ASSERT_TRUE(queue.unanswered(send(only()), at(10)));
  for (std::uint32_t i = 2; i < 9; ++i) queue.add_usage(kSeid, kTarget, {report(1, i, 1)});
  EXPECT_EQ(queue.content(only(at(40))).usage,
            (std::vector{report(1, 0, 100), report(1, 1, 10), report(1, 7, 6), report(1, 8, 1)}));

  const auto again = send(only(at(40)));
  queue.add_usage(kSeid, kTarget, {report(1, 9, 1)});
  ASSERT_TRUE(queue.acknowledged(again));
  for (std::uint32_t i = 10; i < 14; ++i) queue.add_usage(kSeid, kTarget, {report(1, i, 1)});
  EXPECT_EQ(queue.content(only(at(80))).usage.front(), report(1, 10, 2));
}

TEST_F(ReportQueueTest, APageDoesNotWaitBehindUsage) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  (void)send(only());
  queue.add_downlink(kSeid, kTarget, {.seid = kSeid, .pdr = {2}});
  EXPECT_EQ(only().lane, Lane::Other);
}

TEST_F(ReportQueueTest, OneDownlinkReportForEachPdr) {  // cases.md 56
  for (int i = 0; i < 100; ++i) {
    queue.add_downlink(kSeid, kTarget, {.seid = kSeid, .pdr = {2}});
    queue.add_downlink(kSeid, kTarget, {.seid = kSeid, .pdr = {3}});
  }
  EXPECT_EQ(queue.content(only()).downlink.size(), 2U);
}

TEST_F(ReportQueueTest, NobodyIsPagedForAUserPlaneThatIsActiveAgain) {
  queue.add_downlink(kSeid, kTarget, {.seid = kSeid, .pdr = {2}});
  const auto request = send(only());
  queue.forget_downlink(kSeid, {2});
  ASSERT_TRUE(queue.unanswered(request, at(0)));
  EXPECT_EQ(queue.sessions(), 0U);
}

TEST_F(ReportQueueTest, TheLastUsageOutlivesTheSession) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  queue.add_downlink(kSeid, kTarget, {.seid = kSeid, .pdr = {2}});
  queue.add_inactivity(kSeid, kTarget);
  queue.forget_all_but_usage(kSeid);
  EXPECT_EQ(only().lane, Lane::Usage);
}

TEST_F(ReportQueueTest, AnOwnerThatIsGoneIsForgottenWithWhatIsUnderWay) {
  queue.add_usage(kSeid, kTarget, {report(1, 0, 100)});
  const auto request = send(only());
  queue.add_usage({0x98}, {.owner = "other", .cp = {}}, {report(1, 0, 100)});
  queue.forget_owner("smf");
  EXPECT_EQ(queue.sessions(), 1U);
  EXPECT_FALSE(queue.acknowledged(request));
  EXPECT_EQ(queue.usage_reports(), 1U);
}

TEST_F(ReportQueueTest, ErrorIndicationsAreOncePerTunnelAndBounded) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    queue.add_error(kSeid, kTarget, {.teid = {1000 + i}, .peer = Ipv4{{10, 0, 0, 9}}});
    queue.add_error(kSeid, kTarget, {.teid = {1000 + i}, .peer = Ipv4{{10, 0, 0, 9}}});
  }
  EXPECT_EQ(queue.content(only()).errors.size(), ReportQueue::kMaxErrors);
}

}  // namespace
}  // namespace upf::control

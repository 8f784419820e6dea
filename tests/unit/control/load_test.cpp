#include "upf/control/load.hpp"

#include <gtest/gtest.h>

namespace upf::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// `percent` busy for so many seconds, in calls of 10 ms distance.
TimePoint work(Load& load, TimePoint from, int percent, int for_seconds) {
  for (int i = 0; i < for_seconds * 100; ++i) {
    from += milliseconds{10};
    load.served(from, std::chrono::microseconds{percent * 100});
  }
  return from;
}

TEST(Load, MetricFollowsTheBusyShare) {
  Load load;
  TimePoint at = work(load, TimePoint{seconds{1}}, 40, 10);
  EXPECT_NEAR(load.metric(), 40, 2);
  EXPECT_EQ(load.reduction(), 0U);
  const auto sequence = load.load_sequence();
  at = work(load, at, 39, 10);
  EXPECT_EQ(load.load_sequence(), sequence) << "not worth saying";
  work(load, at, 70, 10);
  EXPECT_GT(load.load_sequence(), sequence);
}

TEST(Load, SessionsInUseAreLoadButNoOverload) {
  Load load;
  load.set_sessions(95, 100);
  EXPECT_EQ(load.metric(), 95U);
  EXPECT_EQ(load.reduction(), 0U);
  EXPECT_TRUE(load.admits_new_session());
}

TEST(Load, ReactionIsGraded) {
  Load load;
  TimePoint at = work(load, TimePoint{seconds{1}}, 91, 10);
  EXPECT_NEAR(load.reduction(), 50, 9);
  int served = 0;
  for (int i = 0; i < 100; ++i) served += load.admits_new_session() ? 1 : 0;
  EXPECT_NEAR(served, 50, 10);
  at = work(load, at, 100, 10);
  EXPECT_EQ(load.reduction(), 100U);
  EXPECT_FALSE(load.admits_new_session());
  // Idle again: the next call after a pause sees it.
  load.served(at + seconds{10}, milliseconds{1});
  EXPECT_EQ(load.reduction(), 0U);
  EXPECT_TRUE(load.admits_new_session());
}

TEST(Load, OneBurstIsNoOverload) {
  Load load;
  const TimePoint at = work(load, TimePoint{seconds{1}}, 10, 10);
  load.served(at + milliseconds{500}, milliseconds{500});
  EXPECT_EQ(load.reduction(), 0U);
}

// What a thread is measured at that serves all the time by the clock: 10 ms pass with each call.
struct AlwaysServing : ::testing::Test {
  LoadMeasures measures{};
  Load load{[this] { return measures; }};
  TimePoint at{seconds{1}};

  void serve(milliseconds cpu, milliseconds plane, int for_seconds) {
    for (int i = 0; i < for_seconds * 100; ++i) {
      at += milliseconds{10};
      measures.cpu += cpu;
      measures.plane += plane;
      load.served(at, milliseconds{10});
    }
  }
};

TEST_F(AlwaysServing, AThreadThatHasTheCpuIsBusy) {
  measures.waiting = 100;  // of 10 ms each
  serve(milliseconds{10}, milliseconds{2}, 10);
  EXPECT_GE(load.metric(), 99U);
  EXPECT_EQ(load.reduction(), 100U);
}

// SMFs that set up all of their sessions again have a few requests open at any time.
TEST_F(AlwaysServing, BusyIsNoOverloadWhileNobodyWaitsLong) {
  measures.waiting = 10;
  serve(milliseconds{10}, milliseconds{2}, 10);
  EXPECT_GE(load.metric(), 99U) << "others are better asked";
  EXPECT_EQ(load.reduction(), 0U);
  measures.waiting = 100;
  serve(milliseconds{10}, milliseconds{2}, 1);
  EXPECT_EQ(load.reduction(), 100U);
}

// A host that others keep busy: the daemon got a tenth of a CPU and had no chance to be overloaded.
TEST_F(AlwaysServing, AThreadThatOthersKeepFromRunningIsNot) {
  measures.waiting = 100;
  serve(milliseconds{1}, milliseconds{2}, 10);
  EXPECT_LE(load.metric(), 30U);
  EXPECT_EQ(load.reduction(), 0U);
  EXPECT_TRUE(load.admits_new_session());
}

// gtp5g's calls wait for the kernel's locks: no CPU is used, and nothing else is served.
TEST_F(AlwaysServing, AThreadThatWaitsForTheDataPlaneIsBusy) {
  measures.waiting = 100;
  serve(milliseconds{1}, milliseconds{9}, 10);
  EXPECT_GE(load.metric(), 99U);
  EXPECT_EQ(load.reduction(), 100U);
}

// Whyever it is that the thread doesn't keep up.
TEST_F(AlwaysServing, AQueueThatFillsUpIsOverload) {
  measures.queue_percent = 40;
  serve(milliseconds{1}, {}, 10);
  EXPECT_EQ(load.reduction(), 0U);
  EXPECT_NEAR(load.metric(), 40, 2) << "worth saying all the same";
  measures.queue_percent = 70;
  serve(milliseconds{1}, {}, 10);
  EXPECT_NEAR(load.reduction(), 50, 5);
  measures.queue_percent = 95;
  serve(milliseconds{1}, {}, 10);
  EXPECT_EQ(load.reduction(), 100U);
  measures.queue_percent = 0;
  serve(milliseconds{1}, {}, 10);
  EXPECT_EQ(load.reduction(), 0U);
}

TEST_F(AlwaysServing, AQueueThatIsLongOnceIsNoOverload) {
  serve(milliseconds{1}, {}, 10);
  measures.queue_percent = 98;
  at += milliseconds{500};
  load.served(at, milliseconds{10});
  EXPECT_EQ(load.reduction(), 0U);
}

}  // namespace
}  // namespace upf::control

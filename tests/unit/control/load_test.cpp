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

}  // namespace
}  // namespace upf::control

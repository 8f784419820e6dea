#include "src/userplane/path_monitor.hpp"

#include <gtest/gtest.h>

#include "contract/memory_world.hpp"

namespace upf::userplane {
namespace {

constexpr Address kGnb{0, 0x0a640002};

std::unique_ptr<const Snapshot> tunnels_to_gnb() {
  SnapshotParts parts;
  parts.fars.push_back({.has_tunnel = true, .tunnel = {.teid = 1, .peer = kGnb}});
  parts.fars.push_back({.has_tunnel = true, .tunnel = {.teid = 2, .peer = kGnb}});
  return Snapshot::of(parts);
}

class Paths : public testing::Test {
 protected:
  std::vector<dataplane::Event> pass(std::chrono::seconds time) {
    now_ += time;
    std::vector<dataplane::Event> events;
    monitor_.on_time(now_, events);
    return events;
  }
  std::size_t requests() { return world_.settle().size(); }
  std::vector<dataplane::Event> answer(std::chrono::milliseconds later = {}) {
    now_ += later;
    std::vector<dataplane::Event> events;
    monitor_.on_answer({.peer = kGnb}, now_, events);
    return events;
  }

  contract::MemoryWorld world_{};
  PathMonitor monitor_{
      world_.packets(),
      {.interval = std::chrono::seconds{10}, .timeout = std::chrono::seconds{2}, .requests = 4}};
  std::unique_ptr<const Snapshot> owned_{tunnels_to_gnb()};
  const Snapshot& rules_{*owned_};
  TimePoint now_{};
};

TEST_F(Paths, OneRequestAnIntervalHoweverManyFarsNameThePeer) {
  EXPECT_FALSE(monitor_.next_time());
  monitor_.begin(rules_, now_);
  EXPECT_TRUE(pass(std::chrono::seconds{0}).empty());
  const auto outputs = world_.settle();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].octets.at(1), 1);
  EXPECT_EQ(outputs[0].peer, IpAddress{(Ipv4{{10, 100, 0, 2}})});
  EXPECT_TRUE(answer().empty());
  EXPECT_TRUE(pass(std::chrono::seconds{9}).empty());
  EXPECT_EQ(requests(), 0U);
  EXPECT_TRUE(pass(std::chrono::seconds{1}).empty());
  EXPECT_EQ(requests(), 1U);
}

TEST_F(Paths, SoManyUnansweredRequestsAreAFailureAndAnAnswerTheRecovery) {
  monitor_.begin(rules_, now_);
  EXPECT_TRUE(pass(std::chrono::seconds{0}).empty());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pass(std::chrono::seconds{2}).empty());
  EXPECT_EQ(requests(), 4U);  // N3-REQUESTS, a T3-RESPONSE apart
  const auto down = pass(std::chrono::seconds{2});
  ASSERT_EQ(down.size(), 1U);
  EXPECT_FALSE(std::get<dataplane::PathState>(down[0]).up);
  EXPECT_FALSE(monitor_.paths().at(0).up);
  EXPECT_TRUE(pass(std::chrono::seconds{9}).empty());  // said once, and asked at the interval
  const auto up = answer();
  ASSERT_EQ(up.size(), 1U);
  EXPECT_TRUE(std::get<dataplane::PathState>(up[0]).up);
  EXPECT_TRUE(pass(std::chrono::seconds{10}).empty());
}

TEST_F(Paths, TheRoundTripIsOfTheLastAnswer) {
  monitor_.begin(rules_, now_);
  EXPECT_TRUE(pass(std::chrono::seconds{0}).empty());
  EXPECT_FALSE(monitor_.paths().at(0).round_trip);
  EXPECT_TRUE(answer(std::chrono::milliseconds{7}).empty());
  const auto paths = monitor_.paths();
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].round_trip, std::chrono::milliseconds{7});
  EXPECT_EQ(paths[0].tunnels, 2U);
  // One that nobody asked for says nothing.
  EXPECT_TRUE(answer(std::chrono::milliseconds{900}).empty());
  EXPECT_EQ(monitor_.paths().at(0).round_trip, std::chrono::milliseconds{7});
}

TEST_F(Paths, APeerThatNoFarNamesIsLeftAlone) {
  monitor_.begin(rules_, now_);
  monitor_.end(rules_);
  EXPECT_TRUE(pass(std::chrono::seconds{100}).empty());
  EXPECT_EQ(requests(), 0U);
  EXPECT_FALSE(monitor_.next_time());
}

TEST(PathsOff, WatchNobody) {
  contract::MemoryWorld world;
  PathMonitor monitor{world.packets(), {}};
  monitor.begin(*tunnels_to_gnb(), {});
  EXPECT_FALSE(monitor.next_time());
}

}  // namespace
}  // namespace upf::userplane

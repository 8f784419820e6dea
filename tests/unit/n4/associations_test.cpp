#include "upf/n4/associations.hpp"

#include <gtest/gtest.h>

namespace upf::n4 {
namespace {

using std::chrono::seconds;

const pfcp::NodeId kNode{Ipv4{{10, 0, 0, 1}}};
const pfcp::NodeId kNamed{std::string{"smf.example"}};
const SocketAddress kPeer{Ipv4{{10, 0, 0, 1}}, 8805};
const SocketAddress kPeer2{Ipv4{{10, 0, 0, 2}}, 40000};

Now at(std::int64_t since_start) { return {.steady = TimePoint{seconds{since_start}}}; }

TEST(Associations, AreBoundedAndOverwritingTakesNoNewPlace) {  // cases.md 13
  Associations table{{.limit = 2}};
  EXPECT_NE(table.set_up(at(0), kNode, kPeer, {1}), nullptr);
  EXPECT_NE(table.set_up(at(0), kNamed, kPeer2, {1}), nullptr);
  EXPECT_EQ(table.set_up(at(0), {Ipv4{{10, 9, 9, 9}}}, kPeer, {1}), nullptr);
  Association* again = table.set_up(at(5), kNode, kPeer2, {2});
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->recovery, (pfcp::NtpTime{2}));
  EXPECT_EQ(again->peer, kPeer2);
  EXPECT_FALSE(table.is_known(kPeer.ip)) << "the old address went with the old association";
}

TEST(Associations, OneAddressCanNotTakeAllPlaces) {  // cases.md 13
  Associations table{{.limit = 1000}};
  std::size_t taken = 0;
  for (std::uint8_t i = 0; i < 200; ++i) {
    taken += table.set_up(at(0), {Ipv4{{20, 0, 0, i}}}, kPeer, {1}) != nullptr ? 1U : 0U;
  }
  EXPECT_EQ(taken, Associations::kMaxNodes);
  EXPECT_NE(table.set_up(at(0), kNamed, kPeer2, {1}), nullptr);
}

TEST(Associations, AreFoundByTheAddressesTheySpeakFrom) {  // cases.md 32
  Associations table{{}};
  Association* association = table.set_up(at(0), kNode, kPeer, {1});
  const IpAddress second{Ipv4{{10, 0, 0, 7}}};
  table.add_address(*association, second);
  ASSERT_EQ(table.at(second).size(), 1U);
  EXPECT_EQ(table.at(second)[0]->node, kNode);
  for (std::uint8_t i = 0; i < 200; ++i) table.add_address(*association, Ipv4{{10, 1, 1, i}});
  EXPECT_EQ(association->addresses.size(), Associations::kMaxAddresses);
  EXPECT_TRUE(table.remove(kNode));
  EXPECT_TRUE(table.at(second).empty());
  EXPECT_FALSE(table.remove(kNode));
}

TEST(Associations, HeartbeatsAreDueEachInterval) {
  Associations table{{.heartbeat_interval = seconds{10}}};
  EXPECT_FALSE(table.wake_at());
  ASSERT_NE(table.set_up(at(0), kNode, kPeer, {1}), nullptr);
  EXPECT_EQ(table.wake_at(), TimePoint{seconds{10}});
  EXPECT_TRUE(table.heartbeats_due(at(9)).empty());
  EXPECT_EQ(table.heartbeats_due(at(10)), std::vector{kNode});
  EXPECT_EQ(table.wake_at(), TimePoint{seconds{20}});
  table.remove(kNode);
  EXPECT_FALSE(table.wake_at());
}

TEST(Associations, ASilentPeerIsPurgedOnlyIfTold) {  // cases.md 27
  for (const seconds purge_after : {seconds{0}, seconds{60}}) {
    Associations table{{.heartbeat_interval = seconds{10}, .purge_after = purge_after}};
    ASSERT_NE(table.set_up(at(0), kNode, kPeer, {1}), nullptr);
    EXPECT_TRUE(table.lost(kNode));
    EXPECT_FALSE(table.lost(kNode)) << "said once";
    EXPECT_TRUE(table.purge_due(at(59)).empty());
    EXPECT_EQ(table.purge_due(at(60)).size(), purge_after.count() == 0 ? 0U : 1U);
  }
}

TEST(Associations, APeerThatIsHeardAgainIsReachable) {
  Associations table{{.heartbeat_interval = seconds{10}}};
  ASSERT_NE(table.set_up(at(0), kNode, kPeer, {1}), nullptr);
  EXPECT_TRUE(table.heard(at(1), kPeer.ip).empty());
  ASSERT_TRUE(table.lost(kNode));
  EXPECT_EQ(table.heard(at(2), kPeer.ip), std::vector{kNode});
  EXPECT_TRUE(table.heard(at(3), kPeer.ip).empty());
}

TEST(Associations, KnowWhoseHeartbeatAnAnswerBelongsTo) {
  Associations table{{.heartbeat_interval = seconds{10}}};
  ASSERT_NE(table.set_up(at(0), kNode, kPeer, {1}), nullptr);
  table.heartbeat_sent(kNode, {7});
  EXPECT_EQ(table.heartbeat_over({7}), kNode);
  EXPECT_EQ(table.heartbeat_over({7}), std::nullopt);
  table.heartbeat_sent(kNode, {8});
  table.remove(kNode);
  EXPECT_EQ(table.heartbeat_over({8}), std::nullopt);
}

}  // namespace
}  // namespace upf::n4

#include "upf/dataplane/packet_buffer.hpp"

#include <gtest/gtest.h>

namespace upf::dataplane {
namespace {

using Outcome = PacketBuffer::Outcome;

BufferedPacket packet(std::uint8_t mark, std::size_t octets = 10) {
  return {.pdr = {1}, .octets = std::vector<std::uint8_t>(octets, mark)};
}

std::vector<int> marks(PacketBuffer& buffer, Seid seid, FarId far) {
  std::vector<int> all;
  for (const BufferedPacket& held : buffer.take(seid, far)) all.push_back(held.octets.front());
  return all;
}

TEST(PacketBuffer, GivesBackInOrderAndForgets) {
  PacketBuffer buffer;
  EXPECT_EQ(buffer.push({1}, {1}, packet(1)), Outcome::First);
  EXPECT_EQ(buffer.push({1}, {1}, packet(2)), Outcome::Kept);
  EXPECT_EQ(buffer.push({1}, {2}, packet(3)), Outcome::First);
  EXPECT_EQ(buffer.octets(), 30U);
  EXPECT_EQ(marks(buffer, {1}, {1}), (std::vector<int>{1, 2}));
  EXPECT_EQ(buffer.held({1}, {1}), 0U);
  EXPECT_EQ(buffer.drop({1}), 1U);
  EXPECT_EQ(buffer.packets(), 0U);
  EXPECT_EQ(buffer.octets(), 0U);
}

// cases.md 54: bounded queue, oldest or newest dropped.
TEST(PacketBuffer, DropsTheOldestOfTheSessionAtItsLimit) {
  PacketBuffer buffer({.packets_per_session = 2});
  buffer.push({1}, {1}, packet(1));
  buffer.push({1}, {2}, packet(2));
  EXPECT_EQ(buffer.push({1}, {2}, packet(3)), Outcome::OldestDropped);
  EXPECT_EQ(buffer.held({1}, {1}), 0U);
  EXPECT_EQ(marks(buffer, {1}, {2}), (std::vector<int>{2, 3}));
  EXPECT_EQ(buffer.dropped(), 1U);
}

TEST(PacketBuffer, RefusesTheNewestIfToldSo) {
  PacketBuffer buffer({.packets_per_session = 1, .drop_oldest = false});
  buffer.push({1}, {1}, packet(1));
  EXPECT_EQ(buffer.push({1}, {1}, packet(2)), Outcome::NewestDropped);
  EXPECT_EQ(marks(buffer, {1}, {1}), std::vector<int>{1});
}

TEST(PacketBuffer, BoundsOctetsOfASessionAndOfAll) {
  PacketBuffer buffer({.octets_per_session = 20, .octets_in_all = 30});
  buffer.push({1}, {1}, packet(1));
  buffer.push({1}, {1}, packet(2));
  EXPECT_EQ(buffer.push({1}, {1}, packet(3)), Outcome::OldestDropped);
  EXPECT_EQ(buffer.push({1}, {1}, packet(4, 21)), Outcome::NewestDropped);
  EXPECT_EQ(buffer.push({2}, {1}, packet(5)), Outcome::First);
  EXPECT_EQ(buffer.push({3}, {1}, packet(6)), Outcome::NewestDropped);
  EXPECT_EQ(marks(buffer, {1}, {1}), (std::vector<int>{2, 3}));
}

TEST(PacketBuffer, TheBarsCountOnlyLowersTheLimit) {
  PacketBuffer buffer({.packets_per_session = 2});
  EXPECT_EQ(buffer.push({1}, {1}, packet(1), 0), Outcome::NewestDropped);
  buffer.push({1}, {1}, packet(1), 1);
  EXPECT_EQ(buffer.push({1}, {1}, packet(2), 1), Outcome::OldestDropped);
  for (int i = 0; i < 5; ++i) buffer.push({2}, {1}, packet(3), 100);
  EXPECT_EQ(buffer.held({2}, {1}), 2U);
}

}  // namespace
}  // namespace upf::dataplane

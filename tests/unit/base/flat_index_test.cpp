#include "upf/base/flat_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "upf/base/ids.hpp"

namespace upf {
namespace {

using Index = FlatIndex<Teid, Seid>;

TEST(FlatIndex, AKeyHasOneValue) {
  Index index;
  EXPECT_EQ(index.find({1}), nullptr);
  EXPECT_FALSE(index.erase({1}));
  EXPECT_TRUE(index.insert({1}, {10}));
  EXPECT_FALSE(index.insert({1}, {11}));
  EXPECT_EQ(*index.find({1}), Seid{10});
  *index.find({1}) = {12};
  EXPECT_EQ(*index.find({1}), Seid{12});
  EXPECT_TRUE(index.erase({1}));
  EXPECT_FALSE(index.contains({1}));
  EXPECT_TRUE(index.empty());
}

TEST(FlatIndex, HoldsWhatCanOnlyBeMoved) {
  FlatIndex<Seid, std::unique_ptr<int>> index;
  for (int i = 1; i <= 100; ++i) {
    index.insert({static_cast<std::uint64_t>(i)}, std::make_unique<int>(i));
  }
  for (int i = 1; i <= 100; i += 2) EXPECT_TRUE(index.erase({static_cast<std::uint64_t>(i)}));
  for (int i = 2; i <= 100; i += 2) {
    EXPECT_EQ(**index.find({static_cast<std::uint64_t>(i)}), i);
  }
}

// Few keys in a small table, so that runs of entries meet, wrap around, and are closed again.
TEST(FlatIndex, DoesAsAMapDoes) {
  std::mt19937 random{1};
  for (const std::uint32_t keys : {3U, 30U, 3000U}) {
    Index index;
    std::map<std::uint32_t, std::uint64_t> model;
    for (std::uint64_t step = 1; step <= 30000; ++step) {
      // Grows and shrinks in turns.
      const bool adds = random() % 8 < ((step / 3000) % 2 == 0 ? 6U : 2U);
      const Teid key{static_cast<std::uint32_t>(random() % keys)};
      if (adds) {
        EXPECT_EQ(index.insert(key, {step}), model.emplace(key.value, step).second);
      } else {
        EXPECT_EQ(index.erase(key), model.erase(key.value) > 0);
      }
      ASSERT_EQ(index.size(), model.size());
      const Teid looked_for{static_cast<std::uint32_t>(random() % keys)};
      const auto known = model.find(looked_for.value);
      const Seid* const found = index.find(looked_for);
      ASSERT_EQ(found != nullptr, known != model.end());
      if (found != nullptr) {
        ASSERT_EQ(found->value, known->second);
      }
    }
    std::map<std::uint32_t, std::uint64_t> all;
    index.for_each([&](Teid key, Seid seid) { all.emplace(key.value, seid.value); });
    EXPECT_EQ(all, model);
  }
}

}  // namespace
}  // namespace upf

#include "src/n4/answer_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace upf::n4 {
namespace {

const TimePoint kStart{std::chrono::seconds{1000}};

RequestKey key(std::uint32_t sequence, std::uint8_t host = 1) {
  return {{Ipv4{{10, 0, 0, host}}, 8805}, sequence, pfcp::MessageType::SessionModificationRequest};
}

wire::Octets octets(std::size_t count, std::uint8_t value) { return wire::Octets(count, value); }

TEST(AnswerCache, KeepsShortAndLongAnswers) {
  AnswerCache cache{{.entries = 10, .octets = 10000}};
  cache.add(key(1), 11, kStart);
  cache.add(key(2), 22, kStart);
  ASSERT_NE(cache.find(key(1)), nullptr);
  EXPECT_FALSE(cache.find(key(1))->answered);
  EXPECT_TRUE(cache.answer(key(1), octets(20, 7)));
  EXPECT_TRUE(cache.answer(key(2), octets(500, 9)));
  EXPECT_FALSE(cache.answer(key(3), octets(1, 1)));
  EXPECT_EQ(cache.octets(), 520U);
  EXPECT_TRUE(std::ranges::equal(cache.find(key(1))->answer(), octets(20, 7)));
  EXPECT_TRUE(std::ranges::equal(cache.find(key(2))->answer(), octets(500, 9)));
  // A second answer takes the place of the first.
  EXPECT_TRUE(cache.answer(key(2), octets(30, 8)));
  EXPECT_TRUE(std::ranges::equal(cache.find(key(2))->answer(), octets(30, 8)));
  EXPECT_EQ(cache.octets(), 50U);
}

TEST(AnswerCache, TheOldestGoWhenThereAreTooManyOrTooLong) {
  AnswerCache cache{{.entries = 3, .octets = 100}};
  for (std::uint32_t sequence = 1; sequence <= 5; ++sequence) cache.add(key(sequence), 0, kStart);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.find(key(2)), nullptr);
  EXPECT_NE(cache.find(key(3)), nullptr);
  (void)cache.answer(key(3), octets(60, 1));
  (void)cache.answer(key(5), octets(60, 1));
  EXPECT_EQ(cache.find(key(3)), nullptr);
  EXPECT_EQ(cache.octets(), 60U);
}

TEST(AnswerCache, ForgetsWhatIsOldAndWhatWasAnsweredToAPeer) {
  AnswerCache cache{{.entries = 100, .octets = 10000}};
  cache.add(key(1), 0, kStart + std::chrono::seconds{1});
  cache.add(key(2), 0, kStart + std::chrono::seconds{2});
  cache.add(key(2, 9), 0, kStart + std::chrono::seconds{2});
  cache.add(key(3, 9), 0, kStart + std::chrono::seconds{2});
  (void)cache.answer(key(2, 9), octets(5, 5));
  cache.drop_old(kStart + std::chrono::seconds{1});
  EXPECT_EQ(cache.find(key(1)), nullptr);
  EXPECT_EQ(cache.size(), 3U);
  cache.erase_answers_to(Ipv4{{10, 0, 0, 9}});
  EXPECT_EQ(cache.find(key(2, 9)), nullptr);
  EXPECT_NE(cache.find(key(3, 9)), nullptr);
  EXPECT_NE(cache.find(key(2)), nullptr);
  EXPECT_EQ(cache.octets(), 0U);
}

// Against a plain queue, over everything that can happen, with few keys so that they come again.
TEST(AnswerCache, DoesWhatAPlainQueueDoes) {
  struct Seen {
    RequestKey key{};
    std::size_t digest{};
  };
  constexpr std::size_t kEntries = 150;
  AnswerCache cache{{.entries = kEntries, .octets = 1U << 20U}};
  std::deque<Seen> model;
  std::mt19937 random{5};
  const auto in_model = [&](const RequestKey& wanted) {
    return std::ranges::find(model, wanted, &Seen::key);
  };
  for (std::size_t step = 0; step < 20000; ++step) {
    const RequestKey any = key(static_cast<std::uint32_t>(random() % 400));
    const auto at = in_model(any);
    const auto* found = cache.find(any);
    ASSERT_EQ(found != nullptr, at != model.end()) << step;
    if (found != nullptr) {
      ASSERT_EQ(found->digest, at->digest) << step;
    }
    if (random() % 3 == 0) {
      ASSERT_EQ(cache.erase(any), at != model.end());
      if (at != model.end()) model.erase(at);
    } else if (found == nullptr) {
      cache.add(any, step, kStart);
      model.push_back({any, step});
    } else {
      ASSERT_TRUE(cache.answer(any, octets(random() % 200, 3)));
    }
    // Holes count until they are the oldest, so the cache may hold fewer than the queue.
    while (!model.empty() && cache.find(model.front().key) == nullptr) model.pop_front();
    ASSERT_EQ(cache.size(), model.size()) << step;
    ASSERT_LE(cache.size(), kEntries);
  }
}

}  // namespace
}  // namespace upf::n4

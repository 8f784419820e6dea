#include "upf/session/allocator.hpp"

#include <gtest/gtest.h>

#include <set>

namespace upf::session {
namespace {

constexpr Seid kOne{1};
constexpr Seid kTwo{2};

/// Says these numbers, then counts on from the last.
Random scripted(std::vector<std::uint64_t> numbers) {
  return [numbers = std::move(numbers), at = std::size_t{0}]() mutable {
    const std::size_t last = numbers.size() - 1;
    const std::uint64_t value = at <= last ? numbers[at] : numbers[last] + (at - last);
    ++at;
    return value;
  };
}

TEST(Teids, NeverZeroAndNeverOneThatIsTaken) {
  Teids teids{scripted({0, 7, 7, 7, 0x1'0000'0000, 8})};
  EXPECT_EQ(teids.allocate(kOne), Teid{7});
  EXPECT_EQ(teids.allocate(kTwo), Teid{8});
}

TEST(Teids, ThoseOfCpFunctionsStandBesideOurs) {
  Teids teids{scripted({7, 8, 9})};
  EXPECT_TRUE(teids.claim(Teid{7}, kOne));
  EXPECT_TRUE(teids.claim(Teid{7}, kOne));
  EXPECT_FALSE(teids.claim(Teid{7}, kTwo));
  EXPECT_EQ(teids.allocate(kTwo), Teid{8});
  EXPECT_EQ(teids.owner(Teid{7}), kOne);
  EXPECT_FALSE(teids.claim(Teid{8}, kOne));
  teids.release(Teid{7});
  EXPECT_TRUE(teids.claim(Teid{7}, kTwo));
}

TEST(Teids, ARandomSourceThatRepeatsItselfEndsTheSearch) {
  Teids teids{[] { return 7; }};
  EXPECT_TRUE(teids.allocate(kOne));
  EXPECT_EQ(teids.allocate(kOne), std::nullopt);
}

}  // namespace
}  // namespace upf::session

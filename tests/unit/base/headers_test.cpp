// The headers that hold no code of their own compile on their own.
#include "upf/base/assert.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/rules/rules.hpp"
#include "upf/wire/cursor.hpp"

#include <gtest/gtest.h>

namespace upf {
namespace {

TEST(Reader, LatchesAtTheFirstReadPastTheEnd) {
  const wire::Octets octets{1, 2, 3};
  wire::Reader in{octets};
  EXPECT_EQ(in.be<std::uint16_t>(), 0x0102);
  EXPECT_EQ(in.be<std::uint16_t>(), 0);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.be<std::uint8_t>(), 0);
}

TEST(Writer, WritesWidthsOfTheWire) {
  wire::Writer out;
  out.be<std::uint32_t, 3>(0x010203);
  out.be<std::uint16_t>(0);
  out.patch_be16(3, 0xabcd);
  EXPECT_EQ(out.octets(), (wire::Octets{1, 2, 3, 0xab, 0xcd}));
}

TEST(RulesFind, FindsByIdInASortedVector) {
  std::vector<rules::Bar> bars{{.id = {1}}, {.id = {7}}};
  EXPECT_EQ(rules::find(bars, BarId{7}), &bars[1]);
  EXPECT_EQ(rules::find(bars, BarId{2}), nullptr);
}

}  // namespace
}  // namespace upf

// Every vector decodes, prints as its text says, and encodes to what it was.

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/pfcp/vectors.hpp"

namespace upf::pfcp::test {
namespace {

class EveryVector : public testing::TestWithParam<Vector> {};

/// Vectors that we write shorter than who made them: a second octet of Apply Action, a third of
/// Reporting Triggers, a fourth of the features only where a bit of it is set.
const std::set<std::string> kWrittenDifferently = {"establishment_request_open5gs"};

TEST_P(EveryVector, DecodesPrintsAndEncodes) {
  const Vector& vector = GetParam();
  EXPECT_EQ(describe(vector.octets), vector.text);

  const auto frame = decode_header(vector.octets);
  ASSERT_TRUE(frame) << to_string(frame.error());
  const MessageDef* def = find_message(frame->header.type);
  ASSERT_NE(def, nullptr);
  AnyMessage message{*def};
  const auto ok = message.decode(frame->body);
  ASSERT_TRUE(ok) << to_string(ok.error());

  const Header& header = frame->header;
  const Octets again =
      message.encode({header.seid, header.sequence, header.priority, header.follow_on});
  if (!kWrittenDifferently.contains(vector.name)) {
    EXPECT_EQ(upf::test::hex_of(again), upf::test::hex_of(vector.octets));
  }
  AnyMessage second{*def};
  const auto frame_again = decode_header(again);
  ASSERT_TRUE(frame_again);
  ASSERT_TRUE(second.decode(frame_again->body));
  EXPECT_TRUE(second == message) << second.text();
}

INSTANTIATE_TEST_SUITE_P(Vectors, EveryVector, testing::ValuesIn(all_vectors()),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(Vectors, CoverEveryMessage) {
  std::set<MessageType> seen;
  for (const Vector& vector : all_vectors()) {
    if (const auto frame = decode_header(vector.octets)) seen.insert(frame->header.type);
  }
  for (const MessageDef* def : all_messages()) {
    EXPECT_TRUE(seen.contains(def->type)) << to_string(def->type);
  }
}

}  // namespace
}  // namespace upf::pfcp::test

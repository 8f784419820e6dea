// The header of TS 29.244 7.2.2, and what a body that does not decode still tells.

#include <gtest/gtest.h>

#include "tests/support/hex.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace upf::pfcp {
namespace {

using upf::test::octets_of;
using Kind = HeaderError::Kind;

Kind error_of(std::string_view hex) {
  const auto frame = decode_header(octets_of(hex));
  EXPECT_FALSE(frame);
  return frame ? Kind{} : frame.error().kind;
}

TEST(Header, NodeMessage) {
  const Octets octets = octets_of("2001000c 00000200 00600004 e81fe7b4");
  const auto frame = decode_header(octets);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->header, (Header{MessageType::HeartbeatRequest, std::nullopt, 2, {}, false}));
  EXPECT_EQ(frame->body.size(), 8U);
  EXPECT_TRUE(frame->rest.empty());
}

TEST(Header, SessionMessageWithPriority) {
  const Octets octets = octets_of("2336000c 0102030405060708 abcdef c0");
  const auto frame = decode_header(octets);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->header, (Header{MessageType::SessionDeletionRequest, Seid{0x0102030405060708},
                                   0xabcdef, std::uint8_t{12}, false}));
  EXPECT_TRUE(frame->body.empty());
}

// cases.md 1: an empty datagram, and all that is shorter than a header.
TEST(Header, TooShort) {
  EXPECT_EQ(error_of(""), Kind::TooShort);
  EXPECT_EQ(error_of("20"), Kind::TooShort);
  EXPECT_EQ(error_of("20010004 000002"), Kind::TooShort);
  EXPECT_EQ(error_of("20010003 000002 00"), Kind::LengthMismatch);
  // The SEID that the S flag announces is not within the Message Length.
  EXPECT_EQ(error_of("21360004 000002 00"), Kind::TooShort);
  EXPECT_EQ(error_of("2136000b 0102030405060708 0000 01"), Kind::TooShort);
}

TEST(Header, LengthMustEndTheDatagram) {
  EXPECT_EQ(error_of("20010005 00000200"), Kind::LengthMismatch);
  EXPECT_EQ(error_of("20010004 00000200 00"), Kind::LengthMismatch);
}

TEST(Header, OtherVersionsKeepTheSequenceNumberForTheAnswer) {
  const auto frame = decode_header(octets_of("40010004 0badca00"));
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error(), (HeaderError{Kind::UnsupportedVersion, 2, 0x0badca}));
  EXPECT_EQ(error_of("00010004 00000100"), Kind::UnsupportedVersion);
  // Whatever the rest looks like: the next version may have other lengths.
  EXPECT_EQ(error_of("e0ff1234 00000100"), Kind::UnsupportedVersion);
}

TEST(Header, BundledMessagesComeOneByOne) {
  HeartbeatResponse first{{1}};
  HeartbeatResponse second{{2}};
  Octets octets = encode(first, {.sequence = 10, .follow_on = true});
  const Octets tail = encode(second, {.sequence = 11});
  octets.insert(octets.end(), tail.begin(), tail.end());

  const auto one = decode_header(octets);
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->header.follow_on);
  EXPECT_EQ(*decode<HeartbeatResponse>(one->body), first);
  const auto two = decode_header(one->rest);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->header.sequence, 11U);
  EXPECT_EQ(*decode<HeartbeatResponse>(two->body), second);
  EXPECT_TRUE(two->rest.empty());
  EXPECT_EQ(describe(octets),
            "seq=10 Heartbeat Response{ Recovery Time Stamp{ 1 } }; "
            "seq=11 Heartbeat Response{ Recovery Time Stamp{ 2 } }");
}

TEST(Header, SequenceNumbersAreCutTo24Bits) {
  const Octets octets = encode(HeartbeatRequest{}, {.sequence = 0x1000001});
  EXPECT_EQ(decode_header(octets)->header.sequence, 1U);
}

TEST(Peek, FindsWhoAsksAndWhereToAnswer) {
  SessionEstablishmentRequest request{};
  request.node_id.value = Ipv4{{10, 0, 0, 1}};
  request.cp_f_seid = {.seid = {0x77}, .ipv4 = Ipv4{{10, 0, 0, 1}}, .ipv6 = {}};
  const Octets octets = encode(request, {.seid = Seid{0}, .sequence = 1});  // no rules: not valid
  const Bytes body = decode_header(octets)->body;
  EXPECT_EQ(decode<SessionEstablishmentRequest>(body).error(),
            (DecodeError{Cause::MandatoryIeMissing, IeType::CreatePdr, {}}));
  EXPECT_EQ(peek_node_id(body), request.node_id);
  EXPECT_EQ(peek_f_seid(body), request.cp_f_seid);

  EXPECT_EQ(peek_node_id({}), std::nullopt);
  EXPECT_EQ(peek_f_seid(octets_of("0039 0003 02 0000")), std::nullopt);
  EXPECT_EQ(peek_f_seid(octets_of("003c 0005 000a000001 0039")), std::nullopt);
}

TEST(MessageTypes, RequestsAndResponses) {
  EXPECT_TRUE(is_response(MessageType::VersionNotSupportedResponse));
  for (const unsigned request : {1U, 3U, 5U, 7U, 9U, 12U, 14U, 16U, 50U, 52U, 54U, 56U}) {
    const auto type = static_cast<MessageType>(request);
    EXPECT_FALSE(is_response(type)) << request;
    EXPECT_TRUE(is_response(response_to(type))) << request;
    EXPECT_EQ(is_session_message(type), request >= 50) << request;
  }
  EXPECT_FALSE(is_known(static_cast<MessageType>(0)));
  EXPECT_FALSE(is_known(static_cast<MessageType>(58)));
  EXPECT_EQ(to_string(static_cast<MessageType>(200)), "message 200");
  EXPECT_EQ(to_string(static_cast<Cause>(99)), "cause 99");
  EXPECT_EQ(to_string(static_cast<IeType>(40000)), "IE 40000");
}

}  // namespace
}  // namespace upf::pfcp

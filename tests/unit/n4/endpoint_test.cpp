#include "upf/n4/endpoint.hpp"

#include <gtest/gtest.h>

namespace upf::n4 {
namespace {

using pfcp::MessageType;
using std::chrono::milliseconds;
using std::chrono::seconds;

const SocketAddress kSmf{Ipv4{{10, 0, 0, 1}}, 8805};
const SocketAddress kOther{Ipv4{{10, 0, 0, 2}}, 8805};

Now at(milliseconds since_start) { return {.steady = TimePoint{since_start}}; }

// A message with a header that fits its body.
wire::Octets message(MessageType type, std::uint32_t sequence, std::size_t body = 0,
                     std::optional<std::uint64_t> seid = {}, std::uint8_t flags = 0) {
  wire::Writer out;
  out.be<std::uint8_t>(static_cast<std::uint8_t>(1U << 5U | flags | (seid ? 1U : 0U)));
  out.be<std::uint8_t>(static_cast<std::uint8_t>(type));
  out.be<std::uint16_t>(static_cast<std::uint16_t>((seid ? 12 : 4) + body));
  if (seid) out.be<std::uint64_t>(*seid);
  out.be<std::uint32_t, 3>(sequence);
  out.be<std::uint8_t>(0);
  for (std::size_t i = 0; i < body; ++i) out.be<std::uint8_t>(static_cast<std::uint8_t>(i));
  return std::move(out).take();
}

const Request& request_of(const Input& input) { return std::get<Request>(input.received.at(0)); }
const Response& response_of(const Input& input) { return std::get<Response>(input.received.at(0)); }

TEST(Header, ReadsBothFormsAndThePriority) {
  const wire::Octets octets{0x23, 50, 0, 12, 0, 0, 0, 0, 0, 0, 0, 9, 0xab, 0xcd, 0xef, 0xc0};
  const auto header = read_header(octets);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->seid, 9U);
  EXPECT_EQ(header->sequence, 0xabcdefU);
  EXPECT_EQ(header->priority, 12);
  EXPECT_EQ(header->size(), 16U);
  for (std::size_t n = 0; n < octets.size(); ++n) {
    EXPECT_FALSE(read_header(wire::Bytes{octets}.first(n))) << "cut at " << n;
  }
}

TEST(Header, EveryTypeIsRequestResponseOrUnknown) {
  for (unsigned type = 0; type < 256; ++type) {
    const auto octet = static_cast<MessageType>(type);
    EXPECT_FALSE(is_request(octet) && pfcp::is_response(octet)) << type;
  }
  EXPECT_TRUE(is_request(MessageType::SessionSetModificationRequest));
  EXPECT_TRUE(pfcp::is_response(MessageType::VersionNotSupportedResponse));
  EXPECT_FALSE(is_request(static_cast<MessageType>(49)));
}

TEST(Endpoint, IgnoresAnEmptyDatagram) {  // cases.md 1
  Endpoint endpoint{{}};
  const Input input = endpoint.on_datagram(at({}), kSmf, {});
  EXPECT_TRUE(input.received.empty());
  EXPECT_TRUE(input.send.empty());
}

TEST(Endpoint, DiscardsWhatIsShorterThanItsHeader) {
  Endpoint endpoint{{}};
  const auto whole = message(MessageType::SessionDeletionRequest, 1, 0, 7);
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const Input input = endpoint.on_datagram(at({}), kSmf, wire::Bytes{whole}.first(n));
    EXPECT_TRUE(input.received.empty() && input.send.empty()) << "cut at " << n;
  }
  EXPECT_EQ(endpoint.counters().malformed, whole.size() - 1);
}

TEST(Endpoint, MarksALengthThatDoesNotFit) {
  Endpoint endpoint{{}};
  auto longer = message(MessageType::SessionDeletionRequest, 1, 4, 7);
  longer.push_back(0);
  EXPECT_TRUE(request_of(endpoint.on_datagram(at({}), kSmf, longer)).invalid_length);
  auto shorter = message(MessageType::SessionDeletionRequest, 2, 4, 7);
  shorter.pop_back();
  EXPECT_TRUE(request_of(endpoint.on_datagram(at({}), kSmf, shorter)).invalid_length);
  auto nothing = message(MessageType::SessionDeletionRequest, 3, 0, 7);
  nothing[3] = 3;  // shorter than the header itself
  EXPECT_TRUE(request_of(endpoint.on_datagram(at({}), kSmf, nothing)).invalid_length);
}

TEST(Endpoint, HandsUpHeaderAndBody) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::SessionEstablishmentRequest, 0x123456, 5, 0);
  const Input input = endpoint.on_datagram(at({}), kSmf, octets);
  const Request& request = request_of(input);
  EXPECT_EQ(request.key, (RequestKey{kSmf, 0x123456, MessageType::SessionEstablishmentRequest}));
  EXPECT_EQ(request.header.seid, 0U);
  EXPECT_EQ(request.body.size(), 5U);
  EXPECT_EQ(request.body.data(), octets.data() + 16);
  EXPECT_FALSE(request.invalid_length);
}

TEST(Endpoint, AnswersOtherVersionsWithItsOwn) {
  Endpoint endpoint{{}};
  auto octets = message(MessageType::SessionEstablishmentRequest, 0x010203, 0, 0);
  octets[0] = static_cast<std::uint8_t>(2U << 5U | 1U);
  const Input input = endpoint.on_datagram(at({}), kSmf, octets);
  EXPECT_TRUE(input.received.empty());
  ASSERT_EQ(input.send.size(), 1U);
  EXPECT_EQ(input.send[0].octets, (wire::Octets{0x20, 11, 0, 4, 1, 2, 3, 0}));
  EXPECT_LE(input.send[0].octets.size(), octets.size());

  octets[1] = 11;  // two such peers must not play ping-pong
  EXPECT_TRUE(endpoint.on_datagram(at({}), kSmf, octets).send.empty());
}

TEST(Endpoint, NeverAnswersAResponseOrAnUnknownType) {
  Endpoint endpoint{{}};
  for (unsigned type = 0; type < 256; ++type) {
    const auto octet = static_cast<MessageType>(type);
    if (is_request(octet)) continue;
    const Input input = endpoint.on_datagram(at({}), kSmf, message(octet, 1, 4));
    EXPECT_TRUE(input.received.empty() && input.send.empty()) << type;
  }
}

TEST(Endpoint, RepeatsTheAnswerForARepeatedRequest) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::SessionDeletionRequest, 5, 0, 7);
  const auto key = request_of(endpoint.on_datagram(at({}), kSmf, octets)).key;
  // It came again while there is no answer yet: dropped.
  const Input early = endpoint.on_datagram(at({}), kSmf, octets);
  EXPECT_TRUE(early.received.empty() && early.send.empty());

  const Datagram sent = endpoint.answer(key, {1, 2, 3});
  EXPECT_EQ(sent, (Datagram{kSmf, {1, 2, 3}}));
  const Input again = endpoint.on_datagram(at(seconds{14}), kSmf, octets);
  EXPECT_TRUE(again.received.empty());
  EXPECT_EQ(again.send, (std::vector<Datagram>{sent}));

  const Input late = endpoint.on_datagram(at(seconds{15}), kSmf, octets);
  EXPECT_EQ(late.received.size(), 1U) << "the answer is kept for 15 s only";
}

TEST(Endpoint, KeysTheCacheByAddressPortTypeAndOctets) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::SessionDeletionRequest, 5, 0, 7);
  const auto key = request_of(endpoint.on_datagram(at({}), kSmf, octets)).key;
  (void)endpoint.answer(key, {1});
  const SocketAddress other_port{kSmf.ip, 40000};
  EXPECT_EQ(endpoint.on_datagram(at({}), other_port, octets).received.size(), 1U);
  EXPECT_EQ(endpoint.on_datagram(at({}), kOther, octets).received.size(), 1U);
  const auto other_type = message(MessageType::SessionModificationRequest, 5, 0, 7);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, other_type).received.size(), 1U);
  // A restarted SMF counts from 1 again; its request is not the old one.
  const auto other_octets = message(MessageType::SessionDeletionRequest, 5, 0, 8);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, other_octets).received.size(), 1U);
}

TEST(Endpoint, HeartbeatsAreNotCached) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::HeartbeatRequest, 1, 8);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, octets).received.size(), 1U);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, octets).received.size(), 1U);
  EXPECT_EQ(endpoint.cached_entries(), 0U);
}

TEST(Endpoint, AnAbandonedRequestIsNewWhenRepeated) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::SessionDeletionRequest, 5, 0, 7);
  endpoint.abandon(request_of(endpoint.on_datagram(at({}), kSmf, octets)).key);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, octets).received.size(), 1U);
}

TEST(Endpoint, CacheIsBoundedAndStrangersDoNotDisplaceKnownPeers) {
  Endpoint endpoint{{.known = {4, 1000}, .unknown = {8, 100}}};
  endpoint.set_known(kSmf.ip, true);
  const auto kept = message(MessageType::SessionDeletionRequest, 1, 0, 7);
  (void)endpoint.answer(request_of(endpoint.on_datagram(at({}), kSmf, kept)).key, wire::Octets(50));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto octets = message(MessageType::SessionDeletionRequest, i, 0, 7);
    const Input input = endpoint.on_datagram(at({}), kOther, octets);
    (void)endpoint.answer(request_of(input).key, wire::Octets(30));
    EXPECT_LE(endpoint.cached_entries(), 9U);
    EXPECT_LE(endpoint.cached_octets(), 150U);
  }
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, kept).send.size(), 1U);
}

TEST(Endpoint, ForgetsTheAnswersOfANodeThatRestarted) {
  Endpoint endpoint{{}};
  const auto octets = message(MessageType::SessionDeletionRequest, 5, 0, 7);
  (void)endpoint.answer(request_of(endpoint.on_datagram(at({}), kSmf, octets)).key, {1});
  endpoint.forget_answers(kSmf.ip);
  EXPECT_EQ(endpoint.on_datagram(at({}), kSmf, octets).received.size(), 1U);
  EXPECT_EQ(endpoint.cached_octets(), 0U);
}

TEST(Endpoint, TakesBundledMessagesInOrder) {
  Endpoint endpoint{{}};
  auto bundle = message(MessageType::SessionDeletionRequest, 1, 0, 7, 0x04);
  const auto second = message(MessageType::SessionModificationRequest, 2, 4, 7);
  bundle.insert(bundle.end(), second.begin(), second.end());
  const Input input = endpoint.on_datagram(at({}), kSmf, bundle);
  ASSERT_EQ(input.received.size(), 2U);
  EXPECT_EQ(std::get<Request>(input.received[0]).key.sequence, 1U);
  EXPECT_EQ(std::get<Request>(input.received[1]).key.sequence, 2U);
  EXPECT_EQ(std::get<Request>(input.received[1]).body.size(), 4U);
}

struct OwnRequests : testing::Test {
  Endpoint endpoint{{.retransmit_after = seconds{1}, .max_retransmissions = 2}};
  std::vector<Datagram> sent;

  OwnRequest begin(MessageType type, SocketAddress to = kSmf) {
    const auto request = endpoint.request(at({}), to, message(type, 0, 4), sent);
    EXPECT_TRUE(request);
    return *request;
  }
};

TEST_F(OwnRequests, AreRepeatedThenGivenUp) {
  const OwnRequest request = begin(MessageType::SessionReportRequest);
  EXPECT_EQ(sent.at(0).octets, message(MessageType::SessionReportRequest, 1, 4));
  EXPECT_EQ(endpoint.wake_at(), TimePoint{seconds{1}});
  EXPECT_TRUE(endpoint.on_timer(at(milliseconds{999})).send.empty());
  EXPECT_EQ(endpoint.on_timer(at(seconds{1})).send, sent);
  EXPECT_EQ(endpoint.on_timer(at(seconds{2})).send, sent);
  const Timeouts end = endpoint.on_timer(at(seconds{3}));
  EXPECT_TRUE(end.send.empty());
  ASSERT_EQ(end.expired.size(), 1U);
  EXPECT_EQ(end.expired[0].request, request);
  EXPECT_EQ(end.expired[0].type, MessageType::SessionReportRequest);
  EXPECT_FALSE(endpoint.wake_at());
}

TEST_F(OwnRequests, AnswerIsMatchedBySequenceAndAddressWhateverThePort) {
  const OwnRequest request = begin(MessageType::SessionReportRequest);
  const auto octets = message(MessageType::SessionReportResponse, request.value, 4, 9);
  EXPECT_TRUE(endpoint.on_datagram(at({}), kOther, octets).received.empty());
  const SocketAddress other_port{kSmf.ip, 1234};
  const Input input = endpoint.on_datagram(at({}), other_port, octets);
  EXPECT_EQ(response_of(input).request, request);
  EXPECT_FALSE(endpoint.wake_at());
  EXPECT_TRUE(endpoint.on_datagram(at({}), kSmf, octets).received.empty()) << "once only";
}

TEST_F(OwnRequests, AnswerOfAnotherKindIsStray) {
  const OwnRequest request = begin(MessageType::SessionReportRequest);
  EXPECT_TRUE(
      endpoint.on_datagram(at({}), kSmf, message(MessageType::HeartbeatResponse, request.value, 8))
          .received.empty());
  EXPECT_EQ(endpoint.counters().stray_responses, 1U);
}

TEST_F(OwnRequests, VersionNotSupportedEndsTheRequest) {
  const OwnRequest request = begin(MessageType::AssociationSetupRequest);
  const Input input = endpoint.on_datagram(
      at({}), kSmf, message(MessageType::VersionNotSupportedResponse, request.value));
  EXPECT_EQ(response_of(input).request, request);
}

TEST_F(OwnRequests, Free5gcsFixedSequenceNumberIsTakenWhereItIsUnambiguous) {
  begin(MessageType::HeartbeatRequest);  // takes sequence number 1
  const OwnRequest setup = begin(MessageType::AssociationSetupRequest);
  const auto octets = message(MessageType::AssociationSetupResponse, 1, 8);
  EXPECT_TRUE(endpoint.on_datagram(at({}), kOther, octets).received.empty());
  EXPECT_EQ(response_of(endpoint.on_datagram(at({}), kSmf, octets)).request, setup);

  begin(MessageType::AssociationSetupRequest);
  begin(MessageType::AssociationSetupRequest);
  EXPECT_TRUE(endpoint.on_datagram(at({}), kSmf, octets).received.empty()) << "two it could answer";
}

TEST_F(OwnRequests, EvenAnErroneousAnswerEndsTheRequest) {
  const OwnRequest request = begin(MessageType::SessionReportRequest);
  auto octets = message(MessageType::SessionReportResponse, request.value, 4, 9);
  octets.pop_back();
  const Input input = endpoint.on_datagram(at({}), kSmf, octets);
  EXPECT_TRUE(response_of(input).invalid_length);
  EXPECT_EQ(endpoint.own_requests(), 0U);
}

TEST_F(OwnRequests, AreBounded) {
  Endpoint small{{.max_own_requests = 2}};
  EXPECT_TRUE(small.request(at({}), kSmf, message(MessageType::SessionReportRequest, 0), sent));
  EXPECT_TRUE(small.request(at({}), kSmf, message(MessageType::SessionReportRequest, 0), sent));
  EXPECT_FALSE(small.request(at({}), kSmf, message(MessageType::SessionReportRequest, 0), sent));
  EXPECT_EQ(sent.size(), 2U);
}

TEST_F(OwnRequests, CancelledOnesAreNotRepeated) {
  endpoint.cancel(begin(MessageType::HeartbeatRequest));
  EXPECT_FALSE(endpoint.wake_at());
  EXPECT_TRUE(endpoint.on_timer(at(seconds{9})).expired.empty());
}

TEST(Endpoint, SequenceNumbersWrapAt24Bits) {  // cases.md 23
  Endpoint endpoint{{.first_sequence = 0xffffff}};
  std::vector<Datagram> sent;
  const auto next = [&] {
    return endpoint.request({}, kSmf, message(MessageType::SessionReportRequest, 0, 0, 7), sent)
        ->value;
  };
  EXPECT_EQ(next(), 0xffffffU);
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(read_header(sent[0].octets)->sequence, 0xffffffU);
  EXPECT_EQ(read_header(sent[1].octets)->sequence, 1U);
}

}  // namespace
}  // namespace upf::n4

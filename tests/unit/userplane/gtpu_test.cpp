// Vectors are scapy's (scapy.contrib.gtp), read back with tshark -V; the Supported Extension
// Headers Notification and the Error Indication, which scapy can't write, are by hand after TS
// 29.281 and read with tshark.
#include "src/userplane/gtpu.hpp"

#include <gtest/gtest.h>

#include <random>

namespace upf::userplane::gtpu {
namespace {

using wire::Octets;

const Octets kPayload{0xde, 0xad, 0xbe, 0xef};

Octets encoded(const TunnelHeader& header) {
  std::array<std::uint8_t, kMaxTunnelHeader> out{};
  const std::size_t size = encode_tunnel(header, kPayload.size(), out);
  Octets octets(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
  octets.insert(octets.end(), kPayload.begin(), kPayload.end());
  return octets;
}

struct TunnelVector {
  const char* name;
  std::optional<PduSession> pdu_session;
  Octets octets;
};

class GPduVector : public testing::TestWithParam<TunnelVector> {};

TEST_P(GPduVector, EncodesAndDecodes) {
  const auto& v = GetParam();
  EXPECT_EQ(encoded({.teid = 0x11223344, .pdu_session = v.pdu_session}), v.octets);
  Header header;
  ASSERT_EQ(decode(v.octets, header), Malformed::None);
  EXPECT_EQ(header.type, MessageType::GPdu);
  EXPECT_EQ(header.teid, 0x11223344U);
  EXPECT_EQ(header.pdu_session, v.pdu_session);
  EXPECT_EQ(Octets(header.payload.begin(), header.payload.end()), kPayload);
}

TEST_P(GPduVector, EveryTruncationIsMalformed) {
  const Octets& octets = GetParam().octets;
  for (std::size_t n = 0; n < octets.size(); ++n) {
    Header header;
    EXPECT_NE(decode(wire::Bytes{octets}.first(n), header), Malformed::None) << "cut at " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scapy, GPduVector,
    testing::Values(TunnelVector{"Plain",
                                 std::nullopt,
                                 {0x30, 0xff, 0, 4, 0x11, 0x22, 0x33, 0x44, 0xde, 0xad, 0xbe,
                                  0xef}},
                    TunnelVector{"Downlink",
                                 PduSession{PduType::Downlink, 9, false},
                                 {0x34, 0xff, 0, 12, 0x11, 0x22, 0x33, 0x44, 0,    0,
                                  0,    0x85, 1, 0,  9,    0,    0xde, 0xad, 0xbe, 0xef}},
                    TunnelVector{"DownlinkReflective",
                                 PduSession{PduType::Downlink, 63, true},
                                 {0x34, 0xff, 0, 12, 0x11, 0x22, 0x33, 0x44, 0,    0,
                                  0,    0x85, 1, 0,  0x7f, 0,    0xde, 0xad, 0xbe, 0xef}},
                    TunnelVector{"Uplink",
                                 PduSession{PduType::Uplink, 5, false},
                                 {0x34, 0xff, 0, 12,   0x11, 0x22, 0x33, 0x44, 0,    0,
                                  0,    0x85, 1, 0x10, 5,    0,    0xde, 0xad, 0xbe, 0xef}}),
    [](const auto& of) { return std::string{of.param.name}; });

TEST(GtpuMessages, AreWhatTheStandardDraws) {
  EXPECT_EQ(encode_echo_request(0x1234), (Octets{0x32, 1, 0, 4, 0, 0, 0, 0, 0x12, 0x34, 0, 0}));
  EXPECT_EQ(encode_echo_response(0x1234),
            (Octets{0x32, 2, 0, 6, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 14, 0}));
  EXPECT_EQ(encode_error_indication(0x55667788, Octets{10, 0, 0, 1}),
            (Octets{0x32, 0x1a, 0,    16,   0,    0,   0, 0, 0,  0, 0, 0,
                    16,   0x55, 0x66, 0x77, 0x88, 133, 0, 4, 10, 0, 0, 1}));
  EXPECT_EQ(encode_supported_extensions(),
            (Octets{0x32, 0x1f, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 141, 4, 0x40, 0x82, 0x85, 0xc0}));
  std::array<std::uint8_t, kMaxTunnelHeader> out{};
  EXPECT_EQ(encode_tunnel({.type = MessageType::EndMarker, .teid = 0x11223344}, 0, out), 8U);
  EXPECT_EQ(Octets(out.begin(), out.begin() + 8),
            (Octets{0x30, 0xfe, 0, 0, 0x11, 0x22, 0x33, 0x44}));
}

TEST(GtpuDecode, OptionalOctetsAreThereIfAnyFlagIs) {
  for (const unsigned flags : {0x31U, 0x32U, 0x33U}) {
    // The extension type counts only with E set (5.1).
    const Octets octets{
        static_cast<std::uint8_t>(flags), 0xff, 0, 5, 0, 0, 0, 1, 0x12, 0x34, 0, 0x85, 0x45};
    Header header;
    ASSERT_EQ(decode(octets, header), Malformed::None);
    EXPECT_EQ(header.payload.size(), 1U);
    EXPECT_EQ(header.sequence.has_value(), (flags & 2U) != 0);
  }
}

TEST(GtpuDecode, WalksChainsAndNamesWhatItMustUnderstand) {
  // NR RAN Container 0x84, then the PDU Session Container, then PDCP PDU Number.
  const Octets octets{0x34, 0xff, 0,    17, 0,    0, 0,    1, 0, 0, 0,    0x84, 1,
                      7,    7,    0x85, 1,  0x10, 5, 0xc0, 1, 3, 4, 0x00, 0x45};
  Header header;
  ASSERT_EQ(decode(octets, header), Malformed::None);
  EXPECT_EQ(header.not_understood, 0x84);
  EXPECT_EQ(header.pdu_session->qfi, 5);
  ASSERT_TRUE(header.pdcp);
  EXPECT_EQ(header.pdcp->content[0], 3);
  EXPECT_EQ(header.payload.size(), 1U);
  // Types 00xxxxxx and 01xxxxxx may be skipped.
  const Octets mild{0x34, 0xff, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0x20, 1, 0, 0, 0, 0x45};
  ASSERT_EQ(decode(mild, header), Malformed::None);
  EXPECT_EQ(header.not_understood, 0);
}

TEST(GtpuDecode, RefusesWhatIsWrong) {
  Header header;
  EXPECT_EQ(decode(Octets{0x50, 0xff, 0, 0, 0, 0, 0, 0}, header), Malformed::Version);
  EXPECT_EQ(decode(Octets{0x20, 0xff, 0, 0, 0, 0, 0, 0}, header), Malformed::Version);  // GTP'
  EXPECT_EQ(decode(Octets{0x30, 0xff, 0, 1, 0, 0, 0, 0}, header), Malformed::Length);
  EXPECT_EQ(decode(Octets{0x34, 0xff, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0x85}, header),
            Malformed::Extension);
  const Octets zero_length{0x34, 0xff, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0x85, 0, 0, 0, 0};
  EXPECT_EQ(decode(zero_length, header), Malformed::Extension);
}

TEST(GtpuDecode, StaysInsideTheDatagramWhateverItSays) {
  std::mt19937 random{42};  // the same datagrams each time
  for (int i = 0; i < 200'000; ++i) {
    Octets octets(random() % 64);
    for (auto& octet : octets)
      octet = static_cast<std::uint8_t>(random() % 5 == 0 ? 0x85 : random());
    if (octets.size() > 3) {
      octets[0] = static_cast<std::uint8_t>(0x30 | (octets[0] & 7U));
      octets[2] = 0;
      octets[3] = static_cast<std::uint8_t>(random() % 64);
    }
    Header header;
    if (decode(octets, header) != Malformed::None) continue;
    ASSERT_GE(header.payload.data(), octets.data());
    ASSERT_LE(header.payload.data() + header.payload.size(), octets.data() + octets.size());
  }
}

TEST(GtpuErrorIndication, IsReadWhateverTheOrder) {
  const Octets swapped{133, 0, 4, 10, 0, 0, 1, 16, 1, 2, 3, 4};
  const auto body = decode_error_indication(swapped);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->teid, 0x01020304U);
  EXPECT_EQ(body->address.size(), 4U);
  for (std::size_t n = 0; n < swapped.size(); ++n) {
    EXPECT_FALSE(decode_error_indication(wire::Bytes{swapped}.first(n))) << n;
  }
}

}  // namespace
}  // namespace upf::userplane::gtpu

// The peers that the end-to-end tests trust: their octets against hand-written ones, and the TUN
// offloads against each other.

#include <gtest/gtest.h>

#include <numeric>

#include "tests/lab/dialect.hpp"
#include "tests/lab/gtpu.hpp"
#include "tests/lab/offload.hpp"
#include "tests/lab/smf.hpp"

namespace upf::lab {
namespace {

std::string hex(wire::Bytes octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    text += "0123456789abcdef"[octet >> 4U];
    text += "0123456789abcdef"[octet & 15U];
  }
  return text;
}

const Identity kSmf{.address = {{127, 0, 0, 1}}, .recovery_time_stamp = 0xe8000000};

Session free5gc_session() {
  Session session;
  session.cp_seid = 1;
  session.up_seid = 0x99;
  session.ue = {{10, 60, 0, 1}};
  session.first_id = 7;
  session.uplink = {1, {{127, 0, 0, 8}}};
  return session;
}

TEST(Free5gc, AssociationSetup) {
  EXPECT_EQ(hex(association_setup(kSmf, 1)),
            "2005001a00000100"
            "003c0005007f000001"  // Node ID
            "00600004e8000000"    // Recovery Time Stamp
            "0059000100");        // CP Function Features
}

TEST(Free5gc, EstablishmentBeginsAsItsSourcesWriteIt) {
  const auto octets = make_free5gc()->establishment(kSmf, free5gc_session(), 2);
  EXPECT_TRUE(hex(octets).find("0000000000000000"
                               "00000200"
                               "003c0005007f000001"                  // Node ID
                               "0039000d0200000000000000017f000001"  // CP F-SEID
                               "00010056"                            // Create PDR {
                               "003800020007"                //   PDR ID 7, unique over the UPF
                               "001d0004000000ff"            //   Precedence 255
                               "00020027"                    //   PDI {
                               "0014000100"                  //     Source Interface access
                               "0015000901000000017f000008"  //     F-TEID, chosen by the SMF
                               "00160008696e7465726e6574"    //     Network Instance, plain text
                               "005d0005020a3c0001"          //     UE IP Address, source
                               "005f000100"                  //   Outer Header Removal
                               "006c000400000007"            //   FAR ID
                               "006d000400000007006d000400000008") == 8)
      << hex(octets);
  EXPECT_EQ(octets[0], 0x23);
}

TEST(Free5gc, IdleKeepsTheOldOuterHeader) {
  Session session = free5gc_session();
  session.downlink = TunnelEnd{0x1001, {{127, 0, 0, 2}}};
  EXPECT_EQ(hex(make_free5gc()->idle(kSmf, session, 3)),
            "2334005600000000000000990000"
            "03c0"
            "0039000d0200000000000000017f000001"
            "000a0035006c000400000008"
            "002c00010c"
            "000b0024002a00010000160008696e7465726e6574"
            "0054000a0100000010017f0000020031000100");
}

TEST(Open5gs, IdleHasTwoOctetsOfApplyActionAndTheBar) {
  Session session;
  session.up_seid = 0x99;
  EXPECT_EQ(hex(make_open5gs()->idle(kSmf, session, 3)),
            "2134002300000000000000990000"
            "0300"
            "000a0013006c000400000001002c00020c00005800"
            "0101");
}

TEST(Tlv, EveryMessageOfBothDialectsIsWholeTlv) {
  for (const char* name : {"free5gc", "open5gs"}) {
    Session session = free5gc_session();
    session.flows.push_back({.description = "permit out ip from 1.1.1.1 to assigned"});
    session.usage = {
        .enabled = true, .period_s = 10, .threshold_octets = 1000, .quota_octets = 5000};
    session.downlink = TunnelEnd{2, {{127, 0, 0, 2}}};
    const auto dialect = make_dialect(name);
    for (const auto& octets :
         {dialect->establishment(kSmf, session, 1), dialect->activation(kSmf, session, 2),
          dialect->idle(kSmf, session, 3), dialect->handover(kSmf, session, 4),
          dialect->indirect(kSmf, session, {3, {}}, 5), dialect->indirect_removal(kSmf, session, 6),
          dialect->quota(kSmf, session, 7), dialect->query(kSmf, session, 8),
          dialect->deletion(session, 9)}) {
      const auto message = parse(octets);
      ASSERT_TRUE(message) << hex(octets);
      std::size_t covered = 0;
      for (const auto& [type, value] : ies(message->body())) covered += value.size() + 4;
      EXPECT_EQ(covered, message->body().size()) << name << ' ' << hex(octets);
    }
  }
}

TEST(Labels, EachPartHasItsLength) {
  EXPECT_EQ(hex(labels("internet")), "08696e7465726e6574");
  EXPECT_EQ(hex(labels("a.bc")),
            "0161"
            "026263");
}

TEST(Gtpu, ReadsWhatItWrites) {
  std::array<std::uint8_t, kUplinkHeader + 4> octets{};
  write_uplink_header(std::span<std::uint8_t, kUplinkHeader>{octets.data(), kUplinkHeader},
                      0x01020304, 9, 4);
  const auto packet = parse_gtpu(octets);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->type, kGPdu);
  EXPECT_EQ(packet->teid, 0x01020304U);
  EXPECT_EQ(packet->qfi, 9);
  EXPECT_EQ(packet->payload.size(), 4U);
  for (std::size_t n = 0; n < octets.size(); ++n) EXPECT_FALSE(parse_gtpu({octets.data(), n})) << n;
}

/// An IPv4 TCP packet of `payload` octets that count up, checksums left to the device.
std::vector<std::uint8_t> super_packet(std::size_t payload) {
  std::vector<std::uint8_t> packet{
      0x45, 0,    0,    0,    0, 1, 0x40, 0,   64, 6, 0, 0, 10,   0,    0, 1, 10, 0, 0, 2,
      0x12, 0x34, 0x56, 0x78, 0, 0, 0,    100, 0,  0, 0, 0, 0x50, 0x18, 1, 0, 0,  0, 0, 0};
  for (std::size_t i = 0; i < payload; ++i) packet.push_back(static_cast<std::uint8_t>(i * 7));
  return packet;
}

TEST(Splitter, SegmentsHaveValidChecksumsAndTheWholePayload) {
  auto packet = super_packet(3001);
  VnetHeader header{};
  header.flags = VnetHeader::kNeedsChecksum;
  header.gso_type = VnetHeader::kTcp4;
  header.gso_size = 1000;
  Splitter split{header, packet};
  std::vector<std::uint8_t> out(65536);
  std::vector<std::size_t> sizes;
  std::vector<std::uint8_t> payload;
  while (const std::size_t size = split.next(out.data())) {
    sizes.push_back(size);
    EXPECT_EQ(fold(sum_octets({out.data(), 20})), 0xffff);
    EXPECT_EQ(fold(sum_octets({out.data() + 20, size - 20}, 6 + size - 20) +
                   sum_octets({out.data() + 12, 8})),
              0xffff);
    EXPECT_EQ(out[33], sizes.size() == 4 ? 0x18 : 0x10);
    payload.insert(payload.end(), out.begin() + 40,
                   out.begin() + static_cast<std::ptrdiff_t>(size));
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1040, 1040, 1040, 41}));
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), packet.begin() + 40, packet.end()));
}

TEST(TriggerNames, NamesEachBit) {
  EXPECT_EQ(trigger_names(wire::Octets{0x02, 0x00, 0x00}), "VOLTH");
  EXPECT_EQ(trigger_names(wire::Octets{0x00, 0x08, 0x00}), "TERMR");
  EXPECT_EQ(trigger_names(wire::Octets{0x80, 0x01}), "IMMER+VOLQU");
}

}  // namespace
}  // namespace upf::lab

// Idle UEs, paging, flush and handover on the gtp5g plane.
#include <gtest/gtest.h>

#include "tests/standin/fixtures.hpp"

namespace upf::standin {
namespace {

using dataplane::DownlinkData;
using std::chrono::milliseconds;

std::uint32_t be(const wire::Octets& octets, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | octets.at(at + i);
  return value;
}
std::uint8_t type_of(const SentDatagram& datagram) { return datagram.octets.at(1); }
std::uint32_t teid_of(const SentDatagram& datagram) { return be(datagram.octets, 4, 4); }
std::uint16_t sequence_of_g_pdu(const SentDatagram& datagram) {
  return static_cast<std::uint16_t>(be(datagram.octets, 8, 2));
}
/// The payload's size tells test packets apart.
std::size_t inner_size(const SentDatagram& datagram) { return datagram.octets.size() - 16 - 28; }

rules::SessionRules base() { return with_qer(session(), {.id = {1}, .qfi = 9}); }

TEST(Idle, HoldsPacketsAndTellsOnce) {
  // cases.md 56
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  for (int i = 0; i < 5; ++i) rig.downlink(udp(kServer, kUe, 10, 1, 2, 0xb8));
  EXPECT_EQ(rig.events<DownlinkData>(),
            (std::vector<DownlinkData>{{rig.seid, kDown, std::uint8_t{9}, std::uint8_t{46}}}));
  rig.downlink(10);
  EXPECT_TRUE(rig.events<DownlinkData>().empty());
  EXPECT_EQ(rig.counter("waiting_packets"), 6U);
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

TEST(Idle, WithoutNocpNobodyIsTold) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base(), false)));
  rig.downlink(10);
  EXPECT_TRUE(rig.events<DownlinkData>().empty());
  EXPECT_EQ(rig.counter("waiting_packets"), 1U);
}

TEST(Idle, FlushesInOrderBeforeNewPacketsWithNumbersThatRunOn) {
  // cases.md 54
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  for (std::size_t size = 1; size <= 4; ++size) rig.downlink(size);
  ASSERT_TRUE(rig.go(base()));
  for (std::size_t size = 5; size <= 6; ++size) rig.downlink(size);
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 6U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(inner_size(sent[i]), i + 1);
    EXPECT_EQ(sent[i].from, kN3);
    EXPECT_EQ(sent[i].to, (SocketAddress{kGnb, 2152}));
    EXPECT_EQ(teid_of(sent[i]), kGnbTeid.value);
    EXPECT_EQ(sent[i].octets[0], 0x36);
    EXPECT_EQ(be(sent[i].octets, 11, 4), 0x85010009U);
    EXPECT_EQ(sequence_of_g_pdu(sent[i]), static_cast<std::uint16_t>(i - 4U));
  }
}

TEST(Idle, QfiHasSixBitsAndRqiGoesWithIt) {
  Rig rig;
  const auto rules = with_qer(session(), {.id = {1}, .qfi = 63, .rqi = true});
  ASSERT_TRUE(rig.go(idle(rules)));
  rig.downlink(1);
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(2);
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].octets[14], 0x40 | 63);
  EXPECT_EQ(sent[1].octets[14], 0x40 | 63);
}

TEST(Idle, IsToldAgainInEachEpisode) {
  // cases.md 55
  Rig rig;
  for (int episode = 0; episode < 3; ++episode) {
    ASSERT_TRUE(rig.go(idle(base())));
    rig.downlink(10);
    EXPECT_EQ(rig.events<DownlinkData>().size(), 1U) << episode;
    ASSERT_TRUE(rig.go(base()));
    rig.downlink(10);
    EXPECT_EQ(rig.machine->take_sent().size(), 2U) << episode;
  }
}

TEST(Idle, WaitsForTheBarsDelayAndKeepsToItsCount) {
  Rig rig;
  auto rules = idle(base());
  rules.bars = {{.id = {1}, .notification_delay_50ms = 1, .suggested_packets = std::uint16_t{3}}};
  rules.fars[1].bar = BarId{1};
  ASSERT_TRUE(rig.go(rules));
  for (int i = 0; i < 10; ++i) rig.downlink(10);
  EXPECT_TRUE(rig.events<DownlinkData>().empty());
  EXPECT_EQ(rig.counter("waiting_packets"), 3U);
  std::vector<DownlinkData> told;
  const TimePoint give_up = Clock::now() + std::chrono::seconds{15};
  while (told.empty() && Clock::now() < give_up) told = rig.events<DownlinkData>();
  EXPECT_EQ(told.size(), 1U);
}

TEST(Idle, AFullBufferLosesItsOldestOrItsNewestAsConfigured) {
  // cases.md 54
  for (const bool oldest : {true, false}) {
    Rig rig{{.buffer = {.packets_per_session = 2, .drop_oldest = oldest}}};
    ASSERT_TRUE(rig.go(idle(base())));
    for (const std::size_t payload : {1U, 2U, 3U}) rig.downlink(payload);
    (void)rig.events<DownlinkData>();
    ASSERT_TRUE(rig.go(base()));
    const auto sent = rig.machine->take_sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(inner_size(sent[0]), oldest ? 2U : 1U);
    EXPECT_EQ(inner_size(sent[1]), oldest ? 3U : 2U);
  }
}

TEST(Idle, DropAndDropBufferedThrowAway) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(10);
  (void)rig.plane->take_events();
  ASSERT_TRUE(rig.go(base(), {.drop_buffered = {kToGnb}}));
  EXPECT_TRUE(rig.machine->take_sent().empty());

  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(10);
  (void)rig.plane->take_events();
  auto drop = base();
  drop.fars[1].action = {.drop = true};
  ASSERT_TRUE(rig.go(drop));
  ASSERT_TRUE(rig.go(base()));
  EXPECT_TRUE(rig.machine->take_sent().empty());
  EXPECT_EQ(rig.counter("waiting_packets"), 0U);
}

TEST(Idle, ClosedGateHoldsNothing) {
  Rig rig;
  auto rules = idle(base());
  rules.qers[0].downlink_open = false;
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(10);
  EXPECT_TRUE(rig.events<DownlinkData>().empty());
  EXPECT_EQ(rig.counter("waiting_packets"), 0U);
}

TEST(Idle, ASessionThatEndsHoldsNothing) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(10);
  (void)rig.plane->take_events();
  (void)rig.finish();
  EXPECT_EQ(rig.counter("waiting_packets"), 0U);
}

TEST(Idle, WhatWasFlushedIsCountedLikeAllOthers) {
  Rig rig;
  const auto rules = with_urr(base(), {.id = {1}});
  ASSERT_TRUE(rig.go(idle(rules)));
  for (int i = 0; i < 4; ++i) rig.downlink(100);
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(100);
  const auto readings = rig.finish();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].octets, (rules::Volume{0, 500}));
  EXPECT_EQ(readings[0].packets, (rules::Volume{0, 5}));
}

TEST(Idle, PacketsOfATunnelGoThroughTheKernelAgain) {
  Rig rig;
  auto rules = base();
  rules.fars[0].action = {.buffer = true};
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(10);
  rig.uplink(20);
  EXPECT_TRUE(rig.machine->take_n6().empty());
  ASSERT_TRUE(rig.go(base()));
  const auto packets = rig.machine->take_n6();
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets[0].size(), 38U);
  EXPECT_EQ(packets[1].size(), 48U);
}

TEST(Idle, StragglersAreSentOn) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(1);  // held by nobody yet: its event waits while the FAR changes
  rig.machine->kernel.fail = [&](std::uint8_t command, bool replace) {
    if (command == 2 && replace) rig.downlink(2);
    return 0;
  };
  ASSERT_TRUE(rig.go(base()));
  rig.machine->kernel.fail = nullptr;
  (void)rig.plane->take_events();
  EXPECT_EQ(rig.machine->take_sent().size(), 2U);
}

// --- handover --------------------------------------------------------------------------------

TEST(Handover, SendsOneEndMarkerToTheOldTunnelAfterTheLastPacket) {
  // cases.md 58
  Rig rig;
  ASSERT_TRUE(rig.go(base()));
  rig.downlink(1);
  auto moved = base();
  moved.fars[1] = far_to_gnb(kGnb2, kGnb2Teid);
  ASSERT_TRUE(rig.go(moved, {.end_markers = {kToGnb}}));
  rig.downlink(2);
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(type_of(sent[0]), 255);
  EXPECT_EQ(type_of(sent[1]), 254);
  EXPECT_EQ(teid_of(sent[1]), kGnbTeid.value);
  EXPECT_EQ(sent[1].to, (SocketAddress{kGnb, 2152}));
  EXPECT_EQ(sent[1].from, kN3);
  EXPECT_EQ(teid_of(sent[2]), kGnb2Teid.value);
}

TEST(Handover, NoEndMarkerUnlessTheHeaderChangesOrNotAsked) {
  Rig rig;
  ASSERT_TRUE(rig.go(base()));
  ASSERT_TRUE(rig.go(base(), {.end_markers = {kToGnb}}));
  auto moved = base();
  moved.fars[1] = far_to_gnb(kGnb2, kGnb2Teid);
  ASSERT_TRUE(rig.go(moved));
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

TEST(Handover, WhileIdleFlushesToTheNewTunnel) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(1);
  auto moved = base();
  moved.fars[1] = far_to_gnb(kGnb2, kGnb2Teid);
  ASSERT_TRUE(rig.go(moved, {.end_markers = {kToGnb}}));
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(teid_of(sent[0]), kGnb2Teid.value);
  EXPECT_EQ(type_of(sent[1]), 254);
  EXPECT_EQ(teid_of(sent[1]), kGnbTeid.value);
}

// --- GTP-U signalling ------------------------------------------------------------------------

TEST(Signalling, ErrorIndicationIsHandedUp) {
  // cases.md 64
  Rig rig;
  ASSERT_TRUE(rig.go(base()));
  const wire::Octets message{0x32, 26,   0,    16,   0,    0,    0,    0, 0,  1, 0, 0,
                             0x10, 0xaa, 0xbb, 0xcc, 0xdd, 0x85, 0x00, 4, 10, 0, 3, 2};
  rig.machine->kernel.receive_datagram({kGnb, 2152}, kN3, message);
  const auto events = rig.events<dataplane::ErrorIndication>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].teid, kGnbTeid);
  EXPECT_EQ(events[0].peer, IpAddress{kGnb});
  for (std::size_t size = 0; size < message.size(); ++size) {
    rig.machine->kernel.receive_datagram({kGnb, 2152}, kN3, wire::Bytes{message}.first(size));
    EXPECT_TRUE(rig.events<dataplane::ErrorIndication>().empty()) << "cut at " << size;
  }
}

// The socket is bound before the link is made of it.
TEST(Signalling, AnEchoRequestFromBeforeTheLinkIsAnswered) {
  // cases.md 64
  Rig rig;
  rig.machine->to_socket({kGnb, 2152}, wire::Octets{0x32, 1, 0, 4, 0, 0, 0, 0, 0xff, 0xff, 0, 0});
  (void)rig.plane->take_events();
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].to, (SocketAddress{kGnb, 2152}));
  EXPECT_EQ(sent[0].octets, (wire::Octets{0x32, 2, 0, 6, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 14, 0}));
}

// TS 29.281 5.2.1 and 7.2.3, as far as messages reach the daemon: the module passes over what
// extension headers a G-PDU has.
TEST(Signalling, AnExtensionHeaderThatMustBeUnderstoodIsAnsweredWithThoseThatAre) {
  Rig rig;
  ASSERT_TRUE(rig.go(base()));
  wire::Octets message{0x36, 26, 0,    20,   0,    0,    0,    0,    0x12, 0x34, 0,  0xc3, 1, 0,
                       0,    0,  0x10, 0xaa, 0xbb, 0xcc, 0xdd, 0x85, 0x00, 4,    10, 0,    3, 2};
  rig.machine->kernel.receive_datagram({kGnb, 2152}, kN3, message);
  EXPECT_TRUE(rig.events<dataplane::ErrorIndication>().empty());
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].to, (SocketAddress{kGnb, 2152}));
  EXPECT_EQ(sent[0].octets,
            (wire::Octets{0x32, 31, 0, 7, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 141, 1, 0x85}));
  message[11] = 0x43;  // of a kind that need not be
  rig.machine->kernel.receive_datagram({kGnb, 2152}, kN3, message);
  EXPECT_EQ(rig.events<dataplane::ErrorIndication>().size(), 1U);
  message[1] = 31;  // no answer to an answer
  message[11] = 0xc3;
  rig.machine->kernel.receive_datagram({kGnb, 2152}, kN3, message);
  EXPECT_TRUE(rig.events<dataplane::ErrorIndication>().empty());
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

// Events come on a multicast group and don't say of which link they are.
TEST(Events, OfAnotherUpfOnTheHostAreNotOurs) {
  Rig ours;
  Rig theirs;
  theirs.seid = {0x77};
  const auto rules = with_urr(base(), {.id = {1}, .notify_at = rules::VolumeLimit{1, 10}});
  const auto overhear = [&] {
    const auto event = theirs.machine->events.take();
    ASSERT_TRUE(event.has_value());
    ours.machine->event(event->octets);
  };
  ASSERT_TRUE(ours.go(idle(rules)));
  ASSERT_TRUE(theirs.go(idle(rules)));
  theirs.downlink(20);
  overhear();
  EXPECT_TRUE(ours.events<DownlinkData>().empty());
  EXPECT_EQ(ours.counter("waiting_packets"), 0U);
  ASSERT_TRUE(ours.go(rules));
  ASSERT_TRUE(theirs.go(rules));
  theirs.downlink(20);
  overhear();
  EXPECT_TRUE(ours.events<dataplane::LimitReached>().empty());
  ours.downlink(20);
  EXPECT_EQ(ours.events<dataplane::LimitReached>().size(), 1U);
}

TEST(Events, OverrunIsSaidOnce) {
  Rig rig;
  ASSERT_TRUE(rig.go(idle(base())));
  rig.downlink(1);
  rig.machine->events.overrun();
  rig.downlink(2);
  EXPECT_EQ(rig.events<dataplane::Overrun>().size(), 1U);
  EXPECT_EQ(rig.counter("waiting_packets"), 2U);
}

}  // namespace
}  // namespace upf::standin

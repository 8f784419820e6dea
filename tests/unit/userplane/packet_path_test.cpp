// What the user-space plane does beyond the contract: super packets, fragments, IPv6, UE to UE,
// GTP-U's own messages, rates. The packet function runs whole, on a sink in memory.
#include <gtest/gtest.h>

#include "contract/memory_world.hpp"
#include "contract/sessions.hpp"

namespace upf::userplane {
namespace {

using namespace contract;

class PacketPath : public testing::Test {
 protected:
  void install(const rules::SessionRules& after, Seid seid = kSeid) {
    auto& before = installed_[seid];
    const auto applied = world_.plane().apply(
        {.seid = seid, .before = before ? &*before : nullptr, .after = &after});
    ASSERT_TRUE(applied) << applied.error().detail;
    before = after;
  }
  rules::SessionRules usual() { return usual_session(world_); }
  void up(const Octets& packet, std::uint32_t teid = kUplinkTeid) {
    world_.from_peer(0, contract::gtpu(teid, packet, {.qfi = 1}));
  }
  std::vector<Output> out() { return world_.settle(); }
  Octets only() {
    auto outputs = out();
    EXPECT_EQ(outputs.size(), 1U);
    return outputs.empty() ? Octets{} : outputs[0].octets;
  }

  MemoryWorld world_{};
  std::map<Seid, std::optional<rules::SessionRules>> installed_{};
};

Packet tcp(std::uint32_t index, std::size_t payload = 1000) {
  Packet packet = to_network();
  packet.protocol = 6;
  packet.payload = payload;
  packet.id = static_cast<std::uint16_t>(index + 1);
  packet.sequence = 1 + index * 1000;
  packet.mark = static_cast<std::uint8_t>(index);
  return packet;
}

TEST_F(PacketPath, ConsecutiveTcpSegmentsLeaveAsOneAndComeApartUnchanged) {
  install(usual());
  for (std::uint32_t i = 0; i < 20; ++i) up(build(tcp(i, i == 19 ? 500 : 1000)));
  const auto outputs = out();
  EXPECT_EQ(world_.sink.super_packets, 1U);
  ASSERT_EQ(outputs.size(), 20U);
  for (std::uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(outputs[i].octets, build(tcp(i, i == 19 ? 500 : 1000))) << i;
  }
}

TEST_F(PacketPath, EqualUdpDatagramsLeaveAsOne) {
  install(usual());
  for (std::uint16_t i = 0; i < 10; ++i) {
    Packet packet = to_network();
    packet.id = static_cast<std::uint16_t>(i + 1);
    packet.payload = i < 8 ? 100 : 60;  // the first shorter one closes
    up(build(packet));
  }
  const auto outputs = out();
  EXPECT_EQ(world_.sink.super_packets, 1U);
  ASSERT_EQ(outputs.size(), 10U);
  for (const Output& output : outputs) EXPECT_TRUE(checksums_hold(output.octets));
}

TEST_F(PacketPath, WhatDiffersIsNotGluedAndKeepsItsOrder) {
  install(usual());
  std::vector<Octets> sent;
  for (std::uint32_t i = 0; i < 12; ++i) {
    Packet packet = tcp(i);
    if (i == 3) packet.tos = 8;
    if (i == 5) packet.ttl = 63;
    if (i == 7) packet.sequence += 4;  // a gap
    Octets octets = build(packet);
    if (i == 9) octets.back() = static_cast<std::uint8_t>(~octets.back());  // damaged on the way
    sent.push_back(octets);
    up(octets);
  }
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(outputs[i].octets, sent[i]) << i;
}

TEST_F(PacketPath, FlowsInterleaveAndEachKeepsItsOrder) {
  install(usual());
  std::map<std::uint16_t, std::vector<Octets>> sent;
  std::map<std::uint16_t, std::vector<Octets>> got;
  for (std::uint32_t i = 0; i < 200; ++i) {
    Packet packet = tcp(i / 20);
    packet.source_port = static_cast<std::uint16_t>(i % 20);
    sent[packet.source_port].push_back(build(packet));
    up(build(packet));
  }
  for (const Output& output : out()) {
    got[static_cast<std::uint16_t>(get16(output.octets, 20))].push_back(output.octets);
  }
  EXPECT_EQ(got, sent);
}

/// A super packet as the kernel hands it over: partial checksum, GSO.
Octets super_tcp(std::size_t payload, VnetHeader& header, bool v6 = false) {
  Packet packet = to_ue();
  packet.protocol = 6;
  packet.payload = payload;
  if (v6) {
    packet.source = *parse_ipv6("2001:db8:100::7");
    packet.destination = *parse_ipv6("2001:db8:45:1::9");
  }
  Octets octets = build(packet);
  const std::size_t l4 = v6 ? 40 : 20;
  for (std::size_t i = l4 + 20; i < octets.size(); ++i)
    octets[i] = static_cast<std::uint8_t>(i * 7);
  octets[l4 + 13] = 0x19;  // ACK, PSH, FIN
  header = {.flags = kVnetNeedsChecksum,
            .gso_type = v6 ? kGsoTcp6 : kGsoTcp4,
            .header_length = static_cast<std::uint16_t>(l4 + 20),
            .gso_size = 1000,
            .checksum_start = static_cast<std::uint16_t>(l4),
            .checksum_offset = 16};
  return octets;
}

TEST_F(PacketPath, SuperPacketsAreCutIntoWholeDatagrams) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .qfi = 7}};
  pdr(rules, kDownlinkPdr).qers = {{1}};
  install(metered(rules));
  VnetHeader header;
  const Octets whole = super_tcp(5500, header);
  world_.from_tun(header, whole);
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(world_.sink.trains, 1U);
  Octets together;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const GtpuView view = read_gtpu(outputs[i].octets);
    EXPECT_EQ(view.qfi, 7);
    EXPECT_TRUE(checksums_hold(view.payload)) << i;
    EXPECT_EQ(get16(view.payload, 2), view.payload.size());
    EXPECT_EQ(get16(view.payload, 4), 1 + i);           // IPv4 ID
    EXPECT_EQ(get32(view.payload, 24), 1 + 1000 * i);   // sequence number
    EXPECT_EQ(view.payload[33], i == 5 ? 0x19 : 0x10);  // FIN and PSH on the last
    together.insert(together.end(), view.payload.begin() + 40, view.payload.end());
  }
  EXPECT_EQ(together, Octets(whole.begin() + 40, whole.end()));
  // Each datagram's headers count: the T-PDUs, not the super packet.
  const auto reading = world_.plane().read_usage(kSeid, {})->front();
  EXPECT_EQ(reading.octets.downlink, 5500U + 6 * 40);
  EXPECT_EQ(reading.packets.downlink, 6U);
}

TEST_F(PacketPath, AQuotaCutsASuperPacketAtThePacketThatReachesIt) {
  rules::SessionRules rules = metered(usual());
  rules.urrs[0].block_at = rules::VolumeLimit{.generation = 1, .total = 3000};
  install(rules);
  VnetHeader header;
  const Octets whole = super_tcp(10'000, header);
  world_.from_tun(header, whole);
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 3U);  // 3 x 1040
  EXPECT_TRUE(checksums_hold(read_gtpu(outputs[2].octets).payload));
  EXPECT_EQ(read_gtpu(outputs[2].octets).payload[33], 0x10);
  EXPECT_EQ(world_.plane().read_usage(kSeid, {})->front().octets.downlink, 3120U);
  EXPECT_EQ(world_.dropped(Drop::Quota), 7U);
}

TEST_F(PacketPath, PartialChecksumsAreCompleted) {
  install(usual());
  Octets packet = build(to_ue());
  const Octets wanted = packet;
  Packet pseudo = to_ue();
  pseudo.payload = to_ue().payload;
  // CHECKSUM_PARTIAL leaves the pseudo header's sum, not inverted.
  const auto sum = static_cast<std::uint16_t>(~checksum({}, pseudo_sum(packet, 20, 17)));
  put16(packet, 26, sum);
  world_.from_tun({.flags = kVnetNeedsChecksum, .checksum_start = 20, .checksum_offset = 6},
                  packet);
  EXPECT_EQ(read_gtpu(only()).payload, wanted);
}

TEST_F(PacketPath, LaterFragmentsFollowTheFirst) {
  rules::SessionRules rules = usual();
  for (rules::Pdr& p : rules.pdrs) p.filters = {flow_from(kHost, 5000)};
  install(rules);
  Packet first = to_network();
  first.fragment = 0x2000;
  first.id = 99;
  Packet later = first;
  later.fragment = 0x0005;
  later.protocol = 17;
  up(build(first));
  up(build(later));
  EXPECT_EQ(out().size(), 2U);
  later.id = 100;  // its first was never seen
  up(build(later));
  EXPECT_EQ(out().size(), 0U);
  first = to_ue();
  first.fragment = 0x2000;
  first.id = 7;
  later = first;
  later.fragment = 0x0005;
  world_.from_n6(build(first));
  world_.from_n6(build(later));
  EXPECT_EQ(out().size(), 2U);
}

TEST_F(PacketPath, IpOptionsMovePortsAndPass) {
  rules::SessionRules rules = usual();
  pdr(rules, kUplinkPdr).filters = {flow_from(kHost, 5000)};
  install(rules);
  Packet packet = to_network();
  packet.ip_options = {1, 1, 1, 0};
  up(build(packet));
  EXPECT_EQ(only(), build(packet));
}

TEST_F(PacketPath, UesTalkWithoutLeavingThePlane) {
  install(usual());
  rules::SessionRules other = usual();
  pdr(other, kUplinkPdr).f_teid->teid = {0x2222};
  for (rules::Pdr& p : other.pdrs) p.ue_addresses[0].ipv4 = Ipv4{{10, 45, 0, 2}};
  far(other, kDownlinkFar).forwarding->outer_header->teid = {0x3333};
  install(metered(other), {2});
  Packet packet = to_network();
  packet.destination = Ipv4{{10, 45, 0, 2}};
  up(build(packet));
  const GtpuView view = read_gtpu(only());
  EXPECT_EQ(view.teid, 0x3333U);
  packet.ttl = 63;
  EXPECT_EQ(view.payload, build(packet));
  EXPECT_EQ(world_.plane().read_usage({2}, {})->front().packets.downlink, 1U);
  packet.ttl = 1;  // ends here: the kernel will say so to the sender
  up(build(packet));
  EXPECT_TRUE(out().at(0).to_n6);
}

TEST_F(PacketPath, AUesOwnUdpToTheGtpuPortPassesButNotToUs) {
  install(usual());
  Packet packet = to_network();
  packet.destination_port = 2152;
  up(build(packet));
  EXPECT_EQ(only(), build(packet));
  packet.destination = world_.local();
  up(build(packet));
  EXPECT_TRUE(out().empty());
  EXPECT_EQ(world_.dropped(Drop::ToSelf), 1U);
}

// cases.md 64: Error Indication for unknown tunnels, rate-limited.
TEST_F(PacketPath, AnUnknownTeidGetsOneErrorIndicationASecond) {
  for (int i = 0; i < 5; ++i) up(build(to_network()), 0x99);
  auto outputs = out();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].octets, (Octets{0x32, 26, 0, 16, 0,    0,   0, 0, 0,  0,   0, 0,
                                       16,   0,  0, 0,  0x99, 133, 0, 4, 10, 100, 0, 1}));
  world_.now += std::chrono::seconds{1};
  up(build(to_network()), 0x99);
  EXPECT_EQ(out().size(), 1U);
  // 100 a second over all.
  for (std::uint32_t teid = 0x1000; teid < 0x2000; ++teid) {
    if (teid != kUplinkTeid) up(build(to_network()), teid);
  }
  EXPECT_LE(out().size(), 101U);
}

TEST_F(PacketPath, AnExtensionHeaderThatDemandsToBeUnderstoodIsAnswered) {
  install(usual());
  Octets datagram{0x34, 0xff, 0, 0, 0, 0, 0x10, 0x01, 0, 0, 0, 0xc1, 1, 0, 0, 0};
  const Octets packet = build(to_network());
  datagram.insert(datagram.end(), packet.begin(), packet.end());
  put16(datagram, 2, static_cast<std::uint32_t>(datagram.size() - 8));
  world_.from_peer(0, datagram);
  EXPECT_EQ(only().at(1), 31);
}

TEST_F(PacketPath, Ipv6SessionsByPrefix) {
  rules::SessionRules rules = usual();
  const Ipv6Prefix prefix = *parse_ipv6_prefix("2001:db8:45:1::/64");
  for (rules::Pdr& p : rules.pdrs) p.ue_addresses[0].ipv6 = prefix;
  install(rules);
  Packet packet = to_network();
  packet.source = *parse_ipv6("2001:db8:45:1::9");
  packet.destination = *parse_ipv6("2001:db8:100::7");
  up(build(packet));
  EXPECT_EQ(only(), build(packet));
  std::swap(packet.source, packet.destination);
  world_.from_n6(build(packet));
  EXPECT_EQ(read_gtpu(only()).payload, build(packet));
  packet.destination = *parse_ipv6("2001:db8:45:2::9");
  world_.from_n6(build(packet));
  EXPECT_TRUE(out().empty());
  // IPv4v6: the other address still works.
  world_.from_n6(build(to_ue()));
  EXPECT_EQ(read_gtpu(only()).payload, build(to_ue()));
  VnetHeader header;
  world_.from_tun(header, super_tcp(3000, header, true));
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 3U);
  for (const Output& output : outputs) {
    EXPECT_TRUE(checksums_hold(read_gtpu(output.octets).payload));
  }
}

TEST_F(PacketPath, GtpuOverIpv6) {
  rules::SessionRules rules = usual();
  auto& outer = *far(rules, kDownlinkFar).forwarding->outer_header;
  outer.kind = rules::OuterHeader::Kind::GtpuUdpIpv6;
  outer.peer = *parse_ipv6("2001:db8:ffff::2");
  install(rules);
  world_.from_n6(build(to_ue()));
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].peer, IpAddress{*parse_ipv6("2001:db8:ffff::2")});
}

// Open5GS's SMF: the uplink PDI names no UE address (n4-clients.md 2).
TEST_F(PacketPath, SpoofedSourcesAreDroppedThoughThePdiNamesNoAddress) {
  rules::SessionRules rules = usual();
  pdr(rules, kUplinkPdr).ue_addresses.clear();
  install(rules);
  up(build(to_network()));
  EXPECT_EQ(out().size(), 1U);
  Packet packet = to_network();
  packet.source = Ipv4{{10, 45, 0, 66}};
  up(build(packet));
  EXPECT_TRUE(out().empty());
}

// cases.md 39: router solicitations go to the SMF through a tunnel, its advertisements back.
TEST_F(PacketPath, RouterSolicitationsReachTheCpFunctionAndItsPacketsTheUe) {
  rules::SessionRules rules = usual();
  pdr(rules, kUplinkPdr).ue_addresses.clear();
  rules::SdfFilter solicitation;
  solicitation.flow.emplace();
  solicitation.flow->protocol = 58;
  solicitation.flow->source.prefix = *parse_ipv6_prefix("ff02::2/128");
  solicitation.flow->destination.assigned = true;
  rules.fars.push_back(tunnel_far(world_, {3}, rules::Interface::CpFunction, 1, 0xcafe));
  rules::Pdr to_cp = pdr(rules, kUplinkPdr);
  to_cp.id = {3};
  to_cp.precedence = 10;
  to_cp.filters = {solicitation};
  to_cp.far = {3};
  rules::Pdr from_cp = to_cp;
  from_cp.id = {4};
  from_cp.source_interface = rules::Interface::CpFunction;
  from_cp.f_teid->teid = {0x1919};
  from_cp.filters.clear();
  from_cp.far = kDownlinkFar;
  rules.pdrs.push_back(to_cp);
  rules.pdrs.push_back(from_cp);
  install(rules);
  Packet packet{
      .source = *parse_ipv6("fe80::1"), .destination = *parse_ipv6("ff02::2"), .protocol = 58};
  up(build(packet));
  auto outputs = out();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].peer, IpAddress{world_.peer(1)});
  EXPECT_EQ(read_gtpu(outputs[0].octets).teid, 0xcafeU);
  std::swap(packet.source, packet.destination);
  world_.from_peer(1, contract::gtpu(0x1919, build(packet)));
  EXPECT_EQ(read_gtpu(only()).teid, kGnbTeid);
}

TEST_F(PacketPath, FramedRoutesByLongestPrefix) {
  rules::SessionRules rules = usual();
  for (rules::Pdr& p : rules.pdrs) p.framed_routes = {*parse_ip_prefix("192.0.2.0/24")};
  install(rules);
  rules::SessionRules other = usual();
  pdr(other, kUplinkPdr).f_teid->teid = {0x2222};
  for (rules::Pdr& p : other.pdrs) {
    p.ue_addresses[0].ipv4 = Ipv4{{10, 45, 0, 2}};
    p.framed_routes = {*parse_ip_prefix("192.0.2.128/25")};
  }
  far(other, kDownlinkFar).forwarding->outer_header->teid = {0x3333};
  install(other, {2});
  Packet packet = to_ue();
  packet.destination = Ipv4{{192, 0, 2, 5}};
  world_.from_n6(build(packet));
  EXPECT_EQ(read_gtpu(only()).teid, kGnbTeid);
  packet.destination = Ipv4{{192, 0, 2, 200}};
  world_.from_n6(build(packet));
  EXPECT_EQ(read_gtpu(only()).teid, 0x3333U);
  packet = to_network();
  packet.source = Ipv4{{192, 0, 2, 5}};
  up(build(packet));
  EXPECT_EQ(only(), build(packet));
}

TEST_F(PacketPath, PdcpNumbersTravelWithForwardedPackets) {
  rules::SessionRules rules = usual();
  rules.fars.push_back(tunnel_far(world_, {30}, rules::Interface::Access, 1, 0x6666));
  rules.pdrs.push_back({.id = {30},
                        .source_interface = rules::Interface::Access,
                        .f_teid = rules::LocalFTeid{.teid = {0x5555}},
                        .far = {30}});
  install(rules);
  const Octets packet = build(to_ue());
  Octets datagram{0x34, 0xff, 0, 0,    0,    0,    0x55, 0x55, 0, 0,
                  0,    0xc0, 1, 0x12, 0x34, 0x85, 1,    0x00, 9, 0};
  datagram.insert(datagram.end(), packet.begin(), packet.end());
  put16(datagram, 2, static_cast<std::uint32_t>(datagram.size() - 8));
  world_.from_peer(0, datagram);
  put16(datagram, 6, 0x6666);
  EXPECT_EQ(only(), datagram);
}

TEST_F(PacketPath, MarksTheOuterHeader) {
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).forwarding->transport_level_marking = rules::MaskedOctet{0xb8, 0xfc};
  install(rules);
  world_.from_n6(build(to_ue()));
  (void)out();
  EXPECT_EQ(world_.sink.tos.back(), 0xb8);
  far(rules, kDownlinkFar).forwarding->transport_level_marking.reset();
  install(rules);
  Packet packet = to_ue();
  packet.tos = 0x2a;
  world_.from_n6(build(packet));
  (void)out();
  EXPECT_EQ(world_.sink.tos.back(), 0);
  world_.shared().copy_dscp = true;
  world_.from_n6(build(packet));
  (void)out();
  EXPECT_EQ(world_.sink.tos.back(), 0x28);
}

TEST_F(PacketPath, AnEndMarkerIsPassedOnBehindThePacketsBeforeIt) {
  install(n9_session(world_, true, false));
  world_.from_peer(2, contract::gtpu(kN9Teid, build(to_ue())));
  world_.from_peer(2, contract::gtpu(kN9Teid, {}, {.type = 254}));
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(read_gtpu(outputs[1].octets).type, 254);
  EXPECT_EQ(read_gtpu(outputs[1].octets).teid, kGnbTeid);
}

// cases.md 56: the BAR's delay, and its count.
TEST_F(PacketPath, ABarDelaysTheNotificationAndBoundsTheQueue) {
  rules::SessionRules rules = usual();
  rules.bars = {{.id = {1}, .notification_delay_50ms = 4, .suggested_packets = 2}};
  far(rules, kDownlinkFar).action = {.buffer = true, .notify_cp = true};
  far(rules, kDownlinkFar).bar = BarId{1};
  install(rules);
  for (std::uint8_t i = 1; i <= 3; ++i) world_.from_n6(build(marked(to_ue(), i)));
  EXPECT_TRUE(world_.events().empty());
  world_.now += std::chrono::milliseconds{199};
  EXPECT_TRUE(world_.events().empty());
  world_.now += std::chrono::milliseconds{1};
  EXPECT_EQ(world_.events().size(), 1U);
  far(rules, kDownlinkFar).action = {.forward = true};
  install(rules);
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 2U);  // the oldest went
  EXPECT_EQ(read_gtpu(outputs[0].octets).payload, build(marked(to_ue(), 2)));
}

TEST_F(PacketPath, ANotificationThatCameTooLateIsNotSaid) {
  rules::SessionRules rules = usual();
  rules.bars = {{.id = {1}, .notification_delay_50ms = 4}};
  far(rules, kDownlinkFar).action = {.buffer = true, .notify_cp = true};
  far(rules, kDownlinkFar).bar = BarId{1};
  install(rules);
  world_.from_n6(build(to_ue()));
  EXPECT_TRUE(world_.events().empty());
  far(rules, kDownlinkFar).action = {.forward = true};
  install(rules);
  world_.now += std::chrono::seconds{1};
  EXPECT_TRUE(world_.events().empty());
}

/// Offers 4 times the rate for so many seconds; returns the octets that passed.
std::uint64_t passed_at_overload(MemoryWorld& world, std::uint64_t kbps, int seconds) {
  Packet packet = to_ue();
  packet.payload = 1000;
  const Octets octets = build(packet);
  const auto gap = std::chrono::nanoseconds{octets.size() * 8'000'000 / kbps / 4};
  std::uint64_t passed = 0;
  for (auto end = world.now + std::chrono::seconds{seconds}; world.now < end; world.now += gap) {
    world.from_n6(octets);
    for (const Output& output : world.settle()) passed += read_gtpu(output.octets).payload.size();
  }
  return passed;
}

// cases.md 42, 43: rates hold to 2 %, and of several rate QERs each applies.
TEST_F(PacketPath, PolicesToTheTightestOfItsRates) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .mbr = rules::BitRate{50'000, 50'000}},
                {.id = {2}, .mbr = rules::BitRate{1, 10'000}}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}, {2}};
  install(rules);
  (void)passed_at_overload(world_, 10'000, 1);  // the bucket's depth goes first
  const double expected = 10'000'000.0 / 8 * 10;
  const auto passed = static_cast<double>(passed_at_overload(world_, 10'000, 10));
  EXPECT_NEAR(passed / expected, 1.0, 0.02);
}

// Measurement Information MBQE, TS 29.244 8.2.68.
TEST_F(PacketPath, VolumeIsMeasuredBeforeOrBehindTheRates) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .mbr = rules::BitRate{1, 1}}};
  rules.urrs = {{.id = {1}, .before_qos = true}, {.id = {2}}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}}, p.urrs = {{2}, {1}};
  install(rules);
  const Octets packet = build(to_ue());
  for (int i = 0; i < 1000; ++i) world_.from_n6(packet);
  const std::size_t passed = out().size();
  EXPECT_LT(passed, 1000U);
  const auto readings = world_.plane().read_usage(kSeid, {});
  ASSERT_TRUE(readings);
  EXPECT_EQ((*readings)[0].packets.downlink, 1000U);
  EXPECT_EQ((*readings)[0].octets.downlink, 1000 * packet.size());
  EXPECT_EQ((*readings)[1].packets.downlink, passed);
}

// The packet that reaches a limit passes, whatever else counts it.
TEST_F(PacketPath, AQuotaBeforeQosBlocksBehindThePacketThatReachesIt) {
  rules::SessionRules rules = usual();
  const Octets packet = build(to_ue());
  rules.urrs = {{.id = {1},
                 .before_qos = true,
                 .block_at = rules::VolumeLimit{.generation = 1, .total = 2 * packet.size()}},
                {.id = {2}, .notify_at = rules::VolumeLimit{.generation = 1, .total = 1}}};
  for (rules::Pdr& p : rules.pdrs) p.urrs = {{1}, {2}};
  install(rules);
  for (int i = 0; i < 4; ++i) world_.from_n6(packet);
  EXPECT_EQ(out().size(), 2U);
  const auto readings = world_.plane().read_usage(kSeid, {});
  EXPECT_EQ((*readings)[0].packets.downlink, 2U);
  EXPECT_EQ((*readings)[1].packets.downlink, 2U);
}

// TS 29.244 8.2.49: whatever a downlink packet of the URR's PDRs is dropped for.
TEST_F(PacketPath, EveryDroppedDownlinkPacketCountsTowardsItsThreshold) {
  std::uint32_t generation = 0;
  const auto told = [&](rules::SessionRules rules, int packets) {
    rules.urrs = {{.id = kUrr, .notify_dropped = rules::DropLimit{++generation, 3, {}}}};
    for (rules::Pdr& p : rules.pdrs) p.urrs = {kUrr};
    install(rules);
    for (int i = 0; i < packets; ++i) world_.from_n6(build(to_ue()));
    for (int i = 0; i < 10; ++i) up(build(to_network()));  // uplink doesn't
    return world_.events().size();
  };
  const auto with_qer = [&](rules::Qer qer) {
    rules::SessionRules rules = usual();
    rules.qers = {std::move(qer)};
    for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
    return rules;
  };
  const auto shut = with_qer({.id = {1}, .uplink_open = false, .downlink_open = false});
  EXPECT_EQ(told(shut, 2), 0U);
  EXPECT_EQ(told(shut, 3), 1U);
  const auto slow = with_qer({.id = {1}, .mbr = rules::BitRate{1, 1}});
  EXPECT_EQ(told(slow, 1000), 1U);
  rules::SessionRules nowhere = usual();
  far(nowhere, kDownlinkFar).forwarding->outer_header.reset();
  EXPECT_EQ(told(nowhere, 3), 1U);
  rules::SessionRules waiting = usual();
  waiting.bars = {{.id = {1}, .suggested_packets = 2}};
  far(waiting, kDownlinkFar).action = {.buffer = true};
  far(waiting, kDownlinkFar).bar = BarId{1};
  EXPECT_EQ(told(waiting, 4), 0U);  // two wait, two went
  waiting.bars[0].suggested_packets = 0;
  EXPECT_EQ(told(waiting, 3), 1U);
  waiting.bars[0].suggested_packets = 10;
  EXPECT_EQ(told(waiting, 3), 0U);
  far(waiting, kDownlinkFar).action = {.drop = true};
  EXPECT_EQ(told(waiting, 0), 1U);  // what waited is thrown away: five
}

// cases.md 42: no MBR polices nothing.
TEST_F(PacketPath, AQerWithoutMbrPolicesNothing) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .qfi = 1}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
  install(rules);
  for (int i = 0; i < 1000; ++i) world_.from_n6(build(to_ue()));
  EXPECT_EQ(out().size(), 1000U);
}

TEST_F(PacketPath, RatesOfAnUpdatedQerApply) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .mbr = rules::BitRate{1000, 0}}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
  install(rules);
  for (int i = 0; i < 1000; ++i) world_.from_n6(build(to_ue()));
  EXPECT_EQ(out().size(), 1000U) << "0 is no limit";
  rules.qers[0].mbr->downlink_kbps = 1;
  install(rules);
  for (int i = 0; i < 1000; ++i) world_.from_n6(build(to_ue()));
  EXPECT_LT(out().size(), 1000U);
}

TEST_F(PacketPath, WhatItCannotDoWithAFarIsRefusedByItsId) {
  // cases.md 47
  for (const bool duplicate : {true, false}) {
    rules::SessionRules rules = usual();
    rules.fars[0].action.duplicate = duplicate;
    if (!duplicate) rules.fars[0].forwarding->forwarding_policy = "77";
    const auto refused = world_.plane().apply({.seid = {9}, .after = &rules});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, dataplane::Failure::Kind::Unsupported);
    EXPECT_EQ(refused.error().rule, dataplane::RuleId{FarId{1}});
  }
}

TEST_F(PacketPath, HostileInnerPacketsAreDroppedAndCounted) {
  install(usual());
  const Octets good = build(to_network());
  for (std::size_t n = 0; n < good.size(); ++n)
    up(Octets(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)));
  EXPECT_TRUE(out().empty());
  EXPECT_EQ(world_.dropped(Drop::NotIp), good.size());
}

}  // namespace
}  // namespace upf::userplane

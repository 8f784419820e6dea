#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "contract/sessions.hpp"
#include "contract/world.hpp"

/// What every data plane does. A plane's test program instantiates the suite with its World:
///   INSTANTIATE_TEST_SUITE_P(Fake, DataPlaneContract, testing::Values(WorldFactory{…}), name_of);
/// A World whose plane lacks a capability (Capabilities, or Traits below) skips the tests of it,
/// visibly.
namespace upf::contract {

inline std::string name_of(const testing::TestParamInfo<WorldFactory>& info) {
  return info.param.name;
}

class DataPlaneContract : public testing::TestWithParam<WorldFactory> {
 protected:
  void SetUp() override { world_ = GetParam().make(); }

  /// Applies the step from the rules that are installed to `after`.
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> step(
      const rules::SessionRules& after, dataplane::Change extra = {}) {
    dataplane::Change change = std::move(extra);
    change.seid = kSeid;
    change.before = installed_ ? &*installed_ : nullptr;
    change.after = &after;
    auto applied = world_->plane().apply(change);
    if (applied) installed_ = after;
    return applied;
  }
  void install(const rules::SessionRules& after, dataplane::Change extra = {}) {
    const auto applied = step(after, std::move(extra));
    ASSERT_TRUE(applied) << applied.error().detail;
  }
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> end() {
    const rules::SessionRules before = installed_.value();
    installed_.reset();
    return world_->plane().apply({.seid = kSeid, .before = &before});
  }

  void up(const Packet& packet, std::uint32_t teid = kUplinkTeid, std::uint8_t qfi = 1,
          std::uint8_t peer = 0) {
    world_->from_peer(peer, gtpu(teid, build(packet), {.qfi = qfi}));
  }
  void down(const Packet& packet) { world_->from_n6(build(packet)); }
  std::vector<Output> out() { return world_->settle(); }

  /// The one packet that came out to N6 is this one.
  void expect_n6(const Packet& packet) {
    const auto outputs = out();
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_TRUE(outputs[0].to_n6);
    EXPECT_EQ(outputs[0].octets, build(packet));
  }
  /// The one packet that came out is this one, as a G-PDU into that tunnel.
  void expect_gtpu(const Packet& packet, std::uint8_t peer = 0, std::uint32_t teid = kGnbTeid) {
    const auto outputs = out();
    ASSERT_EQ(outputs.size(), 1U);
    expect_gtpu(outputs[0], packet, peer, teid);
  }
  void expect_gtpu(const Output& output, const Packet& packet, std::uint8_t peer = 0,
                   std::uint32_t teid = kGnbTeid) {
    ASSERT_FALSE(output.to_n6);
    EXPECT_EQ(output.peer, IpAddress{world_->peer(peer)});
    const GtpuView view = read_gtpu(output.octets);
    EXPECT_EQ(view.type, 255);
    EXPECT_EQ(view.teid, teid);
    EXPECT_EQ(view.payload, build(packet));
  }
  void expect_nothing() { EXPECT_EQ(out().size(), 0U); }

  rules::SessionRules usual() { return usual_session(*world_); }

  std::unique_ptr<World> world_{};
  std::optional<rules::SessionRules> installed_{};
};

// --- create, update, remove ---------------------------------------------------------------------

TEST_P(DataPlaneContract, ForwardsBothWaysOnceTheSessionIsThere) {
  up(to_network());
  down(to_ue());
  // Before: nothing but what a plane says about unknown tunnels.
  for (const Output& output : out()) {
    ASSERT_FALSE(output.to_n6);
    EXPECT_EQ(read_gtpu(output.octets).type, 26);
  }
  install(usual());
  up(to_network());
  expect_n6(to_network());
  down(to_ue());
  expect_gtpu(to_ue());
}

TEST_P(DataPlaneContract, AnEndedSessionForwardsNothing) {
  install(usual());
  ASSERT_TRUE(end());
  down(to_ue());
  expect_nothing();
  up(to_network());
  for (const Output& output : out()) EXPECT_FALSE(output.to_n6);
  EXPECT_FALSE(world_->plane().read_usage(kSeid, {}));
}

TEST_P(DataPlaneContract, EndingASessionThatIsNotThereSucceeds) {
  const rules::SessionRules rules = usual();
  EXPECT_TRUE(world_->plane().apply({.seid = {99}, .before = &rules}));
}

TEST_P(DataPlaneContract, ARemovedPdrNoLongerMatches) {
  rules::SessionRules rules = usual();
  install(rules);
  std::erase_if(rules.pdrs, [](const rules::Pdr& pdr) { return pdr.id == kUplinkPdr; });
  install(rules);
  up(to_network());
  for (const Output& output : out()) EXPECT_FALSE(output.to_n6);
  down(to_ue());
  expect_gtpu(to_ue());
}

TEST_P(DataPlaneContract, AnUpdatedFarSendsElsewhere) {
  rules::SessionRules rules = usual();
  install(rules);
  far(rules, kDownlinkFar).forwarding->outer_header->teid = {0x77};
  far(rules, kDownlinkFar).forwarding->outer_header->peer = world_->peer(1);
  install(rules);
  down(to_ue());
  expect_gtpu(to_ue(), 1, 0x77);
}

TEST_P(DataPlaneContract, APdrMovesToAnotherTeidAndAddress) {
  rules::SessionRules rules = usual();
  install(rules);
  pdr(rules, kUplinkPdr).f_teid->teid = {0x4243};
  pdr(rules, kDownlinkPdr).ue_addresses[0].ipv4 = Ipv4{{10, 45, 0, 9}};
  pdr(rules, kUplinkPdr).ue_addresses[0].ipv4 = Ipv4{{10, 45, 0, 9}};
  install(rules);
  Packet packet = to_network();
  packet.source = Ipv4{{10, 45, 0, 9}};
  up(packet, 0x4243);
  expect_n6(packet);
  down(to_ue());
  expect_nothing();
  packet = to_ue();
  packet.destination = Ipv4{{10, 45, 0, 9}};
  down(packet);
  expect_gtpu(packet);
}

TEST_P(DataPlaneContract, ATeidIsOneSessionsAndTheRefusedChangeLeavesNothing) {
  install(usual());
  rules::SessionRules other = usual();
  for (rules::Pdr& p : other.pdrs) {
    for (rules::UeAddress& ue : p.ue_addresses) ue.ipv4 = Ipv4{{10, 45, 0, 77}};
  }
  EXPECT_FALSE(world_->plane().apply({.seid = {2}, .after = &other}));
  Packet packet = to_ue();
  packet.destination = Ipv4{{10, 45, 0, 77}};
  down(packet);
  expect_nothing();
  up(to_network());
  expect_n6(to_network());
}

TEST_P(DataPlaneContract, SessionsDoNotMix) {
  install(usual());
  rules::SessionRules other = usual();
  pdr(other, kUplinkPdr).f_teid->teid = {0x2222};
  for (rules::Pdr& p : other.pdrs) p.ue_addresses[0].ipv4 = Ipv4{{10, 45, 0, 2}};
  far(other, kDownlinkFar).forwarding->outer_header->teid = {0x3333};
  ASSERT_TRUE(world_->plane().apply({.seid = {2}, .after = &other}));
  Packet packet = to_ue();
  packet.destination = Ipv4{{10, 45, 0, 2}};
  down(packet);
  expect_gtpu(packet, 0, 0x3333);
  down(to_ue());
  expect_gtpu(to_ue());
  up(to_network(), 0x2222);  // the first UE's source through the second's tunnel
  expect_nothing();
}

// --- matching -----------------------------------------------------------------------------------

TEST_P(DataPlaneContract, TheLowestPrecedenceValueWins) {
  rules::SessionRules rules = usual();
  add_dropping_pdr(rules, {9}, 100);
  install(rules);
  up(to_network());
  expect_nothing();
  pdr(rules, {9}).precedence = 300;
  install(rules);
  up(to_network());
  expect_n6(to_network());
}

// cases.md 15: gtp5g would take the newest.
TEST_P(DataPlaneContract, OfEqualPrecedencesTheLowestIdWins) {
  rules::SessionRules rules = usual();
  add_dropping_pdr(rules, {9}, pdr(rules, kUplinkPdr).precedence);
  install(rules);
  up(to_network());
  expect_n6(to_network());
  // Also when the lower ID comes later.
  std::erase_if(rules.pdrs, [](const rules::Pdr& p) { return p.id == PdrId{9}; });
  install(rules);
  rules::Pdr moved = pdr(rules, kUplinkPdr);
  moved.id = {20};
  rules.pdrs.push_back(moved);
  std::erase_if(rules.pdrs, [](const rules::Pdr& p) { return p.id == kUplinkPdr; });
  install(rules);
  add_dropping_pdr(rules, {9}, moved.precedence);
  install(rules);
  up(to_network());
  expect_nothing();
}

// cases.md 35: swap addresses and ports on uplink only. cases.md 40: each of several filters
// counts.
TEST_P(DataPlaneContract, AnyOfSeveralFiltersMatchesWithEndsSwappedUplink) {
  rules::SessionRules rules = usual();
  rules::SdfFilter web = flow_from(kHost, 80);
  rules::SdfFilter dns = flow_from(kHost, 53);
  for (const PdrId id : {kUplinkPdr, kDownlinkPdr}) pdr(rules, id).filters = {web, dns};
  install(rules);
  for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{53}}) {
    Packet packet = to_network();
    packet.destination_port = port;
    up(packet);
    expect_n6(packet);
    packet = to_ue();
    packet.source_port = port;
    down(packet);
    expect_gtpu(packet);
  }
  Packet packet = to_network();
  packet.source_port = 80;
  packet.destination_port = 81;
  up(packet);
  expect_nothing();
  packet = to_ue();
  packet.source_port = 81;
  packet.destination_port = 80;
  down(packet);
  expect_nothing();
}

// cases.md 34: `assigned` is the UE's address.
TEST_P(DataPlaneContract, AssignedMeansTheUe) {
  rules::SessionRules rules = usual();
  rules::SdfFilter filter;
  filter.flow.emplace();
  filter.flow->destination.assigned = true;
  for (const PdrId id : {kUplinkPdr, kDownlinkPdr}) pdr(rules, id).filters = {filter};
  install(rules);
  up(to_network());
  expect_n6(to_network());
  down(to_ue());
  expect_gtpu(to_ue());
}

TEST_P(DataPlaneContract, FiltersOfHigherPrecedencePdrsDivertFlows) {
  rules::SessionRules rules = usual();
  rules.fars.push_back({.id = {7}, .action = {.drop = true}});
  rules::Pdr divert = pdr(rules, kDownlinkPdr);
  divert.id = {8};
  divert.precedence = 10;
  divert.far = {7};
  divert.filters = {flow_from(kHost, 666)};
  rules.pdrs.push_back(divert);
  install(rules);
  Packet packet = to_ue();
  packet.source_port = 666;
  down(packet);
  expect_nothing();
  down(to_ue());
  expect_gtpu(to_ue());
}

TEST_P(DataPlaneContract, AUeSendsOnlyFromItsOwnAddress) {
  install(usual());
  Packet packet = to_network();
  packet.source = Ipv4{{10, 45, 0, 200}};
  up(packet);
  expect_nothing();
}

TEST_P(DataPlaneContract, QfisOfThePdiSelect) {
  if (!world_->has(Trait::QfiMatch)) GTEST_SKIP() << "plane doesn't match QFIs";
  rules::SessionRules rules = usual();
  pdr(rules, kUplinkPdr).qfis = {5, 63};
  install(rules);
  up(to_network(), kUplinkTeid, 63);
  expect_n6(to_network());
  up(to_network(), kUplinkTeid, 6);
  expect_nothing();
  world_->from_peer(0, gtpu(kUplinkTeid, build(to_network())));  // no container: no QFI
  expect_nothing();
}

// --- actions ------------------------------------------------------------------------------------

TEST_P(DataPlaneContract, ApplyActionWinsOverForwardingParameters) {
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).action = {.drop = true};
  install(rules);
  down(to_ue());
  expect_nothing();
}

// n4-clients.md 3.11: towards Access without an outer header there is nowhere to send to.
TEST_P(DataPlaneContract, ForwardingToAccessWithoutATunnelDrops) {
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).forwarding->outer_header.reset();
  install(rules);
  down(to_ue());
  expect_nothing();
}

TEST_P(DataPlaneContract, GatesCloseTheirDirectionOnly) {
  rules::SessionRules rules = usual();
  rules.qers = {{.id = {1}, .downlink_open = false, .qfi = 9}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
  install(rules);
  down(to_ue());
  expect_nothing();
  up(to_network());
  expect_n6(to_network());
  // cases.md 44: an updated QER takes effect.
  rules.qers[0] = {.id = {1}, .uplink_open = false, .qfi = 9};
  install(rules);
  up(to_network());
  expect_nothing();
  down(to_ue());
  expect_gtpu(to_ue());
}

// What comes over N9 for the UE is downlink, though it comes out of a tunnel: TS 29.244 8.2.7.
TEST_P(DataPlaneContract, GatesCloseTheirDirectionOnN9) {
  rules::SessionRules rules = n9_session(*world_, true, false);
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
  rules.qers = {{.id = {1}, .uplink_open = false, .qfi = 9}};
  install(rules);
  up(to_network());
  expect_nothing();
  world_->from_peer(2, gtpu(kN9Teid, build(to_ue())));
  expect_gtpu(to_ue());
  rules.qers[0] = {.id = {1}, .downlink_open = false, .qfi = 9};
  install(rules);
  world_->from_peer(2, gtpu(kN9Teid, build(to_ue())));
  expect_nothing();
  up(to_network());
  expect_gtpu(to_network(), 2, kPsaTeid);
  rules.qers[0] = {.id = {1}, .uplink_open = false, .downlink_open = false, .qfi = 9};
  install(rules);
  world_->from_peer(2, gtpu(kN9Teid, build(to_ue())));
  up(to_network());
  expect_nothing();
  rules.qers[0] = {.id = {1}, .qfi = 9};
  install(rules);
  world_->from_peer(2, gtpu(kN9Teid, build(to_ue())));
  expect_gtpu(to_ue());
  up(to_network());
  expect_gtpu(to_network(), 2, kPsaTeid);
}

TEST_P(DataPlaneContract, TheQfiStandsInTheDownlinkContainer) {
  rules::SessionRules rules = usual();
  for (const std::uint8_t qfi : {std::uint8_t{1}, std::uint8_t{9}, std::uint8_t{63}}) {
    rules.qers = {{.id = {1}, .qfi = qfi}};
    pdr(rules, kDownlinkPdr).qers = {{1}};
    install(rules);
    down(to_ue());
    const auto outputs = out();
    ASSERT_EQ(outputs.size(), 1U);
    const GtpuView view = read_gtpu(outputs[0].octets);
    EXPECT_EQ(view.qfi, qfi);
    EXPECT_EQ(view.pdu_type, 0);
    EXPECT_FALSE(view.rqi);
    EXPECT_EQ(view.payload, build(to_ue()));
  }
}

TEST_P(DataPlaneContract, WithoutAQfiThereIsNoContainer) {
  install(usual());
  down(to_ue());
  const auto outputs = out();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_FALSE(read_gtpu(outputs[0].octets).qfi);
}

// --- tunnels to tunnels -------------------------------------------------------------------------

// cases.md 59: the matrix of F-TEID x UE IP x SDF, downlink on N9 and uplink.
TEST_P(DataPlaneContract, N9ForwardsForEveryMixOfFTeidUeAddressAndFilter) {
  for (const bool with_ue : {false, true}) {
    for (const bool with_filter : {false, true}) {
      SCOPED_TRACE(testing::Message() << "ue=" << with_ue << " sdf=" << with_filter);
      install(n9_session(*world_, with_ue, with_filter));
      world_->from_peer(2, gtpu(kN9Teid, build(to_ue())));
      expect_gtpu(to_ue());
      up(to_network());
      expect_gtpu(to_network(), 2, kPsaTeid);
      ASSERT_TRUE(end());
    }
  }
}

TEST_P(DataPlaneContract, OnN9ThePdiStillSelects) {
  install(n9_session(*world_, true, true));
  Packet packet = to_ue();
  packet.destination = Ipv4{{10, 45, 0, 99}};
  world_->from_peer(2, gtpu(kN9Teid, build(packet)));
  expect_nothing();
  packet = to_ue();
  packet.source = Ipv4{{198, 51, 100, 250}};
  world_->from_peer(2, gtpu(kN9Teid, build(packet)));
  expect_nothing();
}

// N2 indirect forwarding: source and destination are both Access.
TEST_P(DataPlaneContract, IndirectForwardingCarriesDownlinkPacketsBetweenGnbs) {
  rules::SessionRules rules = usual();
  rules.fars.push_back(tunnel_far(*world_, {30}, rules::Interface::Access, 1, 0x6666));
  rules.pdrs.push_back({.id = {30},
                        .precedence = 0,
                        .source_interface = rules::Interface::Access,
                        .f_teid = rules::LocalFTeid{.teid = {0x5555}, .ipv4 = world_->local()},
                        .removal = rules::HeaderRemoval::GtpuUdpIpv4,
                        .far = {30}});
  install(rules);
  world_->from_peer(0, gtpu(0x5555, build(to_ue())));
  expect_gtpu(to_ue(), 1, 0x6666);
  up(to_network());
  expect_n6(to_network());
}

// --- End Markers --------------------------------------------------------------------------------

// cases.md 58: exactly one, to the old tunnel, behind its last packet.
TEST_P(DataPlaneContract, AHandoverSendsOneEndMarkerToTheOldTunnel) {
  if (!world_->plane().capabilities().end_marker) GTEST_SKIP() << "no End Markers";
  rules::SessionRules rules = usual();
  install(rules);
  down(to_ue());
  expect_gtpu(to_ue());
  far(rules, kDownlinkFar).forwarding->outer_header->teid = {0x77};
  far(rules, kDownlinkFar).forwarding->outer_header->peer = world_->peer(1);
  install(rules, {.end_markers = {kDownlinkFar}});
  auto outputs = out();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].peer, IpAddress{world_->peer(0)});
  EXPECT_EQ(read_gtpu(outputs[0].octets).type, 254);
  EXPECT_EQ(read_gtpu(outputs[0].octets).teid, kGnbTeid);
  down(to_ue());
  expect_gtpu(to_ue(), 1, 0x77);
}

TEST_P(DataPlaneContract, NoEndMarkerUnlessAskedForAndTheHeaderChanged) {
  rules::SessionRules rules = usual();
  install(rules);
  install(rules, {.end_markers = {kDownlinkFar}});  // the same header
  far(rules, kDownlinkFar).forwarding->outer_header->teid = {0x78};
  install(rules);  // not asked for
  down(to_ue());
  expect_gtpu(to_ue(), 0, 0x78);
}

// --- what is told to whoever follows a session
// -----------------------------------------------------

TEST_P(DataPlaneContract, AWatcherHearsOfEndMarkersAndWaitingPacketsAndOnlyWhileItWatches) {
  const auto& can = world_->plane().capabilities();
  if (!can.end_marker || !can.buffering) GTEST_SKIP() << "no End Markers, or no buffering";
  std::vector<std::string> heard;
  const auto hears = [&](const std::string& text) {
    return std::ranges::count(heard, text) == 1 && (heard.clear(), true);
  };
  rules::SessionRules rules = usual();
  const auto hand_over = [&](std::uint32_t teid) {
    far(rules, kDownlinkFar).forwarding->outer_header->teid = {teid};
    install(rules, {.end_markers = {kDownlinkFar}});
  };
  const auto hold = [&](bool on) {
    far(rules, kDownlinkFar).action = {.forward = !on, .buffer = on, .notify_cp = on};
    install(rules);
    (void)out();
  };
  const auto hold_two = [&] {
    hold(true);
    for (std::uint8_t i = 1; i <= 2; ++i) down(marked(to_ue(), i));
    (void)out();
    (void)world_->events();
  };
  install(rules);
  EXPECT_TRUE(heard.empty());
  world_->plane().watch([&](const dataplane::Deed& deed) {
    if (deed.seid == kSeid && !deed.kernel) heard.push_back(deed.text);
  });
  hand_over(0x77);
  EXPECT_TRUE(
      hears("FAR 2: End Marker to tunnel 0x00002001@" + to_string(IpAddress{world_->peer(0)})));
  hold_two();
  hold(false);
  EXPECT_TRUE(hears("FAR 2: waiting packets sent on: 2"));
  hold_two();
  install(rules, {.drop_buffered = {kDownlinkFar}});
  EXPECT_TRUE(hears("FAR 2: waiting packets dropped: 2"));
  hold(false);
  heard.clear();
  world_->plane().watch({});
  hand_over(0x78);
  EXPECT_TRUE(heard.empty());
  (void)out();
}

// --- waiting packets ----------------------------------------------------------------------------

// cases.md 54, 55: one G-PDU each, in order, before new ones; one notification an episode.
TEST_P(DataPlaneContract, WaitingPacketsLeaveInOrderBeforeNewOnes) {
  if (!world_->plane().capabilities().buffering) GTEST_SKIP() << "no buffering";
  rules::SessionRules rules = usual();
  install(rules);
  for (int episode = 0; episode < 2; ++episode) {
    far(rules, kDownlinkFar).action = {.buffer = true, .notify_cp = true};
    install(rules);
    for (std::uint8_t i = 1; i <= 5; ++i) down(marked(to_ue(), i));
    expect_nothing();
    const auto events = world_->events();
    ASSERT_EQ(events.size(), 1U);
    const auto* data = std::get_if<dataplane::DownlinkData>(&events[0]);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(data->seid, kSeid);
    EXPECT_EQ(data->pdr, kDownlinkPdr);
    far(rules, kDownlinkFar).action = {.forward = true};
    install(rules);
    down(marked(to_ue(), 6));
    const auto outputs = out();
    ASSERT_EQ(outputs.size(), 6U);
    for (std::uint8_t i = 1; i <= 6; ++i) expect_gtpu(outputs[i - 1U], marked(to_ue(), i));
  }
  EXPECT_TRUE(world_->events().empty());
}

TEST_P(DataPlaneContract, BufferingWithoutNotificationIsSilent) {
  if (!world_->plane().capabilities().buffering) GTEST_SKIP() << "no buffering";
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).action = {.buffer = true};
  install(rules);
  down(to_ue());
  expect_nothing();
  EXPECT_TRUE(world_->events().empty());
}

TEST_P(DataPlaneContract, DroppedBuffersStayEmpty) {
  if (!world_->plane().capabilities().buffering) GTEST_SKIP() << "no buffering";
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).action = {.buffer = true, .notify_cp = true};
  install(rules);
  down(to_ue());
  expect_nothing();
  install(rules, {.drop_buffered = {kDownlinkFar}});
  far(rules, kDownlinkFar).action = {.forward = true};
  install(rules);
  expect_nothing();
  far(rules, kDownlinkFar).action = {.buffer = true};
  install(rules);
  down(to_ue());
  expect_nothing();
  far(rules, kDownlinkFar).action = {.drop = true};
  install(rules);
  far(rules, kDownlinkFar).action = {.forward = true};
  install(rules);
  expect_nothing();
}

TEST_P(DataPlaneContract, WaitingPacketsGoWithTheSession) {
  if (!world_->plane().capabilities().buffering) GTEST_SKIP() << "no buffering";
  rules::SessionRules rules = usual();
  far(rules, kDownlinkFar).action = {.buffer = true};
  install(rules);
  down(to_ue());
  expect_nothing();
  ASSERT_TRUE(end());
  install(usual());
  expect_nothing();
}

// --- usage --------------------------------------------------------------------------------------

TEST_P(DataPlaneContract, UsageIsCountedByDirectionAndReadingTakes) {
  install(metered(usual()));
  const std::uint64_t one_up = world_->counted_octets(build(to_network()));
  const std::uint64_t one_down = world_->counted_octets(build(to_ue()));
  up(to_network());
  up(to_network());
  down(to_ue());
  EXPECT_EQ(out().size(), 3U);
  auto readings = world_->plane().read_usage(kSeid, {});
  ASSERT_TRUE(readings);
  ASSERT_EQ(readings->size(), 1U);
  EXPECT_EQ((*readings)[0].octets, (rules::Volume{2 * one_up, one_down}));
  EXPECT_EQ((*readings)[0].packets, (rules::Volume{2, 1}));
  readings = world_->plane().read_usage(kSeid, std::vector{kUrr});
  ASSERT_TRUE(readings);
  EXPECT_EQ((*readings)[0].octets, rules::Volume{});
}

TEST_P(DataPlaneContract, InspectionNamesEveryRuleAndTakesNothing) {
  EXPECT_FALSE(world_->plane().inspect(kSeid));
  rules::SessionRules rules = usual();
  rules.urrs.push_back({.id = kUrr});
  pdr(rules, kUplinkPdr).urrs = {kUrr};
  install(rules);
  up(to_network());
  (void)out();
  const auto found = world_->plane().inspect(kSeid);
  ASSERT_TRUE(found);
  const auto names = [&](const auto& list) {
    for (const auto& rule : list) {
      EXPECT_TRUE(std::ranges::any_of(found->rules, [&](const auto& installed) {
        return installed.of == dataplane::RuleId{rule.id} && !installed.state.empty();
      })) << rule.id.value;
    }
  };
  names(rules.pdrs);
  names(rules.fars);
  names(rules.qers);
  names(rules.urrs);
  EXPECT_EQ(found->waiting_packets, 0U);
  // What was counted is still there to be taken.
  const auto taken = world_->plane().read_usage(kSeid, {});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->front().octets.uplink, world_->counted_octets(build(to_network())));
  const auto after = world_->plane().inspect(kSeid);
  ASSERT_TRUE(after);
  ASSERT_EQ(after->counted.size(), 1U);
  EXPECT_EQ(after->counted[0].octets.uplink, taken->front().octets.uplink);
}

TEST_P(DataPlaneContract, DroppedPacketsAreNotCounted) {
  rules::SessionRules rules = metered(usual());
  far(rules, kDownlinkFar).action = {.drop = true};
  install(rules);
  down(to_ue());
  expect_nothing();
  EXPECT_EQ(world_->plane().read_usage(kSeid, {})->front().octets, rules::Volume{});
}

// cases.md 53: exactly one final reading, with a removed URR and at the end.
TEST_P(DataPlaneContract, RemovedUrrsAndEndedSessionsGiveTheirFinalReading) {
  rules::SessionRules rules = metered(usual());
  install(rules);
  const std::uint64_t one = world_->counted_octets(build(to_network()));
  up(to_network());
  EXPECT_EQ(out().size(), 1U);
  rules::SessionRules without = usual();
  auto applied = step(without);
  ASSERT_TRUE(applied);
  ASSERT_EQ(applied->readings.size(), 1U);
  EXPECT_EQ(applied->readings[0].urr, kUrr);
  EXPECT_EQ(applied->readings[0].octets, (rules::Volume{one, 0}));
  install(rules);
  up(to_network());
  EXPECT_EQ(out().size(), 1U);
  applied = end();
  ASSERT_TRUE(applied);
  ASSERT_EQ(applied->readings.size(), 1U);
  EXPECT_EQ(applied->readings[0].octets, (rules::Volume{one, 0}));
}

TEST_P(DataPlaneContract, AQueryReadsAlongWithTheChange) {
  const rules::SessionRules rules = metered(usual());
  install(rules);
  down(to_ue());
  EXPECT_EQ(out().size(), 1U);
  auto applied = step(rules, {.query = {kUrr}});
  ASSERT_TRUE(applied);
  ASSERT_EQ(applied->readings.size(), 1U);
  EXPECT_EQ(applied->readings[0].octets,
            (rules::Volume{0, world_->counted_octets(build(to_ue()))}));
  applied = step(rules);
  ASSERT_TRUE(applied);
  EXPECT_TRUE(applied->readings.empty());
}

TEST_P(DataPlaneContract, AThresholdIsReportedOnceWithWhatWasCounted) {
  rules::SessionRules rules = metered(usual());
  const std::uint64_t one = world_->counted_octets(build(to_network()));
  rules.urrs[0].notify_at = rules::VolumeLimit{.generation = 5, .total = 2 * one};
  install(rules);
  up(to_network());
  EXPECT_EQ(out().size(), 1U);
  EXPECT_TRUE(world_->events().empty());
  for (int i = 0; i < 3; ++i) {
    up(to_network());
    EXPECT_EQ(out().size(), 1U);
  }
  const auto events = world_->events();
  ASSERT_EQ(events.size(), 1U);
  const auto* limit = std::get_if<dataplane::LimitReached>(&events[0]);
  ASSERT_NE(limit, nullptr);
  EXPECT_EQ(limit->seid, kSeid);
  EXPECT_EQ(limit->limit, dataplane::LimitReached::Limit::Notify);
  EXPECT_EQ(limit->generation, 5U);
  EXPECT_EQ(limit->reading.urr, kUrr);
  // What the event didn't take is still there: nothing is lost or counted twice.
  const auto rest = world_->plane().read_usage(kSeid, {})->front().octets;
  EXPECT_EQ(limit->reading.octets.uplink + rest.uplink, 4 * one);
}

// cases.md 49: the quota blocks the right direction's sum, and a new one reopens.
TEST_P(DataPlaneContract, AUsedUpQuotaBlocksAndANewOneReopens) {
  rules::SessionRules rules = metered(usual());
  const std::uint64_t one = world_->counted_octets(build(to_ue()));
  rules.urrs[0].block_at = rules::VolumeLimit{.generation = 1, .downlink = 2 * one};
  install(rules);
  for (std::uint8_t i = 1; i <= 4; ++i) {
    down(marked(to_ue(), i));
    EXPECT_EQ(out().size(), i <= 2 ? 1U : 0U) << int{i};
  }
  const auto events = world_->events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<dataplane::LimitReached>(events[0]).limit,
            dataplane::LimitReached::Limit::Block);
  up(to_network());
  expect_nothing();  // the URR's other PDRs are blocked with it
  rules.urrs[0].block_at->generation = 2;
  install(rules);
  down(to_ue());
  expect_gtpu(to_ue());
}

// Dropped DL Traffic Threshold, TS 29.244 8.2.49: refused where nobody counts.
TEST_P(DataPlaneContract, DroppedDownlinkPacketsAreToldOfAtTheirThreshold) {
  rules::SessionRules rules = metered(usual());
  rules.urrs[0].notify_dropped = rules::DropLimit{.generation = 1, .packets = 3};
  far(rules, kDownlinkFar).action = {.drop = true};
  if (!world_->has(Trait::CountsDrops)) {
    const auto refused = step(rules);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, dataplane::Failure::Kind::Unsupported);
    EXPECT_EQ(refused.error().rule, dataplane::RuleId{kUrr});
    return;
  }
  install(rules);
  const auto expect_told = [&](std::uint32_t generation) {
    EXPECT_TRUE(out().empty());
    const auto events = world_->events();
    ASSERT_EQ(events.size(), 1U);
    const auto& limit = std::get<dataplane::LimitReached>(events[0]);
    EXPECT_EQ(limit.limit, dataplane::LimitReached::Limit::Dropped);
    EXPECT_EQ(limit.generation, generation);
    EXPECT_EQ(limit.reading.urr, kUrr);
    EXPECT_GE(limit.reading.dropped_packets, 1U);
    EXPECT_EQ(limit.reading.octets.downlink, 0U);  // dropped is not used
  };
  for (int i = 0; i < 4; ++i) up(to_network());
  EXPECT_EQ(out().size(), 4U);
  for (int i = 0; i < 2; ++i) down(to_ue());
  expect_nothing();
  EXPECT_TRUE(world_->events().empty());
  down(to_ue());
  expect_told(1);
  down(to_ue());  // once
  expect_nothing();
  EXPECT_TRUE(world_->events().empty());
  rules.urrs[0].notify_dropped =
      rules::DropLimit{.generation = 2, .octets = 2 * build(to_ue()).size()};
  install(rules);
  down(to_ue());
  expect_nothing();
  EXPECT_TRUE(world_->events().empty());
  down(to_ue());
  expect_told(2);
}

TEST_P(DataPlaneContract, TheEngineBlocksAndUnblocks) {
  rules::SessionRules rules = metered(usual());
  rules.urrs[0].blocked = true;
  install(rules);
  up(to_network());
  expect_nothing();
  rules.urrs[0].blocked = false;
  install(rules);
  up(to_network());
  expect_n6(to_network());
}

TEST_P(DataPlaneContract, TheStartOfTrafficIsSaidOnce) {
  if (!world_->has(Trait::TrafficStart)) GTEST_SKIP() << "plane doesn't say when traffic starts";
  rules::SessionRules rules = metered(usual());
  rules.urrs[0].notify_start = true;
  rules.urrs[0].start_generation = 1;
  install(rules);
  up(to_network());
  up(to_network());
  EXPECT_EQ(out().size(), 2U);
  const auto events = world_->events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<dataplane::TrafficStart>(events[0]).urr, kUrr);
}

// --- audit --------------------------------------------------------------------------------------

TEST_P(DataPlaneContract, AnAuditFindsNothingWhereNothingIsWrong) {
  rules::SessionRules rules = metered(usual());
  install(rules);
  up(to_network());
  down(to_ue());
  (void)out();
  far(rules, kDownlinkFar).forwarding->outer_header->teid = {0x77};
  install(rules);
  const auto found = world_->plane().audit(kSeid, rules, true);
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_GT(found->rules, 0U);
  for (const dataplane::Drift& drift : found->drifts) ADD_FAILURE() << drift.what;
  const auto known = [](Seid) { return true; };
  for (bool done = false; !done;) {
    const auto strays = world_->plane().audit_strays(known, false);
    ASSERT_TRUE(strays) << strays.error().detail;
    for (const dataplane::Drift& drift : strays->found.drifts) ADD_FAILURE() << drift.what;
    done = strays->done;
  }
}

TEST_P(DataPlaneContract, AnAuditMendsWhatWentBehindThePlanesBack) {
  install(usual());
  if (!world_->lose_uplink()) GTEST_SKIP() << "nothing gets behind this plane's back";
  up(to_network());
  for (const Output& output : out()) EXPECT_FALSE(output.to_n6);
  const auto found = world_->plane().audit(kSeid, *installed_, false);
  ASSERT_TRUE(found) << found.error().detail;
  ASSERT_EQ(found->drifts.size(), 1U);
  EXPECT_EQ(found->drifts[0].seid, kSeid);
  EXPECT_FALSE(found->drifts[0].repaired);
  up(to_network());
  for (const Output& output : out()) EXPECT_FALSE(output.to_n6);

  const auto mended = world_->plane().audit(kSeid, *installed_, true);
  ASSERT_TRUE(mended) << mended.error().detail;
  ASSERT_EQ(mended->drifts.size(), 1U);
  EXPECT_TRUE(mended->drifts[0].repaired);
  up(to_network());
  expect_n6(to_network());
  EXPECT_TRUE(world_->plane().audit(kSeid, *installed_, false)->drifts.empty());
}

TEST_P(DataPlaneContract, AnAuditEndsSessionsThatNobodyKnows) {
  install(usual());
  const auto known = [](Seid seid) { return seid != kSeid; };
  std::size_t ended = 0;
  for (bool done = false; !done;) {
    const auto strays = world_->plane().audit_strays(known, true);
    ASSERT_TRUE(strays) << strays.error().detail;
    for (const dataplane::Drift& drift : strays->found.drifts) ended += drift.repaired ? 1U : 0U;
    done = strays->done;
  }
  EXPECT_EQ(ended, 1U);
  EXPECT_FALSE(world_->plane().read_usage(kSeid, {}));
}

// --- GTP-U's own messages -----------------------------------------------------------------------

// cases.md 64: the sequence number is the request's.
TEST_P(DataPlaneContract, EchoRequestsAreAnsweredWithTheirSequenceNumber) {
  for (const std::uint16_t sequence : {std::uint16_t{0}, std::uint16_t{7}, std::uint16_t{65535}}) {
    world_->from_peer(0, gtpu(0, {}, {.sequence = sequence, .type = 1}));
    const auto outputs = out();
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_EQ(outputs[0].octets.at(1), 2);
    EXPECT_EQ(get16(outputs[0].octets, 8), sequence);
    EXPECT_EQ(read_gtpu(outputs[0].octets).payload.size() % 2, 0U);
  }
}

TEST_P(DataPlaneContract, AReceivedErrorIndicationIsAnEvent) {
  install(usual());
  Octets body{16, 0, 0, 0, 0x42, 133, 0, 4};
  const Ipv4 peer = world_->peer(0);
  body.insert(body.end(), peer.octets.begin(), peer.octets.end());
  world_->from_peer(0, gtpu(0, body, {.sequence = 0, .type = 26}));
  EXPECT_TRUE(out().empty());
  const auto events = world_->events();
  ASSERT_EQ(events.size(), 1U);
  const auto& error = std::get<dataplane::ErrorIndication>(events[0]);
  EXPECT_EQ(error.teid, Teid{0x42});
  EXPECT_EQ(error.peer, IpAddress{peer});
}

}  // namespace upf::contract

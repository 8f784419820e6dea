#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "upf/pfcp/ies/pdr.hpp"
#include "upf/session/session.hpp"

namespace upf::session {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

rules::EndpointMatch some_end() {
  return {.prefix = *parse_ip_prefix("2001:db8::/48"), .negated = true, .ports = {{0, 65535}, {}}};
}

rules::Pdr full_pdr() {
  rules::SdfFilter filter{.flow = rules::FlowDescription{.protocol = 17, .source = some_end()},
                          .tos = rules::MaskedOctet{0xb8, 0xfc},
                          .spi = 0xffffffff,
                          .flow_label = 0};
  filter.flow->destination.assigned = true;
  return {.id = {65535},
          .precedence = 0xffffffff,
          .source_interface = rules::Interface::LiFunction,
          .f_teid = rules::LocalFTeid{{0x80000000}, Ipv4{{10, 0, 0, 1}}, Ipv6{{0xfe, 0x80}}},
          .ue_addresses = {{.ipv4 = Ipv4{{10, 60, 0, 1}}, .is_destination = true},
                           {.ipv6 = *parse_ipv6_prefix("2001:db8:1::/64")}},
          .filters = {filter, {}},
          .qfis = {0, 63},
          .framed_routes = {*parse_ip_prefix("192.168.0.0/24"), *parse_ip_prefix("2001:db8::/32")},
          .network_instance = std::string(300, 'n'),
          .removal = rules::HeaderRemoval::GtpuUdpIp,
          .far = {0xffffffff},
          .qers = {{1}, {128}},
          .urrs = {{0x80000000}}};
}

rules::SessionRules full_rules() {
  return {.pdrs = {{}, full_pdr()},
          .fars = {{.id = {7},
                    .action = {.buffer = true, .notify_cp = true},
                    .forwarding =
                        rules::Forwarding{
                            .destination = rules::Interface::Core,
                            .network_instance = "internet",
                            .outer_header =
                                rules::OuterHeader{
                                    .kind = rules::OuterHeader::Kind::GtpuUdpIpv6,
                                    .teid = {0xffffffff},
                                    .peer = Ipv6{{0x20, 1}},
                                    .port = 2152},
                            .transport_level_marking = rules::MaskedOctet{0x28, 0xfc},
                            .forwarding_policy = "policy"},
                    .bar = BarId{255}},
                   {.id = {8}, .action = {.drop = true}}},
          .qers = {{.id = {1},
                    .uplink_open = false,
                    .mbr = rules::BitRate{kMost, 0},
                    .gbr = rules::BitRate{1, 0xffffffffff},
                    .qfi = 63,
                    .rqi = true,
                    .paging_policy = 7,
                    .correlation = 0xffffffff},
                   {.id = {128}}},
          .urrs = {{.id = {0x80000000},
                    .notify_at = rules::VolumeLimit{1, kMost, std::nullopt, 0},
                    .block_at = rules::VolumeLimit{2, std::nullopt, 5, std::nullopt},
                    .blocked = true,
                    .notify_start = true,
                    .start_generation = 9}},
          .bars = {{.id = {255}, .notification_delay_50ms = 3, .suggested_packets = 65535}}};
}

rules::UsageRule full_usage() {
  return {.id = {0x80000000},
          .measure_duration = true,
          .measure_events = true,
          .triggers = {.time_threshold = true, .quota_validity = true},
          .period = 1,
          .volume_threshold = rules::VolumeAmount{kMost, 1, 2},
          .volume_quota = rules::VolumeAmount{},
          .time_threshold = 2,
          .time_quota = 3,
          .quota_holding_time = 4,
          .quota_validity_time = 5,
          .inactivity_detection_time = 6,
          .dropped_threshold = rules::DroppedThreshold{7, std::nullopt},
          .monitoring_time = WallTime{std::chrono::nanoseconds{-1}},
          .subsequent_volume_threshold = rules::VolumeAmount{{}, 8, {}},
          .subsequent_volume_quota = rules::VolumeAmount{9, {}, {}},
          .subsequent_time_threshold = 10,
          .subsequent_time_quota = 11,
          .linked = {{1}, {2}},
          .quota_action = FarId{8},
          .number_of_reports = 12,
          .before_qos = true,
          .immediate_start = true,
          .with_packet_counts = true};
}

/// Every member has another value than that which it has by itself.
Session full_session() {
  Session session{
      .seid = {kMost - 1},
      .owner = {"\0\n\xff", 3},
      .cp = {.seid = {kMost}, .ipv4 = Ipv4{{10, 0, 0, 9}}, .ipv6 = Ipv6{{0x20, 1, 2}}},
      .rules = full_rules(),
      .installed = full_rules(),
      .usage = {full_usage(), {}},
      .sources = {{PdrId{3}, std::make_shared<const PdrSource>()}},
      .endpoints = {{std::uint8_t{4}, std::make_shared<const pfcp::CreateTrafficEndpoint>()}},
      .predefined_fars = {{0x80000001}},
      .predefined_qers = {{0x80000002}, {0x80000003}},
      .chosen_teids = {{std::uint8_t{5}, Teid{0x500}}},
      .filters = {{6U, rules::SdfFilter{.spi = 6}}},
      .chosen_ipv4 = {{"a", Ipv4{{10, 61, 0, 2}}}, {"b", Ipv4{}}},
      .chosen_ipv6 = {{{"internet", std::uint8_t{64}}, *parse_ipv6_prefix("2001:db8:2::/64")}},
      .inactivity_timer_s = 0xffffffff,
      .labels = {.dnn = "internet",
                 .s_nssai = "1-010203",
                 .imsi = "001010000000001",
                 .imei = "35",
                 .msisdn = "49",
                 .nai = "user@example",
                 .pdn_type = 3,
                 .interface_types = "11 17"}};
  session.installed.fars[0].action = {.drop = true};
  return session;
}

TEST(Store, GivesBackWhatWasPut) {
  Store store;
  const Session full = full_session();
  store.put(full);
  store.put({.seid = {1}, .owner = "smf"});
  EXPECT_EQ(*store.find(full.seid), full);
  EXPECT_EQ(*store.find({1}), (Session{.seid = {1}, .owner = "smf"}));
  EXPECT_EQ(store.find({2}), nullptr);
  EXPECT_EQ(store.head(full.seid)->owner, full.owner);
  EXPECT_EQ(store.head(full.seid)->cp, full.cp);
  EXPECT_EQ(store.head({2}), std::nullopt);
}

TEST(Store, WhatIsPutAgainReplacesWhatWasThere) {
  Store store;
  Session session = full_session();
  store.put(session);
  session.installed = session.rules;
  session.sources.clear();
  session.endpoints.clear();
  session.rules.pdrs.clear();
  store.put(session);
  EXPECT_EQ(*store.find(session.seid), session);
  EXPECT_EQ(store.size(), 1U);
}

TEST(Store, ChangesOfOnePartLeaveTheRest) {
  Store store;
  Session session = full_session();
  store.put(session);
  session.installed.fars.clear();
  store.set_installed(session.seid, session.installed);
  EXPECT_EQ(*store.find(session.seid), session);
  session.owner = "another";
  session.cp = {.seid = {5}};
  store.move(session.seid, session.owner, session.cp);
  EXPECT_EQ(*store.find(session.seid), session);
}

TEST(Store, IsEmptyOnceAllAreGone) {
  Store store;
  store.put(full_session());
  store.erase(full_session().seid);
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(store.index_entries(), 0U);
  EXPECT_EQ(store.find(full_session().seid), nullptr);
}

Session of_dnn(std::uint64_t seid, const std::string& owner, const std::string& dnn) {
  return {.seid = {seid}, .owner = owner, .labels = {.dnn = dnn}};
}

TEST(Store, CountsTheSessionsOfEachOwnerByDnn) {
  using Counts = std::map<std::string, std::size_t>;
  Store store;
  store.put(of_dnn(1, "smf1", "internet"));
  store.put(of_dnn(2, "smf1", "internet"));
  store.put(of_dnn(3, "smf1", "ims"));
  store.put(of_dnn(4, "smf2", "internet"));
  EXPECT_EQ(store.dnns_of("smf1"), (Counts{{"internet", 2}, {"ims", 1}}));
  store.put(of_dnn(2, "smf1", "ims"));
  EXPECT_EQ(store.dnns_of("smf1"), (Counts{{"internet", 1}, {"ims", 2}}));
  store.move({3}, "smf2", {});
  EXPECT_EQ(store.dnns_of("smf1"), (Counts{{"internet", 1}, {"ims", 1}}));
  EXPECT_EQ(store.dnns_of("smf2"), (Counts{{"internet", 1}, {"ims", 1}}));
  store.erase({4});
  EXPECT_EQ(store.dnns_of("smf2"), (Counts{{"ims", 1}}));
  EXPECT_EQ(store.dnns_of("nobody"), Counts{});
}

// SMFs may leave the APN/DNN IE out.
TEST(Store, ADnnIsElseTheNetworkInstanceOfTheWayThere) {
  Session session;
  EXPECT_EQ(dnn_of(session), "");
  session.rules.fars = {{.id = {1},
                         .action = {.forward = true},
                         .forwarding = rules::Forwarding{.destination = rules::Interface::Core,
                                                         .network_instance = "by the FAR"}}};
  EXPECT_EQ(dnn_of(session), "by the FAR");
  session.rules.pdrs = {
      {.id = {1}, .source_interface = rules::Interface::Access, .network_instance = "n3"},
      {.id = {2}, .source_interface = rules::Interface::Core, .network_instance = "by the PDR"}};
  EXPECT_EQ(dnn_of(session), "by the PDR");
  session.labels.dnn = "by name";
  EXPECT_EQ(dnn_of(session), "by name");
}

Session sending_to(std::uint64_t seid, Teid teid) {
  Session session{.seid = {seid}};
  session.rules.fars.push_back(
      {.id = {1},
       .action = {.forward = true},
       .forwarding = rules::Forwarding{
           .outer_header = rules::OuterHeader{.teid = teid, .peer = Ipv4{{10, 0, 0, 7}}}}});
  session.installed = session.rules;
  return session;
}

std::vector<Seid> sending_to(const Store& store, Teid teid) {
  std::vector<Seid> seids;
  for (const auto& tunnel : store.of_remote(teid, Ipv4{{10, 0, 0, 7}})) {
    seids.push_back(tunnel.seid);
  }
  std::ranges::sort(seids);
  return seids;
}

/// A gNB's TEID is one session's, as a rule; a lab may have all sessions send into one.
// Whatever network instance it is of, and whatever address the UE has made of its prefix.
TEST(Store, FindsTheSessionsOfAUesAddress) {
  Store store;
  std::uint64_t seid = 0;
  const auto add = [&](const char* network, rules::UeAddress ue) {
    Session session{.seid = {++seid}};
    ue.is_destination = true;
    session.rules.pdrs = {{.id = {1},
                           .source_interface = rules::Interface::Core,
                           .ue_addresses = {ue},
                           .network_instance = network}};
    store.put(session);
  };
  for (const char* network : {"ims", "internet"}) {
    add(network, {.ipv4 = Ipv4{{10, 60, 0, 1}}});
    for (const char* prefix :
         {"2001:db8:0:100::/56", "2001:db8:0:200::/64", "2001:db8:0:201::1/128"}) {
      add(network, {.ipv6 = parse_ipv6_prefix(prefix)});
    }
  }
  const auto found = [&](const char* ue) {
    std::vector<std::uint64_t> seids;
    for (const Seid one : store.of_ue(*parse_ip(ue))) seids.push_back(one.value);
    std::ranges::sort(seids);
    return seids;
  };
  using Seids = std::vector<std::uint64_t>;
  EXPECT_EQ(found("10.60.0.1"), (Seids{1, 5}));
  EXPECT_EQ(found("10.60.0.2"), Seids{});
  EXPECT_EQ(found("2001:db8:0:1ff::5"), (Seids{2, 6}));
  EXPECT_EQ(found("2001:db8:0:200:a:b:c:d"), (Seids{3, 7}));
  EXPECT_EQ(found("2001:db8:0:201::1"), (Seids{4, 8}));
  EXPECT_EQ(found("2001:db8:0:201::2"), Seids{});
  EXPECT_EQ(found("::"), Seids{});
}

TEST(Store, SessionsMayShareARemoteTunnel) {
  Store store;
  for (const std::uint64_t seid : {1U, 2U, 3U}) store.put(sending_to(seid, {5}));
  store.put(sending_to(4, {6}));
  EXPECT_EQ(sending_to(store, {5}), (std::vector<Seid>{{1}, {2}, {3}}));
  EXPECT_EQ(store.of_peer(Ipv4{{10, 0, 0, 7}}), (std::vector<Seid>{{1}, {2}, {3}, {4}}));
  store.erase({1});
  EXPECT_EQ(sending_to(store, {5}), (std::vector<Seid>{{2}, {3}}));
  store.put(sending_to(3, {6}));
  EXPECT_EQ(sending_to(store, {5}), (std::vector<Seid>{{2}}));
  EXPECT_EQ(sending_to(store, {6}), (std::vector<Seid>{{3}, {4}}));
  for (const std::uint64_t seid : {2U, 3U, 4U}) store.erase({seid});
  EXPECT_EQ(store.index_entries(), 0U);
}

/// Numbers where their lengths change.
TEST(Store, KeepsNumbersOfAllLengths) {
  Store store;
  Session session{.seid = {1}};
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t most = bits == 64 ? kMost : (std::uint64_t{1} << bits) - 1;
    session.rules.qers.push_back({.id = {bits}, .mbr = rules::BitRate{most, ~most}});
  }
  session.installed = session.rules;
  store.put(session);
  EXPECT_EQ(*store.find({1}), session);
}

}  // namespace
}  // namespace upf::session

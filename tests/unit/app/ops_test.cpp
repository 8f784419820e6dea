#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/app/ops/follow.hpp"
#include "src/app/ops/pcapng.hpp"
#include "src/app/ops/views.hpp"

namespace upf::app::ops {
namespace {

using namespace std::chrono_literals;

const SocketAddress kSmf{Ipv4{{10, 0, 0, 2}}, 8805};
const SocketAddress kUpf{Ipv4{{10, 0, 0, 1}}, 8805};

std::string hex(const wire::Octets& octets) {
  std::string text;
  for (const auto octet : octets) text += fmt::format("{:02x}", octet);
  return text;
}

// Checked with scapy: IP(src="10.0.0.2",dst="10.0.0.1",flags="DF",id=0)/UDP(8805,8805)/b"\x20\x01".
TEST(Pcapng, MakesAnIpPacketAroundADatagram) {
  EXPECT_EQ(hex(ip_packet_of(kSmf, kUpf, wire::Octets{0x20, 0x01})),
            "4500001e00004000401126cd0a0000020a000001"
            "22652265000a870c"
            "2001");
}

TEST(Pcapng, HasASectionAndTwoInterfacesAndKeepsToItsLimit) {
  Pcapng capture{4096};
  const std::size_t head = capture.octets().size();
  EXPECT_EQ(capture.octets().substr(0, 4), "\x0a\x0d\x0d\x0a");
  capture.add_datagram(WallTime{1s}, kSmf, kUpf, wire::Octets(10));
  EXPECT_EQ(capture.octets().size(), head + 32 + 40);
  for (int i = 0; i < 1000; ++i) {
    capture.add(Pcapng::Interface::User, WallTime{2s}, wire::Octets(100), 100);
  }
  EXPECT_LE(capture.octets().size(), 4096U);
  EXPECT_TRUE(capture.full());
  EXPECT_EQ(capture.packets() + capture.left_out(), 1001U);
}

rules::SessionRules some_rules() {
  rules::SessionRules rules;
  rules.fars.push_back({.id = {1}, .action = {.forward = true}, .forwarding = {}, .bar = {}});
  rules.pdrs.push_back({.id = {1},
                        .precedence = 32,
                        .source_interface = rules::Interface::Core,
                        .ue_addresses = {{.ipv4 = Ipv4{{10, 60, 0, 1}}, .is_destination = true}},
                        .far = {1}});
  return rules;
}

// What is wanted and what is there, side by side.
TEST(SessionView, PutsWhatIsInstalledBesideEachRule) {
  session::Session session;
  session.rules = some_rules();
  session.usage.push_back({.id = {7}});
  dataplane::Inspection installed;
  installed.rules = {{PdrId{1}, "kernel #4"}, {PdrId{1}, "kernel #5"}, {UrrId{99}, "a meter"}};
  installed.counted = {{.urr = {7}, .octets = {100, 20}, .packets = {2, 1}}};
  installed.waiting_packets = 3;
  const Json json = session_view(session, installed);
  EXPECT_EQ(json["pdrs"][0]["installed"], (Json{"kernel #4", "kernel #5"}));
  EXPECT_EQ(json["fars"][0]["installed"], Json::array());
  EXPECT_EQ(json["urrs"][0]["counted"]["uplink_octets"], 100);
  EXPECT_EQ(json["unmatched"], (Json{"urrs 99: a meter"}));
  EXPECT_EQ(json["waiting_packets"], 3);
  EXPECT_EQ(json["in_plane"], true);
  EXPECT_EQ(session_view(session, std::nullopt)["in_plane"], false);
}

TEST(Follow, SummarisesAChange) {
  const rules::SessionRules none;
  const rules::SessionRules before = some_rules();
  rules::SessionRules after = before;
  after.fars[0].action = {.buffer = true};
  after.pdrs.clear();
  EXPECT_EQ(summary_of({.seid = {1}, .before = nullptr, .after = &before}), "+PDR 1 +FAR 1");
  EXPECT_EQ(summary_of({.seid = {1}, .before = &before, .after = &after}), "-PDR 1 ~FAR 1");
  EXPECT_EQ(summary_of({.seid = {1}, .before = &before, .after = &before}), "no rule changes");
}

TEST(Follow, TakesAddressesAndSeids) {
  EXPECT_EQ(parse_target("10.60.0.1")->ue, parse_ip("10.60.0.1"));
  EXPECT_EQ(parse_target("0x10")->seid, Seid{16});
  EXPECT_EQ(parse_target("16")->seid, Seid{16});
  EXPECT_FALSE(parse_target("0").has_value());
  EXPECT_FALSE(parse_target("internet").has_value());
}

// A UE that has no session yet is followed from its establishment on, and nobody else is.
TEST(Follow, FollowsAUeFromItsFirstMessage) {
  const session::Store store;
  Follower follower{store};
  const auto id = follower.start(*parse_target("10.60.0.1"), 1U << 20U, TimePoint{} + 1h);
  ASSERT_TRUE(id.has_value());
  const rules::SessionRules rules = some_rules();
  rules::SessionRules other = rules;
  other.pdrs[0].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  const wire::Octets request{0x21, 50, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  using Changed = std::pair<Seid, const rules::SessionRules*>;
  for (const auto& [seid, changed] : {Changed{Seid{5}, &rules}, Changed{Seid{6}, &other}}) {
    follower.begin(kSmf, request);
    follower.on_change({.seid = seid, .before = nullptr, .after = changed}, dataplane::Applied{},
                       7us);
    control::Output output;
    output.send.push_back({kSmf, request});
    output.log.push_back({.text = "accepted", .procedure = "session-establishment", .seid = seid});
    follower.end(WallTime{1s}, kUpf, output);
  }
  const Following& following = *follower.find(*id);
  std::vector<std::string> kinds;
  for (const auto& record : following.records) kinds.push_back(record.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"n4-in", "plane", "log", "n4-out"}));
  EXPECT_EQ(following.records[1].text, "+PDR 1 +FAR 1: done in 7 us");
  EXPECT_EQ(following.seids, (std::set<Seid>{Seid{5}}));
  EXPECT_EQ(following.capture.packets(), 2U);
  follower.expire(TimePoint{} + 2h);
  EXPECT_FALSE(follower.active());
}

// SMFs that count their SEIDs from 1 have the same ones.
TEST(Follow, TellsSmfsWithEqualSeidsApart) {
  session::Store store;
  session::Session session;
  session.seid = Seid{5};
  session.cp = {.seid = Seid{1}, .ipv4 = Ipv4{{10, 0, 0, 2}}};
  session.rules = some_rules();
  store.put(session);
  Follower follower{store};
  const auto id = follower.start(*parse_target("5"), 1U << 20U, TimePoint{} + 1h);
  ASSERT_TRUE(id.has_value());
  const auto exchange = [&](const SocketAddress& to, std::optional<Seid> touched) {
    control::Output output;
    output.send.push_back({to, wire::Octets{0x21, 56, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0}});
    if (touched) output.log.push_back({.text = "reported", .seid = touched});
    follower.end(WallTime{1s}, kUpf, output);
    return follower.find(*id)->capture.packets();
  };
  EXPECT_EQ(exchange(kSmf, Seid{5}), 1U);
  EXPECT_EQ(exchange({Ipv4{{10, 0, 0, 3}}, 8805}, std::nullopt), 1U);
  EXPECT_EQ(exchange(kSmf, std::nullopt), 2U);
}

std::vector<std::pair<std::string, std::string>> records_of(const Following& following) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& record : following.records) all.emplace_back(record.kind, record.text);
  return all;
}

session::Session some_session(Seid seid, Teid remote) {
  session::Session session;
  session.seid = seid;
  session.cp = {.seid = seid, .ipv4 = Ipv4{{10, 0, 0, 2}}};
  session.rules = some_rules();
  session.rules.fars[0].forwarding = {
      .outer_header = rules::OuterHeader{.teid = remote, .peer = Ipv4{{10, 0, 0, 9}}}};
  return session;
}

// What only the plane sees: its calls and what it did by itself, of the one who is followed.
TEST(Follow, TellsWhatThePlaneDidForThisSessionAlone) {
  session::Store store;
  store.put(some_session(Seid{5}, Teid{0x21}));
  store.put(some_session(Seid{6}, Teid{0x22}));
  Follower follower{store};
  const auto id = follower.start(*parse_target("5"), 4096, TimePoint{} + 1h);
  const Ipv4 peer{{10, 0, 0, 9}};
  for (const Seid seid : {Seid{5}, Seid{6}}) {
    follower.on_deed({seid, true, "ADD_FAR #3: done"});
    follower.on_deed({seid, false, "FAR 1: End Marker"});
    follower.on_event(dataplane::DownlinkData{.seid = seid, .pdr = {2}});
    follower.on_event(dataplane::TrafficStart{.seid = seid, .urr = {4}, .at = {}});
  }
  follower.on_event(dataplane::ErrorIndication{Teid{0x22}, peer});
  follower.on_event(dataplane::ErrorIndication{Teid{0x21}, peer});
  follower.on_event(dataplane::PathState{peer, false});
  follower.end(WallTime{1s}, kUpf, {});
  EXPECT_EQ(records_of(*follower.find(*id)),
            (std::vector<std::pair<std::string, std::string>>{
                {"kernel", "ADD_FAR #3: done"},
                {"plane", "FAR 1: End Marker"},
                {"event", "first packet for an idle UE, PDR 2"},
                {"event", "URR 4: traffic started"},
                {"event", "Error Indication: 10.0.0.9 doesn't know tunnel 0x00000021"},
                {"event", "GTP-U peer 10.0.0.9 doesn't answer"}}));
}

// Nobody pays for traces that don't run.
TEST(Follow, SaysWhenTheFirstBeginsAndTheLastEnds) {
  const session::Store store;
  Follower follower{store};
  std::vector<bool> told;
  follower.when_active([&](bool active) { told.push_back(active); });
  const auto first = follower.start(*parse_target("1"), 4096, TimePoint{} + 1h);
  ASSERT_TRUE(follower.start(*parse_target("2"), 4096, TimePoint{} + 2h).has_value());
  EXPECT_TRUE(follower.stop(*first));
  EXPECT_FALSE(follower.stop(*first));
  EXPECT_EQ(told, (std::vector{true}));
  follower.expire(TimePoint{} + 3h);
  EXPECT_EQ(told, (std::vector{true, false}));
}

// A message may have 64 KiB, and its text more.
TEST(Follow, KeepsSoMuchOfARecordsText) {
  const session::Store store;
  Follower follower{store};
  const auto id = follower.start(*parse_target("5"), 4096, TimePoint{} + 1h);
  follower.on_deed({Seid{5}, false, std::string(Following::kLongestText, 'a')});
  follower.on_deed({Seid{5}, false, std::string(100'000, 'a')});
  follower.end(WallTime{1s}, kUpf, {});
  const auto& records = follower.find(*id)->records;
  EXPECT_EQ(records[0].text, std::string(Following::kLongestText, 'a'));
  EXPECT_EQ(records[1].text, std::string(Following::kLongestText, 'a') + "…");
}

TEST(Follow, HasALimit) {
  const session::Store store;
  Follower follower{store};
  for (std::size_t i = 0; i < Follower::kMost; ++i) {
    EXPECT_TRUE(follower.start(*parse_target("1"), 4096, TimePoint{} + 1h).has_value());
  }
  EXPECT_FALSE(follower.start(*parse_target("1"), 4096, TimePoint{} + 1h).has_value());
}

TEST(Views, TellOwnersAndSeids) {
  EXPECT_EQ(owner_text(std::string{"\x00\x0a\x00\x00\x02", 5}), "10.0.0.2");
  EXPECT_EQ(owner_text(std::string{"\x02\x03smf\x07"} + "example"), "smf.example");
  EXPECT_EQ(owner_text(std::string{"\x02\xff"} + "short"), "short");
  EXPECT_EQ(owner_text(""), "");
  EXPECT_EQ(seid_text({0x99}), "0x0000000000000099");
  EXPECT_EQ(parse_seid("0x99"), Seid{0x99});
  EXPECT_EQ(parse_seid("153"), Seid{0x99});
  EXPECT_FALSE(parse_seid("0x").has_value());
  EXPECT_FALSE(parse_seid("12x").has_value());
}

}  // namespace
}  // namespace upf::app::ops

// The small parts of the gtp5g plane that decide something by themselves.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/compile.hpp"
#include "netlink/gtp5g/episodes.hpp"
#include "netlink/gtp5g/events.hpp"
#include "netlink/gtp5g/flows.hpp"
#include "netlink/gtp5g/gtpu.hpp"
#include "netlink/gtp5g/held_qers.hpp"
#include "netlink/gtp5g/kernel_ids.hpp"
#include "netlink/gtp5g/limits.hpp"
#include "netlink/gtp5g/paths.hpp"
#include "netlink/gtp5g/safety.hpp"
#include "netlink/gtp5g/version.hpp"
#include "support/hex.hpp"

namespace upf::gtp5g {
namespace {

using test::octets_of;

constexpr std::uint16_t kFamily = 0x20;

// --- what the kernel says (octets of a real v0.10.2) -------------------------------------------

const std::string kBuffered =
    "70000000200000000300000000000000120000005c00018006000500020000000c0006000110000000000000060007"
    "00"
    "0c00000006000800010000003400040045000030000100003f11617e0a0006020a3c00011b580009001c0000444444"
    "44"
    "44444444444444444444444444444444";
const std::string kUsage =
    "9c00000020000000010000000000000012000000880002808400058008000300020000000c000800f8c34e619ce7ec"
    "18"
    "0c000900b245c2619ce7ec184c0006800c00020064000000000000000c00030050000000000000000c000400140000"
    "00"
    "000000000c00050005000000000000000c00060004000000000000000c00070001000000000000000c000a00011000"
    "00"
    "000000000800040002000000";
const std::string kMultiReports =
    "7c000580080003000d0000000c00080042dab3539ee7ec180c00090050b5d3599ee7ec184c0006800c000200280000"
    "00"
    "000000000c00030028000000000000000c00040000000000000000000c00050002000000000000000c000600020000"
    "00"
    "000000000c00070000000000000000000c000a0001100000000000007c000580080003000e0000000c000800608021"
    "54"
    "9ee7ec180c000900fee3d3599ee7ec184c0006800c00020028000000000000000c00030028000000000000000c0004"
    "00"
    "00000000000000000c00050002000000000000000c00060002000000000000000c00070000000000000000000c000a"
    "00"
    "0110000000000000";

TEST(Events, BufferedPacket) {
  const auto datagram = octets_of(kBuffered);
  const auto events = decode_events(kFamily, datagram);
  ASSERT_EQ(events.size(), 1U);
  const auto& packet = std::get<BufferedEvent>(events[0]);
  EXPECT_EQ(packet.seid, Seid{0x1001});
  EXPECT_EQ(packet.pdr, 2);
  EXPECT_EQ(packet.action, 0xc);
  EXPECT_EQ(packet.packet.size(), 48U);
  EXPECT_EQ(packet.packet[0], 0x45);
  EXPECT_EQ(counted_octets(packet.packet), 20U);
}

TEST(Events, UsageReport) {
  const auto events = decode_events(kFamily, octets_of(kUsage));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(
      std::get<Report>(events[0]),
      (Report{.seid = {0x1001}, .urr = 2, .trigger = 2, .octets = {80, 20}, .packets = {4, 1}}));
}

TEST(Events, ReportsOfAnAnswer) {
  const auto reports = decode_reports(octets_of(kMultiReports));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].urr, 13U);
  EXPECT_EQ(reports[1].urr, 14U);
  EXPECT_EQ(reports[1].octets, (rules::Volume{0x28, 0}));
}

TEST(Events, OfOtherFamiliesOrCommandsAreNone) {
  auto datagram = octets_of(kUsage);
  EXPECT_TRUE(decode_events(0x21, datagram).empty());
  datagram[16] = 0x11;
  EXPECT_TRUE(decode_events(kFamily, datagram).empty());
}

TEST(Events, NoTruncationIsMoreThanIsThere) {
  for (const std::string& hex : {kBuffered, kUsage}) {
    const auto whole = octets_of(hex);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      auto cut = whole;
      cut.resize(size);
      EXPECT_TRUE(decode_events(kFamily, cut).empty()) << "cut at " << size;
      if (size < 4) continue;  // and with a length that says it is whole
      const auto length = static_cast<std::uint32_t>(size);
      std::memcpy(cut.data(), &length, sizeof length);
      EXPECT_LE(decode_events(kFamily, cut).size(), 1U);
    }
  }
}

TEST(Events, ACounterThatWentBelowZeroCountsForNothing) {
  auto datagram = octets_of(kUsage);
  const std::uint64_t negative = ~std::uint64_t{39};
  std::memcpy(datagram.data() + 0x58 - 8, &negative,
              8);  // wherever it lands: nothing huge comes out
  for (const KernelEvent& event : decode_events(kFamily, datagram)) {
    const auto& report = std::get<Report>(event);
    EXPECT_LT(report.octets.uplink, 1U << 20U);
    EXPECT_LT(report.octets.downlink, 1U << 20U);
  }
}

// --- IDs --------------------------------------------------------------------------------------

TEST(KernelIds, HashIsLookup3) {
  // The values that the hash's author gives (lookup3.c, driver5).
  EXPECT_EQ(lookup3("", 0), 0xdeadbeefU);
  EXPECT_EQ(lookup3("", 0xdeadbeef), 0xbd5b7ddeU);
  EXPECT_EQ(lookup3("Four score and seven years ago", 0), 0x17770551U);
  EXPECT_EQ(lookup3("Four score and seven years ago", 1), 0xcd628161U);
}

TEST(KernelIds, QersAreAloneInTheirBuckets) {
  KernelIds ids{128};
  std::set<std::uint32_t> buckets;
  std::vector<std::pair<Seid, std::uint32_t>> taken;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Seid seid{0x123456789abc0000 + i * 977};
    taken.emplace_back(seid, ids.take_qer(seid));
    EXPECT_TRUE(buckets.insert(ids.bucket(seid, taken.back().second)).second);
  }
  EXPECT_EQ(ids.shared_buckets(), 0U);
  for (const auto& [seid, id] : taken) ids.release_qer(seid, id);
  for (int i = 0; i < 100; ++i) (void)ids.take_qer({1});
  EXPECT_EQ(ids.shared_buckets(), 0U);
}

TEST(KernelIds, UrrNumbersAreNeverTheSame) {
  KernelIds ids{1};
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(ids.take_urr()).second);
}

// --- held QERs --------------------------------------------------------------------------------

TEST(HeldQers, ComeOutWhenTheirTimeIsOverOldestFirst) {
  using namespace std::chrono_literals;
  const TimePoint begin{100s};
  const RuleName one{RuleName::Kind::Qer, {1}, 7}, two{RuleName::Kind::Qer, {2}, 7};
  HeldQers held{1s};
  EXPECT_EQ(held.next(), std::nullopt);
  held.add(begin, one);
  held.add(begin + 1ms, two);
  held.add(begin + 2ms, one);  // is there already
  EXPECT_TRUE(held.contains(one));
  EXPECT_GE(held.next(), begin + 1s);
  EXPECT_TRUE(held.take_due(begin + 999ms, 10).empty());
  EXPECT_EQ(held.take_due(begin + 1s, 10), std::vector{one});
  EXPECT_FALSE(held.contains(one));
  EXPECT_EQ(held.size(), 1U);
  held.add(begin + 1s, one);
  EXPECT_EQ(held.take_due(begin + 10s, 1), std::vector{two});
  EXPECT_EQ(held.take_due(begin + 10s, 1), std::vector{one});
  EXPECT_EQ(held.next(), std::nullopt);
}

// --- flows ------------------------------------------------------------------------------------

TEST(Flows, ComplementCoversAllButThePrefix) {
  for (const Ipv4Prefix prefix : {Ipv4Prefix{{{10, 0, 0, 0}}, 8}, Ipv4Prefix{{{192, 0, 2, 7}}, 32},
                                  Ipv4Prefix{{{128, 0, 0, 0}}, 1}}) {
    const auto rest = complement(prefix);
    EXPECT_EQ(rest.size(), prefix.length);
    for (const Ipv4 address : {Ipv4{{10, 1, 2, 3}}, Ipv4{{11, 0, 0, 0}}, Ipv4{{9, 255, 255, 255}},
                               Ipv4{{192, 0, 2, 7}}, Ipv4{{192, 0, 2, 6}}, Ipv4{{0, 0, 0, 0}},
                               Ipv4{{255, 255, 255, 255}}, Ipv4{{128, 0, 0, 0}}}) {
      const auto in_rest =
          std::ranges::count_if(rest, [&](const Ipv4Prefix& one) { return one.contains(address); });
      EXPECT_EQ(in_rest, prefix.contains(address) ? 0 : 1) << to_string(address);
    }
  }
  EXPECT_TRUE(complement({}).empty());
}

TEST(Flows, UplinkSwapsAddressesAndPorts) {
  // cases.md 35
  const rules::FlowDescription flow{
      .protocol = std::uint8_t{6},
      .source = {.prefix = Ipv4Prefix{{{1, 1, 1, 1}}, 32}, .ports = {{80, 80}}},
      .destination = {.assigned = true}};
  const Ipv4 ue{{10, 60, 0, 1}};
  const auto down = expand_flow(flow, false, ue, 100);
  const auto up = expand_flow(flow, true, ue, 100);
  ASSERT_TRUE(down && up);
  ASSERT_EQ(down->size(), 1U);
  EXPECT_EQ(down->at(0).source, (Ipv4Prefix{{{1, 1, 1, 1}}, 32}));
  EXPECT_EQ(down->at(0).destination, (Ipv4Prefix{ue, 32}));
  EXPECT_EQ(down->at(0).source_ports, (std::vector<rules::PortRange>{{80, 80}}));
  EXPECT_EQ(up->at(0).source, down->at(0).destination);
  EXPECT_EQ(up->at(0).destination, down->at(0).source);
  EXPECT_EQ(up->at(0).destination_ports, down->at(0).source_ports);
}

TEST(Flows, PortsOfAnyProtocolAreThoseThatHavePorts) {
  rules::FlowDescription flow{.source = {.ports = {{80, 80}}}};
  EXPECT_EQ(expand_flow(flow, false, {}, 100)->size(), 3U);
  flow.protocol = 1;
  EXPECT_TRUE(expand_flow(flow, false, {}, 100)->empty());
}

TEST(Flows, AnIpv6PrefixMatchesNothingAndIsNeverCut) {
  // cases.md 39
  const rules::FlowDescription flow{.source = {.prefix = *parse_ipv6_prefix("2001:db8::/32")}};
  EXPECT_TRUE(expand_flow(flow, false, {}, 100)->empty());
}

TEST(Flows, TooManyAreRefused) {
  const rules::EndpointMatch not_one{.prefix = Ipv4Prefix{{{1, 1, 1, 1}}, 32}, .negated = true};
  EXPECT_FALSE(
      expand_flow({.source = not_one, .destination = not_one}, false, {}, 127).has_value());
}

// --- GTP-U ------------------------------------------------------------------------------------

TEST(Gtpu, EncodesLikeTheModule) {
  EXPECT_EQ(encode_g_pdu(
                {.teid = {0xaabbccdd}, .container = std::uint8_t{9}, .sequence = std::uint16_t{0}},
                octets_of("4500")),
            octets_of("36ff000a aabbccdd 0000 00 85 01000900 4500"));
  EXPECT_EQ(encode_g_pdu({.teid = {1}, .sequence = std::uint16_t{0x1234}}, octets_of("45")),
            octets_of("32ff0005 00000001 1234 0000 45"));
  EXPECT_EQ(encode_g_pdu({.teid = {1}}, octets_of("45")), octets_of("30ff0001 00000001 45"));
  EXPECT_EQ(encode_end_marker({0xaabbccdd}), octets_of("30fe0000 aabbccdd"));
  EXPECT_EQ(encode_echo_response(0x1234), octets_of("32020006 00000000 12340000 0e00"));
}

TEST(Gtpu, ErrorIndicationWithAnExtensionHeader) {
  const auto message = decode_signalling(
      octets_of("361a0014 00000000 0000 00 40 01 1234 00 10 aabbccdd 85 0004 0a000302"));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->unknown_teid, Teid{0xaabbccdd});
  EXPECT_EQ(message->unknown_peer, IpAddress(Ipv4{{10, 0, 3, 2}}));
}

TEST(Gtpu, CountsPayloadLikeTheModule) {
  EXPECT_EQ(counted_octets({}), 0U);
  auto packet = octets_of(
      "4500002c 00000000 4006 0000 0a000001 0a000002 00500051 00000001 00000001 5010 0000 00000000 "
      "61626364");
  EXPECT_EQ(counted_octets(packet), 4U);
  packet[32] = 0xf0;  // a header longer than the packet
  EXPECT_EQ(counted_octets(packet), 0U);
}

// --- version ----------------------------------------------------------------------------------

TEST(Version, SaysFoundWantedAndDirection) {
  // cases.md 68
  for (const auto& [version, word] :
       std::vector<std::pair<std::string, std::string>>{{"0.9.2", "upgrade"},
                                                        {"0.8.10", "upgrade"},
                                                        {"0.11.0", "downgrade"},
                                                        {"1.0", "compared"}}) {
    const auto verdict = check_version(version);
    ASSERT_FALSE(verdict.has_value()) << version;
    EXPECT_NE(verdict.error().find(version), std::string::npos);
    EXPECT_NE(verdict.error().find("0.9.3"), std::string::npos);
    EXPECT_NE(verdict.error().find(word), std::string::npos) << verdict.error();
  }
  for (const char* version : {"0.10.2", "0.10.3", "v0.10.2", "0.10.2-dirty"}) {
    EXPECT_EQ(check_version(version), std::string{}) << version;
  }
  // cases.md 45
  EXPECT_NE(check_version("0.9.3")->find("0.10.2"), std::string::npos);
}

// --- episodes ---------------------------------------------------------------------------------

TEST(Episodes, AParameterChangeKeepsTheEpisode) {
  using std::chrono::milliseconds;
  Episodes episodes;
  const TimePoint start{};
  const dataplane::DownlinkData data{.seid = {1}, .pdr = {2}};
  episodes.set(start, {1}, {1}, {});
  episodes.packet(start, {1}, {1}, data);
  EXPECT_TRUE(episodes.take_due(start).empty());
  episodes.set(start, {1}, {1}, {.notify = true, .delay = milliseconds{50}});
  EXPECT_EQ(episodes.next_due(), start + milliseconds{50});
  episodes.set(start, {1}, {1}, {.notify = true});
  EXPECT_EQ(episodes.take_due(start + milliseconds{50}).size(), 1U);
  episodes.packet(start, {1}, {1}, data);
  EXPECT_EQ(episodes.next_due(), std::nullopt);
  episodes.end({1});
  EXPECT_EQ(episodes.find({1}, {1}), nullptr);
}

// --- paths ------------------------------------------------------------------------------------

TEST(Paths, APeerIsDownAfterThreeUnansweredRequestsAndUpWithTheFirstAnswer) {
  using std::chrono::seconds;
  Paths paths{{.interval = seconds{60}}};
  const Ipv4 peer{{10, 0, 3, 2}};
  TimePoint now{};
  paths.begin(now, peer);
  EXPECT_TRUE(paths.tick(now).ask.empty());
  now += seconds{60};
  for (int i = 0; i < 3; ++i, now += seconds{3}) {
    const auto due = paths.tick(now);
    EXPECT_EQ(due.ask.size(), 1U);
    EXPECT_TRUE(due.changed.empty());
  }
  const auto due = paths.tick(now);
  ASSERT_EQ(due.changed.size(), 1U);
  EXPECT_FALSE(due.changed[0].up);
  EXPECT_EQ(paths.next(), now + seconds{60});
  EXPECT_FALSE(paths.all().at(0).up);
  const auto up = paths.answered(now + std::chrono::milliseconds{9}, peer);
  ASSERT_TRUE(up.has_value());
  EXPECT_TRUE(up->up);
  EXPECT_FALSE(paths.answered(now, peer).has_value());
  EXPECT_EQ(paths.all().at(0).round_trip, std::chrono::milliseconds{9});
  paths.end(peer);
  EXPECT_EQ(paths.next(), std::nullopt);
}

TEST(Paths, AnIntervalOfZeroAsksNobody) {
  Paths paths{{}};
  paths.begin({}, {{10, 0, 3, 2}});
  EXPECT_EQ(paths.next(), std::nullopt);
}

// --- one table in the code and in the docs ------------------------------------------------------

std::string text_of(const std::string& path) {
  std::ifstream file{std::string{KUPF_SOURCE_DIR} + path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Limitations, AreThePagesTable) {
  for (const char* path : {"/netlink/gtp5g/README.md", "/deploy/docs/gtp5g-limits.md"}) {
    if (text_of(path).find(limits_table()) != std::string::npos) continue;
    std::ofstream{"gtp5g-limits.md"} << limits_table();
    ADD_FAILURE() << path << " hasn't got the table as it is now; it is in "
                  << std::filesystem::absolute("gtp5g-limits.md");
  }
}

TEST(Hazards, AreTheReadmesTable) {
  const std::string readme = text_of("/netlink/gtp5g/README.md");
  for (std::size_t i = 0; i < kHazards; ++i) {
    const std::string row = "| " + std::string{describe(static_cast<Hazard>(i))} + " |";
    EXPECT_NE(readme.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace upf::gtp5g

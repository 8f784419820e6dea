// The gtp5g plane on a kernel that behaves like the module, traps included.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <regex>
#include <thread>

#include "netlink/gtp5g/gtpu.hpp"
#include "tests/standin/fixtures.hpp"

namespace upf::standin {
namespace {

using dataplane::Failure;

std::uint32_t teid_of(const SentDatagram& datagram) {
  wire::Reader in{wire::Bytes{datagram.octets}.subspan(4, 4)};
  return in.be<std::uint32_t>();
}

// --- start and end ---------------------------------------------------------------------------

TEST(Start, MakesTheLinkWithRoomForTheContainer) {
  // cases.md 75
  Rig rig{{.ue_networks = {{{{10, 60, 0, 0}}, 16}}}};
  ASSERT_NE(rig.plane, nullptr) << rig.error;
  EXPECT_EQ(rig.machine->link->mtu, 1456U);
  EXPECT_EQ(rig.machine->link->name, "upfgtp");
  EXPECT_GT(rig.machine->link->hash_size, 0U);  // cases.md 82
  EXPECT_EQ(rig.machine->routes.size(), 1U);
  EXPECT_EQ(rig.machine->options.at("qos"), "1");  // cases.md 42
}

TEST(Start, SaysWhatToDoWithoutTheModule) {
  // cases.md 67
  auto machine = std::make_shared<Machine>();
  machine->kernel.loaded = false;
  const auto plane = gtp5g::Plane::open({.addresses = {kN3}}, host_of(machine));
  ASSERT_FALSE(plane.has_value());
  EXPECT_NE(plane.error().find("modprobe gtp5g"), std::string::npos) << plane.error();
}

TEST(Start, SaysThatTheModuleIsNotBuiltForThisKernel) {
  // cases.md 69
  auto machine = std::make_shared<Machine>();
  machine->without_module = "6.18.0-1-amd64";
  EXPECT_TRUE(
      gtp5g::Plane::open({.addresses = {kN3}}, host_of(machine)));  // it is there all the same
  machine->kernel.loaded = false;
  const auto plane = gtp5g::Plane::open({.addresses = {kN3}}, host_of(machine));
  ASSERT_FALSE(plane.has_value());
  EXPECT_NE(
      plane.error().find("not built for the running kernel, 6.18.0-1-amd64: build and load it"),
      std::string::npos)
      << plane.error();
}

TEST(Start, RefusesVersionsItDoesNotKnowAndSaysWhichWay) {
  // cases.md 68
  for (const auto& [version, word] : std::vector<std::pair<std::string, std::string>>{
           {"0.9.2", "upgrade"}, {"0.11.0", "downgrade"}}) {
    auto machine = std::make_shared<Machine>();
    machine->kernel.version = version;
    const auto plane = gtp5g::Plane::open({.addresses = {kN3}}, host_of(machine));
    ASSERT_FALSE(plane.has_value());
    EXPECT_NE(plane.error().find(version), std::string::npos);
    EXPECT_NE(plane.error().find(word), std::string::npos) << plane.error();
    EXPECT_TRUE(gtp5g::Plane::open({.addresses = {kN3}, .any_version = true}, host_of(machine)));
  }
}

TEST(End, TakesRulesAwayBeforeTheLink) {
  // cases.md 82
  auto machine = std::make_shared<Machine>();
  {
    Rig rig;
    ASSERT_TRUE(rig.go(session()));
    machine = rig.machine;
    EXPECT_EQ(machine->kernel.pdrs(), 2U);
  }
  EXPECT_EQ(machine->kernel.rules(), 0U);
  EXPECT_FALSE(machine->link.has_value());
}

// --- forwarding ------------------------------------------------------------------------------

TEST(Session, ForwardsBothWays) {
  Rig rig;
  ASSERT_TRUE(rig.go(with_qer(session(), {.id = {1}, .qfi = 9})));
  const auto up = udp(kUe, kServer, 100);
  rig.uplink(up);
  EXPECT_EQ(rig.machine->take_n6(), (std::vector<wire::Octets>{up}));
  rig.downlink(100);
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].from, kN3);
  EXPECT_EQ(sent[0].to, (SocketAddress{kGnb, 2152}));
  EXPECT_EQ(teid_of(sent[0]), kGnbTeid.value);
  EXPECT_EQ(sent[0].octets[0], 0x36);
  EXPECT_EQ(sent[0].octets[14], 9);  // QFI
  EXPECT_EQ(rig.counter("gtp5g_held_back"), 0U);
}

TEST(Session, IsOneCallWhenItBeginsAndOneWhenItEnds) {
  Rig rig;
  const std::uint64_t before = rig.machine->kernel.calls();
  ASSERT_TRUE(rig.go(with_urr(with_qer(session(), {.id = {1}, .qfi = 9}), {.id = {1}})));
  EXPECT_EQ(rig.machine->kernel.calls(), before + 1);
  EXPECT_EQ(rig.finish().size(), 1U);
  EXPECT_EQ(rig.machine->kernel.calls(), before + 2);
  EXPECT_EQ(rig.rules_left(), 0U);
}

TEST(Session, UplinkSourceIsChecked) {
  Rig rig;
  auto rules = session();
  rules.pdrs[0].ue_addresses.clear();  // as Open5GS does: taken from the session's downlink PDR
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(udp({{10, 60, 0, 99}}, kServer, 10));
  EXPECT_TRUE(rig.machine->take_n6().empty());
  rig.uplink(10);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
}

TEST(Session, ForwardingToAccessWithoutATunnelDrops) {
  Rig rig;
  auto rules = session();
  rules.fars[1].forwarding->outer_header.reset();  // free5GC's first downlink FAR
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(10);
  EXPECT_TRUE(rig.machine->take_sent().empty());
}

TEST(Session, SeveralFiltersAllMatch) {
  // cases.md 40
  Rig rig;
  auto rules = session();
  const auto filter = [](std::uint8_t last) {
    return rules::SdfFilter{
        .flow = rules::FlowDescription{.source = {.prefix = Ipv4Prefix{{{192, 0, 2, last}}, 32}},
                                       .destination = {.assigned = true}}};
  };
  for (rules::Pdr& pdr : rules.pdrs) pdr.filters = {filter(1), filter(2), filter(3)};
  ASSERT_TRUE(rig.go(rules));
  for (std::uint8_t last = 1; last <= 4; ++last) {
    rig.uplink(udp(kUe, {{192, 0, 2, last}}, 10));
    rig.downlink(udp({{192, 0, 2, last}}, kUe, 10));
  }
  EXPECT_EQ(rig.machine->take_n6().size(), 3U);
  EXPECT_EQ(rig.machine->take_sent().size(), 3U);
}

TEST(Session, EqualPrecedencesAreMetInOrderOfPdrId) {
  Rig rig;
  auto rules = session();
  rules.pdrs.push_back(rules.pdrs[1]);
  rules.pdrs[2].id = {3};
  rules.pdrs[2].far = {3};
  rules.fars.push_back(far_to_gnb(kGnb2, kGnb2Teid));
  rules.fars[2].id = {3};
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(10);
  EXPECT_EQ(teid_of(rig.machine->take_sent().at(0)), kGnbTeid.value);
  rules.pdrs[1].precedence = 256;
  ASSERT_TRUE(rig.go(rules));
  rig.downlink(10);
  EXPECT_EQ(teid_of(rig.machine->take_sent().at(0)), kGnb2Teid.value);
}

TEST(Session, WhatAnUpdateTakesAwayIsGone) {
  // cases.md 46
  Rig rig;
  const auto plain = session();
  auto rich = with_urr(with_qer(plain, {.id = {1}, .downlink_open = false, .qfi = 9}), {.id = {1}});
  rich.pdrs[0].filters = {{.flow = rules::FlowDescription{.protocol = std::uint8_t{6}}}};
  ASSERT_TRUE(rig.go(rich));
  rig.uplink(10);
  rig.downlink(10);
  EXPECT_TRUE(rig.machine->take_n6().empty());
  EXPECT_TRUE(rig.machine->take_sent().empty());
  ASSERT_TRUE(rig.go(plain));
  rig.uplink(10);
  rig.downlink(10);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
  const auto sent = rig.machine->take_sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].octets[0], 0x32);  // no QFI, so no container
}

TEST(Session, GateOfAQerActsAtOnce) {
  // cases.md 44
  Rig rig;
  auto open = with_qer(session(), {.id = {1}});
  auto closed = open;
  closed.qers[0].downlink_open = false;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(rig.go(open));
    rig.downlink(10);
    EXPECT_EQ(rig.machine->take_sent().size(), 1U);
    ASSERT_TRUE(rig.go(closed));
    rig.downlink(10);
    EXPECT_TRUE(rig.machine->take_sent().empty());
  }
  const std::uint64_t calls = rig.machine->kernel.calls();
  ASSERT_TRUE(rig.go(closed));
  EXPECT_EQ(rig.machine->kernel.calls(), calls) << "an update that changes nothing";
}

TEST(Session, NegatedAddressesAreEmulated) {
  Rig rig;
  auto rules = session();
  rules.pdrs[0].filters = {
      {.flow = rules::FlowDescription{
           .source = {.prefix = Ipv4Prefix{{{192, 0, 2, 0}}, 24}, .negated = true}}}};
  ASSERT_TRUE(rig.go(rules));
  for (const auto first : std::vector<std::uint8_t>{1, 191, 193, 255}) {
    rig.uplink(udp(kUe, {{first, 0, 2, 1}}, 10));
  }
  EXPECT_EQ(rig.machine->take_n6().size(), 4U);
  rig.uplink(udp(kUe, kServer, 10));
  EXPECT_TRUE(rig.machine->take_n6().empty());
}

TEST(Session, TeidOfAnotherSessionIsRefused) {
  Rig rig;
  ASSERT_TRUE(rig.go(session()));
  rig.seid = {77};
  const auto rules = session();
  const auto applied = rig.apply(nullptr, &rules);
  ASSERT_FALSE(applied.has_value());
  EXPECT_EQ(applied.error().kind, Failure::Kind::Refused);
  EXPECT_EQ(applied.error().rule, dataplane::RuleId{kUp});
}

TEST(Session, CpFunctionPdrsAreAcceptedWithoutAKernelRule) {
  // cases.md 39
  Rig rig;
  auto rules = session();
  rules::Pdr from_cp = rules.pdrs[0];
  from_cp.id = {3};
  from_cp.source_interface = rules::Interface::CpFunction;
  from_cp.f_teid->teid = {0x33};
  rules::Pdr to_cp = rules.pdrs[0];
  to_cp.id = {4};
  to_cp.far = {3};
  to_cp.filters = {
      {.flow = rules::FlowDescription{.protocol = std::uint8_t{58},
                                      .source = {.prefix = *parse_ipv6_prefix("ff02::2/128")},
                                      .destination = {.assigned = true}}}};
  rules.pdrs.push_back(from_cp);
  rules.pdrs.push_back(to_cp);
  rules.fars.push_back({.id = {3},
                        .action = {.forward = true},
                        .forwarding = rules::Forwarding{
                            .destination = rules::Interface::CpFunction,
                            .outer_header = rules::OuterHeader{.teid = {1}, .peer = kServer}}});
  ASSERT_TRUE(rig.go(rules));
  EXPECT_EQ(rig.machine->kernel.pdrs(), 2U);
}

TEST(Session, ARefusedChangeLeavesTheOldRules) {
  // cases.md 47
  Rig rig;
  ASSERT_TRUE(rig.go(session()));
  auto bad = session();
  bad.fars[1].forwarding->outer_header->kind = rules::OuterHeader::Kind::GtpuUdpIpv6;
  const auto applied = rig.apply(&*rig.now, &bad);
  ASSERT_FALSE(applied.has_value());
  EXPECT_EQ(applied.error().kind, Failure::Kind::Unsupported);
  EXPECT_EQ(applied.error().rule, dataplane::RuleId{kToGnb});
  for (const std::string policy : {"0", "abc", "12x", "4294967296"}) {
    bad = session();
    bad.fars[0].forwarding->forwarding_policy = policy;
    EXPECT_FALSE(rig.apply(&*rig.now, &bad).has_value()) << policy;
  }
  rig.uplink(10);
  rig.downlink(10);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
  EXPECT_EQ(rig.machine->take_sent().size(), 1U);
}

// --- nothing in between ----------------------------------------------------------------------

/// A packet each way, before every single request of a change.
class Probing : public testing::Test {
 protected:
  void probe_each_request() {
    rig.machine->kernel.fail = [this](std::uint8_t, bool) {
      rig.uplink(10);
      rig.downlink(10);
      ++probes;
      return 0;
    };
  }
  Rig rig;
  std::size_t probes = 0;
};

TEST_F(Probing, NoPacketIsUnmatchedOrDoubleDuringUpdates) {
  auto a = with_urr(with_qer(session(), {.id = {1}, .qfi = 9}), {.id = {1}});
  auto b = a;
  b.qers[0].qfi = 10;
  b.pdrs[0].precedence = 10;
  b.pdrs[1].precedence = 20;
  b.fars[0].forwarding->forwarding_policy = "7";
  b.fars[1] = far_to_gnb(kGnb2, kGnb2Teid);
  b.urrs[0].notify_at = rules::VolumeLimit{.generation = 1, .total = 1U << 30U};
  auto c = b;
  c.fars[0].forwarding->forwarding_policy.clear();
  c.pdrs[1].qers.clear();
  c.pdrs[0].filters = {{.flow = rules::FlowDescription{.protocol = std::uint8_t{17}}}};
  ASSERT_TRUE(rig.go(a));
  probe_each_request();
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(rig.go(b));
    ASSERT_TRUE(rig.go(c));
    ASSERT_TRUE(rig.go(a));
  }
  EXPECT_GT(probes, 400U);
  EXPECT_EQ(rig.machine->take_n6().size(), probes);
  const auto sent = rig.machine->take_sent();
  EXPECT_EQ(sent.size(), probes);
  for (const SentDatagram& datagram : sent) {  // never the old peer with the new TEID
    const bool first = datagram.to.ip == IpAddress{kGnb} && teid_of(datagram) == kGnbTeid.value;
    const bool second = datagram.to.ip == IpAddress{kGnb2} && teid_of(datagram) == kGnb2Teid.value;
    EXPECT_TRUE(first || second);
  }
  rig.machine->kernel.fail = nullptr;
  const auto readings = rig.finish();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].octets, (rules::Volume{probes * 10, probes * 10}));
  EXPECT_EQ(readings[0].packets, (rules::Volume{probes, probes}));
  EXPECT_EQ(rig.rules_left(), 0U);
}

TEST_F(Probing, PrecedencesNeverRunOut) {
  // PDRs pushed in before the first one, again and again, until the gaps are used up several times.
  auto rules = session();
  ASSERT_TRUE(rig.go(rules));
  probe_each_request();
  for (std::uint32_t precedence = 254; precedence > 174; --precedence) {
    rules.pdrs[0].precedence = precedence;
    ASSERT_TRUE(rig.go(rules));
    rules.pdrs[1].precedence = precedence;
    ASSERT_TRUE(rig.go(rules));
  }
  EXPECT_EQ(rig.machine->take_n6().size(), probes);
  EXPECT_EQ(rig.machine->take_sent().size(), probes);
  EXPECT_EQ(rig.machine->kernel.pdrs(), 2U);
}

// --- undo ------------------------------------------------------------------------------------

/// Every single request of a change fails once; each time everything must be as before.
TEST(Undo, IsExactWhicheverRequestFails) {
  const auto before = with_urr(with_qer(session(), {.id = {1}, .qfi = 9}), {.id = {1}});
  auto after =
      with_urr(with_qer(before, {.id = {2}, .mbr = rules::BitRate{1000, 1000}}), {.id = {2}});
  after.fars[0].forwarding->forwarding_policy = "7";
  after.fars[1].action = {.buffer = true};
  after.pdrs[0].precedence = 1;
  bool succeeded = false;
  int nth = 0;
  for (; !succeeded; ++nth) {
    Rig rig;
    ASSERT_TRUE(rig.go(before));
    const std::size_t rules = rig.machine->kernel.rules();
    int countdown = nth;
    rig.machine->kernel.fail = [&](std::uint8_t, bool) { return countdown-- == 0 ? ENOMEM : 0; };
    const auto applied = rig.apply(&*rig.now, &after);
    rig.machine->kernel.fail = nullptr;
    succeeded = applied.has_value();
    if (!succeeded) {
      EXPECT_EQ(applied.error().kind, Failure::Kind::NoResources);
      EXPECT_TRUE(applied.error().rule.has_value());
      EXPECT_EQ(rig.rules_left(), rules) << "request " << nth;
      rig.uplink(10);
      rig.downlink(10);
      EXPECT_EQ(rig.machine->take_n6().size(), 1U) << "request " << nth;
      EXPECT_EQ(rig.machine->take_sent().size(), 1U) << "request " << nth;
      ASSERT_TRUE(rig.go(after)) << "request " << nth;
    }
    rig.now = after;
    EXPECT_EQ(rig.finish().size(), 2U);
    EXPECT_EQ(rig.rules_left(), 0U) << "request " << nth;
  }
  EXPECT_GE(nth, 7);
}

TEST(Undo, AFailedEstablishmentLeavesNothing) {
  // cases.md 17
  const auto rules = with_urr(with_qer(session(), {.id = {1}, .qfi = 9}), {.id = {1}});
  for (int nth = 0; nth < 6; ++nth) {
    Rig rig;
    int countdown = nth;
    rig.machine->kernel.fail = [&](std::uint8_t, bool) { return countdown-- == 0 ? EINVAL : 0; };
    EXPECT_FALSE(rig.apply(nullptr, &rules).has_value());
    rig.machine->kernel.fail = nullptr;
    EXPECT_EQ(rig.rules_left(), 0U);
    EXPECT_TRUE(rig.go(rules));
  }
}

// --- whoever follows a session ---------------------------------------------------------------

TEST(Watch, HearsOfEachRequestWithItsRuleItsResultAndItsTime) {
  Rig rig;
  std::vector<dataplane::Deed> heard;
  rig.plane->watch([&](const dataplane::Deed& deed) { heard.push_back(deed); });
  ASSERT_TRUE(rig.go(session()));
  EXPECT_EQ(heard.size(), rig.machine->kernel.rules());
  const std::regex done{R"(ADD_(PDR|FAR) #\d+: done, request \d of 4 in \d+ us)"};
  for (const dataplane::Deed& deed : heard) {
    EXPECT_TRUE(deed.kernel);
    EXPECT_EQ(deed.seid, rig.seid);
    EXPECT_TRUE(std::regex_match(deed.text, done)) << deed.text;
  }
  heard.clear();
  rig.machine->kernel.fail = [](std::uint8_t, bool) { return EINVAL; };
  auto rules = session();
  rules.pdrs[0].precedence = 1;
  ASSERT_FALSE(rig.apply(&*rig.now, &rules).has_value());
  ASSERT_FALSE(heard.empty());
  EXPECT_NE(heard[0].text.find(": Invalid argument, request 1 of "), std::string::npos)
      << heard[0].text;
  rig.machine->kernel.fail = nullptr;
  heard.clear();
  rig.plane->watch({});
  rules.pdrs[0].precedence = 2;
  ASSERT_TRUE(rig.go(rules));
  EXPECT_TRUE(heard.empty());
}

// --- QERs outlive their PDRs -----------------------------------------------------------------

constexpr std::uint8_t kDelPdr = 4, kDelQer = 6;
gtp5g::Settings holding() { return {.qer_hold = std::chrono::hours{1}}; }

rules::SessionRules with_rate() {
  return with_qer(session(), {.id = {1}, .mbr = rules::BitRate{1000, 1000}, .qfi = 9});
}

// Packets that met a PDR may still be using the policers of its QER, which the module frees at
// once.
TEST(Held, AQerStaysWhenItsPdrsGo) {
  Rig rig{holding()};
  ASSERT_TRUE(rig.go(with_rate()));
  auto other = with_rate();
  other.qers[0].mbr = rules::BitRate{2000, 2000};
  ASSERT_TRUE(rig.go(other));  // a QER for the one before
  (void)rig.finish();
  EXPECT_EQ(rig.machine->kernel.pdrs(), 0U);
  EXPECT_EQ(rig.rules_left(), 2U);
}

TEST(Held, AQerOfAChangeThatWasUndoneStaysAsWell) {
  Rig rig{holding()};
  ASSERT_TRUE(rig.go(session()));
  const std::size_t before = rig.machine->kernel.rules();
  constexpr std::uint8_t kAddPdr = 1;
  int pdrs = 0;
  rig.machine->kernel.fail = [&](std::uint8_t command, bool) {
    return command == kAddPdr && ++pdrs == 2 ? ENOMEM : 0;
  };
  const auto after = with_rate();
  EXPECT_FALSE(rig.apply(&*rig.now, &after).has_value());
  EXPECT_EQ(rig.machine->kernel.pdrs(), 2U);
  EXPECT_EQ(rig.rules_left(), before + 1);
}

TEST(Held, AWakeUpTakesSomeAndTheNextOneMore) {
  Rig rig;
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(rig.go(with_rate()));
    (void)rig.finish();
  }
  for (std::size_t before = rig.machine->kernel.rules(); before > 0;) {
    const std::size_t now = rig.rules_left();
    ASSERT_LT(now, before);
    most = std::max(most, before - now);
    before = now;
  }
  EXPECT_LT(most, 200U);
}

// Sessions of many QERs that end one after the other, and not a pause for a wake-up.
TEST(Held, TheyDontPileUp) {
  Rig rig;
  auto many = session();
  for (std::uint32_t id = 1; id <= 100; ++id) many = with_qer(many, {.id = {id}, .qfi = 9});
  std::size_t most = 0;
  for (int i = 0; i < 250; ++i) {
    ASSERT_TRUE(rig.go(many));
    (void)rig.finish();
    most = std::max(most, rig.machine->kernel.rules());
  }
  EXPECT_LT(most, 20'000U);
}

TEST(Held, WhatTheKernelRefusesIsTriedAgain) {
  Rig rig;
  ASSERT_TRUE(rig.go(with_rate()));
  (void)rig.finish();
  rig.machine->kernel.fail = [](std::uint8_t command, bool) {
    return command == kDelQer ? ENOMEM : 0;
  };
  EXPECT_EQ(rig.rules_left(), 1U);
  rig.machine->kernel.fail = nullptr;
  EXPECT_EQ(rig.rules_left(), 0U);
}

TEST(Held, AQerWaitsForAPdrThatTheKernelKept) {
  Rig rig;
  ASSERT_TRUE(rig.go(with_rate()));
  rig.machine->kernel.fail = [](std::uint8_t command, bool) {
    return command == kDelPdr ? ENOMEM : 0;
  };
  const auto plain = session();
  ASSERT_TRUE(rig.go(plain));
  EXPECT_EQ(rig.rules_left(), 7U);  // the old PDRs and their QER beside what is new
  rig.machine->kernel.fail = nullptr;
  auto other = plain;
  other.pdrs[0].precedence = 1;
  ASSERT_TRUE(rig.go(other));
  EXPECT_EQ(rig.rules_left(), 4U);
  EXPECT_EQ(rig.counter("gtp5g_held_back"), 0U);
}

/// Knows when its socket was closed, behind which no packet is under way.
class WatchedMachine : public Machine {
 public:
  void close_socket() override { closed = true; }
  bool closed = false;
};

TEST(Held, TheyGoAtTheEndBehindTheSocket) {
  const auto machine = std::make_shared<WatchedMachine>();
  auto settings = holding();
  settings.addresses = {kN3};
  auto plane = gtp5g::Plane::open(settings, host_of(machine));
  ASSERT_TRUE(plane) << plane.error();
  const auto rules = with_rate();
  auto other = rules;
  other.pdrs[0].f_teid->teid = {0x12};
  other.pdrs[0].ue_addresses[0].ipv4 = other.pdrs[1].ue_addresses[0].ipv4 = Ipv4{{10, 60, 0, 2}};
  ASSERT_TRUE((*plane)->apply({.seid = {1}, .after = &rules}));
  ASSERT_TRUE((*plane)->apply({.seid = {2}, .after = &other}));
  ASSERT_TRUE((*plane)->apply({.seid = {2}, .before = &other}));
  int qers = 0;
  machine->kernel.fail = [&](std::uint8_t command, bool) {
    EXPECT_EQ(machine->closed, command == kDelQer);
    qers += command == kDelQer;
    return 0;
  };
  plane->reset();
  EXPECT_EQ(qers, 2);
  EXPECT_EQ(machine->kernel.rules(), 0U);
}

// --- a kernel that hangs ---------------------------------------------------------------------

TEST(Hang, IsReportedAndNotMadeWorse) {
  // cases.md 45
  struct Shared {
    std::atomic<bool> stuck{true};
    std::atomic<int> calls{0};
  };
  const auto shared = std::make_shared<Shared>();  // the thread that hangs outlives the test
  Rig rig{{.call_timeout = std::chrono::milliseconds{50}}};
  ASSERT_TRUE(rig.go(session()));
  EXPECT_EQ(rig.plane->fault(), "");
  rig.machine->kernel.hang = [shared] {
    ++shared->calls;
    while (shared->stuck) std::this_thread::yield();
  };
  for (int i = 0; i < 3; ++i) {
    auto rules = session();
    rules.pdrs[0].precedence = 1;
    const auto applied = rig.apply(&*rig.now, &rules);
    ASSERT_FALSE(applied.has_value());
    EXPECT_EQ(applied.error().kind, Failure::Kind::Unavailable);
  }
  EXPECT_EQ(shared->calls, 1);
  EXPECT_NE(rig.plane->fault().find("the host needs a restart"), std::string::npos);
  rig.plane.reset();  // and the exit doesn't hang either
  shared->stuck = false;
}

}  // namespace
}  // namespace upf::standin

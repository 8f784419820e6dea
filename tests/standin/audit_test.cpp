// The audit: rules that change behind the plane's back are found and mended, strangers' rules go.
#include <gtest/gtest.h>

#include <algorithm>

#include "netlink/gtp5g/requests.hpp"
#include "netlink/gtp5g/rule_dump.hpp"
#include "tests/standin/fixtures.hpp"

namespace upf::standin {
namespace {

using dataplane::Drift;
using gtp5g::RuleName;

const gtp5g::Target kTarget{Kernel::kFamily, Kernel::kIfindex};
constexpr UrrId kUrr{5};
constexpr Seid kStranger{77};

/// A session with every kind of rule and most of what a rule can have.
rules::SessionRules rich() {
  auto rules = with_urr(with_qer(session(), {.id = {1},
                                             .mbr = rules::BitRate{100'000, 200'001},
                                             .gbr = rules::BitRate{5'000, 6'000},
                                             .qfi = 9}),
                        {.id = kUrr,
                         .notify_at = rules::VolumeLimit{1, 1'000},
                         .block_at = rules::VolumeLimit{2, {}, 5'000, 6'000}});
  rules::SdfFilter filter;
  filter.flow = rules::FlowDescription{.protocol = 17,
                                       .source = {.prefix = Ipv4Prefix{kServer, 32}},
                                       .destination = {.ports = {{2000, 2003}, {53, 53}}}};
  rules::SdfFilter other;
  other.flow = rules::FlowDescription{.source = {.prefix = Ipv4Prefix{{{192, 0, 2, 0}}, 24}}};
  rules.pdrs[1].filters = {filter, other};
  rules.fars[0].forwarding->forwarding_policy = "77";
  rules.fars[1].forwarding->transport_level_marking = rules::MaskedOctet{0xb8, 0xfc};
  return rules;
}

class AuditRig : public Rig {
 public:
  explicit AuditRig(gtp5g::Settings settings = {.qer_hold = {}}) : Rig(std::move(settings)) {
    machine->kernel.on_trap = [](const std::string&) {};  // the module survives what is done here
  }
  [[nodiscard]] std::vector<RuleName> names() const {
    gtp5g::RuleDump dump{*host_of(machine)->open_requests(), Kernel::kFamily};
    std::vector<RuleName> all;
    while (!dump.done() && dump.read(all)) {
    }
    return all;
  }
  /// Behind the plane's back.
  void run(const gtp5g::Op& op, Seid of) {
    (void)machine->kernel.run(gtp5g::to_request(kTarget, of, op).bytes());
  }
  void remove(const RuleName& name) {
    switch (name.kind) {
      case RuleName::Kind::Pdr:
        return run(gtp5g::DeletePdr{static_cast<std::uint16_t>(name.id)}, name.seid);
      case RuleName::Kind::Far:
        return run(gtp5g::DeleteFar{name.id}, name.seid);
      case RuleName::Kind::Qer:
        return run(gtp5g::DeleteQer{name.id}, name.seid);
      case RuleName::Kind::Urr:
        return run(gtp5g::DeleteUrr{name.id, {}}, name.seid);
    }
  }
  dataplane::Audited audit(bool repair) { return plane->audit(seid, *now, repair).value(); }
  dataplane::Audited strays(bool repair) {
    dataplane::Audited all;
    for (;;) {
      auto part = plane->audit_strays([&](Seid one) { return one == seid; }, repair).value();
      std::ranges::move(part.found.drifts, std::back_inserter(all.drifts));
      all.rules += part.found.rules;
      if (part.done) return all;
    }
  }
};

TEST(Audit, FindsNothingWhereNothingIsWrong) {
  AuditRig rig;
  ASSERT_TRUE(rig.go(rich()));
  rig.uplink(100);
  rig.downlink(100);
  const auto found = rig.audit(false);
  EXPECT_EQ(found.rules, rig.machine->kernel.rules());
  for (const Drift& drift : found.drifts) ADD_FAILURE() << drift.what;
  const auto strays = rig.strays(true);
  EXPECT_EQ(strays.rules, rig.machine->kernel.rules());
  EXPECT_TRUE(strays.drifts.empty());
}

TEST(Audit, ReportsWhatIsMissingAndMendsItWhenAsked) {
  // One of each kind at a time, whichever of them it is.
  const std::size_t count = [] {
    AuditRig rig;
    EXPECT_TRUE(rig.go(rich()));
    return rig.names().size();
  }();
  ASSERT_GT(count, 8U);
  for (std::size_t i = 0; i < count; ++i) {
    AuditRig rig;
    ASSERT_TRUE(rig.go(rich()));
    rig.remove(rig.names().at(i));
    ASSERT_EQ(rig.machine->kernel.rules(), count - 1);
    const auto found = rig.audit(false);
    ASSERT_EQ(found.drifts.size(), 1U) << i;
    EXPECT_EQ(found.drifts[0].kind, Drift::Kind::Missing);
    EXPECT_EQ(found.drifts[0].seid, rig.seid);
    EXPECT_FALSE(found.drifts[0].repaired);
    EXPECT_EQ(rig.machine->kernel.rules(), count - 1) << "without repair nothing is touched";

    EXPECT_TRUE(rig.audit(true).drifts.at(0).repaired);
    EXPECT_TRUE(rig.audit(false).drifts.empty()) << i;
    EXPECT_TRUE(rig.strays(false).drifts.empty()) << i;
    EXPECT_EQ(rig.machine->kernel.rules(), count) << i;
    (void)rig.machine->take_sent();
    (void)rig.machine->take_n6();
    rig.uplink(udp(kUe, kServer, 10, 2000, 1000));
    rig.downlink(10);
    EXPECT_EQ(rig.machine->take_n6().size(), 1U) << i;
    EXPECT_EQ(rig.machine->take_sent().size(), 1U) << i;
    (void)rig.finish();
    EXPECT_EQ(rig.rules_left(), 0U) << i;
  }
}

TEST(Audit, SeesWhatWasChangedAndWhatItWasChangedTo) {
  AuditRig rig;
  ASSERT_TRUE(rig.go(session()));
  for (const RuleName& name : rig.names()) {
    if (name.kind != RuleName::Kind::Far) continue;
    rig.run(gtp5g::UpdateFar{name.id, {.action = gtp5g::action::kDrop}, false}, rig.seid);
  }
  rig.uplink(10);
  EXPECT_TRUE(rig.machine->take_n6().empty());
  const auto found = rig.audit(true);
  ASSERT_EQ(found.drifts.size(), 2U);
  EXPECT_EQ(found.drifts[0].kind, Drift::Kind::Different);
  EXPECT_NE(found.drifts[0].what.find("FAR 1"), std::string::npos) << found.drifts[0].what;
  EXPECT_NE(found.drifts[0].what.find("lacks attribute 4 = 02"), std::string::npos)
      << found.drifts[0].what;
  EXPECT_TRUE(rig.audit(false).drifts.empty());
  rig.uplink(10);
  EXPECT_EQ(rig.machine->take_n6().size(), 1U);
}

TEST(Audit, RemovesRulesOfNobodyAndLeavesThoseOfAnotherLink) {
  AuditRig rig;
  ASSERT_TRUE(rig.go(session()));
  const std::size_t ours = rig.machine->kernel.rules();
  for (const Seid seid : {kStranger, rig.seid}) {  // a session of nobody, and one of ours
    rig.run(gtp5g::CreateFar{900, {.action = gtp5g::action::kDrop}}, seid);
    rig.run(gtp5g::CreateQer{901, {.qfi = 3}}, seid);
    rig.run(gtp5g::CreateUrr{902, gtp5g::UrrKey::Role::Meter, {}}, seid);
    rig.run(gtp5g::CreatePdr{.id = 903,
                             .precedence = 1,
                             .body = {.uplink = true, .teid = Teid{0x99}, .removal = true},
                             .far = 900,
                             .qers = {901},
                             .urrs = {902}},
            seid);
  }
  rig.machine->kernel.dump_of_another_link(kStranger.value, 904);
  ASSERT_EQ(rig.machine->kernel.rules(), ours + 8);
  auto found = rig.strays(false);
  EXPECT_EQ(found.drifts.size(), 8U);
  for (const Drift& drift : found.drifts) {
    EXPECT_EQ(drift.kind, Drift::Kind::Foreign);
    EXPECT_EQ(drift.what.find("904"), std::string::npos);
  }
  EXPECT_EQ(rig.machine->kernel.rules(), ours + 8);
  found = rig.strays(true);
  EXPECT_EQ(found.drifts.size(), 8U);
  for (const Drift& drift : found.drifts) EXPECT_TRUE(drift.repaired) << drift.what;
  EXPECT_EQ(rig.rules_left(), ours);
  EXPECT_TRUE(rig.audit(false).drifts.empty());
}

TEST(Audit, AQerThatIsHeldBelongsToUs) {
  AuditRig rig{{.qer_hold = std::chrono::hours{1}}};
  ASSERT_TRUE(rig.go(rich()));
  ASSERT_TRUE(rig.go(session()));
  EXPECT_EQ(rig.machine->kernel.rules(), 5U);
  EXPECT_TRUE(rig.audit(true).drifts.empty());
  EXPECT_TRUE(rig.strays(true).drifts.empty());
  (void)rig.finish();
  EXPECT_TRUE(rig.strays(true).drifts.empty());
  EXPECT_EQ(rig.rules_left(), 1U);
}

TEST(Audit, AStrayQuotaGoesBeforeItsPdrs) {
  AuditRig rig;
  rig.run(gtp5g::CreateFar{900, {.action = gtp5g::action::kDrop}}, kStranger);
  rig.run(gtp5g::CreateUrr{902, gtp5g::UrrKey::Role::Quota, {.limit = {1, 1000}}}, kStranger);
  rig.run(gtp5g::CreatePdr{.id = 903,
                           .precedence = 1,
                           .body = {.uplink = true, .teid = Teid{0x99}, .removal = true},
                           .far = 900,
                           .urrs = {902}},
          kStranger);
  constexpr std::uint8_t kDelPdr = 4, kDelUrr = 12;
  std::vector<std::uint8_t> deletions;
  rig.machine->kernel.fail = [&](std::uint8_t command, bool) {
    if (command == kDelPdr || command == kDelUrr) deletions.push_back(command);
    return 0;
  };
  const auto found = rig.strays(true);
  EXPECT_EQ(found.drifts.size(), 3U);
  for (const Drift& drift : found.drifts) EXPECT_TRUE(drift.repaired) << drift.what;
  EXPECT_EQ(rig.rules_left(), 0U);
  EXPECT_EQ(deletions, (std::vector{kDelUrr, kDelPdr}));
}

// Its session is gone by then: the number must not look like one of ours for ever.
TEST(Audit, AQerThatAPdrKeptWhenItsSessionEndedGoesWithThatPdr) {
  AuditRig rig;
  ASSERT_TRUE(rig.go(with_qer(session(), {.id = {1}, .qfi = 9})));
  constexpr std::uint8_t kDelPdr = 4;
  rig.machine->kernel.fail = [](std::uint8_t command, bool) {
    return command == kDelPdr ? ENOMEM : 0;
  };
  (void)rig.finish();
  rig.machine->kernel.fail = nullptr;
  EXPECT_GT(rig.rules_left(), 0U);
  for (const Drift& drift : rig.strays(true).drifts) EXPECT_TRUE(drift.repaired) << drift.what;
  EXPECT_EQ(rig.rules_left(), 0U);
}

// The PDR of a stray was met by packets a moment ago, as any.
TEST(Audit, AStrayQerGoesLaterThanItsPdr) {
  AuditRig rig{{.qer_hold = std::chrono::hours{1}}};
  rig.run(gtp5g::CreateQer{901, {.qfi = 3}}, kStranger);
  EXPECT_EQ(rig.strays(true).drifts.size(), 1U);
  EXPECT_TRUE(rig.strays(true).drifts.empty());
  EXPECT_EQ(rig.rules_left(), 1U);
}

TEST(Audit, AUsedUpQuotaIsNoDriftAndAMendedOneGoesOnWhereItWas) {
  AuditRig rig;
  auto rules = with_urr(session(), {.id = kUrr, .block_at = rules::VolumeLimit{1, 100}});
  ASSERT_TRUE(rig.go(rules));
  rig.uplink(60);
  std::set<RuleName> urrs;
  for (const RuleName& name : rig.names()) {
    if (name.kind == RuleName::Kind::Urr) urrs.insert(name);
  }
  ASSERT_EQ(urrs.size(), 2U);  // the meter, then the quota
  rig.remove(*urrs.rbegin());
  EXPECT_TRUE(rig.audit(true).drifts.at(0).repaired);
  rig.uplink(39);
  EXPECT_TRUE(rig.events<dataplane::LimitReached>().empty());
  EXPECT_TRUE(rig.audit(false).drifts.empty());
  rig.uplink(1);
  // The kernel has closed the FARs; that it said so is not read yet.
  EXPECT_TRUE(rig.audit(true).drifts.empty());
  const auto events = rig.events<dataplane::LimitReached>();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].reading.octets.total(), 100U);
  (void)rig.machine->take_n6();
  rig.uplink(10);
  EXPECT_TRUE(rig.machine->take_n6().empty());
  EXPECT_TRUE(rig.audit(false).drifts.empty());
}

TEST(Audit, SessionsThatOneSideAloneKnowsAreMadeOrEnded) {
  AuditRig rig;
  const auto rules = session();
  auto lost = rig.plane->audit(rig.seid, rules, false);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->drifts.at(0).kind, Drift::Kind::Missing);
  EXPECT_EQ(rig.machine->kernel.rules(), 0U);
  lost = rig.plane->audit(rig.seid, rules, true);
  EXPECT_TRUE(lost->drifts.at(0).repaired);
  EXPECT_EQ(rig.machine->kernel.rules(), 4U);
  rig.now = rules;
  EXPECT_TRUE(rig.audit(false).drifts.empty());
  const auto none = [](Seid) { return false; };
  auto strays = rig.plane->audit_strays(none, true);
  while (strays && !strays->done) strays = rig.plane->audit_strays(none, true);
  EXPECT_EQ(strays->found.drifts.at(0).kind, Drift::Kind::Foreign);
  EXPECT_EQ(rig.machine->kernel.rules(), 0U);
}

TEST(Audit, AKernelThatRefusesTheRepairLeavesItForTheNextTime) {
  AuditRig rig;
  ASSERT_TRUE(rig.go(session()));
  rig.remove(rig.names().at(0));
  rig.machine->kernel.fail = [](std::uint8_t command, bool) { return command == 1 ? ENOMEM : 0; };
  EXPECT_FALSE(rig.audit(true).drifts.at(0).repaired);
  rig.machine->kernel.fail = nullptr;
  EXPECT_TRUE(rig.audit(true).drifts.at(0).repaired);
  EXPECT_TRUE(rig.audit(false).drifts.empty());
}

}  // namespace
}  // namespace upf::standin

#include <random>

#include "unit/usage/support.hpp"

// However traffic, the clock, requests and refusals are mixed: what all reports say together is
// what was sent, in each direction, for each URR; UR-SEQN has no gaps (checked in keep()); and the
// clock never asks for the past for ever.

namespace upf::usage::test {
namespace {

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}
  bool one_in(int n) { return number(1, n) == 1; }
  std::uint32_t number(int from, int to) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<int>{from, to}(engine_));
  }
  rules::VolumeAmount amount() {
    rules::VolumeAmount value{};
    if (one_in(2)) value.total = number(0, 5000);
    if (one_in(3)) value.uplink = number(1, 5000);
    if (one_in(3)) value.downlink = number(1, 5000);
    return value;
  }
  rules::UsageRule rule(UrrId id, WallTime now) {
    rules::UsageRule rule{.id = id, .measure_duration = one_in(2), .measure_volume = true};
    rule.triggers = {one_in(2), one_in(2), one_in(2), one_in(3), one_in(4), one_in(4),
                     false,     one_in(3), one_in(2), one_in(2), one_in(3)};
    if (one_in(2)) rule.period = number(0, 20);
    if (one_in(2)) rule.volume_threshold = amount();
    if (one_in(3)) rule.volume_quota = amount();
    if (one_in(2)) rule.time_threshold = number(0, 30);
    if (one_in(4)) rule.time_quota = number(0, 60);
    if (one_in(3)) rule.quota_holding_time = number(0, 30);
    if (one_in(3)) rule.quota_validity_time = number(0, 60);
    if (one_in(3)) rule.inactivity_detection_time = number(0, 10);
    if (one_in(3)) rule.monitoring_time = now + seconds{number(0, 60)};
    if (one_in(3)) rule.subsequent_volume_threshold = amount();
    if (one_in(3)) rule.subsequent_volume_quota = amount();
    if (one_in(3)) rule.linked = {UrrId{number(1, 4)}};
    if (one_in(5)) rule.quota_action = FarId{3};
    rule.immediate_start = one_in(4);
    return rule;
  }
  rules::UsageGrant grant() {
    return {false,     one_in(2), one_in(2), one_in(2), one_in(2), one_in(2),
            one_in(2), one_in(2), one_in(2), one_in(2), false,     one_in(2)};
  }

 private:
  std::mt19937 engine_;
};

class Accounting : public EngineTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  [[nodiscard]] std::vector<UrrId> existing() const {
    std::vector<UrrId> ids;
    for (const auto& urr : alive_) ids.push_back(urr);
    return ids;
  }
  void one_request(Chance& chance) {
    const UrrId id{chance.number(1, 4)};
    if (chance.one_in(8)) plane_.fail_next(dataplane::Failure::Kind::NoResources);
    const std::size_t refused = refused_;
    const auto rules_before = rules_;
    if (!alive_.contains(id)) {
      create({chance.rule(id, now_.wall)});
      if (refused == refused_) begin(id);
    } else if (chance.one_in(6)) {
      remove(id);
      if (refused == refused_) finish(id);
    } else if (chance.one_in(8)) {
      replace(chance, id);
    } else if (chance.one_in(3)) {
      query(id);
    } else if (chance.one_in(6)) {
      apply({.inactivity_timer = chance.number(0, 20)});
    } else {
      update(chance.rule(id, now_.wall), chance.grant());
    }
    if (refused != refused_) rules_ = rules_before;
    plane_.fail_call(1'000'000, {});
  }
  /// Removed and created in one message: the final report is the old one's.
  void replace(Chance& chance, UrrId id) {
    const std::size_t refused = refused_;
    apply({.updates = {{.rule = chance.rule(id, now_.wall), .grant = {.created = true}}},
           .removed = {id}});
    if (refused != refused_) return;
    finish(id);
    begin(id);
  }
  void begin(UrrId id) {
    alive_.insert(id);
    begun_at_[id] = sent_;
    reported_[id] = {};
    next_sequence_[id] = 0;
  }
  void finish(UrrId id) {
    alive_.erase(id);
    EXPECT_EQ(reported_[id].uplink, sent_.uplink - begun_at_[id].uplink) << "URR " << id.value;
    EXPECT_EQ(reported_[id].downlink, sent_.downlink - begun_at_[id].downlink)
        << "URR " << id.value;
    next_sequence_.erase(id);
  }

  std::set<UrrId> alive_{};
  std::map<UrrId, rules::Volume> begun_at_{};
};

TEST_P(Accounting, TheSumOfAllReportsIsWhatWasCounted) {
  Chance chance{GetParam()};
  apply({});
  for (int step = 0; step < 400 && !HasFailure(); ++step) {
    if (chance.one_in(4)) {
      one_request(chance);
    } else if (chance.one_in(30)) {
      const auto octets = chance.number(1, 1500);
      if (plane_.offer(kSeid, kUl, octets) == contract::Fate::Forwarded) sent_.uplink += octets;
      lose_events();
      settle(engine_.on_overrun(now_, reader_));
    } else if (chance.one_in(3)) {
      advance(milliseconds{chance.number(0, 15000)});
    } else {
      send(chance.one_in(2) ? kUl : kDl, chance.number(1, 1500));
    }
  }
  end();
  for (const UrrId id : existing()) finish(id);
  EXPECT_FALSE(engine_.wake_at());
  EXPECT_EQ(engine_.urr_count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Accounting, testing::Range(1U, 200U));

}  // namespace
}  // namespace upf::usage::test

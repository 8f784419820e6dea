#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "contract/fake_plane.hpp"
#include "upf/usage/engine.hpp"

/// One session on the fake plane under the engine, driven as control drives them.
namespace upf::usage::test {

inline constexpr Seid kSeid{0x99};
inline constexpr PdrId kUl{1};
inline constexpr PdrId kDl{2};
inline constexpr UrrId kUrr{1};

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Volume measurement; the rest is the test's.
inline rules::UsageRule volume_rule(UrrId id = kUrr) { return {.id = id, .measure_volume = true}; }

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    rules_.fars = {{.id = FarId{1}, .action = {.forward = true}},
                   {.id = FarId{2}, .action = {.forward = true}},
                   {.id = FarId{3}, .action = {.drop = true}}};
    rules_.fars[0].forwarding = rules::Forwarding{.destination = rules::Interface::Core};
    rules_.fars[1].forwarding = rules::Forwarding{.destination = rules::Interface::Core};
    rules_.pdrs = {{.id = kUl, .source_interface = rules::Interface::Access, .far = FarId{1}},
                   {.id = kDl, .source_interface = rules::Interface::Core, .far = FarId{2}}};
    plane_.set_time(now_.wall);
  }

  /// A request; the plane takes it. What is in `rules_` is what the session has after it.
  std::vector<Report> apply(const rules::UsageChange& change, std::vector<UrrId> query = {}) {
    auto prepared = engine_.prepare(kSeid, change, now_, reader_);
    rules::SessionRules after = rules_;
    prepared.arm(after);
    const rules::SessionRules* before = installed_ ? &*installed_ : nullptr;
    const auto applied = plane_.apply({.seid = kSeid,
                                       .before = before,
                                       .after = change.ends ? nullptr : &after,
                                       .query = std::move(query)});
    if (!applied) {
      ++refused_;
      return {};
    }
    installed_ = change.ends ? std::nullopt : std::optional{after};
    auto reports = engine_.commit(std::move(prepared), applied->readings, now_);
    keep(reports);
    return reports;
  }
  std::vector<Report> create(const std::vector<rules::UsageRule>& urrs) {
    rules::UsageChange change{};
    for (const auto& urr : urrs) {
      change.updates.push_back({.rule = urr, .grant = {.created = true}});
      for (auto& pdr : rules_.pdrs) pdr.urrs.push_back(urr.id);
    }
    return apply(change);
  }
  std::vector<Report> update(const rules::UsageRule& urr, rules::UsageGrant grant) {
    return apply({.updates = {{.rule = urr, .grant = grant}}});
  }
  std::vector<Report> remove(UrrId id) {
    for (auto& pdr : rules_.pdrs) std::erase(pdr.urrs, id);
    return apply({.removed = {id}});
  }
  std::vector<Report> query(UrrId id, std::optional<std::uint32_t> reference = {}) {
    return apply({.queried = {id}, .query_reference = reference}, {id});
  }
  std::vector<Report> end() { return apply({.ends = true}); }

  /// One packet, and what comes of it.
  contract::Fate send(PdrId pdr, std::uint64_t octets) {
    plane_.set_time(now_.wall);
    const auto fate = plane_.offer(kSeid, pdr, octets);
    if (fate == contract::Fate::Forwarded) {
      (pdr == kUl ? sent_.uplink : sent_.downlink) += octets;
    }
    pump();
    return fate;
  }
  /// Events that the plane has raised, as control passes them on.
  void pump() {
    for (const auto& event : plane_.take_events()) {
      if (const auto* limit = std::get_if<dataplane::LimitReached>(&event)) {
        settle(engine_.on_limit(*limit, now_, reader_));
      } else if (const auto* start = std::get_if<dataplane::TrafficStart>(&event)) {
        settle(engine_.on_start(*start, now_, reader_));
      }
    }
  }
  /// What the plane has raised is lost, as on an overrun. A real plane reads a counter when it
  /// passes the event on, so what the fake has read for it is read again.
  void lose_events() {
    for (const auto& event : plane_.take_events()) {
      if (const auto* limit = std::get_if<dataplane::LimitReached>(&event)) {
        unread_.push_back(limit->reading);
      }
    }
  }
  void advance(Clock::duration by) {
    const TimePoint until = now_.steady + by;
    while (true) {
      const auto wake = engine_.wake_at();
      if (!wake || *wake > until) break;
      move_to(std::max(*wake, now_.steady));
      settle(engine_.on_timer(now_, reader_));
      pump();
    }
    move_to(until);
  }
  void move_to(TimePoint at) {
    now_.wall += std::chrono::duration_cast<WallTime::duration>(at - now_.steady);
    now_.steady = at;
  }
  void settle(const Outcome& outcome) {
    for (const auto& session : outcome.reports) {
      EXPECT_EQ(session.seid, kSeid);
      keep(session.reports);
    }
    inactive_ += outcome.inactive.size();
    for (const Seid seid : outcome.rearmed) {
      rules::SessionRules after = rules_;
      engine_.arm(seid, after);
      ASSERT_TRUE(plane_.apply({.seid = seid, .before = &*installed_, .after = &after}));
      installed_ = after;
    }
  }
  void keep(const std::vector<Report>& reports) {
    for (const auto& report : reports) {
      EXPECT_EQ(report.sequence, next_sequence_[report.urr]++) << "UR-SEQN";
      reported_[report.urr].uplink += report.octets.uplink;
      reported_[report.urr].downlink += report.octets.downlink;
      log_.push_back(report);
    }
  }
  /// The reports since the last call.
  std::vector<Report> news() { return std::exchange(log_, {}); }
  std::vector<Trigger> triggers() {
    std::vector<Trigger> list;
    for (const auto& report : news()) list.push_back(report.trigger);
    return list;
  }

  Now now_{.steady = TimePoint{seconds{1000}}, .wall = WallTime{seconds{1'800'000'000}}};
  contract::FakePlane plane_{};
  Engine engine_{};
  Reader reader_ = [this](Seid seid, std::span<const UrrId> urrs) {
    auto readings = plane_.read_usage(seid, urrs);
    if (!readings) return std::vector<dataplane::Reading>{};
    const auto wanted = [&](const dataplane::Reading& r) {
      return std::ranges::find(urrs, r.urr) != urrs.end();
    };
    std::ranges::copy_if(unread_, std::back_inserter(*readings), wanted);
    std::erase_if(unread_, wanted);
    return *readings;
  };
  std::vector<dataplane::Reading> unread_{};
  rules::SessionRules rules_{};
  std::optional<rules::SessionRules> installed_{};
  rules::Volume sent_{};
  std::map<UrrId, rules::Volume> reported_{};
  std::map<UrrId, std::uint32_t> next_sequence_{};
  std::vector<Report> log_{};
  std::size_t inactive_{};
  std::size_t refused_{};
};

}  // namespace upf::usage::test

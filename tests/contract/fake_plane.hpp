#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "upf/base/assert.hpp"
#include "upf/dataplane/data_plane.hpp"

/// The data plane as a value: what is installed is in open maps, and what packets would do is one
/// call (offer). It behaves as a real plane does, tests/contract holds it to that, so that the code
/// above the port is tested on behaviour and not on lists of calls.
///
/// Seams: fail_call() makes the n-th apply() from now fail; can is the test's to edit;
/// raise() queues any event; lose() forgets a session as a crashed kernel module would.
///
/// It aborts (UPF_ASSERT) on what the control half must never do: a `before` that is not what is
/// installed, vectors that are not sorted by ID, references that don't resolve.
namespace upf::contract {

enum class Direction : std::uint8_t { Uplink, Downlink };

/// What became of a packet that met a PDR.
enum class Fate : std::uint8_t { Forwarded, Buffered, Dropped, NoRule };

class FakePlane : public dataplane::DataPlane {
 public:
  FakePlane() {
    can = {.name = "fake",
           .ipv6 = true,
           .outer_ipv6 = true,
           .buffering = true,
           .end_marker = true,
           .framed_routing = true,
           .quota_action = true,
           .cp_function = true};
  }

  // --- the port -----------------------------------------------------------------------------
  [[nodiscard]] const dataplane::Capabilities& capabilities() const override { return can; }

  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change) override {
    ++applies_;
    check(change);
    if (failure_ && countdown_-- == 0) return failure(*std::exchange(failure_, std::nullopt));
    if (change.after != nullptr) {
      if (auto clash = teid_clash(change); clash) return failure(*clash);
    }
    dataplane::Applied applied{take_for(change)};
    commit(change);
    return applied;
  }

  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) override {
    const auto at = sessions_.find(seid);
    if (at == sessions_.end()) {
      return failure(dataplane::Failure{dataplane::Failure::Kind::Refused, {}, "no such session"});
    }
    std::vector<dataplane::Reading> readings;
    for (auto& [id, meter] : at->second.meters) {
      if (urrs.empty() || std::ranges::find(urrs, id) != urrs.end()) {
        readings.push_back(take(id, meter));
      }
    }
    return readings;
  }

  [[nodiscard]] int event_descriptor() const override { return -1; }
  [[nodiscard]] std::vector<dataplane::Event> take_events() override {
    return std::exchange(events_, {});
  }
  [[nodiscard]] std::vector<dataplane::Counter> counters() const override {
    return {{"fake_applies", {}, applies_}};
  }
  [[nodiscard]] std::vector<dataplane::Path> paths() const override { return known_paths; }
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const override {
    const auto at = sessions_.find(seid);
    if (at == sessions_.end()) return std::nullopt;
    dataplane::Inspection found;
    for (const auto& pdr : at->second.rules.pdrs) found.rules.push_back({pdr.id, "there"});
    for (const auto& far : at->second.rules.fars) found.rules.push_back({far.id, "there"});
    for (const auto& qer : at->second.rules.qers) found.rules.push_back({qer.id, "there"});
    for (const auto& urr : at->second.rules.urrs) found.rules.push_back({urr.id, "there"});
    for (const auto& [id, meter] : at->second.meters) {
      found.counted.push_back({.urr = id, .octets = meter.octets});
    }
    for (const auto& [id, buffer] : at->second.buffers) {
      found.waiting_packets += buffer.packets.size();
    }
    return found;
  }
  [[nodiscard]] std::string fault() const override { return wrong; }
  void watch(const dataplane::Watcher& watcher) override { watcher_ = watcher; }
  [[nodiscard]] Result<void, std::string> add_network(const IpPrefix& network) override {
    if (!no_network.empty()) return failure(no_network);
    networks.push_back(network);
    return {};
  }

  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair) override {
    if (failure_ && countdown_-- == 0) return failure(*std::exchange(failure_, std::nullopt));
    using dataplane::Drift;
    const auto at = sessions_.find(seid);
    if (at != sessions_.end() && at->second.rules == intended)
      return dataplane::Audited{.rules = 1};
    const auto kind = at == sessions_.end() ? Drift::Kind::Missing : Drift::Kind::Different;
    if (repair) {
      sessions_.erase(seid);
      commit({.seid = seid, .after = &intended});
    }
    return dataplane::Audited{1, {{kind, seid, "the session", repair}}};
  }
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair) override {
    dataplane::Strays strays{.done = true};
    for (const Seid seid : seids()) {
      if (known(seid)) continue;
      if (repair) sessions_.erase(seid);
      strays.found.drifts.push_back({dataplane::Drift::Kind::Foreign, seid, "the session", repair});
    }
    return strays;
  }

  // --- seams --------------------------------------------------------------------------------
  /// The apply() after `successes` more of them fails, once, and changes nothing.
  void fail_call(std::size_t successes, dataplane::Failure with) {
    countdown_ = successes;
    failure_ = std::move(with);
  }
  void fail_next(dataplane::Failure::Kind kind, std::optional<dataplane::RuleId> rule = {}) {
    fail_call(0, {kind, rule, "the test says so"});
  }
  void lose(Seid seid) { sessions_.erase(seid); }
  /// Loses a PDR, as if it had been deleted behind the plane's back.
  void lose_pdr(Seid seid, PdrId pdr) {
    std::erase_if(sessions_.at(seid).rules.pdrs, [&](const auto& p) { return p.id == pdr; });
  }
  void raise(dataplane::Event event) { events_.push_back(std::move(event)); }
  /// What packets' time stamps say.
  void set_time(WallTime now) { now_ = now; }
  dataplane::Capabilities can{};
  std::vector<dataplane::Path> known_paths{};
  std::vector<IpPrefix> networks{};  ///< added in life
  std::string no_network{};          ///< why none can be added
  std::string wrong{};               ///< what fault() says
  [[nodiscard]] bool watched() const { return static_cast<bool>(watcher_); }

  // --- what is installed --------------------------------------------------------------------
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
  [[nodiscard]] const rules::SessionRules* rules_of(Seid seid) const {
    const auto at = sessions_.find(seid);
    return at == sessions_.end() ? nullptr : &at->second.rules;
  }
  [[nodiscard]] std::vector<Seid> seids() const {
    std::vector<Seid> all;
    for (const auto& [seid, session] : sessions_) all.push_back(seid);
    return all;
  }
  [[nodiscard]] std::uint64_t applies() const { return applies_; }
  [[nodiscard]] std::size_t buffered(Seid seid, FarId far) const {
    const auto at = sessions_.find(seid);
    if (at == sessions_.end()) return 0;
    const auto buffer = at->second.buffers.find(far);
    return buffer == at->second.buffers.end() ? 0 : buffer->second.packets.size();
  }
  /// End Markers sent since start: the tunnel each went to.
  [[nodiscard]] const std::vector<rules::OuterHeader>& end_markers() const { return end_markers_; }
  /// Names of packets that left buffers to be sent, in order, since the last call.
  [[nodiscard]] std::vector<std::uint64_t> take_released() { return std::exchange(released_, {}); }
  /// Packets that left buffers by being sent, since start.
  [[nodiscard]] std::size_t flushed() const { return flushed_; }

  // --- packets ------------------------------------------------------------------------------
  /// One T-PDU of so many octets meets this PDR. The name is the test's, for take_released().
  Fate offer(Seid seid, PdrId pdr_id, std::uint64_t octets,
             std::optional<std::uint8_t> dscp = std::nullopt, std::uint64_t name = 0) {
    const auto at = sessions_.find(seid);
    if (at == sessions_.end()) return Fate::NoRule;
    Session& session = at->second;
    const rules::Pdr* pdr = rules::find(session.rules.pdrs, pdr_id);
    if (pdr == nullptr) return Fate::NoRule;
    const Direction direction = direction_of(*pdr);
    const rules::Far* far = rules::find(session.rules.fars, pdr->far);
    if (far->action.drop || !gates_open(session, *pdr, direction) || blocked(session, *pdr)) {
      return drop(seid, session, *pdr, direction, octets);
    }
    if (far->action.buffer) return hold(seid, session, *pdr, *far, dscp, name);
    if (!has_way_out(*far)) return drop(seid, session, *pdr, direction, octets);
    count(seid, session, *pdr, direction, octets);
    return Fate::Forwarded;
  }

 private:
  struct Limit {
    std::uint32_t generation{};
    rules::Volume base{};
    bool reached{};
  };
  struct Drops {
    std::uint32_t generation{};
    std::uint64_t packets{};  ///< since arming
    std::uint64_t octets{};
    bool reached{};
  };
  struct Meter {
    rules::Volume octets{};   ///< since the beginning
    rules::Volume packets{};  ///< since it was last read, like the rest
    rules::Volume taken{};
    std::optional<WallTime> first{};
    std::optional<WallTime> last{};
    std::optional<Limit> notify{};
    std::optional<Limit> block{};
    std::optional<Drops> drops{};
    std::uint64_t dropped_packets{};  ///< since it was last read
    std::uint64_t dropped_octets{};
    std::optional<std::uint32_t> started{};  ///< generation whose TrafficStart was said
  };
  struct Buffer {
    std::vector<std::uint64_t> packets{};
    bool notified{};
  };
  struct Session {
    rules::SessionRules rules{};
    std::map<UrrId, Meter> meters{};
    std::map<FarId, Buffer> buffers{};
  };

  static Direction direction_of(const rules::Pdr& pdr) {
    return pdr.source_interface == rules::Interface::Access ? Direction::Uplink
                                                            : Direction::Downlink;
  }
  static std::uint64_t& part(rules::Volume& volume, Direction direction) {
    return direction == Direction::Uplink ? volume.uplink : volume.downlink;
  }
  static bool has_way_out(const rules::Far& far) {
    return far.action.forward && far.forwarding &&
           (far.forwarding->outer_header ||
            far.forwarding->destination != rules::Interface::Access);
  }

  static bool gates_open(const Session& session, const rules::Pdr& pdr, Direction direction) {
    return std::ranges::all_of(pdr.qers, [&](QerId id) {
      const rules::Qer* qer = rules::find(session.rules.qers, id);
      return direction == Direction::Uplink ? qer->uplink_open : qer->downlink_open;
    });
  }

  static bool blocked(const Session& session, const rules::Pdr& pdr) {
    return std::ranges::any_of(pdr.urrs, [&](UrrId id) {
      const Meter& meter = session.meters.at(id);
      return rules::find(session.rules.urrs, id)->blocked || (meter.block && meter.block->reached);
    });
  }

  Fate hold(Seid seid, Session& session, const rules::Pdr& pdr, const rules::Far& far,
            std::optional<std::uint8_t> dscp, std::uint64_t name) {
    Buffer& buffer = session.buffers[far.id];
    buffer.packets.push_back(name);
    if (far.action.notify_cp && !buffer.notified) {
      buffer.notified = true;
      std::optional<std::uint8_t> qfi;
      for (const QerId id : pdr.qers) {
        if (const auto value = rules::find(session.rules.qers, id)->qfi) qfi = value;
      }
      raise(dataplane::DownlinkData{seid, pdr.id, qfi, dscp});
    }
    return Fate::Buffered;
  }

  Fate drop(Seid seid, Session& session, const rules::Pdr& pdr, Direction direction,
            std::uint64_t octets) {
    if (direction == Direction::Uplink) return Fate::Dropped;
    for (const UrrId id : pdr.urrs) {
      Meter& meter = session.meters[id];
      const auto& limit = rules::find(session.rules.urrs, id)->notify_dropped;
      if (!limit || !meter.drops) continue;
      Drops& drops = *meter.drops;
      meter.dropped_packets += 1;
      meter.dropped_octets += octets;
      drops.packets += 1;
      drops.octets += octets;
      const bool reached = (limit->packets && drops.packets >= *limit->packets) ||
                           (limit->octets && drops.octets >= *limit->octets);
      if (!reached || std::exchange(drops.reached, true)) continue;
      raise(dataplane::LimitReached{seid, dataplane::LimitReached::Limit::Dropped,
                                    limit->generation, take(id, meter)});
    }
    return Fate::Dropped;
  }

  void count(Seid seid, Session& session, const rules::Pdr& pdr, Direction direction,
             std::uint64_t octets) {
    for (const UrrId id : pdr.urrs) {
      const rules::Urr& urr = *rules::find(session.rules.urrs, id);
      Meter& meter = session.meters[id];
      part(meter.octets, direction) += octets;
      part(meter.packets, direction) += 1;
      if (!meter.first) meter.first = now_;
      meter.last = now_;
      if (urr.notify_start && meter.started != urr.start_generation) {
        meter.started = urr.start_generation;
        raise(dataplane::TrafficStart{seid, id, now_});
      }
      using Kind = dataplane::LimitReached::Limit;
      reach(seid, id, meter, urr.notify_at, meter.notify, Kind::Notify);
      reach(seid, id, meter, urr.block_at, meter.block, Kind::Block);
    }
  }

  void reach(Seid seid, UrrId id, Meter& meter, const std::optional<rules::VolumeLimit>& rule,
             std::optional<Limit>& limit, dataplane::LimitReached::Limit kind) {
    if (!rule || !limit || limit->reached) return;
    const std::uint64_t up = meter.octets.uplink - limit->base.uplink;
    const std::uint64_t down = meter.octets.downlink - limit->base.downlink;
    if (!(rule->total && up + down >= *rule->total) && !(rule->uplink && up >= *rule->uplink) &&
        !(rule->downlink && down >= *rule->downlink)) {
      return;
    }
    limit->reached = true;
    raise(dataplane::LimitReached{seid, kind, rule->generation, take(id, meter)});
  }

  static dataplane::Reading take(UrrId id, Meter& meter) {
    dataplane::Reading reading{.urr = id, .packets = meter.packets};
    reading.octets = {meter.octets.uplink - meter.taken.uplink,
                      meter.octets.downlink - meter.taken.downlink};
    reading.dropped_packets = std::exchange(meter.dropped_packets, 0);
    reading.dropped_octets = std::exchange(meter.dropped_octets, 0);
    reading.first_packet = std::exchange(meter.first, std::nullopt);
    reading.last_packet = std::exchange(meter.last, std::nullopt);
    meter.taken = meter.octets;
    meter.packets = {};
    return reading;
  }

  std::vector<dataplane::Reading> take_for(const dataplane::Change& change) {
    std::vector<dataplane::Reading> readings;
    const auto at = sessions_.find(change.seid);
    std::set<UrrId> wanted{change.query.begin(), change.query.end()};
    if (at != sessions_.end()) {
      for (const auto& [id, meter] : at->second.meters) {
        if (change.after == nullptr || rules::find(change.after->urrs, id) == nullptr) {
          wanted.insert(id);
        }
      }
    }
    for (const UrrId id : wanted) {
      if (at != sessions_.end()) {
        if (const auto meter = at->second.meters.find(id); meter != at->second.meters.end()) {
          readings.push_back(take(id, meter->second));
          continue;
        }
      }
      if (change.after != nullptr && rules::find(change.after->urrs, id) != nullptr) {
        readings.push_back({.urr = id});
      }
    }
    return readings;
  }

  void commit(const dataplane::Change& change) {
    if (change.after == nullptr) {
      sessions_.erase(change.seid);
      return;
    }
    Session& session = sessions_[change.seid];
    for (const rules::Far& far : change.after->fars) settle_far(session, far, change);
    std::erase_if(session.buffers, [&](const auto& entry) {
      return rules::find(change.after->fars, entry.first) == nullptr;
    });
    session.rules = *change.after;
    std::erase_if(session.meters, [&](const auto& entry) {
      return rules::find(session.rules.urrs, entry.first) == nullptr;
    });
    for (const rules::Urr& urr : session.rules.urrs) {
      Meter& meter = session.meters[urr.id];
      arm(meter, urr.notify_at, meter.notify);
      arm(meter, urr.block_at, meter.block);
      if (!urr.notify_dropped) {
        meter.drops.reset();
      } else if (!meter.drops || meter.drops->generation != urr.notify_dropped->generation) {
        meter.drops = Drops{.generation = urr.notify_dropped->generation};
      }
    }
  }

  static void arm(const Meter& meter, const std::optional<rules::VolumeLimit>& rule,
                  std::optional<Limit>& limit) {
    if (!rule) {
      limit.reset();
    } else if (!limit || limit->generation != rule->generation) {
      limit = Limit{rule->generation, meter.octets, false};
    }
  }

  void settle_far(Session& session, const rules::Far& after, const dataplane::Change& change) {
    const rules::Far* before = rules::find(session.rules.fars, after.id);
    const auto named = [&](const std::vector<FarId>& list) {
      return std::ranges::find(list, after.id) != list.end();
    };
    if (before != nullptr && named(change.end_markers)) mark_end(change.seid, *before, after);
    Buffer& buffer = session.buffers[after.id];
    if (named(change.drop_buffered) || after.action.drop) {
      tell_waiting(change.seid, after.id, "dropped", buffer.packets.size());
      buffer.packets.clear();
    }
    if (after.action.buffer) {
      const bool was = before != nullptr && before->action.buffer && before->action.notify_cp;
      if (!was) buffer.notified = false;
      return;
    }
    if (has_way_out(after)) {
      flushed_ += buffer.packets.size();
      tell_waiting(change.seid, after.id, "sent on", buffer.packets.size());
      released_.insert(released_.end(), buffer.packets.begin(), buffer.packets.end());
    }
    session.buffers.erase(after.id);
  }

  void tell_waiting(Seid seid, FarId far, const char* what, std::size_t packets) const {
    if (!watcher_ || packets == 0) return;
    watcher_(
        {seid, false, fmt::format("FAR {}: waiting packets {}: {}", far.value, what, packets)});
  }

  void mark_end(Seid seid, const rules::Far& before, const rules::Far& after) {
    const auto header_of = [](const rules::Far& far) {
      return far.forwarding ? far.forwarding->outer_header : std::nullopt;
    };
    const auto old = header_of(before);
    const auto now = header_of(after);
    if (!old || !now || *old == *now) return;
    end_markers_.push_back(*old);
    if (!watcher_) return;
    watcher_({seid, false,
              fmt::format("FAR {}: End Marker to tunnel {:#010x}@{}", before.id.value,
                          old->teid.value, to_string(old->peer))});
  }

  /// A TEID is one session's (PDRs of that session may share it).
  [[nodiscard]] std::optional<dataplane::Failure> teid_clash(
      const dataplane::Change& change) const {
    for (const rules::Pdr& pdr : change.after->pdrs) {
      if (!pdr.f_teid) continue;
      for (const auto& [seid, session] : sessions_) {
        if (seid == change.seid) continue;
        for (const rules::Pdr& other : session.rules.pdrs) {
          if (other.f_teid && other.f_teid->teid == pdr.f_teid->teid) {
            return dataplane::Failure{dataplane::Failure::Kind::Refused, pdr.id,
                                      "TEID is in use by another session"};
          }
        }
      }
    }
    return std::nullopt;
  }

  void check(const dataplane::Change& change) const {
    UPF_ASSERT(change.before != nullptr || change.after != nullptr);
    const rules::SessionRules* installed = rules_of(change.seid);
    if (installed != nullptr) UPF_ASSERT(change.before != nullptr && *change.before == *installed);
    if (change.after == nullptr) return;
    const rules::SessionRules& after = *change.after;
    check_sorted(after.pdrs);
    check_sorted(after.fars);
    check_sorted(after.qers);
    check_sorted(after.urrs);
    check_sorted(after.bars);
    for (const rules::Pdr& pdr : after.pdrs) {
      UPF_ASSERT(rules::find(after.fars, pdr.far) != nullptr);
      for (const QerId id : pdr.qers) UPF_ASSERT(rules::find(after.qers, id) != nullptr);
      for (const UrrId id : pdr.urrs) UPF_ASSERT(rules::find(after.urrs, id) != nullptr);
    }
    for (const rules::Far& far : after.fars) {
      if (far.bar) UPF_ASSERT(rules::find(after.bars, *far.bar) != nullptr);
      UPF_ASSERT(int{far.action.drop} + int{far.action.forward} + int{far.action.buffer} == 1);
    }
  }
  template <class Rules>
  static void check_sorted(const Rules& sorted) {
    for (std::size_t i = 1; i < sorted.size(); ++i) UPF_ASSERT(sorted[i - 1].id < sorted[i].id);
  }

  std::map<Seid, Session> sessions_{};
  std::vector<dataplane::Event> events_{};
  std::vector<rules::OuterHeader> end_markers_{};
  std::optional<dataplane::Failure> failure_{};
  std::size_t countdown_{};
  std::vector<std::uint64_t> released_{};
  std::size_t flushed_{};
  std::uint64_t applies_{};
  WallTime now_{};
  dataplane::Watcher watcher_{};
};

}  // namespace upf::contract

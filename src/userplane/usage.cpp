// Usage as the control thread sees it: arming limits, taking readings.
#include <algorithm>

#include "session_keeper.hpp"

namespace upf::userplane {
namespace {

using dataplane::Reading;

rules::Volume octets_of(const UrrState& urr) {
  return {urr.uplink.octets.load(std::memory_order_seq_cst),
          urr.downlink.octets.load(std::memory_order_seq_cst)};
}

std::uint64_t absolute(std::uint64_t base, const std::optional<std::uint64_t>& limit) {
  if (!limit || *limit > kNoLimit - base) return kNoLimit;
  return base + *limit;
}

/// True if the limit is a new one.
bool arm_limit(const UrrState& urr, ArmedLimit& limit,
               const std::optional<rules::VolumeLimit>& rule) {
  if (!rule) {
    limit.armed.store(false, std::memory_order_release);
    limit.generation.reset();
    return false;
  }
  const bool fresh = limit.generation != rule->generation;
  if (fresh) {
    limit.generation = rule->generation;
    limit.base = octets_of(urr);
  }
  limit.total.store(absolute(limit.base.total(), rule->total), std::memory_order_relaxed);
  limit.uplink.store(absolute(limit.base.uplink, rule->uplink), std::memory_order_relaxed);
  limit.downlink.store(absolute(limit.base.downlink, rule->downlink), std::memory_order_relaxed);
  if (fresh) limit.armed.store(true, std::memory_order_release);
  return fresh;
}

bool is_reached(const UrrState& urr, const ArmedLimit& limit) {
  const rules::Volume octets = octets_of(urr);
  return octets.total() >= limit.total.load(std::memory_order_relaxed) ||
         octets.uplink >= limit.uplink.load(std::memory_order_relaxed) ||
         octets.downlink >= limit.downlink.load(std::memory_order_relaxed);
}

/// Whether so many were dropped is compared with what was dropped since arming.
void arm_drops(UrrState& urr, const std::optional<rules::DropLimit>& rule) {
  if (!rule) {
    if (urr.own_drops) urr.own_drops->armed.store(false, std::memory_order_release);
    return;
  }
  if (!urr.own_drops) urr.own_drops = std::make_unique<DropWatch>();
  DropWatch& drops = *urr.own_drops;
  if (drops.generation == rule->generation) return;
  drops.armed.store(false, std::memory_order_release);
  drops.generation = rule->generation;
  const auto limit = [](const Count& count, auto part, const std::optional<std::uint64_t>& rest) {
    return absolute((count.*part).load(std::memory_order_seq_cst), rest);
  };
  drops.packets.store(limit(drops.count, &Count::packets, rule->packets),
                      std::memory_order_relaxed);
  drops.octets.store(limit(drops.count, &Count::octets, rule->octets), std::memory_order_relaxed);
  drops.armed.store(true, std::memory_order_release);
  urr.drops.store(&drops, std::memory_order_release);
}

bool dropped_enough(const DropWatch& drops) {
  return drops.count.packets.load(std::memory_order_seq_cst) >=
             drops.packets.load(std::memory_order_relaxed) ||
         drops.count.octets.load(std::memory_order_seq_cst) >=
             drops.octets.load(std::memory_order_relaxed);
}

std::optional<WallTime> time_of(std::int64_t ns) {
  if (ns == 0) return std::nullopt;
  return WallTime{std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds{ns})};
}

}  // namespace

Reading take_reading(UrrState& urr) {
  const auto since = [](const std::atomic<std::uint64_t>& count, std::uint64_t& taken) {
    const std::uint64_t now = count.load(std::memory_order_acquire);
    return now - std::exchange(taken, now);
  };
  Reading reading{.urr = urr.id};
  reading.octets.uplink = since(urr.uplink.octets, urr.taken_octets.uplink);
  reading.octets.downlink = since(urr.downlink.octets, urr.taken_octets.downlink);
  reading.packets.uplink = since(urr.uplink.packets, urr.taken_packets.uplink);
  reading.packets.downlink = since(urr.downlink.packets, urr.taken_packets.downlink);
  if (urr.own_drops) {
    DropWatch& drops = *urr.own_drops;
    reading.dropped_packets = since(drops.count.packets, drops.taken_packets);
    reading.dropped_octets = since(drops.count.octets, drops.taken_octets);
  }
  reading.first_packet = time_of(urr.first_ns.exchange(0, std::memory_order_relaxed));
  if (reading.first_packet) {
    reading.last_packet = time_of(urr.last_ns.load(std::memory_order_relaxed));
  }
  return reading;
}

void SessionKeeper::arm(const dataplane::Change& change, const States& states) {
  for (std::size_t i = 0; i < change.after->urrs.size(); ++i) {
    const rules::Urr& rule = change.after->urrs[i];
    UrrState& urr = *states.urrs[i];
    arm_limit(urr, urr.notify, rule.notify_at);
    if (arm_limit(urr, urr.block, rule.block_at) || !rule.block_at) {
      urr.blocked.store(false, std::memory_order_release);
    }
    arm_drops(urr, rule.notify_dropped);
    if (rule.notify_start && urr.start_generation != rule.start_generation) {
      urr.start_generation = rule.start_generation;
      urr.start_wanted.store(true, std::memory_order_relaxed);
    }
    if (!rule.notify_start) urr.start_wanted.store(false, std::memory_order_relaxed);
    urr.watched.store(rule.notify_at || rule.block_at || rule.notify_start,
                      std::memory_order_release);
  }
}

/// A packet that was on its way while a limit was replaced may have set the block by the old one,
/// and a limit of nothing is reached without a packet.
void SessionKeeper::settle_blocks(const rules::SessionRules& rules, const States& states) {
  for (std::size_t i = 0; i < rules.urrs.size(); ++i) {
    UrrState& urr = *states.urrs[i];
    urr.blocked.store(rules.urrs[i].block_at && is_reached(urr, urr.block),
                      std::memory_order_release);
  }
}

std::vector<Reading> SessionKeeper::take_readings(const dataplane::Change& change,
                                                  const Session& session, const States& after) {
  std::vector<Reading> readings;
  const auto is_in = [](const auto& all, const UrrState* urr) {
    return std::ranges::find(all, urr) != all.end();
  };
  for (UrrState& urr : session.urrs) {
    const bool gone = !is_in(after.urrs, &urr);
    if (gone || std::ranges::find(change.query, urr.id) != change.query.end()) {
      readings.push_back(take_reading(urr));
    }
  }
  std::ranges::sort(readings, {}, &Reading::urr);
  return readings;
}

Result<std::vector<Reading>, dataplane::Failure> SessionKeeper::read_usage(
    Seid seid, std::span<const UrrId> urrs) {
  const Session* session = find(seid);
  if (session == nullptr) {
    return failure(dataplane::Failure{dataplane::Failure::Kind::Refused, {}, "no such session"});
  }
  std::vector<Reading> readings;
  for (UrrState& urr : session->urrs) {
    if (urrs.empty() || std::ranges::find(urrs, urr.id) != urrs.end()) {
      readings.push_back(take_reading(urr));
    }
  }
  return readings;
}

void SessionKeeper::on_limit(const LimitHit& hit, std::vector<dataplane::Event>& out) {
  const Session* session = find(hit.seid);
  if (session == nullptr) return;  // its last reading had everything
  UrrState* const urr = session->urrs.find(hit.urr);
  if (urr == nullptr) return;
  using Kind = dataplane::LimitReached::Limit;
  if (hit.limit == Kind::Dropped) {
    const DropWatch& drops = *urr->own_drops;
    if (drops.armed.load(std::memory_order_acquire) || !dropped_enough(drops)) return;
    out.push_back(dataplane::LimitReached{.seid = hit.seid,
                                          .limit = hit.limit,
                                          .generation = *drops.generation,
                                          .reading = take_reading(*urr)});
    return;
  }
  const ArmedLimit& limit = hit.limit == Kind::Block ? urr->block : urr->notify;
  // The limit may have been replaced since: then it is armed, or not reached.
  if (!limit.generation || limit.armed.load(std::memory_order_acquire) ||
      !is_reached(*urr, limit)) {
    return;
  }
  out.push_back(dataplane::LimitReached{.seid = hit.seid,
                                        .limit = hit.limit,
                                        .generation = *limit.generation,
                                        .reading = take_reading(*urr)});
}

}  // namespace upf::userplane

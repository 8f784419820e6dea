// Buckets are GCRA: one word per bucket, the time at which it will be full again. A packet conforms
// if it pushes that time at most the burst beyond now.
//
// Counts only grow, and limits are absolute values of them, so a packet costs two additions per
// URR. While a limit is near, packets are counted one by one with sequentially consistent
// operations: two threads that count uplink and downlink then can't both overlook that their sum
// reached it.
#include "meter.hpp"

#include <algorithm>

namespace upf::userplane {
namespace {

/// Further away than other threads can count while we do: a limit can't be reached unseen.
constexpr std::uint64_t kFar = 4U * 1024U * 1024U;

Ticks cost(const Rate& rate, std::uint64_t octets) {
  return static_cast<Ticks>(static_cast<double>(octets) * rate.ticks_per_octet);
}

bool conforms(const Rate& rate, std::uint64_t octets, Ticks now) {
  const Ticks full_at = std::max(rate.full_at->load(std::memory_order_relaxed), now);
  return full_at + cost(rate, octets) - now <= rate.burst;
}

void take(const Rate& rate, std::uint64_t octets, Ticks now) {
  const Ticks price = cost(rate, octets);
  Ticks full_at = rate.full_at->load(std::memory_order_relaxed);
  while (!rate.full_at->compare_exchange_weak(full_at, std::max(full_at, now) + price,
                                              std::memory_order_relaxed)) {
  }
}

bool within(const ArmedLimit& limit, std::uint64_t up, std::uint64_t down, std::uint64_t ahead) {
  return limit.armed.load(std::memory_order_relaxed) &&
         (up + down + ahead >= limit.total.load(std::memory_order_relaxed) ||
          up + ahead >= limit.uplink.load(std::memory_order_relaxed) ||
          down + ahead >= limit.downlink.load(std::memory_order_relaxed));
}

bool needs_care(const UrrState& urr, std::uint64_t octets) {
  if (!urr.watched.load(std::memory_order_acquire)) return false;
  if (urr.start_wanted.load(std::memory_order_relaxed) ||
      urr.blocked.load(std::memory_order_relaxed)) {
    return true;
  }
  const std::uint64_t up = urr.uplink.octets.load(std::memory_order_relaxed);
  const std::uint64_t down = urr.downlink.octets.load(std::memory_order_relaxed);
  return within(urr.notify, up, down, octets + kFar) || within(urr.block, up, down, octets + kFar);
}

void note_time(UrrState& urr, std::int64_t wall_ns) {
  if (urr.first_ns.load(std::memory_order_relaxed) == 0) {
    urr.first_ns.store(wall_ns, std::memory_order_relaxed);
  }
  urr.last_ns.store(wall_ns, std::memory_order_relaxed);
}

void add(UrrState& urr, bool uplink, std::uint64_t octets, std::uint32_t packets,
         std::memory_order order) {
  Count& direction = uplink ? urr.uplink : urr.downlink;
  direction.octets.fetch_add(octets, order);
  direction.packets.fetch_add(packets, std::memory_order_relaxed);
}

using Limit = dataplane::LimitReached::Limit;

void check_limit(UrrState& urr, ArmedLimit& limit, Limit kind, LimitSink& sink) {
  const std::uint64_t up = urr.uplink.octets.load(std::memory_order_seq_cst);
  const std::uint64_t down = urr.downlink.octets.load(std::memory_order_seq_cst);
  if (!within(limit, up, down, 0)) return;
  if (kind == Limit::Block) urr.blocked.store(true, std::memory_order_release);
  if (limit.armed.exchange(false, std::memory_order_acq_rel)) sink.limit_reached(urr, kind);
}

void count_with_care(UrrState& urr, bool uplink, std::uint32_t octets, const Instant& now,
                     LimitSink& sink) {
  add(urr, uplink, octets, 1, std::memory_order_seq_cst);
  note_time(urr, now.wall_ns);
  if (urr.start_wanted.load(std::memory_order_relaxed) &&
      urr.start_wanted.exchange(false, std::memory_order_acq_rel)) {
    sink.traffic_started(urr, now.wall_ns);
  }
  check_limit(urr, urr.notify, Limit::Notify, sink);
  check_limit(urr, urr.block, Limit::Block, sink);
}

bool is_used_up(const UrrState* urr) { return urr->blocked.load(std::memory_order_acquire); }

}  // namespace

std::uint32_t police(const Snapshot& rules, const PdrEntry& pdr, const Train& train,
                     std::int64_t steady_ns) {
  if (pdr.rates.count == 0) return train.count;
  const Ticks now = steady_ns * kTicksPerNs;
  const Rate* rates = &rules.rates[pdr.rates.first];
  const auto all_conform = [&](std::uint64_t octets) {
    return std::all_of(rates, rates + pdr.rates.count,
                       [&](const Rate& rate) { return conforms(rate, octets, now); });
  };
  std::uint32_t passing = train.count;
  if (!all_conform(train.octets(passing))) {
    passing = 0;
    while (passing < train.count && all_conform(train.octets(passing + 1))) ++passing;
  }
  if (passing == 0) return 0;
  for (std::size_t i = 0; i < pdr.rates.count; ++i) take(rates[i], train.octets(passing), now);
  return passing;
}

std::uint32_t count(const Snapshot& rules, const PdrEntry& pdr, Place place, const Train& train,
                    const Instant& now, LimitSink& sink) {
  const std::uint16_t before = pdr.urrs_before_qos.count;
  const bool behind = place == Place::AfterQos;
  const std::size_t urrs = behind ? pdr.urrs.count - before : before;
  if (urrs == 0) return train.count;
  UrrState* const* first = &rules.urrs[pdr.urrs.first] + (behind ? before : 0);
  UrrState* const* last = first + urrs;
  const std::uint64_t octets = train.octets(train.count);
  if (std::none_of(first, last, [&](const UrrState* urr) { return needs_care(*urr, octets); })) {
    std::for_each(first, last, [&](UrrState* urr) {
      add(*urr, pdr.uplink, octets, train.count, std::memory_order_relaxed);
      note_time(*urr, now.wall_ns);
    });
    return train.count;
  }
  for (std::uint32_t i = 0; i < train.count; ++i) {
    if (std::any_of(first, last, is_used_up)) return i;
    std::for_each(first, last, [&](UrrState* urr) {
      count_with_care(*urr, pdr.uplink, train.octets_at(i), now, sink);
    });
  }
  return train.count;
}

void count_dropped(const Snapshot& rules, const PdrEntry& pdr, std::uint64_t packets,
                   std::uint64_t octets, LimitSink& sink) {
  if (pdr.uplink || packets == 0) return;
  for (std::size_t i = 0; i < pdr.urrs.count; ++i) {
    UrrState& urr = *rules.urrs[pdr.urrs.first + i];
    DropWatch* const drops = urr.drops.load(std::memory_order_acquire);
    if (drops == nullptr) continue;
    const auto add = [](std::atomic<std::uint64_t>& count, std::uint64_t more) {
      return count.fetch_add(more, std::memory_order_seq_cst) + more;
    };
    const std::uint64_t all_packets = add(drops->count.packets, packets);
    const std::uint64_t all_octets = add(drops->count.octets, octets);
    const bool reached = all_packets >= drops->packets.load(std::memory_order_relaxed) ||
                         all_octets >= drops->octets.load(std::memory_order_relaxed);
    if (reached && drops->armed.load(std::memory_order_acquire) &&
        drops->armed.exchange(false, std::memory_order_acq_rel)) {
      sink.limit_reached(urr, Limit::Dropped);
    }
  }
}

bool is_blocked(const Snapshot& rules, const PdrEntry& pdr) {
  if (pdr.urrs.count == 0) return false;
  UrrState* const* first = &rules.urrs[pdr.urrs.first];
  return std::any_of(first, first + pdr.urrs.count, is_used_up);
}

}  // namespace upf::userplane

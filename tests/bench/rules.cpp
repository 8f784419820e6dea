// What a session's rules cost a packet: the packet function of the user-space plane on packets in
// memory, with a sink that takes them for nothing. Prints nanoseconds a packet without rules and
// with each kind added, and what packets of many sessions in turn cost; exit code 1 if all rules
// together cost more than the limit.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include "contract/memory_world.hpp"
#include "contract/sessions.hpp"

namespace upf::bench {
namespace {

using namespace contract;

constexpr double kLimitNs = 200;
constexpr std::size_t kBatch = 64, kFlows = 4, kPayload = 100;
constexpr int kBatches = 4000, kRounds = 15;

class NoSink : public userplane::Sink {
 public:
  void send(std::span<const userplane::OutMessage>) override {}
  void write_n6(std::span<const iovec>) override {}
};

struct Datagrams {
  Octets octets{};
  std::size_t each{};
};

/// A batch of G-PDUs, of a few flows in turn; with `single`, each of a flow of its own.
Datagrams datagrams(bool single) {
  Datagrams all;
  for (std::size_t i = 0; i < kBatch; ++i) {
    Packet packet = to_network();
    packet.payload = kPayload;
    packet.source_port = static_cast<std::uint16_t>(4000 + (single ? i : i % kFlows));
    const Octets one = gtpu(kUplinkTeid, build(packet), {.qfi = 1});
    all.each = one.size();
    all.octets.insert(all.octets.end(), one.begin(), one.end());
  }
  return all;
}

rules::SessionRules with_qer(rules::SessionRules rules) {
  constexpr std::uint64_t kWide = 1'000'000'000'000;  // bit/s: no packet is dropped
  rules.qers = {{.id = {1}, .mbr = rules::BitRate{kWide, kWide}, .qfi = 1}};
  for (rules::Pdr& p : rules.pdrs) p.qers = {{1}};
  return rules;
}

rules::SessionRules with_filters(rules::SessionRules rules) {
  rules::Pdr catching = pdr(rules, kUplinkPdr);
  catching.id = {3};
  catching.precedence = 10;
  for (std::uint8_t i = 0; i < 5; ++i) {
    catching.filters.push_back(flow_from(Ipv4{{192, 0, 2, i}}, 53));
  }
  rules.pdrs.push_back(catching);
  return rules;
}

/// The least of some rounds: what else runs on the machine only ever adds.
double nanoseconds(const rules::SessionRules& rules, bool single) {
  MemoryWorld world;
  if (!world.plane().apply({.seid = kSeid, .after = &rules})) std::abort();
  NoSink sink;
  userplane::Forwarder forwarder{world.shared(), sink, {true, true, true}};
  const Datagrams fresh = datagrams(single);
  Octets work = fresh.octets;
  const userplane::DatagramSource source{.port = 2152,
                                         .peer = userplane::Address::of(world.peer(0))};
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto started = std::chrono::steady_clock::now();
    for (int batch = 0; batch < kBatches; ++batch) {
      std::ranges::copy(fresh.octets, work.begin());
      forwarder.begin({batch, batch + 1});
      for (std::size_t i = 0; i < kBatch; ++i) {
        forwarder.from_tunnel(std::span{work}.subspan(i * fresh.each, fresh.each), source);
      }
      forwarder.finish();
    }
    const std::chrono::duration<double, std::nano> took =
        std::chrono::steady_clock::now() - started;
    best = std::min(best, took.count() / kBatches / kBatch);
  }
  if (forwarder.counters().of(userplane::Tally::UplinkPackets) !=
      std::uint64_t{kRounds} * kBatches * kBatch) {
    std::fputs("rules: packets were lost\n", stderr);
    std::exit(1);
  }
  return best;
}

/// Bursts of so many sessions in turn: what it costs that a session's memory isn't in the cache.
double nanoseconds_of_many(std::uint32_t sessions, bool ahead) {
  constexpr std::size_t kBurst = 32, kBursts = 8;
  MemoryWorld world;
  for (std::uint32_t i = 0; i < sessions; ++i) {
    rules::SessionRules rules = with_filters(metered(with_qer(usual_session(world))));
    const Ipv4 ue = Ipv4::from_host(0x0a400000U + i);
    for (rules::Pdr& p : rules.pdrs) {
      if (p.f_teid) p.f_teid->teid = Teid{0x10000U + i};
      for (rules::UeAddress& address : p.ue_addresses) address.ipv4 = ue;
    }
    if (!world.plane().apply({.seid = Seid{i + 1}, .after = &rules})) std::abort();
  }
  NoSink sink;
  userplane::Forwarder forwarder{world.shared(), sink, {true, true, true}};
  const userplane::DatagramSource source{.port = 2152,
                                         .peer = userplane::Address::of(world.peer(0))};
  Octets work;
  std::uint32_t turn = 0;
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    std::chrono::duration<double, std::nano> took{};
    for (int batch = 0; batch < 1000; ++batch) {
      work.clear();
      std::size_t each = 0;
      for (std::size_t burst = 0; burst < kBursts; ++burst, ++turn) {
        Packet packet = to_network();
        packet.payload = kPayload;
        packet.source = Ipv4::from_host(0x0a400000U + turn % sessions);
        const Octets one = gtpu(0x10000U + turn % sessions, build(packet), {.qfi = 1});
        each = one.size();
        for (std::size_t i = 0; i < kBurst; ++i) work.insert(work.end(), one.begin(), one.end());
      }
      const auto started = std::chrono::steady_clock::now();
      forwarder.begin({batch, batch + 1});
      if (ahead) {
        forwarder.expect(work, each);
        forwarder.fetch_expected();
      }
      for (std::size_t at = 0; at < work.size(); at += each) {
        forwarder.from_tunnel(std::span{work}.subspan(at, each), source);
      }
      forwarder.finish();
      took += std::chrono::steady_clock::now() - started;
    }
    best = std::min(best, took.count() / 1000 / kBursts / kBurst);
  }
  return best;
}

bool compare(const World& world, bool single) {
  const rules::SessionRules bare = usual_session(world);
  const std::array<std::pair<const char*, rules::SessionRules>, 4> steps{
      {{"PDR and FAR", bare},
       {"+ QER", with_qer(bare)},
       {"+ QER, URR", metered(with_qer(bare))},
       {"+ QER, URR, 5 SDF filters", with_filters(metered(with_qer(bare)))}}};
  std::printf("%s\n", single ? "each packet of a flow of its own" : "4 flows in turn");
  double first = 0;
  double last = 0;
  for (const auto& [name, rules] : steps) {
    last = nanoseconds(rules, single);
    if (first == 0) first = last;
    std::printf("  %-28s %6.1f ns a packet, of it %6.1f for the rules\n", name, last, last - first);
  }
  return last - first <= kLimitNs;
}

}  // namespace
}  // namespace upf::bench

int main() {
  const upf::contract::MemoryWorld world;
  std::puts("bursts of 32 for each session in turn, with QER, URR, filters");
  for (const std::uint32_t sessions : {1U, 100'000U}) {
    std::printf("  %7u sessions   %6.1f ns a packet, %6.1f with their memory fetched ahead\n",
                sessions, upf::bench::nanoseconds_of_many(sessions, false),
                upf::bench::nanoseconds_of_many(sessions, true));
  }
  const bool few = upf::bench::compare(world, false);
  const bool many = upf::bench::compare(world, true);
  return few && many ? 0 : 1;
}

#include "session_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace upf::userplane {
namespace {

using Table = TableKey::Table;

void add_prefix(std::vector<TableKey>& keys, std::uint8_t version, const Address& prefix,
                unsigned length) {
  const auto bits = static_cast<std::uint8_t>(length);
  keys.push_back({version == 4 ? Table::Framed4 : Table::Framed6, bits,
                  SessionTables::framed_key(version, prefix, bits)});
}

void add_addresses(std::vector<TableKey>& keys, const Snapshot& rules, const PdrEntry& pdr) {
  for (const UeMatch& ue : part(rules.ue, pdr.ue)) {
    if (ue.version == 4) {
      keys.push_back({Table::Ipv4, 0, ue.value.low});
    } else if (ue.rest <= 64) {
      // A UE has a /64 as a rule. What is shorter is looked up as a route.
      keys.push_back({Table::Ipv6, 0, ue.value.high});
    } else {
      add_prefix(keys, 6, ue.value, 128U - ue.rest);
    }
  }
  for (const Prefix& route : part(rules.framed, pdr.framed)) {
    const int length = std::popcount(route.mask.high) + std::popcount(route.mask.low);
    add_prefix(keys, route.version, route.value, static_cast<unsigned>(length));
  }
}

}  // namespace

std::string to_string(const TableKey& key) {
  switch (key.table) {
    case Table::Teid:
      return fmt::format("tunnel {:#010x}", key.key);
    case Table::Ipv4:
      return "UE address " + upf::to_string(Address{0, key.key}.to_ip(false));
    case Table::Ipv6:
      return "UE address " + upf::to_string(Address{key.key, 0}.to_ip(true)) + "/64";
    case Table::Framed4:
    case Table::Framed6:
      break;
  }
  return fmt::format("a framed route of {} bits", key.length);
}

std::vector<TableKey> keys_of(const Snapshot& rules) {
  std::vector<TableKey> keys;
  for (const PdrEntry& pdr : rules.pdrs) {
    if (pdr.tunnelled) {
      keys.push_back({Table::Teid, 0, pdr.teid});
    } else if (!pdr.uplink) {
      add_addresses(keys, rules, pdr);
    }
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::uint64_t SessionTables::framed_key(std::uint8_t version, const Address& prefix,
                                        std::uint8_t length) {
  std::uint64_t x = prefix.low ^ (prefix.high * 0x9e3779b97f4a7c15ULL);
  x ^= std::uint64_t{version} << 56U ^ std::uint64_t{length} << 40U;
  return (x ^ (x >> 29U)) * 0xbf58476d1ce4e5b9ULL;
}

LookupTable<Session>& SessionTables::table(Table which) {
  switch (which) {
    case Table::Teid:
      return teids_;
    case Table::Ipv4:
      return ipv4_;
    case Table::Ipv6:
      return ipv6_;
    case Table::Framed4:
    case Table::Framed6:
      break;
  }
  return framed_;
}

void SessionTables::count_length(const TableKey& key, int by) {
  if (key.table != Table::Framed4 && key.table != Table::Framed6) return;
  const bool v4 = key.table == Table::Framed4;
  std::uint32_t& count = (v4 ? counts4_ : counts6_)[key.length];
  count += static_cast<std::uint32_t>(by);
  auto& word = (v4 ? lengths4_ : lengths6_)[key.length / 64U];
  const std::uint64_t bit = std::uint64_t{1} << (key.length % 64U);
  if (count > 0) {
    word.fetch_or(bit, std::memory_order_release);
  } else {
    word.fetch_and(~bit, std::memory_order_release);
  }
}

bool SessionTables::holds(const TableKey& key, const Session* session) {
  return table(key.table).find(key.key, [&](const Session* found) { return found == session; });
}

void SessionTables::insert(const TableKey& key, Session* session) {
  table(key.table).insert(key.key, session);
  count_length(key, 1);
  if (key.table != Table::Teid) changes_.fetch_add(1, std::memory_order_release);
}

void SessionTables::erase(const TableKey& key, Session* session) {
  table(key.table).erase(key.key, session);
  count_length(key, -1);
  if (key.table != Table::Teid) changes_.fetch_add(1, std::memory_order_release);
}

}  // namespace upf::userplane

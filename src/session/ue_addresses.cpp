#include <algorithm>

#include "upf/session/allocator.hpp"

namespace upf::session {
namespace {

/// Addresses in a row that may turn out to be a CP function's before we give up.
constexpr int kTries = 4096;

std::uint32_t mask(std::uint8_t length) { return length == 0 ? 0 : ~0U << (32U - length); }

std::uint64_t first_half(const Ipv6& address) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8U | address.octets[i];
  return value;
}

Ipv6 from_first_half(std::uint64_t value) {
  Ipv6 address{};
  for (std::size_t i = 8; i-- > 0; value >>= 8U) {
    address.octets[i] = static_cast<std::uint8_t>(value);
  }
  return address;
}

template <class Pools>
auto pool_of(Pools& pools, const std::string& dnn) {
  return std::ranges::find_if(pools, [&](const auto& pool) { return pool.dnn == dnn; });
}

}  // namespace

UeAddresses::UeAddresses(const std::vector<UePool>& pools) {
  for (const UePool& pool : pools) add(pool);
}

void UeAddresses::add(const UePool& pool) {
  if (const auto* v4 = std::get_if<Ipv4Prefix>(&pool.prefix)) {
    const std::uint32_t first = v4->address.host() & mask(v4->length);
    const std::uint32_t last = first | ~mask(v4->length);
    const bool plain = v4->length > 30;  // no room for addresses that are nobody's
    pools4_.push_back(
        {.dnn = pool.dnn, .next = plain ? first : first + 2, .last = plain ? last : last - 1});
    return;
  }
  const auto& v6 = std::get<Ipv6Prefix>(pool.prefix);
  if (v6.length == 0 || v6.length > 64) return;
  const std::uint64_t count = std::uint64_t{1} << (64U - v6.length);
  const std::uint64_t base = first_half(v6.address) & ~(count - 1);
  pools6_.push_back({.dnn = pool.dnn,
                     .prefix = {from_first_half(base), v6.length},
                     .next = count > 1 ? 1U : 0U,
                     .count = count});
}

std::optional<std::string> UeAddresses::network(const std::vector<std::string>& names,
                                                bool ipv6) const {
  std::set<std::string> all;
  if (ipv6) {
    for (const auto& pool : pools6_) all.insert(pool.dnn);
  } else {
    for (const auto& pool : pools4_) all.insert(pool.dnn);
  }
  for (const auto& name : names) {
    if (all.contains(name)) return name;
  }
  if (all.size() == 1) return *all.begin();
  return std::nullopt;
}

std::optional<Ipv4> UeAddresses::allocate_ipv4(const std::string& dnn,
                                               const std::function<bool(Ipv4)>& taken) {
  for (auto at = pool_of(pools4_, dnn); at != pools4_.end(); ++at) {
    if (at->dnn != dnn) continue;
    std::size_t left = at->returned.size();
    for (int tries = 0; tries < kTries; ++tries) {
      std::uint32_t host = at->next;
      if (at->next <= at->last && at->next != 0) {
        ++at->next;
      } else if (left > 0) {
        --left;
        host = at->returned.front();
        at->returned.pop_front();
      } else {
        break;
      }
      const Ipv4 address = Ipv4::from_host(host);
      if (!taken(address)) {
        ipv4_.emplace(address, static_cast<std::size_t>(at - pools4_.begin()));
        return address;
      }
      at->returned.push_back(host);  // until its session has ended
    }
  }
  return std::nullopt;
}

std::optional<Ipv6Prefix> UeAddresses::allocate_ipv6(
    const std::string& dnn, std::uint8_t length,
    const std::function<bool(const Ipv6Prefix&)>& taken) {
  const std::uint64_t size = std::uint64_t{1} << (64U - length);  // in /64s
  for (auto at = pool_of(pools6_, dnn); at != pools6_.end(); ++at) {
    if (at->dnn != dnn || length <= at->prefix.length) continue;
    auto& returned = at->returned[length];
    std::size_t left = returned.size();
    for (int tries = 0; tries < kTries; ++tries) {
      const std::uint64_t aligned = (at->next + size - 1) & ~(size - 1);
      Ipv6Prefix prefix{};
      if (aligned + size <= at->count) {
        prefix = {from_first_half(first_half(at->prefix.address) + aligned), length};
        at->next = aligned + size;
      } else if (left > 0) {
        --left;
        prefix = returned.front();
        returned.pop_front();
      } else {
        break;
      }
      if (!taken(prefix)) {
        ipv6_.emplace(prefix, static_cast<std::size_t>(at - pools6_.begin()));
        return prefix;
      }
      returned.push_back(prefix);
    }
  }
  return std::nullopt;
}

void UeAddresses::release(Ipv4 address) {
  const auto at = ipv4_.find(address);
  if (at == ipv4_.end()) return;
  pools4_[at->second].returned.push_back(address.host());
  ipv4_.erase(at);
}

void UeAddresses::release(const Ipv6Prefix& prefix) {
  const auto at = ipv6_.find(prefix);
  if (at == ipv6_.end()) return;
  pools6_[at->second].returned[prefix.length].push_back(prefix);
  ipv6_.erase(at);
}

}  // namespace upf::session

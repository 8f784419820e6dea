#include "netlink/gtp5g/kernel_ids.hpp"

#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>

namespace upf::gtp5g {
namespace {

// The module prints an ID into 8 characters, its end included: 28 bits are what its hash sees.
constexpr std::uint32_t kMostIds = 1U << 28U;

struct Lanes {
  std::uint32_t a{};
  std::uint32_t b{};
  std::uint32_t c{};

  void mix() {
    a = (a - c) ^ std::rotl(c, 4);
    c += b;
    b = (b - a) ^ std::rotl(a, 6);
    a += c;
    c = (c - b) ^ std::rotl(b, 8);
    b += a;
    a = (a - c) ^ std::rotl(c, 16);
    c += b;
    b = (b - a) ^ std::rotl(a, 19);
    a += c;
    c = (c - b) ^ std::rotl(b, 4);
    b += a;
  }
  void finish() {
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    c = (c ^ b) - std::rotl(b, 24);
  }
};

/// Up to four octets, lowest first.
std::uint32_t word(std::string_view octets, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4 && at + i < octets.size(); ++i) {
    value |= std::uint32_t{static_cast<std::uint8_t>(octets[at + i])} << (8U * i);
  }
  return value;
}

}  // namespace

std::uint32_t lookup3(std::string_view octets, std::uint32_t initial) {
  const std::uint32_t start = 0xdeadbeefU + static_cast<std::uint32_t>(octets.size()) + initial;
  Lanes lanes{start, start, start};
  while (octets.size() > 12) {
    lanes.a += word(octets, 0);
    lanes.b += word(octets, 4);
    lanes.c += word(octets, 8);
    lanes.mix();
    octets.remove_prefix(12);
  }
  if (octets.empty()) return lanes.c;
  lanes.a += word(octets, 0);
  lanes.b += word(octets, 4);
  lanes.c += word(octets, 8);
  lanes.finish();
  return lanes.c;
}

KernelIds::KernelIds(std::uint32_t hash_size) : qers_in_bucket_(hash_size == 0 ? 1 : hash_size) {}

std::uint32_t KernelIds::bucket(Seid seid, std::uint32_t id) const {
  // As the module writes its keys (seid.c): 15 digits of the SEID and 7 of the ID at most.
  std::array<char, 32> text{};
  std::array<char, 16> first{};
  std::array<char, 8> second{};
  (void)std::snprintf(first.data(), first.size(), "%" PRIx64, seid.value);
  (void)std::snprintf(second.data(), second.size(), "%" PRIx32, id);
  const int length = std::snprintf(text.data(), text.size(), "%s%s", first.data(), second.data());
  const auto size = static_cast<std::size_t>(length);
  return lookup3({text.data(), size}, 0) % static_cast<std::uint32_t>(qers_in_bucket_.size());
}

std::uint32_t KernelIds::take_urr() {
  next_urr_ = next_urr_ + 1 < kMostIds ? next_urr_ + 1 : 1;
  return next_urr_;
}

std::uint32_t KernelIds::take_qer(Seid seid) {
  constexpr int kTries = 64;
  for (int attempt = 1;; ++attempt) {
    next_qer_ = next_qer_ + 1 < kMostIds ? next_qer_ + 1 : 1;
    const std::uint16_t there = qers_in_bucket_[bucket(seid, next_qer_)];
    if (there != 0 && attempt < kTries) continue;
    if (there != 0) ++shared_;
    reserve_qer(seid, next_qer_);
    return next_qer_;
  }
}

void KernelIds::reserve_qer(Seid seid, std::uint32_t id) {
  std::uint16_t& there = qers_in_bucket_[bucket(seid, id)];
  if (there != UINT16_MAX) ++there;
}

void KernelIds::release_qer(Seid seid, std::uint32_t id) {
  std::uint16_t& there = qers_in_bucket_[bucket(seid, id)];
  if (there != 0) --there;
}

}  // namespace upf::gtp5g

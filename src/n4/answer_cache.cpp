#include "src/n4/answer_cache.hpp"

#include <algorithm>

#include "upf/base/spread.hpp"

namespace upf::n4 {
namespace {

constexpr std::size_t kFirstSize = 64;

}  // namespace

std::uint32_t AnswerCache::hash_of(const RequestKey& key) {
  return static_cast<std::uint32_t>(
      spread(std::hash<SocketAddress>{}(key.peer) ^
             (std::uint64_t{key.sequence} << 32U | static_cast<std::uint64_t>(key.type))));
}

std::size_t AnswerCache::slot_of(const RequestKey& key) const {
  if (live_ == 0) return kNone;
  const std::uint32_t hash = hash_of(key);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = hash & mask; index_[slot].place != 0; slot = (slot + 1) & mask) {
    if (index_[slot].hash == hash && ring_[index_[slot].place - 1].key == key) return slot;
  }
  return kNone;
}

const AnswerCache::Entry* AnswerCache::find(const RequestKey& key) const {
  const std::size_t slot = slot_of(key);
  return slot == kNone ? nullptr : &ring_[index_[slot].place - 1];
}

void AnswerCache::add(const RequestKey& key, std::size_t digest, TimePoint expires) {
  while (used_ > 0 && used_ >= limits_.entries) drop_first();
  if (used_ == ring_.size()) grow();
  const std::size_t place = (first_ + used_) & (ring_.size() - 1);
  Entry& entry = ring_[place];
  entry.key = key;
  entry.digest = digest;
  entry.expires = expires;
  entry.answered = false;
  entry.live_ = true;
  ++used_;
  ++live_;
  index(hash_of(key), static_cast<std::uint32_t>(place + 1));
  shrink();
}

bool AnswerCache::answer(const RequestKey& key, wire::Bytes message) {
  const std::size_t slot = slot_of(key);
  if (slot == kNone) return false;
  Entry& entry = at(slot);
  octets_ += message.size() - entry.size_;
  entry.answered = true;
  entry.size_ = static_cast<std::uint32_t>(message.size());
  if (message.size() <= entry.small_.size()) {
    entry.large_.reset();
    std::ranges::copy(message, entry.small_.begin());
  } else {
    entry.large_ = std::make_unique_for_overwrite<std::uint8_t[]>(message.size());
    std::ranges::copy(message, entry.large_.get());
  }
  shrink();
  return true;
}

bool AnswerCache::erase(const RequestKey& key) {
  const std::size_t slot = slot_of(key);
  if (slot != kNone) erase_slot(slot);
  return slot != kNone;
}

void AnswerCache::erase_answers_to(const IpAddress& peer) {
  for (std::size_t i = 0; i < used_; ++i) {
    const Entry& entry = ring_[(first_ + i) & (ring_.size() - 1)];
    if (entry.live_ && entry.answered && entry.key.peer.ip == peer) (void)erase(entry.key);
  }
}

void AnswerCache::drop_old(TimePoint now) {
  while (used_ > 0 && (!ring_[first_].live_ || ring_[first_].expires <= now)) drop_first();
}

void AnswerCache::shrink() {
  while (used_ > 0 && (used_ > limits_.entries || octets_ > limits_.octets)) drop_first();
}

void AnswerCache::drop_first() {
  if (ring_[first_].live_) erase_slot(slot_of(ring_[first_].key));
  first_ = (first_ + 1) & (ring_.size() - 1);
  --used_;
}

void AnswerCache::erase_slot(std::size_t slot) {
  Entry& entry = at(slot);
  octets_ -= entry.size_;
  entry.size_ = 0;
  entry.large_.reset();
  entry.live_ = false;
  --live_;
  unindex(slot);
}

void AnswerCache::index(std::uint32_t hash, std::uint32_t place) {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = hash & mask;
  while (index_[slot].place != 0) slot = (slot + 1) & mask;
  index_[slot] = {hash, place};
}

/// What follows without a gap moves up, if that brings it nearer to where it belongs.
void AnswerCache::unindex(std::size_t slot) {
  const std::size_t mask = index_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t next = (hole + 1) & mask; index_[next].place != 0; next = (next + 1) & mask) {
    const std::size_t home = index_[next].hash & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    index_[hole] = index_[next];
    hole = next;
  }
  index_[hole] = {};
}

void AnswerCache::grow() {
  std::vector<Entry> larger(std::max(kFirstSize, ring_.size() * 2));
  index_.assign(larger.size() * 2, {});
  std::size_t count = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    Entry& entry = ring_[(first_ + i) & (ring_.size() - 1)];
    if (!entry.live_) continue;
    larger[count] = std::move(entry);
    ++count;
    index(hash_of(larger[count - 1].key), static_cast<std::uint32_t>(count));
  }
  ring_ = std::move(larger);
  first_ = 0;
  used_ = count;
}

}  // namespace upf::n4

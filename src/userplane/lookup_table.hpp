#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quiescence.hpp"
#include "upf/base/spread.hpp"

namespace upf::userplane {

/// From a 64-bit key to any number of values; one thread writes, any number read without locks.
///
/// Open addressing with linear probing. A slot's key is written once, before its value, and never
/// changes while readers may look: removal empties the value and keeps the key as a tombstone,
/// which the next insertion of the same key reuses and the next growth leaves behind. Growth builds
/// a new array and retires the old one.
template <class Value>
class LookupTable {
 public:
  explicit LookupTable(Quiescence& quiescence) : quiescence_(quiescence), slots_(new Slots(64)) {}
  LookupTable(const LookupTable&) = delete;
  LookupTable& operator=(const LookupTable&) = delete;
  ~LookupTable() { delete slots_.load(std::memory_order_relaxed); }

  /// Calls `visit(Value*)` for each value of the key until one returns true.
  template <class Visit>
  bool find(std::uint64_t key, Visit&& visit) const {
    const Slots& slots = *slots_.load(std::memory_order_acquire);
    for (std::size_t at = slots.home(key);; at = slots.after(at)) {
      const Slot& slot = slots.array[at];
      const std::uint64_t found = slot.key.load(std::memory_order_acquire);
      if (found == kFree) return false;
      if (found != stored(key)) continue;
      Value* value = slot.value.load(std::memory_order_acquire);
      if (value != nullptr && visit(value)) return true;
    }
  }
  [[nodiscard]] Value* find_any(std::uint64_t key) const {
    Value* found = nullptr;
    find(key, [&](Value* value) {
      found = value;
      return true;
    });
    return found;
  }

  /// Has the place of the key fetched into the cache, for a find() soon.
  void prefetch(std::uint64_t key) const {
    const Slots& slots = *slots_.load(std::memory_order_acquire);
    __builtin_prefetch(&slots.array[slots.home(key)]);
  }

  void insert(std::uint64_t key, Value* value) {
    if ((used_ + 1) * 5 > slots_.load(std::memory_order_relaxed)->count * 4) rebuild();
    if (place(*slots_.load(std::memory_order_relaxed), key, value)) ++used_;
    ++live_;
  }

  void erase(std::uint64_t key, const Value* value) {
    Slots& slots = *slots_.load(std::memory_order_relaxed);
    for (std::size_t at = slots.home(key);; at = slots.after(at)) {
      Slot& slot = slots.array[at];
      const std::uint64_t found = slot.key.load(std::memory_order_relaxed);
      if (found == kFree) return;
      if (found == stored(key) && slot.value.load(std::memory_order_relaxed) == value) {
        slot.value.store(nullptr, std::memory_order_release);
        --live_;
        return;
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return live_; }

 private:
  // Keys are stored plus one, 0 is free. The two highest keys share a place: whoever finds a value
  // checks that it is meant (a PDR's own addresses do).
  static constexpr std::uint64_t kFree = 0;
  static std::uint64_t stored(std::uint64_t key) {
    return key == ~std::uint64_t{0} ? key : key + 1;
  }

  struct Slot {
    std::atomic<std::uint64_t> key{kFree};
    std::atomic<Value*> value{nullptr};
  };
  struct Slots {
    explicit Slots(std::size_t size) : count(size), array(new Slot[size]) {}
    [[nodiscard]] std::size_t home(std::uint64_t key) const { return home_of(key, count); }
    [[nodiscard]] std::size_t after(std::size_t at) const { return at + 1 == count ? 0 : at + 1; }
    std::size_t count;
    std::unique_ptr<Slot[]> array;
  };

  /// True if a free slot was taken, false if a tombstone of the key was reused.
  static bool place(Slots& slots, std::uint64_t key, Value* value) {
    for (std::size_t at = slots.home(key);; at = slots.after(at)) {
      Slot& slot = slots.array[at];
      const std::uint64_t found = slot.key.load(std::memory_order_relaxed);
      const bool free = found == kFree;
      const bool mine =
          found == stored(key) && slot.value.load(std::memory_order_relaxed) == nullptr;
      if (!free && !mine) continue;
      slot.value.store(value, std::memory_order_release);
      if (free) slot.key.store(stored(key), std::memory_order_release);
      return free;
    }
  }

  /// Leaves tombstones behind, and is half full then: between there and four fifths a table of a
  /// million takes 20 to 32 octets an entry, and a look-up finds its slot within three.
  void rebuild() {
    Slots* old = slots_.load(std::memory_order_relaxed);
    auto fresh = std::make_unique<Slots>(std::max<std::size_t>(64, (live_ + 1) * 15 / 8));
    for (std::size_t at = 0; at < old->count; ++at) {
      Value* value = old->array[at].value.load(std::memory_order_relaxed);
      if (value == nullptr) continue;
      place(*fresh, old->array[at].key.load(std::memory_order_relaxed) - 1, value);
    }
    used_ = live_;
    slots_.store(fresh.release(), std::memory_order_release);
    quiescence_.retire(old);
  }

  Quiescence& quiescence_;
  std::atomic<Slots*> slots_;
  std::size_t used_{};  ///< slots with a key
  std::size_t live_{};  ///< slots with a value
};

}  // namespace upf::userplane

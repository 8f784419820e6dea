#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "upf/base/spread.hpp"

namespace upf {

/// A hash table in one block of memory, for millions of small entries: where std::unordered_map
/// takes two allocations' worth of octets beside key and value, this takes half an entry's.
/// `Value{}` is no value: it marks a free slot.
///
/// Open addressing with linear probing, between a fifth and four fifths full. Adding and removing
/// moves entries: no pointer into it outlives that.
template <class Key, class Value>
class FlatIndex {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != nullptr; }
  [[nodiscard]] const Value* find(const Key& key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.value == Value{} ? nullptr : &slot.value;
  }
  [[nodiscard]] Value* find(const Key& key) {
    return const_cast<Value*>(std::as_const(*this).find(key));
  }
  /// All entries, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.value != Value{}) visit(slot.key, slot.value);
    }
  }

  /// false: the key has a value, which stays.
  bool insert(const Key& key, Value value) {
    if (contains(key)) return false;
    if ((size_ + 1) * 5 > slots_.size() * 4) resize();
    slots_[place_of(key)] = {key, std::move(value)};
    ++size_;
    return true;
  }
  /// false: it is not there.
  bool erase(const Key& key) {
    if (!contains(key)) return false;
    close_gap(place_of(key));
    --size_;
    if (size_ * 5 < slots_.size()) resize();
    return true;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
  };
  static constexpr std::size_t kLeast = 4;

  /// The key's slot, or the free one where it belongs.
  [[nodiscard]] std::size_t place_of(const Key& key) const {
    std::size_t at = home(key);
    while (slots_[at].value != Value{} && slots_[at].key != key) at = after(at);
    return at;
  }

  /// Moves back what was only there because the slot was taken.
  void close_gap(std::size_t gap) {
    for (std::size_t at = after(gap); slots_[at].value != Value{}; at = after(at)) {
      const std::size_t wanted = home(slots_[at].key);
      // Whether `wanted` isn't cyclically in (gap, at]: then the entry may stand in the gap.
      const bool may_move =
          gap <= at ? (wanted <= gap || wanted > at) : (wanted <= gap && wanted > at);
      if (!may_move) continue;
      slots_[gap] = std::move(slots_[at]);
      gap = at;
    }
    slots_[gap] = Slot{};
  }

  void resize() {
    if (size_ == 0 && !slots_.empty()) {
      slots_ = std::vector<Slot>{};
      return;
    }
    std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max(kLeast, (size_ + 1) * 15 / 8)));
    for (Slot& slot : old) {
      if (slot.value != Value{}) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  [[nodiscard]] std::size_t home(const Key& key) const {
    return home_of(std::hash<Key>{}(key), slots_.size());
  }
  [[nodiscard]] std::size_t after(std::size_t at) const {
    return at + 1 == slots_.size() ? 0 : at + 1;
  }

  std::vector<Slot> slots_{};
  std::size_t size_{};
};

}  // namespace upf

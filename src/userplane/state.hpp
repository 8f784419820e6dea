#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "upf/base/ids.hpp"
#include "upf/rules/rules.hpp"

/// What a rule remembers between packets. Snapshots of rules come and go; these stay as long as the
/// rule does, and packet threads write them.
namespace upf::userplane {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Octets and packets of one direction since the URR began. They only grow: what was read already
/// the control thread remembers, so reading disturbs nobody.
struct Count {
  std::atomic<std::uint64_t> octets{};
  std::atomic<std::uint64_t> packets{};
};

/// One armed VolumeLimit, as absolute values of the counts.
struct ArmedLimit {
  std::atomic<std::uint64_t> total{kNoLimit};
  std::atomic<std::uint64_t> uplink{kNoLimit};
  std::atomic<std::uint64_t> downlink{kNoLimit};
  std::atomic<bool> armed{};
  std::optional<std::uint32_t> generation{};  ///< control thread's
  rules::Volume base{};                       ///< control thread's: the counts at arming
};

/// Downlink packets of a URR's PDRs that were dropped, and how many of them are to be told.
struct DropWatch {
  Count count{};
  std::atomic<std::uint64_t> packets{kNoLimit};  ///< limits, absolute
  std::atomic<std::uint64_t> octets{kNoLimit};
  std::atomic<bool> armed{};
  std::optional<std::uint32_t> generation{};  ///< control thread's, as all below
  std::uint64_t taken_packets{};
  std::uint64_t taken_octets{};
};

struct UrrState {
  UrrState(Seid session, UrrId urr) : seid(session), id(urr) {}

  // Uplink and downlink are mostly counted by different threads.
  alignas(64) Count uplink{};
  alignas(64) Count downlink{};

  alignas(64) std::atomic<bool> watched{};  ///< a limit is armed or a start awaited
  std::atomic<bool> blocked{};              ///< block_at was reached
  std::atomic<bool> start_wanted{};
  std::atomic<std::int64_t> first_ns{};  ///< wall clock; 0: no packet since the last reading
  std::atomic<std::int64_t> last_ns{};
  ArmedLimit notify{};
  ArmedLimit block{};
  std::atomic<DropWatch*> drops{};  ///< most URRs have none

  const Seid seid;
  const UrrId id;
  std::optional<std::uint32_t> start_generation{};  ///< control thread's, as all below
  rules::Volume taken_octets{};
  rules::Volume taken_packets{};
  std::unique_ptr<DropWatch> own_drops{};
  std::unique_ptr<UrrState> next{};
};

/// The states of a session's rules of one kind, in the order in which they came: a list through
/// themselves, as most sessions have one or two and some have none.
template <class State>
class StateList {
 public:
  class Iterator {
   public:
    using value_type = State;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(State* at) : at_(at) {}
    State& operator*() const { return *at_; }
    State* operator->() const { return at_; }
    Iterator& operator++() {
      at_ = at_->next.get();
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, Iterator{at_->next.get()}); }
    bool operator==(const Iterator&) const = default;

   private:
    State* at_{};
  };
  [[nodiscard]] Iterator begin() const { return Iterator{first_.get()}; }
  [[nodiscard]] Iterator end() const { return Iterator{}; }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::distance(begin(), end()));
  }

  template <class Id>
  [[nodiscard]] State* find(Id id) const {
    State* at = first_.get();
    while (at != nullptr && at->id != id) at = at->next.get();
    return at;
  }
  State* add(std::unique_ptr<State> state) {
    std::unique_ptr<State>* at = &first_;
    while (*at) at = &(*at)->next;
    *at = std::move(state);
    return at->get();
  }
  void append(StateList others) {
    while (others.first_) {
      auto state = std::move(others.first_);
      others.first_ = std::move(state->next);
      add(std::move(state));
    }
  }
  /// Those that `goes(state)` says go are given to `take(std::unique_ptr<State>)`.
  template <class Goes, class Take>
  void remove_if(const Goes& goes, const Take& take) {
    for (std::unique_ptr<State>* at = &first_; *at;) {
      if (!goes(**at)) {
        at = &(*at)->next;
        continue;
      }
      auto gone = std::move(*at);
      *at = std::move(gone->next);
      take(std::move(gone));
    }
  }

 private:
  std::unique_ptr<State> first_{};
};

/// A QER's token buckets in the form of GCRA: the time at which each will be full again, in
/// userplane::Ticks.
struct QerState {
  explicit QerState(QerId qer) : id(qer) {}
  std::atomic<std::int64_t> uplink_full_at{};
  std::atomic<std::int64_t> downlink_full_at{};
  std::unique_ptr<QerState> next{};
  const QerId id;
};

struct FarState {
  explicit FarState(FarId far) : id(far) {}
  /// Packets wait for this FAR or are being flushed: a new packet goes behind them.
  std::atomic<bool> holding{};
  /// The next packet that is held is the first of an episode, and the control thread is told.
  std::atomic<bool> notify_armed{};
  const FarId id;
  std::uint32_t episode{};  ///< control thread's: grows when notify_armed is set
  std::unique_ptr<FarState> next{};
};

/// Time of the token buckets: 1/64 ns since any beginning, so that a small packet's share at
/// 10 Gbit/s rounds to less than 0.1 %.
using Ticks = std::int64_t;
inline constexpr std::int64_t kTicksPerNs = 64;

}  // namespace upf::userplane

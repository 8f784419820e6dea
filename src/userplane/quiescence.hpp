#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

namespace upf::userplane {

/// How the control thread knows that no packet thread uses what it took away (quiescent-state
/// reclamation).
///
/// A packet thread says `online` before it looks at shared rules, `between_packets` when it holds
/// no reference to them, `between_batches` when besides everything it has accepted is sent, and
/// `offline` before it sleeps. These are plain loads and stores. The control thread publishes its
/// change, begins an era, and waits until every thread was between packets in it (or is offline):
/// from then on packets meet the change. What it replaced is retired and freed some era later
/// without waiting.
class Quiescence {
 public:
  static constexpr std::size_t kMaxThreads = 32;
  enum class Point : std::uint8_t { BetweenPackets, BetweenBatches };

  class alignas(64) Thread {
   public:
    void online(Quiescence& all) {
      packets_.store(all.era(), std::memory_order_relaxed);
      batches_.store(all.era(), std::memory_order_relaxed);
      // Pairs with begin_era(). Of the two read-modify-writes one is second and sees what the other
      // side did before its own: the control thread that we are online, or we what it published.
      all.era_.fetch_add(0, std::memory_order_acq_rel);
    }
    void between_packets(const Quiescence& all) {
      packets_.store(all.era(), std::memory_order_release);
    }
    void between_batches(const Quiescence& all) {
      const std::uint64_t era = all.era();
      packets_.store(era, std::memory_order_release);
      batches_.store(era, std::memory_order_release);
    }
    void offline() {
      packets_.store(kOffline, std::memory_order_release);
      batches_.store(kOffline, std::memory_order_release);
    }

   private:
    friend class Quiescence;
    std::atomic<std::uint64_t> packets_{kOffline};
    std::atomic<std::uint64_t> batches_{kOffline};
  };

  [[nodiscard]] Thread& add_thread() { return threads_[count_++]; }

  [[nodiscard]] std::uint64_t era() const { return era_.load(std::memory_order_acquire); }

  /// Control thread: returns when every packet thread has passed the point since the call.
  void wait(Point point) {
    const std::uint64_t era = begin_era();
    for (std::size_t i = 0; i < count_; ++i) {
      for (unsigned spins = 0; behind(threads_[i], point, era); ++spins) {
        // A thread that is behind is in the middle of a packet, or waits for a CPU.
        if (spins < 64) continue;
        if (spins < 1024) {
          std::this_thread::yield();
        } else {
          std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
      }
    }
  }

  /// Control thread: frees the object once no packet thread can use it. It has to be unreachable
  /// for new lookups already.
  template <class T>
  void retire(T* object) {
    retired_.push_back({begin_era(), [object] { delete object; }});
    if (retired_.size() >= 64) collect();
  }

  /// Control thread: frees what is due.
  void collect() {
    std::uint64_t oldest = kOffline;
    for (std::size_t i = 0; i < count_; ++i) {
      oldest = std::min(oldest, threads_[i].packets_.load(std::memory_order_acquire));
    }
    while (!retired_.empty() && retired_.front().era <= oldest) {
      retired_.front().free();
      retired_.pop_front();
    }
  }

  [[nodiscard]] std::size_t retired() const { return retired_.size(); }

  Quiescence() = default;
  Quiescence(const Quiescence&) = delete;
  Quiescence& operator=(const Quiescence&) = delete;
  ~Quiescence() {
    for (const Retired& object : retired_) object.free();
  }

 private:
  static constexpr std::uint64_t kOffline = std::numeric_limits<std::uint64_t>::max();
  struct Retired {
    std::uint64_t era{};
    std::function<void()> free{};
  };

  std::uint64_t begin_era() { return era_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  static bool behind(const Thread& thread, Point point, std::uint64_t era) {
    const auto& passed = point == Point::BetweenPackets ? thread.packets_ : thread.batches_;
    return passed.load(std::memory_order_acquire) < era;
  }

  std::array<Thread, kMaxThreads> threads_{};
  std::size_t count_{};
  std::atomic<std::uint64_t> era_{1};
  std::deque<Retired> retired_{};
};

}  // namespace upf::userplane

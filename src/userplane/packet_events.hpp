#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "ip_packet.hpp"
#include "snapshot.hpp"

namespace upf::userplane {

/// What a packet thread tells the control thread.
struct HeldFirst {
  Seid seid{};
  FarId far{};
  PdrId pdr{};
  std::uint8_t qfi{kNoQfi};
  std::uint8_t dscp{};
};
struct LimitHit {
  Seid seid{};
  UrrId urr{};
  dataplane::LimitReached::Limit limit{};
};
struct Started {
  Seid seid{};
  UrrId urr{};
  std::int64_t wall_ns{};
};
struct TunnelUnknown {
  std::uint32_t teid{};
  bool ipv6{};
  Address peer{};
};
struct EchoAnswered {
  bool ipv6{};
  Address peer{};
};
using PacketEvent = std::variant<HeldFirst, LimitHit, Started, TunnelUnknown, EchoAnswered>;

/// A bounded queue from one thread to another, without locks. When it is full the event is lost,
/// and the reader is told so.
class EventRing {
 public:
  void push(const PacketEvent& event) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == kSize) {
      overrun_.store(true, std::memory_order_release);
      return;
    }
    events_[tail % kSize] = event;
    tail_.store(tail + 1, std::memory_order_release);
  }
  [[nodiscard]] std::optional<PacketEvent> pop() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return std::nullopt;
    const PacketEvent event = events_[head % kSize];
    head_.store(head + 1, std::memory_order_release);
    return event;
  }
  /// Whether events were lost since the last call.
  [[nodiscard]] bool take_overrun() { return overrun_.exchange(false, std::memory_order_acq_rel); }

 private:
  static constexpr std::size_t kSize = 1024;
  std::array<PacketEvent, kSize> events_{};
  alignas(64) std::atomic<std::size_t> head_{};
  alignas(64) std::atomic<std::size_t> tail_{};
  std::atomic<bool> overrun_{};
};

}  // namespace upf::userplane

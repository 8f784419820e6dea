#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gtpu.hpp"
#include "sink.hpp"
#include "snapshot.hpp"

namespace upf::userplane {

/// Datagrams on their way out, collected so that those of one peer leave in one send.
///
/// Datagrams of equal size for one peer are appended to one message, whatever their tunnels, up to
/// 64 or 64 KiB; a shorter one closes it (UDP_SEGMENT's rule). Messages of a peer are sent in the
/// order they were begun and only the newest is appended to, so a peer sees its datagrams in order.
///
/// Payload is referenced where it lies and must lie still until flush(); short payloads are copied,
/// so that a message of small packets is one piece of memory.
class DatagramBatch {
 public:
  DatagramBatch(Sink& sink, bool segment);

  struct Target {
    std::uint16_t socket{};
    std::uint16_t port{gtpu::kPort};
    Address peer{};
    bool ipv6{};
    std::uint8_t tos{};
    bool operator==(const Target&) const = default;
  };

  /// Room for a datagram's headers, valid until the next call of anything else. At most kMaxHead.
  static constexpr std::size_t kMaxHead = 192;
  [[nodiscard]] std::span<std::uint8_t, kMaxHead> head();
  /// Appends the datagram: the first `head_size` octets of head(), then the payload.
  void add(const Target& target, std::size_t head_size, std::span<const std::uint8_t> payload);

  void flush();
  /// Everything is sent and nothing payload-like is referenced.
  [[nodiscard]] bool empty() const { return used_ == 0; }

 private:
  static constexpr std::size_t kMessages = 64;
  static constexpr std::size_t kSegments = 64;  // the kernel's UDP_MAX_SEGMENTS of old
  static constexpr std::size_t kMaxOctets = 65000;
  static constexpr std::size_t kCopied = 512;
  static constexpr std::size_t kArena = 512U * 1024U;

  struct Message {
    Target target{};
    std::uint32_t segment_size{};
    std::uint32_t octets{};
    std::uint16_t count{};
    std::uint16_t parts{};
    bool closed{};
    std::array<iovec, 2 * kSegments> part{};
  };

  static std::size_t hash(const Target& target);
  Message& message_for(const Target& target, std::size_t size);
  static void append(Message& message, const std::uint8_t* data, std::size_t size);

  Sink& sink_;
  const bool segment_;
  std::unique_ptr<std::uint8_t[]> arena_;
  std::size_t arena_used_{};
  std::vector<Message> messages_;
  std::size_t used_{};
  std::array<std::uint8_t, 64> newest_{};  ///< by hash of target: message index plus one
  std::vector<OutMessage> out_;
};

}  // namespace upf::userplane

#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "upf/wire/cursor.hpp"

namespace upf::standin {

/// Writes what a kernel writes: a netlink message, or attributes alone. (The product's Request is
/// not used on purpose: what it gets wrong must not be wrong in the same way here.)
class Message {
 public:
  /// Attributes alone.
  explicit Message(wire::Octets& out) : out_(out) {}
  Message(wire::Octets& out, std::uint16_t type, std::uint16_t flags, std::uint32_t sequence)
      : out_(out) {
    raw(std::uint32_t{0});
    raw(type);
    raw(flags);
    raw(sequence);
    raw(std::uint32_t{0x94});  // port
  }

  void genl(std::uint32_t command, std::uint8_t version) {
    const std::uint8_t header[4] = {static_cast<std::uint8_t>(command), version, 0, 0};
    octets(header);
  }
  template <class V>
  void put(std::uint16_t id, V value) {
    attribute(id, &value, sizeof value);
  }
  void text(std::uint16_t id, std::string_view value) {
    wire::Octets octets(value.begin(), value.end());
    octets.push_back(0);
    attribute(id, octets.data(), octets.size());
  }
  void blob(std::uint16_t id, wire::Bytes value) { attribute(id, value.data(), value.size()); }
  template <class Fill>
  void nest(std::uint16_t id, Fill fill) {
    const std::size_t at = out_.size();
    raw(std::uint16_t{0});
    raw(static_cast<std::uint16_t>(id | 0x8000U));
    fill();
    const auto length = static_cast<std::uint16_t>(out_.size() - at);
    std::memcpy(out_.data() + at, &length, sizeof length);
  }
  template <class V>
  void raw(V value) {
    const auto* octets = reinterpret_cast<const std::uint8_t*>(&value);
    out_.insert(out_.end(), octets, octets + sizeof value);
  }
  void octets(wire::Bytes value) { out_.insert(out_.end(), value.begin(), value.end()); }
  void finish() {
    const auto length = static_cast<std::uint32_t>(out_.size());
    std::memcpy(out_.data(), &length, sizeof length);
  }

 private:
  void attribute(std::uint16_t id, const void* value, std::size_t size) {
    raw(static_cast<std::uint16_t>(size + 4));
    raw(id);
    const auto* octets = static_cast<const std::uint8_t*>(value);
    out_.insert(out_.end(), octets, octets + size);
    out_.resize((out_.size() + 3) & ~std::size_t{3});
  }

  wire::Octets& out_;
};

inline std::uint32_t sequence_of(wire::Bytes message) {
  std::uint32_t sequence{};
  std::memcpy(&sequence, message.data() + 8, sizeof sequence);
  return sequence;
}
inline void set_sequence(wire::Octets& message, std::uint32_t sequence) {
  std::memcpy(message.data() + 8, &sequence, sizeof sequence);
}
inline std::uint64_t wall_ns() {
  using std::chrono::duration_cast;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace upf::standin

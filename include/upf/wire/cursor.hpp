#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace upf::wire {

using Bytes = std::span<const std::uint8_t>;
using Octets = std::vector<std::uint8_t>;

/// Reads octets front to back. A read past the end latches failed(), returns zeros, and every later
/// read does the same: check failed() once at the end, not after each field.
class Reader {
 public:
  explicit Reader(Bytes octets) : rest_(octets) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }
  [[nodiscard]] Bytes rest() const { return rest_; }
  /// For a value that is there but can't be (a reserved length, say): as if the octets had run out.
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  [[nodiscard]] Bytes take(std::size_t count) {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const Bytes head = rest_.first(count);
    rest_ = rest_.subspan(count);
    return head;
  }
  [[nodiscard]] Bytes take_rest() { return take(rest_.size()); }

  /// An unsigned integer in network order. `Width` octets of it are on the wire (3 for 24 bits).
  template <class U, std::size_t Width = sizeof(U)>
  [[nodiscard]] U be() {
    static_assert(std::is_unsigned_v<U> && Width <= sizeof(U));
    const Bytes octets = take(Width);
    std::uint64_t value = 0;
    for (const std::uint8_t octet : octets) value = value << 8U | octet;
    return static_cast<U>(value);
  }

  template <std::size_t N>
  [[nodiscard]] std::array<std::uint8_t, N> array() {
    std::array<std::uint8_t, N> value{};
    const Bytes octets = take(N);
    if (octets.size() == N) std::memcpy(value.data(), octets.data(), N);
    return value;
  }

 private:
  Bytes rest_;
  bool failed_ = false;
};

/// Appends octets to a buffer that grows.
class Writer {
 public:
  template <class U, std::size_t Width = sizeof(U)>
  void be(U value) {
    static_assert(std::is_unsigned_v<U> && Width <= sizeof(U));
    for (std::size_t i = Width; i-- > 0;) {
      octets_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8U * i)));
    }
  }
  void put(Bytes octets) { octets_.insert(octets_.end(), octets.begin(), octets.end()); }

  [[nodiscard]] std::size_t size() const { return octets_.size(); }
  /// Overwrites 16 bits written before: a length, once it is known.
  void patch_be16(std::size_t at, std::uint16_t value) {
    octets_.at(at) = static_cast<std::uint8_t>(value >> 8U);
    octets_.at(at + 1) = static_cast<std::uint8_t>(value);
  }
  /// Takes zero octets off the end, down to `size`.
  void trim_zeros(std::size_t size) {
    while (octets_.size() > size && octets_.back() == 0) octets_.pop_back();
  }
  void reserve(std::size_t size) { octets_.reserve(size); }
  [[nodiscard]] const Octets& octets() const { return octets_; }
  [[nodiscard]] Octets take() && { return std::move(octets_); }
  /// Keeps the memory for the next message.
  void clear() { octets_.clear(); }

 private:
  Octets octets_;
};

}  // namespace upf::wire

#pragma once

// What a TUN device with virtio-net headers asks of its reader and allows its writer: packets of up
// to 64 KiB that stand for many TCP segments (TSO), and checksums left undone. IPv4 only; anything
// else passes as it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "upf/wire/cursor.hpp"

namespace upf::lab {

/// struct virtio_net_hdr of <linux/virtio_net.h>, which C++ can't include. Native byte order on a
/// TUN.
struct VnetHeader {
  static constexpr std::uint8_t kNeedsChecksum = 1;  ///< in flags
  static constexpr std::uint8_t kTcp4 = 1;           ///< as gso_type
  std::uint8_t flags{};
  std::uint8_t gso_type{};
  std::uint16_t hdr_len{};
  std::uint16_t gso_size{};
  std::uint16_t csum_start{};
  std::uint16_t csum_offset{};
};
static_assert(sizeof(VnetHeader) == 10);

/// RFC 1071 over an octet string that starts on an even place; not inverted, not folded.
[[nodiscard]] std::uint64_t sum_octets(wire::Bytes octets, std::uint64_t sum = 0);
[[nodiscard]] std::uint16_t fold(std::uint64_t sum);

/// The segments that one read from the TUN stands for, headers and checksums complete.
class Splitter {
 public:
  Splitter(const VnetHeader& header, std::span<std::uint8_t> packet);
  /// The next segment, into `out` (65535 octets are enough); its size, 0 behind the last.
  [[nodiscard]] std::size_t next(std::uint8_t* out);

 private:
  std::span<std::uint8_t> packet_;
  std::size_t headers_{};  ///< IP and TCP; 0: the packet is one segment
  std::size_t ip_header_{};
  std::size_t segment_{};
  std::size_t done_{};
  std::uint16_t index_{};
  bool over_{};
};

/// Joins TCP segments that follow each other into one super packet for the TUN.
class Merger {
 public:
  explicit Merger(int tun) : tun_(tun) {}
  /// The octets must stay where they are until flush().
  void add(wire::Bytes packet);
  void flush();

 private:
  [[nodiscard]] bool continues(wire::Bytes packet) const;
  void begin(wire::Bytes packet);
  void write_merged();

  int tun_;
  std::vector<wire::Bytes> parts_{};  ///< whole packets of one flow, in order
  std::size_t headers_{};             ///< IP and TCP of each
  std::size_t segment_{};             ///< payload of each but the last
  std::size_t octets_{};
  std::uint32_t next_sequence_{};
  bool closed_{};
};

}  // namespace upf::lab

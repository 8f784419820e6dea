#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::app::ops {

/// A capture file in memory, as draft-ietf-opsawg-pcapng describes it: one section, an interface
/// for N4 and one for user packets, all as raw IP, times in nanoseconds.
///
/// Limits: what would make it longer than `limit` is left out and counted.
class Pcapng {
 public:
  enum class Interface : std::uint32_t { N4 = 0, User = 1 };

  explicit Pcapng(std::size_t limit);

  /// An IP packet; `original` is its length before it was cut.
  void add(Interface interface, WallTime at, wire::Bytes packet, std::size_t original);
  /// A UDP datagram, inside an IP packet made for it.
  void add_datagram(WallTime at, const SocketAddress& from, const SocketAddress& to,
                    wire::Bytes payload);

  [[nodiscard]] const std::string& octets() const { return octets_; }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] bool full() const { return left_out_ != 0; }

 private:
  std::size_t limit_;
  std::string octets_{};
  std::uint64_t packets_{};
  std::uint64_t left_out_{};
};

/// An IP packet with a UDP datagram inside, checksums and all.
[[nodiscard]] wire::Octets ip_packet_of(const SocketAddress& from, const SocketAddress& to,
                                        wire::Bytes payload);

}  // namespace upf::app::ops

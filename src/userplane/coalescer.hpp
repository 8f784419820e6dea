#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ip_packet.hpp"
#include "sink.hpp"
#include "vnet_header.hpp"

namespace upf::userplane {

/// Packets on their way to N6, glued: consecutive TCP segments or equal UDP datagrams of one flow
/// become one super packet, which passes the kernel once and is cut again by it or by the NIC.
///
/// Only what segmentation gives back bit by bit is glued (IPv4 IDs aside): equal ToS, TTL, DF, flow
/// label, TCP options, acknowledgement and window, sequence numbers without a gap, checksums
/// verified (segmentation computes them anew and would hide damage). What can't be glued pushes the
/// flow's earlier packets out first, so a flow keeps its order. Nothing waits longer than until
/// flush(), which ends each batch of received packets.
///
/// Packets are referenced and their headers changed where they lie; they must lie still until
/// flush().
class Coalescer {
 public:
  /// `vnet_header`: the TUN takes virtio-net headers; `udp`: it takes UDP super packets.
  Coalescer(Sink& sink, bool vnet_header, bool udp) : sink_(sink), vnet_(vnet_header), udp_(udp) {}

  void add(const IpPacket& packet);
  void flush();

  struct Counts {
    std::uint64_t glued{};  ///< packets that left in a super packet
    std::uint64_t bad_checksums{};
  };
  /// Since the last call.
  [[nodiscard]] Counts take_counts() { return std::exchange(counts_, {}); }

 private:
  static constexpr std::size_t kSlots = 8;
  static constexpr std::size_t kSegments = 64;
  static constexpr std::size_t kMaxOctets = 65500;

  struct Slot {
    bool used{};
    bool closed{};
    bool verified{};  ///< the first packet's checksum
    IpPacket first{};
    std::uint16_t header_size{};   ///< IP and L4
    std::uint16_t segment_size{};  ///< payload of all but the last
    std::uint32_t next_sequence{};
    std::uint32_t octets{};
    std::uint8_t tcp_flags{};
    std::uint32_t count{};
    std::uint64_t opened{};                    ///< smaller than that of slots opened later
    std::array<iovec, kSegments + 1> parts{};  ///< [0] is the virtio-net header's
  };
  /// What a packet has to offer for gluing; header_size 0: nothing.
  struct Candidate {
    std::uint16_t header_size{};
    std::uint16_t payload{};
    std::uint32_t sequence{};
    std::uint8_t tcp_flags{};
  };

  [[nodiscard]] Candidate candidate(const IpPacket& packet) const;
  static bool same_flow(const IpPacket& a, const IpPacket& b);
  static bool same_headers(const Slot& slot, const IpPacket& packet, const Candidate& c);
  [[nodiscard]] bool extends(Slot& slot, const IpPacket& packet, const Candidate& c);
  void append(Slot& slot, const IpPacket& packet, const Candidate& c);
  void open(const IpPacket& packet, const Candidate& c);
  [[nodiscard]] Slot* oldest();
  void write_single(const IpPacket& packet);
  void write(Slot& slot);
  static void finish_headers(Slot& slot, VnetHeader& header);

  Sink& sink_;
  const bool vnet_;
  const bool udp_;
  std::array<Slot, kSlots> slots_{};
  std::uint64_t opened_{};
  Counts counts_{};
};

}  // namespace upf::userplane

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ip_packet.hpp"
#include "vnet_header.hpp"

namespace upf::userplane {

/// A packet as the TUN hands it over: a super packet that is still to be cut, or one packet.
struct SuperPacket {
  IpPacket ip{};
  std::uint16_t header_size{};   ///< IP and L4; what each segment begins with
  std::uint16_t segment_size{};  ///< L4 payload of all but the last; 0: not to be cut
  std::uint32_t count{1};
  bool cut_short{};  ///< segments at the end were taken off

  [[nodiscard]] std::uint32_t payload() const { return ip.length - header_size; }
};

/// Reads the virtio-net header. A checksum left to the receiver is completed, if the packet is not
/// to be cut (cutting computes it anyway). False: no IP packet, or the header doesn't fit it.
[[nodiscard]] bool read_super_packet(const VnetHeader& header, std::uint8_t* data, std::size_t size,
                                     SuperPacket& packet);

/// Writes the IP and L4 headers of segment `index` (below count) to `out` (header_size octets) and
/// gives its payload. Lengths, IPv4 ID and checksum, TCP sequence number and flags and the full L4
/// checksum are the segment's own.
std::span<const std::uint8_t> write_segment(const SuperPacket& packet, std::uint32_t index,
                                            std::uint8_t* out);

}  // namespace upf::userplane

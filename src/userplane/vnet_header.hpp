#pragma once

#include <cstdint>

/// struct virtio_net_hdr of the Linux UAPI (linux/virtio_net.h, which no C++ compiler takes), host
/// order, as a TUN device with IFF_VNET_HDR reads and writes it before each packet.
namespace upf::userplane {

struct VnetHeader {
  std::uint8_t flags{};
  std::uint8_t gso_type{};
  std::uint16_t header_length{};
  std::uint16_t gso_size{};
  std::uint16_t checksum_start{};
  std::uint16_t checksum_offset{};
};
static_assert(sizeof(VnetHeader) == 10);

inline constexpr std::uint8_t kVnetNeedsChecksum = 1;

inline constexpr std::uint8_t kGsoNone = 0;
inline constexpr std::uint8_t kGsoTcp4 = 1;
inline constexpr std::uint8_t kGsoTcp6 = 4;
inline constexpr std::uint8_t kGsoUdpL4 = 5;  // since Linux 6.2
inline constexpr std::uint8_t kGsoEcn = 0x80;

}  // namespace upf::userplane

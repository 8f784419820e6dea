#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ip_packet.hpp"

/// What the packet path writes to. The product's sink is sockets and a TUN; tests have one in
/// memory.
namespace upf::userplane {

/// One send: datagrams of one peer that stand back to back. All but the last have segment_size
/// octets, the last as many or fewer.
struct OutMessage {
  std::uint16_t socket{};  ///< index of the local address
  std::uint16_t port{};
  Address peer{};
  bool ipv6{};
  std::uint8_t tos{};
  std::uint16_t count{};         ///< datagrams
  std::uint32_t segment_size{};  ///< octets of each
  std::uint32_t octets{};        ///< of all
  std::span<const iovec> parts{};
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void send(std::span<const OutMessage> messages) = 0;
  /// One IP packet or super packet, behind its virtio-net header if the TUN has one.
  virtual void write_n6(std::span<const iovec> parts) = 0;
};

}  // namespace upf::userplane

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/runtime/error.hpp"
#include "upf/runtime/unique_fd.hpp"

namespace upf::runtime {

/// A datagram that arrived. The octets stay until the socket's next receive().
struct Received {
  SocketAddress from{};
  IpAddress to{};  ///< our address that it was sent to
  std::span<const std::uint8_t> octets{};
};

/// A datagram to send; `from` chooses among our addresses where the socket is bound to all.
struct Sending {
  SocketAddress to{};
  std::optional<IpAddress> from{};
  std::span<const std::uint8_t> octets{};
};

/// What has arrived at a socket and was not read.
struct Backlog {
  unsigned percent{};       ///< of the receive buffer
  std::size_t waiting{};    ///< datagrams, if they are of some hundred octets
  std::uint32_t dropped{};  ///< datagrams for which there was no room, so far
};

/// A non-blocking UDP socket that reads and writes in batches.
///
/// Limits: 64 datagrams of up to 65,535 octets a call, so nothing is ever cut.
class UdpSocket {
 public:
  static constexpr std::size_t kBatch = 64;

  [[nodiscard]] static Result<UdpSocket, SystemError> bind(const SocketAddress& local);
  UdpSocket(UdpSocket&&) noexcept;
  UdpSocket& operator=(UdpSocket&&) noexcept;
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;
  ~UdpSocket();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// As bound; with port 0, the port that the kernel chose.
  [[nodiscard]] const SocketAddress& local() const { return local_; }

  /// What has arrived, at most a batch; empty if nothing. A pending socket error is the failure,
  /// and the next call goes on.
  [[nodiscard]] Result<std::span<const Received>, SystemError> receive();

  [[nodiscard]] Backlog backlog() const;

  /// How many the kernel took. The rest were refused one by one (no route, too long, no buffer) and
  /// are gone, as UDP datagrams may be.
  [[nodiscard]] std::size_t send(std::span<const Sending> datagrams);

 private:
  struct Buffers;
  UdpSocket(UniqueFd fd, const SocketAddress& local);
  std::size_t send_batch(std::span<const Sending> datagrams);

  UniqueFd fd_;
  SocketAddress local_{};
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace upf::runtime

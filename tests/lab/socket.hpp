#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"

struct sockaddr_in;

namespace upf::lab {

/// A descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

/// A bound UDP socket with large buffers. The error says which address, and why.
[[nodiscard]] Result<Socket, std::string> bind_udp(Ipv4 address, std::uint16_t port);
[[nodiscard]] sockaddr_in socket_address(Ipv4 address, std::uint16_t port);
[[nodiscard]] std::string errno_text(const std::string& what);
/// Waits until the descriptor is readable; false when the time is over.
[[nodiscard]] bool readable(int fd, int milliseconds);

}  // namespace upf::lab

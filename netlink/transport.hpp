#pragma once

#include <cstdint>
#include <span>

#include "upf/base/result.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::netlink {

/// A netlink socket, as far as this code needs one: datagrams out, datagrams in. The seam at which
/// tests put a kernel of their own; nothing above it knows the difference.
///
/// Errors are errno values.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// One or more whole messages in one system call. The kernel runs them before this returns.
  [[nodiscard]] virtual Result<void, int> send(wire::Bytes messages) = 0;

  /// The next datagram, cut to the buffer; EAGAIN if there is none (for requests: after a timeout).
  [[nodiscard]] virtual Result<std::size_t, int> receive(std::span<std::uint8_t> buffer) = 0;

  /// For epoll; -1 if it never becomes readable.
  [[nodiscard]] virtual int descriptor() const = 0;
};

}  // namespace upf::netlink

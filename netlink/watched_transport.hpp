#pragma once

#include <chrono>
#include <memory>

#include "netlink/transport.hpp"

namespace upf::netlink {

/// A transport whose send() can't hang its caller.
///
/// The kernel runs a request inside the sender's own system call. If a lock that it needs is never
/// released (gtp5g has leaked the rtnl lock in more than one version) that call never returns and
/// can't be interrupted. So it is made on a thread of its own; one that doesn't come back in time
/// is reported as ETIMEDOUT, and so is every call after it, without being made.
class WatchedTransport final : public Transport {
 public:
  WatchedTransport(std::unique_ptr<Transport> inner, std::chrono::milliseconds limit);
  ~WatchedTransport() override;

  [[nodiscard]] Result<void, int> send(wire::Bytes messages) override;
  [[nodiscard]] Result<std::size_t, int> receive(std::span<std::uint8_t> buffer) override;
  [[nodiscard]] int descriptor() const override;

 private:
  struct Shared;  // outlives this object if a call never returns
  std::shared_ptr<Shared> shared_;
};

}  // namespace upf::netlink

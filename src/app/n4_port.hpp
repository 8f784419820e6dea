#pragma once

#include <unordered_map>
#include <vector>

#include "upf/n4/message.hpp"
#include "upf/runtime/udp_socket.hpp"

namespace upf::app {

/// The N4 socket. Bound to all addresses it remembers at which of them each peer was heard, so that
/// what goes to the peer leaves from there (cases.md 32's SMF with several addresses checks).
class N4Port {
 public:
  explicit N4Port(runtime::UdpSocket socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] const SocketAddress& local() const { return socket_.local(); }
  [[nodiscard]] runtime::Backlog backlog() const { return socket_.backlog(); }
  [[nodiscard]] Result<std::span<const runtime::Received>, runtime::SystemError> receive();
  /// How many the kernel refused.
  std::size_t send(const std::vector<n4::Datagram>& datagrams);

 private:
  /// More peers than any SMF set has; forgetting one costs no more than the kernel's choice.
  static constexpr std::size_t kRemembered = 4096;
  void remember(const runtime::Received& datagram);

  runtime::UdpSocket socket_;
  std::unordered_map<IpAddress, IpAddress> heard_at_{};
};

}  // namespace upf::app

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "netlink/gtp5g/host.hpp"
#include "tests/standin/kernel.hpp"

namespace upf::standin {

/// Datagrams from one side to the other with a descriptor that is readable while there are any.
class Mailbox {
 public:
  Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox();

  void put(SocketAddress from, wire::Bytes octets);
  /// The next receive() says ENOBUFS, as after a queue overran.
  void overrun();
  struct Item {
    SocketAddress from{};
    wire::Octets octets{};
  };
  [[nodiscard]] Result<Item, int> take();
  [[nodiscard]] int descriptor() const { return event_; }

 private:
  void settle();
  mutable std::mutex mutex_{};
  std::deque<Item> items_{};
  bool overrun_{};
  int event_{-1};
};

/// What left, for tests that look at packets.
struct SentDatagram {
  Ipv4 from{};
  SocketAddress to{};
  std::uint8_t tos{};
  wire::Octets octets{};
};

/// A whole machine in one process: the kernel, its sockets, and records of what leaves. Shared by
/// the hosts made of it, so that a plane can come and go on it.
class Machine : public Outputs {
 public:
  Machine();
  ~Machine() override;

  Kernel kernel{*this};

  // Outputs
  void to_n6(wire::Bytes packet, std::uint32_t mark) override;
  void to_peer(Ipv4 from, const SocketAddress& to, std::uint8_t tos, wire::Bytes datagram) override;
  void to_socket(const SocketAddress& from, wire::Bytes datagram) override;
  void event(wire::Bytes message) override;

  /// The daemon sends on the GTP-U socket. To our own address it comes back in.
  virtual bool send(Ipv4 from, const SocketAddress& to, std::uint8_t tos, wire::Bytes datagram);

  // The machine's set-up; a derived one makes it real.
  [[nodiscard]] virtual Result<void, std::string> open_socket(const std::vector<Ipv4>& addresses,
                                                              std::uint16_t port);
  virtual void close_socket();
  [[nodiscard]] virtual Result<void, std::string> create_link(const gtp5g::LinkRequest& request);
  virtual void remove_link();
  [[nodiscard]] virtual Result<void, std::string> add_route(Ipv4Prefix destination);
  [[nodiscard]] virtual Result<std::uint32_t, std::string> mtu_at(Ipv4 address);

  [[nodiscard]] std::vector<SentDatagram> take_sent();
  [[nodiscard]] std::vector<wire::Octets> take_n6();

  Mailbox events{};
  Mailbox socket{};
  std::vector<Ipv4> addresses{};
  std::vector<Ipv4Prefix> routes{};
  std::map<std::string, std::string> options{};
  std::optional<gtp5g::LinkRequest> link{};
  std::uint32_t interface_mtu{1500};
  std::optional<std::string> without_module{};  ///< a kernel's release
  bool stale_link{};                            ///< a dead process left one

 private:
  std::mutex mutex_{};
  std::vector<SentDatagram> sent_{};
  std::vector<wire::Octets> n6_{};
};

[[nodiscard]] std::unique_ptr<gtp5g::Host> host_of(std::shared_ptr<Machine> machine);

}  // namespace upf::standin

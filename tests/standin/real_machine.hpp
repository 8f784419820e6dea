#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "tests/standin/host.hpp"

namespace upf::standin {

/// The stand-in kernel with real ends: GTP-U on a UDP socket, N6 on a TUN device under the link's
/// name, and one thread that forwards, a packet a system call.
class RealMachine final : public Machine {
 public:
  RealMachine();
  ~RealMachine() override;

  void to_n6(wire::Bytes packet, std::uint32_t mark) override;
  void to_peer(Ipv4 from, const SocketAddress& to, std::uint8_t tos, wire::Bytes datagram) override;
  [[nodiscard]] Result<void, std::string> open_socket(const std::vector<Ipv4>& addresses,
                                                      std::uint16_t port) override;
  void close_socket() override;
  [[nodiscard]] Result<void, std::string> create_link(const gtp5g::LinkRequest& request) override;
  void remove_link() override;
  [[nodiscard]] Result<void, std::string> add_route(Ipv4Prefix destination) override;
  [[nodiscard]] Result<std::uint32_t, std::string> mtu_at(Ipv4 address) override;

 private:
  void forward();
  void read_datagram();
  void read_packet();
  void stop();

  std::unique_ptr<gtp5g::Host> linux_;
  gtp5g::Link tun_link_{};
  int udp_{-1};
  int tun_{-1};
  int stop_{-1};
  std::thread thread_{};
};

}  // namespace upf::standin

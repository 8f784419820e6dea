#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/transport.hpp"
#include "upf/base/address.hpp"
#include "upf/base/result.hpp"

namespace upf::gtp5g {

/// The UDP socket that the kernel module receives GTP-U on. What the module doesn't handle itself
/// (Error Indications, Echo Responses, …) arrives here; what the daemon sends leaves here.
class GtpuSocket {
 public:
  struct Datagram {
    SocketAddress from{};
    std::size_t size{};
  };

  GtpuSocket() = default;
  GtpuSocket(const GtpuSocket&) = delete;
  GtpuSocket& operator=(const GtpuSocket&) = delete;
  virtual ~GtpuSocket() = default;

  [[nodiscard]] virtual int descriptor() const = 0;
  /// From now on nothing reaches it, nor the module by it.
  virtual void silence() = 0;
  /// None: nothing to read now.
  [[nodiscard]] virtual std::optional<Datagram> receive(std::span<std::uint8_t> buffer) = 0;
  /// False if the kernel didn't take it. `tos` is of the outer header.
  [[nodiscard]] virtual bool send(Ipv4 from, const SocketAddress& to, std::uint8_t tos,
                                  wire::Bytes datagram) = 0;
};

struct Link {
  std::string name{};
  std::uint32_t index{};
};

struct LinkRequest {
  std::string name{};
  std::uint32_t mtu{};
  std::uint32_t hash_size{};
};

/// What the plane needs of the machine besides generic netlink. Errors are sentences for the
/// operator: what failed and what to do.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  /// The release of the running kernel, if it is seen that no gtp5g module was built for it.
  [[nodiscard]] virtual std::optional<std::string> kernel_without_module() = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<netlink::Transport>, std::string>
  open_requests() = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<netlink::Transport>, std::string> open_events(
      std::uint32_t multicast_group, std::size_t receive_buffer) = 0;
  /// Has the port; datagrams reach it only once there is a link that it belongs to.
  [[nodiscard]] virtual Result<std::unique_ptr<GtpuSocket>, std::string> open_gtpu(
      const std::vector<Ipv4>& addresses, std::uint16_t port) = 0;

  /// MTU of the interface that holds the address.
  [[nodiscard]] virtual Result<std::uint32_t, std::string> mtu_at(Ipv4 address) = 0;
  /// Makes the link and brings it up. A gtp5g link of that name that a dead process left is
  /// removed first; anything else of that name is an error.
  [[nodiscard]] virtual Result<Link, std::string> create_link(const LinkRequest& request,
                                                              const GtpuSocket& socket) = 0;
  [[nodiscard]] virtual Result<void, std::string> remove_link(const Link& link) = 0;
  [[nodiscard]] virtual Result<void, std::string> add_route(const Link& link,
                                                            Ipv4Prefix destination) = 0;
  /// Writes /proc/gtp5g/`name`.
  [[nodiscard]] virtual Result<void, std::string> set_option(std::string_view name,
                                                             std::string_view value) = 0;
};

/// This machine.
[[nodiscard]] std::unique_ptr<Host> linux_host();

}  // namespace upf::gtp5g

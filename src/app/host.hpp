#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/config/config.hpp"

/// What the daemon needs of the host it runs on, and what to say when it isn't so.
namespace upf::app {

/// Reads below `/`; tests have another root.
class Host {
 public:
  explicit Host(std::string root = "/") : root_(std::move(root)) {}

  /// The process that has this UDP port, as `name (pid 12)`, where that can be seen.
  [[nodiscard]] std::optional<std::string> owner_of_udp_port(std::uint16_t port) const;
  /// Whether this process may set up links and routes in its network namespace.
  [[nodiscard]] bool has_net_admin() const;
  /// What keeps packets from being forwarded though nothing fails: IP forwarding off, strict
  /// reverse path filters. Each a sentence that ends with the command which mends it.
  [[nodiscard]] std::vector<std::string> forwarding_faults(const config::Config& config) const;
  /// Switches IPv4 forwarding on.
  [[nodiscard]] Result<void, std::string> enable_forwarding() const;

 private:
  [[nodiscard]] std::string read(const std::string& path) const;
  [[nodiscard]] std::string strictly_filtered(const std::string& link) const;

  std::string root_;
};

/// The addresses of a name, by the resolver; it may block for seconds, so only at start.
[[nodiscard]] Result<std::vector<IpAddress>, std::string> resolve(const std::string& name);

/// Fills in the addresses of names where the daemon needs them (pfcp.addr, gtpu.ifList,
/// pfcp.peers). A peer that can't be resolved is left as it is. The Node ID is never looked up.
[[nodiscard]] Result<config::Config, std::string> resolve_names(config::Config config);

}  // namespace upf::app

#pragma once

#include <memory>
#include <vector>

#include "upf/base/result.hpp"
#include "upf/config/config.hpp"

namespace upf::app {

/// Routing tables of data networks (dnnList[].table): packets that come from a pool's UEs are
/// routed by the network's table before the main one, and the table knows the way back to them.
/// There as long as this is; both forwarders have one device to all data networks, and this keeps
/// the networks apart.
class NetworkRoutes {
 public:
  /// The device is there and up. Removes what a dead process left first. The error says what to do.
  [[nodiscard]] static Result<std::unique_ptr<NetworkRoutes>, std::string> open(
      const config::Config& config);
  NetworkRoutes(const NetworkRoutes&) = delete;
  NetworkRoutes& operator=(const NetworkRoutes&) = delete;
  /// One more data network; nothing if it has no table.
  [[nodiscard]] Result<void, std::string> add(const config::Dnn& dnn);
  /// The rules go; the routes go with the device.
  ~NetworkRoutes();

 private:
  explicit NetworkRoutes(std::string device) : device_(std::move(device)) {}
  std::string device_;
  std::vector<config::Dnn> networks_{};
};

}  // namespace upf::app

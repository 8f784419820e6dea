#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fd.hpp"
#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/userplane/user_plane.hpp"

namespace upf::userplane {

/// The TUN device: N6 as the kernel sees it. It is up and has its routes when open() returns, and
/// goes with the last of its queues.
struct Tun {
  std::string name{};
  std::vector<Fd> queues{};  ///< non-blocking
  bool vnet_header{};
  bool tso{};
  bool uso{};

  [[nodiscard]] static Result<Tun, std::string> open(const Settings& settings, std::uint32_t mtu,
                                                     unsigned queues);
};

/// Routes a network of UEs to the device.
[[nodiscard]] Result<void, std::string> add_route(const IpPrefix& network, const std::string& name);

}  // namespace upf::userplane

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "snapshot.hpp"
#include "upf/userplane/user_plane.hpp"

namespace upf::userplane {

/// Which local address sends to a peer: the only one of the family, the one of the network instance
/// that the FAR names, or the one that the kernel's routes choose.
class RoutedEnds : public LocalEnds {
 public:
  explicit RoutedEnds(std::vector<LocalAddress> locals) : locals_(std::move(locals)) {}
  [[nodiscard]] std::optional<std::uint16_t> towards(const IpAddress& peer,
                                                     const std::string& network_instance) override;

 private:
  [[nodiscard]] std::vector<std::uint16_t> candidates(const IpAddress& peer,
                                                      const std::string& network_instance) const;
  std::uint16_t by_route(const IpAddress& peer, const std::vector<std::uint16_t>& candidates);

  std::vector<LocalAddress> locals_;
  std::map<IpAddress, IpAddress> routed_{};  ///< peer to the source address that routes choose
};

/// Every address of this host's interfaces.
[[nodiscard]] std::vector<IpAddress> host_addresses();
/// MTU of the interface that has the address; of a wildcard the smallest of those that are up and
/// no loopback; 1500 if there is none.
[[nodiscard]] std::uint32_t mtu_of(const IpAddress& address);

}  // namespace upf::userplane

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/dataplane/echo_timers.hpp"
#include "upf/dataplane/packet_buffer.hpp"

/// The data plane in user space: GTP-U over UDP sockets on one side, a TUN device on the other.
namespace upf::userplane {

/// An address that GTP-U is received on and sent from.
struct LocalAddress {
  IpAddress address{};
  std::string interface {};        ///< bound to this interface or VRF; empty: to none
  std::string network_instance{};  ///< FARs that name it send from here; empty: any may
};

/// The kernel's batching doors. All are tried; what the kernel lacks is done without (see
/// notices()). Switched off in tests only.
struct Offloads {
  bool udp_gro{true};      ///< many datagrams of one peer in one receive
  bool udp_segment{true};  ///< many datagrams to one peer in one send
  bool vnet_header{true};  ///< super packets and partial checksums through the TUN
  bool tso{true};          ///< TCP super packets from the TUN
  bool uso{true};          ///< UDP super packets from the TUN
};

struct Settings {
  std::string tun_name{"upftun"};
  std::uint32_t mtu{};  ///< of the TUN; 0: what fits the interface of the first local address
  std::vector<LocalAddress> local_addresses{};
  std::vector<IpPrefix> ue_pools{};  ///< routed to the TUN
  unsigned workers{};                ///< packet threads; 0: one on one CPU, else two
  bool copy_dscp{};                  ///< the inner DSCP to the outer header, where no rule marks it
  std::uint32_t error_indications_per_second{100};  ///< 0: none are sent
  dataplane::EchoTimers echo{};
  dataplane::BufferLimits buffers{};
  Offloads offloads{};
};

/// Threading: as the port says for all members; packets are forwarded by threads of its own from
/// open() until the destructor, which removes the TUN device.
class UserPlane : public dataplane::DataPlane {
 public:
  /// The error is one line for the operator: what failed and what to do.
  [[nodiscard]] static Result<std::unique_ptr<UserPlane>, std::string> open(
      const Settings& settings);
  /// capabilities(), of one that is opened with these.
  [[nodiscard]] static dataplane::Capabilities abilities(const Settings& settings);

  /// What an operator should read once: offloads that the kernel lacks, settings of the host that
  /// keep packets from flowing. Empties the list.
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
};

}  // namespace upf::userplane

#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "contract/packets.hpp"
#include "upf/dataplane/data_plane.hpp"

/// A data plane and what lies around it: GTP-U peers on one side, the data network on the other.
/// The contract (data_plane_contract.hpp) is written against this; each plane brings its World.
namespace upf::contract {

/// A packet that left the plane.
struct Output {
  bool to_n6{};
  IpAddress peer{};  ///< GTP-U: where it went to
  Octets octets{};   ///< the IP packet, or the GTP-U message
  bool operator==(const Output&) const = default;
};

/// What some planes can't do; tests of it are skipped for them, visibly.
enum class Trait : std::uint8_t {
  QfiMatch,      ///< the PDI's QFIs are matched
  TrafficStart,  ///< TrafficStart events
  CountsDrops,   ///< what is dropped is counted by URR; else such a URR is refused
};

class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;

  [[nodiscard]] virtual dataplane::DataPlane& plane() = 0;

  /// The plane's own GTP-U address.
  [[nodiscard]] virtual Ipv4 local() const { return {{10, 100, 0, 1}}; }
  /// GTP-U peers that exist (gNBs and another UPF).
  [[nodiscard]] virtual Ipv4 peer(std::uint8_t number) const {
    return {{10, 100, 0, static_cast<std::uint8_t>(2 + number)}};
  }
  // UE addresses are taken from 10.45.0.0/16 and 2001:db8:45::/48, hosts of the data network from
  // 198.51.100.0/24 and 2001:db8:100::/64.

  /// A datagram to the plane's GTP-U port, from a peer.
  virtual void from_peer(std::uint8_t number, const Octets& datagram) = 0;
  /// A packet of the data network, addressed to a UE.
  virtual void from_n6(const Octets& packet) = 0;
  /// Everything that left the plane since the last call, in order (per kind of exit), once the
  /// plane has dealt with all that was sent to it. IP packets are as the plane sent them: hops that
  /// the World adds are taken back.
  [[nodiscard]] virtual std::vector<Output> settle() = 0;
  /// Events that came until now and within reason after it.
  [[nodiscard]] virtual std::vector<dataplane::Event> events() = 0;

  /// Takes the uplink PDR of usual_session() (SEID 1) away behind the plane's back. False: there is
  /// no way to.
  [[nodiscard]] virtual bool lose_uplink() { return false; }

  [[nodiscard]] virtual bool has(Trait) const { return true; }
  /// What a URR counts for a T-PDU (gtp5g counts payload behind the L4 header only).
  [[nodiscard]] virtual std::uint64_t counted_octets(const Octets& t_pdu) const {
    return t_pdu.size();
  }
};

struct WorldFactory {
  std::string name{};
  std::function<std::unique_ptr<World>()> make{};
};
inline void PrintTo(const WorldFactory& factory, std::ostream* out) { *out << factory.name; }

}  // namespace upf::contract

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/ids.hpp"
#include "upf/rules/rules.hpp"

/// What the kernel is told of one session: values without IDs. Each carries a key that says which
/// PFCP rule it comes from and in which role, so that two compilations of a session can be compared
/// and reports be traced back.
///
/// One PFCP rule may become several kernel rules, or none:
///   PDR  one per UE address and SDF filter (the kernel keeps only the last filter of a PDR)
///   FAR  one per set of quotas that the PDRs using it are under (the kernel enforces a quota by
///        turning the FARs of its PDRs to DROP)
///   QER  as itself, as itself without its rate, as the tighter of several rates, or as a gate that
///        is shut
///   URR  a meter, and a threshold, a quota and a start detector as long as these are armed
namespace upf::gtp5g {

struct KernelTunnel {
  Teid teid{};
  Ipv4 peer{};
  std::uint16_t port{};
  bool operator==(const KernelTunnel&) const = default;
};

/// A quota by URR and generation: FARs under another generation of it are other kernel rules, so
/// that one which the kernel just closed is never taken for an open one.
struct QuotaRef {
  UrrId urr{};
  std::uint32_t generation{};
  auto operator<=>(const QuotaRef&) const = default;
};

struct FarKey {
  FarId far{};
  std::vector<QuotaRef> quotas{};  ///< sorted: the quotas whose exhaustion closes it
  bool from_n6{};  ///< for PDRs without a tunnel: the kernel can only encapsulate these
  auto operator<=>(const FarKey&) const = default;
};

struct KernelFar {
  std::uint16_t action{};
  std::optional<KernelTunnel> tunnel{};
  std::uint8_t tos{};
  std::uint32_t mark{};  ///< 0: none
  bool operator==(const KernelFar&) const = default;
};

struct QerKey {
  enum class Role : std::uint8_t { Whole, WithoutRate, TighterRate, ShutGate };
  Role role{};
  std::vector<QerId> qers{};  ///< one; those whose rates are combined for TighterRate
  auto operator<=>(const QerKey&) const = default;
};

struct KernelQer {
  std::uint8_t gate{};
  std::optional<rules::BitRate> mbr{};
  std::optional<rules::BitRate> gbr{};
  std::uint8_t qfi{};  ///< as it goes into the PDU Session Container: with the RQI bit
  bool operator==(const KernelQer&) const = default;
};

struct UrrKey {
  enum class Role : std::uint8_t { Meter, Threshold, Quota, Start };
  UrrId urr{};
  Role role{};
  auto operator<=>(const UrrKey&) const = default;
};

struct KernelUrr {
  rules::VolumeLimit limit{};  ///< of thresholds and quotas; a new generation is a new rule
  bool before_qos{};
  bool operator==(const KernelUrr&) const = default;
};

struct KernelFlow {
  std::uint8_t protocol{};
  Ipv4Prefix source{};  ///< as packets of the PDR carry it: ends already swapped on uplink
  Ipv4Prefix destination{};
  std::vector<rules::PortRange> source_ports{};
  std::vector<rules::PortRange> destination_ports{};
  bool operator==(const KernelFlow&) const = default;
};

/// In the order in which packets must meet them: lowest precedence value, then lowest PDR ID.
struct PdrKey {
  std::uint32_t precedence{};
  PdrId pdr{};
  std::uint16_t variant{};
  auto operator<=>(const PdrKey&) const = default;
};

struct KernelPdr {
  bool uplink{};
  std::optional<Ipv4> ue_address{};
  std::optional<Teid> teid{};
  Ipv4 local_address{};  ///< of the F-TEID; else what encapsulated packets are sent from
  std::optional<KernelFlow> flow{};
  bool removal{};
  FarKey far{};
  std::vector<QerKey> qers{};
  std::vector<UrrKey> urrs{};
  bool operator==(const KernelPdr&) const = default;
};

struct KernelRules {
  std::map<FarKey, KernelFar> fars{};
  std::map<QerKey, KernelQer> qers{};
  std::map<UrrKey, KernelUrr> urrs{};
  std::map<PdrKey, KernelPdr> pdrs{};
  bool operator==(const KernelRules&) const = default;
};

/// Limits that already fired, by generation: they are not armed again, and a quota that did keeps
/// its PDRs closed.
struct FiredLimits {
  /// What had been counted towards a limit when its kernel rule was made: packets that the daemon
  /// sent itself are counted by nobody else.
  struct Counted {
    std::uint32_t generation{};
    rules::Volume octets{};
  };
  std::map<UrrKey, Counted> counted{};
  std::map<UrrId, std::uint32_t> notified{};
  std::map<UrrId, std::uint32_t> exhausted{};
  std::map<UrrId, std::uint32_t> started{};
};

}  // namespace upf::gtp5g

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/ids.hpp"

/// What a data plane must do, free of PFCP encoding. Plain values: a session's rules are compared,
/// copied and kept whole, and a change is the pair of the rules before and after it.
namespace upf::rules {

/// Source and Destination Interface, TS 29.244 8.2.2 and 8.2.24 (the numbers are the wire's).
enum class Interface : std::uint8_t {
  Access = 0,
  Core = 1,
  N6Lan = 2,
  CpFunction = 3,
  LiFunction = 4
};

struct PortRange {
  std::uint16_t first{};
  std::uint16_t last{};
  bool operator==(const PortRange&) const = default;
};

/// One end of a flow description.
struct EndpointMatch {
  std::optional<IpPrefix> prefix{};  ///< none: any address
  bool assigned{};  ///< `assigned`: the UE's own addresses, any where the PDR names none
  bool negated{};   ///< `!`: every address but the prefix
  std::vector<PortRange> ports{};  ///< empty: any port
  bool operator==(const EndpointMatch&) const = default;
};

/// An IPFilterRule (RFC 6733 4.3.1) within what TS 29.212 5.4.2 allows, kept as written: `permit
/// out PROTO from SOURCE to DESTINATION`, so the source is the remote end and the destination the
/// UE's. A PDR with source interface Access matches with the ends swapped, addresses and ports
/// alike (TS 29.244 5.2.1A.2A).
struct FlowDescription {
  std::optional<std::uint8_t> protocol{};  ///< none: `ip`, any protocol
  EndpointMatch source{};
  EndpointMatch destination{};
  bool operator==(const FlowDescription&) const = default;
};

struct MaskedOctet {
  std::uint8_t value{};
  std::uint8_t mask{};
  bool operator==(const MaskedOctet&) const = default;
};

/// SDF Filter, TS 29.244 8.2.5. What is engaged must all match.
struct SdfFilter {
  std::optional<FlowDescription> flow{};
  std::optional<MaskedOctet> tos{};           ///< IPv4 ToS or IPv6 traffic class
  std::optional<std::uint32_t> spi{};         ///< IPsec Security Parameter Index
  std::optional<std::uint32_t> flow_label{};  ///< IPv6, 20 bits
  bool operator==(const SdfFilter&) const = default;
};

/// A local F-TEID: the tunnel on which packets arrive. At least one address is engaged.
struct LocalFTeid {
  Teid teid{};
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool operator==(const LocalFTeid&) const = default;
};

/// UE IP Address, TS 29.244 8.2.62.
struct UeAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6Prefix> ipv6{};
  bool is_destination{};  ///< S/D: matched against the destination (downlink), else the source
  bool operator==(const UeAddress&) const = default;
};

/// Outer Header Removal Description, TS 29.244 8.2.64 (the numbers are the wire's).
enum class HeaderRemoval : std::uint8_t {
  GtpuUdpIpv4 = 0,
  GtpuUdpIpv6 = 1,
  UdpIpv4 = 2,
  UdpIpv6 = 3,
  Ipv4 = 4,
  Ipv6 = 5,
  GtpuUdpIp = 6,
};

/// A packet matches if everything engaged here matches; of a session's matching PDRs the lowest
/// precedence value wins, and of equals the lowest ID.
struct Pdr {
  PdrId id{};
  std::uint32_t precedence{};
  Interface source_interface{};
  std::optional<LocalFTeid> f_teid{};
  std::vector<UeAddress> ue_addresses{};  ///< any of them
  std::vector<SdfFilter> filters{};       ///< any of them; empty: every packet
  std::vector<std::uint8_t> qfis{};       ///< any of them; empty: every QFI
  std::vector<IpPrefix> framed_routes{};  ///< addresses behind the UE, as good as its own
  std::string network_instance{};         ///< decoded to dotted text; empty: none
  std::optional<HeaderRemoval> removal{};
  FarId far{};  ///< always a FAR of the same session
  std::vector<QerId> qers{};
  std::vector<UrrId> urrs{};
  bool operator==(const Pdr&) const = default;
};

/// Apply Action, TS 29.244 8.2.26. Exactly one of drop, forward and buffer is set.
struct ApplyAction {
  bool drop{};
  bool forward{};
  bool buffer{};
  bool notify_cp{};  ///< NOCP, with buffer: tell the CP function of the first packet
  bool duplicate{};
  bool operator==(const ApplyAction&) const = default;
};

/// Outer Header Creation, TS 29.244 8.2.56, as far as a UPF forwards by it.
struct OuterHeader {
  enum class Kind : std::uint8_t { GtpuUdpIpv4, GtpuUdpIpv6, UdpIpv4, UdpIpv6 };
  Kind kind{};
  Teid teid{};           ///< GTP-U kinds
  IpAddress peer{};      ///< of the family that `kind` says
  std::uint16_t port{};  ///< UDP kinds; GTP-U goes to 2152
  bool operator==(const OuterHeader&) const = default;
};

/// (Update) Forwarding Parameters, TS 29.244 Table 7.5.2.3-2.
struct Forwarding {
  Interface destination{};
  std::string network_instance{};
  std::optional<OuterHeader> outer_header{};
  std::optional<MaskedOctet> transport_level_marking{};  ///< ToS/traffic class of the outer header
  std::string forwarding_policy{};                       ///< empty: none
  bool operator==(const Forwarding&) const = default;
};

/// Apply Action wins over the forwarding parameters. A FAR that forwards towards Access without an
/// outer header has nowhere to send to: its packets are dropped, never sent unencapsulated.
struct Far {
  FarId id{};
  ApplyAction action{};
  std::optional<Forwarding> forwarding{};
  std::optional<BarId> bar{};
  bool operator==(const Far&) const = default;
};

/// In kbit/s as on the wire (TS 29.244 8.2.8); 1 kbit is 1000 bit. Counted on the T-PDU.
struct BitRate {
  std::uint64_t uplink_kbps{};  ///< 0: not limited (gates close, rates don't); so is the other
  std::uint64_t downlink_kbps{};
  bool operator==(const BitRate&) const = default;
};

struct Qer {
  QerId id{};
  bool uplink_open{true};
  bool downlink_open{true};
  std::optional<BitRate> mbr{};
  std::optional<BitRate> gbr{};
  std::optional<std::uint8_t> qfi{};  ///< 0 to 63, put into the downlink PDU Session Container
  bool rqi{};  ///< reflective QoS: RQI bit of the downlink PDU Session Container
  std::optional<std::uint8_t> paging_policy{};
  std::optional<std::uint32_t> correlation{};
  bool operator==(const Qer&) const = default;
};

/// Octets and packets by direction. The total is their sum.
struct Volume {
  std::uint64_t uplink{};
  std::uint64_t downlink{};
  [[nodiscard]] std::uint64_t total() const { return uplink + downlink; }
  bool operator==(const Volume&) const = default;
};

/// Something happens once the octets counted since arming reach one of the engaged limits. The
/// plane arms a limit when it first sees its generation, and keeps counting while the generation
/// stays.
struct VolumeLimit {
  std::uint32_t generation{};
  std::optional<std::uint64_t> total{};
  std::optional<std::uint64_t> uplink{};
  std::optional<std::uint64_t> downlink{};
  bool operator==(const VolumeLimit&) const = default;
};

/// The same for downlink packets of the URR's PDRs that were dropped, whatever for.
struct DropLimit {
  std::uint32_t generation{};
  std::optional<std::uint64_t> packets{};
  std::optional<std::uint64_t> octets{};
  bool operator==(const DropLimit&) const = default;
};

/// What a plane does for a URR: it counts, it says when a limit is reached and it blocks. Triggers,
/// periods, sequence numbers and reports are the usage engine's.
struct Urr {
  UrrId id{};
  bool before_qos{};                       ///< counts what the MBRs then drop as well
  std::optional<VolumeLimit> notify_at{};  ///< event LimitReached (volume threshold)
  std::optional<VolumeLimit>
      block_at{};       ///< from here on packets of its PDRs are dropped; event LimitReached
  bool blocked{};       ///< the engine blocks it now (quota used up, time quota, no grant)
  bool notify_start{};  ///< event TrafficStart at the next packet, once per `start_generation`
  std::uint32_t start_generation{};
  std::optional<DropLimit> notify_dropped{};  ///< event LimitReached
  bool operator==(const Urr&) const = default;
};

/// Buffering Action Rule, TS 29.244 Table 7.5.2.6-1.
struct Bar {
  BarId id{};
  std::uint8_t notification_delay_50ms{};            ///< Downlink Data Notification Delay, 8.2.28
  std::optional<std::uint16_t> suggested_packets{};  ///< Suggested Buffering Packets Count, 8.2.100
  bool operator==(const Bar&) const = default;
};

/// All rules of one PFCP session. Each vector is sorted by ID and has no ID twice; every reference
/// resolves within the session.
struct SessionRules {
  std::vector<Pdr> pdrs{};
  std::vector<Far> fars{};
  std::vector<Qer> qers{};
  std::vector<Urr> urrs{};
  std::vector<Bar> bars{};
  bool operator==(const SessionRules&) const = default;
};

/// The rule of that ID in a vector sorted by ID, or nullptr.
template <class Rules, class Id>
[[nodiscard]] auto find(Rules& sorted, Id id) -> decltype(sorted.data()) {
  const auto at =
      std::ranges::lower_bound(sorted, id, {}, [](const auto& rule) { return rule.id; });
  return at != sorted.end() && at->id == id ? &*at : nullptr;
}

}  // namespace upf::rules

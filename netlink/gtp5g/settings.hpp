#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/dataplane/echo_timers.hpp"
#include "upf/dataplane/packet_buffer.hpp"

namespace upf::gtp5g {

/// What an operator decides about the gtp5g plane. Plain values; `config` knows nothing of it.
struct Settings {
  /// The link's name. Two UPFs on a host need two names.
  std::string interface { "upfgtp" };
  /// Local N3 and N9 addresses as in ifList; the first one is what downlink packets are sent from
  /// unless a rule says more. One address: the socket is bound to it. Several: one link on 0.0.0.0
  /// (src/adr/0010).
  std::vector<Ipv4> addresses{};
  std::uint16_t port{2152};
  /// None: the MTU of the interface that holds the first address, less 44 octets for the outer IP,
  /// UDP and GTP-U headers with a PDU Session Container.
  std::optional<std::uint32_t> mtu{};
  /// Buckets of each of the kernel's tables, 12 of them at 8 octets a bucket.
  std::uint32_t hash_size{65536};
  /// UE address blocks (dnnList's CIDRs): routed to the link. Overlaps and repetitions are fine.
  std::vector<Ipv4Prefix> ue_networks{};
  /// Write 1 to /proc/gtp5g/qos: without it the kernel polices no MBR.
  bool qos{true};
  /// Start with any version of the module.
  bool any_version{false};
  dataplane::BufferLimits buffer{};
  /// A call into the kernel that takes longer is taken for hung: the plane makes no more of them.
  std::chrono::milliseconds call_timeout{5000};
  dataplane::EchoTimers echo{};
  /// A QER outlives its PDRs in the kernel by so much (HeldQers).
  std::chrono::milliseconds qer_hold{1000};
  /// Receive buffer of the event socket; every buffered packet comes through it.
  std::size_t event_buffer_octets{32U << 20U};
};

}  // namespace upf::gtp5g

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/control/audit.hpp"
#include "upf/control/load.hpp"
#include "upf/control/output.hpp"
#include "upf/session/plan.hpp"

namespace upf::control {

/// Where an SMF is reached that we associate with on our own initiative (TS 29.244 6.2.6.3).
struct Peer {
  std::string name{};  ///< as configured, for the log
  SocketAddress address{};
};

/// What peers may use up; session::Settings has those of sessions and rules. Each default is one
/// that a lab never meets.
struct Limits {
  std::size_t associations{1000};
  /// Requests from addresses without an association, heartbeats excepted: in all, and of any one.
  /// Further ones are dropped unanswered.
  std::uint32_t stranger_requests_per_second{1000};
  std::uint32_t requests_per_second_of_a_stranger{100};
  std::size_t answer_cache_octets{16U << 20U};
  std::size_t unsent_reports_per_session{64};
};

/// Everything that the control half has to be told. Filled in by the shell from the configuration.
struct Settings {
  /// Our Node ID (TS 29.244 8.2.38): an address, or else an FQDN. Never resolved.
  std::string node_id{};
  /// When this life of the process began; one value for all peers.
  WallTime recovery_time_stamp{};
  /// Addresses in our F-SEIDs: where peers send session requests to.
  std::optional<Ipv4> n4_ipv4{};
  std::optional<Ipv6> n4_ipv6{};
  /// Local GTP-U addresses and the limits of sessions. What the plane can do is asked of the plane.
  session::Settings sessions{};

  std::chrono::milliseconds retransmit_after{1000};
  unsigned max_retransmissions{3};
  std::uint32_t first_sequence{1};  ///< best random, so that lives don't look alike

  /// Heartbeats to associated peers; 0: none.
  std::chrono::milliseconds heartbeat_interval{30000};
  /// A peer that has not answered for this long loses its association and sessions; 0: never (a cut
  /// in N4 then leaves user traffic alone).
  std::chrono::milliseconds purge_after{0};

  std::vector<Peer> peers{};                    ///< SMFs to associate with
  std::chrono::milliseconds peer_retry{10000};  ///< between attempts
  std::vector<IpPrefix> allow{};                ///< who may speak to us; empty: everyone
  /// The largest datagram that peers take (free5GC's SMF reads 2048 octets).
  std::size_t max_message_octets{2048};
  Limits limits{};
  AuditSettings audit{};

  /// For durations in log records and load measures; may be empty.
  std::function<TimePoint()> clock{};
  /// What load is measured by beside the clock; may be empty.
  Load::Measure load_measure{};
  /// Whether anybody reads log records of the level now: the others are not made. Empty: all are.
  std::function<bool(LogRecord::Level)> log_wanted{};
  /// Uniform 64-bit numbers for SEIDs and TEIDs: the kernel's in production, seeded in tests.
  std::function<std::uint64_t()> random{};
};

}  // namespace upf::control

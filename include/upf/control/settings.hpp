#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"

namespace upf::control {

/// Where an SMF is reached that we associate with on our own initiative (TS 29.244 6.2.6.3).
struct Peer {
  std::string name{};  ///< as configured, for the log
  SocketAddress address{};
};

/// What peers may use up. Each default is one that a lab never meets.
struct Limits {
  std::size_t associations{64};
  std::size_t sessions{100000};
  std::size_t sessions_per_association{100000};
  std::size_t rules_per_session{1024};  ///< PDRs, FARs, QERs, URRs and BARs together
  /// Requests that a source without an association may make; further ones are dropped unanswered,
  /// heartbeats excepted.
  std::uint32_t stranger_requests_per_second{100};
  std::size_t answer_cache_octets{16U << 20U};
  std::size_t unsent_reports_per_session{64};
  std::size_t unsent_reports{100000};  ///< over all sessions
};

/// An address pool of a data network, for UE IP addresses that we choose.
struct Pool {
  std::string dnn{};
  IpPrefix prefix{};
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
  /// Where GTP-U arrives, with the network instance that each serves (empty: every).
  struct GtpuAddress {
    IpAddress ip{};
    std::string network_instance{};
  };
  std::vector<GtpuAddress> gtpu{};
  std::vector<Pool> pools{};

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

  /// For durations in log records and load measures; may be absent.
  TimePoint (*clock)(){};
  /// Random 64-bit numbers for SEIDs and TEIDs: not guessable in production, repeatable in tests.
  std::uint64_t (*random)(){};
};

}  // namespace upf::control

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/n4/endpoint.hpp"
#include "upf/pfcp/ies/node.hpp"

namespace upf::n4 {

/// A CP function that we are associated with (TS 29.244 5.8).
struct Association {
  pfcp::NodeId node{};
  SocketAddress peer{};      ///< where its Association Setup came from; heartbeats go there
  pfcp::NtpTime recovery{};  ///< of its present life
  TimePoint since{};
  TimePoint last_heard{};
  bool reachable{true};  ///< false from a lost heartbeat until it is heard again
  bool releasing{};      ///< a release was announced: no new sessions (5.18)
  pfcp::CpFunctionFeatures features{};
  std::string smf_set{};            ///< SMF Set ID (8.2.131); empty: none
  std::uint32_t load_told{};        ///< sequence number of the Load Control Information it has
  std::uint32_t overload_told{};    ///< and of the Overload Control Information
  std::set<IpAddress> addresses{};  ///< where its requests come from; `peer` is one of them
};

/// All associations, and when a heartbeat is due to whom.
///
/// Limits: so many associations, kMaxAddresses source addresses for each, and kMaxNodes
/// associations set up from one address: whatever comes from an address is looked at for each of
/// its nodes.
class Associations {
 public:
  static constexpr std::size_t kMaxNodes = 32;
  /// A CP function may have several PFCP entities (TS 29.244 5.8.1); not any number.
  static constexpr std::size_t kMaxAddresses = 32;

  struct Settings {
    std::size_t limit{64};
    std::chrono::milliseconds heartbeat_interval{};  ///< 0: no heartbeats
    std::chrono::milliseconds purge_after{};         ///< 0: never; needs heartbeats
  };

  explicit Associations(const Settings& settings) : settings_(settings) {}

  /// A limit below what is there ends nothing. Heartbeats follow the new interval at once.
  void set_settings(const Now& now, const Settings& settings);

  /// Begins an association, or begins it anew (6.2.6.2.2: whatever its recovery time stamp).
  /// Nothing if there are as many as may be.
  [[nodiscard]] Association* set_up(const Now& now, const pfcp::NodeId& node,
                                    const SocketAddress& peer, pfcp::NtpTime recovery);
  /// Ends one. False: there was none.
  bool remove(const pfcp::NodeId& node);

  [[nodiscard]] Association* find(const pfcp::NodeId& node);
  [[nodiscard]] const Association* find(const pfcp::NodeId& node) const;
  /// Those whose requests come from that address; several test tools may share one.
  [[nodiscard]] std::vector<Association*> at(const IpAddress& address) const;
  [[nodiscard]] bool is_known(const IpAddress& address) const {
    return by_address_.contains(address);
  }
  [[nodiscard]] const std::map<pfcp::NodeId, Association>& all() const { return all_; }
  /// Another association of the same SMF set whose peer answers; nullptr if there is none.
  [[nodiscard]] Association* stand_in_for(const Association& association);

  /// The association also speaks from that address. Past kMaxAddresses this has no effect.
  void add_address(Association& association, const IpAddress& address);

  /// Something came from that address. Returns the associations that were unreachable until now.
  [[nodiscard]] std::vector<pfcp::NodeId> heard(const Now& now, const IpAddress& address);

  /// Peers to send a heartbeat to; each is due again after the interval.
  [[nodiscard]] std::vector<pfcp::NodeId> heartbeats_due(const Now& now);
  void heartbeat_sent(const pfcp::NodeId& node, OwnRequest request);
  /// Whose heartbeat that was; it counts as over.
  [[nodiscard]] std::optional<pfcp::NodeId> heartbeat_over(OwnRequest request);

  /// The peer did not answer. True: it was reachable until now.
  [[nodiscard]] bool lost(const pfcp::NodeId& node);
  /// Peers silent for longer than `purge_after`.
  [[nodiscard]] std::vector<pfcp::NodeId> purge_due(const Now& now) const;

  [[nodiscard]] std::optional<TimePoint> wake_at() const;

 private:
  void schedule(const pfcp::NodeId& node, TimePoint at);

  Settings settings_;
  std::map<pfcp::NodeId, Association> all_;
  std::multimap<IpAddress, Association*> by_address_;
  std::map<pfcp::NodeId, TimePoint> next_heartbeat_;
  std::set<std::pair<TimePoint, pfcp::NodeId>> due_;
  std::map<OwnRequest, pfcp::NodeId> heartbeats_;
};

}  // namespace upf::n4

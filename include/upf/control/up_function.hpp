#pragma once

#include <memory>
#include <vector>

#include "upf/control/audit.hpp"
#include "upf/control/load.hpp"
#include "upf/control/output.hpp"
#include "upf/control/report_queue.hpp"
#include "upf/control/settings.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/n4/associations.hpp"
#include "upf/session/plan.hpp"
#include "upf/usage/engine.hpp"

namespace upf::control {

/// The UP function of TS 29.244 as one value that is fed and says what to do: PFCP endpoint,
/// associations, sessions and usage over a data plane.
///
/// API: each on_…() call takes the current time and returns what is to be sent and when to call
/// on_timer() next. It owns no socket, reads no clock and writes no log. All calls come from one
/// thread.
class UpFunction {
 public:
  UpFunction(Settings settings, dataplane::DataPlane& plane);
  UpFunction(const UpFunction&) = delete;
  UpFunction& operator=(const UpFunction&) = delete;
  ~UpFunction();

  /// Once, before anything else: begins associations with the configured peers.
  [[nodiscard]] Output start(const Now& now);
  [[nodiscard]] Output on_datagram(const Now& now, const SocketAddress& from, wire::Bytes datagram);
  [[nodiscard]] Output on_timer(const Now& now);
  [[nodiscard]] Output on_plane_events(const Now& now, const std::vector<dataplane::Event>& events);

  /// Live changes: peers, allow, limits, heartbeats, retransmission. What can't change while
  /// sessions live (our Node ID and addresses) stays as it is.
  [[nodiscard]] Output reconfigure(const Now& now, const Settings& settings);
  /// No new sessions, and with `end` peers are asked to release their associations (TS 29.244
  /// 6.2.7.3), which takes what is there with it; or business as usual again. Nothing takes that
  /// request back.
  [[nodiscard]] Output set_draining(const Now& now, bool draining, bool end);
  /// Ends a session; its CP function is told by its last usage report, if there is one.
  [[nodiscard]] Output release_session(const Now& now, Seid seid);
  /// Ends an association and its sessions without a word to the peer.
  [[nodiscard]] Output drop_association(const Now& now, const pfcp::NodeId& node);

  /// Begins an audit of all sessions (what the plane holds against what it was given); `begun` is
  /// false if one that was asked for runs already. It goes on in on_timer().
  [[nodiscard]] Output start_audit(const Now& now, bool repair, bool& begun);
  [[nodiscard]] const AuditState& audit() const;

  /// Counts since start, in the form of the planes'.
  [[nodiscard]] std::vector<dataplane::Counter> counters() const;
  [[nodiscard]] const Load& load() const;
  /// What associations are told.
  [[nodiscard]] pfcp::UpFunctionFeatures features() const;

  /// The state, to look at between calls.
  [[nodiscard]] const session::Store& sessions() const;
  [[nodiscard]] const session::Teids& teids() const;
  [[nodiscard]] const n4::Associations& associations() const;
  [[nodiscard]] const usage::Engine& usage() const;
  [[nodiscard]] const ReportQueue& unsent_reports() const;
  [[nodiscard]] const session::UeAddresses& ue_addresses() const;
  /// What is kept beside sessions; none of it may outlive them.
  struct Kept {
    std::size_t doomed{};         ///< ended, but the plane has not let go of them yet
    std::size_t session_sets{};   ///< sessions that belong to an FQ-CSID or a group
    std::size_t orphans{};        ///< sessions that wait for another SMF of their set
    std::size_t index_entries{};  ///< ways to find a session by its owner, UE address or tunnel
    bool operator==(const Kept&) const = default;
  };
  [[nodiscard]] Kept kept() const;

  /// Ends all sessions in the plane and says goodbye to the peers (Association Release). What is in
  /// the output is sent; answers need not be waited for.
  [[nodiscard]] Output shutdown(const Now& now);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace upf::control

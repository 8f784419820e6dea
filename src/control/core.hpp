#pragma once

#include <optional>
#include <string>
#include <vector>

#include "upf/control/guard.hpp"
#include "upf/control/load.hpp"
#include "upf/control/output.hpp"
#include "upf/control/report_queue.hpp"
#include "upf/control/settings.hpp"
#include "upf/n4/associations.hpp"
#include "upf/n4/endpoint.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/node.hpp"
#include "upf/session/plan.hpp"
#include "upf/usage/engine.hpp"

namespace upf::control {

/// The key under which the session module files an association's sessions: the Node ID's value
/// octets.
[[nodiscard]] std::string owner_of(const pfcp::NodeId& node);
[[nodiscard]] std::optional<pfcp::NodeId> node_of(const std::string& owner);

/// "10.60.0.1", "10.60.0.1 2001:db8::/64"; empty if the rules name no UE address.
[[nodiscard]] std::string ue_address_of(const session::Session& session);

/// The state that all procedures share, and the output of the call that is being served.
struct Core {
  Core(Settings given, dataplane::DataPlane& to);

  Settings settings;
  dataplane::DataPlane& plane;
  pfcp::NodeId node;
  pfcp::NtpTime recovery;

  n4::Endpoint endpoint;
  n4::Associations associations;
  Guard guard;
  Load load;

  session::Random random;
  session::Store store{};
  session::Teids teids;
  session::UeAddresses ue_addresses;
  session::Context sessions;
  usage::Engine usage{};
  usage::Reader reader;
  ReportQueue reports;

  bool draining{};  ///< no new sessions: we are about to go

  Now now{};
  Output out{};
  Served serving{};      ///< of the request that is being served
  TimePoint mark_at{};   ///< where the time since the last mark() began
  TimePoint began_at{};  ///< when the call began

  void begin(const Now& at);
  [[nodiscard]] Output finish();
  /// What may change while sessions live.
  void reconfigure(const Settings& to);
  /// The time since the last mark went into this.
  void mark(std::chrono::nanoseconds Served::*stage);
  void wake_by(std::optional<TimePoint> at);

  /// Encodes and sends the answer. The header's SEID is the peer's, for session messages.
  template <pfcp::Message M>
  void answer(const n4::Request& request, const M& message,
              std::optional<Seid> peer_seid = std::nullopt) {
    serving.peer_seid = peer_seid;
    answer_octets(request,
                  pfcp::encode(message, {.seid = peer_seid, .sequence = request.key.sequence}));
  }
  void answer_octets(const n4::Request& request, wire::Octets octets);

  /// Begins a request of ours. Nothing if too many are under way.
  template <pfcp::Message M>
  [[nodiscard]] std::optional<n4::OwnRequest> request(const SocketAddress& to, const M& message,
                                                      std::optional<Seid> peer_seid = {}) {
    return endpoint.request(now, to, pfcp::encode(message, {.seid = peer_seid}), out.send);
  }

  /// Texts for a record that nobody reads need not be made.
  [[nodiscard]] bool wants(LogRecord::Level level) const {
    return !settings.log_wanted || settings.log_wanted(level);
  }
  void log(LogRecord record);
  void log_session(LogRecord::Level level, const session::Session& session, std::string procedure,
                   std::string text, std::string peer = {});
};

}  // namespace upf::control

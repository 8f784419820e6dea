#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/control/core.hpp"
#include "src/control/sessions.hpp"
#include "upf/control/pfds.hpp"
#include "upf/pfcp/messages/node.hpp"

namespace upf::control {

/// Node procedures (TS 29.244 6.2): heartbeats, associations both ways, PFDs, session sets, paths.
class Nodes {
 public:
  Nodes(Core& core, Sessions& sessions);

  void on_heartbeat(const n4::Request& request);
  void on_pfd_management(const n4::Request& request);
  void on_setup(const n4::Request& request);
  void on_update(const n4::Request& request);
  void on_release(const n4::Request& request);
  void on_set_deletion(const n4::Request& request);
  void on_set_modification(const n4::Request& request);
  void on_node_report(const n4::Request& request);

  void on_event(const dataplane::PathState& event);

  /// Something came from an address that we know.
  void heard(const IpAddress& source);

  void start();
  void on_timer();
  void shutdown();
  void set_draining(bool draining, bool end);
  void drop(const pfcp::NodeId& node);
  void set_peers(const std::vector<Peer>& peers);
  /// False: not the answer to one of our node requests.
  bool on_response(const n4::Response& response);
  bool on_expired(const n4::Expired& expired);
  [[nodiscard]] std::optional<TimePoint> wake_at() const;
  /// What associations are told.
  [[nodiscard]] pfcp::UpFunctionFeatures features() const;

 private:
  /// An SMF that we associate with on our own initiative (6.2.6.3).
  struct Contact {
    Peer peer{};
    std::optional<n4::OwnRequest> under_way{};
    TimePoint next{};
    std::optional<pfcp::NodeId> node{};  ///< once it has answered
  };

  struct Retained {
    std::size_t ended{};
    std::size_t kept{};
  };

  [[nodiscard]] std::vector<pfcp::UserPlaneIpResourceInformation> ip_resources() const;
  [[nodiscard]] Retained begin_anew(
      const std::string& owner, const std::optional<pfcp::PfcpSessionRetentionInformation>& kept);
  void accept_setup(const n4::Request& request, pfcp::AssociationSetupResponse response);
  void set_up(n4::Association& association,
              const std::optional<pfcp::CpFunctionFeatures>& cp_features,
              const std::optional<pfcp::SmfSetId>& smf_set);
  void add_addresses(n4::Association& association,
                     const std::vector<pfcp::AlternativeSmfIpAddress>& addresses);
  [[nodiscard]] std::size_t move_set(const n4::Association& sender,
                                     const pfcp::PfcpSessionChangeInfo& change);
  [[nodiscard]] const n4::Association& association_at(const pfcp::AlternativeSmfIpAddress& address,
                                                      const n4::Association& sender);
  void ask_for_release(std::optional<std::chrono::seconds> graceful);
  void end(const pfcp::NodeId& node, const std::string& why);
  void on_recovery(const IpAddress& source, pfcp::NtpTime recovery);
  void send_heartbeats();
  void try_contacts();
  void on_contact_response(Contact& contact, const n4::Response& response);
  void log(LogRecord::Level level, std::string procedure, std::string text, std::string peer);

  Core& core_;
  Sessions& sessions_;
  Pfds pfds_;
  std::vector<Contact> contacts_;
  bool asked_for_release_{};  ///< by the drain that goes on
};

}  // namespace upf::control

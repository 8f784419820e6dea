#include "upf/control/up_function.hpp"

#include <utility>

#include "src/control/audit.hpp"
#include "src/control/core.hpp"
#include "src/control/nodes.hpp"
#include "src/control/reporting.hpp"
#include "src/control/sessions.hpp"

namespace upf::control {

using pfcp::MessageType;
struct UpFunction::Impl {
  Core core;
  Sessions sessions{core};
  Reporting reporting{core, sessions};
  Nodes nodes{core, sessions};
  Audit audit{core, sessions};
  std::uint64_t not_allowed{};
  std::uint64_t over_rate{};

  Impl(Settings settings, dataplane::DataPlane& plane) : core(std::move(settings), plane) {}

  void on_request(const n4::Request& request);
  void serve(const n4::Request& request);
  void on_response(const n4::Response& response);
  void on_expired(const n4::Expired& expired);
  void on_event(const dataplane::Event& event);
  [[nodiscard]] Output finish();
};

UpFunction::UpFunction(Settings settings, dataplane::DataPlane& plane)
    : impl_(std::make_unique<Impl>(std::move(settings), plane)) {}
UpFunction::~UpFunction() = default;

Output UpFunction::Impl::finish() {
  reporting.flush();
  core.wake_by(nodes.wake_at());
  core.wake_by(sessions.wake_at());
  core.wake_by(audit.wake_at());
  return core.finish();
}

Output UpFunction::reconfigure(const Now& now, const Settings& settings) {
  Core& core = impl_->core;
  core.begin(now);
  core.reconfigure(settings);
  impl_->nodes.set_peers(settings.peers);
  impl_->audit.schedule();
  return impl_->finish();
}

Output UpFunction::set_draining(const Now& now, bool draining, bool end) {
  impl_->core.begin(now);
  impl_->nodes.set_draining(draining, end);
  return impl_->finish();
}

Output UpFunction::release_session(const Now& now, Seid seid) {
  impl_->core.begin(now);
  impl_->sessions.end_and_report(seid);
  return impl_->finish();
}

Output UpFunction::drop_association(const Now& now, const pfcp::NodeId& node) {
  impl_->core.begin(now);
  impl_->nodes.drop(node);
  return impl_->finish();
}

Output UpFunction::start_audit(const Now& now, bool repair, bool& begun) {
  impl_->core.begin(now);
  begun = impl_->audit.start(AuditReason::Asked, repair);
  return impl_->finish();
}

const AuditState& UpFunction::audit() const { return impl_->audit.state(); }

std::vector<dataplane::Counter> UpFunction::counters() const {
  const Core& core = impl_->core;
  const n4::EndpointCounters& n4 = core.endpoint.counters();
  return {{"pfcp_datagrams_received", {}, n4.received},
          {"pfcp_discarded", "malformed", n4.malformed},
          {"pfcp_discarded", "unknown_type", n4.unknown_type},
          {"pfcp_discarded", "unsupported_version", n4.unsupported_version},
          {"pfcp_discarded", "stray_response", n4.stray_responses},
          {"pfcp_discarded", "not_allowed", impl_->not_allowed},
          {"pfcp_discarded", "stranger_over_rate", impl_->over_rate},
          {"pfcp_repeated_requests", "answered", n4.repeated_answered},
          {"pfcp_repeated_requests", "dropped", n4.repeated_dropped},
          {"pfcp_retransmissions", {}, n4.retransmitted},
          {"pfcp_unanswered_requests", {}, n4.expired}};
}

const Load& UpFunction::load() const { return impl_->core.load; }
pfcp::UpFunctionFeatures UpFunction::features() const { return impl_->nodes.features(); }
const session::Store& UpFunction::sessions() const { return impl_->core.store; }
const session::Teids& UpFunction::teids() const { return impl_->core.teids; }
const n4::Associations& UpFunction::associations() const { return impl_->core.associations; }
const usage::Engine& UpFunction::usage() const { return impl_->core.usage; }
const ReportQueue& UpFunction::unsent_reports() const { return impl_->core.reports; }
const session::UeAddresses& UpFunction::ue_addresses() const { return impl_->core.ue_addresses; }

UpFunction::Kept UpFunction::kept() const {
  return {.doomed = impl_->sessions.doomed(),
          .session_sets = impl_->sessions.sets().size(),
          .orphans = impl_->sessions.orphans(),
          .index_entries = impl_->core.store.index_entries()};
}

Output UpFunction::start(const Now& now) {
  impl_->core.begin(now);
  impl_->nodes.start();
  impl_->audit.schedule();
  if (impl_->core.settings.audit.at_start) {
    (void)impl_->audit.start(AuditReason::Start, impl_->core.settings.audit.repair);
  }
  return impl_->finish();
}

Output UpFunction::on_datagram(const Now& now, const SocketAddress& from, wire::Bytes datagram) {
  Core& core = impl_->core;
  core.begin(now);
  if (core.guard.allows(from.ip)) {
    n4::Input input = core.endpoint.on_datagram(now, from, datagram);
    core.out.send = std::move(input.send);
    impl_->nodes.heard(from.ip);
    for (const n4::Received& received : input.received) {
      core.mark(&Served::decode);
      if (const auto* request = std::get_if<n4::Request>(&received)) {
        impl_->on_request(*request);
      } else {
        impl_->on_response(std::get<n4::Response>(received));
      }
    }
  } else {
    ++impl_->not_allowed;
  }
  return impl_->finish();
}

Output UpFunction::on_timer(const Now& now) {
  Core& core = impl_->core;
  core.begin(now);
  n4::Timeouts timeouts = core.endpoint.on_timer(now);
  core.out.send = std::move(timeouts.send);
  for (const n4::Expired& expired : timeouts.expired) impl_->on_expired(expired);
  impl_->reporting.on_usage_timer();
  impl_->sessions.on_timer();
  impl_->audit.on_timer();
  impl_->nodes.on_timer();
  return impl_->finish();
}

Output UpFunction::on_plane_events(const Now& now, const std::vector<dataplane::Event>& events) {
  impl_->core.begin(now);
  for (const dataplane::Event& event : events) impl_->on_event(event);
  return impl_->finish();
}

Output UpFunction::shutdown(const Now& now) {
  impl_->core.begin(now);
  impl_->nodes.shutdown();
  return impl_->core.finish();
}

void UpFunction::Impl::on_request(const n4::Request& request) {
  const IpAddress& source = request.key.peer.ip;
  const bool stranger = !core.associations.is_known(source);
  if (stranger && request.key.type != MessageType::HeartbeatRequest &&
      !core.guard.admits(core.now.steady, source)) {
    ++over_rate;
    return core.endpoint.abandon(request.key);
  }
  serve(request);
}

void UpFunction::Impl::serve(const n4::Request& request) {
  switch (request.key.type) {
    case MessageType::HeartbeatRequest:
      return nodes.on_heartbeat(request);
    case MessageType::PfdManagementRequest:
      return nodes.on_pfd_management(request);
    case MessageType::AssociationSetupRequest:
      return nodes.on_setup(request);
    case MessageType::AssociationUpdateRequest:
      return nodes.on_update(request);
    case MessageType::AssociationReleaseRequest:
      return nodes.on_release(request);
    case MessageType::NodeReportRequest:
      return nodes.on_node_report(request);
    case MessageType::SessionSetDeletionRequest:
      return nodes.on_set_deletion(request);
    case MessageType::SessionSetModificationRequest:
      return nodes.on_set_modification(request);
    case MessageType::SessionEstablishmentRequest:
      return sessions.on_establishment(request);
    case MessageType::SessionModificationRequest:
      return sessions.on_modification(request);
    case MessageType::SessionDeletionRequest:
      return sessions.on_deletion(request);
    default:
      // Session Report Request: only UP functions send it. 7.6.4: unexpected, discarded.
      return core.endpoint.abandon(request.key);
  }
}

void UpFunction::Impl::on_response(const n4::Response& response) {
  if (reporting.on_response(response)) return;
  (void)nodes.on_response(response);
}

void UpFunction::Impl::on_expired(const n4::Expired& expired) {
  if (reporting.on_expired(expired)) return;
  (void)nodes.on_expired(expired);
}

void UpFunction::Impl::on_event(const dataplane::Event& event) {
  struct Visitor {
    Impl& impl;
    void operator()(const dataplane::DownlinkData& e) const { impl.reporting.on_event(e); }
    void operator()(const dataplane::LimitReached& e) const { impl.reporting.on_event(e); }
    void operator()(const dataplane::TrafficStart& e) const { impl.reporting.on_event(e); }
    void operator()(const dataplane::ErrorIndication& e) const { impl.reporting.on_event(e); }
    void operator()(const dataplane::PathState& e) const { impl.nodes.on_event(e); }
    void operator()(const dataplane::Overrun& e) const { impl.reporting.on_event(e); }
  };
  std::visit(Visitor{*this}, event);
}

}  // namespace upf::control

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "src/app/metrics/interfaces.hpp"
#include "src/app/metrics/process.hpp"
#include "src/app/ops/scene.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ies/common.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app::ops {
namespace {

using metrics::Exposition;

/// A counter that has a family of its own. The names are in the planes' counters(), and in the
/// control half's.
struct CounterRow {
  std::string_view counter{};
  std::string_view family{};
  std::string_view label{};
  std::string_view value{};  ///< empty: the counter's own label
};

constexpr CounterRow kPlaneRows[] = {
    {"uplink_packets", "kupf_gtpu_packets_total", "direction", "uplink"},
    {"downlink_packets", "kupf_gtpu_packets_total", "direction", "downlink"},
    {"uplink_octets", "kupf_gtpu_bytes_total", "direction", "uplink"},
    {"downlink_octets", "kupf_gtpu_bytes_total", "direction", "downlink"},
    {"dropped_packets", "kupf_gtpu_drops_total", "reason", ""},
    {"waiting_packets", "kupf_waiting_packets", "", ""},
    {"waiting_octets", "kupf_waiting_bytes", "", ""},
    {"buffered_packets", "kupf_buffered_packets_total", "what", "buffered"},
    {"buffered_packets_sent", "kupf_buffered_packets_total", "what", "sent"},
    {"end_markers_sent", "kupf_end_markers_total", "what", "sent"},
    {"end_markers_forwarded", "kupf_end_markers_total", "what", "forwarded"},
    {"error_indications_sent", "kupf_error_indications_total", "direction", "out"},
    {"error_indications_received", "kupf_error_indications_total", "direction", "in"},
    {"echo_requests_received", "kupf_echo_messages_total", "type", "request"},
    {"echo_responses_received", "kupf_echo_messages_total", "type", "response"},
    {"gtp5g_kernel_requests", "kupf_kernel_requests_total", "", ""},
    {"gtp5g_kernel_refusals", "kupf_kernel_errors_total", "what", "refused"},
    {"gtp5g_held_back", "kupf_kernel_errors_total", "what", "held_back"},
    {"gtp5g_changes_undone", "kupf_kernel_errors_total", "what", "undone"},
    {"gtp5g_event_overruns", "kupf_kernel_errors_total", "what", "event_overrun"},
    {"gtp5g_strange_events", "kupf_kernel_errors_total", "what", "strange_event"},
};

constexpr CounterRow kControlRows[] = {
    {"pfcp_discarded", "kupf_pfcp_discarded_total", "reason", ""},
    {"pfcp_repeated_requests", "kupf_pfcp_repeated_requests_total", "outcome", ""},
    {"pfcp_retransmissions", "kupf_pfcp_retransmissions_total", "", ""},
    {"pfcp_unanswered_requests", "kupf_pfcp_unanswered_requests_total", "", ""},
};

void expose_counters(const std::vector<dataplane::Counter>& counters,
                     std::span<const CounterRow> rows, std::string_view others, Exposition& to) {
  for (const dataplane::Counter& counter : counters) {
    const auto value = static_cast<double>(counter.value);
    const auto row = std::ranges::find(rows, counter.name, &CounterRow::counter);
    if (row == rows.end()) {
      to.add(others, {{"name", counter.name}, {"label", counter.label}}, value);
    } else if (row->label.empty()) {
      to.add(row->family, value);
    } else {
      to.add(row->family,
             {{row->label, row->value.empty() ? counter.label : std::string{row->value}}}, value);
    }
  }
}

/// GTP-U peers are the SMFs' choice: so many by name.
constexpr std::size_t kPaths = 256;

void expose_paths(const metrics::MeteredPlane& plane, Exposition& to) {
  const auto paths = plane.paths();
  const auto up = std::ranges::count_if(paths, &dataplane::Path::up);
  to.add("kupf_gtpu_paths", {{"state", "up"}}, static_cast<double>(up));
  to.add("kupf_gtpu_paths", {{"state", "down"}}, static_cast<double>(std::ssize(paths) - up));
  for (const dataplane::Path& path : std::span{paths}.first(std::min(paths.size(), kPaths))) {
    const metrics::Labels peer{{"peer", to_string(path.peer)}};
    to.add("kupf_gtpu_path_up", peer, path.up ? 1 : 0);
    to.add("kupf_gtpu_path_tunnels", peer, static_cast<double>(path.tunnels));
    if (!path.round_trip) continue;
    to.add("kupf_gtpu_path_round_trip_seconds", peer,
           std::chrono::duration<double>(*path.round_trip).count());
  }
}

/// As sessions name their owner: the Node ID IE's value octets (TS 29.244 8.2.38).
std::string owner_octets(const pfcp::NodeId& node) {
  const wire::Octets ie = pfcp::encode(node);
  return {ie.begin() + 4, ie.end()};
}

void expose_associations(const Scene& scene, Exposition& to) {
  const Now now = runtime::now();
  const auto& all = scene.control.associations().all();
  to.add("kupf_associations", static_cast<double>(all.size()));
  for (const auto& [node, association] : all) {
    const metrics::Labels labels{{"peer", to_string(association.peer.ip)},
                                 {"node_id", pfcp::to_text(node)}};
    to.add("kupf_association_up", labels, association.reachable ? 1 : 0);
    to.add("kupf_association_sessions", labels,
           static_cast<double>(scene.control.sessions().size_of(owner_octets(node))));
    const std::chrono::duration<double> age = now.steady - association.since;
    const std::chrono::duration<double> wall = now.wall.time_since_epoch();
    to.add("kupf_association_start_time_seconds", labels, (wall - age).count());
  }
}

void expose_sessions(const Scene& scene, SessionLabels& known, Exposition& to) {
  for (const auto& dnn : scene.config.dnn_list) known.dnns.label_of(dnn.dnn);  // before all others
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> counts;
  for (const auto& [node, association] : scene.control.associations().all()) {
    const std::string_view peer = known.peers.label_of(to_string(association.peer.ip));
    for (const auto& [dnn, count] : scene.control.sessions().dnns_of(owner_octets(node))) {
      counts[{peer, known.dnns.label_of(dnn)}] += count;
    }
  }
  for (const auto& [of, count] : counts) {
    to.add("kupf_dnn_sessions", {{"peer", std::string{of.first}}, {"dnn", std::string{of.second}}},
           static_cast<double>(count));
  }
}

void expose_load(const Scene& scene, Exposition& to) {
  const control::Load& load = scene.control.load();
  to.add("kupf_load_ratio", load.metric() / 100.0);
  to.add("kupf_overload_reduction_ratio", load.reduction() / 100.0);
  if (!scene.backlog) return;
  const runtime::Backlog backlog = scene.backlog();
  to.add("kupf_pfcp_receive_queue_ratio", backlog.percent / 100.0);
  to.add("kupf_pfcp_receive_overruns_total", backlog.dropped);
}

void expose_audit(const control::AuditState& audit, Exposition& to) {
  constexpr const char* kKinds[] = {"missing", "different", "foreign"};
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  to.add("kupf_audit_passes_total", {{"outcome", "done"}},
         number(audit.passes - audit.failed_passes));
  to.add("kupf_audit_passes_total", {{"outcome", "failed"}}, number(audit.failed_passes));
  to.add("kupf_audit_rules_total", number(audit.rules));
  for (std::size_t i = 0; i < audit.drift.size(); ++i) {
    to.add("kupf_drift_total", {{"kind", kKinds[i]}}, number(audit.drift[i]));
  }
  to.add("kupf_audit_repaired_total", number(audit.repaired));
}

}  // namespace

std::string metrics_text(const Scene& scene, SessionLabels& labels) {
  Exposition to;
  to.add("kupf_build_info",
         {{"version", scene.version},
          {"forwarder", scene.plane.capabilities().name},
          {"node_id", scene.config.pfcp.node_id.text}},
         1);
  to.add("kupf_ready", scene.not_ready().empty() ? 1 : 0);
  scene.meter.expose(to);
  expose_counters(scene.control.counters(), kControlRows, "kupf_pfcp_count_total", to);
  expose_load(scene, to);
  to.add("kupf_sessions_with_unsent_reports",
         static_cast<double>(scene.control.unsent_reports().sessions()));
  to.add("kupf_unacknowledged_usage_reports",
         static_cast<double>(scene.control.unsent_reports().usage_reports()));
  expose_associations(scene, to);
  expose_sessions(scene, labels, to);
  scene.plane.expose(to);
  expose_counters(scene.plane.counters(), kPlaneRows, "kupf_plane_count_total", to);
  expose_paths(scene.plane, to);
  metrics::expose_interfaces(scene.config, to);
  expose_audit(scene.control.audit(), to);
  metrics::expose_process(to);
  return to.text();
}

}  // namespace upf::app::ops

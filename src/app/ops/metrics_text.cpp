#include <algorithm>

#include "src/app/metrics/process.hpp"
#include "src/app/ops/scene.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ies/common.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app::ops {
namespace {

using metrics::Exposition;

/// A plane's counter that has a family of its own. The planes' names are in their counters().
struct PlaneRow {
  std::string_view counter{};
  std::string_view family{};
  std::string_view label{};
  std::string_view value{};  ///< empty: the counter's own label
};

constexpr PlaneRow kPlaneRows[] = {
    {"uplink_packets", "kupf_gtpu_packets_total", "direction", "uplink"},
    {"downlink_packets", "kupf_gtpu_packets_total", "direction", "downlink"},
    {"uplink_octets", "kupf_gtpu_octets_total", "direction", "uplink"},
    {"downlink_octets", "kupf_gtpu_octets_total", "direction", "downlink"},
    {"dropped_packets", "kupf_gtpu_drops_total", "reason", ""},
    {"buffered_packets", "kupf_buffered_packets", "", ""},
    {"buffered_octets", "kupf_buffered_octets", "", ""},
};

void expose_plane_counters(const metrics::MeteredPlane& plane, Exposition& to) {
  for (const dataplane::Counter& counter : plane.counters()) {
    const auto value = static_cast<double>(counter.value);
    const auto row = std::ranges::find(kPlaneRows, counter.name, &PlaneRow::counter);
    if (row == std::end(kPlaneRows)) {
      to.add("kupf_plane_count_total", {{"name", counter.name}, {"label", counter.label}}, value);
    } else if (row->label.empty()) {
      to.add(row->family, value);
    } else {
      to.add(row->family,
             {{row->label, row->value.empty() ? counter.label : std::string{row->value}}}, value);
    }
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

}  // namespace

std::string metrics_text(const Scene& scene) {
  Exposition to;
  to.add("kupf_build_info",
         {{"version", scene.version},
          {"forwarder", scene.plane.capabilities().name},
          {"node_id", scene.config.pfcp.node_id.text}},
         1);
  to.add("kupf_ready", scene.draining ? 0 : 1);
  scene.meter.expose(to);
  for (const dataplane::Counter& counter : scene.control.counters()) {
    to.add("kupf_pfcp_control_total", {{"what", counter.name}, {"label", counter.label}},
           static_cast<double>(counter.value));
  }
  to.add("kupf_sessions_with_unsent_reports",
         static_cast<double>(scene.control.unsent_reports().sessions()));
  expose_associations(scene, to);
  scene.plane.expose(to);
  expose_plane_counters(scene.plane, to);
  metrics::expose_process(to);
  return to.text();
}

}  // namespace upf::app::ops

#pragma once

#include <functional>
#include <string>

#include "src/app/log.hpp"
#include "src/app/metrics/metered_plane.hpp"
#include "src/app/metrics/n4_meter.hpp"
#include "upf/config/config.hpp"
#include "upf/control/up_function.hpp"
#include "upf/runtime/udp_socket.hpp"

namespace upf::app::ops {

/// What the operator's side looks at. All of it is the loop thread's, and so is who looks.
struct Scene {
  const config::Config& config;
  std::string config_path{};
  std::string version{};
  SocketAddress n4{};
  Now started{};
  const control::UpFunction& control;
  const metrics::MeteredPlane& plane;
  const metrics::N4Meter& meter;
  Log& log;
  const bool& draining;
  std::function<runtime::Backlog()> backlog{};  ///< of N4's socket

  /// Why no new sessions are taken, in words; empty: they are.
  [[nodiscard]] std::string not_ready() const {
    std::string fault = plane.fault();
    return fault.empty() && draining ? "draining" : fault;
  }
};

/// Who has sessions, and where to, in the labels of all scrapes.
struct SessionLabels {
  metrics::LabelValues peers{64};
  metrics::LabelValues dnns{64};
};

/// One scrape.
[[nodiscard]] std::string metrics_text(const Scene& scene, SessionLabels& labels);

}  // namespace upf::app::ops

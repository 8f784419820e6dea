#pragma once

#include <memory>
#include <vector>

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

  /// The state, to look at between calls.
  [[nodiscard]] const session::Store& sessions() const;
  [[nodiscard]] const session::Teids& teids() const;
  [[nodiscard]] const n4::Associations& associations() const;
  [[nodiscard]] const usage::Engine& usage() const;
  [[nodiscard]] const ReportQueue& unsent_reports() const;

  /// Ends all sessions in the plane and says goodbye to the peers (Association Release). What is in
  /// the output is sent; answers need not be waited for.
  [[nodiscard]] Output shutdown(const Now& now);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace upf::control

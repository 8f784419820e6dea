#pragma once

#include <optional>
#include <vector>

#include "src/control/core.hpp"
#include "src/control/sessions.hpp"

namespace upf::control {

/// Session Reports (TS 29.244 6.3.5): from plane events and the usage engine to requests, and what
/// their answers mean.
class Reporting {
 public:
  Reporting(Core& core, Sessions& sessions) : core_(core), sessions_(sessions) {}

  void on_event(const dataplane::DownlinkData& event);
  void on_event(const dataplane::LimitReached& event);
  void on_event(const dataplane::TrafficStart& event);
  void on_event(const dataplane::ErrorIndication& event);
  void on_event(const dataplane::Overrun& event);
  void on_usage_timer();

  /// Sends what is due.
  void flush();
  /// False: not the answer to a Session Report.
  bool on_response(const n4::Response& response);
  bool on_expired(const n4::Expired& expired);

 private:
  void take(const usage::Outcome& outcome);
  /// Whom a report goes to, and how.
  struct Route {
    n4::Association* association{};
    SocketAddress to{};
    bool foreign{};  ///< an SMF that has no F-SEID for the session: Old CP F-SEID (5.22.3)
  };
  [[nodiscard]] std::optional<Route> route(Seid seid, const ReportTarget& target);
  [[nodiscard]] bool send(const ReportQueue::Ready& ready);
  void take_over(Seid seid, const IpAddress& from, const pfcp::FSeid& cp);
  void on_refusal(const ReportQueue::Ready& ready, pfcp::Cause cause);

  Core& core_;
  Sessions& sessions_;
};

}  // namespace upf::control

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/n4/endpoint.hpp"
#include "upf/pfcp/ies/common.hpp"
#include "upf/usage/report.hpp"

namespace upf::control {

/// Where a session's reports go, kept apart from the session: its last ones outlive it.
struct ReportTarget {
  std::string owner{};
  pfcp::FSeid cp{};
  bool ended{};  ///< we have ended the session: its last report says so (PSDBU)
};

/// What one Session Report Request says.
struct ReportContent {
  std::vector<usage::Report> usage{};
  std::vector<dataplane::DownlinkData> downlink{};
  std::vector<dataplane::ErrorIndication> errors{};
  bool inactive{};
  [[nodiscard]] bool empty() const {
    return usage.empty() && downlink.empty() && errors.empty() && !inactive;
  }
};

/// Reports that no CP function has acknowledged yet (TS 29.244 5.2.2.3, 6.3.5).
///
/// A session has two lanes, one for usage and one for everything else, with one request under way
/// on each: usage stays in order of UR-SEQN, and a page does not wait behind it. What was sent and
/// not answered comes back to the front of its lane and waits for retry() or for its time.
///
/// Limits: `per_session` usage reports; past that the two oldest of one URR are made one, so that
/// no octet is forgotten. A report that was sent once stays as it is: the peer may have taken it
/// under its UR-SEQN, so that merged it would count twice, or not at all. Downlink data is
/// one report per PDR, inactivity one per session, and of error indications the newest kMaxErrors
/// stay.
class ReportQueue {
 public:
  static constexpr std::size_t kMaxErrors = 16;
  enum class Lane : std::uint8_t { Usage, Other };

  ReportQueue(std::size_t per_session, std::chrono::milliseconds retry_after)
      : per_session_(per_session), retry_after_(retry_after) {}

  void add_usage(Seid seid, const ReportTarget& target, const std::vector<usage::Report>& reports);
  void add_downlink(Seid seid, const ReportTarget& target, const dataplane::DownlinkData& data);
  void add_error(Seid seid, const ReportTarget& target, const dataplane::ErrorIndication& error);
  void add_inactivity(Seid seid, const ReportTarget& target);

  /// The session belongs to another CP function, or its F-SEID changed.
  void retarget(Seid seid, const ReportTarget& target);
  /// The user plane is active again, so nobody needs to be paged.
  void forget_downlink(Seid seid, PdrId pdr);
  /// The session is gone on the other side too: nobody wants its reports.
  void forget(Seid seid);
  /// The session has ended: pages and the like go, what usage is owed stays.
  void forget_all_but_usage(Seid seid);
  /// Takes the usage that is not under way, for an answer that goes to the same peer.
  [[nodiscard]] std::vector<usage::Report> take_waiting_usage(Seid seid);
  /// PDRs with a downlink data report that is not acknowledged.
  [[nodiscard]] std::vector<PdrId> pages_of(Seid seid) const;
  void forget_owner(const std::string& owner);

  struct Ready {
    Seid seid{};
    Lane lane{};
  };
  /// Lanes that have something to say, nothing under way, and whose time has come; `most` of them.
  [[nodiscard]] std::vector<Ready> ready(const Now& now, std::size_t most) const;
  [[nodiscard]] const ReportTarget* target(Seid seid) const;
  /// What the lane has to say, all of it.
  [[nodiscard]] ReportContent content(const Ready& ready) const;
  /// So much of it is under way: the first `usage_reports` of a usage lane, all of the other lane.
  void sent(const Ready& ready, std::size_t usage_reports, n4::OwnRequest request);

  /// The peer took it. Returns the session, if that request is one of ours.
  std::optional<Ready> acknowledged(n4::OwnRequest request);
  /// Nobody answered: it is due again after a while.
  std::optional<Ready> unanswered(n4::OwnRequest request, const Now& now);
  /// The lane has to wait: its peer does not answer heartbeats either.
  void defer(const Ready& ready, const Now& now);
  /// The peer is back: its sessions' reports are due now.
  void retry(const std::string& owner);

  [[nodiscard]] std::optional<TimePoint> wake_at() const;
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t usage_reports() const { return usage_reports_; }

 private:
  struct LaneState {
    std::optional<n4::OwnRequest> under_way{};
    ReportContent sent{};
    TimePoint due{};                    ///< not before then
    std::optional<TimePoint> listed{};  ///< its place in due_, if it has one
  };
  struct Entry {
    ReportTarget target{};
    std::deque<usage::Report> usage{};
    std::size_t tried{};  ///< so many at the front were sent and not answered
    std::map<PdrId, dataplane::DownlinkData> downlink{};
    std::deque<dataplane::ErrorIndication> errors{};
    bool inactive{};
    LaneState lanes[2]{};
    [[nodiscard]] bool has(Lane lane) const {
      return lane == Lane::Usage ? !usage.empty()
                                 : !downlink.empty() || !errors.empty() || inactive;
    }
  };

  Entry& entry(Seid seid, const ReportTarget& target);
  void merge_oldest(Entry& entry);
  [[nodiscard]] static ReportContent waiting(const Entry& entry, Lane lane);
  static void put_back(Entry& entry, ReportContent content);
  /// Brings due_ in line with an entry that changed; one with nothing left goes.
  void settle(Seid seid);
  void drop(Seid seid);
  std::optional<Ready> finish(n4::OwnRequest request);
  [[nodiscard]] static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

  std::size_t per_session_;
  std::chrono::milliseconds retry_after_;
  std::map<Seid, Entry> sessions_;
  std::map<n4::OwnRequest, Ready> under_way_;
  /// Lanes with something to send and nothing under way, by when they are due.
  std::set<std::pair<TimePoint, std::pair<Seid, Lane>>> due_;
  std::size_t usage_reports_{};
};

}  // namespace upf::control

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forwarder.hpp"
#include "path_monitor.hpp"
#include "quiescence.hpp"
#include "session_tables.hpp"
#include "snapshot.hpp"
#include "upf/base/clock.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::userplane {

/// The control thread's half: changes of rules, readings of usage, what packet threads tell. It
/// knows neither sockets nor threads; packet threads appear as a Quiescence, and `forwarder` is its
/// own, through which waiting packets and End Markers leave.
///
/// A change is compiled first, which may fail, and then published, which can't. When apply()
/// returns, no packet thread uses the old rules any more.
class SessionKeeper {
 public:
  SessionKeeper(Shared& shared, Quiescence& quiescence, Forwarder& forwarder, LocalEnds& ends,
                dataplane::EchoTimers echo = {});
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;
  ~SessionKeeper();

  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change);
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs);

  // session_audit.cpp
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair);
  [[nodiscard]] dataplane::Strays audit_strays(const std::function<bool(Seid)>& known, bool repair);

  /// Takes in what a packet thread told.
  void on_packet_event(const PacketEvent& event, const Now& now,
                       std::vector<dataplane::Event>& out);
  /// Says what has waited long enough.
  void on_time(const Now& now, std::vector<dataplane::Event>& out);
  /// When on_time() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_time() const;

  void watch(const dataplane::Watcher& watcher) { watcher_ = watcher; }
  /// What is installed and counted for a session; none if there is no such session.
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const;
  /// Packets and octets that are buffered for all sessions.
  [[nodiscard]] std::pair<std::size_t, std::size_t> waiting() const;
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
  [[nodiscard]] const PathMonitor& paths() const { return paths_; }

 private:
  /// What a change needs besides the session: states that are new with it.
  struct Draft {
    States states{};
    StateList<UrrState> urrs{};
    StateList<QerState> qers{};
    StateList<FarState> fars{};
    std::unique_ptr<const Snapshot> rules{};
  };
  /// A downlink data notification that its BAR delays.
  struct Delayed {
    TimePoint due{};
    std::uint32_t episode{};
    FarId far{};
    dataplane::DownlinkData event{};
  };

  [[nodiscard]] Session* find(Seid seid);
  [[nodiscard]] const Session* find(Seid seid) const;
  [[nodiscard]] std::optional<dataplane::Drift> compare(Session& session,
                                                        const rules::SessionRules& intended);
  dataplane::Applied end(Session& session);
  [[nodiscard]] Result<Draft, dataplane::Failure> draft(const dataplane::Change& change,
                                                        const Session* session) const;
  [[nodiscard]] std::optional<dataplane::Failure> teid_clash(const dataplane::Change& change,
                                                             const Snapshot& rules,
                                                             const Session* session) const;
  dataplane::Applied commit(const dataplane::Change& change, Session& session, Draft draft);
  void tell(Seid seid, FarId far, std::size_t packets, const char* what) const;
  void move_keys(Session& session, const Snapshot* before, const Snapshot& after);
  void forget_key(Session& session, const TableKey& key);
  void insert_lost_keys(Session& session);
  static void arm(const dataplane::Change& change, const States& states);
  static void settle_blocks(const rules::SessionRules& rules, const States& states);
  static void begin_episodes(const Snapshot* before, const Snapshot& after);
  void send_end_markers(const dataplane::Change& change, const Snapshot& before,
                        const Snapshot& after);
  void settle_buffers(const dataplane::Change& change, Session& session, const Snapshot& before,
                      const Snapshot& after);
  void drop_buffered(const Snapshot& rules, FarId far, FarState* state);
  void drain(Session& session, const FarEntry& far);
  std::vector<dataplane::Reading> take_readings(const dataplane::Change& change,
                                                const Session& session, const States& after);
  template <class State>
  void replace(StateList<State>& owned, StateList<State> fresh, const std::vector<State*>& wanted);

  void on_held(const HeldFirst& held, const Now& now, std::vector<dataplane::Event>& out);
  void on_limit(const LimitHit& hit, std::vector<dataplane::Event>& out);

  Shared& shared_;
  Quiescence& quiescence_;
  Forwarder& forwarder_;
  LocalEnds& ends_;
  std::unordered_map<Seid, Session> sessions_{};
  std::vector<Delayed> delayed_{};
  PathMonitor paths_;
  dataplane::Watcher watcher_{};
};

/// Takes what was counted since the last reading.
[[nodiscard]] dataplane::Reading take_reading(UrrState& urr);

}  // namespace upf::userplane

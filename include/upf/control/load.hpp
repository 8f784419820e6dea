#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "upf/base/clock.hpp"

namespace upf::control {

/// What the shell measures of the thread that serves N4. Times count up from any beginning.
struct LoadMeasures {
  std::chrono::nanoseconds cpu{};    ///< its CPU time
  std::chrono::nanoseconds plane{};  ///< spent in calls of the data plane, waiting included
  unsigned queue_percent{};          ///< how full the receive queue of N4 is now
  std::size_t waiting{};             ///< datagrams in it, about
};

/// How busy the control half is, and what it does about it (TS 29.244 6.2.3, 6.2.4).
///
/// The measure is the share of time that the control thread spends serving: decoding, planning and
/// above all waiting for the data plane, whose calls are synchronous. That is measured by the
/// clock, and counts only as far as the thread had the CPU or was in a call of the data plane: one
/// that others keep from running is slow, not busy. It is taken over windows of kWindow and
/// smoothed over a few of them, so that one burst is no overload. Sessions in use of those allowed
/// are a second measure: of load, not of overload. A third is the queue: whatever the reason, when
/// it fills up requests wait long, and soon heartbeats are lost.
///
/// To be busy is not yet overload: an SMF that always has requests open keeps any UPF busy. It is
/// once they wait, too, as long as SMFs don't like to (the datagrams in the queue, by how fast they
/// are served).
///
/// The reaction is graded. Heartbeats, deletions and modifications are always served: they are what
/// keeps peers calm, frees resources, and moves UEs that are there. New sessions are refused, a
/// share of them first, then all; the same share is asked of peers as a reduction.
class Load {
 public:
  static constexpr std::chrono::milliseconds kWindow{500};
  static constexpr unsigned kReduceFrom = 85;  ///< percent busy
  static constexpr unsigned kRefuseAllFrom = 97;
  static constexpr unsigned kQueueReduceFrom = 50;  ///< percent of the queue
  static constexpr unsigned kQueueRefuseAllFrom = 90;
  /// SMFs ask again after a second, or half of it.
  static constexpr std::chrono::milliseconds kLongWait{150};

  using Measure = std::function<LoadMeasures()>;
  /// `measure` is asked once a window; empty: serving by the clock is all that counts.
  explicit Load(Measure measure = {}) : measure_(std::move(measure)) {}

  /// Time that was spent serving a call that ended now.
  void served(TimePoint now, std::chrono::nanoseconds busy);
  void set_sessions(std::size_t used, std::size_t allowed);
  /// No new sessions, whatever the measures say: to peers that is all the load there can be.
  void set_draining(bool draining);

  /// Percent. Load Control Information's metric.
  [[nodiscard]] unsigned metric() const;
  /// Percent of new sessions that are too many; 0: no overload. Overload Control Information's.
  [[nodiscard]] unsigned reduction() const { return reduction_; }
  /// Counts up each time that what is said changes by enough to be said (6.2.3.2: peers take only
  /// what has a higher number).
  [[nodiscard]] std::uint32_t load_sequence() const { return load_sequence_; }
  [[nodiscard]] std::uint32_t overload_sequence() const { return overload_sequence_; }

  /// Whether to serve one more new session. Of each hundred as many are refused as reduction()
  /// says, evenly spread.
  [[nodiscard]] bool admits_new_session();

 private:
  void close_window(TimePoint now);
  void update();

  Measure measure_;
  LoadMeasures at_start_{};  ///< of the window
  TimePoint window_start_{};
  std::chrono::nanoseconds busy_in_window_{};
  std::size_t calls_in_window_{};
  double busy_{};   ///< 0 to 1, smoothed
  double queue_{};  ///< the same
  bool waits_{};    ///< requests wait long, or nobody measures that
  unsigned session_percent_{};
  bool draining_{};
  unsigned said_metric_{};
  unsigned reduction_{};
  unsigned refusal_credit_{};
  std::uint32_t load_sequence_{1};
  std::uint32_t overload_sequence_{1};
};

}  // namespace upf::control

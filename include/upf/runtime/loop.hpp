#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "upf/base/clock.hpp"
#include "upf/base/result.hpp"
#include "upf/runtime/error.hpp"

struct sd_event;
struct sd_event_source;

namespace upf::runtime {

/// Both clocks, read now. The only place where the daemon reads them.
[[nodiscard]] Now now();

/// CPU time of the calling thread.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time();

/// From here on these signals only arrive through Loop::on_signal(). Call it before any thread is
/// made: threads inherit the mask.
void block_signals(std::initializer_list<int> signals);

/// The event loop (sd-event): the one place where the control thread waits.
///
/// API: sources live as long as the value that add_io(), Timer or on_signal() gave; a callback may
/// destroy its own source. Callbacks run one at a time on the thread that is in run().
/// Threading: post() and stop() may be called from any thread, the rest from the loop's.
class Loop {
 public:
  /// A registration; destroying it ends the calls.
  class Source {
   public:
    Source();
    Source(Source&&) noexcept;
    Source& operator=(Source&&) noexcept;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source();
    [[nodiscard]] explicit operator bool() const { return source_ != nullptr; }

   private:
    friend class Loop;
    struct Callback;
    std::unique_ptr<Callback> callback_{};
    sd_event_source* source_ = nullptr;
  };

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  /// Calls back while the descriptor has one of `events` (EPOLLIN, …). An error on it counts, too.
  [[nodiscard]] Result<Source, SystemError> add_io(int fd, std::uint32_t events,
                                                   std::function<void(std::uint32_t)> on_ready);
  /// `signal` must have been blocked.
  [[nodiscard]] Result<Source, SystemError> on_signal(int signal, std::function<void()> on_signal);
  /// A timer that isn't set yet; see set_timer().
  [[nodiscard]] Result<Source, SystemError> add_timer(std::function<void()> on_time);
  /// Calls back once at `when` or as soon as possible after it; none: not at all.
  void set_timer(Source& timer, std::optional<TimePoint> when);

  /// Runs `task` on the loop's thread, in the order of the calls.
  void post(std::function<void()> task);
  /// Drops what was posted and not run, and from now on whatever is posted. Who waits for a task
  /// sees it destroyed.
  void discard_posted();

  /// Returns the value given to stop(), or the error that ended the loop.
  [[nodiscard]] Result<int, SystemError> run();
  void stop(int code);

  /// Pings systemd's watchdog from the loop, if the unit has one. True if it has.
  bool enable_watchdog();

 private:
  struct Mailbox;
  void drain_mailbox();

  sd_event* event_ = nullptr;
  std::unique_ptr<Mailbox> mailbox_;
  Source mailbox_source_{};
};

/// Tells the service manager (sd_notify); nothing happens without one.
void notify_ready(const std::string& status);
void notify_stopping();
void notify_status(const std::string& status);
void notify_reloading();

}  // namespace upf::runtime

#include "upf/runtime/loop.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <deque>
#include <mutex>

#include "upf/base/assert.hpp"
#include "upf/runtime/unique_fd.hpp"

namespace upf::runtime {

Now now() { return {Clock::now(), std::chrono::system_clock::now()}; }

std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void block_signals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// What sd-event's C callbacks are handed. Its address stays while the Source moves.
struct Loop::Source::Callback {
  std::function<void(std::uint32_t)> call{};

  static int on_io(sd_event_source*, int, std::uint32_t events, void* self) {
    static_cast<Callback*>(self)->run(events);
    return 0;
  }
  static int on_time(sd_event_source*, std::uint64_t, void* self) {
    static_cast<Callback*>(self)->run(0);
    return 0;
  }
  static int on_signal(sd_event_source*, const signalfd_siginfo*, void* self) {
    static_cast<Callback*>(self)->run(0);
    return 0;
  }

 private:
  // By copy: the callback may destroy its own source, and this object with it.
  void run(std::uint32_t events) const {
    const auto copy = call;
    copy(events);
  }
};

Loop::Source::Source() = default;

Loop::Source::Source(Source&& other) noexcept
    : callback_(std::move(other.callback_)), source_(std::exchange(other.source_, nullptr)) {}

Loop::Source& Loop::Source::operator=(Source&& other) noexcept {
  if (this != &other) {
    sd_event_source_disable_unref(source_);
    callback_ = std::move(other.callback_);
    source_ = std::exchange(other.source_, nullptr);
  }
  return *this;
}

Loop::Source::~Source() { sd_event_source_disable_unref(source_); }

struct Loop::Mailbox {
  UniqueFd wake{};
  std::mutex mutex{};
  std::deque<std::function<void()>> tasks{};
  bool closed{};
};

Loop::Loop() : mailbox_(std::make_unique<Mailbox>()) {
  UPF_ASSERT(sd_event_new(&event_) >= 0);
  mailbox_->wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  auto source = add_io(mailbox_->wake.get(), EPOLLIN, [this](std::uint32_t) { drain_mailbox(); });
  UPF_ASSERT(source.has_value());
  mailbox_source_ = std::move(*source);
}

Loop::~Loop() {
  mailbox_source_ = {};
  sd_event_unref(event_);
}

Result<Loop::Source, SystemError> Loop::add_io(int fd, std::uint32_t events,
                                               std::function<void(std::uint32_t)> on_ready) {
  Source source;
  source.callback_ = std::make_unique<Source::Callback>(Source::Callback{std::move(on_ready)});
  const int error = sd_event_add_io(event_, &source.source_, fd, events, &Source::Callback::on_io,
                                    source.callback_.get());
  if (error < 0) return failure(SystemError{-error, "watch a descriptor"});
  return source;
}

Result<Loop::Source, SystemError> Loop::on_signal(int signal, std::function<void()> on_signal) {
  Source source;
  source.callback_ = std::make_unique<Source::Callback>(
      Source::Callback{[call = std::move(on_signal)](std::uint32_t) { call(); }});
  const int error = sd_event_add_signal(event_, &source.source_, signal,
                                        &Source::Callback::on_signal, source.callback_.get());
  if (error < 0) return failure(SystemError{-error, "watch a signal"});
  return source;
}

Result<Loop::Source, SystemError> Loop::add_timer(std::function<void()> on_time) {
  Source source;
  source.callback_ = std::make_unique<Source::Callback>(
      Source::Callback{[call = std::move(on_time)](std::uint32_t) { call(); }});
  int error = sd_event_add_time(event_, &source.source_, CLOCK_MONOTONIC, 0, 1000,
                                &Source::Callback::on_time, source.callback_.get());
  if (error >= 0) error = sd_event_source_set_enabled(source.source_, SD_EVENT_OFF);
  if (error < 0) return failure(SystemError{-error, "add a timer"});
  return source;
}

void Loop::set_timer(Source& timer, std::optional<TimePoint> when) {
  if (when) {
    using std::chrono::microseconds;
    // Rounded up: a timer that fires early would be set again for the same moment.
    const auto at = std::chrono::ceil<microseconds>(when->time_since_epoch()).count();
    sd_event_source_set_time(timer.source_, static_cast<std::uint64_t>(std::max<long>(at, 0)));
  }
  sd_event_source_set_enabled(timer.source_, when ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void Loop::post(std::function<void()> task) {
  const std::lock_guard lock{mailbox_->mutex};
  if (mailbox_->closed) return;
  mailbox_->tasks.push_back(std::move(task));
  const std::uint64_t one = 1;
  // Can only fail when the counter is full, and then the loop is awake anyway.
  [[maybe_unused]] const auto written = ::write(mailbox_->wake.get(), &one, sizeof one);
}

void Loop::discard_posted() {
  std::deque<std::function<void()>> dropped;
  const std::lock_guard lock{mailbox_->mutex};
  mailbox_->closed = true;
  dropped.swap(mailbox_->tasks);
}

void Loop::drain_mailbox() {
  std::uint64_t count{};
  [[maybe_unused]] const auto got = ::read(mailbox_->wake.get(), &count, sizeof count);
  std::deque<std::function<void()>> tasks;
  {
    const std::lock_guard lock{mailbox_->mutex};
    tasks.swap(mailbox_->tasks);
  }
  for (const auto& task : tasks) task();
}

Result<int, SystemError> Loop::run() {
  const int code = sd_event_loop(event_);
  if (code < 0) return failure(SystemError{-code, "event loop"});
  return code;
}

void Loop::stop(int code) {
  post([this, code] { sd_event_exit(event_, code); });
}

bool Loop::enable_watchdog() { return sd_event_set_watchdog(event_, 1) > 0; }

void notify_ready(const std::string& status) {
  sd_notifyf(0, "READY=1\nSTATUS=%s", status.c_str());
}
void notify_stopping() { sd_notify(0, "STOPPING=1"); }
void notify_status(const std::string& status) { sd_notifyf(0, "STATUS=%s", status.c_str()); }
void notify_reloading() {
  const auto at =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(at.count()));
}

}  // namespace upf::runtime

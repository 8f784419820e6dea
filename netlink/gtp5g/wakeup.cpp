#include "netlink/gtp5g/wakeup.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

namespace upf::gtp5g {

Wakeup::Wakeup()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  watch(timer_);
}

Wakeup::~Wakeup() {
  if (timer_ >= 0) ::close(timer_);
  if (epoll_ >= 0) ::close(epoll_);
}

void Wakeup::watch(int descriptor) {
  if (descriptor < 0) return;
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  (void)::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
}

void Wakeup::at(std::optional<TimePoint> time) {
  itimerspec spec{};  // zero: disarmed; setting it also makes the descriptor unreadable again
  if (time) {
    using std::chrono::nanoseconds;
    const nanoseconds wait =
        std::max(std::chrono::duration_cast<nanoseconds>(*time - Clock::now()), nanoseconds{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    spec.it_value = {.tv_sec = seconds.count(), .tv_nsec = (wait - seconds).count()};
  }
  (void)::timerfd_settime(timer_, 0, &spec, nullptr);
}

}  // namespace upf::gtp5g

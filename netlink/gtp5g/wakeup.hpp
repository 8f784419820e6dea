#pragma once

#include <optional>

#include "upf/base/clock.hpp"

namespace upf::gtp5g {

/// One descriptor that becomes readable when any of several does, or at a set time.
class Wakeup {
 public:
  Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  ~Wakeup();

  [[nodiscard]] int descriptor() const { return epoll_; }
  void watch(int descriptor);  ///< -1 is ignored
  /// At that time, or at once if it is past; none: not at all.
  void at(std::optional<TimePoint> time);

 private:
  int epoll_{-1};
  int timer_{-1};
};

}  // namespace upf::gtp5g

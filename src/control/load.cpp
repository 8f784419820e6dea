#include "upf/control/load.hpp"

#include <algorithm>

namespace upf::control {
namespace {

constexpr double kNewWeight = 0.5;    // of the latest window
constexpr unsigned kWorthSaying = 5;  // percent points

/// Of new sessions, percent: none up to `from`, all as of `to`.
unsigned share_refused(double measure, unsigned from, unsigned to) {
  const auto percent = static_cast<unsigned>(measure * 100.0);
  if (percent >= to) return 100;
  return percent < from ? 0 : (percent - from) * 100 / (to - from);
}

}  // namespace

void Load::served(TimePoint now, std::chrono::nanoseconds busy) {
  if (window_start_ == TimePoint{}) {
    window_start_ = now;
    if (measure_) at_start_ = measure_();
  }
  busy_in_window_ += busy;
  ++calls_in_window_;
  if (now - window_start_ >= kWindow) close_window(now);
}

// An idle time longer than a window closes one long window, in which little was done.
void Load::close_window(TimePoint now) {
  const std::chrono::duration<double> passed = now - window_start_;
  std::chrono::duration<double> busy = busy_in_window_;
  double queue = 0;
  waits_ = true;
  if (measure_) {
    const LoadMeasures measures = measure_();
    const auto at_work = measures.cpu - at_start_.cpu + measures.plane - at_start_.plane;
    busy = std::min<std::chrono::duration<double>>(busy, at_work);
    queue = measures.queue_percent / 100.0;
    waits_ = static_cast<double>(measures.waiting) * passed / calls_in_window_ > kLongWait;
    at_start_ = measures;
  }
  const double share = std::min(1.0, busy.count() / passed.count());
  const double windows = passed / std::chrono::duration<double>{kWindow};
  const double weight = windows >= 4.0 ? 1.0 : kNewWeight;
  busy_ = weight * share + (1.0 - weight) * busy_;
  queue_ = weight * queue + (1.0 - weight) * queue_;
  window_start_ = now;
  busy_in_window_ = {};
  calls_in_window_ = 0;
  update();
}

void Load::set_sessions(std::size_t used, std::size_t allowed) {
  session_percent_ =
      allowed == 0 ? 0 : static_cast<unsigned>(std::min<std::size_t>(100, used * 100 / allowed));
}

void Load::set_draining(bool draining) {
  draining_ = draining;
  update();
}

unsigned Load::metric() const {
  if (draining_) return 100;
  return std::max(static_cast<unsigned>(std::max(busy_, queue_) * 100.0), session_percent_);
}

void Load::update() {
  const unsigned now = metric();
  const unsigned change = now > said_metric_ ? now - said_metric_ : said_metric_ - now;
  if (change >= kWorthSaying) {
    said_metric_ = now;
    ++load_sequence_;
  }
  const unsigned measured = std::max(waits_ ? share_refused(busy_, kReduceFrom, kRefuseAllFrom) : 0,
                                     share_refused(queue_, kQueueReduceFrom, kQueueRefuseAllFrom));
  const unsigned reduction = draining_ ? 100 : measured;
  if (reduction != reduction_) ++overload_sequence_;
  reduction_ = reduction;
}

bool Load::admits_new_session() {
  refusal_credit_ += reduction_;
  if (refusal_credit_ < 100) return true;
  refusal_credit_ -= 100;
  return false;
}

}  // namespace upf::control

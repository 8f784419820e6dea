#include "upf/control/load.hpp"

#include <algorithm>

namespace upf::control {
namespace {

constexpr double kNewWeight = 0.5;    // of the latest window
constexpr unsigned kWorthSaying = 5;  // percent points

}  // namespace

void Load::served(TimePoint now, std::chrono::nanoseconds busy) {
  if (window_start_ == TimePoint{}) window_start_ = now;
  busy_in_window_ += busy;
  if (now - window_start_ >= kWindow) close_window(now);
}

// An idle time longer than a window closes one long window, in which little was done.
void Load::close_window(TimePoint now) {
  const std::chrono::duration<double> passed = now - window_start_;
  const std::chrono::duration<double> busy = busy_in_window_;
  const double share = std::min(1.0, busy.count() / passed.count());
  const double windows = passed / std::chrono::duration<double>{kWindow};
  const double weight = windows >= 4.0 ? 1.0 : kNewWeight;
  busy_ = weight * share + (1.0 - weight) * busy_;
  window_start_ = now;
  busy_in_window_ = {};
  update();
}

void Load::set_sessions(std::size_t used, std::size_t allowed) {
  session_percent_ =
      allowed == 0 ? 0 : static_cast<unsigned>(std::min<std::size_t>(100, used * 100 / allowed));
}

unsigned Load::metric() const {
  return std::max(static_cast<unsigned>(busy_ * 100.0), session_percent_);
}

void Load::update() {
  const unsigned now = metric();
  const unsigned change = now > said_metric_ ? now - said_metric_ : said_metric_ - now;
  if (change >= kWorthSaying) {
    said_metric_ = now;
    ++load_sequence_;
  }
  const auto busy = static_cast<unsigned>(busy_ * 100.0);
  unsigned reduction = 0;
  if (busy >= kRefuseAllFrom) {
    reduction = 100;
  } else if (busy >= kReduceFrom) {
    reduction = (busy - kReduceFrom) * 100 / (kRefuseAllFrom - kReduceFrom);
  }
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

#include "src/app/log_budget.hpp"

#include <algorithm>

namespace upf::app {

void LogBudget::fill(Bucket& bucket, TimePoint now) {
  const std::chrono::duration<double> passed = now - bucket.filled;
  bucket.tokens = std::min(kBurst, bucket.tokens + std::max(passed.count(), 0.0) * kPerSecond);
  bucket.filled = now;
}

bool LogBudget::take(Level level, const std::string& kind, TimePoint now) {
  auto found = buckets_.find(kind);
  if (found == buckets_.end()) {
    const std::string& key = buckets_.size() < kKinds ? kind : std::string{"other"};
    found = buckets_.try_emplace(key, Bucket{.filled = now}).first;
  }
  Bucket& bucket = found->second;
  fill(bucket, now);
  if (bucket.tokens < 1) {
    ++bucket.suppressed;
    bucket.level = std::max(bucket.level, level);
    return false;
  }
  bucket.tokens -= 1;
  return true;
}

std::vector<LogBudget::Suppressed> LogBudget::collect(TimePoint now) {
  std::vector<Suppressed> all;
  for (auto it = buckets_.begin(); it != buckets_.end();) {
    Bucket& bucket = it->second;
    if (bucket.suppressed != 0) all.push_back({bucket.level, it->first, bucket.suppressed});
    bucket.suppressed = 0;
    bucket.level = {};
    fill(bucket, now);
    it = bucket.tokens >= kBurst ? buckets_.erase(it) : std::next(it);
  }
  return all;
}

}  // namespace upf::app

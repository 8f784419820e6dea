#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "src/app/metrics/exposition.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::app::metrics {

/// A data plane that counts and times what is asked of the one inside it. It keeps no rule: what it
/// knows of sessions is the difference of each change.
class MeteredPlane final : public dataplane::DataPlane {
 public:
  using Time = std::chrono::nanoseconds;
  /// Told of each change after it was tried; for traces. Cheap when nothing is traced.
  struct Observer {
    std::function<void(const dataplane::Change&,
                       const Result<dataplane::Applied, dataplane::Failure>&, Time)>
        on_change{};
    std::function<void(const dataplane::Event&)> on_event{};
  };

  /// `device`: the one whose own counts are the plane's packets; empty: the plane counts them.
  explicit MeteredPlane(std::unique_ptr<dataplane::DataPlane> inner, std::string device = {})
      : inner_(std::move(inner)), device_(std::move(device)) {}
  void observe(Observer observer) { observer_ = std::move(observer); }

  [[nodiscard]] const dataplane::Capabilities& capabilities() const override {
    return inner_->capabilities();
  }
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change) override;
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) override;
  [[nodiscard]] int event_descriptor() const override { return inner_->event_descriptor(); }
  [[nodiscard]] std::vector<dataplane::Event> take_events() override;
  [[nodiscard]] std::vector<dataplane::Counter> counters() const override;
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair) override {
    return inner_->audit(seid, intended, repair);
  }
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair) override {
    return inner_->audit_strays(known, repair);
  }

  [[nodiscard]] std::vector<dataplane::Path> paths() const override { return inner_->paths(); }
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const override {
    return inner_->inspect(seid);
  }
  [[nodiscard]] std::string fault() const override { return inner_->fault(); }
  void watch(const dataplane::Watcher& watcher) override { inner_->watch(watcher); }
  [[nodiscard]] Result<void, std::string> add_network(const IpPrefix& network) override {
    return inner_->add_network(network);
  }

  void expose(Exposition& to) const;
  /// Spent in changes and readings, so far.
  [[nodiscard]] Time time_in_calls() const { return time_in_calls_; }

  struct Totals {
    std::uint64_t established{};
    std::uint64_t ended{};
    std::int64_t sessions{};
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  struct Call {
    std::map<std::string_view, std::uint64_t> outcomes{};
    Histogram durations{};
  };
  void count_change(const dataplane::Change& change);
  void count_rules(const rules::SessionRules& rules, int sign);

  std::unique_ptr<dataplane::DataPlane> inner_;
  std::string device_;
  Observer observer_{};
  Call applies_{};
  Call reads_{};
  Time time_in_calls_{};
  std::map<std::string_view, std::uint64_t> events_{};
  std::array<std::int64_t, 5> rules_{};  ///< PDR, FAR, QER, URR, BAR
  Totals totals_{};
};

}  // namespace upf::app::metrics

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Metrics in the text format of Prometheus (exposition format 0.0.4).
namespace upf::app::metrics {

enum class Kind : std::uint8_t { Counter, Gauge, Histogram };

/// One metric family. What is not in the catalog can't be exposed, so the catalog's page is whole.
struct Family {
  std::string_view name{};
  Kind kind{};
  std::string_view unit{};    ///< of its values: "seconds", "packets"
  std::string_view labels{};  ///< their names, for the page: "type, peer"
  std::string_view help{};
};

/// All families, in the order of the page (src/app/metrics/catalog.cpp).
[[nodiscard]] std::span<const Family> catalog();
/// The catalog as a table in Markdown.
[[nodiscard]] std::string reference();

/// Durations in buckets from 10 us to 2.5 s. One comparison per bucket; no allocation.
class Histogram {
 public:
  static constexpr std::array<double, 17> kBounds{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4,
                                                  1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2,
                                                  1e-1, 2.5e-1, 5e-1, 1.0,  2.5};

  void observe(double seconds);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }
  /// Of all observations up to kBounds[i].
  [[nodiscard]] std::uint64_t up_to(std::size_t i) const;

 private:
  std::array<std::uint64_t, kBounds.size()> buckets_{};
  std::uint64_t count_{};
  double sum_{};
};

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// Label values that peers choose: the first so many as they are, whatever else as "other". None is
/// forgotten, so a database never has more series than that of one run.
class LabelValues {
 public:
  explicit LabelValues(std::size_t most) : most_(most) {}
  std::string_view label_of(const std::string& value);

 private:
  std::size_t most_;
  std::set<std::string> known_{};
};

/// One scrape's answer.
class Exposition {
 public:
  /// `family` is in the catalog.
  void add(std::string_view family, const Labels& labels, double value);
  void add(std::string_view family, double value) { add(family, {}, value); }
  void add(std::string_view family, const Labels& labels, const Histogram& histogram);

  /// Families without a sample are left out.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string_view, std::string> samples_{};
};

}  // namespace upf::app::metrics

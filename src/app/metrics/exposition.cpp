#include "src/app/metrics/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "upf/base/assert.hpp"

namespace upf::app::metrics {
namespace {

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[] = {"counter", "gauge", "histogram"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Family& family_of(std::string_view name) {
  const auto found = std::ranges::find(catalog(), name, &Family::name);
  UPF_ASSERT(found != catalog().end());
  return *found;
}

/// Label values may hold anything (a Node ID is a peer's choice), but one that isn't UTF-8 costs
/// the whole scrape: what isn't printable ASCII comes as \xNN.
void put_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < ' ' || c > '~') {
      out += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
}

std::string label_text(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    text += fmt::format("{}{}=\"", text.empty() ? "" : ",", key);
    put_escaped(text, value);
    text += '"';
  }
  return text;
}

std::string number(double value) {
  // Counters are whole; 2^53 of anything is out of reach.
  if (value == std::floor(value) && std::abs(value) < 9e15) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

std::string sample(std::string_view name, const std::string& labels, const std::string& value) {
  if (labels.empty()) return fmt::format("{} {}\n", name, value);
  return fmt::format("{}{{{}}} {}\n", name, labels, value);
}

}  // namespace

std::string_view LabelValues::label_of(const std::string& value) {
  auto at = known_.find(value);
  if (at == known_.end() && known_.size() < most_) at = known_.insert(value).first;
  return at == known_.end() ? "other" : std::string_view{*at};
}

void Histogram::observe(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  if (bound != kBounds.end()) {
    ++buckets_[static_cast<std::size_t>(bound - kBounds.begin())];
  }
  ++count_;
  sum_ += seconds;
}

std::uint64_t Histogram::up_to(std::size_t i) const {
  std::uint64_t total = 0;
  for (std::size_t j = 0; j <= i; ++j) total += buckets_[j];
  return total;
}

void Exposition::add(std::string_view family, const Labels& labels, double value) {
  const Family& known = family_of(family);
  UPF_ASSERT(known.kind != Kind::Histogram);
  samples_[known.name] += sample(known.name, label_text(labels), number(value));
}

void Exposition::add(std::string_view family, const Labels& labels, const Histogram& histogram) {
  const Family& known = family_of(family);
  UPF_ASSERT(known.kind == Kind::Histogram);
  const std::string plain = label_text(labels);
  const std::string before = plain.empty() ? "" : plain + ",";
  std::string& out = samples_[known.name];
  const std::string bucket = std::string{known.name} + "_bucket";
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    out += sample(bucket, fmt::format("{}le=\"{}\"", before, Histogram::kBounds[i]),
                  std::to_string(histogram.up_to(i)));
  }
  const std::string count = std::to_string(histogram.count());
  out += sample(bucket, before + "le=\"+Inf\"", count);
  out += sample(std::string{known.name} + "_sum", plain, fmt::format("{}", histogram.sum()));
  out += sample(std::string{known.name} + "_count", plain, count);
}

std::string Exposition::text() const {
  std::string text;
  for (const Family& family : catalog()) {
    const auto samples = samples_.find(family.name);
    if (samples == samples_.end()) continue;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", family.name, family.help, family.name,
                        name_of(family.kind));
    text += samples->second;
  }
  return text;
}

std::string reference() {
  const auto or_dash = [](std::string_view text) { return text.empty() ? "–" : text; };
  std::string text = "| metric | kind | unit | labels | meaning |\n|---|---|---|---|---|\n";
  for (const Family& family : catalog()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", family.name, name_of(family.kind),
                        or_dash(family.unit), or_dash(family.labels), family.help);
  }
  return text;
}

}  // namespace upf::app::metrics

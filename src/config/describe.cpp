#include <fmt/format.h>

#include <algorithm>

#include "src/config/row.hpp"
#include "upf/config/config.hpp"

namespace upf::config {
namespace {

struct Leaf {
  std::string key{};
  std::string value{};
  const Row* row{};
};

void collect(std::span<const Row> rows, const std::string& path, const void* owner,
             std::vector<Leaf>& leaves) {
  for (const Row& row : rows) {
    if (row.shape == Shape::Ignored) continue;
    const std::string key = path + std::string{row.key};
    if (row.print != nullptr) {
      leaves.push_back({key, row.print(owner), &row});
      continue;
    }
    for (std::size_t i = 0; i < row.count(owner); ++i) {
      const std::string element =
          row.shape == Shape::Sections ? fmt::format("{}[{}]", key, i) : key;
      collect(row.rows, element + ".", row.at(owner, i), leaves);
    }
  }
}

std::vector<Leaf> leaves_of(const Config& config) {
  std::vector<Leaf> leaves;
  collect(schema(), "", &config, leaves);
  return leaves;
}

/// A whole element of a list appears: a data network may, behind the others, but no interface.
bool may_appear(const Leaf& leaf) {
  return leaf.row->effect == Effect::Live || leaf.key.starts_with("dnnList[");
}

void describe_rows(std::span<const Row> rows, const std::string& path, const void* defaults,
                   std::string& text) {
  for (const Row& row : rows) {
    const std::string key = path + std::string{row.key};
    if (row.print == nullptr) {
      if (row.shape == Shape::Ignored) {
        text +=
            fmt::format("| `{}` | – | anything | – | {} Accepted and ignored. |\n", key, row.doc);
        continue;
      }
      text +=
          fmt::format("| **`{}`** | {} | | | {} |\n", key, row.ours ? "kupf" : "go-upf", row.doc);
      const bool repeated = row.shape == Shape::Sections;
      describe_rows(row.rows, key + (repeated ? "[]." : "."), row.fresh(), text);
      continue;
    }
    const std::string value = row.print(defaults);
    const std::string fallback = row.need == Need::Required ? "**required**"
                                 : value.empty()            ? "–"
                                                            : "`" + value + "`";
    const std::string each = row.shape == Shape::List ? "list of: " : "";
    text += fmt::format("| `{}` | {} | {}{} | {} | {}{} |\n", key, row.ours ? "kupf" : "go-upf",
                        each, row.allowed(), fallback, row.doc,
                        row.effect == Effect::Live ? " *(reload)*" : "");
  }
}

}  // namespace

Described describe(const Config& config) {
  Described lines;
  for (const Leaf& leaf : leaves_of(config)) lines.emplace_back(leaf.key, leaf.value);
  return lines;
}

std::vector<Difference> compare(const Described& before, const Config& after) {
  const std::vector<Leaf> leaves = leaves_of(after);
  std::vector<Difference> differences;
  for (const auto& [key, value] : before) {
    const auto other = std::ranges::find(leaves, key, &Leaf::key);
    if (other == leaves.end()) {
      differences.push_back({key, value, "", false});
    } else if (other->value != value) {
      differences.push_back({key, value, other->value, other->row->effect == Effect::Live});
    }
  }
  for (const Leaf& leaf : leaves) {
    if (std::ranges::find(before, leaf.key, &Described::value_type::first) == before.end()) {
      differences.push_back({leaf.key, "", leaf.value, may_appear(leaf)});
    }
  }
  return differences;
}

std::vector<Difference> compare(const Config& before, const Config& after) {
  auto differences = compare(describe(before), after);
  // The leaf is only the path.
  if (before.predefined != after.predefined && before.predefined_rules == after.predefined_rules) {
    differences.push_back({"predefinedRules", before.predefined_rules + " as it was",
                           after.predefined_rules + " as it is", false});
  }
  return differences;
}

std::string reference() {
  const Config defaults;
  std::string text =
      "| key | known to | may be | default | meaning |\n"
      "|---|---|---|---|---|\n";
  describe_rows(schema(), "", &defaults, text);
  return text;
}

}  // namespace upf::config

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/config/check.hpp"
#include "src/config/row.hpp"

// Walks the YAML tree along the rows of the schema. It never stops at the first error: a file is
// mended in one round. yaml-cpp throws (on syntax); nothing else here does, and parse() catches.
namespace upf::config {
namespace {

constexpr std::size_t kLargestFile = 1U << 20U;

/// How many edits make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const std::size_t change = diagonal + (same ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::string unknown_key(const std::string& key, std::span<const Row> rows) {
  std::string allowed;
  const Row* nearest = nullptr;
  std::size_t least = key.size() / 3 + 1;
  for (const Row& row : rows) {
    if (row.shape == Shape::Ignored) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string{row.key};
    if (const std::size_t edits = distance(key, row.key); edits <= least) {
      least = edits;
      nearest = &row;
    }
  }
  const std::string hint = nearest ? fmt::format(" (did you mean {}?)", nearest->key) : "";
  return fmt::format("unknown key{}; allowed here: {}", hint, allowed);
}

std::string kind_of(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsDefined() || node.IsNull()) return "nothing";
  std::string text = node.Scalar().substr(0, 60);
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return fmt::format("\"{}\"", text);
}

class Walk {
 public:
  Marks marks{};
  Errors errors{};
  std::vector<Remark> warnings{};
  std::vector<Remark> notes{};

  void map(const YAML::Node& node, const std::string& path, std::span<const Row> rows,
           void* owner) {
    if (!node.IsMap()) return wrong(node, path, "a mapping of keys to values");
    std::vector<const Row*> seen;
    for (const auto& pair : node) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "?";
      const std::string full = path.empty() ? key : path + "." + key;
      const auto row = std::ranges::find(rows, std::string_view{key}, &Row::key);
      if (row == rows.end()) {
        add(errors, pair.first, full, unknown_key(key, rows));
      } else if (std::ranges::find(seen, &*row) != seen.end()) {
        add(errors, pair.first, full, "given twice; keep one of them");
      } else {
        seen.push_back(&*row);
        marks.emplace(full, pair.first.Mark());
        value(pair.first, pair.second, full, *row, owner);
      }
    }
    for (const Row& row : rows) {
      if (row.need != Need::Required || std::ranges::find(seen, &row) != seen.end()) continue;
      missing(node, path.empty() ? std::string{row.key} : path + "." + std::string{row.key}, row);
    }
  }

 private:
  static void add(std::vector<Remark>& to, const YAML::Node& at, const std::string& key,
                  std::string text) {
    to.push_back({key, at.Mark().line + 1, at.Mark().column + 1, std::move(text)});
  }

  void wrong(const YAML::Node& node, const std::string& path, const std::string& allowed) {
    add(errors, node, path, fmt::format("found {}, allowed: {}", kind_of(node), allowed));
  }

  void missing(const YAML::Node& at, const std::string& path, const Row& row) {
    const std::string what = row.allowed != nullptr ? row.allowed()
                             : row.shape == Shape::Sections
                                 ? std::string{"a list with at least one entry"}
                                 : std::string{"a mapping of keys to values"};
    add(errors, at, path, fmt::format("missing; it must be {}", what));
  }

  void value(const YAML::Node& key, const YAML::Node& node, const std::string& path, const Row& row,
             void* owner) {
    if (row.shape == Shape::Ignored) {
      add(warnings, key, path, fmt::format("{} Ignoring.", row.doc));
      return;
    }
    // `key:` with nothing behind it is as if the key weren't there, as in go-upf.
    if (node.IsNull() || (node.IsScalar() && node.Scalar().empty())) {
      if (row.need == Need::Required) missing(key, path, row);
      return;
    }
    switch (row.shape) {
      case Shape::Scalar:
        return scalar(node, path, row, owner);
      case Shape::List:
      case Shape::Sections:
        return sequence(node, path, row, owner);
      case Shape::Section:
        return map(node, path, row.rows, row.slot(owner));
      case Shape::Ignored:
        return;
    }
  }

  void scalar(const YAML::Node& node, const std::string& path, const Row& row, void* owner) {
    if (!node.IsScalar() || !row.read(node.Scalar(), owner)) wrong(node, path, row.allowed());
  }

  void sequence(const YAML::Node& node, const std::string& path, const Row& row, void* owner) {
    if (!node.IsSequence()) {
      const std::string element =
          row.allowed != nullptr ? row.allowed() : std::string{"a mapping of keys to values"};
      return wrong(node, path, fmt::format("a list (\"- …\" lines), each entry {}", element));
    }
    if (node.size() == 0 && row.need == Need::Required) return missing(node, path, row);
    std::size_t index = 0;
    for (const auto& element : node) {
      const std::string full = fmt::format("{}[{}]", path, index++);
      marks.emplace(full, element.Mark());
      if (row.shape == Shape::List) {
        scalar(element, full, row, owner);
      } else {
        map(element, full, row.rows, row.slot(owner));
      }
    }
  }
};

bool by_place(const Remark& a, const Remark& b) {
  return std::pair{a.line, a.column} < std::pair{b.line, b.column};
}

[[nodiscard]] Result<Loaded, Errors> parse_tree(const YAML::Node& root) {
  if (!root.IsDefined() || root.IsNull()) {
    return failure(Errors{{"", 1, 1, "the file is empty"}});
  }
  Walk walk;
  Loaded loaded;
  walk.map(root, "", schema(), &loaded.config);
  // Rules between keys only make sense on values that are what they should be.
  if (walk.errors.empty()) {
    check(loaded.config, walk.marks, walk.errors, walk.warnings, walk.notes);
  }
  std::ranges::stable_sort(walk.errors, by_place);
  if (!walk.errors.empty()) return failure(std::move(walk.errors));
  std::ranges::stable_sort(walk.warnings, by_place);
  loaded.warnings = std::move(walk.warnings);
  loaded.notes = std::move(walk.notes);
  return loaded;
}

[[nodiscard]] Result<PredefinedRules, Errors> parse_predefined_tree(const YAML::Node& root) {
  if (!root.IsDefined() || root.IsNull()) {
    return failure(Errors{{"", 1, 1, "the file is empty"}});
  }
  Walk walk;
  PredefinedRules rules;
  walk.map(root, "", predefined_schema(), &rules);
  if (walk.errors.empty()) check(rules, walk.marks, walk.errors);
  std::ranges::stable_sort(walk.errors, by_place);
  if (!walk.errors.empty()) return failure(std::move(walk.errors));
  return rules;
}

/// The tree of a text, made into a value by `make`. yaml-cpp's exceptions end here.
template <class Make>
auto with_tree(const std::string& yaml, Make make) -> decltype(make(YAML::Node{})) {
  try {
    return make(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    const auto& mark = error.mark;
    return failure(Errors{
        {"", std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1, "not YAML: " + error.msg}});
  }
}

[[nodiscard]] Result<std::string, Errors> read_file(const std::string& path) {
  const auto unreadable = [&](const std::string& why) {
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(path, ignored).string();
    const std::string where = absolute == path ? "" : fmt::format(" ({})", absolute);
    return failure(Errors{{"", 0, 0, fmt::format("can't be read{}: {}", where, why)}});
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return unreadable("it is a directory");
  std::ifstream file{path, std::ios::binary};
  if (!file) return unreadable(std::strerror(errno));
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return unreadable(std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) return unreadable("it is larger than 1 MiB");
  return text;
}

/// The rules file's errors as errors of the configuration: each names the file and the place in it.
[[nodiscard]] Result<PredefinedRules, Errors> load_predefined(const std::string& path) {
  const auto text = read_file(path);
  auto rules = text ? parse_predefined(*text) : failure(text.error());
  if (rules) return rules;
  Errors errors;
  for (const Remark& error : rules.error()) {
    errors.push_back({"predefinedRules", 0, 0, to_string(path, error)});
  }
  return failure(std::move(errors));
}

}  // namespace

Result<Loaded, Errors> parse(const std::string& yaml) { return with_tree(yaml, parse_tree); }

Result<PredefinedRules, Errors> parse_predefined(const std::string& yaml) {
  return with_tree(yaml, parse_predefined_tree);
}

Result<Loaded, Errors> load(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return failure(text.error());
  auto loaded = parse(*text);
  if (!loaded || loaded->config.predefined_rules.empty()) return loaded;
  const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
  auto rules = load_predefined((folder / loaded->config.predefined_rules).string());
  if (!rules) return failure(std::move(rules.error()));
  loaded->config.predefined = std::move(*rules);
  return loaded;
}

std::string to_string(const std::string& path, const Remark& remark) {
  std::string text = path;
  if (remark.line > 0) text += fmt::format(":{}:{}", remark.line, remark.column);
  text += ": ";
  if (!remark.key.empty()) text += remark.key + ": ";
  return text + remark.text;
}

}  // namespace upf::config

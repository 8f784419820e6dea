#include "src/app/ctl/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace upf::app::ctl {
namespace {

/// What text is shortened to before its column goes: "0x12345678…".
constexpr std::size_t kLeast = 11;

bool begins_character(char octet) { return (static_cast<unsigned char>(octet) & 0xc0U) != 0x80U; }

/// In characters of UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t characters = 0;
  const auto end = std::ranges::find_if(
      text, [&](char octet) { return begins_character(octet) && ++characters == width; });
  return std::string{text.begin(), end} + "…";
}

/// What stands below a row: broken between words where there is no more room.
std::string note(const std::string& heading, const std::string& text, std::size_t width) {
  std::string line = "    " + heading + ":";
  std::string out;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (width_of(line) + 1 + width_of(word) > width) {
      out += line + "\n";
      line = "       ";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

/// Lays a table out. Widths are of the columns that are still in the rows.
class Layout {
 public:
  Layout(const std::vector<Column>& columns, const Json& list) : columns_(columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells_.emplace_back();
      std::size_t widest = width_of(columns[i].heading);
      for (const auto& entry : list) {
        const char* const key = columns[i].key;
        cells_[i].push_back(printable(entry.contains(key) ? cell(entry[key]) : "-"));
        widest = std::max(widest, width_of(cells_[i].back()));
      }
      widths_.push_back(widest);
      shown_.push_back(i);
    }
  }

  void fit(std::size_t width) {
    width_ = width;
    const auto whole = [this](std::size_t i) { return widths_[i]; };
    const auto least = [this](std::size_t i) { return least_of(i); };
    while (total(whole) > width && take_last({Fit::Below}, below_)) {
    }
    while (total(least) > width && take_last({Fit::Whole, Fit::Cut}, gone_)) {
    }
    while (total(whole) > width) {
      std::size_t* const widest = widest_to_cut();
      if (widest == nullptr) break;
      --*widest;
    }
  }

  [[nodiscard]] std::string text(std::size_t rows) const {
    std::string out = line([this](std::size_t i) { return std::string{columns_[i].heading}; });
    for (std::size_t row = 0; row < rows; ++row) {
      out += line([&](std::size_t i) { return cells_[i][row]; });
      for (const std::size_t i : below_) {
        if (cells_[i][row] == "-") continue;
        out += note(columns_[i].heading, cells_[i][row], width_);
      }
    }
    if (gone_.empty()) return out;
    std::string names;
    for (const std::size_t i : gone_) {
      names += (names.empty() ? "" : ", ") + std::string{columns_[i].heading};
    }
    return out + "no room for " + names + "\n";
  }

 private:
  [[nodiscard]] std::size_t least_of(std::size_t i) const {
    const bool may_be_cut = columns_[i].fit == Fit::Cut;
    return may_be_cut ? std::min(widths_[i], std::max(kLeast, width_of(columns_[i].heading)))
                      : widths_[i];
  }

  template <class WidthOf>
  [[nodiscard]] std::size_t total(const WidthOf& width_of_column) const {
    std::size_t sum = 2 * (shown_.size() - 1);
    for (const std::size_t i : shown_) sum += width_of_column(i);
    return sum;
  }

  /// False: there is none.
  bool take_last(std::initializer_list<Fit> fits, std::vector<std::size_t>& to) {
    const auto at = std::find_if(shown_.rbegin(), shown_.rend(), [&](std::size_t i) {
      return std::ranges::find(fits, columns_[i].fit) != fits.end();
    });
    if (at == shown_.rend()) return false;
    to.insert(to.begin(), *at);
    shown_.erase(std::next(at).base());
    return true;
  }

  [[nodiscard]] std::size_t* widest_to_cut() {
    std::size_t* widest = nullptr;
    for (const std::size_t i : shown_) {
      if (widths_[i] == least_of(i) || (widest != nullptr && widths_[i] <= *widest)) continue;
      widest = &widths_[i];
    }
    return widest;
  }

  template <class CellOf>
  [[nodiscard]] std::string line(const CellOf& cell_of) const {
    std::string text;
    for (const std::size_t i : shown_) {
      const std::string shown = cut(cell_of(i), widths_[i]);
      text += shown + std::string(widths_[i] - width_of(shown) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  const std::vector<Column>& columns_;
  std::vector<std::vector<std::string>> cells_{};  ///< of each column
  std::vector<std::size_t> widths_{};
  std::vector<std::size_t> shown_{};
  std::vector<std::size_t> below_{};
  std::vector<std::size_t> gone_{};
  std::size_t width_ = kAnyWidth;
};

void put_yaml(std::string& out, const Json& value, std::size_t indent);

/// JSON's text of a scalar is YAML, too.
std::string scalar(const Json& value) { return value.dump(); }

/// A word that YAML takes for nothing but text is its own text.
std::string key_text(const std::string& key) {
  static const std::regex plain{"[A-Za-z_][A-Za-z0-9_]*"};
  static const std::regex taken{"y|n|yes|no|on|off|true|false|null", std::regex::icase};
  return std::regex_match(key, plain) && !std::regex_match(key, taken) ? key : scalar(key);
}

bool is_nested(const Json& value) { return value.is_structured() && !value.empty(); }

void put_yaml(std::string& out, const Json& value, std::size_t indent) {
  const std::string margin(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      out += margin + key_text(key) + ":";
      out += is_nested(inner) ? "\n" : " " + scalar(inner) + "\n";
      if (is_nested(inner)) put_yaml(out, inner, indent + 2);
    }
    return;
  }
  for (const auto& inner : value) {
    const std::size_t begin = out.size();
    if (is_nested(inner)) {
      put_yaml(out, inner, indent + 2);
    } else {
      out += margin + "  " + scalar(inner) + "\n";
    }
    out[begin + indent] = '-';
  }
}

}  // namespace

std::size_t width_of_output() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  const long width = columns != nullptr ? std::atol(columns) : 0;
  return width > 0 ? static_cast<std::size_t>(width) : kAnyWidth;
}

std::string table(const std::vector<Column>& columns, const Json& list, std::size_t width) {
  Layout layout{columns, list};
  layout.fit(width);
  return layout.text(list.size());
}

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octet = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters, too; in UTF-8 they are two octets.
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool two = octet == 0xc2 && next >= 0x80 && next < 0xa0;
    if (two) ++i;
    out += two || octet < 0x20 || octet == 0x7f ? '?' : text[i];
  }
  return out;
}

std::string yaml(const Json& value) {
  if (!is_nested(value)) return scalar(value) + "\n";
  std::string out;
  put_yaml(out, value, 0);
  return out;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>().empty() ? "-" : value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.2f}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& inner : value) text += (text.empty() ? "" : ",") + cell(inner);
  return text.empty() ? "-" : text;
}

std::string quantity(double count, const char* unit) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  // What would be rounded to 1000.00 is 1.00 of the next.
  while (count >= 999.995 && prefix + 1 < kPrefixes.size()) {
    count /= 1000;
    ++prefix;
  }
  return fmt::format("{:.{}f} {}{}", count, prefix == 0 ? 0 : 2, kPrefixes[prefix], unit);
}

std::string octets(const Json& count) { return quantity(count.get<double>(), "B"); }

std::string counted(const Json& count, const char* what) {
  return fmt::format("{} {}{}", cell(count), what, count == 1 ? "" : "s");
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {}h {}m", whole / 86400, whole / 3600 % 24, whole / 60 % 60);
}

}  // namespace upf::app::ctl

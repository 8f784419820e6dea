#include "src/app/ctl/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace upf::app::ctl {
namespace {

std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

void put_yaml(std::string& out, const Json& value, std::size_t indent);

/// JSON's text of a scalar is YAML, too.
std::string scalar(const Json& value) { return value.dump(); }

bool is_nested(const Json& value) { return value.is_structured() && !value.empty(); }

void put_entry(std::string& out, const std::string& head, const Json& value, std::size_t indent) {
  out += std::string(indent, ' ') + head;
  if (is_nested(value)) {
    out += "\n";
    put_yaml(out, value, indent + 2);
  } else {
    out += " " + scalar(value) + "\n";
  }
}

void put_yaml(std::string& out, const Json& value, std::size_t indent) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      put_entry(out, Json(key).dump() + ":", inner, indent);
    }
  } else if (value.is_array()) {
    for (const auto& inner : value) put_entry(out, "-", inner, indent);
  } else {
    out += std::string(indent, ' ') + scalar(value) + "\n";
  }
}

}  // namespace

std::string table(const std::vector<std::string>& headings,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& heading : headings) widths.push_back(heading.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  const auto put = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += fmt::format("{:<{}}  ", printable(cells[i]), widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  put(headings);
  for (const auto& row : rows) put(row);
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
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& inner : value) text += (text.empty() ? "" : ",") + cell(inner);
  return text.empty() ? "-" : text;
}

std::string octets(double count) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (count >= 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", count) : fmt::format("{:.2f} {}", count, kUnits[unit]);
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {}h {}m", whole / 86400, whole / 3600 % 24, whole / 60 % 60);
}

}  // namespace upf::app::ctl

#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace upf::app::ctl {

using Json = nlohmann::ordered_json;

/// How a column gives way where the table is wider than it may be.
enum class Fit {
  Always,  ///< stays as it is: what a row is about
  Whole,   ///< stays whole or goes: a number that is cut would be another number
  Cut,     ///< is shortened, then goes
  Below,   ///< moves to a line of its own under the row: nothing of it is lost
};

struct Column {
  const char* heading{};
  const char* key{};  ///< in each row's object
  Fit fit = Fit::Whole;
};

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

/// What stdout has room for: the terminal's width, else $COLUMNS, else kAnyWidth, as programs want
/// whole values.
[[nodiscard]] std::size_t width_of_output();

/// A list of objects under headings, columns as wide as they must be. Too wide, columns give way
/// from the right, and the last line names those that went.
[[nodiscard]] std::string table(const std::vector<Column>& columns, const Json& list,
                                std::size_t width = kAnyWidth);
/// Control characters, which a peer may have put into a name, as '?'.
[[nodiscard]] std::string printable(const std::string& text);
/// A value as YAML.
[[nodiscard]] std::string yaml(const Json& value);
/// A value as one cell: lists joined by commas.
[[nodiscard]] std::string cell(const Json& value);
/// 1234567 and "B": "1.23 MB".
[[nodiscard]] std::string quantity(double count, const char* unit);
[[nodiscard]] std::string octets(const Json& count);
/// "1 packet", "2 packets".
[[nodiscard]] std::string counted(const Json& count, const char* what);
/// 93784 s: "1d 2h 3m".
[[nodiscard]] std::string duration(double seconds);

}  // namespace upf::app::ctl

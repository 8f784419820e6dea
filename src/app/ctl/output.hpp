#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace upf::app::ctl {

using Json = nlohmann::ordered_json;

/// Rows of cells under headings, columns as wide as they must be. Control characters, which a peer
/// may have put into a name, are shown as '?'.
[[nodiscard]] std::string table(const std::vector<std::string>& headings,
                                const std::vector<std::vector<std::string>>& rows);
/// A value as YAML.
[[nodiscard]] std::string yaml(const Json& value);
/// A value as one cell: lists joined by commas.
[[nodiscard]] std::string cell(const Json& value);
/// 1234567 octets: "1.23 MB".
[[nodiscard]] std::string octets(double count);
/// 93784 s: "1d 2h 3m".
[[nodiscard]] std::string duration(double seconds);

}  // namespace upf::app::ctl

#include "src/app/preview.hpp"

#include <nlohmann/json.hpp>

#include "src/app/http/client.hpp"

namespace upf::app {

std::vector<std::string> remarks(const std::string& path, const config::Loaded& loaded) {
  std::vector<std::string> lines;
  for (const auto& warning : loaded.warnings) {
    lines.push_back("warning: " + config::to_string(path, warning));
  }
  for (const auto& note : loaded.notes) lines.push_back("note: " + config::to_string(path, note));
  return lines;
}

std::optional<std::vector<config::Difference>> preview(const http::Address& api,
                                                       const config::Config& loaded) {
  const auto reply = http::fetch(api, "GET", "/v1/config");
  if (!reply || reply->status != 200) return std::nullopt;
  const auto json = nlohmann::json::parse(reply->body, nullptr, false);
  if (!json.is_object() || !json.contains("config")) return std::nullopt;
  config::Described running;
  for (const auto& [key, value] : json["config"].items()) {
    if (value.is_string()) running.emplace_back(key, value.get<std::string>());
  }
  return config::compare(running, loaded);
}

std::string preview_text(const std::vector<config::Difference>& differences) {
  if (differences.empty()) return "the running daemon has the same\n";
  std::string text = "would change in the running daemon:\n";
  for (const auto& difference : differences) text += "  " + config::to_string(difference) + "\n";
  return text;
}

}  // namespace upf::app

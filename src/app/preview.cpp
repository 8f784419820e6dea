#include "src/app/preview.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/app/http/client.hpp"

namespace upf::app {

std::optional<std::vector<config::Difference>> preview(const http::Address& api,
                                                       const config::Config& next) {
  const auto reply = http::fetch(api, "GET", "/v1/config");
  if (!reply || reply->status != 200) return std::nullopt;
  const auto json = nlohmann::ordered_json::parse(reply->body, nullptr, false);
  if (!json.is_object() || !json.contains("config")) return std::nullopt;
  config::Described running;
  for (const auto& [key, value] : json["config"].items()) {
    if (value.is_string()) running.emplace_back(key, value.get<std::string>());
  }
  return config::compare(running, next);
}

std::string preview_text(const std::vector<config::Difference>& differences) {
  if (differences.empty()) return "the running daemon has the same\n";
  std::string text = "would change in the running daemon:\n";
  for (const auto& difference : differences) {
    text += fmt::format("  {}: \"{}\" -> \"{}\" ({})\n", difference.key, difference.before,
                        difference.after, difference.live ? "reload" : "restart");
  }
  return text;
}

}  // namespace upf::app

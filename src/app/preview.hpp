#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/app/http/server.hpp"
#include "upf/config/config.hpp"

/// What a check says of a configuration that is good.
namespace upf::app {

/// A line for each warning and note about the file at `path`.
[[nodiscard]] std::vector<std::string> remarks(const std::string& path,
                                               const config::Loaded& loaded);

/// What a reload would change in the daemon behind this API. None: no daemon answers there.
[[nodiscard]] std::optional<std::vector<config::Difference>> preview(const http::Address& api,
                                                                     const config::Config& loaded);
/// A line for each, with what it takes: a reload or a restart.
[[nodiscard]] std::string preview_text(const std::vector<config::Difference>& differences);

}  // namespace upf::app

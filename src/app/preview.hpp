#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/app/http/server.hpp"
#include "upf/config/config.hpp"

namespace upf::app {

/// How a configuration differs from what the daemon behind this API has in force. None: no daemon
/// answers there.
[[nodiscard]] std::optional<std::vector<config::Difference>> preview(const http::Address& api,
                                                                     const config::Config& next);
/// A line for each, with what it takes: a reload or a restart.
[[nodiscard]] std::string preview_text(const std::vector<config::Difference>& differences);

}  // namespace upf::app

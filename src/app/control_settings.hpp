#pragma once

#include "upf/base/clock.hpp"
#include "upf/config/config.hpp"
#include "upf/control/settings.hpp"

namespace upf::app {

/// What the control half is told of a configuration whose names have been resolved.
[[nodiscard]] control::Settings control_settings(const config::Config& config, const Now& now);

/// From getrandom(2).
[[nodiscard]] std::uint64_t random_number();

}  // namespace upf::app

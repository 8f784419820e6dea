#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/app/metrics/exposition.hpp"
#include "upf/config/config.hpp"

namespace upf::app::metrics {

/// One device's line of /proc/net/dev.
struct DeviceCounts {
  std::string device{};
  double packets[2]{};  ///< in, out
  double octets[2]{};
  double errors[2]{};
  double drops[2]{};
};
[[nodiscard]] std::vector<DeviceCounts> parse_devices(std::string_view text);
/// Of this network namespace. Asks for no lock of the kernel's that somebody could hold for long.
[[nodiscard]] std::vector<DeviceCounts> read_devices();

/// What the kernel counts on the devices that have the addresses of gtpu.ifList (all for one of
/// 0.0.0.0 or ::), and on the one towards the data network. Read when asked, so no packet pays for
/// it.
void expose_interfaces(const config::Config& config, Exposition& to);

}  // namespace upf::app::metrics

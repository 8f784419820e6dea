#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "upf/base/result.hpp"

namespace upf::config {
struct Config;
}
namespace upf::dataplane {
class DataPlane;
}
namespace upf::gtp5g {
class Host;
}

namespace upf::app {

/// Exit codes of the daemon: 0 after a clean stop (or a good `--check`).
inline constexpr int kExitFailed = 1;  ///< couldn't start, or had to stop
inline constexpr int kExitUsage = 2;   ///< wrong arguments or configuration

struct OpenedPlane {
  std::unique_ptr<dataplane::DataPlane> plane{};
  std::vector<std::string> notes{};  ///< what the operator should read once
  /// What else there is to read, asked for now and then; may be empty.
  std::function<std::vector<std::string>()> more_notes{};
};

/// Opens a data plane, or says in one line why not and what to do about it. Names of the
/// configuration have been resolved: `Host::address` is engaged in gtpu.ifList.
using PlaneFactory = std::function<Result<OpenedPlane, std::string>(const config::Config& config)>;

/// What the daemon is made of that isn't the same everywhere. Tests put in their own.
struct Factories {
  PlaneFactory gtp5g{};
  PlaneFactory userspace{};
  bool needs_net_admin = true;  ///< false: the planes don't touch the host
  std::uint16_t n4_port = 8805;
};

/// The product's planes, the one for gtp5g on this machine or on what stands in for it.
[[nodiscard]] Factories with_gtp5g_host(std::function<std::unique_ptr<gtp5g::Host>()> host);
[[nodiscard]] Factories product_factories();

/// The daemon `upf`, from arguments to exit code.
[[nodiscard]] int run(int argc, char** argv, const Factories& factories);
[[nodiscard]] int run(int argc, char** argv);

}  // namespace upf::app

#pragma once

namespace upf::app {

/// The daemon `upf`, from arguments to exit code.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace upf::app

#pragma once

namespace upf::app {

/// upfctl, from arguments to exit code: 0 done, 1 refused or wrong, 2 wrong arguments, 3 no daemon
/// answers, 4 no such thing.
[[nodiscard]] int run_ctl(int argc, char** argv);

}  // namespace upf::app

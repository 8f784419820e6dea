#include "upf/app/run.hpp"

namespace upf::app {

int run(int /*argc*/, char** /*argv*/) { return 1; }

}  // namespace upf::app

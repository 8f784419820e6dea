#pragma once

#include "src/app/metrics/exposition.hpp"

namespace upf::app::metrics {

/// Prometheus's standard process_ figures, of /proc/self.
void expose_process(Exposition& to);

}  // namespace upf::app::metrics

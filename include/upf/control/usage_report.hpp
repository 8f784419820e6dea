#pragma once

#include "upf/pfcp/ies/urr.hpp"
#include "upf/usage/report.hpp"

namespace upf::control {

/// A report in the form of all three Usage Report IEs (TS 29.244 Tables 7.5.5.2-1, 7.5.7.2-1 and
/// 7.5.8.3-1). It always has a Volume Measurement and exactly one trigger bit: free5GC's SMF takes
/// one trigger only, and fills in old volumes where there are none.
[[nodiscard]] pfcp::UsageReport to_pfcp(const usage::Report& report);

}  // namespace upf::control

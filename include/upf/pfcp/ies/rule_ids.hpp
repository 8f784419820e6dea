#pragma once

#include "upf/base/ids.hpp"

/// IDs of rules that no data plane here has; the others are in upf/base/ids.hpp.
namespace upf::pfcp {

using MarId = Id<struct MarTag, std::uint16_t>;  // 8.2.123
using SrrId = Id<struct SrrTag, std::uint8_t>;   // 8.2.151

}  // namespace upf::pfcp

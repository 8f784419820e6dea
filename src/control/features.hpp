#pragma once

#include "upf/dataplane/data_plane.hpp"
#include "upf/pfcp/ies/node.hpp"
#include "upf/session/plan.hpp"

namespace upf::control {

/// UP Function Features (TS 29.244 8.2.25): what this code does, what the plane can do, and what
/// the configuration gives it to do it with. tests/contract/features_test.cpp names the tests that
/// prove each bit; a bit without a proof fails there.
[[nodiscard]] pfcp::UpFunctionFeatures features_of(const dataplane::Capabilities& can,
                                                   const session::Settings& settings);

/// Of these, those in the first two octets of the IE, which is all that Release 14 had.
[[nodiscard]] pfcp::UpFunctionFeatures first_two_octets(const pfcp::UpFunctionFeatures& features);

}  // namespace upf::control

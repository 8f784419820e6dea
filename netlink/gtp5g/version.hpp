#pragma once

#include <string>
#include <string_view>

#include "upf/base/result.hpp"

namespace upf::gtp5g {

/// Whether this version of the module speaks the contract of attrs.hpp. The error says what was
/// found, what is wanted, and which way to go. On success: a remark for the operator, or nothing.
[[nodiscard]] Result<std::string, std::string> check_version(std::string_view found);

}  // namespace upf::gtp5g

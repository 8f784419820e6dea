#pragma once

#include <string>

namespace upf::lab {

/// Resident memory (VmRSS of proc(5)) of a process on this machine, in KiB; 0 if there is none.
[[nodiscard]] long resident_kib(const std::string& pid);

}  // namespace upf::lab

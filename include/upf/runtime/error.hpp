#pragma once

#include <string>

namespace upf::runtime {

/// A system call that said no.
struct SystemError {
  int number{};         ///< errno
  std::string doing{};  ///< `bind 127.0.0.8:8805`
};

/// `bind 127.0.0.8:8805: Address already in use`
[[nodiscard]] std::string to_string(const SystemError& error);

}  // namespace upf::runtime

#include "upf/runtime/error.hpp"

#include <system_error>

namespace upf::runtime {

std::string to_string(const SystemError& error) {
  return error.doing + ": " + std::generic_category().message(error.number);
}

}  // namespace upf::runtime

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "upf/rules/flow.hpp"

// Whatever is accepted is printed to a text that means the same; whatever isn't is refused with a
// printable text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace upf::rules;
  const auto first = parse_flow_description({reinterpret_cast<const char*>(data), size});
  if (!first) {
    for (const char c : first.error()) {
      if (c < ' ' || c > '~') std::abort();
    }
    return 0;
  }
  const auto second = parse_flow_description(to_string(*first));
  if (!second || *second != *first) std::abort();
  return 0;
}

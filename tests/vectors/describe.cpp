// pfcp_describe HEX...: what each datagram says.

#include <cstdio>
#include <string_view>

#include "tests/support/hex.hpp"
#include "upf/pfcp/codec.hpp"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::puts(upf::pfcp::describe(upf::test::octets_of(argv[i])).c_str());
  }
}

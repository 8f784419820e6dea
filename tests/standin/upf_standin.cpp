// The daemon `upf` with forwarder gtp5g where there is no gtp5g: the plane programs the stand-in
// kernel, which forwards real packets. For tests only.
#include "tests/standin/real_machine.hpp"
#include "upf/app/run.hpp"

int main(int argc, char** argv) {
  using namespace upf;
  const auto factories = app::with_gtp5g_host(
      [] { return standin::host_of(std::make_shared<standin::RealMachine>()); });
  return app::run(argc, argv, factories);
}

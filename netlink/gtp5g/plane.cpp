#include "netlink/gtp5g/plane.hpp"

namespace upf::gtp5g {

Result<std::unique_ptr<Plane>, std::string> Plane::open(Settings /*settings*/,
                                                        std::unique_ptr<Host> /*host*/) {
  return failure(std::string{"the gtp5g plane is not built yet"});
}

}  // namespace upf::gtp5g

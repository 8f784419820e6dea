#include "netlink/gtp5g/host.hpp"

namespace upf::gtp5g {

std::unique_ptr<Host> linux_host() { return nullptr; }

}  // namespace upf::gtp5g

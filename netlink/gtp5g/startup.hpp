#pragma once

#include <memory>
#include <string>

#include "netlink/gtp5g/controller.hpp"

namespace upf::gtp5g {

/// Module, socket, link, routes and options, in this order. What was made is taken back if a later
/// step fails.
[[nodiscard]] Result<Parts, std::string> start_up(const Settings& settings,
                                                  std::unique_ptr<Host> host);

}  // namespace upf::gtp5g

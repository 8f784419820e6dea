#pragma once

#include <chrono>

namespace upf::dataplane {

/// How GTP-U peers that we send to are asked whether they are there (TS 29.281 7.2.1).
struct EchoTimers {
  std::chrono::milliseconds interval{};     ///< between two that are answered; 0: nobody is asked
  std::chrono::milliseconds timeout{3000};  ///< T3-RESPONSE
  unsigned requests{3};                     ///< N3-REQUESTS: asked in vain so often, it is down
};

}  // namespace upf::dataplane

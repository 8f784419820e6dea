#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/ids.hpp"

/// What reading back a plane's rules finds: where they are not what they should be.
namespace upf::dataplane {

struct Drift {
  enum class Kind : std::uint8_t {
    Missing,    ///< it should be there and isn't
    Different,  ///< it is there, but not as it should be
    Foreign,    ///< it is there, and nobody of ours asked for it
  };
  Kind kind{};
  Seid seid{};
  std::string what{};  ///< "PDR 3 (kernel PDR 7)", for the operator
  bool repaired{};
};

struct Audited {
  std::uint64_t rules{};  ///< that were read back and compared
  std::vector<Drift> drifts{};
};

/// One slice of the search for what belongs to no session.
struct Strays {
  Audited found{};
  bool done{};  ///< there is no further slice
};

}  // namespace upf::dataplane

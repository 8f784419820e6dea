#include "upf/userplane/user_plane.hpp"

namespace upf::userplane {

Result<std::unique_ptr<UserPlane>, std::string> UserPlane::open(const Settings& /*settings*/) {
  return failure(std::string{"userspace: not built yet"});
}

}  // namespace upf::userplane

#include "upf/runtime/unique_fd.hpp"

#include <unistd.h>

namespace upf::runtime {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace upf::runtime

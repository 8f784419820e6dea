#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "tests/lab/ran.hpp"

namespace upf::lab {

Result<Socket, std::string> open_tun(const std::string& name, int mtu) {
  Socket tun{::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)};
  if (tun.fd() < 0) {
    return failure(
        errno_text("/dev/net/tun") +
        (errno == ENOENT ? " (try: modprobe tun)" : " (a container needs --device /dev/net/tun)"));
  }
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tun.fd(), TUNSETIFF, &request) != 0) {
    return failure(errno_text("TUN device " + name) +
                   (errno == EPERM ? " (needs CAP_NET_ADMIN)" : ""));
  }
  if (::ioctl(tun.fd(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0) {
    return failure(errno_text("checksum and TSO offload of " + name));
  }
  const Socket control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  request.ifr_mtu = mtu;
  if (::ioctl(control.fd(), SIOCSIFMTU, &request) != 0)
    return failure(errno_text("MTU of " + name));
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(control.fd(), SIOCSIFFLAGS, &request) != 0)
    return failure(errno_text("bringing up " + name));
  return tun;
}

}  // namespace upf::lab

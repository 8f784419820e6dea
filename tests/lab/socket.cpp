#include "tests/lab/socket.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace upf::lab {

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

sockaddr_in socket_address(Ipv4 address, std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(address.host());
  return to;
}

std::string errno_text(const std::string& what) { return what + ": " + std::strerror(errno); }

bool readable(int fd, int milliseconds) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

Result<Socket, std::string> bind_udp(Ipv4 address, std::uint16_t port) {
  const SocketAddress local{address, port};
  Socket socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (socket.fd() < 0) return failure(errno_text("a UDP socket"));
  const sockaddr_in name = socket_address(address, port);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return failure(errno_text("bind to " + to_string(local)));
  }
  const int octets = 32 << 20;  // as much as the plane takes: the naive loop is measured beside it
  for (const int option : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    (void)::setsockopt(socket.fd(), SOL_SOCKET, option, &octets, sizeof octets);
  }
  return socket;
}

}  // namespace upf::lab

// What of the machine can be tried without the module and without rights: the GTP-U socket.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "netlink/gtp5g/host.hpp"

namespace upf::gtp5g {
namespace {

constexpr Ipv4 kLocal{{127, 0, 0, 1}};

sockaddr_in name_of(std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

class Sender {
 public:
  Sender() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() { ::close(socket_); }

  /// False if somebody answered that nobody is there.
  [[nodiscard]] bool reaches(std::uint16_t port) const {
    const sockaddr_in name = name_of(port);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::send(socket_, "x", 1, 0), 1);
    return ::send(socket_, "x", 1, 0) == 1;  // ECONNREFUSED, of the one before
  }

 private:
  int socket_;
};

std::uint16_t free_port() {
  const int probe = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = name_of(0);
  socklen_t size = sizeof name;
  EXPECT_EQ(::bind(probe, reinterpret_cast<const sockaddr*>(&name), size), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr*>(&name), &size), 0);
  ::close(probe);
  return ntohs(name.sin_port);
}

// A packet that comes while the module makes its link out of the socket makes the host panic.
TEST(LinuxHost, TheGtpuSocketIsOutOfReachUntilThereIsALink) {
  const auto host = linux_host();
  const std::uint16_t port = free_port();
  const auto socket = host->open_gtpu({kLocal}, port);
  ASSERT_TRUE(socket) << socket.error();
  EXPECT_FALSE(Sender{}.reaches(port));
  std::array<std::uint8_t, 16> buffer{};
  EXPECT_FALSE((*socket)->receive(buffer));
}

// cases.md 70
TEST(LinuxHost, AndKeepsItsPortMeanwhile) {
  const auto host = linux_host();
  const std::uint16_t port = free_port();
  const auto socket = host->open_gtpu({kLocal}, port);
  ASSERT_TRUE(socket) << socket.error();
  const auto second = host->open_gtpu({kLocal}, port);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("taken by another process"), std::string::npos) << second.error();
}

}  // namespace
}  // namespace upf::gtp5g

#include "src/app/ops/packet_tap.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace upf::app::ops {
namespace {

constexpr std::uint32_t kSnapLength = 65535;

std::uint32_t word_of(const std::uint8_t* octets) {
  return static_cast<std::uint32_t>(octets[0]) << 24U |
         static_cast<std::uint32_t>(octets[1]) << 16U |
         static_cast<std::uint32_t>(octets[2]) << 8U | octets[3];
}

/// "The words at `offset` are these, under that many bits": else on to what follows.
void put_match(std::vector<sock_filter>& program, std::uint32_t offset, const std::uint8_t* address,
               unsigned bits) {
  const std::size_t words = (bits + 31) / 32;
  for (std::size_t i = 0; i < words; ++i) {
    const unsigned left = bits - static_cast<unsigned>(i) * 32;
    const std::uint32_t mask = left >= 32 ? 0xffffffffU : ~(0xffffffffU >> left);
    const auto rest = static_cast<std::uint8_t>((words - i - 1) * 3 + 1);
    program.push_back(
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset + static_cast<std::uint32_t>(i) * 4));
    program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    program.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word_of(address + i * 4) & mask, 0, rest));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, kSnapLength));
}

/// Packets begin with their IP header (SOCK_DGRAM).
std::vector<sock_filter> program_for(const std::vector<IpPrefix>& ues) {
  std::vector<sock_filter> program;
  for (std::size_t i = 0; i < ues.size() && i < 8; ++i) {
    std::vector<sock_filter> matches;
    const auto* v4 = std::get_if<Ipv4Prefix>(&ues[i]);
    const auto* v6 = std::get_if<Ipv6Prefix>(&ues[i]);
    if (v4 != nullptr) {
      put_match(matches, 12, v4->address.octets.data(), v4->length);
      put_match(matches, 16, v4->address.octets.data(), v4->length);
    } else {
      put_match(matches, 8, v6->address.octets.data(), v6->length);
      put_match(matches, 24, v6->address.octets.data(), v6->length);
    }
    // Of that IP version at all?
    program.push_back(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0));
    program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, v4 != nullptr ? 0x40U : 0x60U, 0,
                               static_cast<std::uint8_t>(matches.size())));
    program.insert(program.end(), matches.begin(), matches.end());
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  return program;
}

}  // namespace

Result<PacketTap, std::string> PacketTap::open(const std::string& device,
                                               const std::vector<IpPrefix>& ues) {
  const auto no = [&](const char* what) {
    return failure(fmt::format("user packets can't be captured: {}: {}{}", what,
                               std::strerror(errno),
                               errno == EPERM || errno == EAFNOSUPPORT
                                   ? " (upf needs CAP_NET_RAW, and AF_PACKET, for that)"
                                   : ""));
  };
  // Protocol 0: nothing arrives until the filter is there and the socket is bound.
  runtime::UniqueFd fd{::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) return no("packet socket");
  std::vector<sock_filter> program = program_for(ues);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0) {
    return no("socket filter");
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
  if (address.sll_ifindex == 0) return no(device.c_str());
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return no(device.c_str());
  }
  return PacketTap{std::move(fd)};
}

std::optional<PacketTap::Packet> PacketTap::next() {
  const ssize_t got = ::recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC);
  if (got < 0) return {};
  const auto length = static_cast<std::size_t>(got);
  return Packet{wire::Bytes{buffer_}.first(std::min(length, buffer_.size())), length};
}

std::uint64_t PacketTap::lost() {
  tpacket_stats stats{};  // reading them sets them to zero
  socklen_t size = sizeof stats;
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) != 0) return 0;
  return stats.tp_drops;
}

}  // namespace upf::app::ops

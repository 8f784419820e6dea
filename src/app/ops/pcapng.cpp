#include "src/app/ops/pcapng.hpp"

#include <cstring>

namespace upf::app::ops {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint16_t kLinkTypeRaw = 101;

// Host byte order: the section's magic number says which that is.
template <class U>
void put(std::string& out, U value) {
  char octets[sizeof value];
  std::memcpy(octets, &value, sizeof value);
  out.append(octets, sizeof value);
}

void pad(std::string& out) { out.resize((out.size() + 3) / 4 * 4, '\0'); }

void put_block(std::string& out, std::uint32_t type, const std::string& body) {
  const auto length = static_cast<std::uint32_t>(body.size() + 12);
  put(out, type);
  put(out, length);
  out += body;
  put(out, length);
}

void put_option(std::string& out, std::uint16_t code, const std::string& value) {
  put(out, code);
  put(out, static_cast<std::uint16_t>(value.size()));
  out += value;
  pad(out);
}

std::string section_header() {
  std::string body;
  put(body, std::uint32_t{0x1a2b3c4d});
  put(body, std::uint16_t{1});
  put(body, std::uint16_t{0});
  put(body, std::uint64_t{0xffffffffffffffff});  // length not said
  put_option(body, 4, "kupf");                   // shb_userappl
  put(body, std::uint32_t{0});
  return body;
}

std::string interface_description(const std::string& name) {
  std::string body;
  put(body, kLinkTypeRaw);
  put(body, std::uint16_t{0});
  put(body, std::uint32_t{0});             // no snap length
  put_option(body, 2, name);               // if_name
  put_option(body, 9, std::string(1, 9));  // if_tsresol: 10^-9 s
  put(body, std::uint32_t{0});
  return body;
}

std::uint32_t sum_of(wire::Bytes octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); ++i) {
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(octets[i]) << 8U : octets[i];
  }
  return sum;
}

std::uint16_t checksum_of(std::uint32_t sum) {
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum & 0xffffU);
}

wire::Octets udp_of(const SocketAddress& from, const SocketAddress& to, wire::Bytes payload,
                    std::uint32_t pseudo_header_sum) {
  wire::Writer udp;
  const auto length = static_cast<std::uint16_t>(payload.size() + 8);
  udp.be(from.port);
  udp.be(to.port);
  udp.be(length);
  udp.be(std::uint16_t{0});
  udp.put(payload);
  const std::uint16_t checksum =
      checksum_of(pseudo_header_sum + sum_of(udp.octets()) + length + 17U);
  udp.patch_be16(6, checksum == 0 ? 0xffff : checksum);
  return std::move(udp).take();
}

}  // namespace

wire::Octets ip_packet_of(const SocketAddress& from, const SocketAddress& to, wire::Bytes payload) {
  wire::Writer ip;
  const auto* v4_from = std::get_if<Ipv4>(&from.ip);
  const auto* v4_to = std::get_if<Ipv4>(&to.ip);
  if (v4_from != nullptr && v4_to != nullptr) {
    const std::uint32_t addresses = sum_of(v4_from->octets) + sum_of(v4_to->octets);
    ip.be(std::uint16_t{0x4500});
    ip.be(static_cast<std::uint16_t>(20 + 8 + payload.size()));
    ip.be(std::uint32_t{0x00004000});  // not to be fragmented
    ip.be(std::uint16_t{0x4011});      // 64 hops, UDP
    ip.be(std::uint16_t{0});
    ip.put(v4_from->octets);
    ip.put(v4_to->octets);
    ip.patch_be16(10, checksum_of(sum_of(ip.octets())));
    ip.put(udp_of(from, to, payload, addresses));
    return std::move(ip).take();
  }
  const auto v6_of = [](const IpAddress& address) {
    const auto* v6 = std::get_if<Ipv6>(&address);
    return v6 != nullptr ? *v6 : Ipv6{};
  };
  const Ipv6 v6_from = v6_of(from.ip);
  const Ipv6 v6_to = v6_of(to.ip);
  ip.be(std::uint32_t{0x60000000});
  ip.be(static_cast<std::uint16_t>(8 + payload.size()));
  ip.be(std::uint16_t{0x1140});
  ip.put(v6_from.octets);
  ip.put(v6_to.octets);
  ip.put(udp_of(from, to, payload, sum_of(v6_from.octets) + sum_of(v6_to.octets)));
  return std::move(ip).take();
}

Pcapng::Pcapng(std::size_t limit) : limit_(limit) {
  put_block(octets_, kSectionHeader, section_header());
  put_block(octets_, kInterfaceDescription, interface_description("N4"));
  put_block(octets_, kInterfaceDescription, interface_description("user"));
}

void Pcapng::add(Interface interface, WallTime at, wire::Bytes packet, std::size_t original) {
  if (octets_.size() + packet.size() + 36 > limit_) {
    ++left_out_;
    return;
  }
  const auto time = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
  std::string body;
  put(body, static_cast<std::uint32_t>(interface));
  put(body, static_cast<std::uint32_t>(time >> 32U));
  put(body, static_cast<std::uint32_t>(time));
  put(body, static_cast<std::uint32_t>(packet.size()));
  put(body, static_cast<std::uint32_t>(original));
  body.append(packet.begin(), packet.end());
  pad(body);
  put_block(octets_, kEnhancedPacket, body);
  ++packets_;
}

void Pcapng::add_datagram(WallTime at, const SocketAddress& from, const SocketAddress& to,
                          wire::Bytes payload) {
  if (payload.size() > 65'000) return;
  const wire::Octets packet = ip_packet_of(from, to, payload);
  add(Interface::N4, at, packet, packet.size());
}

}  // namespace upf::app::ops

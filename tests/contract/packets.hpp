#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/wire/cursor.hpp"

/// Packets for tests, made and read without any code of the product: what a plane sends is judged
/// by this.
namespace upf::contract {

using wire::Octets;

/// The Internet checksum, written plainly (RFC 1071).
inline std::uint16_t checksum(const Octets& octets, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    sum += static_cast<std::uint32_t>(octets[i] << 8U);
    if (i + 1 < octets.size()) sum += octets[i + 1];
  }
  while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

inline void put16(Octets& octets, std::size_t at, std::uint32_t value) {
  octets[at] = static_cast<std::uint8_t>(value >> 8U);
  octets[at + 1] = static_cast<std::uint8_t>(value);
}
inline std::uint32_t get16(const Octets& octets, std::size_t at) {
  return static_cast<std::uint32_t>(octets[at] << 8U | octets[at + 1]);
}
inline std::uint32_t get32(const Octets& octets, std::size_t at) {
  return get16(octets, at) << 16U | get16(octets, at + 2);
}

/// What a test says of an IP packet. The family is the addresses'.
struct Packet {
  IpAddress source{};
  IpAddress destination{};
  std::uint8_t protocol{17};
  std::uint16_t source_port{1000};
  std::uint16_t destination_port{2000};
  std::size_t payload{32};  ///< behind the UDP, TCP or ICMP header
  std::uint8_t mark{1};     ///< what the payload is filled with: tells packets apart
  std::uint8_t tos{};
  std::uint8_t ttl{64};
  std::uint16_t id{1};
  std::uint16_t fragment{};    ///< flags and offset word of IPv4
  std::uint32_t sequence{1};   ///< TCP
  std::uint32_t flow_label{};  ///< IPv6
  Octets ip_options{};         ///< IPv4, a multiple of 4
};

inline std::uint32_t pseudo_sum(const Octets& packet, std::size_t l4_at, std::uint8_t protocol) {
  const bool v4 = packet[0] >> 4U == 4;
  const std::size_t from = v4 ? 12 : 8;
  const std::size_t to = v4 ? 20 : 40;
  std::uint32_t sum = protocol + static_cast<std::uint32_t>(packet.size() - l4_at);
  for (std::size_t i = from; i < to; i += 2) sum += get16(packet, i);
  return sum;
}

inline Octets l4_of(const Packet& p) {
  wire::Writer out;
  if (p.protocol == 6) {
    out.be(p.source_port);
    out.be(p.destination_port);
    out.be(p.sequence);
    out.be(std::uint32_t{77});
    out.be(std::uint16_t{0x5010});  // five words, ACK
    out.be(std::uint16_t{1024});
    out.be(std::uint32_t{0});
  } else if (p.protocol == 17) {
    out.be(p.source_port);
    out.be(p.destination_port);
    out.be(static_cast<std::uint16_t>(8 + p.payload));
    out.be(std::uint16_t{0});
  } else if (p.protocol == 1 || p.protocol == 58) {
    out.be(static_cast<std::uint8_t>(p.protocol == 1 ? 8 : 128));
    out.be(std::uint8_t{0});
    out.be(std::uint16_t{0});
    out.be(p.source_port);
    out.be(p.destination_port);
  }
  for (std::size_t i = 0; i < p.payload; ++i) out.be(p.mark);
  return std::move(out).take();
}

inline Octets build(const Packet& p) {
  const Octets l4 = l4_of(p);
  wire::Writer out;
  const auto* v4 = std::get_if<Ipv4>(&p.source);
  if (v4 != nullptr) {
    const std::size_t header = 20 + p.ip_options.size();
    out.be(static_cast<std::uint8_t>(0x40U | header / 4));
    out.be(p.tos);
    out.be(static_cast<std::uint16_t>(header + l4.size()));
    out.be(p.id);
    out.be(p.fragment);
    out.be(p.ttl);
    out.be(p.protocol);
    out.be(std::uint16_t{0});
    out.put(v4->octets);
    out.put(std::get<Ipv4>(p.destination).octets);
    out.put(p.ip_options);
  } else {
    out.be(std::uint32_t{6U << 28U | std::uint32_t{p.tos} << 20U | p.flow_label});
    out.be(static_cast<std::uint16_t>(l4.size()));
    out.be(p.protocol);
    out.be(p.ttl);
    out.put(std::get<Ipv6>(p.source).octets);
    out.put(std::get<Ipv6>(p.destination).octets);
  }
  const std::size_t l4_at = out.size();
  out.put(l4);
  Octets packet = std::move(out).take();
  if (v4 != nullptr) {
    put16(packet, 10,
          checksum(Octets(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(l4_at))));
  }
  if ((p.fragment & 0x1fffU) != 0) return packet;
  const std::optional<std::size_t> at = p.protocol == 6    ? std::optional<std::size_t>{16}
                                        : p.protocol == 17 ? std::optional<std::size_t>{6}
                                        : p.protocol == 1 || p.protocol == 58
                                            ? std::optional<std::size_t>{2}
                                            : std::nullopt;
  if (at) {
    const std::uint32_t pseudo = p.protocol == 1 ? 0 : pseudo_sum(packet, l4_at, p.protocol);
    const Octets segment(packet.begin() + static_cast<std::ptrdiff_t>(l4_at), packet.end());
    std::uint16_t sum = checksum(segment, pseudo);
    if (sum == 0) sum = 0xffff;
    put16(packet, l4_at + *at, sum);
  }
  return packet;
}

/// The same packet one hop further: what the kernel makes of it between N6 and the TUN.
inline Octets hop(Octets packet) {
  if (packet[0] >> 4U == 6) {
    --packet[7];
    return packet;
  }
  --packet[8];
  put16(packet, 10, 0);
  const std::size_t header = (packet[0] & 0x0fU) * 4U;
  put16(packet, 10,
        checksum(Octets(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(header))));
  return packet;
}

/// IPv4 header and L4 checksums hold.
inline bool checksums_hold(const Octets& packet) {
  const bool v4 = packet[0] >> 4U == 4;
  const std::size_t l4_at = v4 ? (packet[0] & 0x0fU) * 4U : 40;
  const auto split = packet.begin() + static_cast<std::ptrdiff_t>(l4_at);
  if (v4 && checksum(Octets(packet.begin(), split)) != 0) return false;
  const std::uint8_t protocol = v4 ? packet[9] : packet[6];
  if (protocol != 6 && protocol != 17 && protocol != 58) return true;
  return checksum(Octets(split, packet.end()), pseudo_sum(packet, l4_at, protocol)) == 0;
}

struct GtpuOptions {
  std::optional<std::uint8_t> qfi{};
  bool downlink{};  ///< PDU type of the container
  bool rqi{};
  std::optional<std::uint16_t> sequence{};
  std::uint8_t type{255};
};

inline Octets gtpu(std::uint32_t teid, const Octets& payload, const GtpuOptions& options = {}) {
  wire::Writer out;
  const bool more = options.qfi || options.sequence;
  out.be(static_cast<std::uint8_t>(0x30U | (options.qfi ? 4U : 0U) | (options.sequence ? 2U : 0U)));
  out.be(options.type);
  out.be(static_cast<std::uint16_t>(payload.size() + (more ? 4U : 0U) + (options.qfi ? 4U : 0U)));
  out.be(teid);
  if (more) {
    out.be(options.sequence.value_or(0));
    out.be(std::uint8_t{0});
    out.be(static_cast<std::uint8_t>(options.qfi ? 0x85 : 0));
  }
  if (options.qfi) {
    out.be(std::uint8_t{1});
    out.be(static_cast<std::uint8_t>(options.downlink ? 0x00 : 0x10));
    out.be(static_cast<std::uint8_t>(*options.qfi | (options.rqi ? 0x40U : 0U)));
    out.be(std::uint8_t{0});
  }
  out.put(payload);
  return std::move(out).take();
}

/// A GTP-U message as a test reads it; the sequence number of a G-PDU is optional and not looked
/// at.
struct GtpuView {
  std::uint8_t type{};
  std::uint32_t teid{};
  std::optional<std::uint8_t> pdu_type{};
  std::optional<std::uint8_t> qfi{};
  bool rqi{};
  Octets payload{};
};

inline GtpuView read_gtpu(const Octets& octets) {
  GtpuView view{.type = octets.at(1), .teid = get32(octets, 4)};
  const std::size_t end = 8 + get16(octets, 2);
  std::size_t at = 8;
  if ((octets[0] & 7U) != 0) {
    std::uint8_t next = (octets[0] & 4U) != 0 ? octets.at(11) : std::uint8_t{0};
    at = 12;
    while (next != 0) {
      const std::size_t length = octets.at(at) * 4U;
      if (length == 0) break;
      if (next == 0x85) {
        view.pdu_type = static_cast<std::uint8_t>(octets.at(at + 1) >> 4U);
        view.qfi = octets.at(at + 2) & 0x3fU;
        view.rqi = (octets.at(at + 2) & 0x40U) != 0;
      }
      next = octets.at(at + length - 1);
      at += length;
    }
  }
  view.payload.assign(octets.begin() + static_cast<std::ptrdiff_t>(at),
                      octets.begin() + static_cast<std::ptrdiff_t>(std::min(end, octets.size())));
  return view;
}

}  // namespace upf::contract

#include "tests/lab/offload.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace upf::lab {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kFin = 0x01, kPush = 0x08, kAck = 0x10;
constexpr std::size_t kMostParts = 60, kMostOctets = 64000;

std::uint16_t be16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8U | at[1]);
}
std::uint32_t be32(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(be16(at)) << 16U | be16(at + 2);
}
void put16(std::uint8_t* at, std::uint16_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
  put16(at, static_cast<std::uint16_t>(value >> 16U));
  put16(at + 2, static_cast<std::uint16_t>(value));
}

/// Of addresses, protocol and length; not folded.
std::uint64_t pseudo_header(const std::uint8_t* ip, std::size_t l4_octets) {
  return sum_octets({ip + 12, 8}, ip[9] + static_cast<std::uint64_t>(l4_octets));
}

void finish_ip(std::uint8_t* ip, std::size_t header, std::size_t total) {
  put16(ip + 2, static_cast<std::uint16_t>(total));
  put16(ip + 10, 0);
  put16(ip + 10, static_cast<std::uint16_t>(~fold(sum_octets({ip, header}))));
}

struct TcpPlace {
  std::size_t ip_header{};
  std::size_t headers{};  ///< 0: not a TCP packet to be merged
};

/// IPv4 without options, not a fragment, whole, a valid TCP checksum, and only ACK (and PSH) set.
TcpPlace mergeable(wire::Bytes packet) {
  if (packet.size() < 40 || packet[0] != 0x45 || packet[9] != kTcp) return {};
  if ((be16(&packet[6]) & 0x3fffU) != 0 || be16(&packet[2]) != packet.size()) return {};
  const std::size_t headers = 20U + (packet[32] >> 4U) * 4U;
  if (headers < 40 || headers >= packet.size() || (packet[33] & ~kPush) != kAck) return {};
  const auto sum = sum_octets(packet.subspan(20), pseudo_header(packet.data(), packet.size() - 20));
  return fold(sum) == 0xffff ? TcpPlace{20, headers} : TcpPlace{};
}

}  // namespace

std::uint64_t sum_octets(wire::Bytes octets, std::uint64_t sum) {
  // In host order words of 4 and swapped at the end: the sum does not care (RFC 1071 2.B).
  std::uint64_t words = 0;
  std::size_t at = 0;
  for (; at + 4 <= octets.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, octets.data() + at, 4);
    words += word;
  }
  std::array<std::uint8_t, 4> tail{};
  std::copy(octets.begin() + static_cast<std::ptrdiff_t>(at), octets.end(), tail.begin());
  std::uint32_t word = 0;
  std::memcpy(&word, tail.data(), 4);
  const std::uint16_t folded = fold(words + word);
  return sum + static_cast<std::uint16_t>(folded << 8U | folded >> 8U);
}

std::uint16_t fold(std::uint64_t sum) {
  while (sum >> 16U != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

Splitter::Splitter(const VnetHeader& header, std::span<std::uint8_t> packet) : packet_(packet) {
  const bool ipv4 = packet.size() >= 40 && packet[0] >> 4U == 4;
  if (header.gso_type == VnetHeader::kTcp4 && ipv4 && header.gso_size != 0) {
    ip_header_ = (packet[0] & 0x0fU) * 4U;
    headers_ = ip_header_ + (packet[ip_header_ + 12] >> 4U) * 4U;
    segment_ = header.gso_size;
    done_ = headers_;
    return;
  }
  const std::size_t field = std::size_t{header.csum_start} + header.csum_offset;
  if ((header.flags & VnetHeader::kNeedsChecksum) != 0 && field + 2 <= packet.size()) {
    // The field holds the pseudo header's sum already.
    const auto sum =
        static_cast<std::uint16_t>(~fold(sum_octets(packet.subspan(header.csum_start))));
    put16(&packet[field], sum == 0 ? 0xffff : sum);
  }
}

std::size_t Splitter::next(std::uint8_t* out) {
  if (over_) return 0;
  if (headers_ == 0) {
    over_ = true;
    std::memcpy(out, packet_.data(), packet_.size());
    return packet_.size();
  }
  const std::size_t payload = std::min(segment_, packet_.size() - done_);
  const std::size_t total = headers_ + payload;
  std::memcpy(out, packet_.data(), headers_);
  std::memcpy(out + headers_, packet_.data() + done_, payload);
  over_ = done_ + payload >= packet_.size();
  std::uint8_t* tcp = out + ip_header_;
  put16(out + 4, static_cast<std::uint16_t>(be16(out + 4) + index_));
  finish_ip(out, ip_header_, total);
  put32(tcp + 4, be32(tcp + 4) + static_cast<std::uint32_t>(done_ - headers_));
  if (!over_) tcp[13] = static_cast<std::uint8_t>(tcp[13] & ~(kFin | kPush));
  put16(tcp + 16, 0);
  const auto sum = sum_octets({tcp, total - ip_header_}, pseudo_header(out, total - ip_header_));
  put16(tcp + 16, static_cast<std::uint16_t>(~fold(sum)));
  done_ += payload;
  ++index_;
  return total;
}

bool Merger::continues(wire::Bytes packet) const {
  if (parts_.empty() || closed_ || parts_.size() >= kMostParts ||
      octets_ + packet.size() > kMostOctets)
    return false;
  const TcpPlace place = mergeable(packet);
  if (place.headers == 0 || place.headers != headers_ || packet.size() - headers_ > segment_)
    return false;
  const wire::Bytes first = parts_.front();
  const bool same_flow = std::equal(&first[12], &first[24], &packet[12]);
  const bool same_ip = first[1] == packet[1] && first[6] == packet[6] && first[8] == packet[8];
  const bool same_tcp =
      std::equal(&first[28], &first[32], &packet[28]) &&  // acknowledgement
      be16(&first[34]) == be16(&packet[34]) &&            // window
      std::equal(first.begin() + 40, first.begin() + static_cast<std::ptrdiff_t>(headers_),
                 packet.begin() + 40);
  return same_flow && same_ip && same_tcp && be32(&packet[24]) == next_sequence_;
}

void Merger::begin(wire::Bytes packet) {
  parts_.assign(1, packet);
  headers_ = mergeable(packet).headers;
  closed_ = headers_ == 0;
  octets_ = packet.size();
  if (closed_) return;
  segment_ = packet.size() - headers_;
  next_sequence_ = be32(&packet[24]) + static_cast<std::uint32_t>(segment_);
  closed_ = (packet[33] & kPush) != 0;
}

void Merger::add(wire::Bytes packet) {
  if (!continues(packet)) {
    flush();
    begin(packet);
    return;
  }
  const std::size_t payload = packet.size() - headers_;
  parts_.push_back(packet);
  octets_ += payload;
  next_sequence_ += static_cast<std::uint32_t>(payload);
  closed_ = payload < segment_ || (packet[33] & kPush) != 0;
}

void Merger::flush() {
  if (parts_.size() > 1) {
    write_merged();
  } else if (parts_.size() == 1) {
    const VnetHeader header{};
    const iovec pieces[2] = {{const_cast<VnetHeader*>(&header), sizeof header},
                             {const_cast<std::uint8_t*>(parts_[0].data()), parts_[0].size()}};
    (void)!::writev(tun_, pieces, 2);
  }
  parts_.clear();
}

void Merger::write_merged() {
  std::array<std::uint8_t, 80> headers{};
  std::copy_n(parts_[0].begin(), headers_, headers.begin());
  std::uint8_t* tcp = headers.data() + 20;
  tcp[13] = static_cast<std::uint8_t>(tcp[13] | parts_.back()[33]);
  finish_ip(headers.data(), 20, octets_);
  put16(tcp + 16, fold(pseudo_header(headers.data(), octets_ - 20)));
  VnetHeader header{};
  header.flags = VnetHeader::kNeedsChecksum;
  header.gso_type = VnetHeader::kTcp4;
  header.hdr_len = static_cast<std::uint16_t>(headers_);
  header.gso_size = static_cast<std::uint16_t>(segment_);
  header.csum_start = 20;
  header.csum_offset = 16;
  std::array<iovec, kMostParts + 2> pieces{};
  pieces[0] = {&header, sizeof header};
  pieces[1] = {headers.data(), headers_};
  std::size_t count = 2;
  for (const wire::Bytes part : parts_) {
    pieces.at(count++) = {const_cast<std::uint8_t*>(part.data()) + headers_,
                          part.size() - headers_};
  }
  (void)!::writev(tun_, pieces.data(), static_cast<int>(count));
}

}  // namespace upf::lab

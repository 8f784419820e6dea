// The stand-in's packet path: what the module does with GTP-U datagrams, with packets that are
// routed to its link, and with its counters.
#include <linux/netlink.h>
#include <netinet/in.h>

#include <algorithm>

#include "tests/standin/kernel.hpp"
#include "tests/standin/message.hpp"

namespace upf::standin {
namespace {

constexpr std::uint8_t kEchoRequest = 1;
constexpr std::uint8_t kEndMarker = 254;
constexpr std::uint8_t kGPdu = 255;
constexpr std::uint16_t kDrop = 1;
constexpr std::uint16_t kForward = 2;
constexpr std::uint16_t kBuffer = 4;
constexpr std::uint8_t kUplinkClosed = 4;
constexpr std::uint8_t kDownlinkClosed = 1;
constexpr std::uint8_t kBeforeQos = 1;
constexpr std::uint8_t kInactive = 2;
constexpr std::uint8_t kCountPackets = 0x10;
constexpr std::uint32_t kVolth = 2;
constexpr std::uint32_t kStart = 0x10;
constexpr std::uint32_t kVolqu = 0x100;

std::uint32_t be32(wire::Bytes octets, std::size_t at) {
  wire::Reader in{octets.subspan(at, 4)};
  return in.be<std::uint32_t>();
}
std::uint16_t be16(wire::Bytes octets, std::size_t at) {
  wire::Reader in{octets.subspan(at, 2)};
  return in.be<std::uint16_t>();
}

/// Where the T-PDU begins; 0: it can't be found.
std::size_t header_length(wire::Bytes datagram) {
  if ((datagram[0] & 7U) == 0) return 8;
  std::size_t at = 12;
  if (datagram.size() < at) return 0;
  while (datagram[at - 1] != 0) {
    if (datagram.size() < at + 1) return 0;
    const std::size_t length = datagram[at] * std::size_t{4};
    if (length == 0 || datagram.size() < at + length) return 0;
    at += length;
  }
  return at;
}

/// Payload behind the IP and the TCP or UDP header.
std::uint64_t payload(wire::Bytes packet) {
  std::uint64_t headers = (packet[0] & 15U) * std::uint64_t{4};
  if (packet[9] == IPPROTO_TCP && packet.size() > headers + 12) {
    headers += (packet[headers + 12] >> 4U) * std::uint64_t{4};
  } else if (packet[9] == IPPROTO_UDP) {
    headers += 8;
  }
  return packet.size() - headers;  // goes round below 0, like the module's
}

bool in_ranges(const auto& ranges, std::uint16_t port) {
  return ranges.empty() || std::ranges::any_of(ranges, [&](const auto& range) {
           return range.first <= port && port <= range.last;
         });
}

}  // namespace

// --- matching --------------------------------------------------------------------------------

bool Kernel::matches(const Pdr& pdr, wire::Bytes packet) {
  if (!pdr.filter) return true;
  const Filter& f = *pdr.filter;
  if (f.direction != 2) return false;  // only `out` is ever looked for
  if (f.protocol != 0xff && f.protocol != packet[9]) return false;
  if (((be32(packet, 12) ^ f.source) & f.source_mask) != 0) return false;
  if (((be32(packet, 16) ^ f.destination) & f.destination_mask) != 0) return false;
  if (f.source_ports.empty() && f.destination_ports.empty()) return true;
  if (packet.size() < 24) return false;
  return in_ranges(f.source_ports, be16(packet, 20)) &&
         in_ranges(f.destination_ports, be16(packet, 22));
}

Kernel::Pdr* Kernel::match_tunnel(std::uint32_t teid, wire::Bytes inner, bool g_pdu) {
  const auto list = by_teid_.find(teid);
  if (list == by_teid_.end()) return nullptr;
  if (g_pdu && inner.size() < 20) return nullptr;
  for (const Id& id : list->second) {
    Pdr& pdr = pdrs_.at(id);
    if (!g_pdu) return &pdr;
    const std::size_t end = pdr.source_interface == 0 ? 12 : 16;
    if (pdr.ue && be32(inner, end) != *pdr.ue) continue;
    if (matches(pdr, inner)) return &pdr;
  }
  return nullptr;
}

Kernel::Pdr* Kernel::match_address(wire::Bytes packet) {
  const auto list = by_ue_.find(be32(packet, 16));
  if (list == by_ue_.end()) return nullptr;
  for (const Id& id : list->second) {
    Pdr& pdr = pdrs_.at(id);
    if (matches(pdr, packet)) return &pdr;
  }
  return nullptr;
}

// --- in --------------------------------------------------------------------------------------

void Kernel::receive_datagram(const SocketAddress& from, Ipv4 to, wire::Bytes datagram) {
  const std::lock_guard lock{mutex_};
  if (!link_ || !socket_ || datagram.size() < 8) return;
  if (datagram[0] >> 4U != 3) return outputs_.to_socket(from, datagram);
  const std::uint8_t type = datagram[1];
  if (type == kEchoRequest) return echo(from, to, datagram);
  if (type != kGPdu && type != kEndMarker) return outputs_.to_socket(from, datagram);
  const std::size_t header = header_length(datagram);
  if (header == 0) return;
  const bool g_pdu = type == kGPdu;
  Pdr* pdr = match_tunnel(be32(datagram, 4), datagram.subspan(header), g_pdu);
  if (pdr == nullptr || !pdr->removal) return;
  const auto far = fars_.find({pdr->seid, pdr->far});
  if (far == fars_.end()) return;
  switch (far->second.action & 7U) {
    case kForward:
      if ((pdr->gate & kUplinkClosed) == 0) {  // of a downlink PDR too
        forward_tunnelled(*pdr, far->second, datagram, header);
      }
      break;
    case kBuffer:
      if (g_pdu) buffer(*pdr, far->second, datagram.subspan(header));
      break;
    default:
      break;
  }
}

void Kernel::receive_packet(wire::Bytes packet) {
  const std::lock_guard lock{mutex_};
  if (!link_ || packet.size() < 20 || packet[0] >> 4U != 4) return;
  Pdr* pdr = match_address(packet);
  if (pdr == nullptr) return;
  const auto far = fars_.find({pdr->seid, pdr->far});
  if (far == fars_.end()) return;
  switch (far->second.action & 7U) {
    case kForward:
      if ((pdr->gate & kDownlinkClosed) == 0) forward_encapsulated(*pdr, far->second, packet);
      break;
    case kBuffer:
      buffer(*pdr, far->second, packet);
      break;
    default:
      break;
  }
}

// --- out -------------------------------------------------------------------------------------

void Kernel::forward_tunnelled(Pdr& pdr, Far& far, wire::Bytes datagram, std::size_t header) {
  const bool g_pdu = datagram[1] == kGPdu;
  const wire::Bytes inner = datagram.subspan(header);
  const std::uint64_t octets = g_pdu ? payload(inner) : 0;
  const bool red = g_pdu && !police(pdr, octets);
  if (!far.has_tunnel && !g_pdu) return;
  if (!count(pdr, octets, red) && far.has_tunnel) return;
  if (red) return;
  if (!far.has_tunnel) return outputs_.to_n6(inner, far.mark);
  wire::Octets out{datagram.begin(), datagram.end()};  // extension headers and all stay
  for (std::size_t i = 0; i < 4; ++i) {
    out[4 + i] = static_cast<std::uint8_t>(far.teid >> (24U - 8U * i));
  }
  outputs_.to_peer({}, {far.peer, 2152}, far.tos, out);
}

void Kernel::forward_encapsulated(Pdr& pdr, Far& far, wire::Bytes packet) {
  if (!far.has_tunnel) return;
  const std::uint16_t sequence = far.sequence++;
  const std::uint64_t octets = payload(packet);
  const bool red = !police(pdr, octets);
  (void)count(pdr, octets, red);
  if (red) return;
  wire::Writer out;
  const bool container = pdr.qfi != 0;
  out.be(static_cast<std::uint8_t>(container ? 0x36 : 0x32));
  out.be(kGPdu);
  out.be(static_cast<std::uint16_t>(packet.size() + (container ? 8U : 4U)));
  out.be(far.teid);
  out.be(sequence);
  out.be(std::uint8_t{0});
  out.be(static_cast<std::uint8_t>(container ? 0x85 : 0));
  if (container) {
    out.be(std::uint8_t{1});
    out.be(static_cast<std::uint8_t>(pdr.source_interface == 0 ? 0x10 : 0));
    out.be(pdr.qfi);
    out.be(std::uint8_t{0});
  }
  out.put(packet);
  outputs_.to_peer(pdr.role, {far.peer, far.port}, far.tos, out.octets());
}

void Kernel::buffer(Pdr& pdr, Far& far, wire::Bytes packet) {
  ++far.sequence;
  wire::Octets out;
  Message message{out, kFamily, 0, ++event_sequence_};
  message.genl(18, 0);
  message.nest(1, [&] {
    message.put(5, pdr.id);
    message.put(6, pdr.seid);
    message.put(7, far.action);
    message.put(8, far.sequence);
    message.blob(4, packet);
  });
  message.finish();
  outputs_.event(out);
}

void Kernel::end_marker(const Far& old, std::uint64_t seid, std::uint32_t far_id) {
  const Pdr* user = nullptr;
  for (const auto& [id, pdr] : pdrs_) {
    if (pdr.seid == seid && pdr.far == far_id) user = &pdr;
  }
  if (user == nullptr) {
    trap("SNDEM for a FAR that no PDR uses: NULL dereference");
    return;
  }
  wire::Writer out;
  out.be(std::uint8_t{0x30});
  out.be(kEndMarker);
  out.be(std::uint16_t{0});
  out.be(old.teid);
  outputs_.to_peer(user->role, {old.peer, old.port}, 0, out.octets());
}

void Kernel::echo(const SocketAddress& from, Ipv4 to, wire::Bytes datagram) {
  const bool numbered = (datagram[0] & 2U) != 0 && datagram.size() >= 10;
  wire::Writer out;
  out.be(std::uint8_t{0x32});
  out.be(std::uint8_t{2});
  out.be(std::uint16_t{6});
  out.be(std::uint32_t{0});
  out.be(numbered ? be16(datagram, 8) : std::uint16_t{0});
  out.be(std::uint16_t{0});
  out.be(std::uint16_t{0x0e00});
  outputs_.to_peer(to, from, 0, out.octets());
}

// --- policing and counting -------------------------------------------------------------------

bool Kernel::police(const Pdr& pdr, std::uint64_t octets) {
  if (!qos_ || !pdr.policing) return true;
  const auto qer = qers_.find({pdr.seid, *pdr.policing});
  if (qer == qers_.end()) return true;
  Bucket& bucket = pdr.source_interface == 0 ? *qer->second.up : *qer->second.down;
  const TimePoint at = now();
  const double seconds = std::chrono::duration<double>(at - bucket.last).count();
  bucket.last = at;
  bucket.tokens += seconds * bucket.rate;
  const double full = std::max(bucket.rate, 1500.0);
  if (bucket.tokens > full) {
    bucket.excess = std::min(bucket.excess + bucket.tokens - full, bucket.rate * 0.2);
    bucket.tokens = full;
  }
  const auto need = static_cast<double>(octets);
  for (double* tokens : {&bucket.tokens, &bucket.excess}) {
    if (*tokens < need) continue;
    *tokens -= need;
    return true;
  }
  return false;
}

bool Kernel::count(Pdr& pdr, std::uint64_t octets, bool dropped) {
  if (octets == 0 || pdr.source_interface > 1) return true;
  const bool up = pdr.source_interface == 0;
  const auto add = [&](Volumes& counter, std::uint8_t info) {
    if (dropped && (info & kBeforeQos) == 0) return;
    (up ? counter.up : counter.down) += octets;
    if ((info & kCountPackets) != 0) (up ? counter.up_packets : counter.down_packets) += 1;
  };
  const auto reached = [](const Volumes& counter, const Limit& limit) {
    return (limit.total != 0 && counter.up + counter.down >= limit.total && (limit.flags & 1U)) ||
           (limit.up != 0 && counter.up >= limit.up && (limit.flags & 2U)) ||
           (limit.down != 0 && counter.down >= limit.down && (limit.flags & 4U));
  };
  bool forward = true;
  wire::Octets reports;
  const auto say = [&](const Id& id, Urr& urr, Volumes& counter, std::uint32_t trigger) {
    const wire::Octets one = usage(id, urr, counter, trigger);
    reports.insert(reports.end(), one.begin(), one.end());
  };
  for (const std::uint32_t number : pdr.urrs) {
    const Id id{pdr.seid, number};
    const auto at = urrs_.find(id);
    if (at == urrs_.end()) continue;
    Urr& urr = at->second;
    if ((urr.info & kInactive) != 0 || (urr.method & 2U) == 0) continue;
    if (urr.trigger == 0) {
      trap("a URR without a trigger: counting stops for those after it");
      break;
    }
    if ((urr.trigger & kStart) != 0 && up) {
      Volumes none{};
      say(id, urr, none, kStart);
      close_fars(id, urr);
      forward = false;
      continue;
    }
    if ((urr.trigger & kVolth) != 0) {
      add(urr.threshold_count, urr.info);
      if (reached(urr.threshold_count, urr.threshold)) say(id, urr, urr.threshold_count, kVolth);
    } else {
      if (urr.period == 0) continue;
      add(urr.period_count[urr.active], urr.info);
    }
    if ((urr.trigger & kVolqu) != 0) {
      add(urr.quota_count, urr.info);
      if (reached(urr.quota_count, urr.quota)) {
        say(id, urr, urr.quota_count, kVolqu);
        close_fars(id, urr);
      }
    }
  }
  if (!reports.empty()) {
    wire::Octets out;
    Message message{out, kFamily, 0, ++event_sequence_};
    message.genl(18, 0);
    message.nest(2, [&] { message.octets(reports); });
    message.finish();
    outputs_.event(out);
  }
  return forward;
}

}  // namespace upf::standin

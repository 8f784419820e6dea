// The path of user packets. Signalling messages of GTP-U are in signalling.cpp, waiting packets in
// holding.cpp.
#include "forwarder.hpp"

#include <algorithm>

namespace upf::userplane {
namespace {

Train train_of(const SuperPacket& packet) {
  if (packet.count == 1) return {1, packet.ip.length, packet.ip.length};
  return {packet.count, std::uint32_t{packet.header_size} + packet.segment_size,
          packet.ip.length - (packet.count - 1) * packet.segment_size};
}

/// A session's rules, and what they remember, of the sizes that are usual.
void prefetch_block(const void* block) {
  constexpr std::size_t kOctets = 512, kLine = 64;
  for (std::size_t at = 0; at < kOctets; at += kLine) {
    __builtin_prefetch(static_cast<const std::byte*>(block) + at);
  }
}
void prefetch_states(const Snapshot& rules) {
  constexpr std::size_t kMost = 4;
  for (std::size_t i = 0; i < std::min(rules.rates.size(), kMost); ++i) {
    __builtin_prefetch(rules.rates[i].full_at, 1);
  }
  for (std::size_t i = 0; i < std::min(rules.fars.size(), kMost); ++i) {
    __builtin_prefetch(rules.fars[i].state);
  }
  for (std::size_t i = 0; i < std::min(rules.urrs.size(), kMost); ++i) {
    __builtin_prefetch(&rules.urrs[i]->uplink, 1);
    __builtin_prefetch(&rules.urrs[i]->watched, 1);
  }
}

}  // namespace

Forwarder::Forwarder(Shared& shared, Sink& sink, Options options)
    : shared_(shared),
      coalescer_(sink, options.vnet_header, options.glue_udp),
      batch_(sink, options.udp_segment) {}

void Forwarder::expect(std::span<const std::uint8_t> datagrams, std::size_t each) {
  constexpr std::size_t kTeidAt = 4;  // TS 29.281 5.1
  for (std::size_t at = 0; at + kTeidAt + 4 <= datagrams.size(); at += each) {
    const std::uint32_t teid = load32(datagrams.data() + at + kTeidAt);
    if (expected_count_ > 0 && expected_[expected_count_ - 1] == teid) continue;
    if (expected_count_ == kMostExpected) return;
    expected_[expected_count_++] = teid;
  }
}

void Forwarder::fetch_expected() {
  const auto teids = std::span{expected_}.first(std::exchange(expected_count_, 0));
  if (teids.size() < 2) return;  // nothing to fetch at the same time
  std::array<Session*, kMostExpected> sessions;
  std::array<const Snapshot*, kMostExpected> rules;
  for (const std::uint32_t teid : teids) shared_.tables.prefetch_teid(teid);
  for (std::size_t i = 0; i < teids.size(); ++i) {
    sessions[i] = shared_.tables.by_teid(teids[i]);
    __builtin_prefetch(sessions[i]);
  }
  for (std::size_t i = 0; i < teids.size(); ++i) {
    rules[i] =
        sessions[i] == nullptr ? nullptr : sessions[i]->rules.load(std::memory_order_acquire);
    if (rules[i] != nullptr) prefetch_block(rules[i]);
  }
  for (std::size_t i = 0; i < teids.size(); ++i) {
    if (rules[i] != nullptr) prefetch_states(*rules[i]);
  }
}

void Forwarder::from_tunnel(std::span<std::uint8_t> datagram, const DatagramSource& source) {
  counters_.add(Tally::ReceivedPackets);
  gtpu::Header header;
  if (gtpu::decode(datagram, header) != gtpu::Malformed::None) {
    counters_.drop(Drop::Malformed);
    return;
  }
  switch (header.type) {
    case gtpu::MessageType::GPdu: {
      // The payload lies in the datagram, which is ours to change.
      const auto at = static_cast<std::size_t>(header.payload.data() - datagram.data());
      on_gpdu(header, datagram.subspan(at, header.payload.size()), source);
      return;
    }
    case gtpu::MessageType::EchoRequest:
      on_echo_request(header, source);
      return;
    case gtpu::MessageType::EchoResponse:
      counters_.add(Tally::EchoResponses);
      tell(EchoAnswered{source.ipv6, source.peer});
      return;
    case gtpu::MessageType::ErrorIndication:
      on_error_indication(header, source);
      return;
    case gtpu::MessageType::EndMarker:
      on_end_marker(header);
      return;
    case gtpu::MessageType::SupportedExtensionHeadersNotification:
      return;  // 7.2.3: nothing to do with what a peer supports, we only send what it must
  }
  counters_.drop(Drop::UnknownMessage);
}

void Forwarder::on_gpdu(const gtpu::Header& header, std::span<std::uint8_t> t_pdu,
                        const DatagramSource& source) {
  Session* session = shared_.tables.by_teid(header.teid);
  if (session == nullptr) {
    counters_.drop(Drop::UnknownTeid);
    on_unknown_tunnel(header.teid, source);
    return;
  }
  if (header.not_understood != 0) {
    counters_.drop(Drop::NotUnderstood);
    if (may_send_error_indication(header.teid, source)) {
      send(source, gtpu::kPort, gtpu::encode_supported_extensions());
    }
    return;
  }
  Journey journey{.arrival = {.tunnelled = true, .teid = header.teid}, .pdcp = header.pdcp};
  if (header.pdu_session) journey.arrival.qfi = header.pdu_session->qfi;
  if (!parse_ip(t_pdu.data(), t_pdu.size(), journey.packet.ip)) {
    counters_.drop(Drop::NotIp);
    return;
  }
  if (!try_forward(*session, journey)) counters_.drop(Drop::NoRule);
}

void Forwarder::from_n6(const VnetHeader& header, std::span<std::uint8_t> packet) {
  Journey journey;
  if (!read_super_packet(header, packet.data(), packet.size(), journey.packet)) {
    counters_.drop(Drop::NotIp);
    return;
  }
  counters_.add(Tally::ReceivedPackets, journey.packet.count);
  counters_.add(Tally::N6Packets, journey.packet.count);
  to_owner(journey);
}

/// To the session that has the destination address, by its rules for packets from N6.
void Forwarder::to_owner(Journey& journey) {
  const IpPacket& ip = journey.packet.ip;
  bool known = false;
  const bool done = shared_.tables.by_address(ip.version, ip.destination, [&](Session* session) {
    known = true;
    return try_forward(*session, journey);
  });
  if (!done) {
    counters_.drop(known ? Drop::NoRule : Drop::UnknownAddress, journey.packet.count);
  }
}

bool Forwarder::try_forward(Session& session, Journey& journey) {
  const Snapshot* rules = session.rules.load(std::memory_order_acquire);
  const PdrEntry* pdr = classifier_.find(*rules, journey.arrival, journey.packet.ip);
  if (pdr == nullptr) return false;
  apply(*rules, *pdr, journey);
  return true;
}

void Forwarder::drop(const Snapshot& rules, const PdrEntry& pdr, Drop why, const Train& train,
                     std::uint32_t passing) {
  const std::uint32_t packets = train.count - passing;
  counters_.drop(why, packets);
  count_dropped(rules, pdr, packets, train.octets(train.count) - train.octets(passing), *this);
}

void Forwarder::apply(const Snapshot& rules, const PdrEntry& pdr, Journey& journey) {
  const auto drop_all = [&](Drop why) { drop(rules, pdr, why, train_of(journey.packet)); };
  if (!pdr.gates_open) return drop_all(Drop::Gate);
  if (pdr.blocked || is_blocked(rules, pdr)) return drop_all(Drop::Quota);
  const FarEntry& far = rules.fars[pdr.far];
  switch (far.way) {
    case Way::Drop:
      return drop_all(Drop::Rule);
    case Way::Nowhere:
      return drop_all(Drop::NoWayOut);
    case Way::Hold:
      return hold(rules, pdr, far, journey);
    case Way::ToN6:
    case Way::ToTunnel:
      if (far.state->holding.load(std::memory_order_acquire) && !journey.replayed) {
        return hold(rules, pdr, far, journey);
      }
      return forward(rules, pdr, far, journey);
  }
}

void Forwarder::forward(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far,
                        Journey& journey) {
  SuperPacket& packet = journey.packet;
  const Train train = train_of(packet);
  Train passing = train;
  const auto go_on = [&](std::uint32_t packets, Drop why) {
    if (packets == passing.count) return true;
    drop(rules, pdr, why, passing, packets);
    passing = {packets, train.octets_each, train.octets_each};
    return packets > 0;
  };
  if (!go_on(count(rules, pdr, Place::BeforeQos, passing, now_, *this), Drop::Quota) ||
      !go_on(police(rules, pdr, passing, now_.steady_ns), Drop::Rate) ||
      !go_on(count(rules, pdr, Place::AfterQos, passing, now_, *this), Drop::Quota)) {
    return;
  }
  const std::uint32_t counted = passing.count;
  counters_.add(pdr.uplink ? Tally::UplinkPackets : Tally::DownlinkPackets, counted);
  counters_.add(pdr.uplink ? Tally::UplinkOctets : Tally::DownlinkOctets, train.octets(counted));
  if (counted < packet.count) {
    packet.ip.length = packet.header_size + counted * packet.segment_size;
    packet.count = counted;
    packet.cut_short = true;
  }
  if (far.way == Way::ToN6) {
    to_n6(journey);
  } else {
    to_tunnel(pdr, far, journey);
  }
}

bool Forwarder::is_to_self(const IpPacket& packet) const {
  if (packet.protocol != protocol::kUdp || packet.destination_port != gtpu::kPort) return false;
  return std::ranges::any_of(shared_.own_addresses, [&](const Shared::Local& own) {
    return own.ipv6 == (packet.version == 6) && own.address == packet.destination;
  });
}

void Forwarder::to_n6(Journey& journey) {
  const IpPacket& ip = journey.packet.ip;
  // What a UE sends to our own GTP-U port must not come back as if a gNB had sent it.
  if (is_to_self(ip)) return counters_.drop(Drop::ToSelf);
  if (!journey.turned && journey.packet.count == 1 && turn_to_ue(journey)) return;
  coalescer_.add(ip);
}

bool Forwarder::is_ue(const IpPacket& packet) {
  const std::uint64_t changes = shared_.tables.address_changes();
  if (not_ue_.version == packet.version && not_ue_.changes == changes &&
      not_ue_.address == packet.destination) {
    return false;
  }
  if (shared_.tables.by_address(packet.version, packet.destination,
                                [](Session*) { return true; })) {
    return true;
  }
  not_ue_ = {packet.destination, packet.version, changes};
  return false;
}

/// UE to UE: the packet is the other UE's downlink, without a detour through the kernel. A packet
/// whose hop limit ends here takes the detour, so that the kernel answers it.
bool Forwarder::turn_to_ue(Journey& journey) {
  IpPacket& ip = journey.packet.ip;
  if (ip.ttl <= 1 || !is_ue(ip)) return false;
  if (ip.version == 4) {
    // RFC 1624: the checksum follows the one word that changes.
    const std::uint32_t sum = (~std::uint32_t{load16(ip.data + 10)} & 0xffffU) +
                              (~std::uint32_t{load16(ip.data + 8)} & 0xffffU) +
                              (load16(ip.data + 8) - 0x100U);
    const std::uint32_t folded = (sum & 0xffffU) + (sum >> 16U);
    store16(ip.data + 10, ~((folded & 0xffffU) + (folded >> 16U)) & 0xffffU);
    --ip.data[8];
  } else {
    --ip.data[7];
  }
  --ip.ttl;
  Journey downlink{.replayed = journey.replayed, .turned = true, .packet = journey.packet};
  to_owner(downlink);
  return true;
}

void Forwarder::to_tunnel(const PdrEntry& pdr, const FarEntry& far, const Journey& journey) {
  const SuperPacket& packet = journey.packet;
  gtpu::TunnelHeader header{.teid = far.tunnel.teid, .pdcp = journey.pdcp};
  const std::uint8_t qfi = pdr.qfi != kNoQfi ? pdr.qfi : journey.arrival.qfi;
  if (qfi != kNoQfi) {
    const auto type = far.to_access ? gtpu::PduType::Downlink : gtpu::PduType::Uplink;
    header.pdu_session = {.type = type, .qfi = qfi, .rqi = far.to_access && pdr.rqi};
  }
  DatagramBatch::Target target{.socket = far.tunnel.socket,
                               .peer = far.tunnel.peer,
                               .ipv6 = far.tunnel.ipv6,
                               .tos = far.tunnel.tos};
  if (!far.tunnel.marked && shared_.copy_dscp) target.tos = packet.ip.tos & 0xfcU;
  if (packet.segment_size == 0) {
    const auto head = batch_.head();
    const std::size_t size =
        gtpu::encode_tunnel(header, packet.ip.length, head.first<gtpu::kMaxTunnelHeader>());
    batch_.add(target, size, packet.ip.octets());
    return;
  }
  for (std::uint32_t i = 0; i < packet.count; ++i) {
    const auto head = batch_.head();
    const std::size_t left = packet.payload() - std::size_t{i} * packet.segment_size;
    const std::size_t inner = packet.header_size + std::min<std::size_t>(left, packet.segment_size);
    const std::size_t size =
        gtpu::encode_tunnel(header, inner, head.first<gtpu::kMaxTunnelHeader>());
    const auto payload = write_segment(packet, i, head.data() + size);
    batch_.add(target, size + packet.header_size, payload);
  }
}

void Forwarder::finish() {
  coalescer_.flush();
  const Coalescer::Counts counts = coalescer_.take_counts();
  if (counts.glued != 0) counters_.add(Tally::GluedPackets, counts.glued);
  if (counts.bad_checksums != 0) counters_.add(Tally::BadInnerChecksums, counts.bad_checksums);
  batch_.flush();
}

void Forwarder::limit_reached(UrrState& urr, dataplane::LimitReached::Limit limit) {
  tell(LimitHit{urr.seid, urr.id, limit});
}
void Forwarder::traffic_started(UrrState& urr, std::int64_t wall_ns) {
  tell(Started{urr.seid, urr.id, wall_ns});
}
void Forwarder::tell(const PacketEvent& event) {
  events_.push(event);
  signal_ = true;
}

}  // namespace upf::userplane

// GTP-U messages that carry no T-PDU (TS 29.281 clause 7).
#include <algorithm>
#include <cstring>

#include "forwarder.hpp"

namespace upf::userplane {
namespace {

constexpr std::int64_t kToldNs = 1'000'000'000;  // one Error Indication a second per lost tunnel

std::size_t write_address(const Shared::Local& local, std::uint8_t* out) {
  if (!local.ipv6) {
    store32(out, static_cast<std::uint32_t>(local.address.low));
    return 4;
  }
  store32(out, static_cast<std::uint32_t>(local.address.high >> 32U));
  store32(out + 4, static_cast<std::uint32_t>(local.address.high));
  store32(out + 8, static_cast<std::uint32_t>(local.address.low >> 32U));
  store32(out + 12, static_cast<std::uint32_t>(local.address.low));
  return 16;
}

}  // namespace

void Forwarder::send(const DatagramSource& to, std::uint16_t port,
                     std::span<const std::uint8_t> datagram) {
  const auto head = batch_.head();
  if (datagram.size() > head.size()) return;
  std::memcpy(head.data(), datagram.data(), datagram.size());
  batch_.add({.socket = to.socket, .port = port, .peer = to.peer, .ipv6 = to.ipv6}, datagram.size(),
             {});
}

/// 7.2.1, 4.4.2.2: the answer goes where the request came from.
void Forwarder::on_echo_request(const gtpu::Header& header, const DatagramSource& source) {
  counters_.add(Tally::EchoRequests);
  send(source, source.port, gtpu::encode_echo_response(header.sequence.value_or(0)));
}

void Forwarder::on_error_indication(const gtpu::Header& header, const DatagramSource& source) {
  const auto body = gtpu::decode_error_indication(header.payload);
  if (!body) return counters_.drop(Drop::Malformed);
  counters_.add(Tally::ErrorIndicationsReceived);
  // 7.3.1: the peer address is the one that we sent to, which is what our FAR names.
  TunnelUnknown event{.teid = body->teid, .ipv6 = body->address.size() == 16};
  event.peer = event.ipv6 ? Address::of_ipv6(body->address.data())
                          : Address{0, load32(body->address.data())};
  (void)source;
  tell(event);
}

/// 7.3.2: no more packets come through this tunnel. Whoever they were forwarded to hears of it
/// behind the last of them.
void Forwarder::on_end_marker(const gtpu::Header& header) {
  Session* session = shared_.tables.by_teid(header.teid);
  if (session == nullptr) return counters_.drop(Drop::UnknownTeid);
  const Snapshot& rules = *session->rules.load(std::memory_order_acquire);
  for (const PdrEntry& pdr : rules.pdrs) {
    const FarEntry& far = rules.fars[pdr.far];
    if (!pdr.tunnelled || pdr.teid != header.teid || far.way != Way::ToTunnel) continue;
    counters_.add(Tally::EndMarkersForwarded);
    send_end_marker(far.tunnel);
    return;
  }
}

void Forwarder::send_end_marker(const Tunnel& tunnel) {
  const auto head = batch_.head();
  const std::size_t size =
      gtpu::encode_tunnel({.type = gtpu::MessageType::EndMarker, .teid = tunnel.teid}, 0,
                          head.first<gtpu::kMaxTunnelHeader>());
  batch_.add({.socket = tunnel.socket, .peer = tunnel.peer, .ipv6 = tunnel.ipv6, .tos = tunnel.tos},
             size, {});
}

bool Forwarder::may_send_error_indication(std::uint32_t teid, const DatagramSource& source) {
  const std::int64_t gap = shared_.error_indication_gap_ns;
  if (gap == 0) return false;
  const std::int64_t now = now_.steady_ns;
  Told& told = told_[(teid * 0x9e3779b1U ^ source.peer.low) % told_.size()];
  if (told.teid == teid && told.peer == source.peer && told.at_ns != 0 &&
      now - told.at_ns < kToldNs) {
    return false;
  }
  // A bucket of one second's worth for all senders together.
  std::int64_t at = shared_.error_indication_at.load(std::memory_order_relaxed);
  do {
    if (std::max(at, now) + gap - now > kToldNs) return false;
  } while (!shared_.error_indication_at.compare_exchange_weak(at, std::max(at, now) + gap,
                                                              std::memory_order_relaxed));
  told = {teid, source.peer, now};
  return true;
}

/// 7.3.1, 4.4.2.4: to the GTP-U port, whatever port the G-PDU came from.
void Forwarder::on_unknown_tunnel(std::uint32_t teid, const DatagramSource& source) {
  if (!may_send_error_indication(teid, source)) return;
  std::array<std::uint8_t, 16> address{};
  const std::size_t size = write_address(shared_.locals[source.socket], address.data());
  counters_.add(Tally::ErrorIndicationsSent);
  send(source, gtpu::kPort, gtpu::encode_error_indication(teid, wire::Bytes{address}.first(size)));
}

}  // namespace upf::userplane

// Packets that wait, and what the daemon sends itself.
//
// The kernel queues nothing: each packet that meets a FAR that buffers is an event. When the FAR
// forwards again the daemon encapsulates and sends what it holds, before the kernel is told to
// forward, so that no newer packet overtakes them. Packets that came in through a tunnel go through
// the kernel once more instead, by a G-PDU to our own address: only the kernel can send them to N6.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/controller.hpp"
#include "netlink/gtp5g/gtpu.hpp"

namespace upf::gtp5g {

using dataplane::BufferedPacket;
using dataplane::Change;
using dataplane::DownlinkData;
using Outcome = dataplane::PacketBuffer::Outcome;

namespace {

// What one call of take_events() reads at most: the control thread has other work as well.
constexpr int kMostDatagrams = 512;
constexpr auto kDelayUnit = std::chrono::milliseconds{50};  // TS 29.244 8.2.28

bool names(const std::vector<FarId>& list, FarId far) {
  return std::ranges::find(list, far) != list.end();
}

std::optional<rules::OuterHeader> header_of(const rules::Far& far) {
  return far.forwarding ? far.forwarding->outer_header : std::nullopt;
}

bool gates_open(const rules::SessionRules& rules, const rules::Pdr& pdr) {
  return std::ranges::all_of(pdr.qers, [&](QerId id) {
    const rules::Qer* qer = rules::find(rules.qers, id);
    return pdr.source_interface == rules::Interface::Access ? qer->uplink_open : qer->downlink_open;
  });
}

std::optional<std::uint8_t> qfi_of(const rules::SessionRules& rules, const rules::Pdr& pdr) {
  std::optional<std::uint8_t> qfi;
  for (const QerId id : pdr.qers) {
    if (const auto& value = rules::find(rules.qers, id)->qfi) qfi = value;
  }
  return qfi;
}

Episodes::Parameters parameters_of(const rules::SessionRules& rules, const rules::Far& far) {
  Episodes::Parameters parameters{.notify = far.action.notify_cp};
  const rules::Bar* bar = far.bar ? rules::find(rules.bars, *far.bar) : nullptr;
  if (bar != nullptr) {
    parameters.delay = bar->notification_delay_50ms * kDelayUnit;
    parameters.suggested_packets = bar->suggested_packets;
  }
  return parameters;
}

}  // namespace

const KernelPdr* kernel_pdr_of(const KernelRules& kernel, const rules::Pdr& pdr) {
  const auto at = kernel.pdrs.lower_bound(PdrKey{pdr.precedence, pdr.id, 0});
  return at != kernel.pdrs.end() && at->first.pdr == pdr.id ? &at->second : nullptr;
}

std::optional<std::uint8_t> container_of(const KernelRules& kernel, const KernelPdr& pdr) {
  for (const QerKey& key : pdr.qers) {
    if (const std::uint8_t qfi = kernel.qers.at(key).qfi; qfi != 0) return qfi;
  }
  return std::nullopt;
}

// --- events ----------------------------------------------------------------------------------

std::vector<dataplane::Event> Controller::take_events() {
  drain_events();
  read_gtpu();
  send_again();
  ask_peers();
  for (const Seid seid : std::exchange(to_recount_, {})) {
    if (const auto at = sessions_.find(seid); at != sessions_.end()) recount(seid, at->second);
  }
  for (const Report& report : std::exchange(reports_, {})) on_report(report);
  for (DownlinkData& data : episodes_.take_due(Clock::now())) pending_.emplace_back(data);
  delete_held(kQersAtOnce);
  std::vector<dataplane::Event> events = std::exchange(pending_, {});
  arm_wakeup();
  return events;
}

/// Packets are held (or sent on, if their FAR forwards by now); reports wait for take_events(),
/// because this is also called in the middle of a change.
void Controller::drain_events() {
  bool overrun = false;
  for (int i = 0; i < kMostDatagrams; ++i) {
    const auto size = parts_.events->receive(receive_buffer_);
    if (!size) {
      if (size.error() == EINTR) continue;
      if (size.error() != ENOBUFS) return;
      ++counts_.overruns;  // what is still queued comes after it
      if (!std::exchange(overrun, true)) pending_.emplace_back(dataplane::Overrun{});
      continue;
    }
    const auto datagram =
        wire::Bytes{receive_buffer_}.first(std::min(*size, receive_buffer_.size()));
    for (const KernelEvent& event : decode_events(target_.family, datagram)) {
      if (const auto* packet = std::get_if<BufferedEvent>(&event)) on_buffered(*packet);
      if (const auto* report = std::get_if<Report>(&event)) reports_.push_back(*report);
    }
  }
}

void Controller::on_buffered(const BufferedEvent& event) {
  const auto at = sessions_.find(event.seid);
  if (at == sessions_.end()) {  // of another UPF on this host, or of a session that is over
    ++counts_.strange_events;
    return;
  }
  Session& session = at->second;
  const auto name = session.pdr_names.find(event.pdr);
  const rules::Pdr* pdr =
      name == session.pdr_names.end() ? nullptr : rules::find(session.rules.pdrs, name->second);
  if (pdr == nullptr) {
    ++counts_.strange_events;
    return;
  }
  BufferedPacket packet{.pdr = pdr->id, .octets = {event.packet.begin(), event.packet.end()}};
  const Episodes::Parameters* episode = episodes_.find(event.seid, pdr->far);
  if (episode == nullptr) {
    send_held(session, session.rules, session.kernel, packet, std::nullopt);
    if (!session.counted_here.empty()) to_recount_.insert(event.seid);
    return;
  }
  if (!gates_open(session.rules, *pdr)) return;
  const DownlinkData data{event.seid, pdr->id, qfi_of(session.rules, *pdr), dscp_of(event.packet)};
  (void)buffer_.push(event.seid, pdr->far, std::move(packet), episode->suggested_packets);
  episodes_.packet(Clock::now(), event.seid, pdr->far, data);
}

// --- changes ---------------------------------------------------------------------------------

std::vector<FarId> Controller::fars_to_flush(const Change& change) const {
  std::vector<FarId> flush;
  if (change.after == nullptr) return flush;
  for (const rules::Far& far : change.after->fars) {
    if (far.action.forward && episodes_.find(change.seid, far.id) != nullptr &&
        !names(change.drop_buffered, far.id)) {
      flush.push_back(far.id);
    }
  }
  return flush;
}

/// Brings episodes in line with the rules that are now in force.
void Controller::follow_buffering(const Change& change) {
  const TimePoint now = Clock::now();
  if (change.after == nullptr) {
    (void)buffer_.drop(change.seid);
    episodes_.end(change.seid);
    return;
  }
  for (const rules::Far& far : change.after->fars) {
    if (names(change.drop_buffered, far.id)) drop_held(change.seid, far.id);
    if (far.action.buffer) {
      episodes_.set(now, change.seid, far.id, parameters_of(*change.after, far));
    } else {
      drop_held(change.seid, far.id);
      episodes_.end(change.seid, far.id);
    }
  }
  if (change.before == nullptr) return;
  for (const rules::Far& far : change.before->fars) {
    if (rules::find(change.after->fars, far.id) != nullptr) continue;
    drop_held(change.seid, far.id);
    episodes_.end(change.seid, far.id);
  }
}

void Controller::drop_held(Seid seid, FarId far) {
  const std::size_t count = buffer_.drop(seid, far).size();
  if (watcher_ && count != 0)
    watcher_({seid, false, fmt::format("FAR {}: waiting packets dropped: {}", far.value, count)});
}

/// The kernel numbers a FAR's packets from 0 after each update. What is sent before that counts up
/// to it, so that the numbers of the tunnel run on.
void Controller::flush(Session& session, const Step& step) {
  for (const FarId far : step.flush) {
    const auto packets = buffer_.take(step.seid, far);
    if (watcher_ && !packets.empty()) {
      watcher_({step.seid, false,
                fmt::format("FAR {}: waiting packets sent on: {}", far.value, packets.size())});
    }
    auto sequence = static_cast<std::uint16_t>(0U - packets.size());
    for (const BufferedPacket& packet : packets) {
      send_held(session, *step.after, step.compiled.rules, packet, sequence++);
    }
  }
}

void Controller::send_held(Session& session, const rules::SessionRules& rules,
                           const KernelRules& kernel, const BufferedPacket& packet,
                           std::optional<std::uint16_t> sequence) {
  const rules::Pdr* pdr = rules::find(rules.pdrs, packet.pdr);
  const KernelPdr* body = pdr == nullptr ? nullptr : kernel_pdr_of(kernel, *pdr);
  if (body == nullptr) {
    ++counts_.no_tunnel;
    return;
  }
  const KernelFar& far = kernel.fars.at(body->far);
  if (body->teid) {
    again_.push_back({body->local_address, *body->teid, packet.octets});
    return;
  }
  if (far.action != action::kForward || !far.tunnel) {
    ++counts_.no_tunnel;
    return;
  }
  const auto datagram = encode_g_pdu({.teid = far.tunnel->teid,
                                      .container = container_of(kernel, *body),
                                      .uplink = body->uplink,
                                      .sequence = sequence},
                                     packet.octets);
  if (!parts_.gtpu->send(body->local_address, {far.tunnel->peer, far.tunnel->port}, far.tos,
                         datagram)) {
    ++counts_.not_sent;
    return;
  }
  ++counts_.flushed;
  count_here(session, *pdr, {0, counted_octets(packet.octets)});
}

/// Through the kernel once more, by the rules that are in force now.
void Controller::send_again() {
  for (const Again& packet : std::exchange(again_, {})) {
    const auto datagram = encode_g_pdu({.teid = packet.teid}, packet.octets);
    const bool sent = parts_.gtpu->send(packet.local, {packet.local, settings_.port}, 0, datagram);
    ++(sent ? counts_.flushed : counts_.not_sent);
  }
}

/// TS 23.501 5.8.2.9: one End Marker on the old tunnel after its last packet.
void Controller::send_end_markers(const Change& change, const Session& session) {
  if (change.before == nullptr || change.after == nullptr) return;
  for (const FarId id : change.end_markers) {
    const rules::Far* before = rules::find(change.before->fars, id);
    const rules::Far* after = rules::find(change.after->fars, id);
    if (before == nullptr || after == nullptr) continue;
    const auto old = header_of(*before);
    const auto now = header_of(*after);
    if (!old || !now || *old == *now || !std::holds_alternative<Ipv4>(old->peer)) continue;
    Ipv4 source = settings_.addresses.empty() ? Ipv4{} : settings_.addresses.front();
    for (const auto& [key, pdr] : session.kernel.pdrs) {
      if (pdr.far.far == id) source = pdr.local_address;
    }
    const bool sent =
        parts_.gtpu->send(source, {old->peer, gtpu::kPort}, 0, encode_end_marker(old->teid));
    ++(sent ? counts_.end_markers : counts_.not_sent);
    if (watcher_ && sent) {
      watcher_({change.seid, false,
                fmt::format("FAR {}: End Marker to tunnel {:#010x}@{}", id.value, old->teid.value,
                            to_string(old->peer))});
    }
  }
}

// --- the GTP-U socket ------------------------------------------------------------------------

void Controller::read_gtpu() {
  for (int i = 0; i < kMostDatagrams; ++i) {
    const auto datagram = parts_.gtpu->receive(receive_buffer_);
    if (!datagram) return;
    on_signalling(datagram->from, wire::Bytes{receive_buffer_}.first(
                                      std::min(datagram->size, receive_buffer_.size())));
  }
}

void Controller::on_signalling(const SocketAddress& from, wire::Bytes datagram) {
  const auto message = decode_signalling(datagram);
  if (message && message->not_understood && message->type != gtpu::kSupportedExtensionHeaders) {
    // 5.2.1: not the message's meaning counts then; and the answer asks for none.
    const bool sent = parts_.gtpu->send(settings_.addresses.front(), from, 0,
                                        encode_supported_extension_headers(message->sequence));
    ++(sent ? counts_.gtpu_ignored : counts_.not_sent);
    return;
  }
  if (message && message->type == gtpu::kErrorIndication && message->unknown_teid) {
    ++counts_.error_indications;
    pending_.emplace_back(dataplane::ErrorIndication{*message->unknown_teid,
                                                     message->unknown_peer.value_or(from.ip)});
    return;
  }
  if (message && message->type == gtpu::kEchoRequest) {
    // The module answers these, but not those that came before the socket was its own.
    ++counts_.echo_requests;
    const bool sent = parts_.gtpu->send(settings_.addresses.front(), from, 0,
                                        encode_echo_response(message->sequence));
    if (!sent) ++counts_.not_sent;
    return;
  }
  const auto* peer = std::get_if<Ipv4>(&from.ip);
  if (message && message->type == gtpu::kEchoResponse && peer != nullptr) {
    ++counts_.echo_responses;
    if (const auto state = paths_.answered(Clock::now(), *peer)) pending_.emplace_back(*state);
    return;
  }
  ++counts_.gtpu_ignored;
}

void Controller::follow_peers(const Installed& before, const Installed& after) {
  const TimePoint now = Clock::now();
  for (const auto& [key, far] : after.fars) {
    if (far.body.tunnel) paths_.begin(now, far.body.tunnel->peer);
  }
  for (const auto& [key, far] : before.fars) {
    if (far.body.tunnel) paths_.end(far.body.tunnel->peer);
  }
}

void Controller::ask_peers() {
  Paths::Due due = paths_.tick(Clock::now());
  for (const Ipv4 peer : due.ask) {
    const bool sent = parts_.gtpu->send(settings_.addresses.front(), {peer, gtpu::kPort}, 0,
                                        encode_echo_request(++echo_sequence_));
    if (!sent) ++counts_.not_sent;
  }
  for (const dataplane::PathState& state : due.changed) pending_.emplace_back(state);
}

/// Awake when something falls due, and at once if there is something to hand up already.
void Controller::arm_wakeup() {
  if (!pending_.empty() || !reports_.empty()) {
    wakeup_.at(Clock::now());
  } else {
    std::optional<TimePoint> next = episodes_.next_due();
    for (const auto& other : {paths_.next(), held_.next()}) {
      if (other && (!next || *other < *next)) next = other;
    }
    wakeup_.at(next);
  }
}

}  // namespace upf::gtp5g

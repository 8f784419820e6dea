// Packets that wait (TS 29.244 5.2.3). They are stored as they came, behind a note of how, and meet
// the rules anew when they are let go: they are policed, counted and sent by the rules of then.
#include <algorithm>
#include <cstring>

#include "forwarder.hpp"

namespace upf::userplane {
namespace {

/// What stands before a stored packet.
struct StoredNote {
  std::uint32_t teid{};
  std::uint8_t tunnelled{};
  std::uint8_t qfi{};
};

}  // namespace

std::vector<std::uint8_t> Forwarder::stored_form(const Journey& journey,
                                                 std::uint32_t segment) const {
  const SuperPacket& packet = journey.packet;
  const StoredNote note{journey.arrival.teid, journey.arrival.tunnelled, journey.arrival.qfi};
  std::vector<std::uint8_t> stored;
  if (packet.segment_size == 0) {
    stored.resize(sizeof note + packet.ip.length);
    std::memcpy(stored.data() + sizeof note, packet.ip.data, packet.ip.length);
  } else {
    stored.resize(sizeof note + packet.header_size + packet.segment_size);
    const auto payload = write_segment(packet, segment, stored.data() + sizeof note);
    std::memcpy(stored.data() + sizeof note + packet.header_size, payload.data(), payload.size());
    stored.resize(sizeof note + packet.header_size + payload.size());
  }
  std::memcpy(stored.data(), &note, sizeof note);
  return stored;
}

void Forwarder::hold(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far,
                     Journey& journey) {
  {
    const std::lock_guard lock{shared_.buffer_mutex};
    if (far.way == Way::Hold || far.state->holding.load(std::memory_order_relaxed)) {
      store(rules, pdr, far, journey);
      return;
    }
  }
  forward(rules, pdr, far, journey);  // the last waiting packet left in the meantime
}

void Forwarder::store(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far,
                      const Journey& journey) {
  const auto suggested =
      far.suggested == 0xffff ? std::nullopt : std::optional<std::size_t>{far.suggested};
  for (std::uint32_t i = 0; i < journey.packet.count; ++i) {
    std::vector<dataplane::BufferedPacket> gone;
    const auto outcome = shared_.buffer.push(
        rules.seid, far.id, {.pdr = pdr.id, .octets = stored_form(journey, i)}, suggested, &gone);
    counters_.drop(Drop::BufferFull, gone.size());
    for (const dataplane::BufferedPacket& packet : gone) forget(rules, packet);
    if (outcome == dataplane::PacketBuffer::Outcome::NewestDropped) continue;
    counters_.add(Tally::Buffered);
    far.state->holding.store(true, std::memory_order_release);
  }
  // Also when nothing could be kept: the UE has to be paged all the same.
  if (far.notify && far.state->notify_armed.exchange(false, std::memory_order_acq_rel)) {
    const std::uint8_t qfi = pdr.qfi != kNoQfi ? pdr.qfi : journey.arrival.qfi;
    tell(HeldFirst{rules.seid, far.id, pdr.id, qfi,
                   static_cast<std::uint8_t>(journey.packet.ip.tos >> 2U)});
  }
}

void Forwarder::forget(const Snapshot& rules, const dataplane::BufferedPacket& packet) {
  const auto pdr = std::ranges::find(rules.pdrs, packet.pdr, &PdrEntry::id);
  if (pdr == rules.pdrs.end()) return;
  count_dropped(rules, *pdr, 1, packet.octets.size() - sizeof(StoredNote), *this);
}

void Forwarder::replay(Session& session, std::span<std::uint8_t> stored) {
  StoredNote note;
  std::memcpy(&note, stored.data(), sizeof note);
  Journey journey{.arrival = {note.tunnelled != 0, note.teid, note.qfi}, .replayed = true};
  const auto octets = stored.subspan(sizeof note);
  if (!parse_ip(octets.data(), octets.size(), journey.packet.ip) ||
      !try_forward(session, journey)) {
    counters_.drop(Drop::NoRule);
  }
}

}  // namespace upf::userplane

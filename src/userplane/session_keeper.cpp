#include "session_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace upf::userplane {
namespace {

using dataplane::Applied;
using dataplane::Failure;

template <class Entries>
const FarEntry* far_of(const Entries& fars, FarId id) {
  return rules::find(fars, id);
}

bool leads_on(Way way) { return way == Way::ToN6 || way == Way::ToTunnel; }

/// The rule's state: the one that is there, or a new one.
template <class State, class Id, class... More>
State* state_for(const StateList<State>* owned, StateList<State>& fresh, Id id,
                 const More&... more) {
  State* const known = owned == nullptr ? nullptr : owned->find(id);
  return known != nullptr ? known : fresh.add(std::make_unique<State>(more..., id));
}

bool same_tunnel(const Tunnel& a, const Tunnel& b) {
  return a.teid == b.teid && a.ipv6 == b.ipv6 && a.peer == b.peer;
}

bool names(const std::vector<FarId>& list, FarId id) {
  return std::ranges::find(list, id) != list.end();
}

}  // namespace

SessionKeeper::SessionKeeper(Shared& shared, Quiescence& quiescence, Forwarder& forwarder,
                             LocalEnds& ends, dataplane::EchoTimers echo)
    : shared_(shared),
      quiescence_(quiescence),
      forwarder_(forwarder),
      ends_(ends),
      paths_(forwarder, echo) {}

SessionKeeper::~SessionKeeper() {
  for (const auto& [seid, session] : sessions_) delete session.rules.load();
}

Session* SessionKeeper::find(Seid seid) {
  const auto at = sessions_.find(seid);
  return at == sessions_.end() ? nullptr : &at->second;
}

const Session* SessionKeeper::find(Seid seid) const {
  const auto at = sessions_.find(seid);
  return at == sessions_.end() ? nullptr : &at->second;
}

Result<Applied, Failure> SessionKeeper::apply(const dataplane::Change& change) {
  Session* session = find(change.seid);
  if (change.after == nullptr) return session == nullptr ? Applied{} : end(*session);
  auto drafted = draft(change, session);
  if (!drafted) return failure(drafted.error());
  if (session == nullptr) {
    session = &sessions_.try_emplace(change.seid, change.seid).first->second;
  }
  return commit(change, *session, std::move(*drafted));
}

/// Everything that may fail, touching nothing.
Result<SessionKeeper::Draft, Failure> SessionKeeper::draft(const dataplane::Change& change,
                                                           const Session* session) const {
  const rules::SessionRules& rules = *change.after;
  Draft draft;
  for (const rules::Urr& urr : rules.urrs) {
    draft.states.urrs.push_back(
        state_for(session == nullptr ? nullptr : &session->urrs, draft.urrs, urr.id, change.seid));
  }
  for (const rules::Qer& qer : rules.qers) {
    draft.states.qers.push_back(
        state_for(session == nullptr ? nullptr : &session->qers, draft.qers, qer.id));
  }
  for (const rules::Far& far : rules.fars) {
    draft.states.fars.push_back(
        state_for(session == nullptr ? nullptr : &session->fars, draft.fars, far.id));
  }
  auto compiled = compile(change.seid, rules, draft.states, ends_);
  if (!compiled) return failure(compiled.error());
  if (auto clash = teid_clash(change, **compiled, session)) return failure(*clash);
  draft.rules = std::move(*compiled);
  return draft;
}

std::optional<Failure> SessionKeeper::teid_clash(const dataplane::Change& change,
                                                 const Snapshot& rules,
                                                 const Session* session) const {
  for (const TableKey& key : keys_of(rules)) {
    if (key.table != TableKey::Table::Teid) continue;
    const auto teid = static_cast<std::uint32_t>(key.key);
    const Session* owner = shared_.tables.by_teid(teid);
    if (owner == nullptr || owner == session) continue;
    const auto pdr = std::ranges::find_if(change.after->pdrs, [&](const rules::Pdr& p) {
      return p.f_teid && p.f_teid->teid.value == teid;
    });
    return Failure{Failure::Kind::Refused, pdr->id, "TEID is in use by another session"};
  }
  return std::nullopt;
}

Applied SessionKeeper::commit(const dataplane::Change& change, Session& session, Draft draft) {
  const Snapshot* before = session.rules.load(std::memory_order_relaxed);
  const Snapshot& after = *draft.rules;
  arm(change, draft.states);
  begin_episodes(before, after);
  session.rules.store(draft.rules.release(), std::memory_order_release);
  move_keys(session, before, after);
  Applied applied;
  if (before != nullptr) {
    quiescence_.wait(Quiescence::Point::BetweenPackets);
    applied.readings = take_readings(change, session, draft.states);
  }
  settle_blocks(*change.after, draft.states);
  if (before != nullptr) {
    send_end_markers(change, *before, after);
    settle_buffers(change, session, *before, after);
  }
  const std::size_t known = applied.readings.size();
  replace(session.urrs, std::move(draft.urrs), draft.states.urrs);
  replace(session.qers, std::move(draft.qers), draft.states.qers);
  replace(session.fars, std::move(draft.fars), draft.states.fars);
  // A URR that is new with this change and queried by it has counted nothing yet.
  for (UrrState* urr : draft.states.urrs) {
    const auto has = [&](const dataplane::Reading& r) { return r.urr == urr->id; };
    if (std::ranges::find(change.query, urr->id) != change.query.end() &&
        std::none_of(applied.readings.begin(),
                     applied.readings.begin() + static_cast<std::ptrdiff_t>(known), has)) {
      applied.readings.push_back(take_reading(*urr));
    }
  }
  std::ranges::sort(applied.readings, {}, &dataplane::Reading::urr);
  paths_.begin(after, Clock::now());
  if (before != nullptr) {
    paths_.end(*before);
    quiescence_.retire(before);
  }
  return applied;
}

/// New keys before old ones go, so that no packet of the session is ever unknown.
void SessionKeeper::move_keys(Session& session, const Snapshot* before, const Snapshot& after) {
  const std::vector<TableKey> now = keys_of(after);
  const std::vector<TableKey> old = before == nullptr ? std::vector<TableKey>{} : keys_of(*before);
  for (const TableKey& key : now) {
    if (std::ranges::binary_search(old, key)) continue;
    shared_.tables.insert(key, &session);
    if (watcher_) watcher_({session.seid, false, to_string(key) + " is served"});
  }
  for (const TableKey& key : old) {
    if (!std::ranges::binary_search(now, key)) forget_key(session, key);
  }
}

void SessionKeeper::forget_key(Session& session, const TableKey& key) {
  shared_.tables.erase(key, &session);
  if (watcher_) watcher_({session.seid, false, to_string(key) + " is no longer served"});
}

Applied SessionKeeper::end(Session& session) {
  const Snapshot* const rules = session.rules.load(std::memory_order_relaxed);
  for (const TableKey& key : keys_of(*rules)) forget_key(session, key);
  quiescence_.wait(Quiescence::Point::BetweenPackets);
  Applied applied;
  for (UrrState& urr : session.urrs) applied.readings.push_back(take_reading(urr));
  std::ranges::sort(applied.readings, {}, &dataplane::Reading::urr);
  {
    const std::lock_guard lock{shared_.buffer_mutex};
    forwarder_.counters().drop(Drop::BufferDropped, shared_.buffer.drop(session.seid));
  }
  paths_.end(*rules);
  // All packet threads were between packets after the keys went: nobody is left to wait for.
  delete rules;
  sessions_.erase(Seid{session.seid});
  return applied;
}

void SessionKeeper::begin_episodes(const Snapshot* before, const Snapshot& after) {
  for (const FarEntry& far : after.fars) {
    const bool holds = far.way == Way::Hold && far.notify;
    const FarEntry* old = before == nullptr ? nullptr : far_of(before->fars, far.id);
    const bool held = old != nullptr && old->way == Way::Hold && old->notify;
    if (holds && !held) {
      ++far.state->episode;
      far.state->notify_armed.store(true, std::memory_order_release);
    } else if (!holds) {
      far.state->notify_armed.store(false, std::memory_order_release);
    }
  }
}

/// SNDEM (TS 29.244 8.2.50) and TS 29.281 7.3.2: behind the last packet to the old tunnel, so only
/// when every packet thread has sent what it accepted under the old rules.
void SessionKeeper::send_end_markers(const dataplane::Change& change, const Snapshot& before,
                                     const Snapshot& after) {
  bool waited = false;
  for (const FarId id : change.end_markers) {
    const FarEntry* old = far_of(before.fars, id);
    const FarEntry* now = far_of(after.fars, id);
    if (old == nullptr || now == nullptr || !old->has_tunnel || !now->has_tunnel ||
        same_tunnel(old->tunnel, now->tunnel)) {
      continue;
    }
    if (!waited) quiescence_.wait(Quiescence::Point::BetweenBatches);
    waited = true;
    forwarder_.send_end_marker(old->tunnel);
    forwarder_.counters().add(Tally::EndMarkersSent);
    if (!watcher_) continue;
    watcher_({change.seid, false,
              fmt::format("FAR {}: End Marker to tunnel {:#010x}@{}", id.value, old->tunnel.teid,
                          to_string(old->tunnel.peer.to_ip(old->tunnel.ipv6)))});
  }
  forwarder_.finish();
}

void SessionKeeper::settle_buffers(const dataplane::Change& change, Session& session,
                                   const Snapshot& before, const Snapshot& after) {
  for (const FarEntry& old : before.fars) {
    if (far_of(after.fars, old.id) == nullptr) drop_buffered(after, old.id, nullptr);
  }
  for (const FarEntry& far : after.fars) {
    if (!far.state->holding.load(std::memory_order_acquire)) continue;
    const bool lost = far.way == Way::Drop || far.way == Way::Nowhere;
    if (lost || names(change.drop_buffered, far.id)) {
      drop_buffered(after, far.id, far.state);
    } else if (leads_on(far.way)) {
      drain(session, far);
    }
  }
}

void SessionKeeper::drop_buffered(const Snapshot& rules, FarId far, FarState* state) {
  std::size_t count = 0;
  {
    const std::lock_guard lock{shared_.buffer_mutex};
    const auto gone = shared_.buffer.drop(rules.seid, far);
    count = gone.size();
    forwarder_.counters().drop(Drop::BufferDropped, count);
    for (const dataplane::BufferedPacket& packet : gone) forwarder_.forget(rules, packet);
    if (state != nullptr) state->holding.store(false, std::memory_order_release);
  }
  tell(rules.seid, far, count, "dropped");
}

/// Packets that come meanwhile queue up behind; the last round, which finds nothing, opens the way
/// for them. The rounds end: what comes in is bounded, and sent faster than it comes.
void SessionKeeper::drain(Session& session, const FarEntry& far) {
  for (std::size_t sent = 0;;) {
    std::deque<dataplane::BufferedPacket> packets;
    {
      const std::lock_guard lock{shared_.buffer_mutex};
      packets = shared_.buffer.take(session.seid, far.id);
      if (packets.empty()) far.state->holding.store(false, std::memory_order_release);
    }
    if (packets.empty()) return tell(session.seid, far.id, sent, "sent on");
    sent += packets.size();
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    forwarder_.begin(
        {std::chrono::nanoseconds{steady}.count(), std::chrono::nanoseconds{wall}.count()});
    for (dataplane::BufferedPacket& packet : packets) forwarder_.replay(session, packet.octets);
    forwarder_.finish();
  }
}

void SessionKeeper::tell(Seid seid, FarId far, std::size_t packets, const char* what) const {
  if (!watcher_ || packets == 0) return;
  watcher_({seid, false, fmt::format("FAR {}: waiting packets {}: {}", far.value, what, packets)});
}

template <class State>
void SessionKeeper::replace(StateList<State>& owned, StateList<State> fresh,
                            const std::vector<State*>& wanted) {
  owned.remove_if([&](State& state) { return std::ranges::find(wanted, &state) == wanted.end(); },
                  [&](std::unique_ptr<State> state) { quiescence_.retire(state.release()); });
  owned.append(std::move(fresh));
}

void SessionKeeper::on_packet_event(const PacketEvent& event, const Now& now,
                                    std::vector<dataplane::Event>& out) {
  if (const auto* held = std::get_if<HeldFirst>(&event)) {
    on_held(*held, now, out);
  } else if (const auto* hit = std::get_if<LimitHit>(&event)) {
    on_limit(*hit, out);
  } else if (const auto* started = std::get_if<Started>(&event)) {
    const std::chrono::nanoseconds at{started->wall_ns};
    out.push_back(dataplane::TrafficStart{
        started->seid, started->urr, WallTime{std::chrono::duration_cast<WallTime::duration>(at)}});
  } else if (const auto* unknown = std::get_if<TunnelUnknown>(&event)) {
    out.push_back(dataplane::ErrorIndication{{unknown->teid}, unknown->peer.to_ip(unknown->ipv6)});
  } else if (const auto* answer = std::get_if<EchoAnswered>(&event)) {
    paths_.on_answer(*answer, now.steady, out);
  }
}

void SessionKeeper::on_held(const HeldFirst& held, const Now& now,
                            std::vector<dataplane::Event>& out) {
  const Session* session = find(held.seid);
  if (session == nullptr) return;
  const FarEntry* far = far_of(session->rules.load()->fars, held.far);
  if (far == nullptr || far->way != Way::Hold || !far->notify) return;
  dataplane::DownlinkData event{.seid = held.seid, .pdr = held.pdr, .dscp = held.dscp};
  if (held.qfi != kNoQfi) event.qfi = held.qfi;
  if (far->delay_50ms == 0) {
    out.push_back(event);
    return;
  }
  delayed_.push_back({.due = now.steady + far->delay_50ms * std::chrono::milliseconds{50},
                      .episode = far->state->episode,
                      .far = held.far,
                      .event = event});
}

void SessionKeeper::on_time(const Now& now, std::vector<dataplane::Event>& out) {
  std::erase_if(delayed_, [&](const Delayed& delayed) {
    if (delayed.due > now.steady) return false;
    const Session* session = find(delayed.event.seid);
    const FarEntry* far =
        session == nullptr ? nullptr : far_of(session->rules.load()->fars, delayed.far);
    if (far != nullptr && far->way == Way::Hold && far->notify &&
        far->state->episode == delayed.episode) {
      out.push_back(delayed.event);
    }
    return true;
  });
  paths_.on_time(now.steady, out);
}

std::optional<TimePoint> SessionKeeper::next_time() const {
  const auto first = std::ranges::min_element(delayed_, {}, &Delayed::due);
  std::optional<TimePoint> next = paths_.next_time();
  if (first != delayed_.end() && (!next || first->due < *next)) next = first->due;
  return next;
}

}  // namespace upf::userplane

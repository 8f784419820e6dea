#include "src/app/ops/follow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/app/ops/views.hpp"
#include "upf/pfcp/codec.hpp"

namespace upf::app::ops {
namespace {

/// The header's SEID (TS 29.244 7.2.2.4), of session messages.
std::optional<Seid> header_seid(wire::Bytes datagram) {
  wire::Reader in{datagram};
  const auto flags = in.be<std::uint8_t>();
  [[maybe_unused]] const auto type_and_length = in.take(3);
  const Seid seid{in.be<std::uint64_t>()};
  if (in.failed() || (flags & 1U) == 0 || seid.value == 0) return {};
  return seid;
}

template <class Rules>
void summarise(std::string& text, const char* kind, const Rules* before, const Rules* after) {
  static const Rules none{};
  const Rules& old_rules = before != nullptr ? *before : none;
  const Rules& new_rules = after != nullptr ? *after : none;
  for (const auto& rule : old_rules) {
    if (rules::find(new_rules, rule.id) == nullptr) {
      text += fmt::format(" -{} {}", kind, rule.id.value);
    }
  }
  for (const auto& rule : new_rules) {
    const auto* was = rules::find(old_rules, rule.id);
    if (was == nullptr) {
      text += fmt::format(" +{} {}", kind, rule.id.value);
    } else if (*was != rule) {
      text += fmt::format(" ~{} {}", kind, rule.id.value);
    }
  }
}

std::vector<std::string> ues_of(const rules::SessionRules* rules) {
  if (rules == nullptr) return {};
  session::Session session;
  session.rules.pdrs = rules->pdrs;
  return ue_addresses(session);
}

/// Of events that name their session.
struct EventText {
  std::pair<Seid, std::string> operator()(const dataplane::DownlinkData& event) const {
    return {event.seid, fmt::format("first packet for an idle UE, PDR {}", event.pdr.value)};
  }
  std::pair<Seid, std::string> operator()(const dataplane::LimitReached& event) const {
    using Limit = dataplane::LimitReached::Limit;
    const char* const what = event.limit == Limit::Block    ? "quota"
                             : event.limit == Limit::Notify ? "threshold"
                                                            : "threshold of dropped packets";
    return {event.seid,
            fmt::format("URR {}: {} reached after {} octets up, {} down", event.reading.urr.value,
                        what, event.reading.octets.uplink, event.reading.octets.downlink)};
  }
  std::pair<Seid, std::string> operator()(const dataplane::TrafficStart& event) const {
    return {event.seid, fmt::format("URR {}: traffic started", event.urr.value)};
  }
  template <class Other>
  std::pair<Seid, std::string> operator()(const Other&) const {
    return {};
  }
};

bool names(const std::vector<std::string>& ues, const IpAddress& ue) {
  return std::ranges::any_of(ues, [&](const std::string& text) {
    const auto prefix = parse_ip_prefix(text);
    if (!prefix || prefix->index() != ue.index()) return false;
    if (const auto* v4 = std::get_if<Ipv4Prefix>(&*prefix)) return v4->contains(std::get<Ipv4>(ue));
    return std::get<Ipv6Prefix>(*prefix).contains(std::get<Ipv6>(ue));
  });
}

}  // namespace

std::optional<Target> parse_target(const std::string& text) {
  if (const auto ue = parse_ip(text)) return Target{{}, ue, text};
  const auto seid = parse_seid(text);
  if (!seid || seid->value == 0) return {};
  return Target{seid, {}, text};
}

std::string summary_of(const dataplane::Change& change) {
  std::string text;
  const auto* before = change.before;
  const auto* after = change.after;
  summarise(text, "PDR", before ? &before->pdrs : nullptr, after ? &after->pdrs : nullptr);
  summarise(text, "FAR", before ? &before->fars : nullptr, after ? &after->fars : nullptr);
  summarise(text, "QER", before ? &before->qers : nullptr, after ? &after->qers : nullptr);
  summarise(text, "URR", before ? &before->urrs : nullptr, after ? &after->urrs : nullptr);
  summarise(text, "BAR", before ? &before->bars : nullptr, after ? &after->bars : nullptr);
  return text.empty() ? "no rule changes" : text.substr(1);
}

void Following::note(WallTime at, std::string kind, std::string text) {
  if (!keeps_records) return;
  if (text.size() > kLongestText) {
    text.resize(kLongestText);
    text.shrink_to_fit();
    text += "…";
  }
  if (records.size() >= kRecords) records.pop_front();
  records.push_back({next++, at, std::move(kind), std::move(text)});
}

Result<unsigned, std::string> Follower::start(Target target, std::size_t capture_limit,
                                              TimePoint until) {
  if (all_.size() >= kMost) {
    return failure(fmt::format("{} traces and captures are running already; stop one", kMost));
  }
  auto following = std::make_unique<Following>(std::move(target), capture_limit);
  following->until = until;
  const Target& whom = following->target;
  if (whom.seid) learn(*following, *whom.seid);
  if (whom.ue) {
    for (const Seid seid : sessions_.of_ue(*whom.ue)) learn(*following, seid);
  }
  all_.emplace(next_, std::move(following));
  if (all_.size() == 1 && tell_) tell_(true);
  return next_++;
}

template <class Gone>
std::size_t Follower::erase_if(const Gone& gone) {
  const std::size_t erased = std::erase_if(all_, gone);
  if (erased == 0 || !all_.empty()) return erased;
  exchange_ = {};
  if (tell_) tell_(false);
  return erased;
}

bool Follower::stop(unsigned id) {
  return erase_if([&](const auto& entry) { return entry.first == id; }) != 0;
}

Following* Follower::find(unsigned id) {
  const auto found = all_.find(id);
  return found != all_.end() ? found->second.get() : nullptr;
}

void Follower::expire(TimePoint now) {
  erase_if([&](const auto& entry) { return entry.second->until <= now; });
}

void Follower::learn(Following& following, Seid seid) const {
  following.seids.insert(seid);
  if (const auto head = sessions_.head(seid)) {
    if (head->cp.ipv4) following.peer_seids.emplace(*head->cp.ipv4, head->cp.seid);
    if (head->cp.ipv6) following.peer_seids.emplace(*head->cp.ipv6, head->cp.seid);
  }
}

void Follower::begin(const SocketAddress& from, wire::Bytes datagram) {
  if (!active()) return;
  exchange_.received.emplace(from, wire::Octets{datagram.begin(), datagram.end()});
}

void Follower::on_change(const dataplane::Change& change,
                         const Result<dataplane::Applied, dataplane::Failure>& outcome,
                         std::chrono::nanoseconds took) {
  if (!active()) return;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const std::string result = outcome ? "done" : "failed (" + outcome.error().detail + ")";
  exchange_.notes.push_back(
      {"plane", fmt::format("{}: {} in {} us", summary_of(change), result, micros), change.seid,
       ues_of(change.after != nullptr ? change.after : change.before)});
}

void Follower::on_event(const dataplane::Event& event) {
  if (!active()) return;
  if (const auto* lost = std::get_if<dataplane::ErrorIndication>(&event)) {
    const std::string text = fmt::format("Error Indication: {} doesn't know tunnel {:#010x}",
                                         to_string(lost->peer), lost->teid.value);
    for (const auto& tunnel : sessions_.of_remote(lost->teid, lost->peer)) {
      note("event", text, tunnel.seid);
    }
    return;
  }
  if (const auto* path = std::get_if<dataplane::PathState>(&event)) {
    const std::string text = fmt::format("GTP-U peer {} {}", to_string(path->peer),
                                         path->up ? "answers again" : "doesn't answer");
    for (const Seid seid : sessions_.of_peer(path->peer)) {  // perhaps very many
      const auto follows = [&](const auto& entry) { return entry.second->seids.contains(seid); };
      if (std::ranges::any_of(all_, follows)) note("event", text, seid);
    }
    return;
  }
  auto [seid, text] = std::visit(EventText{}, event);
  if (!text.empty()) note("event", std::move(text), seid);
}

void Follower::on_deed(const dataplane::Deed& deed) {
  if (!active()) return;
  // Whose session begins is known at the exchange's end; whose sessions end with an association,
  // perhaps very many, is known.
  const auto follows = [&](const auto& entry) { return entry.second->seids.contains(deed.seid); };
  if (exchange_.notes.size() < Following::kRecords || std::ranges::any_of(all_, follows)) {
    note(deed.kernel ? "kernel" : "plane", deed.text, deed.seid);
  }
}

void Follower::note(const char* kind, std::string text, Seid seid) {
  exchange_.notes.push_back({kind, std::move(text), seid, {}});
}

bool Follower::concerns(Following& following, const Exchange& exchange,
                        const control::Output& output) const {
  bool concerned = false;
  const auto touched = [&](Seid seid) {
    if (!following.seids.contains(seid)) return;
    concerned = true;
    learn(following, seid);
  };
  for (const Note& note : exchange.notes) {
    if (following.target.ue && names(note.ues, *following.target.ue)) {
      following.seids.insert(note.seid);
    }
    touched(note.seid);
  }
  for (const auto& record : output.log) {
    if (record.seid) touched(*record.seid);
  }
  if (exchange.received) {
    if (const auto seid = header_seid(exchange.received->second)) touched(*seid);
  }
  return concerned;
}

bool Follower::is_for(const Following& following, const n4::Datagram& datagram) {
  const auto seid = header_seid(datagram.octets);
  return seid && following.peer_seids.contains({datagram.to.ip, *seid});
}

void Follower::write(Following& following, const Exchange& exchange, WallTime at,
                     const SocketAddress& local, const control::Output& output, bool whole) {
  if (whole && exchange.received) {
    const auto& [from, octets] = *exchange.received;
    following.note(at, "n4-in", to_string(from) + " " + pfcp::describe(octets));
    following.capture.add_datagram(at, from, local, octets);
  }
  for (const Note& note : exchange.notes) {
    if (following.seids.contains(note.seid)) following.note(at, note.kind, note.text);
  }
  for (const auto& record : output.log) {
    if (record.seid && following.seids.contains(*record.seid)) {
      following.note(at, "log", record.procedure + ": " + record.text);
    }
  }
  for (const auto& datagram : output.send) {
    // An exchange that began without a datagram (a timer) may send for many sessions.
    if (!exchange.received && !is_for(following, datagram)) continue;
    following.note(at, "n4-out", to_string(datagram.to) + " " + pfcp::describe(datagram.octets));
    following.capture.add_datagram(at, local, datagram.to, datagram.octets);
  }
}

void Follower::end(WallTime at, const SocketAddress& local, const control::Output& output) {
  if (!active()) return;
  const Exchange exchange = std::exchange(exchange_, {});
  for (auto& [id, following] : all_) {
    const bool whole = concerns(*following, exchange, output);
    const bool reported =
        !exchange.received && std::ranges::any_of(output.send, [&](const n4::Datagram& datagram) {
          return is_for(*following, datagram);
        });
    if (whole || reported) write(*following, exchange, at, local, output, whole);
  }
}

}  // namespace upf::app::ops

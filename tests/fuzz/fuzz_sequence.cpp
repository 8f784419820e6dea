// Sequences of requests, mostly valid, from several peers, with a plane that fails where the input
// says so. The input is a script: each step takes a few octets of it. After each step:
//
//   - every request got exactly one answer, of its type and sequence number, that decodes;
//   - the plane holds what the store says, session by session;
//   - a request that was refused has changed nothing;
//   - no TEID and no URR is held by a session that is gone, nor lost by one that is there;
//   - a repeated request gets the octets of its first answer and changes nothing.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/pfcp/defs.hpp"
#include "tests/contract/fake_plane.hpp"
#include "tests/fuzz/script.hpp"
#include "upf/control/up_function.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace {

using upf::Ipv4;
using upf::Now;
using upf::Seid;
using upf::SocketAddress;
using upf::control::Output;
using upf::control::UpFunction;
using upf::fuzz::Script;
using upf::pfcp::Cause;
using upf::pfcp::MessageType;
namespace pfcp = upf::pfcp;
namespace rules = upf::rules;
namespace wire = upf::wire;

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

upf::control::Settings settings() {
  upf::control::Settings result;
  result.node_id = "10.0.0.100";
  result.n4_ipv4 = Ipv4{{10, 0, 0, 100}};
  result.sessions.gtpu = {{.ipv4 = Ipv4{{10, 1, 0, 100}}}};
  result.heartbeat_interval = std::chrono::seconds{20};
  result.purge_after = std::chrono::seconds{90};
  result.limits.associations = 3;
  result.limits.stranger_requests_per_second = 1'000'000;
  result.limits.requests_per_second_of_a_stranger = 1'000'000;
  result.sessions.limits.sessions = 6;
  result.random = [state = std::uint64_t{1}]() mutable {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state ^ (state >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  };
  return result;
}

/// What must not change when a request is refused.
struct Snapshot {
  std::map<Seid, rules::SessionRules> installed{};
  std::size_t teids{};
  std::size_t urrs{};
  bool operator==(const Snapshot&) const = default;
};

class World {
 public:
  explicit World(Script script) : script_(script) { (void)up_.start(now_); }

  void run() {
    for (int steps = 0; !script_.empty() && steps < 200; ++steps) {
      step();
      check_state();
    }
    plane_.fail_call(1'000'000, {});
    take(up_.shutdown(now_));
    if (plane_.session_count() != 0) broken("sessions are left in the plane after shutdown");
    if (up_.teids().size() != 0) broken("TEIDs are left after shutdown");
  }

 private:
  static SocketAddress peer(unsigned index) {
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}, 8805};
  }
  static pfcp::NodeId node(unsigned index) {
    if (index % 5 == 4) return {std::string{"smf.example"}};
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}};
  }

  void step() {
    switch (script_.below(16)) {
      case 0:
        return associate();
      case 1:
      case 2:
        return request(script_.establishment(node(script_.octet())), Seid{});
      case 3:
      case 4:
      case 5:
        return request(script_.modification(), any_seid());
      case 6:
        return request(pfcp::SessionDeletionRequest{}, any_seid());
      case 7:
        return plane_.fail_call(script_.below(3), script_.failure());
      case 8:
      case 9:
        return traffic();
      case 10:
        return pass_time();
      case 11:
        return reply();
      case 12:
        return repeat();
      case 13:
        return mutate();
      case 14:
        return node_request();
      default:
        return event();
    }
  }

  void associate() {
    pfcp::AssociationSetupRequest setup{.node_id = node(script_.octet()),
                                        .recovery_time_stamp = {script_.below(3) + 1}};
    if (script_.flag()) {
      setup.pfcp_session_retention_information.emplace();
      if (script_.flag()) {
        setup.pfcp_session_retention_information->cp_pfcp_entity_ip_addresses = {
            {.ipv4 = Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + script_.below(4))}}}};
      }
    }
    if (script_.flag()) setup.smf_set_id = pfcp::SmfSetId{"set.example"};
    request(setup, {});
  }

  void node_request() {
    switch (script_.below(7)) {
      case 0:
        return request(pfcp::HeartbeatRequest{.recovery_time_stamp = {script_.below(3) + 1}}, {});
      case 1:
        return request(pfcp::AssociationReleaseRequest{.node_id = node(script_.octet())}, {});
      case 2: {
        pfcp::AssociationUpdateRequest update{.node_id = node(script_.octet())};
        if (script_.below(8) == 0) update.pfcpaureq_flags = {.parps = true};
        return request(update, {});
      }
      case 3:
        return request(script_.pfds(), {});
      case 4:
        return request(script_.set_deletion(node(script_.octet())), {});
      case 5:
        return request(script_.set_modification(node(script_.octet())), {});
      default:
        return request(pfcp::NodeReportRequest{.node_id = node(script_.octet())}, {});
    }
  }

  template <pfcp::Message M>
  void request(const M& message, std::optional<Seid> seid) {
    const SocketAddress from = peer(script_.octet());
    last_ = pfcp::encode(message, {.seid = seid, .sequence = ++sequence_});
    last_from_ = from;
    const Snapshot before = snapshot();
    const Output output = up_.on_datagram(now_, from, last_);
    const auto type = pfcp::decode_header(last_)->header.type;
    const Cause cause = only_answer(output, type, sequence_);
    // An establishment that takes over a UE address ends the old session before it is tried.
    const bool may_end = type == MessageType::SessionEstablishmentRequest;
    if (!pfcp::is_acceptance(cause) && type != MessageType::HeartbeatRequest) {
      const Snapshot after = snapshot();
      if (!(before == after) && !(may_end && shrunk(before, after))) {
        broken("a refused request has changed something: " + pfcp::describe(last_));
      }
    }
    take(output);
  }

  static bool shrunk(const Snapshot& before, const Snapshot& after) {
    return after.installed.size() < before.installed.size() &&
           std::ranges::all_of(after.installed, [&](const auto& entry) {
             const auto at = before.installed.find(entry.first);
             return at != before.installed.end() && at->second == entry.second;
           });
  }

  // The cause of the one answer to that request; a heartbeat's counts as accepted.
  Cause only_answer(const Output& output, MessageType type, std::uint32_t sequence) {
    Cause cause{};
    int answers = 0;
    for (const auto& sent : output.send) {
      const auto frame = pfcp::decode_header(sent.octets);
      if (!frame || frame->header.type != pfcp::response_to(type)) continue;
      if (frame->header.sequence != sequence || sent.to != last_from_) continue;
      ++answers;
      const auto ie = pfcp::find_ie(frame->body, pfcp::IeType::Cause);
      cause = ie && ie->size() == 1 ? Cause{(*ie)[0]} : Cause::RequestAccepted;
      last_answer_ = sent;
    }
    if (answers != 1) {
      broken(std::to_string(answers) + " answers to " + pfcp::describe(last_));
    }
    return cause;
  }

  void repeat() {
    if (last_.empty()) return;
    const auto frame = pfcp::decode_header(last_);
    if (!frame || frame->header.type == MessageType::HeartbeatRequest) return;
    const Snapshot before = snapshot();
    const Output output = up_.on_datagram(now_, last_from_, last_);
    take(output);
    if (repeatable_ && last_answer_ && !(before == snapshot())) {
      broken("a repeated request has changed something");
    }
  }

  void mutate() {
    if (last_.empty()) return;
    wire::Octets octets = last_;
    for (unsigned i = 1 + script_.below(4); i > 0; --i) script_.mutate(octets);
    // Mostly with a sequence number of its own and a length that fits, to get past the first gate.
    if (script_.below(8) != 0) script_.mend(octets, ++sequence_);
    last_ = octets;
    last_from_ = peer(script_.octet());
    last_answer_.reset();
    const Output output = up_.on_datagram(now_, last_from_, octets);
    std::size_t answers = 0;
    for (const auto& sent : output.send) answers += is_answer(sent) ? 1U : 0U;
    const auto header = upf::n4::read_header(octets);
    if (header && !header->follow_on && answers > 1) broken("two answers to one message");
    take(output);
  }

  static bool is_answer(const upf::n4::Datagram& sent) {
    const auto frame = pfcp::decode_header(sent.octets);
    return frame && pfcp::is_response(frame->header.type);
  }

  void traffic() {
    const Seid seid = any_seid();
    const auto* installed = plane_.rules_of(seid);
    if (installed == nullptr || installed->pdrs.empty()) return;
    const auto& pdr = installed->pdrs[script_.below(installed->pdrs.size())];
    plane_.offer(seid, pdr.id, script_.octet() * 10U);
    take(up_.on_plane_events(now_, plane_.take_events()));
  }

  void event() {
    const std::uint8_t last = static_cast<std::uint8_t>(1 + script_.below(2));
    switch (script_.below(3)) {
      case 0:
        plane_.raise(upf::dataplane::ErrorIndication{.teid = {0x2000U + script_.below(4)},
                                                     .peer = Ipv4{{10, 1, 0, last}}});
        break;
      case 1:
        plane_.raise(
            upf::dataplane::PathState{.peer = Ipv4{{10, 1, 0, last}}, .up = script_.flag()});
        break;
      default:
        plane_.raise(upf::dataplane::Overrun{});
    }
    take(up_.on_plane_events(now_, plane_.take_events()));
  }

  void pass_time() {
    const auto step = std::chrono::milliseconds{script_.octet() * 100};
    now_.steady += step;
    now_.wall += step;
    take(up_.on_timer(now_));
    // A timer that is due again at once, and again, would keep the loop busy for ever.
    for (int i = 0; wake_at_ && *wake_at_ <= now_.steady; ++i) {
      if (i == 50) broken("the timer never comes to rest");
      take(up_.on_timer(now_));
    }
  }

  // Answers the oldest open request of the UP function.
  void reply() {
    if (open_.empty()) return;
    const auto sent = open_.front();
    open_.erase(open_.begin());
    const auto header = pfcp::decode_header(sent.octets)->header;
    const pfcp::Envelope envelope{.seid = header.seid, .sequence = header.sequence};
    wire::Octets octets;
    if (header.type == MessageType::SessionReportRequest) {
      octets = pfcp::encode(script_.report_response(), envelope);
    } else if (header.type == MessageType::HeartbeatRequest) {
      octets = pfcp::encode(pfcp::HeartbeatResponse{.recovery_time_stamp = {script_.below(3) + 1}},
                            envelope);
    } else {
      octets = pfcp::encode(
          pfcp::NodeReportResponse{.node_id = node(0), .cause = Cause::RequestAccepted}, envelope);
    }
    take(up_.on_datagram(now_, sent.to, octets));
  }

  Seid any_seid() {
    const auto seids = plane_.seids();
    const unsigned choice = script_.below(16);
    if (seids.empty() || choice == 15) return {script_.octet()};
    return seids[choice % seids.size()];
  }

  [[nodiscard]] Snapshot snapshot() const {
    Snapshot result{.teids = up_.teids().size(), .urrs = up_.usage().urr_count()};
    for (const Seid seid : plane_.seids()) result.installed[seid] = *plane_.rules_of(seid);
    return result;
  }

  void take(const Output& output) {
    wake_at_ = output.wake_at;
    for (const auto& sent : output.send) {
      const auto frame = pfcp::decode_header(sent.octets);
      if (!frame) broken("a datagram of ours has no header that fits");
      if (sent.octets.size() > 2048) broken("a datagram of ours is too long");
      if (!decodes(*frame)) {
        broken("a message of ours does not decode: " + pfcp::describe(sent.octets));
      }
      if (!pfcp::is_response(frame->header.type)) open_.push_back(sent);
    }
    if (open_.size() > 64) open_.erase(open_.begin(), open_.end() - 64);
  }

  static bool decodes(const pfcp::Frame& frame) {
    const pfcp::MessageDef* def = pfcp::find_message(frame.header.type);
    if (def == nullptr) return false;
    const std::unique_ptr<void, void (*)(void*)> message{def->create(), def->destroy};
    return pfcp::detail::decode_message(*def, frame.body, message.get()).has_value();
  }

  void check_state() {
    auto seids = up_.sessions().all();
    std::ranges::sort(seids);
    if (seids != plane_.seids()) broken("the plane has other sessions than the store");
    std::set<upf::Teid> teids;
    for (const Seid seid : seids) {
      const auto& session = *up_.sessions().find(seid);
      if (session.installed != *plane_.rules_of(seid)) {
        broken("the plane has other rules than the store");
      }
      for (const auto& pdr : session.rules.pdrs) {
        if (!pdr.f_teid) continue;
        teids.insert(pdr.f_teid->teid);
        if (up_.teids().owner(pdr.f_teid->teid) != seid) broken("a TEID is not its session's");
      }
    }
    for (const Seid seid : seids) {
      for (const auto& [id, endpoint] : up_.sessions().find(seid)->endpoints) {
        if (endpoint->local_f_teid) teids.insert(endpoint->local_f_teid->teid);
      }
    }
    if (teids.size() != up_.teids().size()) broken("a TEID has leaked or is missing");
    if (seids.empty() && up_.usage().urr_count() != 0) broken("a URR has leaked");
    if (seids.size() > 6) broken("more sessions than the limit");
    if (up_.associations().all().size() > 3) broken("more associations than the limit");
  }

  Script script_;
  upf::contract::FakePlane plane_;
  UpFunction up_{settings(), plane_};
  Now now_{.wall = upf::WallTime{std::chrono::seconds{1'700'000'000}}};
  std::uint32_t sequence_{};
  wire::Octets last_{};
  SocketAddress last_from_{};
  std::optional<upf::n4::Datagram> last_answer_{};
  bool repeatable_{true};
  std::vector<upf::n4::Datagram> open_{};
  std::optional<upf::TimePoint> wake_at_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World{Script{{data, size}}}.run();
  return 0;
}

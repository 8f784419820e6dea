// Sequences of requests, mostly valid, from several peers, with a plane that fails where the input
// says so. The input is a script: each step takes a few octets of it. After each step:
//
//   - every request got exactly one answer, of its type and sequence number, that decodes; one that
//     was mangled too, if it can still be answered at all (7.6);
//   - the plane holds what the store says, session by session;
//   - a request that was refused, by us or by the plane, has changed nothing: no rule, no
//     provisioning, no owner, no identifier;
//   - no TEID, UE address, URR, set or way to find a session is held by one that is gone, nor lost
//     by one that is there; a UE address is one session's;
//   - a repeated request gets the octets of its first answer and changes nothing;
//   - no octet is reported that was not counted, and of a session that was deleted all of them are.
//
// And in the end, when all peers are gone, nothing is left of anything.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/pfcp/defs.hpp"
#include "tests/contract/fake_plane.hpp"
#include "tests/fuzz/invariants.hpp"
#include "tests/fuzz/script.hpp"
#include "tests/fuzz/usage_ledger.hpp"
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
using upf::fuzz::broken;
using upf::fuzz::Script;
using upf::fuzz::Snapshot;
using upf::fuzz::UsageLedger;
using upf::pfcp::Cause;
using upf::pfcp::MessageType;
namespace pfcp = upf::pfcp;
namespace rules = upf::rules;
namespace wire = upf::wire;

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
  // Few, so that they run out.
  result.sessions.pools = {{"internet", upf::Ipv4Prefix{Ipv4{{10, 60, 0, 0}}, 29}},
                           {"internet", upf::Ipv6Prefix{upf::Ipv6{{0x20, 1, 0xd, 0xb8}}, 61}}};
  result.random = [state = std::uint64_t{1}]() mutable {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state ^ (state >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  };
  return result;
}

class World {
 public:
  explicit World(Script script) : script_(script) { (void)up_.start(now_); }

  void run() {
    for (int steps = 0; !script_.empty() && steps < 200; ++steps) {
      step();
      check_state();
    }
    plane_.fail_call(1'000'000, {});
    drain();
    if (!ledger_.all_ended_are_paid()) broken("usage of a deleted session was never reported");
    while (!up_.associations().all().empty()) {
      const pfcp::NodeId first = up_.associations().all().begin()->first;
      take(up_.drop_association(now_, first));
    }
    advance(std::chrono::seconds{2});  // what the plane did not let go of
    upf::fuzz::check_nothing_is_left(up_, plane_);
    take(up_.shutdown(now_));
  }

 private:
  static SocketAddress peer(unsigned index) {
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}, 8805};
  }
  static pfcp::NodeId node(unsigned index) {
    if (index % 5 == 4) return {std::string{"smf.example"}};
    return {Ipv4{{10, 0, 0, static_cast<std::uint8_t>(1 + index % 4)}}};
  }

  // The peers answer everything, until nothing is owed to them.
  void drain() {
    for (int rounds = 0; rounds < 100; ++rounds) {
      while (!open_.empty()) answer_oldest(true);
      if (up_.unsent_reports().usage_reports() == 0) return;
      advance(std::chrono::seconds{5});
      check_state();
    }
  }

  void step() {
    switch (script_.below(16)) {
      case 0:
        return associate();
      case 1:
      case 2:
        return establish();
      case 3:
      case 4:
      case 5:
        return modify();
      case 6:
        return request(pfcp::SessionDeletionRequest{}, any_seid());
      case 7:
        return plane_.fail_call(script_.below(3), script_.failure());
      case 8:
      case 9:
        return traffic();
      case 10:
        return advance(std::chrono::milliseconds{script_.octet() * 100});
      case 11:
        if (!open_.empty()) answer_oldest(script_.flag());
        return;
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

  // Each with a SEID of its own, so that reports can be told apart.
  void establish() {
    auto message = script_.establishment(node(script_.octet()));
    message.cp_f_seid.seid = {++cp_seids_};
    const auto before = up_.sessions().all();
    request(message, Seid{});
    for (const Seid seid : up_.sessions().all()) by_cp_[up_.sessions().find(seid)->cp.seid] = seid;
    // Those that it superseded have ended by it, whether it was accepted or not.
    for (const Seid seid : before) {
      if (!up_.sessions().contains(seid)) ledger_.ended(seid);
    }
  }

  void modify() {
    auto message = script_.modification();
    if (message.cp_f_seid) message.cp_f_seid->seid = {++cp_seids_};
    const Seid seid = any_seid();
    request(message, seid);
    const auto session = up_.sessions().find(seid);
    if (session != nullptr) by_cp_[session->cp.seid] = seid;
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
    if (pfcp::is_acceptance(cause)) note_usage<M>(seid.value_or(Seid{}));
    // Whose sessions have ended owes their CP function nothing any more.
    if (std::is_same_v<M, pfcp::AssociationSetupRequest>) ledger_.forget_ended();
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

  // Usage that came with the answer to a request for that session.
  template <class M>
  void note_usage(Seid seid) {
    if constexpr (std::is_same_v<M, pfcp::SessionDeletionRequest>) {
      note_answer<pfcp::SessionDeletionResponse>(seid);
      ledger_.ended(seid);
    } else if constexpr (std::is_same_v<M, pfcp::SessionModificationRequest>) {
      note_answer<pfcp::SessionModificationResponse>(seid);
    }
  }
  template <class R>
  void note_answer(Seid seid) {
    const auto response = pfcp::decode<R>(pfcp::decode_header(last_answer_->octets)->body);
    if (!response) broken("an answer does not decode");
    note(seid, response->usage_reports);
  }
  void note(Seid seid, const std::vector<pfcp::UsageReport>& reports) {
    if (const auto wrong = ledger_.told(seid, reports)) broken(*wrong);
  }

  static bool shrunk(const Snapshot& before, const Snapshot& after) {
    return after.installed.size() < before.installed.size() &&
           std::ranges::all_of(after.sessions, [&](const auto& entry) {
             const auto at = before.sessions.find(entry.first);
             return at != before.sessions.end() && at->second == entry.second;
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
    const auto cached = up_.counters()[kRepeatsAnswered].value;
    const Output output = up_.on_datagram(now_, last_from_, last_);
    take(output);
    const bool from_cache = up_.counters()[kRepeatsAnswered].value != cached;
    if (!from_cache) {  // forgotten in the meantime, and served anew
      last_answer_.reset();
      return ledger_.give_up();
    }
    if (!(before == snapshot())) broken("a repeated request has changed something");
    // That of an Association Setup is shorter the second time.
    const bool same = frame->header.type != MessageType::AssociationSetupRequest;
    if (same && last_answer_ &&
        std::ranges::find(output.send, *last_answer_) == output.send.end()) {
      broken("a repeated request got another answer");
    }
  }

  void mutate() {
    if (last_.empty()) return;
    wire::Octets octets = last_;
    for (unsigned i = 1 + script_.below(4); i > 0; --i) script_.mutate(octets);
    // Mostly with a sequence number of its own and a length that fits, to get past the first gate.
    const bool mended = script_.below(8) != 0;
    if (mended) script_.mend(octets, ++sequence_);
    last_ = octets;
    last_from_ = peer(script_.octet());
    last_answer_.reset();
    ledger_.give_up();
    const Output output = up_.on_datagram(now_, last_from_, octets);
    std::size_t answers = 0;
    for (const auto& sent : output.send) answers += is_answer(sent) ? 1U : 0U;
    const auto header = upf::n4::read_header(octets);
    if (header && !header->follow_on) {
      if (answers > 1) broken("two answers to one message");
      if (mended && answers == 0 && must_be_answered(*header)) {
        broken("no answer to " + pfcp::describe(octets));
      }
    }
    take(output);
  }

  // 7.6.2: another version is answered unless it is an answer. 7.6.4: what nobody sends to a UP
  // function is not.
  static bool must_be_answered(const upf::n4::Header& header) {
    if (header.version != 1) return !pfcp::is_response(header.type);
    return upf::n4::is_request(header.type) && header.type != MessageType::SessionReportRequest;
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
    const std::uint64_t octets = script_.octet() * 10U;
    const rules::Pdr counting = pdr;
    if (plane_.offer(seid, pdr.id, octets) == upf::contract::Fate::Forwarded) {
      ledger_.counted(seid, counting, octets);
    }
    take(up_.on_plane_events(now_, plane_.take_events()));
  }

  void event() {
    const std::uint8_t last = static_cast<std::uint8_t>(1 + script_.below(2));
    switch (script_.below(8)) {
      case 0:
        plane_.raise(upf::dataplane::ErrorIndication{.teid = {0x2000U + script_.below(4)},
                                                     .peer = Ipv4{{10, 1, 0, last}}});
        break;
      case 1:
        plane_.raise(
            upf::dataplane::PathState{.peer = Ipv4{{10, 1, 0, last}}, .up = script_.flag()});
        break;
      case 2:
        plane_.raise(upf::dataplane::Overrun{});
        break;
      default:
        return act();
    }
    take(up_.on_plane_events(now_, plane_.take_events()));
  }

  // What an operator does.
  void act() {
    const Seid seid = any_seid();
    switch (script_.below(4)) {
      case 0: {
        const bool on = script_.flag();
        return take(up_.set_draining(now_, on, on));
      }
      case 1:
        take(up_.drop_association(now_, node(script_.octet())));
        return ledger_.forget_ended();
      default:
        if (!up_.sessions().contains(seid)) return;
        take(up_.release_session(now_, seid));
        if (!up_.sessions().contains(seid)) ledger_.ended(seid);
    }
  }

  void advance(std::chrono::milliseconds step) {
    now_.steady += step;
    now_.wall += step;
    take(up_.on_timer(now_));
    // A timer that is due again at once, and again, would keep the loop busy for ever.
    for (int i = 0; wake_at_ && *wake_at_ <= now_.steady; ++i) {
      if (i == 50) broken("the timer never comes to rest");
      take(up_.on_timer(now_));
    }
  }

  // Answers the oldest open request of the UP function, kindly or as the script says.
  void answer_oldest(bool kindly) {
    const auto sent = open_.front();
    open_.erase(open_.begin());
    const auto header = pfcp::decode_header(sent.octets)->header;
    const pfcp::Envelope envelope{.seid = header.seid, .sequence = header.sequence};
    wire::Octets octets;
    if (header.type == MessageType::SessionReportRequest) {
      return answer_report(sent, envelope, kindly);
    }
    if (header.type == MessageType::HeartbeatRequest) {
      const std::uint32_t life = kindly ? 0 : script_.below(3) + 1;
      octets = pfcp::encode(pfcp::HeartbeatResponse{.recovery_time_stamp = {life}}, envelope);
    } else {
      octets = pfcp::encode(
          pfcp::NodeReportResponse{.node_id = node(0), .cause = Cause::RequestAccepted}, envelope);
    }
    take(up_.on_datagram(now_, sent.to, octets));
  }

  void answer_report(const upf::n4::Datagram& sent, const pfcp::Envelope& envelope, bool kindly) {
    const auto frame = pfcp::decode_header(sent.octets);
    const auto report = pfcp::decode<pfcp::SessionReportRequest>(frame->body);
    if (!report) broken("a report of ours does not decode");
    auto response = pfcp::SessionReportResponse{.cause = Cause::RequestAccepted};
    if (!kindly) response = script_.report_response();
    const auto strays = up_.counters()[kStrayResponses].value;
    take(up_.on_datagram(now_, sent.to, pfcp::encode(response, envelope)));
    const bool taken = up_.counters()[kStrayResponses].value == strays &&
                       response.cause != Cause::NoEstablishedPfcpAssociation &&
                       response.cause != Cause::PfcpEntityInCongestion;
    if (!taken) return;
    const Seid cp =
        report->old_cp_f_seid ? report->old_cp_f_seid->seid : frame->header.seid.value_or(Seid{});
    if (const auto at = by_cp_.find(cp); at != by_cp_.end())
      note(at->second, report->usage_reports);
  }

  Seid any_seid() {
    const auto seids = plane_.seids();
    const unsigned choice = script_.below(16);
    if (seids.empty() || choice == 15) return {script_.octet()};
    return seids[choice % seids.size()];
  }

  [[nodiscard]] Snapshot snapshot() const { return Snapshot{up_, plane_}; }

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
    upf::fuzz::check_state(up_, plane_);
    if (up_.sessions().size() > 6) broken("more sessions than the limit");
    if (up_.associations().all().size() > 3) broken("more associations than the limit");
    check_ends();
  }

  // An association that is gone, or that a new life began of, takes what is owed with it.
  void check_ends() {
    std::map<pfcp::NodeId, std::uint32_t> peers;
    for (const auto& [node, association] : up_.associations().all()) {
      peers[node] = association.recovery.seconds;
    }
    if (peers != peers_) ledger_.forget_ended();
    peers_ = peers;
    ledger_.forget_gone([&](Seid seid) { return up_.sessions().contains(seid); });
  }

  // Their places in what UpFunction::counters() returns.
  static constexpr std::size_t kStrayResponses = 4;
  static constexpr std::size_t kRepeatsAnswered = 7;

  Script script_;
  upf::contract::FakePlane plane_;
  UpFunction up_{settings(), plane_};
  Now now_{.wall = upf::WallTime{std::chrono::seconds{1'700'000'000}}};
  std::uint32_t sequence_{};
  wire::Octets last_{};
  SocketAddress last_from_{};
  std::optional<upf::n4::Datagram> last_answer_{};
  UsageLedger ledger_{};
  std::map<pfcp::NodeId, std::uint32_t> peers_{};
  std::map<Seid, Seid> by_cp_{};  ///< CP F-SEID's to ours
  std::uint64_t cp_seids_{0x1000};
  std::vector<upf::n4::Datagram> open_{};
  std::optional<upf::TimePoint> wake_at_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World{Script{{data, size}}}.run();
  return 0;
}

#include "src/control/core.hpp"

#include <algorithm>
#include <utility>

namespace upf::control {
namespace {

pfcp::NodeId node_id_of(const std::string& text) {
  if (const auto ip = parse_ip(text)) {
    if (const auto* v4 = std::get_if<Ipv4>(&*ip)) return {*v4};
    return {std::get<Ipv6>(*ip)};
  }
  return {text};
}

n4::Endpoint::Settings endpoint_settings(const Settings& settings) {
  n4::Endpoint::Settings result;
  result.retransmit_after = settings.retransmit_after;
  result.max_retransmissions = settings.max_retransmissions;
  result.known.octets = settings.limits.answer_cache_octets;
  result.first_sequence = settings.first_sequence;
  return result;
}

session::Settings session_settings(session::Settings settings, const dataplane::DataPlane& plane) {
  settings.ipv6 = plane.capabilities().ipv6;
  settings.framed_routing = plane.capabilities().framed_routing;
  return settings;
}

// After this long a report that nobody answered is sent again, if the peer isn't heard before.
constexpr std::chrono::seconds kReportRetry{30};

}  // namespace

std::string owner_of(const pfcp::NodeId& node) {
  constexpr std::size_t kTypeAndLength = 4;
  const wire::Octets octets = pfcp::encode(node);
  return {octets.begin() + kTypeAndLength, octets.end()};
}

std::optional<pfcp::NodeId> node_of(const std::string& owner) {
  const wire::Octets octets{owner.begin(), owner.end()};
  const auto node = pfcp::decode<pfcp::NodeId>(octets);
  if (!node) return std::nullopt;
  return *node;
}

std::string ue_address_of(const session::Session& session) {
  std::vector<std::string> seen;
  const auto add = [&](std::string text) {
    if (std::ranges::find(seen, text) == seen.end()) seen.push_back(std::move(text));
  };
  for (const rules::Pdr& pdr : session.rules.pdrs) {
    for (const rules::UeAddress& address : pdr.ue_addresses) {
      if (address.ipv4) add(to_string(*address.ipv4));
      if (address.ipv6) add(to_string(*address.ipv6));
    }
  }
  std::string text;
  for (const std::string& one : seen) text += (text.empty() ? "" : " ") + one;
  return text;
}

Core::Core(Settings given, dataplane::DataPlane& to)
    : settings(std::move(given)),
      plane(to),
      node(node_id_of(settings.node_id)),
      recovery(pfcp::NtpTime::from(settings.recovery_time_stamp)),
      endpoint(endpoint_settings(settings)),
      associations({.limit = settings.limits.associations,
                    .heartbeat_interval = settings.heartbeat_interval,
                    .purge_after = settings.purge_after}),
      guard(settings.allow, settings.limits.requests_per_second_of_a_stranger,
            settings.limits.stranger_requests_per_second),
      load(settings.load_measure),
      random(settings.random),
      teids(settings.random),
      ue_addresses(settings.sessions.pools),
      sessions{.settings = settings.sessions,
               .store = store,
               .teids = teids,
               .random = random,
               .ue_addresses = &ue_addresses},
      reader([this](Seid seid, std::span<const UrrId> urrs) {
        auto readings = plane.read_usage(seid, urrs);
        return readings ? std::move(*readings) : std::vector<dataplane::Reading>{};
      }),
      reports(settings.limits.unsent_reports_per_session, kReportRetry) {
  settings.sessions = session_settings(settings.sessions, plane);
}

void Core::reconfigure(const Settings& to) {
  settings.retransmit_after = to.retransmit_after;
  settings.max_retransmissions = to.max_retransmissions;
  settings.heartbeat_interval = to.heartbeat_interval;
  settings.purge_after = to.purge_after;
  settings.peers = to.peers;
  settings.peer_retry = to.peer_retry;
  settings.allow = to.allow;
  settings.limits = to.limits;
  settings.audit = to.audit;
  settings.sessions.limits = to.sessions.limits;
  // Pools are only added, behind those that are there: addresses of the others are in use.
  for (std::size_t i = settings.sessions.pools.size(); i < to.sessions.pools.size(); ++i) {
    settings.sessions.pools.push_back(to.sessions.pools[i]);
    ue_addresses.add(to.sessions.pools[i]);
  }
  endpoint.set_retransmission(to.retransmit_after, to.max_retransmissions);
  associations.set_settings(now, {.limit = to.limits.associations,
                                  .heartbeat_interval = to.heartbeat_interval,
                                  .purge_after = to.purge_after});
  guard = Guard{to.allow, to.limits.requests_per_second_of_a_stranger,
                to.limits.stranger_requests_per_second};
}

void Core::begin(const Now& at) {
  now = at;
  out = {};
  serving = {};
  if (settings.clock) mark_at = began_at = settings.clock();
}

void Core::mark(std::chrono::nanoseconds Served::*stage) {
  if (!settings.clock) return;
  const TimePoint at = settings.clock();
  serving.*stage += at - mark_at;
  mark_at = at;
}

void Core::answer_octets(const n4::Request& request, wire::Octets octets) {
  out.send.push_back(endpoint.answer(request.key, std::move(octets)));
  mark(&Served::answer);
  serving.type = request.key.type;
  serving.peer = request.key.peer;
  out.served.push_back(std::exchange(serving, {}));
}

void Core::log(LogRecord record) {
  if (!wants(record.level)) return;
  if (settings.clock && !record.procedure.empty()) record.took = settings.clock() - began_at;
  out.log.push_back(std::move(record));
}

Output Core::finish() {
  load.set_sessions(store.size(), settings.sessions.limits.sessions);
  if (settings.clock) load.served(now.steady, settings.clock() - began_at);
  wake_by(endpoint.wake_at());
  wake_by(associations.wake_at());
  wake_by(usage.wake_at());
  // With no room for another request, the next answer or time-out is what to wait for.
  if (endpoint.can_request()) wake_by(reports.wake_at());
  return std::exchange(out, {});
}

void Core::wake_by(std::optional<TimePoint> at) {
  if (at && (!out.wake_at || *at < *out.wake_at)) out.wake_at = at;
}

void Core::log_session(LogRecord::Level level, const session::Session& session,
                       std::string procedure, std::string text, std::string peer) {
  if (!wants(level)) return;
  log({.level = level,
       .text = std::move(text),
       .procedure = std::move(procedure),
       .seid = session.seid,
       .peer = std::move(peer),
       .ue_address = ue_address_of(session)});
}

}  // namespace upf::control

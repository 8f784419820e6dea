#include "src/app/ops/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/app/ops/views.hpp"
#include "src/config/kinds.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app::ops {
namespace {

constexpr std::size_t kPage = 100;
constexpr std::size_t kLargestPage = 1000;
/// Sessions looked at in one call: a filter that matches few must not hold up N4.
constexpr std::size_t kLookedAt = 1000;

http::Reply json(const Json& body, int status = 200) {
  return {status, "application/json",
          body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

http::Reply error(int status, std::string text) {
  return json(Json{{"error", std::move(text)}}, status);
}

/// `wrong`: empty if nothing is.
http::Reply condition(const std::string& wrong) {
  return json({{"ok", wrong.empty()}, {"reason", wrong}}, wrong.empty() ? 200 : 503);
}

http::Reply outcome(const Actions::Outcome& outcome, int refused = 409) {
  return outcome ? json(Json{{"done", *outcome}}) : error(refused, outcome.error());
}

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// "/v1/sessions/{seid}" against "/v1/sessions/0x5": the part in braces, or nothing.
std::optional<std::string> match(std::string_view pattern, std::string_view path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) {
    return pattern == path ? std::optional<std::string>{""} : std::nullopt;
  }
  const std::size_t close = pattern.find('}');
  const std::string_view tail = pattern.substr(close + 1);
  if (!path.starts_with(pattern.substr(0, brace)) || !path.ends_with(tail)) return {};
  if (path.size() <= brace + tail.size()) return {};
  const std::string_view id = path.substr(brace, path.size() - brace - tail.size());
  if (id.find('/') != std::string_view::npos) return {};
  return std::string{id};
}

/// Of the SMFs that a text stands for: a Node ID, or an address that SMFs speak from.
std::vector<std::string> node_ids_of(const std::string& text, const n4::Associations& all) {
  std::vector<std::string> nodes{text};
  if (const auto address = parse_ip(text)) {
    for (const n4::Association* association : all.at(*address)) {
      nodes.push_back(pfcp::to_text(association->node));
    }
  }
  return nodes;
}

struct Filter {
  std::optional<IpAddress> ue{};
  std::string dnn{};
  std::vector<std::string> peers{};  ///< Node IDs, any of them
  std::optional<Teid> teid{};
  std::optional<Seid> seid{};

  /// Whom to look at: where an index has somebody, nobody else.
  [[nodiscard]] std::vector<Seid> candidates(const session::Store& store) const {
    if (seid && store.contains(*seid)) return {*seid};
    if (ue) {
      if (auto found = store.of_ue(*ue); !found.empty()) return found;
    }
    return store.all();
  }

  [[nodiscard]] bool takes(const session::Session& session) const {
    if (seid && session.seid != *seid && session.cp.seid != *seid) return false;
    if (!peers.empty() && std::ranges::find(peers, owner_text(session.owner)) == peers.end()) {
      return false;
    }
    if (!dnn.empty() && session_row(session)["dnn"] != dnn) return false;
    if (teid && !has_teid(session)) return false;
    return !ue || has_ue(session);
  }

 private:
  [[nodiscard]] bool has_teid(const session::Session& session) const {
    const auto ours = [&](const rules::Pdr& pdr) {
      return pdr.f_teid && pdr.f_teid->teid == *teid;
    };
    const auto theirs = [&](const rules::Far& far) {
      return far.forwarding && far.forwarding->outer_header &&
             far.forwarding->outer_header->teid == *teid;
    };
    return std::ranges::any_of(session.rules.pdrs, ours) ||
           std::ranges::any_of(session.rules.fars, theirs);
  }
  [[nodiscard]] bool has_ue(const session::Session& session) const {
    return std::ranges::any_of(ue_addresses(session), [&](const std::string& text) {
      const auto prefix = parse_ip_prefix(text);
      if (!prefix || prefix->index() != ue->index()) return false;
      const auto* v4 = std::get_if<Ipv4Prefix>(&*prefix);
      return v4 != nullptr ? v4->contains(std::get<Ipv4>(*ue))
                           : std::get<Ipv6Prefix>(*prefix).contains(std::get<Ipv6>(*ue));
    });
  }
};

[[nodiscard]] Result<Filter, std::string> filter_of(const http::Call& call,
                                                    const n4::Associations& all) {
  Filter filter{.dnn = call.parameter("dnn")};
  if (const auto text = call.parameter("peer"); !text.empty()) {
    filter.peers = node_ids_of(text, all);
  }
  if (const auto ue = call.parameter("ue"); !ue.empty()) {
    filter.ue = parse_ip(ue);
    if (!filter.ue) return failure(std::string{"ue: an IPv4 or IPv6 address"});
  }
  if (const auto text = call.parameter("teid"); !text.empty()) {
    const auto teid = parse_seid(text);
    if (!teid || teid->value > 0xffffffff) {
      return failure(std::string{"teid: a number of 32 bits, 0x… or decimal"});
    }
    filter.teid = Teid{static_cast<std::uint32_t>(teid->value)};
  }
  if (const auto text = call.parameter("seid"); !text.empty()) {
    filter.seid = parse_seid(text);
    if (!filter.seid) return failure(std::string{"seid: a number, 0x… or decimal"});
  }
  return filter;
}

}  // namespace

constexpr Api::Entry Api::kEntries[] = {
    {{"GET", "/", "The status page", "", "", false, "404", "text/html"}, &Api::page},
    {{"GET", "/metrics", "Prometheus metrics", "", "", false, "", "text/plain"}, &Api::metrics},
    {{"GET", "/v1/openapi.json", "This document", "", "", false}, &Api::openapi},
    {{"GET", "/v1/status", "What is up, and totals", "", "Status", false}, &Api::status},
    {{"GET", "/v1/health", "200 while the data plane does what it is asked, else 503", "", "Health",
      false, "503"},
     &Api::health},
    {{"GET", "/v1/ready", "200 while new sessions are taken, else 503", "", "Health", false, "503"},
     &Api::ready},
    {{"GET", "/v1/associations", "SMFs and their health", "", "Associations", false},
     &Api::associations},
    {{"DELETE", "/v1/associations/{node_id}", "End an association and its sessions", "", "Done",
      true, "404"},
     &Api::drop},
    {{"GET", "/v1/paths", "GTP-U peers, whether they answer and how soon", "", "Paths", false},
     &Api::paths},
    {{"GET", "/v1/sessions",
      "Sessions in order of SEID, paged; those of 1000 are looked at in a call, so that also a "
      "part "
      "with none may have a `next`. `teid`: ours or the gNB's; `seid`: ours, else the SMF's",
      "ue, seid, dnn, peer, teid, limit, after", "Sessions", false, "400"},
     &Api::sessions},
    {{"GET", "/v1/sessions/{seid}",
      "One session: its rules, what is installed of them, what they counted", "", "Session", false,
      "400 404"},
     &Api::session},
    {{"DELETE", "/v1/sessions/{seid}", "End a session; the SMF is told", "", "Done", true,
      "400 404"},
     &Api::release},
    {{"GET", "/v1/pools", "Address pools of the data networks", "", "Pools", false}, &Api::pools},
    {{"GET", "/v1/features", "What the data plane can do", "", "Features", false}, &Api::features},
    {{"GET", "/v1/config", "The configuration in force", "", "Config", false}, &Api::config},
    {{"GET", "/v1/refusals", "The last refused requests, newest first", "", "Refusals", false},
     &Api::refusals},
    {{"GET", "/v1/counters", "The data plane's counters", "", "Counters", false}, &Api::counters},
    {{"POST", "/v1/log", "Set the log level", "level*", "Done", true, "400"}, &Api::set_level},
    {{"POST", "/v1/reload", "Read the configuration again", "", "Done", true, "409"}, &Api::reload},
    {{"POST", "/v1/drain",
      "Refuse new sessions and tell the SMFs by load control (with `end`: and ask them to release "
      "their associations within 10 minutes, and stop once the last session is gone), or take new "
      "sessions again",
      "on*, end", "Done", true, "400"},
     &Api::drain},
    {{"POST", "/v1/audit", "Begin to compare intended and installed rules", "repair", "Done", true,
      "400 409"},
     &Api::audit},
    {{"GET", "/v1/audit", "The last audit, or the one that runs", "", "Audit", false},
     &Api::audit_state},
    {{"POST", "/v1/traces", "Follow a subscriber (UE address or SEID)", "target*, seconds",
      "Started", true, "400 409"},
     &Api::start_trace},
    {{"GET", "/v1/traces/{id}", "What happened since record `after`", "after", "Trace", true,
      "404"},
     &Api::trace},
    {{"DELETE", "/v1/traces/{id}", "Stop following", "", "Done", true, "404"},
     &Api::stop_following},
    {{"POST", "/v1/captures", "Capture a subscriber's N4 messages and packets",
      "target*, seconds, octets", "Started", true, "400 409"},
     &Api::start_capture},
    {{"GET", "/v1/captures/{id}", "The capture so far, pcapng", "", "", true, "404",
      "application/x-pcapng"},
     &Api::capture},
    {{"GET", "/v1/captures/{id}/state",
      "What the capture has and what it lacks: `left_out` for want of room (once it is `full`, "
      "user "
      "packets are neither taken nor counted any more), `lost` in the kernel",
      "", "CaptureState", true, "404"},
     &Api::capture_state},
    {{"DELETE", "/v1/captures/{id}", "Stop capturing", "", "Done", true, "404"},
     &Api::stop_following},
};

std::span<const Api::Entry> Api::entries() { return kEntries; }

std::span<const Route> routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> list;
    for (const auto& entry : Api::entries()) list.push_back(entry.route);
    return list;
  }();
  return all;
}

http::Reply Api::serve(const http::Call& call) {
  bool known_path = false;
  for (const Entry& entry : entries()) {
    const auto id = match(entry.route.path, call.path);
    if (!id) continue;
    known_path = true;
    if (entry.route.method != call.method) continue;
    if (entry.route.acts && !call.privileged) {
      return error(403, "only root and the daemon's own user, over the UNIX socket, may do this");
    }
    try {
      return (this->*entry.handler)(call, *id);
    } catch (const Json::exception& wrong) {
      // A mistake of ours in a view: the question goes unanswered, the daemon goes on.
      scene_.log.error("api", wrong.what(), {{"path", call.path}});
      return error(500, "a mistake in upf; please report it");
    }
  }
  if (known_path) return error(405, "not this method; see /v1/openapi.json");
  return error(404, "no such thing; see /v1/openapi.json");
}

http::Reply Api::page(const http::Call&, const std::string&) {
  if (!scene_.config.api.page) return error(404, "the status page is off (api.page)");
  return {200, "text/html; charset=utf-8", std::string{status_page()}};
}

http::Reply Api::metrics(const http::Call&, const std::string&) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(scene_, session_labels_)};
}

http::Reply Api::openapi(const http::Call&, const std::string&) {
  return {200, "application/json", openapi_document(scene_.version)};
}

http::Reply Api::status(const http::Call&, const std::string&) { return json(status_view(scene_)); }

http::Reply Api::health(const http::Call&, const std::string&) {
  return condition(scene_.plane.fault());
}
http::Reply Api::ready(const http::Call&, const std::string&) {
  return condition(scene_.not_ready());
}

http::Reply Api::associations(const http::Call&, const std::string&) {
  return json(associations_view(scene_));
}

http::Reply Api::paths(const http::Call&, const std::string&) { return json(paths_view(scene_)); }

http::Reply Api::sessions(const http::Call& call, const std::string&) {
  const auto filter = filter_of(call, scene_.control.associations());
  if (!filter) return error(400, filter.error());
  std::size_t limit = kPage;
  if (const auto text = call.parameter("limit"); !text.empty()) {
    const auto number = number_of(text);
    if (!number || *number < 1 || *number > kLargestPage) return error(400, "limit: 1 to 1000");
    limit = *number;
  }
  std::uint64_t after = 0;
  if (const auto text = call.parameter("after"); !text.empty()) {
    const auto seid = parse_seid(text);
    if (!seid) return error(400, "after: a SEID");
    after = seid->value;
  }
  const session::Store& store = scene_.control.sessions();
  std::vector<Seid> seids = filter->candidates(store);
  std::erase_if(seids, [&](Seid seid) { return seid.value <= after; });
  const bool more = seids.size() > kLookedAt;
  if (more) {
    std::ranges::nth_element(seids, seids.begin() + kLookedAt);
    seids.resize(kLookedAt);
  }
  std::ranges::sort(seids);
  Json list = Json::array();
  Json next = nullptr;
  for (const Seid seid : seids) {
    const session::Session session = *store.find(seid);
    if (filter->takes(session)) list.push_back(session_row(session));
    if (seid == seids.back() ? more : list.size() >= limit) {
      next = seid_text(seid);
      break;
    }
  }
  return json({{"total", store.size()}, {"next", next}, {"sessions", list}});
}

http::Reply Api::session(const http::Call& call, const std::string& id) {
  const auto seid = parse_seid(id);
  if (!seid) return error(400, "seid: a number, 0x… or decimal");
  const auto session = scene_.control.sessions().find(*seid);
  if (!session) return error(404, "no such session");
  Json view = session_view(*session, scene_.plane.inspect(*seid));
  if (!call.privileged) {
    // Who is behind the address is nobody's business but the operator's.
    for (const char* key : {"imsi", "imei", "msisdn", "nai"}) view[key] = "";
  }
  return json(view);
}

http::Reply Api::config(const http::Call&, const std::string&) { return json(config_view(scene_)); }
http::Reply Api::features(const http::Call&, const std::string&) {
  return json(features_view(scene_));
}
http::Reply Api::pools(const http::Call&, const std::string&) { return json(pools_view(scene_)); }
http::Reply Api::refusals(const http::Call&, const std::string&) {
  return json(refusals_view(scene_));
}
http::Reply Api::counters(const http::Call&, const std::string&) {
  return json(counters_view(scene_));
}

http::Reply Api::set_level(const http::Call& call, const std::string&) {
  using Level = config::WordKind<config::LevelWords>;
  const auto level = Level::parse(call.parameter("level"));
  if (!level) return error(400, "level: " + Level::allowed());
  return outcome(actions_.set_level(*level));
}

http::Reply Api::reload(const http::Call&, const std::string&) {
  return outcome(actions_.reload());
}

http::Reply Api::drain(const http::Call& call, const std::string&) {
  const std::string on = call.parameter("on");
  if (on != "true" && on != "false") return error(400, "on: true or false");
  const std::string end = call.parameter("end");
  if (!end.empty() && end != "true" && end != "false") return error(400, "end: true or false");
  return outcome(actions_.set_draining(on == "true", end == "true"));
}

http::Reply Api::release(const http::Call&, const std::string& id) {
  const auto seid = parse_seid(id);
  if (!seid) return error(400, "seid: a number, 0x… or decimal");
  if (!scene_.control.sessions().contains(*seid)) return error(404, "no such session");
  return outcome(actions_.release_session(*seid));
}

http::Reply Api::drop(const http::Call&, const std::string& id) {
  return outcome(actions_.drop_association(id), 404);
}

http::Reply Api::audit(const http::Call& call, const std::string&) {
  const std::string repair = call.parameter("repair");
  if (!repair.empty() && repair != "true" && repair != "false") {
    return error(400, "repair: true or false");
  }
  return outcome(actions_.audit(repair == "true"));
}

http::Reply Api::audit_state(const http::Call&, const std::string&) {
  return json(audit_view(scene_));
}

http::Reply Api::follow(const http::Call& call, bool capture) {
  auto target = parse_target(call.parameter("target"));
  if (!target) return error(400, "target: a UE's address or a SEID");
  std::uint64_t seconds = 60;
  if (const auto text = call.parameter("seconds"); !text.empty()) {
    const auto number = number_of(text);
    if (!number || *number < 1 ||
        *number > static_cast<std::uint64_t>(Follower::kLongest.count())) {
      return error(400, fmt::format("seconds: 1 to {}", Follower::kLongest.count()));
    }
    seconds = *number;
  }
  std::uint64_t octets = 16U << 20U;
  if (const auto text = call.parameter("octets"); !text.empty()) {
    const auto number = number_of(text);
    if (!number || *number < 4096 || *number > Follower::kLargestCapture) {
      return error(400, fmt::format("octets: 4096 to {}", Follower::kLargestCapture));
    }
    octets = *number;
  }
  const auto started =
      actions_.follow(std::move(*target), capture, octets, std::chrono::seconds{seconds});
  if (!started) return error(409, started.error());
  return json({{"id", started->id}, {"seconds", seconds}, {"warning", started->warning}});
}

http::Reply Api::start_trace(const http::Call& call, const std::string&) {
  return follow(call, false);
}
http::Reply Api::start_capture(const http::Call& call, const std::string&) {
  return follow(call, true);
}

const Following* Api::following_of(const std::string& id) const {
  const auto number = number_of(id);
  return number ? follower_.find(static_cast<unsigned>(*number)) : nullptr;
}

http::Reply Api::trace(const http::Call& call, const std::string& id) {
  const Following* following = following_of(id);
  if (following == nullptr) return error(404, "no such trace; it may be over");
  const std::uint64_t after = number_of(call.parameter("after")).value_or(0);
  Json records = Json::array();
  for (const TraceRecord& record : following->records) {
    if (record.number <= after) continue;
    records.push_back({{"number", record.number},
                       {"time", time_text(record.at)},
                       {"kind", record.kind},
                       {"text", record.text}});
    if (records.size() >= 200) break;
  }
  return json({{"target", following->target.text}, {"records", records}});
}

http::Reply Api::capture(const http::Call&, const std::string& id) {
  const Following* following = following_of(id);
  if (following == nullptr) return error(404, "no such capture; it may be over");
  return {200, "application/x-pcapng", following->capture.octets()};
}

http::Reply Api::capture_state(const http::Call&, const std::string& id) {
  const Following* following = following_of(id);
  if (following == nullptr) return error(404, "no such capture; it may be over");
  const Pcapng& capture = following->capture;
  return json({{"octets", capture.octets().size()},
               {"packets", capture.packets()},
               {"full", capture.full()},
               {"left_out", capture.left_out()},
               {"lost", following->lost}});
}

http::Reply Api::stop_following(const http::Call&, const std::string& id) {
  const auto number = number_of(id);
  if (!number || !follower_.stop(static_cast<unsigned>(*number))) {
    return error(404, "no such trace or capture; it may be over");
  }
  return json({{"done", "stopped"}});
}

}  // namespace upf::app::ops

#include "src/app/ops/views.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ie_type.hpp"
#include "upf/runtime/loop.hpp"

namespace upf::app::ops {
namespace {

double seconds_since(TimePoint then) {
  return std::chrono::duration<double>(runtime::now().steady - then).count();
}

void put(std::vector<std::string>& all, std::string text) {
  if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
}

/// "UP Function Features{ ftup empu }" as the names of TS 29.244 Table 8.2.25-1.
Json names_of(const pfcp::UpFunctionFeatures& features) {
  const std::string text = pfcp::to_string(features);
  Json names = Json::array();
  std::istringstream words{text.substr(text.find('{') + 1)};
  for (std::string word; words >> word && word != "}";) {
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    names.push_back(word);
  }
  return names;
}

}  // namespace

std::string seid_text(Seid seid) { return fmt::format("{:#018x}", seid.value); }

std::optional<Seid> parse_seid(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t value{};
  const auto [stop, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return {};
  return Seid{value};
}

std::string owner_text(const std::string& owner) {
  if (owner.empty()) return {};
  const std::string value = owner.substr(1);
  switch (owner[0] & 0x0f) {
    case 0: {
      Ipv4 ip;
      if (value.size() != ip.octets.size()) return {};
      std::ranges::copy(value, ip.octets.begin());
      return to_string(ip);
    }
    case 1: {
      Ipv6 ip;
      if (value.size() != ip.octets.size()) return {};
      std::ranges::copy(value, ip.octets.begin());
      return to_string(ip);
    }
    default: {
      // Labels, each behind its length (RFC 1035 3.1).
      std::string name;
      for (std::size_t at = 0; at < value.size();) {
        const auto length = static_cast<unsigned char>(value[at]);
        name += (name.empty() ? "" : ".") + value.substr(at + 1, length);
        at += 1U + length;
      }
      return name;
    }
  }
}

std::string time_text(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)));
}

std::vector<std::string> ue_addresses(const session::Session& session) {
  std::vector<std::string> all;
  for (const auto& pdr : session.rules.pdrs) {
    for (const auto& ue : pdr.ue_addresses) {
      if (ue.ipv4) put(all, to_string(*ue.ipv4));
      if (ue.ipv6) put(all, to_string(*ue.ipv6));
    }
  }
  return all;
}

Json status_view(const Scene& scene) {
  const auto& totals = scene.plane.totals();
  const auto& n4 = scene.meter.totals();
  std::size_t up = 0;
  for (const auto& [node, association] : scene.control.associations().all()) {
    up += association.reachable ? 1U : 0U;
  }
  std::uint64_t packets[2]{};
  std::uint64_t octets[2]{};
  std::uint64_t drops = 0;
  Json reasons = Json::object();
  for (const auto& counter : scene.plane.counters()) {
    if (counter.name == "uplink_packets") packets[0] = counter.value;
    if (counter.name == "downlink_packets") packets[1] = counter.value;
    if (counter.name == "uplink_octets") octets[0] = counter.value;
    if (counter.name == "downlink_octets") octets[1] = counter.value;
    if (counter.name != "dropped_packets" || counter.value == 0) continue;
    drops += counter.value;
    reasons[counter.label] = counter.value;
  }
  return {{"version", scene.version},
          {"node_id", scene.config.pfcp.node_id.text},
          {"description", scene.config.description},
          {"n4", to_string(scene.n4)},
          {"forwarder", scene.plane.capabilities().name},
          {"started", time_text(scene.started.wall)},
          {"uptime_seconds", seconds_since(scene.started.steady)},
          {"ready", scene.not_ready().empty()},
          {"draining", scene.draining},
          {"fault", scene.plane.fault()},
          {"associations", scene.control.associations().all().size()},
          {"associations_up", up},
          {"sessions", scene.control.sessions().size()},
          {"sessions_established", totals.established},
          {"sessions_ended", totals.ended},
          {"pfcp", {{"received", n4.received}, {"sent", n4.sent}, {"refused", n4.refused}}},
          {"uplink", {{"packets", packets[0]}, {"octets", octets[0]}}},
          {"downlink", {{"packets", packets[1]}, {"octets", octets[1]}}},
          {"drops", drops},
          {"drops_by_reason", reasons}};
}

Json associations_view(const Scene& scene) {
  Json list = Json::array();
  for (const auto& [node, association] : scene.control.associations().all()) {
    Json addresses = Json::array();
    for (const auto& ip : association.addresses) addresses.push_back(to_string(ip));
    list.push_back({{"node_id", pfcp::to_text(node)},
                    {"peer", to_string(association.peer)},
                    {"addresses", addresses},
                    {"up", association.reachable},
                    {"releasing", association.releasing},
                    {"age_seconds", seconds_since(association.since)},
                    {"last_heard_seconds", seconds_since(association.last_heard)},
                    {"smf_set", association.smf_set}});
  }
  return {{"associations", list}};
}

Json paths_view(const Scene& scene) {
  Json list = Json::array();
  for (const auto& path : scene.plane.paths()) {
    Json entry{{"peer", to_string(path.peer)}, {"up", path.up}, {"tunnels", path.tunnels}};
    entry["round_trip_ms"] = nullptr;
    if (path.round_trip) {
      entry["round_trip_ms"] = std::chrono::duration<double, std::milli>(*path.round_trip).count();
    }
    list.push_back(std::move(entry));
  }
  return {{"paths", list}};
}

Json config_view(const Scene& scene) {
  Json keys = Json::object();
  // At the end, unlooked for: a rules file may have many keys.
  auto& object = keys.get_ref<Json::object_t&>();
  for (auto& [key, value] : config::describe(scene.config)) object.emplace_back(key, value);
  return {{"path", scene.config_path}, {"config", std::move(keys)}};
}

Json features_view(const Scene& scene) {
  const auto& can = scene.plane.capabilities();
  return {{"up_function", names_of(scene.control.features())},
          {"forwarder", can.name},
          {"ipv6", can.ipv6},
          {"outer_ipv6", can.outer_ipv6},
          {"buffering", can.buffering},
          {"end_marker", can.end_marker},
          {"framed_routing", can.framed_routing},
          {"quota_action", can.quota_action},
          {"cp_function", can.cp_function}};
}

Json pools_view(const Scene& scene) {
  Json list = Json::array();
  for (const auto& dnn : scene.config.dnn_list) {
    list.push_back({{"dnn", dnn.dnn}, {"cidr", to_string(dnn.cidr)}, {"nat", dnn.natifname}});
  }
  return {{"pools", list}};
}

Json refusals_view(const Scene& scene) {
  Json list = Json::array();
  for (const auto& record : scene.meter.refusals()) {
    const session::Refusal& why = record.refusal;
    Json entry{{"time", time_text(record.at)},
               {"peer", to_string(record.peer)},
               {"request", pfcp::to_string(record.type)},
               {"cause", static_cast<unsigned>(why.cause)},
               {"reason", session::to_string(why)},
               {"peer_seid", seid_text(record.peer_seid)}};
    if (why.offending_ie) entry["offending_ie"] = pfcp::to_string(*why.offending_ie);
    if (why.failed_rule) entry["failed_rule"] = session::to_string(*why.failed_rule);
    list.push_back(std::move(entry));
  }
  return {{"refusals", list}};
}

Json counters_view(const Scene& scene) {
  Json list = Json::array();
  for (const auto& counter : scene.plane.counters()) {
    list.push_back({{"name", counter.name}, {"label", counter.label}, {"value", counter.value}});
  }
  return {{"counters", list}};
}

Json audit_view(const Scene& scene) {
  const control::AuditState& state = scene.control.audit();
  const control::AuditPass& pass = state.pass;
  constexpr std::string_view kReasons[] = {"start", "asked", "background"};
  constexpr std::string_view kKinds[] = {"missing", "different", "foreign"};
  Json drifts = Json::array();
  for (const dataplane::Drift& drift : pass.drifts) {
    drifts.push_back({{"kind", kKinds[static_cast<std::size_t>(drift.kind)]},
                      {"seid", seid_text(drift.seid)},
                      {"what", drift.what},
                      {"repaired", drift.repaired}});
  }
  const bool over = state.passes != 0 && !pass.running;
  return {{"running", pass.running},
          {"reason", kReasons[static_cast<std::size_t>(pass.reason)]},
          {"repair", pass.repair},
          {"began", time_text(pass.began)},
          {"ended", over ? Json(time_text(pass.ended)) : Json()},
          {"error", pass.error},
          {"sessions", pass.sessions},
          {"of_sessions", pass.of_sessions},
          {"rules", pass.rules},
          {"drift",
           {{"missing", pass.drift[0]}, {"different", pass.drift[1]}, {"foreign", pass.drift[2]}}},
          {"repaired", pass.repaired},
          {"drifts", drifts},
          {"passes", state.passes},
          {"failed_passes", state.failed_passes}};
}

}  // namespace upf::app::ops

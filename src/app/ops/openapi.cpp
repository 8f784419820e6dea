#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/ops/api.hpp"

// The document is made from the routes, so that neither has what the other hasn't. The schemas are
// closed (additionalProperties: false): tests/e2e/test_operator.py provokes every answer that it
// names and validates it.
namespace upf::app::ops {
namespace {

using Json = nlohmann::ordered_json;

/// A shorthand for closed objects: {"name": "string", "n": "integer", "list": ["Row"], "o":
/// "Row?"}. Words that aren't a JSON type name another schema; "?" allows null; "*" allows
/// anything.
constexpr const char* kSchemas = R"json({
  "Error": {"error": "string"},
  "Done": {"done": "string"},
  "Health": {"ok": "boolean", "reason": "string"},
  "Started": {"id": "integer", "seconds": "integer", "warning": "string"},
  "Traffic": {"packets": "integer", "octets": "integer"},
  "Pfcp": {"received": "integer", "sent": "integer", "refused": "integer"},
  "Status": {
    "version": "string", "node_id": "string", "description": "string", "n4": "string",
    "forwarder": "string", "started": "string", "uptime_seconds": "number", "ready": "boolean",
    "draining": "boolean", "fault": "string", "associations": "integer", "associations_up": "integer",
    "sessions": "integer", "sessions_established": "integer", "sessions_ended": "integer",
    "pfcp": "Pfcp", "uplink": "Traffic", "downlink": "Traffic", "drops": "integer",
    "drops_by_reason": "*"
  },
  "Association": {
    "node_id": "string", "peer": "string", "addresses": ["string"], "up": "boolean",
    "releasing": "boolean", "age_seconds": "number", "last_heard_seconds": "number",
    "smf_set": "string"
  },
  "Associations": {"associations": ["Association"]},
  "Path": {"peer": "string", "up": "boolean", "tunnels": "integer", "round_trip_ms": "number?"},
  "Paths": {"paths": ["Path"]},
  "SessionRow": {
    "seid": "string", "ue": ["string"], "dnn": "string", "node_id": "string",
    "tunnels": ["string"], "state": "string", "pdrs": "integer", "fars": "integer",
    "qers": "integer", "urrs": "integer"
  },
  "Sessions": {"total": "integer", "next": "string?", "sessions": ["SessionRow"]},
  "Amount": {"total": "integer!", "uplink": "integer!", "downlink": "integer!"},
  "Rate": {"uplink_kbps": "integer", "downlink_kbps": "integer"},
  "Counted": {
    "uplink_octets": "integer", "downlink_octets": "integer", "uplink_packets": "integer",
    "downlink_packets": "integer"
  },
  "Pdr": {
    "id": "integer", "precedence": "integer", "source": "string", "network": "string",
    "f_teid": "string!", "ue": ["string"], "filters": ["string"], "qfis": ["integer"],
    "far": "integer", "qers": ["integer"], "urrs": ["integer"], "installed": ["string"]
  },
  "Far": {
    "id": "integer", "action": "string", "bar": "integer!", "destination": "string!",
    "network": "string!", "tunnel": "string!", "installed": ["string"]
  },
  "Qer": {
    "id": "integer", "uplink_open": "boolean", "downlink_open": "boolean", "mbr": "Rate?",
    "gbr": "Rate?", "qfi": "integer!", "installed": ["string"]
  },
  "Urr": {
    "id": "integer", "measures_volume": "boolean", "measures_duration": "boolean",
    "volume_threshold": "Amount?", "volume_quota": "Amount?", "period_seconds": "integer!",
    "time_threshold_seconds": "integer!", "time_quota_seconds": "integer!", "counted": "Counted!",
    "installed": ["string"]
  },
  "Bar": {"id": "integer", "delay_ms": "integer", "suggested_packets": "integer!"},
  "Session": {
    "seid": "string", "ue": ["string"], "dnn": "string", "node_id": "string",
    "tunnels": ["string"], "state": "string", "pdrs": ["Pdr"], "fars": ["Far"], "qers": ["Qer"],
    "urrs": ["Urr"], "bars": ["Bar"], "in_plane": "boolean", "unmatched": ["string"],
    "waiting_packets": "integer", "cp_seid": "string", "cp_address": "string", "s_nssai": "string", "imsi": "string", "imei": "string", "msisdn": "string", "nai": "string",
    "interface_types": "string"
  },
  "Pool": {"dnn": "string", "cidr": "string", "nat": "string"},
  "Pools": {"pools": ["Pool"]},
  "Features": {
    "up_function": ["string"], "forwarder": "string", "ipv6": "boolean", "outer_ipv6": "boolean", "buffering": "boolean",
    "end_marker": "boolean", "framed_routing": "boolean", "quota_action": "boolean",
    "cp_function": "boolean"
  },
  "Config": {"path": "string", "config": "*"},
  "Refusal": {
    "time": "string", "peer": "string", "request": "string", "cause": "integer",
    "reason": "string", "peer_seid": "string", "offending_ie": "string!", "failed_rule": "string!"
  },
  "Refusals": {"refusals": ["Refusal"]},
  "DriftCounts": {"missing": "integer", "different": "integer", "foreign": "integer"},
  "Drift": {"kind": "string", "seid": "string", "what": "string", "repaired": "boolean"},
  "Audit": {
    "running": "boolean", "reason": "string", "repair": "boolean", "began": "string",
    "ended": "string?", "error": "string", "sessions": "integer", "of_sessions": "integer",
    "rules": "integer", "drift": "DriftCounts", "repaired": "integer", "drifts": ["Drift"],
    "passes": "integer", "failed_passes": "integer"
  },
  "Counter": {"name": "string", "label": "string", "value": "integer"},
  "Counters": {"counters": ["Counter"]},
  "TraceRecord": {"number": "integer", "time": "string", "kind": "string", "text": "string"},
  "Trace": {"target": "string", "records": ["TraceRecord"]},
  "CaptureState": {
    "octets": "integer", "packets": "integer", "full": "boolean", "left_out": "integer",
    "lost": "integer"
  }
})json";

Json reference_to(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

/// "!" behind a word: the key may be absent.
Json schema_of(const Json& word) {
  if (word.is_array()) return {{"type", "array"}, {"items", schema_of(word[0])}};
  std::string text = word.get<std::string>();
  if (text == "*") return Json::object();
  if (text.ends_with('!')) text.pop_back();
  const bool may_be_null = text.ends_with('?');
  if (may_be_null) text.pop_back();
  const bool type = std::islower(static_cast<unsigned char>(text[0])) != 0;
  if (!may_be_null) return type ? Json{{"type", text}} : reference_to(text);
  if (type) return {{"type", {text, "null"}}};
  Json null_or_it = Json::array();
  null_or_it.push_back({{"type", "null"}});
  null_or_it.push_back(reference_to(text));
  return {{"anyOf", null_or_it}};
}

Json schemas() {
  Json all = Json::object();
  const Json shorthand = Json::parse(kSchemas);
  for (const auto& [name, keys] : shorthand.items()) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const auto& [key, word] : keys.items()) {
      properties[key] = schema_of(word);
      const bool optional = word.is_string() && word.get<std::string>().ends_with('!');
      if (!optional) required.push_back(key);
    }
    all[name] = {{"type", "object"},
                 {"properties", properties},
                 {"required", required},
                 {"additionalProperties", false}};
  }
  return all;
}

Json parameters_of(const Route& route) {
  Json list = Json::array();
  const std::string path{route.path};
  if (const std::size_t brace = path.find('{'); brace != std::string::npos) {
    list.push_back({{"name", path.substr(brace + 1, path.find('}') - brace - 1)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  }
  std::istringstream words{std::string{route.parameters}};
  for (std::string word; std::getline(words >> std::ws, word, ',');) {
    const bool required = word.ends_with('*');
    if (required) word.pop_back();
    list.push_back({{"name", word},
                    {"in", "query"},
                    {"required", required},
                    {"schema", {{"type", "string"}}}});
  }
  return list;
}

Json answer(std::string_view description, std::string_view media, std::string_view schema) {
  Json content = Json::object();
  if (!schema.empty()) content["schema"] = reference_to(std::string{schema});
  return {{"description", description}, {"content", {{std::string{media}, content}}}};
}

Json operation_of(const Route& route) {
  Json responses{{"200", answer("Good", route.media, route.schema)}};
  std::istringstream codes{std::string{route.errors} + (route.acts ? " 403" : "")};
  for (std::string code; codes >> code;) {
    responses[code] =
        answer("Not so; why", "application/json", code == "503" ? route.schema : "Error");
  }
  responses["default"] = answer("No answer now; why", "application/json", "Error");
  return {{"summary", route.summary},
          {"description", route.acts
                              ? "Privileged: root and the daemon's own user, over the UNIX socket."
                              : "Anyone."},
          {"parameters", parameters_of(route)},
          {"responses", responses}};
}

}  // namespace

std::string openapi_document(const std::string& version) {
  Json document{{"openapi", "3.1.0"},
                {"info",
                 {{"title", "kupf admin API"},
                  {"version", version},
                  {"description", "Asks and steers a running upf."}}}};
  Json paths = Json::object();
  for (const Route& route : routes()) {
    std::string method{route.method};
    for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    paths[std::string{route.path}][method] = operation_of(route);
  }
  document["paths"] = paths;
  document["components"] = {{"schemas", schemas()}};
  return document.dump(2) + "\n";
}

}  // namespace upf::app::ops

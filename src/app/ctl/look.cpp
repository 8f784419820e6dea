#include <fmt/chrono.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "src/app/ctl/command.hpp"

// Commands that look.
namespace upf::app::ctl {
namespace {

void print_list(const Json& list, const std::vector<Column>& columns) {
  fmt::print("{}", table(columns, list, width_of_output()));
}

/// As above, below something else; nothing if there is none.
void print_part(const Json& list, const std::vector<Column>& columns) {
  if (list.empty()) return;
  fmt::print("\n");
  print_list(list, columns);
}

void print_members(const Json& object) {
  Json list = Json::array();
  for (const auto& [key, value] : object.items()) list.push_back({{"key", key}, {"value", value}});
  print_list(list, {{"KEY", "key", Fit::Always}, {"VALUE", "value", Fit::Cut}});
}

int list_of(const Session& s, const char* what, const std::vector<Column>& columns) {
  Json json = s.call("GET", std::string{"/v1/"} + what);
  if (!s.print_as_data(json)) print_list(json[what], columns);
  return 0;
}

void print_head(const Json& session) {
  constexpr std::pair<const char*, const char*> kLines[] = {{"SEID", "seid"},
                                                            {"SMF's SEID", "cp_seid"},
                                                            {"SMF", "node_id"},
                                                            {"SMF's address", "cp_address"},
                                                            {"UE", "ue"},
                                                            {"DNN", "dnn"},
                                                            {"S-NSSAI", "s_nssai"},
                                                            {"IMSI", "imsi"},
                                                            {"IMEI", "imei"},
                                                            {"MSISDN", "msisdn"},
                                                            {"NAI", "nai"},
                                                            {"interfaces", "interface_types"},
                                                            {"tunnels", "tunnels"},
                                                            {"state", "state"},
                                                            {"waiting packets", "waiting_packets"}};
  for (const auto& [name, key] : kLines) {
    const std::string value = session.contains(key) ? printable(cell(session[key])) : "-";
    if (value != "-") fmt::print("{:<16} {}\n", name, value);
  }
}

/// What is open, and how fast it may go.
void print_qers(Json list) {
  for (Json& qer : list) {
    for (const std::string way : {"uplink", "downlink"}) {
      qer[way] = qer[way + "_open"].get<bool>() ? "open" : "closed";
    }
    for (const char* rate : {"mbr", "gbr"}) {
      if (qer[rate].is_null()) continue;
      const auto of = [&](const char* way) {
        return quantity(qer[rate][way].get<double>() * 1000, "bit/s");
      };
      qer[rate] = of("uplink_kbps") + " up, " + of("downlink_kbps") + " down";
    }
  }
  print_part(list, {{"QER", "id", Fit::Always},
                    {"QFI", "qfi"},
                    {"UPLINK", "uplink"},
                    {"DOWNLINK", "downlink"},
                    {"MBR", "mbr", Fit::Below},
                    {"GBR", "gbr", Fit::Below},
                    {"INSTALLED", "installed", Fit::Below}});
}

/// "1.00 GB in all, 500.00 MB up, 1h 0m" of a URR's threshold or quota.
Json limit_of(Json& urr, const std::string& kind) {
  Json parts = Json::array();
  constexpr std::pair<const char*, const char*> kWays[] = {
      {"total", "in all"}, {"uplink", "up"}, {"downlink", "down"}};
  for (const auto& [way, name] : kWays) {
    const Json& volume = urr["volume_" + kind];
    if (volume.contains(way)) parts.push_back(octets(volume[way]) + " " + name);
  }
  const std::string time = "time_" + kind + "_seconds";
  if (urr.contains(time)) parts.push_back(duration(urr[time].get<double>()));
  return parts;
}

/// What is to be measured, what was counted, what is armed.
void print_urrs(Json list) {
  for (Json& urr : list) {
    urr["threshold"] = limit_of(urr, "threshold");
    urr["quota"] = limit_of(urr, "quota");
    if (urr.contains("period_seconds")) {
      urr["period"] = duration(urr["period_seconds"].get<double>());
    }
    if (!urr.contains("counted")) continue;
    Json& sum = urr["counted"];
    for (const std::string way : {"uplink", "downlink"}) {
      urr[way] = octets(sum[way + "_octets"]) + " in " + counted(sum[way + "_packets"], "packet");
    }
  }
  print_part(list, {{"URR", "id", Fit::Always},
                    {"UPLINK", "uplink", Fit::Always},
                    {"DOWNLINK", "downlink", Fit::Always},
                    {"PERIOD", "period", Fit::Below},
                    {"THRESHOLD", "threshold", Fit::Below},
                    {"QUOTA", "quota", Fit::Below},
                    {"INSTALLED", "installed", Fit::Below}});
}

std::string time_of_now() {
  const auto now = std::chrono::system_clock::now();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

/// What went on between two answers of /v1/status.
Json rates(const Json& before, const Json& now) {
  const double seconds =
      now.at("uptime_seconds").get<double>() - before.at("uptime_seconds").get<double>();
  if (seconds <= 0) throw Stop{kUnreachable, "the daemon was restarted"};
  const auto rate = [&](const Json::json_pointer& count, double each = 1) {
    return std::llround((now.at(count).get<double>() - before.at(count).get<double>()) * each /
                        seconds);
  };
  using At = Json::json_pointer;
  return {{"time", time_of_now()},
          {"sessions", now.at("sessions")},
          {"uplink_bits_per_second", rate(At{"/uplink/octets"}, 8)},
          {"downlink_bits_per_second", rate(At{"/downlink/octets"}, 8)},
          {"uplink_packets_per_second", rate(At{"/uplink/packets"})},
          {"downlink_packets_per_second", rate(At{"/downlink/packets"})},
          {"drops_per_second", rate(At{"/drops"})},
          {"pfcp_received_per_second", rate(At{"/pfcp/received"})},
          {"pfcp_sent_per_second", rate(At{"/pfcp/sent"})}};
}

struct Figure {
  const char* heading;
  const char* key;
  std::size_t width;
};
/// 79 characters. A narrower terminal has the first of them.
constexpr Figure kFigures[] = {{"SESSIONS", "sessions", 8},
                               {"UP", "uplink_bits_per_second", 13},
                               {"DOWN", "downlink_bits_per_second", 13},
                               {"UP PKT/S", "uplink_packets_per_second", 8},
                               {"DN PKT/S", "downlink_packets_per_second", 8},
                               {"DROP/S", "drops_per_second", 7},
                               {"N4 IN/S", "pfcp_received_per_second", 7},
                               {"N4 OUT/S", "pfcp_sent_per_second", 8}};

template <class CellOf>
void print_figures(const CellOf& cell_of) {
  std::string line;
  const std::size_t room = width_of_output();
  for (const Figure& figure : kFigures) {
    const std::string next =
        fmt::format("{}{:>{}}", line.empty() ? "" : " ", cell_of(figure), figure.width);
    if (line.size() + next.size() > room) break;
    line += next;
  }
  fmt::print("{}\n", line);
}

void print_rates(const Json& tick) {
  print_figures([&](const Figure& figure) {
    const Json& value = tick[figure.key];
    const bool bits = std::string_view{figure.key}.ends_with("bits_per_second");
    return bits ? quantity(value.get<double>(), "bit/s") : cell(value);
  });
  std::fflush(stdout);
}

/// None: until it is interrupted.
std::optional<std::uint64_t> count_of(const Session& s) {
  const std::string text = s.option("count");
  if (text.empty()) return {};
  std::uint64_t count{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc{} || end != text.data() + text.size() || count == 0) {
    throw Stop{kUsage, "--count: a number from 1"};
  }
  return count;
}

}  // namespace

// Not ready is a refusal of the call, with the reason.
int ready(const Session& s) {
  const Json json = s.call("GET", "/v1/ready");
  if (!s.print_as_data(json)) fmt::print("ready\n");
  return 0;
}

int status(const Session& s) {
  Json json = s.call("GET", "/v1/status");
  if (s.print_as_data(json)) return 0;
  const auto traffic = [&](const char* way) {
    return counted(json[way]["packets"], "packet") + ", " + octets(json[way]["octets"]);
  };
  const std::string fault = json["fault"];
  const char* const state = !fault.empty()                 ? ", faulty: "
                            : json["draining"].get<bool>() ? ", draining"
                                                           : ", ready";
  std::vector<std::pair<std::string, std::string>> rows{
      {"upf", cell(json["version"]) + state + fault},
      {"node", cell(json["node_id"]) + " at " + cell(json["n4"])},
      {"forwarder", cell(json["forwarder"])},
      {"up for", duration(json["uptime_seconds"].get<double>())},
      {"associations",
       fmt::format("{} ({} up)", cell(json["associations"]), cell(json["associations_up"]))},
      {"sessions", fmt::format("{} ({} established, {} ended)", cell(json["sessions"]),
                               cell(json["sessions_established"]), cell(json["sessions_ended"]))},
      {"pfcp", fmt::format("{} received, {} sent, {} refused", cell(json["pfcp"]["received"]),
                           cell(json["pfcp"]["sent"]), cell(json["pfcp"]["refused"]))},
      {"uplink", traffic("uplink")},
      {"downlink", traffic("downlink")},
      {"drops", counted(json["drops"], "packet")}};
  for (const auto& [reason, count] : json["drops_by_reason"].items()) {
    rows.emplace_back("  " + reason, cell(count));
  }
  for (const auto& [name, value] : rows) fmt::print("{:<14} {}\n", name, value);
  return 0;
}

int sessions(const Session& s) {
  const std::string query = s.query({"ue", "seid", "dnn", "peer", "teid", "limit", "after"});
  Json json =
      s.option("after").empty() ? s.find_sessions(query) : s.call("GET", "/v1/sessions" + query);
  if (s.print_as_data(json)) return 0;
  print_list(json["sessions"], {{"SEID", "seid", Fit::Always},
                                {"UE", "ue", Fit::Always},
                                {"DNN", "dnn", Fit::Cut},
                                {"STATE", "state"},
                                {"SMF", "node_id", Fit::Cut},
                                {"TUNNELS", "tunnels", Fit::Cut},
                                {"PDR", "pdrs"},
                                {"QER", "qers"},
                                {"URR", "urrs"}});
  fmt::print("{} of {}\n", json["sessions"].size(), counted(json["total"], "session"));
  if (!json["next"].is_null()) fmt::print("more with --after {}\n", cell(json["next"]));
  return 0;
}

int session(const Session& s) {
  Json json =
      s.call("GET", "/v1/sessions/" + http::escaped(s.seid_of(s.word(0, "a SEID or UE address"))));
  if (s.print_as_data(json)) return 0;
  print_head(json);
  print_part(json["pdrs"], {{"PDR", "id", Fit::Always},
                            {"PREC", "precedence"},
                            {"FROM", "source"},
                            {"UE", "ue", Fit::Always},
                            {"F-TEID", "f_teid", Fit::Below},
                            {"FAR", "far"},
                            {"QERS", "qers"},
                            {"URRS", "urrs"},
                            {"FILTERS", "filters", Fit::Below},
                            {"INSTALLED", "installed", Fit::Below}});
  print_part(json["fars"], {{"FAR", "id", Fit::Always},
                            {"ACTION", "action"},
                            {"TO", "destination"},
                            {"TUNNEL", "tunnel", Fit::Below},
                            {"INSTALLED", "installed", Fit::Below}});
  print_qers(json["qers"]);
  print_urrs(json["urrs"]);
  print_part(json["bars"], {{"BAR", "id", Fit::Always},
                            {"DELAY ms", "delay_ms"},
                            {"PACKETS TO KEEP", "suggested_packets"}});
  if (!json["unmatched"].empty()) fmt::print("\n");
  for (const Json& rule : json["unmatched"]) {
    fmt::print("installed without a rule: {}\n", printable(cell(rule)));
  }
  if (!json["in_plane"].get<bool>()) fmt::print("\nThe data plane has no such session.\n");
  return 0;
}

int peers(const Session& s) {
  Json json = s.call("GET", "/v1/associations");
  json["paths"] = s.call("GET", "/v1/paths")["paths"];
  if (s.print_as_data(json)) return 0;
  for (Json& entry : json["associations"]) {
    entry["age"] = duration(entry["age_seconds"].get<double>());
    entry["heard"] = duration(entry["last_heard_seconds"].get<double>()) + " ago";
  }
  print_list(json["associations"], {{"SMF", "node_id", Fit::Cut},
                                    {"ADDRESS", "peer", Fit::Always},
                                    {"UP", "up", Fit::Always},
                                    {"AGE", "age"},
                                    {"HEARD", "heard"},
                                    {"SMF SET", "smf_set", Fit::Cut}});
  print_part(json["paths"], {{"GTP-U PEER", "peer", Fit::Always},
                             {"UP", "up", Fit::Always},
                             {"TUNNELS", "tunnels"},
                             {"ROUND TRIP ms", "round_trip_ms"}});
  return 0;
}

int refusals(const Session& s) {
  return list_of(s, "refusals",
                 {{"TIME", "time", Fit::Always},
                  {"PEER", "peer", Fit::Always},
                  {"REQUEST", "request", Fit::Cut},
                  {"CAUSE", "cause", Fit::Always},
                  {"REASON", "reason", Fit::Below},
                  {"IE", "offending_ie", Fit::Below},
                  {"RULE", "failed_rule", Fit::Below}});
}

int counters(const Session& s) {
  return list_of(
      s, "counters",
      {{"NAME", "name", Fit::Cut}, {"LABEL", "label", Fit::Cut}, {"VALUE", "value", Fit::Always}});
}

int features(const Session& s) {
  const Json json = s.call("GET", "/v1/features");
  if (!s.print_as_data(json)) print_members(json);
  return 0;
}

int pools(const Session& s) {
  return list_of(s, "pools",
                 {{"DNN", "dnn", Fit::Cut}, {"UES", "cidr", Fit::Always}, {"NAT", "nat"}});
}

int config_in_force(const Session& s) {
  const Json json = s.call("GET", "/v1/config");
  if (!s.print_as_data(json)) print_members(json["config"]);
  return 0;
}

int watch(const Session& s) {
  const auto count = count_of(s);
  Json before = s.call("GET", "/v1/status");
  for (std::uint64_t i = 0; !count || i < *count; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds{1});
    Json now = s.call("GET", "/v1/status");
    const Json tick = rates(before, now);
    before = std::move(now);
    if (s.print_as_record(tick)) continue;
    if (i % 20 == 0) print_figures([](const Figure& figure) { return figure.heading; });
    print_rates(tick);
  }
  return 0;
}

}  // namespace upf::app::ctl

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/app/ctl/command.hpp"

// Commands that look.
namespace upf::app::ctl {
namespace {

void print_pairs(const Json& object) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) rows.push_back({key, cell(value)});
  }
  fmt::print("{}", table({"KEY", "VALUE"}, rows));
}

void print_list(const Json& list, const std::vector<std::pair<const char*, const char*>>& columns) {
  std::vector<std::string> headings;
  for (const auto& [heading, key] : columns) headings.emplace_back(heading);
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : list) {
    std::vector<std::string> row;
    for (const auto& [heading, key] : columns) {
      row.push_back(entry.contains(key) ? cell(entry[key]) : "-");
    }
    rows.push_back(std::move(row));
  }
  fmt::print("{}", table(headings, rows));
}

int list_of(const Session& s, const char* what,
            const std::vector<std::pair<const char*, const char*>>& columns) {
  const Json json = s.get(std::string{"/v1/"} + what);
  if (!s.print_as_data(json)) print_list(json[what], columns);
  return 0;
}

/// URRs: what is to be measured, what was counted, what is armed.
void print_usage(Json list) {
  if (list.empty()) return;
  for (auto& urr : list) {
    if (!urr.contains("counted")) continue;
    for (const char* way : {"uplink", "downlink"}) {
      const std::string of{way};
      urr[of] =
          fmt::format("{} in {} packets", octets(urr["counted"][of + "_octets"].get<double>()),
                      cell(urr["counted"][of + "_packets"]));
    }
  }
  fmt::print("\n");
  print_list(list, {{"URR", "id"},
                    {"THRESHOLD", "volume_threshold"},
                    {"QUOTA", "volume_quota"},
                    {"UPLINK", "uplink"},
                    {"DOWNLINK", "downlink"},
                    {"INSTALLED", "installed"}});
}

/// How much a count grew, a second.
double rate(const Json& now, const Json& before, const char* way, const char* what,
            double seconds) {
  return (now[way][what].get<double>() - before[way][what].get<double>()) / seconds;
}

}  // namespace

int status(const Session& s) {
  const Json json = s.get("/v1/status");
  if (s.print_as_data(json)) return 0;
  const auto traffic = [&](const char* way) {
    return fmt::format("{} packets, {}", json[way]["packets"].get<std::uint64_t>(),
                       octets(json[way]["octets"].get<double>()));
  };
  std::vector<std::vector<std::string>> rows{
      {"upf", cell(json["version"]) + (json["draining"].get<bool>() ? ", draining" : ", ready")},
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
      {"drops", cell(json["drops"])}};
  for (const auto& [reason, count] : json["drops_by_reason"].items()) {
    rows.push_back({"  " + reason, cell(count)});
  }
  for (const auto& row : rows) fmt::print("{:<14} {}\n", row[0], row[1]);
  return 0;
}

int sessions(const Session& s) {
  const std::string query = s.query({"ue", "seid", "dnn", "peer", "teid", "limit", "after"});
  const Json json =
      s.option("after").empty() ? s.find_sessions(query) : s.get("/v1/sessions" + query);
  if (s.print_as_data(json)) return 0;
  print_list(json["sessions"], {{"SEID", "seid"},
                                {"UE", "ue"},
                                {"DNN", "dnn"},
                                {"SMF", "node_id"},
                                {"TUNNELS", "tunnels"},
                                {"STATE", "state"},
                                {"PDR", "pdrs"},
                                {"QER", "qers"},
                                {"URR", "urrs"}});
  fmt::print("{} of {}\n", json["sessions"].size(), cell(json["total"]));
  if (!json["next"].is_null()) fmt::print("more with --after {}\n", cell(json["next"]));
  return 0;
}

int session(const Session& s) {
  const Json json =
      s.get("/v1/sessions/" + http::escaped(s.seid_of(s.word(0, "a SEID or UE address"))));
  if (s.print_as_data(json)) return 0;
  Json head = json;
  for (const char* rules : {"pdrs", "fars", "qers", "urrs", "bars", "unmatched"}) head.erase(rules);
  print_pairs(head);
  fmt::print("\n");
  print_list(json["pdrs"], {{"PDR", "id"},
                            {"PREC", "precedence"},
                            {"FROM", "source"},
                            {"F-TEID", "f_teid"},
                            {"UE", "ue"},
                            {"FILTERS", "filters"},
                            {"FAR", "far"},
                            {"QERS", "qers"},
                            {"URRS", "urrs"},
                            {"INSTALLED", "installed"}});
  fmt::print("\n");
  print_list(json["fars"], {{"FAR", "id"},
                            {"ACTION", "action"},
                            {"TO", "destination"},
                            {"TUNNEL", "tunnel"},
                            {"INSTALLED", "installed"}});
  print_usage(json["urrs"]);
  for (const char* rules : {"qers", "bars"}) {
    if (!json[rules].empty()) fmt::print("\n{}:\n{}", rules, yaml(json[rules]));
  }
  if (!json["unmatched"].empty()) {
    fmt::print("\ninstalled without a rule:\n{}", yaml(json["unmatched"]));
  }
  if (!json["in_plane"].get<bool>()) fmt::print("\nThe data plane has no such session.\n");
  return 0;
}

int peers(const Session& s) {
  const Json json = s.get("/v1/associations");
  if (s.print_as_data(json)) return 0;
  Json list = json["associations"];
  for (auto& entry : list) {
    entry["age"] = duration(entry["age_seconds"].get<double>());
    entry["heard"] = duration(entry["last_heard_seconds"].get<double>()) + " ago";
  }
  print_list(list, {{"SMF", "node_id"},
                    {"ADDRESS", "peer"},
                    {"UP", "up"},
                    {"SINCE", "age"},
                    {"HEARD", "heard"},
                    {"SET", "smf_set"}});
  const Json paths = s.get("/v1/paths");
  if (paths["paths"].empty()) return 0;
  fmt::print("\n");
  print_list(paths["paths"], {{"GTP-U PEER", "peer"},
                              {"UP", "up"},
                              {"TUNNELS", "tunnels"},
                              {"ROUND TRIP ms", "round_trip_ms"}});
  return 0;
}

int refusals(const Session& s) {
  return list_of(s, "refusals",
                 {{"TIME", "time"},
                  {"PEER", "peer"},
                  {"REQUEST", "request"},
                  {"CAUSE", "cause"},
                  {"REASON", "reason"},
                  {"IE", "offending_ie"},
                  {"RULE", "failed_rule"}});
}

int counters(const Session& s) {
  return list_of(s, "counters", {{"NAME", "name"}, {"LABEL", "label"}, {"VALUE", "value"}});
}

int watch(const Session& s) {
  const std::string given = s.option("count");
  const long count = given.empty() ? -1 : std::atol(given.c_str());
  Json before = s.get("/v1/status");
  for (long i = 0; count < 0 || i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds{1});
    const Json now = s.get("/v1/status");
    const double seconds =
        now["uptime_seconds"].get<double>() - before["uptime_seconds"].get<double>();
    if (seconds <= 0) throw Stop{kUnreachable, "the daemon was restarted"};
    if (i % 20 == 0) {
      fmt::print("{:>8} {:>12} {:>12} {:>10} {:>10} {:>8} {:>8} {:>8}\n", "SESSIONS", "UP", "DOWN",
                 "UP PKT/S", "DN PKT/S", "DROP/S", "N4 IN/S", "N4 OUT/S");
    }
    fmt::print("{:>8} {:>10}/s {:>10}/s {:>10.0f} {:>10.0f} {:>8.0f} {:>8.0f} {:>8.0f}\n",
               cell(now["sessions"]), octets(rate(now, before, "uplink", "octets", seconds)),
               octets(rate(now, before, "downlink", "octets", seconds)),
               rate(now, before, "uplink", "packets", seconds),
               rate(now, before, "downlink", "packets", seconds),
               (now["drops"].get<double>() - before["drops"].get<double>()) / seconds,
               rate(now, before, "pfcp", "received", seconds),
               rate(now, before, "pfcp", "sent", seconds));
    std::fflush(stdout);
    before = now;
  }
  return 0;
}

}  // namespace upf::app::ctl

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>

#include "src/app/ctl/command.hpp"
#include "src/app/preview.hpp"
#include "upf/config/config.hpp"

// Commands that follow a subscriber, and those that change something.
namespace upf::app::ctl {
namespace {

volatile std::sig_atomic_t interrupted = 0;

int act(const Session& s, const std::string& method, const std::string& target) {
  auto json = s.call(method, target);
  if (!s.print_as_data(json)) fmt::print("{}\n", cell(json["done"]));
  return 0;
}

}  // namespace

int trace(const Session& s) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  const std::string& whom = s.word(0, "a UE address or SEID");
  const std::string seconds = s.option("seconds").empty() ? "3600" : s.option("seconds");
  Json started = s.call(
      "POST", "/v1/traces?target=" + http::escaped(whom) + "&seconds=" + http::escaped(seconds));
  const std::string path = "/v1/traces/" + cell(started["id"]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{started["seconds"]};
  fmt::print(stderr, "following {}; end with Ctrl-C\n", whom);
  std::uint64_t after = 0;
  while (interrupted == 0 && std::chrono::steady_clock::now() < end) {
    Json json = s.call("GET", path + fmt::format("?after={}", after));
    for (auto& record : json["records"]) {
      after = record["number"];
      if (s.format == "json") {
        fmt::print("{}\n", record.dump());
      } else {
        fmt::print("{} {:<6} {}\n", cell(record["time"]), cell(record["kind"]),
                   cell(record["text"]));
      }
    }
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
  }
  (void)http::fetch(s.server, "DELETE", path);
  return 0;
}

int capture(const Session& s) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  const std::string& whom = s.word(0, "a UE address or SEID");
  const std::string file = s.option("write").empty() ? "upf.pcapng" : s.option("write");
  const std::string seconds = s.option("seconds").empty() ? "60" : s.option("seconds");
  const std::string more = s.option("octets").empty() ? "" : "&octets=" + s.option("octets");
  Json started = s.call("POST", "/v1/captures?target=" + http::escaped(whom) +
                                    "&seconds=" + http::escaped(seconds) + more);
  const std::string path = "/v1/captures/" + cell(started["id"]);
  fmt::print(stderr, "capturing {} into {}; end with Ctrl-C\n", whom, file);
  // Fetched again and again: the daemon forgets a capture when its time is over.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{started["seconds"]};
  std::string octets_so_far;
  while (interrupted == 0 &&
         std::chrono::steady_clock::now() + std::chrono::milliseconds{500} < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
  }
  octets_so_far = s.fetch("GET", path);
  (void)http::fetch(s.server, "DELETE", path);
  std::ofstream out{file, std::ios::binary};
  out << octets_so_far;
  if (!out.flush()) throw Stop{kRefused, "can't write " + file};
  fmt::print("{}: {}\n", file, octets(octets_so_far.size()));
  return 0;
}

int drain(const Session& s) {
  const std::string how = s.words.empty() ? "on" : s.words[0];
  if (how == "off") return act(s, "POST", "/v1/drain?on=false");
  if (how == "stay") return act(s, "POST", "/v1/drain?on=true");
  if (how != "on") throw Stop{kUsage, "drain: on, stay or off"};
  return act(s, "POST", "/v1/drain?on=true&end=true");
}
int reload(const Session& s) { return act(s, "POST", "/v1/reload"); }

/// Begins an audit and waits for its end. What is left wrong makes the exit code 1.
int audit(const Session& s) {
  const bool repair = !s.option("repair").empty();
  (void)s.call("POST", std::string{"/v1/audit?repair="} + (repair ? "true" : "false"));
  Json json = s.call("GET", "/v1/audit");
  while (json["running"].get<bool>()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    json = s.call("GET", "/v1/audit");
  }
  const std::uint64_t found = json["drift"]["missing"].get<std::uint64_t>() +
                              json["drift"]["different"].get<std::uint64_t>() +
                              json["drift"]["foreign"].get<std::uint64_t>();
  const std::uint64_t left = found - json["repaired"].get<std::uint64_t>();
  const bool whole = json["error"].get<std::string>().empty();
  if (!s.print_as_data(json)) {
    const std::vector<Column> columns{{"KIND", "kind", Fit::Always},
                                      {"SESSION", "seid", Fit::Always},
                                      {"REPAIRED", "repaired", Fit::Always},
                                      {"RULE", "what", Fit::Below}};
    if (!json["drifts"].empty()) {
      fmt::print("{}\n", table(columns, json["drifts"], width_of_output()));
    }
    fmt::print("{} of {} read back: {} wrong, {} repaired\n", counted(json["rules"], "rule"),
               counted(json["sessions"], "session"), found, cell(json["repaired"]));
    if (!whole) fmt::print(stderr, "ended early: {}\n", cell(json["error"]));
  }
  return left == 0 && whole ? 0 : kRefused;
}

int log_level(const Session& s) {
  return act(s, "POST", "/v1/log?level=" + http::escaped(s.word(0, "a level")));
}
int release(const Session& s) {
  const std::string seid = s.seid_of(s.word(0, "a SEID or UE address"));
  return act(s, "DELETE", "/v1/sessions/" + http::escaped(seid));
}
int drop(const Session& s) {
  return act(s, "DELETE", "/v1/associations/" + http::escaped(s.word(0, "an SMF's Node ID")));
}

/// What is wrong with a file; and if a daemon runs, what would change.
int check(const Session& s) {
  const std::string& path = s.word(0, "a configuration file");
  const auto loaded = config::load(path);
  if (!loaded) {
    for (const auto& error : loaded.error()) {
      fmt::print(stderr, "{}\n", config::to_string(path, error));
    }
    return kRefused;
  }
  for (const auto& remark : remarks(path, *loaded)) fmt::print("{}\n", remark);
  fmt::print("{}: good\n", path);
  if (const auto differences = preview(s.server, loaded->config)) {
    fmt::print("{}", preview_text(*differences));
  }
  return 0;
}

}  // namespace upf::app::ctl

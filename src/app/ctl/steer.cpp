#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
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

/// A trace or capture that runs in the daemon, and ends there with this, also if the terminal is
/// closed or the reader of a pipe has enough.
class Following {
 public:
  Following(const Session& s, const std::string& kind, const std::string& query) : session_(s) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      std::signal(signal, [](int) { interrupted = 1; });
    }
    Json started = s.call("POST", "/v1/" + kind + query);
    path_ = "/v1/" + kind + "/" + cell(started["id"]);
    end_ = std::chrono::steady_clock::now() + std::chrono::seconds{started["seconds"]};
    warning_ = started.value("warning", "");
  }
  ~Following() { (void)http::fetch(session_.server, "DELETE", path_); }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::chrono::steady_clock::time_point end() const { return end_; }
  /// What the daemon can't follow, in words; empty: nothing.
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  const Session& session_;
  std::string path_{};
  std::string warning_{};
  std::chrono::steady_clock::time_point end_{};
};

/// Waits for so long, or until it is interrupted.
void wait_until(std::chrono::steady_clock::time_point end) {
  while (interrupted == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

/// Prints what happened behind record `after`; the last record's number. None: the trace is over.
std::optional<std::uint64_t> print_records(const Session& s, const std::string& path,
                                           std::uint64_t after) try {
  Json json = s.call("GET", path + fmt::format("?after={}", after));
  for (auto& record : json["records"]) {
    const std::uint64_t number = record["number"];
    if (number != after + 1) {
      fmt::print(stderr, "{} lost: more happened than the daemon keeps\n",
                 counted(number - after - 1, "record"));
    }
    after = number;
    if (s.print_as_record(record)) continue;
    fmt::print("{} {:<6} {}\n", cell(record["time"]), cell(record["kind"]),
               printable(cell(record["text"])));
  }
  std::fflush(stdout);
  return after;
} catch (const Stop& stop) {
  if (stop.code == kNotFound) return std::nullopt;
  throw;
}

/// Until the capture's time is nearly over (then the daemon forgets it), or nothing more fits.
void wait_for_capture(const Session& s, const Following& following) {
  constexpr std::chrono::milliseconds kEarly{500};
  const auto end = following.end() - kEarly;
  while (interrupted == 0 && std::chrono::steady_clock::now() < end) {
    if (s.call("GET", following.path() + "/state")["full"] == true) return;
    wait_until(std::min(end, std::chrono::steady_clock::now() + kEarly));
  }
}

/// What a capture hasn't got, in words.
std::vector<std::string> lacks_of(const Json& state) {
  std::vector<std::string> lacks;
  if (const std::uint64_t left_out = state["left_out"]; left_out != 0) {
    lacks.push_back(fmt::format("full: at least {} left out", counted(left_out, "item")));
  }
  if (const std::uint64_t lost = state["lost"]; lost != 0) {
    lacks.push_back(counted(lost, "packet") + " lost by the kernel");
  }
  return lacks;
}

Json remark_of(const config::Remark& remark) {
  return {
      {"key", remark.key}, {"line", remark.line}, {"column", remark.column}, {"text", remark.text}};
}

}  // namespace

int trace(const Session& s) {
  const std::string& whom = s.word(0, "a SEID or UE address");
  const std::string seconds = s.option("seconds").empty() ? "3600" : s.option("seconds");
  const Following following{
      s, "traces", "?target=" + http::escaped(whom) + "&seconds=" + http::escaped(seconds)};
  fmt::print(stderr, "following {}; end with Ctrl-C\n", whom);
  std::uint64_t after = 0;
  while (interrupted == 0 && std::chrono::steady_clock::now() < following.end()) {
    const auto last = print_records(s, following.path(), after);
    if (!last) return 0;
    const bool quiet = *last == after;
    after = *last;
    if (quiet) wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds{200});
  }
  (void)print_records(s, following.path(), after);  // what came since
  return 0;
}

int capture(const Session& s) {
  const std::string& whom = s.word(0, "a SEID or UE address");
  const std::string file = s.option("write").empty() ? "upf.pcapng" : s.option("write");
  const std::string seconds = s.option("seconds").empty() ? "60" : s.option("seconds");
  std::string query = "?target=" + http::escaped(whom) + "&seconds=" + http::escaped(seconds);
  if (const auto most = s.option("octets"); !most.empty()) {
    query += "&octets=" + http::escaped(most);
  }
  const Following following{s, "captures", query};
  // Before the time is spent on it; an older one stays until there is something in its place.
  if (!std::ofstream{file, std::ios::binary | std::ios::app}) {
    throw Stop{kRefused, "can't write " + file};
  }
  fmt::print(stderr, "capturing {} into {}; end with Ctrl-C\n", whom, file);
  if (!following.warning().empty()) fmt::print(stderr, "upfctl: {}\n", following.warning());
  wait_for_capture(s, following);
  const std::string captured = s.fetch("GET", following.path());
  std::ofstream out{file, std::ios::binary};
  out << captured;
  if (!out.flush()) throw Stop{kRefused, "can't write " + file};
  std::string warning = following.warning();
  for (const std::string& lack : lacks_of(s.call("GET", following.path() + "/state"))) {
    fmt::print(stderr, "upfctl: {}\n", lack);
    warning += (warning.empty() ? "" : "; ") + lack;
  }
  if (!s.print_as_data({{"file", file}, {"octets", captured.size()}, {"warning", warning}})) {
    fmt::print("{}: {}\n", file, octets(captured.size()));
  }
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
  const bool repair = s.options.contains("repair");
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
  Json json{{"file", path},
            {"good", loaded.has_value()},
            {"errors", Json::array()},
            {"warnings", Json::array()},
            {"notes", Json::array()},
            {"daemon", nullptr},
            {"differences", Json::array()}};
  if (!loaded) {
    for (const auto& error : loaded.error()) {
      json["errors"].push_back(remark_of(error));
      if (s.format == "table") fmt::print(stderr, "{}\n", config::to_string(path, error));
    }
    s.print_as_data(json);
    return kRefused;
  }
  for (const auto& warning : loaded->warnings) json["warnings"].push_back(remark_of(warning));
  for (const auto& note : loaded->notes) json["notes"].push_back(remark_of(note));
  const auto differences = preview(s.server, loaded->config);
  if (differences) json["daemon"] = s.where;
  for (const auto& difference : differences.value_or(std::vector<config::Difference>{})) {
    json["differences"].push_back({{"key", difference.key},
                                   {"before", difference.before},
                                   {"after", difference.after},
                                   {"needs", difference.live ? "reload" : "restart"},
                                   {"why", difference.why}});
  }
  if (s.print_as_data(json)) return 0;
  for (const auto& remark : remarks(path, *loaded)) fmt::print("{}\n", remark);
  fmt::print("{}: good\n", path);
  if (differences) {
    fmt::print("{}", preview_text(*differences));
  } else {
    fmt::print("no daemon answers at {}: only the file was checked\n", s.where);
  }
  return 0;
}

}  // namespace upf::app::ctl

#include "upf/app/ctl.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>

#include "src/app/ctl/output.hpp"
#include "src/app/http/server.hpp"

namespace upf::app {
namespace {

namespace fs = std::filesystem;

/// An API that gives the answers it was given, and remembers what it was asked.
struct Ctl : testing::Test {
  const std::string path = fs::temp_directory_path() / fmt_name();
  std::vector<http::Call> calls{};
  std::mutex mutex{};
  std::function<http::Reply(const http::Call&)> reply{};
  std::unique_ptr<http::Server> server =
      *http::Server::open(http::UnixPath{path}, [this](http::Call call, auto done) {
        const std::lock_guard lock{mutex};
        calls.push_back(call);
        done(reply(call));
      });

  static std::string fmt_name() { return "kupf-ctl-" + std::to_string(::getpid()) + ".sock"; }

  Ctl() { ::unsetenv("COLUMNS"); }
  ~Ctl() override { ::unsetenv("COLUMNS"); }

  struct Outcome {
    int code{};
    std::string out{};
    std::string err{};
  };
  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"upfctl", "-s", path});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_ctl(static_cast<int>(argv.size()), argv.data());
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }
  void answer(std::string body) {
    reply = [body = std::move(body)](const http::Call&) -> http::Reply {
      return {200, "application/json", body};
    };
  }
};

ctl::Json json_of(const std::string& text) { return ctl::Json::parse(text, nullptr, false); }

/// In characters, of the longest line.
std::size_t width_of(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    widest = std::max(widest, static_cast<std::size_t>(width));
  }
  return widest;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CtlOutput, IsReadable) {
  EXPECT_EQ(ctl::table({{"A", "a"}, {"LONG", "b"}},
                       {{{"a", 1}, {"b", "x\x1b[31m\xc2\x9b"}}, {{"a", 22}}}),
            "A   LONG\n1   x?[31m?\n22  -\n");
  EXPECT_EQ(ctl::octets(999), "999 B");
  EXPECT_EQ(ctl::octets(1'234'567), "1.23 MB");
  EXPECT_EQ(ctl::octets(999'999), "1.00 MB");
  EXPECT_EQ(ctl::quantity(12'000, "bit/s"), "12.00 kbit/s");
  EXPECT_EQ(ctl::counted(1, "packet"), "1 packet");
  EXPECT_EQ(ctl::counted(0, "packet"), "0 packets");
  EXPECT_EQ(ctl::duration(93784), "1d 2h 3m");
  EXPECT_EQ(ctl::cell(ctl::Json{"a", 1}), "a,1");
  EXPECT_EQ(ctl::cell(0.123456), "0.12");
}

TEST(CtlOutput, YamlIsReadableToo) {
  EXPECT_EQ(
      ctl::yaml({{"a", {1, 2}}, {"b", {{"c", "d: e"}}}, {"n", nullptr}, {"l", ctl::Json::array()}}),
      "a:\n  - 1\n  - 2\nb:\n  c: \"d: e\"\n\"n\": null\nl: []\n");
  EXPECT_EQ(ctl::yaml({{"no", 1}, {"x.y", 2}}), "\"no\": 1\n\"x.y\": 2\n");
  EXPECT_EQ(ctl::yaml(ctl::Json::array({{{"id", 1}, {"in", {1}}}, {{"id", 2}}})),
            "- id: 1\n  in:\n    - 1\n- id: 2\n");
}

// What gives way in which order, and that nothing goes unsaid.
TEST(CtlOutput, TablesGiveWayFromTheRight) {
  using ctl::Fit;
  const std::vector<ctl::Column> columns{{"ID", "id", Fit::Always},
                                         {"TEXT", "text", Fit::Cut},
                                         {"NOTE", "note", Fit::Below},
                                         {"N", "n", Fit::Whole}};
  const ctl::Json list = ctl::Json::array(
      {{{"id", "0x1234"}, {"text", "äbcdefghijklmnop"}, {"note", "all of it"}, {"n", 12345}},
       {{"id", "0x5"}, {"text", "b"}, {"n", 6}}});
  EXPECT_EQ(ctl::table(columns, list, 42),
            "ID      TEXT              NOTE       N\n"
            "0x1234  äbcdefghijklmnop  all of it  12345\n"
            "0x5     b                 -          6\n");
  EXPECT_EQ(ctl::table(columns, list, 41),
            "ID      TEXT              N\n"
            "0x1234  äbcdefghijklmnop  12345\n"
            "    NOTE: all of it\n"
            "0x5     b                 6\n");
  EXPECT_EQ(ctl::table(columns, list, 26),
            "ID      TEXT         N\n"
            "0x1234  äbcdefghij…  12345\n"
            "    NOTE: all of it\n"
            "0x5     b            6\n");
  EXPECT_EQ(ctl::table(columns, list, 20),
            "ID      TEXT\n"
            "0x1234  äbcdefghijk…\n"
            "    NOTE: all of it\n"
            "0x5     b\n"
            "no room for N\n");
  EXPECT_EQ(ctl::table(columns, list, 18),
            "ID\n0x1234\n    NOTE: all of\n        it\n0x5\nno room for TEXT, N\n");
}

// The daemon looks at 20,000 sessions a call: whose address isn't among the first of them is found
// all the same.
TEST_F(Ctl, LooksForASessionUntilTheEndOfTheList) {
  reply = [](const http::Call& call) -> http::Reply {
    if (call.path != "/v1/sessions") {
      return {200, "application/json", R"({"done":"session released"})"};
    }
    if (call.parameter("after").empty()) {
      return {200, "application/json", R"({"total":30000,"next":"0x7","sessions":[]})"};
    }
    return {200, "application/json",
            R"({"total":30000,"next":null,"sessions":[{"seid":"0x9","ue":["10.60.0.1"]}]})"};
  };
  EXPECT_EQ(run({"release", "10.60.0.1"}).code, 0);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[1].parameter("after"), "0x7");
  EXPECT_EQ(calls[1].parameter("ue"), "10.60.0.1");
  EXPECT_EQ(calls[2].path, "/v1/sessions/0x9");
  calls.clear();
  EXPECT_NE(run({"sessions", "--ue", "10.60.0.1"}).out.find("0x9"), std::string::npos);
  EXPECT_EQ(calls.size(), 2U);
}

TEST_F(Ctl, ExitCodesTellWhatWentWrong) {
  reply = [](const http::Call& call) -> http::Reply {
    if (call.path == "/v1/sessions/0x1") return {404, "application/json", R"({"error":"no"})"};
    if (call.path == "/v1/reload") return {409, "application/json", R"({"error":"wrong"})"};
    if (call.path == "/v1/log") return {400, "application/json", R"({"error":"level: …"})"};
    if (call.path == "/v1/status") return {200, "application/json", "{}"};
    return {200, "application/json", R"({"total":0,"next":null,"sessions":[]})"};
  };
  EXPECT_EQ(run({"sessions"}).code, 0);
  EXPECT_EQ(run({"reload"}).code, 1);
  EXPECT_EQ(run({"status"}).code, 1);  // a daemon of another version
  EXPECT_EQ(run({"nonsense"}).code, 2);
  EXPECT_EQ(run({"log", "loud"}).code, 2);
  EXPECT_EQ(run({"session"}).code, 2);
  EXPECT_EQ(run({"session", "0x1"}).code, 4);
  EXPECT_EQ(run({"session", "10.60.0.1"}).code, 4);
  server.reset();
  EXPECT_EQ(run({"sessions"}).code, 3);
}

TEST_F(Ctl, ReadyIsForProbes) {
  answer(R"({"ok":true,"reason":""})");
  EXPECT_EQ(run({"ready"}).code, 0);
  EXPECT_EQ(calls[0].path, "/v1/ready");
  reply = [](const http::Call&) -> http::Reply {
    return {503, "application/json", R"({"ok":false,"reason":"draining"})"};
  };
  const Outcome draining = run({"ready"});
  EXPECT_EQ(draining.code, 1);
  EXPECT_TRUE(has(draining.err, "draining")) << draining.err;
}

TEST_F(Ctl, AnAuditMendsOnlyIfAsked) {
  answer(R"({"running":false,"error":"","sessions":1,"rules":1,"repaired":0,"drifts":[],)"
         R"("drift":{"missing":0,"different":0,"foreign":0}})");
  EXPECT_EQ(run({"audit"}).code, 0);
  EXPECT_EQ(calls.at(0).parameter("repair"), "false");
  calls.clear();
  EXPECT_EQ(run({"audit", "--repair"}).code, 0);
  EXPECT_EQ(calls.at(0).parameter("repair"), "true");
}

TEST_F(Ctl, WhatACommandDoesNotTakeIsRefused) {
  answer(R"({"done":"so be it"})");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"release", "0x1", "0x2"},
                                             {"reload", "now"},
                                             {"release", "0x1", "--seconds", "3"},
                                             {"drain", "--repair"},
                                             {"watch", "--count", "many"},
                                             {"watch", "--count", "0"},
                                             {"reload", "-o", "xml"},
                                             {"completion", "zsh"},
                                             {"completion"}}) {
    EXPECT_EQ(run(words).code, 2) << words.front() << " " << words.back();
  }
  EXPECT_TRUE(calls.empty());
  EXPECT_EQ(run({"release", "0x1"}).code, 0);
}

TEST_F(Ctl, CompletionHasOneForm) {
  const Outcome refused = run({"-o", "json", "completion", "bash"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.err, "leave --output out")) << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(has(run({"completion", "bash"}).out, "complete -F"));
}

constexpr const char* kDualStack = R"({"total":1,"next":null,"sessions":[{
  "seid":"0x00000000000003e8","ue":["10.60.10.200","2001:db8:60:1c8::/64"],"dnn":"internet.operator.example",
  "node_id":"smf.5gc.mnc093.mcc208.3gppnetwork.org","tunnels":["0x00001000@192.168.130.140"],
  "state":"active","pdrs":2,"fars":2,"qers":1,"urrs":1}]})";

TEST_F(Ctl, SessionsFitTheTerminalWithSeidAndUeWhole) {
  answer(kDualStack);
  const std::string whole = run({"sessions"}).out;
  EXPECT_TRUE(has(whole, "smf.5gc.mnc093.mcc208.3gppnetwork.org")) << whole;
  EXPECT_TRUE(has(whole, "0x00001000@192.168.130.140") && has(whole, "URR")) << whole;
  EXPECT_TRUE(has(whole, "1 of 1 session\n")) << whole;
  for (const char* columns : {"200", "120", "80", "60"}) {
    ::setenv("COLUMNS", columns, 1);
    const std::string shown = run({"sessions"}).out;
    EXPECT_LE(width_of(shown), static_cast<std::size_t>(std::atoi(columns))) << shown;
    EXPECT_TRUE(has(shown, "0x00000000000003e8  10.60.10.200,2001:db8:60:1c8::/64")) << shown;
  }
}

constexpr const char* kSession = R"({
  "seid":"0x0000000000000001","ue":["10.60.0.1"],"dnn":"internet","node_id":"10.100.200.3",
  "tunnels":["0x00001000@10.100.200.1"],"state":"active","cp_seid":"0x0000000000000009",
  "cp_address":"10.100.200.3","s_nssai":"","imsi":"208930000000001","imei":"","msisdn":"","nai":"",
  "interface_types":"","pdrs":[{"id":1,"precedence":255,"source":"access","network":"internet",
  "f_teid":"0x00001000@10.100.200.1","ue":["10.60.0.1"],
  "filters":["permit out udp from 10.20.0.0/16 to assigned"],"qfis":[9],"far":1,"qers":[1],"urrs":[1],
  "installed":["packets of tunnel 0x00001000, 1 filters, to FAR 1"]}],
  "fars":[{"id":1,"action":"forward","destination":"core","installed":["to N6"]}],
  "qers":[{"id":1,"uplink_open":true,"downlink_open":false,
  "mbr":{"uplink_kbps":1000,"downlink_kbps":2500000},"gbr":null,"qfi":9,"installed":["in force"]}],
  "urrs":[{"id":1,"measures_volume":true,"measures_duration":false,"volume_threshold":{"total":1000000},
  "volume_quota":null,"period_seconds":60,"time_quota_seconds":3600,"counted":{"uplink_octets":1500,
  "downlink_octets":28,"uplink_packets":2,"downlink_packets":1},"installed":["counts"]}],
  "bars":[{"id":1,"delay_ms":50}],"in_plane":true,"unmatched":[],"waiting_packets":0})";

TEST_F(Ctl, ASessionIsForPeopleToRead) {
  answer(kSession);
  const std::string whole = run({"session", "0x1"}).out;
  for (const char* part :
       {"1.00 Mbit/s up, 2.50 Gbit/s down", "1.50 kB in 2 packets", "28 B in 1 packet ",
        "1.00 MB in all", "1m 0s", "1h 0m", "closed", "IMSI             208930000000001"}) {
    EXPECT_TRUE(has(whole, part)) << part << " in\n" << whole;
  }
  EXPECT_FALSE(has(whole, "{") || has(whole, "null") || has(whole, "MSISDN")) << whole;
  ::setenv("COLUMNS", "80", 1);
  const std::string shown = run({"session", "0x1"}).out;
  EXPECT_LE(width_of(shown), 80U) << shown;
  EXPECT_TRUE(has(shown, "    INSTALLED: packets of tunnel 0x00001000, 1 filters, to FAR 1\n"))
      << shown;
  EXPECT_TRUE(has(shown, "    FILTERS: permit out udp from 10.20.0.0/16 to assigned\n")) << shown;
  EXPECT_FALSE(has(shown, "no room")) << shown;
}

TEST_F(Ctl, PeersHaveTheirPathsInEveryForm) {
  reply = [](const http::Call& call) -> http::Reply {
    const bool paths = call.path == "/v1/paths";
    return {
        200, "application/json",
        paths
            ? R"({"paths":[{"peer":"10.100.200.2","up":true,"tunnels":1,"round_trip_ms":0.512345}]})"
            : R"({"associations":[{"node_id":"smf.5gc.mnc093.mcc208.3gppnetwork.org",
                       "peer":"10.100.200.3:8805","addresses":[],"up":true,"releasing":false,
                       "age_seconds":93784.1,"last_heard_seconds":2.5,
                       "smf_set":"set12.smfset.5gc.mnc093.mcc208.3gppnetwork.org"}]})"};
  };
  ::setenv("COLUMNS", "80", 1);
  const std::string shown = run({"peers"}).out;
  EXPECT_LE(width_of(shown), 80U) << shown;
  EXPECT_TRUE(has(shown, "10.100.200.3:8805") && has(shown, "1d 2h 3m") && has(shown, "2s ago"))
      << shown;
  EXPECT_TRUE(has(shown, "10.100.200.2  yes  1        0.51\n")) << shown;
  const auto json = json_of(run({"-o", "json", "peers"}).out);
  EXPECT_EQ(json["associations"].size(), 1U);
  EXPECT_EQ(json["paths"][0]["peer"], "10.100.200.2");
  EXPECT_TRUE(has(run({"-o", "yaml", "peers"}).out, "\npaths:\n  - peer: \"10.100.200.2\"\n"));
}

TEST_F(Ctl, RefusalsKeepTheirReasonOnANarrowTerminal) {
  answer(R"({"refusals":[{"time":"2026-12-01T09:20:16Z","peer":"10.100.200.3:8805",
    "request":"Session Establishment Request","cause":66,"peer_seid":"0x0000000000000001",
    "reason":"Mandatory IE missing, offending IE Create PDR: Mandatory IE missing: Create PDR","offending_ie":"Create PDR"}]})");
  ::setenv("COLUMNS", "80", 1);
  const std::string shown = run({"refusals"}).out;
  EXPECT_LE(width_of(shown), 80U) << shown;
  EXPECT_TRUE(has(shown,
                  "66\n    REASON: Mandatory IE missing, offending IE Create PDR: Mandatory IE "
                  "missing:\n        Create PDR\n    IE: Create PDR\n"))
      << shown;
}

/// A trace that is over after two records.
http::Reply two_records(const http::Call& call) {
  if (call.method == "POST") return {200, "application/json", R"({"id":3,"seconds":60})"};
  if (call.parameter("after") != "0")
    return {404, "application/json", R"({"error":"it may be over"})"};
  return {200, "application/json", R"({"target":"0x1","records":[
    {"number":1,"time":"2026-12-01T09:20:16Z","kind":"plane","text":"+PDR 1"},
    {"number":4,"time":"2026-12-01T09:20:17Z","kind":"log","text":"a\u001b[31m"}]})"};
}

TEST_F(Ctl, ATraceIsForPeopleOrPrograms) {
  reply = two_records;
  const Outcome text = run({"trace", "0x1"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "2026-12-01T09:20:16Z plane  +PDR 1\n2026-12-01T09:20:17Z log    a?[31m\n");
  EXPECT_TRUE(has(text.err, "2 records lost")) << text.err;
  std::istringstream lines{run({"-o", "json", "trace", "0x1"}).out};
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(json_of(line)["text"], "+PDR 1");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(json_of(line)["number"], 4);
  EXPECT_TRUE(
      run({"-o", "yaml", "trace", "0x1"})
          .out.starts_with("---\nnumber: 1\ntime: \"2026-12-01T09:20:16Z\"\nkind: \"plane\"\n"
                           "text: \"+PDR 1\"\n---\nnumber: 4\n"));
}

/// A capture of so many seconds, in this state.
std::function<http::Reply(const http::Call&)> a_capture(unsigned seconds, const char* warning,
                                                        std::string state) {
  return [=](const http::Call& call) -> http::Reply {
    if (call.method == "POST") {
      return {200, "application/json",
              ctl::Json{{"id", 3}, {"seconds", seconds}, {"warning", warning}}.dump()};
    }
    if (call.path.ends_with("/state")) return {200, "application/json", state};
    return {200, "application/x-pcapng", "twelve bytes"};
  };
}

TEST_F(Ctl, ACaptureSaysWhatItWrote) {
  reply = a_capture(0, "", R"({"full":false,"left_out":0,"lost":0})");
  const std::string file = path + ".pcapng";
  const auto json = json_of(run({"-o", "json", "capture", "0x1", "-w", file}).out);
  EXPECT_EQ(json, (ctl::Json{{"file", file}, {"octets", 12}, {"warning", ""}}));
  EXPECT_EQ(run({"capture", "0x1", "-w", file}).out, file + ": 12 B\n");
  EXPECT_EQ(fs::file_size(file), 12U);
  fs::remove(file);
  EXPECT_EQ(run({"capture", "0x1", "-w", "/nowhere/at/all"}).code, 1);
  EXPECT_EQ(calls.back().method, "DELETE");  // it doesn't go on in the daemon
}

// Of an hour, that is: the test would see it.
TEST_F(Ctl, ACaptureEndsWhenItIsFullAndSaysWhatItLacks) {
  reply = a_capture(3600, "N4 messages only", R"({"full":true,"left_out":3,"lost":1})");
  const std::string file = path + ".pcapng";
  const Outcome told = run({"-o", "json", "capture", "0x1", "-w", file});
  EXPECT_EQ(told.code, 0);
  EXPECT_TRUE(has(told.err, "upfctl: full: at least 3 items left out\n")) << told.err;
  EXPECT_TRUE(has(told.err, "upfctl: 1 packet lost by the kernel\n")) << told.err;
  EXPECT_EQ(json_of(told.out)["warning"],
            "N4 messages only; full: at least 3 items left out; 1 packet lost by the kernel");
  fs::remove(file);
}

TEST_F(Ctl, ACheckIsOfTheFileAndOfTheDaemonIfOneAnswers) {
  const std::string good = KUPF_SOURCE_DIR "/configs/upfcfg.yaml";
  answer(R"({"path":"x","config":{"logger.level":"none such"}})");
  const auto compared = json_of(run({"-o", "json", "check", good}).out);
  EXPECT_EQ(compared["good"], true);
  EXPECT_EQ(compared["daemon"], path);
  bool named = false;
  for (const auto& difference : compared["differences"]) {
    if (difference["key"] != "logger.level") continue;
    named = difference["before"] == "none such" && difference["needs"] == "reload";
  }
  EXPECT_TRUE(named) << compared;
  server.reset();
  const Outcome alone = run({"check", good});
  EXPECT_EQ(alone.code, 0);
  EXPECT_TRUE(has(alone.out, good + ": good\n")) << alone.out;
  EXPECT_TRUE(has(alone.out, "no daemon answers at " + path + ": only the file was checked\n"))
      << alone.out;
  EXPECT_EQ(json_of(run({"-o", "json", "check", good}).out)["daemon"], nullptr);
  const std::string bad = path + ".yaml";
  std::ofstream{bad} << "version: 1.0.3\nnonsense: 1\n";
  const Outcome wrong = run({"-o", "json", "check", bad});
  fs::remove(bad);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(json_of(wrong.out)["good"], false);
  EXPECT_FALSE(json_of(wrong.out)["errors"].empty());
}

TEST_F(Ctl, TheVersionIsPrinted) { EXPECT_TRUE(run({"--version"}).out.starts_with("upfctl ")); }

}  // namespace
}  // namespace upf::app

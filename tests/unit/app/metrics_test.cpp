#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "contract/fake_plane.hpp"
#include "src/app/metrics/exposition.hpp"
#include "src/app/metrics/interfaces.hpp"
#include "src/app/metrics/metered_plane.hpp"
#include "src/app/metrics/n4_meter.hpp"
#include "src/app/metrics/process.hpp"

namespace upf::app::metrics {
namespace {

using namespace std::chrono_literals;
using Octets = std::vector<std::uint8_t>;

TEST(Exposition, IsPrometheusText) {
  Exposition exposition;
  exposition.add("kupf_sessions", 3);
  exposition.add("kupf_pfcp_messages_total",
                 {{"direction", "in"}, {"type", "heartbeat_request"}, {"peer", "a\"b\\c\nd"}}, 7);
  Histogram histogram;
  histogram.observe(0.00002);
  histogram.observe(0.3);
  histogram.observe(9);
  exposition.add("kupf_plane_call_duration_seconds", {{"call", "apply"}}, histogram);
  const std::string text = exposition.text();
  EXPECT_NE(text.find("# TYPE kupf_pfcp_messages_total counter\n"
                      "kupf_pfcp_messages_total{direction=\"in\",type=\"heartbeat_request\",peer="
                      "\"a\\\"b\\\\c\\nd\"} 7\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("# TYPE kupf_sessions gauge\nkupf_sessions 3\n"), std::string::npos);
  for (const char* line :
       {"_bucket{call=\"apply\",le=\"1e-05\"} 0\n", "_bucket{call=\"apply\",le=\"2.5e-05\"} 1\n",
        "_bucket{call=\"apply\",le=\"0.5\"} 2\n", "_bucket{call=\"apply\",le=\"2.5\"} 2\n",
        "_bucket{call=\"apply\",le=\"+Inf\"} 3\n", "_count{call=\"apply\"} 3\n"}) {
    EXPECT_NE(text.find(std::string{"kupf_plane_call_duration_seconds"} + line), std::string::npos)
        << line << text;
  }
  EXPECT_EQ(text.find("kupf_ready"), std::string::npos) << "families without samples";
}

// A Node ID or a DNN may be any octets, but one that isn't UTF-8 costs Prometheus the whole scrape.
TEST(Exposition, LabelsAreTextWhateverAPeerSent) {
  Exposition exposition;
  exposition.add("kupf_dnn_sessions", {{"peer", "10.0.0.2"}, {"dnn", "\x08our\xffnet\x7f"}}, 1);
  EXPECT_NE(exposition.text().find("dnn=\"\\\\x08our\\\\xffnet\\\\x7f\"} 1\n"), std::string::npos)
      << exposition.text();
}

TEST(LabelValues, TheFirstHaveANameForGood) {
  LabelValues values{2};
  EXPECT_EQ(values.label_of("a"), "a");
  EXPECT_EQ(values.label_of(""), "");
  EXPECT_EQ(values.label_of("b"), "other");
  EXPECT_EQ(values.label_of("a"), "a");
}

TEST(Catalog, NamesFollowTheConventions) {
  for (const Family& family : catalog()) {
    EXPECT_EQ(family.kind == Kind::Counter, family.name.ends_with("_total")) << family.name;
    EXPECT_EQ(family.kind == Kind::Histogram,
              family.name.ends_with("_seconds") && family.name.find("duration") != family.name.npos)
        << family.name;
    EXPECT_EQ(family.unit.empty(), family.name.ends_with("_info")) << family.name;
    std::string_view name = family.name;
    if (name.ends_with("_total")) name.remove_suffix(6);
    for (const std::string unit : {"bytes", "seconds", "ratio"}) {
      EXPECT_EQ(family.unit == unit, name.ends_with("_" + unit))
          << name << " is in " << family.unit;
    }
    EXPECT_EQ(name.find("octet"), name.npos) << name << ": Prometheus says bytes";
    EXPECT_FALSE(family.help.empty()) << family.name;
    EXPECT_EQ(family.help.find('\n'), std::string_view::npos) << family.name;
  }
}

TEST(Catalog, IsWhatThePageSays) {
  std::ifstream page{std::string{KUPF_SOURCE_DIR} + "/deploy/monitoring/README.md"};
  std::stringstream text;
  text << page.rdbuf();
  if (text.str().find(reference()) == std::string::npos) {
    std::ofstream{"metrics-reference.md"} << reference();
    FAIL() << "deploy/monitoring/README.md hasn't got the table of metrics as it is now; it is in "
           << std::filesystem::absolute("metrics-reference.md");
  }
}

// The dashboard and the alerts ask for nothing that isn't there.
TEST(Catalog, HasWhatDashboardAndAlertsUse) {
  for (const char* file : {"dashboard.json", "alerts.yaml", "alerts_test.yaml"}) {
    std::ifstream stream{std::string{KUPF_SOURCE_DIR} + "/deploy/monitoring/" + file};
    std::stringstream text;
    text << stream.rdbuf();
    const std::string all = text.str();
    ASSERT_FALSE(all.empty()) << file;
    const std::regex metric{"\\b(kupf|process)_[a-z0-9_]+(?=[\\[{ ])"};
    for (std::sregex_iterator it{all.begin(), all.end(), metric}, end; it != end; ++it) {
      std::string name = it->str();
      if (name.ends_with("_bucket")) name.resize(name.size() - 7);
      EXPECT_NE(std::ranges::find(catalog(), name, &Family::name), catalog().end())
          << file << " uses " << name;
    }
  }
}

const SocketAddress kSmf{Ipv4{{10, 0, 0, 2}}, 8805};
const SocketAddress kStranger{Ipv4{{10, 9, 9, 9}}, 8805};

std::string exposed(const N4Meter& meter) {
  Exposition exposition;
  meter.expose(exposition);
  return exposition.text();
}

/// An answer with an accepting Cause, and whatever follows.
Octets answer(std::uint8_t type, std::uint8_t cause, const Octets& more = {}) {
  Octets octets{0x20, type, 0, 9, 0, 0, 1, 0, 0, 19, 0, 1, cause};
  octets.insert(octets.end(), more.begin(), more.end());
  return octets;
}

TEST(N4Meter, CountsMessagesAndAnswers) {
  N4Meter meter;
  const Octets heartbeat{0x20, 1, 0, 12, 0, 0, 5, 0, 0, 96, 0, 4, 0xe8, 0x1f, 0xdc, 0x30};
  meter.on_datagram(Direction::In, kSmf, heartbeat);
  meter.on_datagram(Direction::Out, kSmf, answer(6, 1));
  meter.on_datagram(Direction::In, kSmf, heartbeat);
  const std::string text = exposed(meter);
  for (const char* line :
       {"kupf_pfcp_messages_total{direction=\"in\",type=\"heartbeat_request\",peer=\"other\"} 1\n",
        "kupf_pfcp_messages_total{direction=\"in\",type=\"heartbeat_request\",peer=\"10.0.0.2\"} "
        "1\n",
        "kupf_pfcp_answers_total{direction=\"out\",type=\"association_setup_response\",cause="
        "\"request_accepted\",peer=\"10.0.0.2\"} 1\n",
        "kupf_pfcp_bytes_total{direction=\"in\"} 32\n", "kupf_pfcp_malformed_total 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

// cases.md 13, 84: made up senders don't make up time series.
TEST(N4Meter, StrangersHaveNoSeriesOfTheirOwn) {
  N4Meter meter;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const SocketAddress from{Ipv4::from_host(0x0b000000U + i), 8805};
    meter.on_datagram(Direction::In, from,
                      Octets{0x20, static_cast<std::uint8_t>(i), 0, 4, 0, 0, 1, 0});
    meter.on_datagram(Direction::Out, from, answer(6, 72));
  }
  const std::string text = exposed(meter);
  EXPECT_LT(std::ranges::count(text, '\n'), 300);
  EXPECT_EQ(text.find("11.0."), std::string::npos);
}

TEST(N4Meter, KeepsTheLastRefusalsWithTheirReason) {
  N4Meter meter;
  control::Served served;
  served.type = pfcp::MessageType::SessionEstablishmentRequest;
  served.peer = kSmf;
  meter.on_served(served, WallTime{1s});
  served.peer_seid = Seid{9};
  for (std::uint32_t id = 1; id <= N4Meter::kRefusals + 1; ++id) {
    served.refusal = {.cause = pfcp::Cause::RuleCreationModificationFailure,
                      .failed_rule = {{session::FailedRule::Kind::Far, id}},
                      .text = "no such FAR"};
    meter.on_served(served, WallTime{std::chrono::seconds{id}});
  }
  ASSERT_EQ(meter.refusals().size(), N4Meter::kRefusals);
  const RefusalRecord& newest = meter.refusals().front();
  EXPECT_EQ(newest.type, pfcp::MessageType::SessionEstablishmentRequest);
  EXPECT_EQ(newest.peer, kSmf);
  EXPECT_EQ(newest.peer_seid, Seid{9});
  EXPECT_EQ(newest.at, WallTime{51s});
  EXPECT_EQ(session::to_string(newest.refusal), "Rule creation/modification failure: no such FAR");
  EXPECT_EQ(session::to_string(*newest.refusal.failed_rule), "FAR 51");
  EXPECT_EQ(session::to_string(*meter.refusals().back().refusal.failed_rule), "FAR 2");
}

TEST(N4Meter, CountsWhatWeRefuse) {
  N4Meter meter;
  meter.on_datagram(Direction::In, kSmf, answer(57, 65));  // theirs
  meter.on_datagram(Direction::Out, kSmf, answer(6, 1));
  EXPECT_EQ(meter.totals().refused, 0U);
  meter.on_datagram(Direction::Out, kSmf, answer(6, 66));
  EXPECT_EQ(meter.totals().refused, 1U);
}

TEST(N4Meter, CountsReportsByTriggerAndKind) {
  N4Meter meter;
  // Session Report Request, Report Type USAR, Usage Report with Usage Report Trigger VOLTH.
  const Octets report{0x21, 56, 0, 28, 0, 0, 0,  0, 0, 0, 0,  9, 0, 0, 1, 0,
                      0,    39, 0, 1,  2, 0, 80, 0, 7, 0, 63, 0, 3, 2, 0, 0};
  meter.on_datagram(Direction::Out, kSmf, report);
  const std::string text = exposed(meter);
  EXPECT_NE(text.find("kupf_session_reports_total{kind=\"usage\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("kupf_usage_reports_total{trigger=\"volume_threshold\"} 1\n"),
            std::string::npos)
      << text;
}

TEST(N4Meter, TimesRequestsByStage) {
  N4Meter meter;
  control::Served served;
  served.type = pfcp::MessageType::SessionDeletionRequest;
  served.decode = 20us;
  served.plane = 2ms;
  meter.on_served(served, {});
  served.type = static_cast<pfcp::MessageType>(200);  // no series for what doesn't exist
  meter.on_served(served, {});
  const std::string text = exposed(meter);
  const std::string stem = "kupf_pfcp_request_duration_seconds_count{type=";
  for (const char* stage : {"decode", "plan", "plane", "answer", "total"}) {
    const std::string line = stem + "\"session_deletion_request\",stage=\"" + stage + "\"} 1\n";
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("message_200"), std::string::npos);
}

TEST(N4Meter, NothingThatArrivesHurts) {
  N4Meter meter;
  std::uint32_t state = 1;
  for (int i = 0; i < 50'000; ++i) {
    Octets octets(state % 80);
    for (auto& octet : octets)
      octet = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24U);
    if (octets.size() > 1 && i % 2 == 0) octets[0] = 0x20 | (octets[0] & 1U);
    state = state * 1664525U + 1013904223U;
    meter.on_datagram(i % 3 == 0 ? Direction::Out : Direction::In, kStranger, octets);
  }
  EXPECT_LT(exposed(meter).size(), 200'000U);
}

TEST(MeteredPlane, KnowsSessionsAndRulesByTheirChanges) {
  MeteredPlane plane{std::make_unique<contract::FakePlane>()};
  rules::SessionRules rules;
  rules.fars.push_back({.id = {1}, .action = {.drop = true}, .forwarding = {}, .bar = {}});
  rules.pdrs.push_back({.id = {1},
                        .precedence = 1,
                        .source_interface = rules::Interface::Core,
                        .network_instance = "internet",
                        .far = {1}});
  ASSERT_TRUE(plane.apply({.seid = {1}, .before = nullptr, .after = &rules}).has_value());
  ASSERT_TRUE(plane.apply({.seid = {2}, .before = nullptr, .after = &rules}).has_value());
  ASSERT_TRUE(plane.apply({.seid = {1}, .before = &rules, .after = nullptr}).has_value());
  Exposition exposition;
  plane.expose(exposition);
  const std::string text = exposition.text();
  for (const char* line :
       {"kupf_sessions 1\n", "kupf_rules{kind=\"pdr\"} 1\n", "kupf_rules{kind=\"urr\"} 0\n",
        "kupf_sessions_established_total 2\n", "kupf_sessions_ended_total 1\n",
        "kupf_plane_calls_total{call=\"apply\",outcome=\"ok\"} 3\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(MeteredPlane, AFailedChangeChangesNoCount) {
  auto fake = std::make_unique<contract::FakePlane>();
  fake->fail_call(0, {dataplane::Failure::Kind::NoResources, {}, "full"});
  MeteredPlane plane{std::move(fake)};
  const rules::SessionRules rules;
  ASSERT_FALSE(plane.apply({.seid = {1}, .before = nullptr, .after = &rules}).has_value());
  Exposition exposition;
  plane.expose(exposition);
  EXPECT_NE(exposition.text().find("kupf_sessions 0\n"), std::string::npos);
  EXPECT_NE(exposition.text().find("outcome=\"no_resources\"} 1\n"), std::string::npos);
}

// proc(5), /proc/net/dev.
TEST(Interfaces, AreReadFromTheKernelsTable) {
  const auto devices = parse_devices(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
      "drop "
      "fifo colls carrier compressed\n"
      "    lo:     100       2    0    0    0     0          0         0      100       2    0    "
      "0 "
      "   0     0       0          0\n"
      "upfgtp: 9007199254740000 7    1    3    0     0          0         0      300       5    0  "
      "  "
      "4    0     0       0          0\n"
      "broken: 1 2\n");
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].device, "lo");
  EXPECT_EQ(devices[1].device, "upfgtp");
  EXPECT_EQ(devices[1].octets[0], 9007199254740000.0);
  EXPECT_EQ(devices[1].packets[0], 7);
  EXPECT_EQ(devices[1].errors[0], 1);
  EXPECT_EQ(devices[1].drops[0], 3);
  EXPECT_EQ(devices[1].octets[1], 300);
  EXPECT_EQ(devices[1].packets[1], 5);
  EXPECT_EQ(devices[1].drops[1], 4);
}

TEST(Interfaces, TheDeviceOfTheGtpuAddressIsN3) {
  config::Config config;
  config.gtpu.if_list.push_back({.addr = {"127.0.0.1", Ipv4{{127, 0, 0, 1}}}});
  Exposition exposition;
  expose_interfaces(config, exposition);
  EXPECT_NE(exposition.text().find("kupf_interface_packets_total{interface=\"lo\",role=\"n3\","
                                   "direction=\"in\"} "),
            std::string::npos)
      << exposition.text();
}

TEST(Interfaces, AnyGtpuAddressIsAllDevices) {
  for (const IpAddress& any : {IpAddress{Ipv4{}}, IpAddress{Ipv6{}}}) {
    config::Config config;
    config.gtpu.if_list.push_back({.addr = {to_string(any), any}});
    Exposition exposition;
    expose_interfaces(config, exposition);
    EXPECT_NE(exposition.text().find("kupf_interface_errors_total{interface=\"lo\",role=\"n3\""),
              std::string::npos)
        << exposition.text();
  }
}

TEST(Process, FiguresAreThisProcesss) {
  Exposition exposition;
  expose_process(exposition);
  const std::string text = exposition.text();
  for (const char* name : {"process_resident_memory_bytes ", "process_open_fds ",
                           "process_start_time_seconds ", "process_threads "}) {
    const std::size_t at = text.find(std::string{"\n"} + name);
    ASSERT_NE(at, std::string::npos) << name << text;
    EXPECT_GT(std::stod(text.substr(at + 1 + std::strlen(name))), 0) << name;
  }
}

}  // namespace
}  // namespace upf::app::metrics

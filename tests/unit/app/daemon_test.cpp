// The daemon from its arguments to its exit code, on a fake plane: no root, no device.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "contract/fake_plane.hpp"
#include "src/app/http/client.hpp"
#include "src/app/ops/api.hpp"
#include "src/app/preview.hpp"
#include "upf/app/run.hpp"
#include "upf/runtime/loop.hpp"
#include "upf/runtime/udp_socket.hpp"

namespace upf::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Octets = std::vector<std::uint8_t>;

runtime::UdpSocket bound(const SocketAddress& local) {
  auto socket = runtime::UdpSocket::bind(local);
  if (!socket) {
    ADD_FAILURE() << runtime::to_string(socket.error());
    std::abort();
  }
  return std::move(*socket);
}

const IpAddress kUpf{Ipv4{{127, 0, 0, 80}}};

/// A port that was free a moment ago.
std::uint16_t free_port() { return bound({kUpf, 0}).local().port; }

std::string configuration(const std::string& more = "") {
  return "version: 1.0.3\n"
         "pfcp: {addr: 127.0.0.80, nodeID: upf.example.org, heartbeat: {interval: 0}}\n"
         "gtpu: {forwarder: userspace, ifList: [{addr: 127.0.0.80, type: N3}]}\n"
         "dnnList: [{dnn: internet, cidr: 10.60.0.0/16}]\n" +
         more;
}

/// One daemon on a thread of its own, with its files in a folder of its own.
class Daemon : public testing::Test {
 protected:
  void SetUp() override {
    // Before any thread: the daemon's thread takes signals by its loop.
    runtime::block_signals({SIGTERM, SIGINT, SIGHUP});
    folder_ = fs::temp_directory_path() / ("kupf-daemon-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    factories_.n4_port = free_port();
    factories_.needs_net_admin = false;
    factories_.userspace = [this](const config::Config&) -> Result<OpenedPlane, std::string> {
      if (!plane_error_.empty()) return failure(plane_error_);
      auto plane = std::make_unique<contract::FakePlane>();
      plane->known_paths = {{Ipv4{{10, 9, 0, 1}}, true, 3, 1500us},
                            {Ipv4{{10, 9, 0, 2}}, false, 1}};
      plane_ = plane.get();
      return OpenedPlane{std::move(plane), {"a note of the plane"}};
    };
  }

  void TearDown() override {
    if (thread_.joinable()) stop();
    fs::remove_all(folder_);
  }

  /// Runs to its end; for starts that fail.
  int run(const std::string& yaml, std::vector<std::string> more = {}) {
    std::ofstream{folder_ / "upfcfg.yaml"} << yaml;
    std::vector<std::string> words{"upf", "-c", folder_ / "upfcfg.yaml", "-l", folder_ / "upf.log"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return app::run(static_cast<int>(argv.size()), argv.data(), factories_);
  }

  void start(const std::string& yaml) {
    thread_ = std::thread{[this, yaml] { code_ = run(yaml); }};
    for (int tries = 0; tries < 1500 && log().find("start: ready") == std::string::npos; ++tries) {
      std::this_thread::sleep_for(10ms);
    }
    ASSERT_NE(log().find("start: ready"), std::string::npos) << log();
  }

  int stop(int signal = SIGTERM) {
    ::kill(::getpid(), signal);
    thread_.join();
    return code_;
  }

  void send(const Octets& octets) {
    const runtime::Sending sending[] = {{{kUpf, factories_.n4_port}, {}, octets}};
    EXPECT_EQ(smf_.send(sending), 1U);
  }

  /// Sends until an answer comes: the daemon may only just be starting.
  Octets ask(const Octets& request) {
    for (int tries = 0; tries < 150; ++tries) {
      send(request);
      pollfd readable{smf_.fd(), POLLIN, 0};
      if (::poll(&readable, 1, 100) < 1) continue;
      const auto batch = smf_.receive();
      if (batch && !batch->empty()) {
        return {batch->front().octets.begin(), batch->front().octets.end()};
      }
    }
    return {};
  }

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream{folder_ / "upf.log"}.rdbuf();
    return text.str();
  }

  // Heartbeat Request with a Recovery Time Stamp, TS 29.244 7.4.2.1; sequence number 5.
  const Octets kHeartbeat{0x20, 1, 0, 12, 0, 0, 5, 0, 0, 96, 0, 4, 0xe8, 0x1f, 0xdc, 0x30};

  /// Association Setup Request: Node ID 127.0.0.1 and a Recovery Time Stamp; sequence number 1.
  const Octets kSetup{0x20, 5, 0, 21, 0, 0,  1, 0, 0,    60,   0,    5,   0,
                      127,  0, 0, 1,  0, 96, 0, 4, 0xe8, 0x1f, 0xdc, 0x30};

  std::string api_socket() const { return folder_ / "api.sock"; }
  std::string with_api(const std::string& more = "") const {
    return configuration("api: {socket: " + api_socket() + ", page: true}\n" + more);
  }
  nlohmann::json api(const std::string& target, const std::string& method = "GET",
                     int status = 200) const {
    const auto reply = http::fetch(http::UnixPath{api_socket()}, method, target);
    if (!reply) {
      ADD_FAILURE() << reply.error();
      return {};
    }
    EXPECT_EQ(reply->status, status) << target << " " << reply->body;
    return nlohmann::json::parse(reply->body, nullptr, false);
  }

  fs::path folder_{};
  Factories factories_{};
  std::string plane_error_{};
  contract::FakePlane* plane_{};  ///< the running daemon's
  runtime::UdpSocket smf_ = bound({Ipv4{{127, 0, 0, 1}}, 0});
  std::thread thread_{};
  int code_ = -1;
};

TEST_F(Daemon, ServesUntilItIsAskedToStop) {
  start(configuration());
  EXPECT_EQ(stop(), 0);
  EXPECT_NE(log().find("start: ready n4=127.0.0.80:"), std::string::npos) << log();
  EXPECT_NE(log().find("node=upf.example.org"), std::string::npos) << log();
  EXPECT_NE(log().find("plane: a note of the plane"), std::string::npos) << log();
  EXPECT_NE(log().find("stop: stopped"), std::string::npos) << log();
}

TEST_F(Daemon, StopsOnSigintToo) {
  start(configuration());
  EXPECT_EQ(stop(SIGINT), 0);
}

TEST_F(Daemon, AnswersHeartbeats) {
  start(configuration());
  const Octets answer = ask(kHeartbeat);
  ASSERT_GE(answer.size(), 8U);
  EXPECT_EQ(answer[1], 2);  // Heartbeat Response
  EXPECT_EQ(answer[6], 5);  // to this request
  EXPECT_EQ(stop(), 0);
}

// cases.md 1: go-upf's N4 is dead after this.
TEST_F(Daemon, SurvivesAnEmptyDatagram) {
  start(configuration());
  for (int i = 0; i < 100; ++i) send({});
  EXPECT_FALSE(ask(kHeartbeat).empty());
  EXPECT_EQ(stop(), 0);
}

// cases.md 79: nothing of an idle day is above debug.
TEST_F(Daemon, HeartbeatsAreNotLogged) {
  start(configuration());
  const std::string before = log();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(ask(kHeartbeat).empty());
  EXPECT_EQ(log(), before);
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, TheApiTellsWhatIsUp) {
  start(with_api());
  ASSERT_FALSE(ask(kSetup).empty());
  const auto status = api("/v1/status");
  EXPECT_EQ(status["node_id"], "upf.example.org");
  EXPECT_EQ(status["forwarder"], "fake");
  EXPECT_EQ(status["associations"], 1);
  EXPECT_EQ(status["ready"], true);
  const auto associations = api("/v1/associations")["associations"];
  ASSERT_EQ(associations.size(), 1U);
  EXPECT_EQ(associations[0]["node_id"], "127.0.0.1");
  EXPECT_EQ(associations[0]["up"], true);
  EXPECT_EQ(api("/v1/config")["config"]["pfcp.nodeID"], "upf.example.org");
  EXPECT_EQ(api("/v1/sessions")["total"], 0);
  api("/v1/sessions/0x5", "GET", 404);
  api("/v1/sessions?ue=x", "GET", 400);
  api("/v1/nothing", "GET", 404);
  api("/v1/status", "POST", 405);
  EXPECT_EQ(stop(), 0);
  EXPECT_FALSE(fs::exists(api_socket()));
}

TEST_F(Daemon, MetricsAreTextForPrometheus) {
  start(with_api());
  ASSERT_FALSE(ask(kSetup).empty());
  const auto reply = http::fetch(http::UnixPath{api_socket()}, "GET", "/metrics");
  ASSERT_TRUE(reply.has_value()) << reply.error();
  EXPECT_TRUE(reply->type.starts_with("text/plain; version=0.0.4")) << reply->type;
  for (const char* line :
       {"kupf_associations 1\n", "kupf_ready 1\n", "kupf_sessions 0\n",
        "kupf_pfcp_answers_total{direction=\"out\",type=\"association_setup_response\",cause="
        "\"request_accepted\",peer=\"127.0.0.1\"} 1\n"}) {
    EXPECT_NE(reply->body.find(line), std::string::npos) << line << reply->body;
  }
  EXPECT_EQ(stop(), 0);
}

// Every operation of the document exists, and says what it wants without harm.
TEST_F(Daemon, EveryRouteOfTheDocumentAnswers) {
  start(with_api());
  const auto document = api("/v1/openapi.json");
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  EXPECT_EQ(operations, ops::routes().size());
  for (const ops::Route& route : ops::routes()) {
    std::string path{route.path};
    if (const std::size_t brace = path.find('{'); brace != std::string::npos) {
      path.replace(brace, path.find('}') - brace + 1, "999");
    }
    const auto reply = http::fetch(http::UnixPath{api_socket()}, std::string{route.method}, path);
    ASSERT_TRUE(reply.has_value()) << path << reply.error();
    EXPECT_NE(reply->status, 405) << path;
    EXPECT_NE(reply->status, 500) << path;
  }
  EXPECT_EQ(stop(), 0);
}

// cases.md: what acts needs root over the UNIX socket; TCP only looks.
TEST_F(Daemon, TcpOnlyLooks) {
  const std::uint16_t port = free_port();
  start(configuration("api: {listen: '127.0.0.80:" + std::to_string(port) + "'}\n"));
  const SocketAddress address{kUpf, port};
  EXPECT_EQ(http::fetch(address, "GET", "/v1/status")->status, 200);
  for (const ops::Route& route : ops::routes()) {
    if (!route.acts) continue;
    std::string path{route.path};
    if (const std::size_t brace = path.find('{'); brace != std::string::npos) {
      path.replace(brace, path.find('}') - brace + 1, "1");
    }
    EXPECT_EQ(http::fetch(address, std::string{route.method}, path)->status, 403) << path;
  }
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, AReloadAppliesWhatCanChangeInLife) {
  start(with_api());
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api(
      "logger: {level: debug}\nmetrics: {listen: '127.0.0.80:" + std::to_string(free_port()) +
      "'}\n");
  const std::string done = api("/v1/reload", "POST")["done"];
  EXPECT_NE(done.find("logger.level \"info\" -> \"debug\""), std::string::npos) << done;
  EXPECT_EQ(done.find("restart"), std::string::npos) << done;
  EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "debug");
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api("gtp: {}\n");
  const auto refused = api("/v1/reload", "POST", 409);
  EXPECT_NE(refused["error"].get<std::string>().find("gtp: unknown key (did you mean gtpu?)"),
            std::string::npos);
  EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "debug");
  EXPECT_EQ(stop(), 0);
}

// A data network that is added behind the others is routed and served at once.
TEST_F(Daemon, AReloadAddsDataNetworks) {
  start(with_api());
  std::string yaml = with_api("description: two\n");
  const std::string one = "[{dnn: internet, cidr: 10.60.0.0/16}]";
  yaml.replace(yaml.find(one), one.size(),
               "[{dnn: internet, cidr: 10.60.0.0/16}, {dnn: ims, cidr: 10.61.0.0/16}]");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml << std::flush;
  const std::string done = api("/v1/reload", "POST")["done"];
  EXPECT_NE(done.find("dnnList[1].dnn \"\" -> \"ims\""), std::string::npos) << done;
  EXPECT_EQ(done.find("restart"), std::string::npos) << done;
  EXPECT_EQ(plane_->networks, std::vector{*parse_ip_prefix("10.61.0.0/16")});
  EXPECT_EQ(api("/v1/pools")["pools"].size(), 2U);
  // Put in front of the others, nothing of the list is taken.
  yaml.replace(yaml.find("[{dnn: internet"), 1, "[{dnn: first, cidr: 10.59.0.0/16}, ");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml << std::flush;
  const std::string refused = api("/v1/reload", "POST")["done"];
  EXPECT_NE(refused.find("needs a restart: dnnList[0].dnn"), std::string::npos) << refused;
  EXPECT_EQ(api("/v1/pools")["pools"][0]["dnn"], "internet");
  EXPECT_EQ(plane_->networks.size(), 1U);
  EXPECT_EQ(stop(), 0);
}

/// A good configuration, and for each key another value that is good as well.
struct Alternative {
  const char* key;
  nlohmann::json value;
};
const std::vector<Alternative>& alternatives() {
  static const std::vector<Alternative> all{
      {"description", "another"},
      {"pfcp.addr", "127.0.0.81"},
      {"pfcp.nodeID", "other.example.org"},
      {"pfcp.advertise", "192.0.2.9"},
      {"pfcp.retransTimeout", "2s"},
      {"pfcp.maxRetrans", 5},
      {"pfcp.peers", {"127.0.0.99"}},
      {"pfcp.allow", {"127.0.0.0/8"}},
      {"pfcp.heartbeat.interval", "1h"},
      {"pfcp.heartbeat.purgeAfter", "5m"},
      {"pfcp.limits.associations", 7},
      {"pfcp.limits.sessions", 7},
      {"pfcp.limits.sessionsPerPeer", 7},
      {"pfcp.limits.rulesPerSession", 7},
      {"pfcp.limits.requestsPerSecond", 7},
      {"gtpu.forwarder", "gtp5g"},
      {"gtpu.ifList[0].addr", "127.0.0.82"},
      {"gtpu.ifList[0].type", "N9"},
      {"gtpu.ifList[0].name", "another"},
      {"gtpu.ifList[0].ifname", "lo"},
      {"gtpu.ifList[0].mtu", 1400},
      {"gtpu.ifList[0].advertise", "192.0.2.9"},
      {"gtpu.ifList[0].networkInstance", "access"},
      {"gtpu.ifname", "upfgtp9"},
      {"gtpu.qos", false},
      {"gtpu.versionCheck", false},
      {"gtpu.workers", 3},
      {"gtpu.echo.interval", "2m"},
      {"gtpu.echo.timeout", "4s"},
      {"gtpu.echo.retries", 7},
      {"gtpu.buffering.packets", 7},
      {"gtpu.buffering.bytes", "2MiB"},
      {"gtpu.buffering.totalBytes", "3MiB"},
      {"gtpu.buffering.drop", "newest"},
      {"dnnList[0].dnn", "ims"},
      {"dnnList[0].cidr", "10.70.0.0/16"},
      {"dnnList[0].natifname", "lo"},
      {"dnnList[0].ipForwardEnable", true},
      {"dnnList[0].tcpMss", 1340},
      {"predefinedRules", "rules.yaml"},
      {"logger.enable", false},
      {"logger.level", "debug"},
      {"logger.reportCaller", true},
      {"logger.format", "json"},
      {"metrics.listen", "127.0.0.80:0"},
      {"api.socket", "/tmp/kupf-another.sock"},
      {"api.listen", "127.0.0.80:0"},
      {"api.page", true},
  };
  return all;
}

/// "gtpu.ifList[0].mtu" as a JSON pointer.
nlohmann::json::json_pointer pointer_to(std::string key) {
  for (const auto& [from, to] : {std::pair{".", "/"}, std::pair{"[0]", "/0"}}) {
    for (std::size_t at = 0; (at = key.find(from, at)) != std::string::npos; at += 2) {
      key.replace(at, std::strlen(from), to);
    }
  }
  return nlohmann::json::json_pointer{"/" + key};
}

/// Whether the README's table of keys marks it as one that a reload applies.
bool is_marked(std::string key) {
  if (const std::size_t at = key.find("[0]"); at != std::string::npos) key.replace(at, 3, "[]");
  std::ifstream readme{std::string{KUPF_SOURCE_DIR} + "/configs/README.md"};
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("| `" + key + "` |")) return line.ends_with("*(reload)* |");
  }
  ADD_FAILURE() << key << " is not in configs/README.md";
  return false;
}

// Every key: what the README marks is in force after a reload, the rest is named and is not.
TEST_F(Daemon, AReloadDoesWhatTheReadmeSaysOfEachKey) {
  std::ofstream{folder_ / "rules.yaml"}
      << "rules: [{name: a, flows: [permit out ip from any to any]}]\n";
  nlohmann::json base = {
      {"version", "1.0.3"},
      {"pfcp", {{"addr", "127.0.0.80"}, {"nodeID", "upf"}, {"heartbeat", {{"interval", "0"}}}}},
      {"gtpu", {{"forwarder", "userspace"}}},
      {"api", {{"socket", api_socket()}}}};
  base["gtpu"]["ifList"][0] = {{"addr", "127.0.0.80"}, {"type", "N3"}};
  base["dnnList"][0] = {{"dnn", "internet"}, {"cidr", "10.60.0.0/16"}};
  start(base.dump());
  const auto reload_with = [&](const nlohmann::json& yaml) {
    std::ofstream{folder_ / "upfcfg.yaml"} << yaml.dump() << std::flush;
    return api("/v1/reload", "POST")["done"].get<std::string>();
  };
  const auto keys = api("/v1/config")["config"];
  for (const auto& [key, before] : keys.items()) {
    if (key == "version") continue;  // there is one
    const auto other = std::ranges::find(alternatives(), key, &Alternative::key);
    ASSERT_NE(other, alternatives().end()) << key << " needs another value in alternatives()";
    nlohmann::json changed = base;
    changed[pointer_to(key)] = other->value;
    const std::string done = reload_with(changed);
    const bool live = is_marked(key);
    EXPECT_TRUE(done.starts_with((live ? "applied: " : "nothing to apply; needs a restart: ") +
                                 key + " \""))
        << done;
    EXPECT_EQ(api("/v1/config")["config"][key] != before, live) << key;
    reload_with(base);
    EXPECT_EQ(api("/v1/config")["config"], keys) << key;
  }
  EXPECT_EQ(stop(), 0);
}

// What `upf --check` says beside "good", of a daemon that runs.
TEST_F(Daemon, ACheckSaysWhatWouldChange) {
  start(with_api());
  const auto now = config::parse(with_api());
  const auto then = config::parse(with_api("logger: {level: debug}\n"));
  ASSERT_TRUE(now && then);
  const http::UnixPath socket{api_socket()};
  EXPECT_EQ(preview_text(preview(socket, now->config).value()),
            "the running daemon has the same\n");
  EXPECT_EQ(preview_text(preview(socket, then->config).value()),
            "would change in the running daemon:\n"
            "  logger.level: \"info\" -> \"debug\" (reload)\n");
  EXPECT_EQ(stop(), 0);
  EXPECT_FALSE(preview(socket, now->config).has_value());
}

// TS 29.281 7.2.1: GTP-U peers, for the operator.
TEST_F(Daemon, GtpuPeersAreShown) {
  start(with_api());
  const auto paths = api("/v1/paths")["paths"];
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0]["peer"], "10.9.0.1");
  EXPECT_EQ(paths[0]["round_trip_ms"], 1.5);
  EXPECT_EQ(paths[1]["up"], false);
  EXPECT_TRUE(paths[1]["round_trip_ms"].is_null());
  const std::string text = http::fetch(http::UnixPath{api_socket()}, "GET", "/metrics")->body;
  for (const char* line :
       {"kupf_gtpu_paths{state=\"down\"} 1\n", "kupf_gtpu_path_up{peer=\"10.9.0.2\"} 0\n",
        "kupf_gtpu_path_tunnels{peer=\"10.9.0.1\"} 3\n",
        "kupf_gtpu_path_round_trip_seconds{peer=\"10.9.0.1\"} 0.0015\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, SighupNamesWhatNeedsARestart) {
  start(with_api());
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api("description: new\n") << std::flush;
  std::string yaml = with_api();
  yaml.replace(yaml.find("10.60.0.0/16"), 12, "10.70.0.0/16");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml;
  ::kill(::getpid(), SIGHUP);
  for (int i = 0; i < 1500 && log().find("reload:") == std::string::npos; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_NE(log().find("needs a restart: dnnList[0].cidr"), std::string::npos) << log();
  EXPECT_EQ(api("/v1/pools")["pools"][0]["cidr"], "10.60.0.0/16");
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, TheLogLevelCanBeSet) {
  start(with_api());
  api("/v1/log?level=loud", "POST", 400);
  api("/v1/log?level=debug", "POST");
  EXPECT_FALSE(ask(kHeartbeat).empty());
  EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "debug");
  EXPECT_EQ(stop(), 0);
}

// cases.md 70: a busy port ends the start, with who has it.
TEST_F(Daemon, ABusyPortIsNamedWithItsOwner) {
  const auto holder = bound({kUpf, factories_.n4_port});
  EXPECT_EQ(run(configuration()), kExitFailed);
  const std::string expected =
      "N4 port 127.0.0.80:" + std::to_string(factories_.n4_port) + " is taken by ";
  EXPECT_NE(log().find(expected), std::string::npos) << log();
  EXPECT_NE(log().find("(pid " + std::to_string(::getpid()) + ")"), std::string::npos) << log();
}

TEST_F(Daemon, AnAddressThatIsNotOursIsNamed) {
  const std::string yaml =
      "version: 1.0.3\npfcp: {addr: 192.0.2.1, nodeID: 192.0.2.1}\n"
      "gtpu: {forwarder: userspace, ifList: [{addr: 127.0.0.80, type: N3}]}\n"
      "dnnList: [{dnn: internet, cidr: 10.60.0.0/16}]\n";
  EXPECT_EQ(run(yaml), kExitFailed);
  EXPECT_NE(log().find("pfcp.addr 192.0.2.1 isn't an address of this host"), std::string::npos)
      << log();
}

// cases.md 67: what the plane says is what the operator reads.
TEST_F(Daemon, APlaneThatCannotOpenEndsTheStart) {
  plane_error_ = "/dev/net/tun is missing: modprobe tun";
  EXPECT_EQ(run(configuration()), kExitFailed);
  EXPECT_NE(log().find("forwarder userspace: /dev/net/tun is missing: modprobe tun"),
            std::string::npos)
      << log();
}

// cases.md 70, 76
TEST_F(Daemon, AWrongConfigurationEndsTheStart) {
  EXPECT_EQ(run(configuration("loger: {level: info}\n")), kExitUsage);
  EXPECT_EQ(log(), "");
}

TEST_F(Daemon, CheckDoesNotStartAnything) {
  plane_error_ = "must not be opened";
  const auto holder = bound({kUpf, factories_.n4_port});
  EXPECT_EQ(run(configuration(), {"--check"}), 0);
  EXPECT_EQ(run(configuration("loger: {}\n"), {"--check"}), kExitUsage);
}

TEST_F(Daemon, WrongArgumentsAreToldApart) { EXPECT_EQ(run(configuration(), {"-x"}), kExitUsage); }

}  // namespace
}  // namespace upf::app

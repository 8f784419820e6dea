// The daemon from its arguments to its exit code, on a fake plane: no root, no device.
#include <fmt/format.h>

#include "unit/app/daemon_fixture.hpp"
#include "unit/control/support.hpp"

namespace upf::app::test {
namespace {

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
       {"kupf_associations 1\n", "kupf_ready 1\n", "kupf_sessions 0\n", "kupf_load_ratio 0\n",
        "kupf_overload_reduction_ratio 0\n", "kupf_pfcp_receive_queue_ratio 0\n",
        "kupf_pfcp_receive_overruns_total 0\n", "kupf_unacknowledged_usage_reports 0\n",
        "kupf_pfcp_answers_total{direction=\"out\",type=\"association_setup_response\",cause="
        "\"request_accepted\",peer=\"127.0.0.1\"} 1\n"}) {
    EXPECT_NE(reply->body.find(line), std::string::npos) << line << reply->body;
  }
  EXPECT_EQ(stop(), 0);
}

// cases.md 84: DNNs that an SMF makes up don't make up time series.
TEST_F(Daemon, SessionsAreCountedBySmfAndDnn) {
  start(with_api());
  ASSERT_FALSE(ask(kSetup).empty());
  for (std::uint8_t i = 0; i < 100; ++i) {
    auto request = control::test::establishment(0x100U + i, {{10, 60, 0, i}});
    request.node_id = {Ipv4{{127, 0, 0, 1}}};
    request.cp_f_seid = {.seid = {i + 1U}, .ipv4 = Ipv4{{127, 0, 0, 1}}};
    for (auto& pdr : request.create_pdrs) {
      if (pdr.pdi.local_f_teid) pdr.pdi.local_f_teid->ipv4 = std::get<Ipv4>(kUpf);
      pdr.pdi.network_instance->text = i < 2 ? "internet" : fmt::format("made-up-{}", i);
    }
    ASSERT_FALSE(ask(pfcp::encode(request, {.seid = Seid{}, .sequence = 10U + i})).empty());
  }
  const std::string text = http::fetch(http::UnixPath{api_socket()}, "GET", "/metrics")->body;
  const std::string family = "kupf_dnn_sessions{peer=\"127.0.0.1\",dnn=\"";
  EXPECT_NE(text.find(family + "internet\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find(family + "other\"} 35\n"), std::string::npos) << "64 have a name: " << text;
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
    std::string method{route.method};
    std::ranges::transform(method, method.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_TRUE(document["paths"][path].contains(method)) << route.method << " " << path;
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

// A kernel call that never returns: who asks is told, in words.
TEST_F(Daemon, AFaultOfThePlaneIsUnhealthyAndNotReady) {
  plane_fault_ = "a call didn't return; the host needs a restart";
  start(with_api());
  for (const char* target : {"/v1/health", "/v1/ready"}) {
    const auto told = api(target, "GET", 503);
    EXPECT_EQ(told["ok"], false) << target;
    EXPECT_EQ(told["reason"], plane_fault_) << target;
  }
  const auto status = api("/v1/status");
  EXPECT_EQ(status["ready"], false);
  EXPECT_EQ(status["draining"], false);
  EXPECT_EQ(status["fault"], plane_fault_);
  const auto metrics = http::fetch(http::UnixPath{api_socket()}, "GET", "/metrics");
  EXPECT_NE(metrics->body.find("\nkupf_ready 0\n"), std::string::npos);
  for (int tries = 0; tries < 1500 && log().find(plane_fault_) == std::string::npos; ++tries) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_NE(log().find("plane: " + plane_fault_), std::string::npos) << log();
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, DrainingIsHealthyAndNotReady) {
  start(with_api());
  EXPECT_EQ(api("/v1/ready")["ok"], true);
  api("/v1/drain?on=true", "POST");
  EXPECT_EQ(api("/v1/ready", "GET", 503)["reason"], "draining");
  EXPECT_EQ(api("/v1/health")["ok"], true);
  EXPECT_EQ(stop(), 0);
}

// Here there is no device to see packets at, whatever the rights.
TEST_F(Daemon, ACaptureWithoutUserPacketsSaysSoAndGoesOn) {
  start(with_api());
  const auto started = api("/v1/captures?target=10.60.0.1&seconds=60", "POST");
  EXPECT_TRUE(started["warning"].get<std::string>().starts_with(
      "N4 messages only: user packets can't be captured: "))
      << started;
  const auto file = http::fetch(http::UnixPath{api_socket()}, "GET",
                                "/v1/captures/" + std::to_string(started["id"].get<unsigned>()));
  EXPECT_EQ(file->status, 200);
  EXPECT_TRUE(file->body.starts_with("\x0a\x0d\x0d\x0a"));
  EXPECT_EQ(api("/v1/captures/" + started["id"].dump() + "/state")["octets"], file->body.size());
  api("/v1/captures?target=0x99&seconds=60", "POST", 409);  // nobody to capture
  EXPECT_EQ(api("/v1/traces?target=10.60.0.1", "POST")["warning"], "");
  EXPECT_EQ(stop(), 0);
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

TEST_F(Daemon, FeaturesAreWhatAssociationsAreTold) {
  start(with_api());
  const auto names = api("/v1/features")["up_function"].get<std::vector<std::string>>();
  for (const char* name : {"FTUP", "EMPU", "PDIU", "BUNDL", "UEIP"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
  EXPECT_EQ(std::ranges::find(names, "ADPDP"), names.end()) << "no predefined rules are configured";
  EXPECT_EQ(std::ranges::find(names, "}"), names.end());
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
}  // namespace upf::app::test

// The daemon from its arguments to its exit code, on a fake plane: no root, no device.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "contract/fake_plane.hpp"
#include "upf/app/run.hpp"
#include "upf/runtime/loop.hpp"
#include "upf/runtime/udp_socket.hpp"

namespace upf::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

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
      return OpenedPlane{std::make_unique<contract::FakePlane>(), {"a note of the plane"}};
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

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream{folder_ / "upf.log"}.rdbuf();
    return text.str();
  }

  fs::path folder_{};
  Factories factories_{};
  std::string plane_error_{};
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

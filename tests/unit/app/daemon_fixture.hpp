#pragma once

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

namespace upf::app::test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Octets = std::vector<std::uint8_t>;

inline runtime::UdpSocket bound(const SocketAddress& local) {
  auto socket = runtime::UdpSocket::bind(local);
  if (!socket) {
    ADD_FAILURE() << runtime::to_string(socket.error());
    std::abort();
  }
  return std::move(*socket);
}

inline const IpAddress kUpf{Ipv4{{127, 0, 0, 80}}};

/// A port that was free a moment ago.
inline std::uint16_t free_port() { return bound({kUpf, 0}).local().port; }

inline std::string configuration(const std::string& more = "") {
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
      plane->wrong = plane_fault_;
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
  std::string plane_fault_{};
  contract::FakePlane* plane_{};  ///< the running daemon's
  runtime::UdpSocket smf_ = bound({Ipv4{{127, 0, 0, 1}}, 0});
  std::thread thread_{};
  int code_ = -1;
};

}  // namespace upf::app::test

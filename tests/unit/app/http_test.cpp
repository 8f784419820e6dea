#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "src/app/http/client.hpp"
#include "src/app/http/server.hpp"
#include "upf/runtime/unique_fd.hpp"

namespace upf::app::http {
namespace {

Handler echo() {
  return [](const Call& call, const std::function<void(Reply)>& done) {
    done({200, "text/plain",
          call.method + " " + call.path + " " + call.parameter("q") +
              (call.privileged ? " privileged" : "")});
  };
}

std::string socket_path() {
  return (std::filesystem::temp_directory_path() / ("kupf-http-" + std::to_string(::getpid())))
      .string();
}

std::unique_ptr<Server> opened(const Address& address, Handler handler = echo()) {
  auto server = Server::open(address, std::move(handler));
  if (!server) {
    ADD_FAILURE() << server.error();
    std::abort();
  }
  return std::move(*server);
}

std::string body_of(const Result<Reply, std::string>& reply) {
  return reply ? reply->body : "error: " + reply.error();
}

const SocketAddress kAnyPort{Ipv4{{127, 0, 0, 1}}, 0};

TEST(Http, ServesOverTcpWithoutPrivilege) {
  const auto server = opened(kAnyPort);
  EXPECT_EQ(body_of(fetch(server->address(), "GET", "/v1/x?q=" + escaped("a b&c"))),
            "GET /v1/x a b&c");
  EXPECT_EQ(body_of(fetch(server->address(), "POST", "/v1/x")), "POST /v1/x ");
  EXPECT_EQ(body_of(fetch(server->address(), "DELETE", "/v1/x")), "DELETE /v1/x ");
}

TEST(Http, WhoOwnsTheDaemonIsPrivilegedOverItsSocket) {
  const auto server = opened(UnixPath{socket_path()});
  EXPECT_EQ(body_of(fetch(server->address(), "GET", "/")), "GET /  privileged");
}

// The header by which the server tells itself can't be sent by a client.
TEST(Http, PrivilegeCannotBeClaimed) {
  const auto server = opened(kAnyPort);
  const auto& address = std::get<SocketAddress>(server->address());
  const runtime::UniqueFd fd{::socket(AF_INET, SOCK_STREAM, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const std::string request = "GET /y HTTP/1.1\r\nHost: x\r\nkupf-privileged: 1\r\n\r\n";
  ASSERT_EQ(::send(fd.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string answer(4096, '\0');
  answer.resize(static_cast<std::size_t>(
      std::max<ssize_t>(::recv(fd.get(), answer.data(), answer.size(), MSG_WAITALL), 0)));
  EXPECT_NE(answer.find("GET /y"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("privileged"), std::string::npos) << answer;
}

TEST(Http, TakesOverAStaleSocketButNotALiveOne) {
  const UnixPath path{socket_path()};
  {
    // As after kill -9: the file is there, nobody listens.
    const runtime::UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  {
    const auto server = opened(path);
    EXPECT_FALSE(Server::open(path, echo()).has_value());
    EXPECT_EQ(body_of(fetch(path, "GET", "/")), "GET /  privileged");
  }
  EXPECT_FALSE(std::filesystem::exists(path.path));
  const auto nobody = fetch(path, "GET", "/");
  ASSERT_FALSE(nobody.has_value());
  EXPECT_NE(nobody.error().find("is upf running"), std::string::npos);
}

TEST(Http, ABusyAddressIsAnError) {
  const auto server = opened(kAnyPort);
  const auto second = Server::open(server->address(), echo());
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().find("Address already in use"), std::string::npos) << second.error();
}

TEST(Http, AnAnswerFromAnotherThreadIsAwaited) {
  std::atomic<int> calls{};
  std::vector<std::thread> threads;
  std::mutex mutex;
  const auto server = opened(kAnyPort, [&](const Call&, std::function<void(Reply)> done) {
    const std::lock_guard lock{mutex};
    threads.emplace_back([&calls, done = std::move(done)] {
      ++calls;
      done({404, "text/plain", "late"});
    });
  });
  for (int i = 0; i < 20; ++i) {
    const auto reply = fetch(server->address(), "GET", "/");
    ASSERT_TRUE(reply.has_value()) << reply.error();
    EXPECT_EQ(reply->status, 404);
    EXPECT_EQ(reply->body, "late");
  }
  EXPECT_EQ(calls, 20);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace upf::app::http

#include "upf/app/ctl.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <mutex>

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

  struct Outcome {
    int code{};
    std::string out{};
  };
  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"upfctl", "-s", path});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    const int code = run_ctl(static_cast<int>(argv.size()), argv.data());
    return {code, testing::internal::GetCapturedStdout()};
  }
};

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
    return {200, "application/json", R"({"total":0,"next":null,"sessions":[]})"};
  };
  EXPECT_EQ(run({"sessions"}).code, 0);
  EXPECT_EQ(run({"reload"}).code, 1);
  EXPECT_EQ(run({"nonsense"}).code, 2);
  EXPECT_EQ(run({"session"}).code, 2);
  EXPECT_EQ(run({"session", "0x1"}).code, 4);
  EXPECT_EQ(run({"session", "10.60.0.1"}).code, 4);
  server.reset();
  EXPECT_EQ(run({"sessions"}).code, 3);
}

TEST_F(Ctl, TheVersionIsPrinted) { EXPECT_TRUE(run({"--version"}).out.starts_with("upfctl ")); }

}  // namespace
}  // namespace upf::app

#include "src/app/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/log_budget.hpp"
#include "src/app/log_line.hpp"

namespace upf::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const LogLine kLine{Level::Info,
                    WallTime{1'700'000'000s + 42ms},
                    "session-establishment",
                    "accepted",
                    {{"seid", "0x99"}, {"peer", "10.0.0.2:8805"}, {"ue", ""}, {"dnn", "a b"}},
                    ""};

TEST(LogLine, AsText) {
  EXPECT_EQ(as_text(kLine),
            "2023-11-14T22:13:20.042Z INFO  session-establishment: accepted seid=0x99 "
            "peer=10.0.0.2:8805 dnn=\"a b\"");
}

TEST(LogLine, AsJournal) {
  EXPECT_EQ(as_journal(kLine, false),
            "<6>session-establishment: accepted seid=0x99 peer=10.0.0.2:8805 dnn=\"a b\"");
  LogLine warning = kLine;
  warning.level = Level::Warn;
  EXPECT_EQ(as_journal(warning, true), "<4>" + as_json(warning));
}

TEST(LogLine, AsJson) {
  EXPECT_EQ(as_json(kLine),
            "{\"time\":\"2023-11-14T22:13:20.042Z\",\"level\":\"info\",\"procedure\":"
            "\"session-establishment\",\"text\":\"accepted\",\"seid\":\"0x99\",\"peer\":"
            "\"10.0.0.2:8805\",\"dnn\":\"a b\"}");
}

// What a peer chose can't begin a line of its own or steer a terminal.
TEST(LogLine, PeersCannotForgeLines) {
  LogLine line = kLine;
  line.text = "node \"evil\n2023-11-14T22:13:20.042Z INFO  x\x1b[31m\"";
  line.fields = {{"node", "a\"b\nc=\xff"}};
  const std::string text = as_text(line);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("node=\"a\\\"b\\x0ac="), std::string::npos) << text;
  EXPECT_EQ(as_json(line).find('\n'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(as_json(line)));
}

TEST(LogBudget, LetsABurstThroughThenATrickle) {
  LogBudget budget;
  const TimePoint start{};
  int written = 0;
  for (int i = 0; i < 1000; ++i) written += budget.take(Level::Info, "a", start) ? 1 : 0;
  EXPECT_EQ(written, 100);
  EXPECT_EQ(budget.collect(start), (std::vector<LogBudget::Suppressed>{{Level::Info, "a", 900}}));
  EXPECT_TRUE(budget.collect(start).empty());
  for (int i = 0; i < 1000; ++i) written += budget.take(Level::Info, "a", start + 1s) ? 1 : 0;
  EXPECT_EQ(written, 110);
  EXPECT_TRUE(budget.take(Level::Info, "b", start));  // another kind has its own allowance
}

TEST(LogBudget, MadeUpKindsShareOneAllowance) {
  LogBudget budget;
  int written = 0;
  for (int i = 0; i < 100'000; ++i) {
    written += budget.take(Level::Info, "kind " + std::to_string(i), TimePoint{}) ? 1 : 0;
  }
  EXPECT_EQ(written, 256 + 100);
  // Silent for a while, they are forgotten.
  EXPECT_EQ(budget.collect(TimePoint{} + 1h).size(), 1U);
  EXPECT_TRUE(budget.take(Level::Info, "new", TimePoint{} + 1h));
}

class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kupf-log-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
  }
  fs::path folder_{};
};

TEST_F(LogFile, WritesToEveryFileAndMakesTheirFolders) {
  const auto log = Log::open({}, {path("a/upf.log"), path("b/all.log")});
  ASSERT_TRUE(log.has_value()) << log.error();
  (*log)->info("start", "hello");
  (*log)->write(Level::Debug, "start", "not at this level");
  const std::string text = content(path("a/upf.log"));
  EXPECT_NE(text.find("INFO  start: hello\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("not at this level"), std::string::npos);
  EXPECT_EQ(content(path("b/all.log")), text);
}

TEST_F(LogFile, LevelFormatAndCallerChangeInLife) {
  const auto log = Log::open({}, {path("upf.log")});
  ASSERT_TRUE(log.has_value());
  (*log)->apply({.enable = true,
                 .level = config::LogLevel::Debug,
                 .report_caller = true,
                 .format = config::LogFormat::Json});
  (*log)->write(Level::Debug, "start", "now");
  const auto json = nlohmann::json::parse(content(path("upf.log")));
  EXPECT_EQ(json["text"], "now");
  EXPECT_TRUE(json["caller"].get<std::string>().starts_with("log_test.cpp:"));
  (*log)->apply({.enable = false, .level = {}, .report_caller = {}, .format = {}});
  EXPECT_FALSE((*log)->enabled(Level::Fatal));
}

// cases.md 79
TEST_F(LogFile, AFloodIsAFewLinesAndACount) {
  const auto log = Log::open({}, {path("upf.log")});
  ASSERT_TRUE(log.has_value());
  for (int i = 0; i < 10'000; ++i) (*log)->warn("n4", "unknown peer", {{"n", std::to_string(i)}});
  (*log)->report_suppressed();
  const std::string text = content(path("upf.log"));
  const auto lines = std::ranges::count(text, '\n');
  EXPECT_LT(lines, 200);
  EXPECT_NE(text.find("more lines like this left out like=\"warn n4: unknown peer\""),
            std::string::npos);
}

// Counted until the end, and as important as what was left out.
TEST_F(LogFile, WhatWasLeftOutIsSaidAtTheEndAtItsLevel) {
  {
    const auto log = Log::open({.level = config::LogLevel::Warn}, {path("upf.log")});
    ASSERT_TRUE(log.has_value());
    for (int i = 0; i < 1'000; ++i) (*log)->warn("n4", "unknown peer");
    for (int i = 0; i < 1'000; ++i) (*log)->error("plane", "no memory");
  }
  const std::string text = content(path("upf.log"));
  EXPECT_NE(text.find("left out like=\"warn n4: unknown peer\""), std::string::npos) << text;
  EXPECT_NE(text.find("ERROR log: "), std::string::npos) << text;
  EXPECT_EQ(text.find("INFO"), std::string::npos) << text;
}

TEST_F(LogFile, ReopensWhatLogrotateMoved) {
  const auto log = Log::open({}, {path("upf.log")});
  ASSERT_TRUE(log.has_value());
  (*log)->info("start", "old");
  fs::rename(path("upf.log"), path("upf.log.1"));
  ASSERT_TRUE((*log)->reopen().has_value());
  (*log)->info("start", "new");
  EXPECT_NE(content(path("upf.log")).find("new"), std::string::npos);
  EXPECT_EQ(content(path("upf.log")).find("old"), std::string::npos);
}

TEST_F(LogFile, AFileThatCannotBeOpenedIsAnError) {
  const auto log = Log::open({}, {"/proc/no/such/upf.log"});
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().find("/proc/no/such/upf.log"), std::string::npos) << log.error();
}

}  // namespace
}  // namespace upf::app

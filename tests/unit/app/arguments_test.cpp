#include "src/app/arguments.hpp"

#include <gtest/gtest.h>

namespace upf::app {
namespace {

[[nodiscard]] Result<Arguments, std::string> parsed(const std::vector<const char*>& words) {
  return parse_arguments(words);
}

TEST(Arguments, NoneAreNeeded) {
  const auto arguments = parsed({});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->config, "");
  EXPECT_FALSE(arguments->check || arguments->version || arguments->help);
}

// Every form in which go-upf's parser takes its two flags.
TEST(Arguments, TakesGoUpfsFlags) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"-c", "a.yaml"},
                                                {"--config", "a.yaml"},
                                                {"-config", "a.yaml"},
                                                {"--c", "a.yaml"},
                                                {"-c=a.yaml"},
                                                {"--config=a.yaml"},
                                                {"-config=a.yaml"}}) {
    const auto arguments = parsed(words);
    ASSERT_TRUE(arguments.has_value()) << words[0] << ": " << arguments.error();
    EXPECT_EQ(arguments->config, "a.yaml") << words[0];
  }
  const auto logs = parsed({"-l", "upf.log", "--log", "all.log", "-l=third.log"});
  ASSERT_TRUE(logs.has_value());
  EXPECT_EQ(logs->logs, (std::vector<std::string>{"upf.log", "all.log", "third.log"}));
}

TEST(Arguments, TakesKupfsFlags) {
  const auto arguments = parsed({"--check", "-c", "a.yaml"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_TRUE(arguments->check);
  EXPECT_TRUE(parsed({"--version"})->version);
  EXPECT_TRUE(parsed({"-h"})->help);
}

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(parsed({"-x"}).has_value());
  EXPECT_FALSE(parsed({"--conf", "a.yaml"}).has_value());  // no guessing
  EXPECT_FALSE(parsed({"a.yaml"}).has_value());            // cases.md 76: -c was forgotten
  EXPECT_FALSE(parsed({"-c"}).has_value());
  EXPECT_FALSE(parsed({"-c", "a.yaml", "-c", "b.yaml"}).has_value());
}

TEST(Arguments, HelpNamesThemAll) {
  for (const char* word : {"--config", "--log", "--check", "--version", "--help", kDefaultConfig}) {
    EXPECT_NE(usage().find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace upf::app

#pragma once

#include <span>
#include <string>
#include <vector>

#include "upf/base/result.hpp"

namespace upf::app {

/// go-upf's default, taken from where the daemon is started; and where packages put the file.
inline constexpr const char* kDefaultConfig = "./config/upfcfg.yaml";
inline constexpr const char* kPackagedConfig = "/etc/kupf/upfcfg.yaml";

struct Arguments {
  std::string config{};  ///< empty: none given
  std::vector<std::string> logs{};
  bool check{};
  bool version{};
  bool help{};
};

/// What follows the program's name. `-config FILE` and `-c=FILE` are taken as go-upf's parser takes
/// them.
[[nodiscard]] Result<Arguments, std::string> parse_arguments(std::span<const char* const> words);
[[nodiscard]] std::string usage();

}  // namespace upf::app

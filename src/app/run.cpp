#include "upf/app/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "src/app/arguments.hpp"
#include "src/app/daemon.hpp"
#include "src/app/preview.hpp"
#include "upf/config/config.hpp"

namespace upf::app {
namespace {

void say(const std::string& text) { fmt::print(stderr, "upf: {}\n", text); }

/// The file to read: the one given, go-upf's default, or the packaged one if only that is there.
std::string config_path(const Arguments& arguments) {
  if (!arguments.config.empty()) return arguments.config;
  std::error_code error;
  if (std::filesystem::exists(kDefaultConfig, error)) return kDefaultConfig;
  if (std::filesystem::exists(kPackagedConfig, error)) return kPackagedConfig;
  return kDefaultConfig;
}

void say_errors(const std::string& path, const config::Errors& errors) {
  for (const auto& error : errors) say(config::to_string(path, error));
  if (errors.size() == 1 && errors.front().line == 0) {
    say("give a configuration with -c FILE; samples are in configs/");
  } else {
    say(fmt::format("{}: {} error{}, see configs/README.md or upfcfg.yaml(5)", path, errors.size(),
                    errors.size() == 1 ? "" : "s"));
  }
}

int check(const std::string& path, const config::Loaded& loaded) {
  for (const auto& remark : remarks(path, loaded)) say(remark);
  for (const auto& [key, value] : config::describe(loaded.config)) {
    fmt::print("{}: {}\n", key, value);
  }
  fmt::print("{}: good\n", path);
  const std::string& socket = loaded.config.api.socket;
  if (socket.empty()) return 0;
  if (const auto differences = preview(http::UnixPath{socket}, loaded.config)) {
    fmt::print("{}", preview_text(*differences));
  }
  return 0;
}

int serve(const std::string& path, const config::Loaded& loaded, const Arguments& arguments,
          const Factories& factories) {
  auto log = Log::open(loaded.config.logger, arguments.logs);
  if (!log) {
    say(log.error());
    return kExitFailed;
  }
  // A failed start is always said, whatever logger.enable and logger.level let through.
  const auto fail = [&](const std::string& why) {
    (*log)->write(Level::Fatal, "start", why);
    if (!(*log)->enabled(Level::Fatal)) say(why);
    return kExitFailed;
  };
  (*log)->info("start", "upf " KUPF_VERSION, {{"config", path}});
  write_remarks(**log, path, loaded);
  runtime::block_signals({SIGTERM, SIGINT, SIGHUP});
  std::signal(SIGPIPE, SIG_IGN);
  const auto resolved = resolve_names(loaded.config);
  if (!resolved) return fail(resolved.error());
  for (const auto& peer : resolved->pfcp.peers) {
    if (peer.address) continue;
    (*log)->warn("config", fmt::format("pfcp.peers: the name \"{}\" can't be resolved, ignoring it "
                                       "until the next start",
                                       peer.text));
  }
  auto daemon = Daemon::open(*resolved, path, factories, Host{}, **log);
  if (!daemon) return fail(daemon.error());
  const int code = (*daemon)->run();
  daemon->reset();
  (*log)->info("stop", "stopped");
  return code;
}

}  // namespace

int run(int argc, char** argv, const Factories& factories) {
  const std::span words{argv, static_cast<std::size_t>(argc)};
  const auto arguments = parse_arguments(words.subspan(argc > 0 ? 1 : 0));
  if (!arguments) {
    say(arguments.error() + "; see upf --help");
    return kExitUsage;
  }
  if (arguments->help) {
    fmt::print("{}", usage());
    return 0;
  }
  if (arguments->version) {
    fmt::print("upf {}\n", KUPF_VERSION);
    return 0;
  }
  const std::string path = config_path(*arguments);
  const auto loaded = config::load(path);
  if (!loaded) {
    say_errors(path, loaded.error());
    return kExitUsage;
  }
  return arguments->check ? check(path, *loaded) : serve(path, *loaded, *arguments, factories);
}

int run(int argc, char** argv) { return run(argc, argv, product_factories()); }

}  // namespace upf::app

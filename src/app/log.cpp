#include "src/app/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "upf/runtime/loop.hpp"

namespace upf::app {
namespace {

/// Whether stderr is journald's (systemd.exec(5), JOURNAL_STREAM).
bool writes_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

std::shared_ptr<spdlog::logger> logger_of(const char* name, std::vector<spdlog::sink_ptr> sinks) {
  auto logger = std::make_shared<spdlog::logger>(name, sinks.begin(), sinks.end());
  // Lines come finished; levels are judged before. spdlog opens, writes and flushes.
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

[[nodiscard]] Result<std::shared_ptr<spdlog::logger>, std::string> file_logger(
    const std::vector<std::string>& files) {
  try {
    std::vector<spdlog::sink_ptr> sinks;
    for (const std::string& path : files) {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
    }
    return logger_of("files", std::move(sinks));
  } catch (const spdlog::spdlog_ex& error) {
    return failure(fmt::format("log file: {}", error.what()));
  }
}

/// The least level that is written; none: nothing is.
std::optional<Level> threshold(const config::Logger& settings) {
  if (!settings.enable) return {};
  switch (settings.level) {
    case config::LogLevel::Trace:
      return Level::Trace;
    case config::LogLevel::Debug:
      return Level::Debug;
    case config::LogLevel::Info:
      return Level::Info;
    case config::LogLevel::Warn:
      return Level::Warn;
    case config::LogLevel::Error:
      return Level::Error;
    case config::LogLevel::Fatal:
    case config::LogLevel::Panic:
      return Level::Fatal;
  }
  return {};
}

std::string place_of(const std::source_location& caller) {
  const char* slash = std::strrchr(caller.file_name(), '/');
  return fmt::format("{}:{}", slash != nullptr ? slash + 1 : caller.file_name(), caller.line());
}

}  // namespace

Log::Log(const config::Logger& settings, const std::vector<std::string>& files)
    : settings_(settings),
      files_(files),
      journal_(writes_to_journal()),
      stderr_(logger_of("stderr", {std::make_shared<spdlog::sinks::stderr_sink_mt>()})) {}

Log::~Log() { report_suppressed(); }

Result<std::unique_ptr<Log>, std::string> Log::open(const config::Logger& settings,
                                                    const std::vector<std::string>& files) {
  std::unique_ptr<Log> log{new Log{settings, files}};
  if (auto opened = log->reopen(); !opened) return failure(opened.error());
  return log;
}

Result<void, std::string> Log::reopen() {
  const std::lock_guard lock{mutex_};
  if (files_.empty()) return {};
  auto logger = file_logger(files_);
  if (!logger) return failure(logger.error());
  file_ = std::move(*logger);
  return {};
}

bool Log::enabled(Level level) const {
  const std::lock_guard lock{mutex_};
  const auto least = threshold(settings_);
  return least && level >= *least;
}

void Log::apply(const config::Logger& settings) {
  const std::lock_guard lock{mutex_};
  settings_ = settings;
}

config::Logger Log::settings() const {
  const std::lock_guard lock{mutex_};
  return settings_;
}

void Log::put(const LogLine& line) {
  const bool json = settings_.format == config::LogFormat::Json;
  const std::string text = json ? as_json(line) : as_text(line);
  stderr_->info(journal_ ? as_journal(line, json) : text);
  if (file_) file_->info(text);
}

void Log::write(Level level, std::string procedure, std::string text, Fields fields,
                const std::source_location& caller) {
  const std::lock_guard lock{mutex_};
  const auto least = threshold(settings_);
  if (!least || level < *least) return;
  const Now now = runtime::now();
  if (level >= Level::Info && level < Level::Fatal) {
    const std::string kind = fmt::format("{} {}: {}", name_of(level), procedure, text);
    if (!budget_.take(level, kind, now.steady)) return;
  }
  put({level, now.wall, std::move(procedure), std::move(text), std::move(fields),
       settings_.report_caller ? place_of(caller) : std::string{}});
}

void Log::report_suppressed() {
  const std::lock_guard lock{mutex_};
  const auto least = threshold(settings_);
  const Now now = runtime::now();
  for (const auto& [level, kind, lines] : budget_.collect(now.steady)) {
    if (!least || level < *least) continue;
    put({level,
         now.wall,
         "log",
         fmt::format("{} more lines like this left out", lines),
         {{"like", kind}},
         ""});
  }
}

}  // namespace upf::app

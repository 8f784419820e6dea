#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "src/app/log_budget.hpp"
#include "src/app/log_line.hpp"
#include "upf/base/result.hpp"
#include "upf/config/config.hpp"

namespace spdlog {
class logger;
}

namespace upf::app {

/// The log: stderr and the files of `-l`. Lines of one kind (level, procedure and text alike) are
/// bounded by LogBudget from info upwards; debug and trace are not, who asks for them wants all.
///
/// Threading: any thread.
class Log {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// Opens the files, with the folders they are in.
  [[nodiscard]] static Result<std::unique_ptr<Log>, std::string> open(
      const config::Logger& settings, const std::vector<std::string>& files);
  ~Log();

  void write(Level level, std::string procedure, std::string text, Fields fields = {},
             const std::source_location& caller = std::source_location::current());
  void info(std::string procedure, std::string text, Fields fields = {},
            const std::source_location& caller = std::source_location::current()) {
    write(Level::Info, std::move(procedure), std::move(text), std::move(fields), caller);
  }
  void warn(std::string procedure, std::string text, Fields fields = {},
            const std::source_location& caller = std::source_location::current()) {
    write(Level::Warn, std::move(procedure), std::move(text), std::move(fields), caller);
  }
  void error(std::string procedure, std::string text, Fields fields = {},
             const std::source_location& caller = std::source_location::current()) {
    write(Level::Error, std::move(procedure), std::move(text), std::move(fields), caller);
  }

  [[nodiscard]] bool enabled(Level level) const;
  /// New settings from now on.
  void apply(const config::Logger& settings);
  [[nodiscard]] config::Logger settings() const;
  /// Opens the files anew: what logrotate moved away is left alone.
  [[nodiscard]] Result<void, std::string> reopen();
  /// One line for each kind of which lines were left out, at their level; to be called now and
  /// then. The destructor says what is left.
  void report_suppressed();

 private:
  Log(const config::Logger& settings, const std::vector<std::string>& files);
  void put(const LogLine& line);

  mutable std::mutex mutex_{};
  config::Logger settings_{};
  std::vector<std::string> files_{};
  bool journal_{};
  LogBudget budget_{};
  std::shared_ptr<spdlog::logger> stderr_{};
  std::shared_ptr<spdlog::logger> file_{};
};

}  // namespace upf::app

#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/app/ctl/output.hpp"
#include "src/app/http/client.hpp"

/// The commands of upfctl. They talk to the admin API and to nothing else, but for `check`, which
/// also works without a daemon.
namespace upf::app::ctl {

inline constexpr int kRefused = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUnreachable = 3;
inline constexpr int kNotFound = 4;

/// Thrown to end a command; caught in run_ctl().
struct Stop {
  int code{};
  std::string text{};
};

/// What a command was given, and the daemon to ask.
struct Session {
  http::Address server{};
  std::string where{};           ///< the same as it was given
  std::string format = "table";  ///< or "json", "yaml"
  std::map<std::string, std::string> options{};
  std::vector<std::string> words{};

  [[nodiscard]] std::string option(const std::string& name) const;
  [[nodiscard]] const std::string& word(std::size_t index, const char* what) const;
  /// "?ue=…&limit=…" of the options that were given.
  [[nodiscard]] std::string query(std::initializer_list<const char*> names) const;
  [[nodiscard]] std::string fetch(const std::string& method, const std::string& target) const;
  /// The answer, an object. What a daemon of another version leaves out is null.
  [[nodiscard]] Json call(const std::string& method, const std::string& target) const;
  /// True if it was written as JSON or YAML.
  bool print_as_data(const Json& json) const;
  /// As above, of what goes on: an object a line, or a document each. Nothing of it waits in a
  /// buffer.
  bool print_as_record(const Json& json) const;
  /// The first part of a list of sessions that has any; `query` may be empty and has no "after".
  [[nodiscard]] Json find_sessions(const std::string& query) const;
  /// The SEID of "0x…", or of the session that has a UE's address.
  [[nodiscard]] std::string seid_of(const std::string& word) const;
};

[[nodiscard]] int status(const Session& s);
[[nodiscard]] int ready(const Session& s);
[[nodiscard]] int sessions(const Session& s);
[[nodiscard]] int session(const Session& s);
[[nodiscard]] int peers(const Session& s);
[[nodiscard]] int refusals(const Session& s);
[[nodiscard]] int counters(const Session& s);
[[nodiscard]] int features(const Session& s);
[[nodiscard]] int pools(const Session& s);
[[nodiscard]] int config_in_force(const Session& s);
[[nodiscard]] int watch(const Session& s);
[[nodiscard]] int trace(const Session& s);
[[nodiscard]] int capture(const Session& s);
[[nodiscard]] int drain(const Session& s);
[[nodiscard]] int reload(const Session& s);
[[nodiscard]] int audit(const Session& s);
[[nodiscard]] int log_level(const Session& s);
[[nodiscard]] int release(const Session& s);
[[nodiscard]] int drop(const Session& s);
[[nodiscard]] int check(const Session& s);

}  // namespace upf::app::ctl

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upf/base/clock.hpp"

namespace upf::app {

enum class Level : std::uint8_t { Trace, Debug, Info, Warn, Error, Fatal };

/// One event for the log, before it is a line of text or of JSON.
struct LogLine {
  Level level{};
  WallTime at{};
  std::string procedure{};  ///< what kind of event: `session-establishment`, `start`, …
  std::string text{};
  std::vector<std::pair<std::string, std::string>>
      fields{};          ///< seid, peer, …; empty ones left out
  std::string caller{};  ///< file:line, or empty
};

/// `2026-11-30T18:51:14.123Z INFO  start: ready n4=127.0.0.8:8805`, without line end. What isn't
/// printable ASCII or UTF-8 is escaped: a peer may have chosen it.
[[nodiscard]] std::string as_text(const LogLine& line);
/// One JSON object.
[[nodiscard]] std::string as_json(const LogLine& line);
/// For journald, which takes the level from a `<6>` in front: as as_text() without the time, or
/// JSON.
[[nodiscard]] std::string as_journal(const LogLine& line, bool json);

[[nodiscard]] std::string_view name_of(Level level);

}  // namespace upf::app

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/n4/message.hpp"
#include "upf/session/plan.hpp"

namespace upf::control {

/// One line for the log. Below the shell nothing is logged, only said.
struct LogRecord {
  enum class Level : std::uint8_t { Debug, Info, Warning, Error };
  Level level{};
  std::string text{};
  std::string procedure{};  ///< `session-establishment`, `association-setup`, …; empty: none
  std::optional<Seid> seid{};
  std::string peer{};                              ///< the peer's transport address or Node ID
  std::string ue_address{};                        ///< of the session, where it has one
  std::optional<std::chrono::nanoseconds> took{};  ///< where Settings::clock is given
};

/// A request of a peer that was served, and where the time went, where Settings::clock is given.
struct Served {
  pfcp::MessageType type{};
  SocketAddress peer{};
  std::optional<session::Refusal> refusal{};  ///< none: it was accepted
  std::optional<Seid> peer_seid{};            ///< of a refusal's header
  std::chrono::nanoseconds decode{};
  std::chrono::nanoseconds plan{};
  std::chrono::nanoseconds plane{};
  std::chrono::nanoseconds answer{};  ///< the rest: usage, encoding, state
};

/// What the shell must do after feeding the UP function; nothing of it has been done yet.
struct Output {
  std::vector<n4::Datagram> send{};    ///< in this order
  std::optional<TimePoint> wake_at{};  ///< when on_timer() is due, whatever was asked before
  std::vector<LogRecord> log{};
  std::vector<Served> served{};
};

}  // namespace upf::control

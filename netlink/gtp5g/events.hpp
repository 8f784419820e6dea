#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "upf/base/ids.hpp"
#include "upf/rules/rules.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::gtp5g {

/// A usage report of one kernel URR: an answer to GET_REPORT or DEL_URR, or part of an event.
struct Report {
  Seid seid{};
  std::uint32_t urr{};
  std::uint32_t trigger{};  ///< 0: none
  rules::Volume octets{};
  rules::Volume packets{};
  bool operator==(const Report&) const = default;
};

/// A packet that met a FAR that buffers.
struct BufferedEvent {
  Seid seid{};
  std::uint16_t pdr{};
  std::uint16_t action{};
  wire::Bytes packet{};  ///< into the datagram
};

using KernelEvent = std::variant<BufferedEvent, Report>;

/// Reports in the attributes of an answer or of an event's nest; what is no whole report is
/// skipped.
[[nodiscard]] std::vector<Report> decode_reports(wire::Bytes attributes);

/// The events of one datagram from the multicast group. `family` is gtp5g's; other messages are
/// skipped. The datagram must outlive what comes back.
[[nodiscard]] std::vector<KernelEvent> decode_events(std::uint16_t family, wire::Bytes datagram);

}  // namespace upf::gtp5g

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "src/app/metrics/exposition.hpp"
#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/control/output.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/message_type.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::app::metrics {

enum class Direction : std::uint8_t { In, Out };

/// A request of a peer that we refused, for the operator.
struct RefusalRecord {
  WallTime at{};
  SocketAddress peer{};
  pfcp::MessageType type{};  ///< of the request
  Seid peer_seid{};          ///< of the answer's header
  session::Refusal refusal{};
};

/// Counts what passes through the N4 socket by looking at it: no decoding, a few comparisons a
/// datagram. It is told every datagram in order, and each request that was served.
///
/// Limits: 64 peers by name, the rest as "other"; only addresses that an association was set up
/// with get a name, so that made up senders don't use them up. 50 refusals are kept.
class N4Meter {
 public:
  static constexpr std::size_t kPeers = 64;
  static constexpr std::size_t kRefusals = 50;

  void on_datagram(Direction direction, const SocketAddress& peer, wire::Bytes datagram);
  void on_send_failures(std::uint64_t count) { send_failures_ += count; }
  void on_served(const control::Served& served, WallTime at);

  [[nodiscard]] const std::deque<RefusalRecord>& refusals() const { return refusals_; }
  void expose(Exposition& to) const;

  struct Totals {
    std::uint64_t received{};
    std::uint64_t sent{};
    std::uint64_t refused{};  ///< our answers that refuse
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }

 private:
  struct Timing {
    Histogram decode{};
    Histogram plan{};
    Histogram plane{};
    Histogram answer{};
    Histogram total{};
  };
  using Type = pfcp::MessageType;
  /// Of one peer, or of all that have no name. What comes with each message is a plain index: type
  /// for messages; for answers, which come with few causes, a short ordered list will do.
  struct Counts {
    std::array<std::array<std::uint64_t, 256>, 2> messages{};
    std::map<std::tuple<Direction, Type, pfcp::Cause>, std::uint64_t> answers{};
  };

  void on_answer(Direction direction, const SocketAddress& peer, Type type, wire::Bytes body);
  void count_reports(Type type, wire::Bytes body);
  [[nodiscard]] Counts& counts_of(const IpAddress& peer);
  static void expose_peer(Exposition& to, const std::string& name, const Counts& counts);

  std::unordered_map<IpAddress, Counts> peers_{};
  Counts others_{};
  std::array<std::uint64_t, 2> octets_{};
  std::uint64_t malformed_{};
  std::uint64_t send_failures_{};
  std::map<std::string_view, std::uint64_t> reports_{};
  std::map<std::string_view, std::uint64_t> usage_{};
  std::array<std::unique_ptr<Timing>, 256> timings_{};  ///< by type
  std::deque<RefusalRecord> refusals_{};
  Totals totals_{};
};

/// "heartbeat_request" for a label; "message_200" for a type that is not listed.
[[nodiscard]] std::string label_of(pfcp::MessageType type);
/// "mandatory_ie_missing"
[[nodiscard]] std::string label_of(pfcp::Cause cause);

}  // namespace upf::app::metrics

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "upf/base/clock.hpp"
#include "upf/n4/message.hpp"

namespace upf::n4 {

/// Names a peer's request for as long as its answer is kept.
struct RequestKey {
  SocketAddress peer{};
  std::uint32_t sequence{};
  pfcp::MessageType type{};
  bool operator==(const RequestKey&) const = default;
};

/// A request that was not seen before. It is answered once: by Endpoint::answer(), or never, by
/// Endpoint::abandon().
struct Request {
  RequestKey key{};
  Header header{};
  wire::Bytes body{};     ///< the IEs; points into the datagram
  bool invalid_length{};  ///< the length field and the datagram disagree: cause 68 (7.6.3)
};

/// What Endpoint::request() returns and Response and Expired bring back.
struct OwnRequest {
  std::uint32_t value{};
  auto operator<=>(const OwnRequest&) const = default;
};

/// The answer to one of our requests, which is over by that.
struct Response {
  OwnRequest request{};
  SocketAddress from{};
  Header header{};
  wire::Bytes body{};
  bool invalid_length{};
};

/// One of our requests was sent as often as it may be and got no answer.
struct Expired {
  OwnRequest request{};
  SocketAddress peer{};
  pfcp::MessageType type{};
};

using Received = std::variant<Request, Response>;

/// What became of a datagram.
struct Input {
  std::vector<Received> received{};
  std::vector<Datagram> send{};  ///< repeated answers, Version Not Supported
};

/// What the passing of time brought.
struct Timeouts {
  std::vector<Expired> expired{};
  std::vector<Datagram> send{};  ///< repeated requests
};

/// Counts since start, for the operator.
struct EndpointCounters {
  std::uint64_t received{};
  std::uint64_t malformed{};  ///< too short for a header, or a length that does not fit
  std::uint64_t unknown_type{};
  std::uint64_t unsupported_version{};
  std::uint64_t repeated_answered{};  ///< duplicate requests answered from the cache
  std::uint64_t repeated_dropped{};   ///< duplicates that came before there was an answer
  std::uint64_t stray_responses{};    ///< matched none of our requests
  std::uint64_t retransmitted{};
  std::uint64_t expired{};
};

/// PFCP transactions with all peers (TS 29.244 6.4, 7.2.2, 7.6).
///
/// API: feed datagrams and the time; what is to be sent comes back as values. Holds no socket.
///
/// Requests of peers: one that repeats an earlier one octet for octet, from the same address and
/// port, is answered from the cache and not seen again above. One that reuses the sequence number
/// with other octets is new: a CP function that restarts counts from 1 again (free5GC), and must
/// not get its former life's answers.
///
/// Own requests: repeated until answered, `max_retransmissions` times. An answer is matched by
/// sequence number and address; the port may differ.
///
/// Limits: the cache holds so many entries and octets for known peers, and so many for all other
/// addresses together, so that strangers can't displace what known peers need. Heartbeats are not
/// cached: answering one again costs as much as remembering it.
class Endpoint {
 public:
  struct CacheLimits {
    std::size_t entries{};
    std::size_t octets{};
  };
  struct Settings {
    std::chrono::milliseconds retransmit_after{1000};  ///< T1
    unsigned max_retransmissions{3};                   ///< N1: sent 1 + N1 times in all
    /// How long an answer is kept: longer than SMFs repeat (free5GC 3 x 3 s, Open5GS 10 s).
    std::chrono::milliseconds keep_answers{15000};
    CacheLimits known{65536, 16U << 20U};
    CacheLimits unknown{1024, 256U << 10U};
    std::size_t max_own_requests{4096};
    std::uint32_t first_sequence{1};
  };

  explicit Endpoint(const Settings& settings);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  [[nodiscard]] Input on_datagram(const Now& now, const SocketAddress& from, wire::Bytes datagram);
  [[nodiscard]] Timeouts on_timer(const Now& now);
  [[nodiscard]] std::optional<TimePoint> wake_at() const;

  /// The answer to a request: what to send, remembered for repetitions.
  [[nodiscard]] Datagram answer(const RequestKey& key, wire::Octets message);
  /// The request gets no answer; a repetition of it is a new request.
  void abandon(const RequestKey& key);

  /// Begins a request of our own: fills the sequence number into `message` and puts it into `send`.
  /// Nothing if too many are under way, and then nothing was begun.
  [[nodiscard]] std::optional<OwnRequest> request(const Now& now, const SocketAddress& to,
                                                  wire::Octets message,
                                                  std::vector<Datagram>& send);
  /// Stops repeating; an answer that comes later is stray.
  void cancel(OwnRequest request);
  [[nodiscard]] std::size_t own_requests() const { return own_.size(); }
  [[nodiscard]] bool can_request() const { return own_.size() < settings_.max_own_requests; }

  /// From the next repetition on.
  void set_retransmission(std::chrono::milliseconds after, unsigned max_retransmissions) {
    settings_.retransmit_after = after;
    settings_.max_retransmissions = max_retransmissions;
  }

  /// Whose answers have the larger share of the cache.
  void set_known(const IpAddress& peer, bool known);
  /// Drops all that is remembered of an address: the node behind it began a new life.
  void forget_answers(const IpAddress& peer);

  [[nodiscard]] const EndpointCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t cached_octets() const;
  [[nodiscard]] std::size_t cached_entries() const;

 private:
  struct Caches;
  struct Own {
    SocketAddress to{};
    pfcp::MessageType type{};
    wire::Octets message{};
    unsigned repeated{};
    TimePoint due{};
  };

  void on_message(const Now& now, const SocketAddress& from, const Header& header,
                  wire::Bytes message, bool invalid_length, Input& input);
  void on_request(const Now& now, const SocketAddress& from, const Header& header,
                  wire::Bytes message, bool invalid_length, Input& input);
  void on_response(const SocketAddress& from, const Header& header, wire::Bytes message,
                   bool invalid_length, Input& input);
  [[nodiscard]] std::optional<std::uint32_t> match(const SocketAddress& from,
                                                   const Header& header) const;
  [[nodiscard]] std::uint32_t next_sequence();
  void finish(std::map<std::uint32_t, Own>::iterator own);

  Settings settings_;
  std::unique_ptr<Caches> caches_;
  std::set<IpAddress> known_peers_;
  std::map<std::uint32_t, Own> own_;  ///< by sequence number
  std::set<std::pair<TimePoint, std::uint32_t>> due_;
  std::uint32_t sequence_;
  EndpointCounters counters_;
};

}  // namespace upf::n4

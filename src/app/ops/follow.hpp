#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/app/ops/pcapng.hpp"
#include "upf/control/output.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/session/session.hpp"

namespace upf::app::ops {

/// Whom to follow: a session, or whatever session has a UE address.
struct Target {
  std::optional<Seid> seid{};
  std::optional<IpAddress> ue{};
  std::string text{};  ///< as it was asked for
};
/// "0x…" or a number: a SEID; an address: a UE.
[[nodiscard]] std::optional<Target> parse_target(const std::string& text);

struct TraceRecord {
  std::uint64_t number{};  ///< from 1
  WallTime at{};
  std::string kind{};  ///< n4-in, n4-out, plane, kernel, event, log
  std::string text{};
  bool operator==(const TraceRecord&) const = default;
};

/// What happened to one subscriber, for a while: as text, as a capture, or both.
struct Following {
  static constexpr std::size_t kRecords = 2000;      ///< older ones go
  static constexpr std::size_t kLongestText = 8192;  ///< octets of a record's; "…" stands for more
  explicit Following(Target whom, std::size_t capture_limit)
      : target(std::move(whom)), capture(capture_limit) {}

  Target target;
  std::set<Seid> seids{};  ///< its sessions, also those that have ended
  /// CP F-SEIDs of these: SEIDs of two CP functions may be equal.
  std::set<std::pair<IpAddress, Seid>> peer_seids{};
  bool keeps_records{true};  ///< nobody reads a capture's
  std::deque<TraceRecord> records{};
  std::uint64_t next{1};
  Pcapng capture;
  std::uint64_t lost{};  ///< packets that the kernel had no room for
  TimePoint until{};

  void note(WallTime at, std::string kind, std::string text);
};

/// Follows subscribers through what passes between N4 socket, control half and data plane. Each
/// call of the control half is one exchange: the datagram that began it, the changes that it made,
/// and what it sent. An exchange belongs to a subscriber if it touches one of its sessions.
///
/// Costs nothing while nobody is followed. Limits: 8 at once, each with an end.
class Follower {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kLargestCapture = 64U << 20U;
  static constexpr std::chrono::seconds kLongest{3600};

  explicit Follower(const session::Store& sessions) : sessions_(sessions) {}
  /// Who has something to do for it only while anybody is followed.
  void when_active(std::function<void(bool active)> tell) { tell_ = std::move(tell); }

  [[nodiscard]] Result<unsigned, std::string> start(Target target, std::size_t capture_limit,
                                                    TimePoint until);
  bool stop(unsigned id);
  [[nodiscard]] Following* find(unsigned id);
  [[nodiscard]] const std::map<unsigned, std::unique_ptr<Following>>& all() const { return all_; }
  /// Ends those whose time is over.
  void expire(TimePoint now);

  [[nodiscard]] bool active() const { return !all_.empty(); }
  void begin(const SocketAddress& from, wire::Bytes datagram);
  void on_change(const dataplane::Change& change,
                 const Result<dataplane::Applied, dataplane::Failure>& outcome,
                 std::chrono::nanoseconds took);
  void on_event(const dataplane::Event& event);
  void on_deed(const dataplane::Deed& deed);
  void end(WallTime at, const SocketAddress& local, const control::Output& output);

 private:
  struct Note {
    std::string kind{};
    std::string text{};
    Seid seid{};
    std::vector<std::string> ues{};
  };
  struct Exchange {
    std::optional<std::pair<SocketAddress, wire::Octets>> received{};
    std::vector<Note> notes{};
  };
  [[nodiscard]] bool concerns(Following& following, const Exchange& exchange,
                              const control::Output& output) const;
  void learn(Following& following, Seid seid) const;
  void note(const char* kind, std::string text, Seid seid);
  template <class Gone>
  std::size_t erase_if(const Gone& gone);
  /// Sent to the CP function's end of one of its sessions.
  [[nodiscard]] static bool is_for(const Following& following, const n4::Datagram& datagram);
  static void write(Following& following, const Exchange& exchange, WallTime at,
                    const SocketAddress& local, const control::Output& output, bool whole);

  const session::Store& sessions_;
  std::map<unsigned, std::unique_ptr<Following>> all_{};
  unsigned next_{1};
  Exchange exchange_{};
  std::function<void(bool)> tell_{};
};

/// "+PDR 1 +FAR 1 ~QER 2 -URR 3": what a change does to the rules.
[[nodiscard]] std::string summary_of(const dataplane::Change& change);

}  // namespace upf::app::ops

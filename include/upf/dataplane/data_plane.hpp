#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/base/result.hpp"
#include "upf/dataplane/audit.hpp"
#include "upf/rules/rules.hpp"

/// The port to whatever forwards packets. It speaks rules, never PFCP IEs or netlink.
namespace upf::dataplane {

/// What was counted for a URR since it was last read. Reading is taking: no octet is in two
/// readings and none is in no reading.
struct Reading {
  UrrId urr{};
  rules::Volume octets{};
  rules::Volume packets{};
  /// Downlink, by what is armed with a rules::DropLimit.
  std::uint64_t dropped_packets{};
  std::uint64_t dropped_octets{};
  std::optional<WallTime> first_packet{};  ///< where the plane knows it
  std::optional<WallTime> last_packet{};
  bool operator==(const Reading&) const = default;
};

using RuleId = std::variant<PdrId, FarId, QerId, UrrId, BarId>;

/// Why a change is not in the plane. Nothing of it is.
struct Failure {
  enum class Kind : std::uint8_t {
    Unsupported,  ///< this plane can't do what the rule asks (said before anything was touched)
    NoResources,  ///< a limit of the plane or the host
    Refused,      ///< the kernel said no; the detail says what
    Unavailable,  ///< the plane is down (module gone, calls hang)
  };
  Kind kind{};
  std::optional<RuleId> rule{};  ///< the rule that couldn't be installed, where one is to blame
  std::string detail{};          ///< for the log
};

/// One session's step from one set of rules to the next.
struct Change {
  Seid seid{};
  const rules::SessionRules* before{};  ///< nullptr: the session begins
  const rules::SessionRules* after{};   ///< nullptr: the session ends
  /// SNDEM (TS 29.244 8.2.50): FARs whose old tunnel gets one End Marker after its last packet, if
  /// the outer header really changes.
  std::vector<FarId> end_markers{};
  /// FARs whose buffered packets are thrown away instead of being sent (DROBU).
  std::vector<FarId> drop_buffered{};
  /// URRs to read along with the change (Query URR).
  std::vector<UrrId> query{};
};

/// What an applied change brought back: a reading for each URR that was queried or that is gone
/// after the change, in order of ID. Final readings are complete: the rule no longer counts.
struct Applied {
  std::vector<Reading> readings{};
  /// Where the plane does less than the rules ask, in words for the operator.
  std::vector<std::string> warnings{};
};

/// The first packet of a buffering episode of a FAR with NOCP, once its BAR's delay is over. Armed
/// again at each transition to buffering.
struct DownlinkData {
  Seid seid{};
  PdrId pdr{};
  std::optional<std::uint8_t> qfi{};
  std::optional<std::uint8_t> dscp{};  ///< of the packet, for the Paging Policy Indication
  bool operator==(const DownlinkData&) const = default;
};

/// A limit of the URR was reached; the reading is what had not been read yet.
struct LimitReached {
  enum class Limit : std::uint8_t { Notify, Block, Dropped };
  Seid seid{};
  Limit limit{};
  std::uint32_t generation{};  ///< of the limit that was reached
  Reading reading{};
};

struct TrafficStart {
  Seid seid{};
  UrrId urr{};
  WallTime at{};
};

/// A GTP-U peer doesn't know a tunnel that we send to (TS 29.281 7.3.1).
struct ErrorIndication {
  Teid teid{};
  IpAddress peer{};
};

/// A GTP-U peer stopped or began to answer Echo Requests (TS 23.527).
struct PathState {
  IpAddress peer{};
  bool up{};
};

/// Events were lost (a queue overran): every counter and buffer is to be read again.
struct Overrun {};

using Event =
    std::variant<DownlinkData, LimitReached, TrafficStart, ErrorIndication, PathState, Overrun>;

/// What a plane can do, as far as the control half promises it to peers (UP Function Features, TS
/// 29.244 8.2.25).
struct Capabilities {
  std::string name{};
  bool ipv6{};            ///< PDU sessions of IPv6 and IPv4v6
  bool outer_ipv6{};      ///< GTP-U over IPv6
  bool buffering{};       ///< BUCP's counterpart: BUFF in the UP function
  bool end_marker{};      ///< EMPU
  bool framed_routing{};  ///< FRRT
  bool quota_action{};    ///< QUOAC
  bool cp_function{};     ///< tunnels from and to the CP function (N4-u)
  /// Not a peer's concern: nothing of the plane is left when the process ends.
  bool ends_with_process{};
};

/// Counts for the operator, all since start. `name` is a metric name's stem; labels are one level.
struct Counter {
  std::string name{};
  std::string label{};  ///< empty: none; for drops the reason, for packets the direction
  std::uint64_t value{};
};

/// A GTP-U peer that rules send to, for the operator.
struct Path {
  IpAddress peer{};
  bool up{};
  std::size_t tunnels{};  ///< FARs that send there
  /// Of the last answered Echo Request; none: none was answered yet, or none are sent.
  std::optional<std::chrono::nanoseconds> round_trip{};
};

/// What a plane itself has of a session, for the operator.
struct Inspection {
  /// A rule as it is installed, in the plane's own words. One PFCP rule may be several, or none.
  struct Rule {
    RuleId of{};          ///< the PFCP rule
    std::string state{};  ///< "#3 forward teid=0x2001@10.0.0.2"
  };
  std::vector<Rule> rules{};
  std::vector<Reading> counted{};  ///< since each URR began
  std::size_t waiting_packets{};   ///< buffered
};

/// Something that a plane did for a session, in its own words, for whoever follows that session:
/// what its answers and events don't say.
struct Deed {
  Seid seid{};
  bool kernel{};  ///< a call into the kernel
  std::string text{};
};
using Watcher = std::function<void(const Deed&)>;

/// Implementations: gtp5g::Plane, userplane::UserPlane and the tests' FakePlane; tests/contract
/// holds them to the same behaviour.
///
/// Threading: all calls come from the one control thread. apply() is synchronous: when it returns
/// without failure the rules are what packets meet.
class DataPlane {
 public:
  DataPlane() = default;
  DataPlane(const DataPlane&) = delete;
  DataPlane& operator=(const DataPlane&) = delete;
  virtual ~DataPlane() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  /// All of the change or nothing of it. Order, make-before-break, buffered packets and undo are
  /// the plane's. A session that ends succeeds even if the plane had lost it.
  [[nodiscard]] virtual Result<Applied, Failure> apply(const Change& change) = 0;

  /// Takes the readings of these URRs of a session; of all its URRs if none is named.
  [[nodiscard]] virtual Result<std::vector<Reading>, Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) = 0;

  /// Readable (epoll) when take_events() has something to do or to say; -1: never.
  [[nodiscard]] virtual int event_descriptor() const = 0;
  [[nodiscard]] virtual std::vector<Event> take_events() = 0;

  [[nodiscard]] virtual std::vector<Counter> counters() const = 0;

  // For the operator. What a plane doesn't know it leaves out.

  [[nodiscard]] virtual std::vector<Path> paths() const { return {}; }
  /// Why the plane does nothing more of what it is asked, for good, and what it takes to mend that;
  /// empty: it does.
  [[nodiscard]] virtual std::string fault() const { return {}; }
  /// The watcher is told of each deed right after it was done, on the control thread. Empty: nobody
  /// watches, and a deed costs a look at that.
  virtual void watch(const Watcher& /*watcher*/) {}
  /// Looking changes nothing: no reading is taken. None: the plane has no such session.
  [[nodiscard]] virtual std::optional<Inspection> inspect(Seid /*seid*/) const { return {}; }
  /// Routes one more UE network to the plane while it runs. The error is for the operator.
  [[nodiscard]] virtual Result<void, std::string> add_network(const IpPrefix& /*network*/) {
    return {};
  }

  /// Reads back what is installed for a session and compares it with what should be: `intended` is
  /// what the last apply() was given. With `repair` what differs is made anew; what was right all
  /// the while serves packets meanwhile. The session may be unknown to the plane: it is missing.
  [[nodiscard]] virtual Result<Audited, Failure> audit(Seid seid,
                                                       const rules::SessionRules& intended,
                                                       bool repair) {
    (void)seid, (void)intended, (void)repair;
    return failure(Failure{Failure::Kind::Unsupported, {}, "this plane can't read back its rules"});
  }
  /// The next slice of the search for rules of no session that `known` takes; begins anew after one
  /// that said it was the last. With `repair` they go.
  [[nodiscard]] virtual Result<Strays, Failure> audit_strays(const std::function<bool(Seid)>& known,
                                                             bool repair) {
    (void)known, (void)repair;
    return Strays{.done = true};
  }
};

}  // namespace upf::dataplane

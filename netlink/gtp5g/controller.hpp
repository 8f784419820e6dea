#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "netlink/gtp5g/compile.hpp"
#include "netlink/gtp5g/episodes.hpp"
#include "netlink/gtp5g/events.hpp"
#include "netlink/gtp5g/held_qers.hpp"
#include "netlink/gtp5g/host.hpp"
#include "netlink/gtp5g/paths.hpp"
#include "netlink/gtp5g/plan.hpp"
#include "netlink/gtp5g/rule_dump.hpp"
#include "netlink/gtp5g/safe_socket.hpp"
#include "netlink/gtp5g/settings.hpp"
#include "netlink/gtp5g/wakeup.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/dataplane/packet_buffer.hpp"

namespace upf::gtp5g {

/// What open() brings up, in the order in which it is needed.
struct Parts {
  std::unique_ptr<Host> host{};
  std::unique_ptr<SafeSocket> socket{};
  std::unique_ptr<GtpuSocket> gtpu{};
  std::unique_ptr<netlink::Transport> events{};
  Link link{};
  std::string version{};
  std::vector<std::string> notes{};
};

/// The plane behind its port: sessions, what is installed for each, and what the kernel says.
class Controller {
 public:
  Controller(Settings settings, Parts parts);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  /// Rules first, then the link.
  ~Controller();

  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change);
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs);
  [[nodiscard]] std::vector<dataplane::Event> take_events();
  [[nodiscard]] std::vector<dataplane::Counter> counters() const;
  [[nodiscard]] std::vector<dataplane::Path> paths() const { return paths_.all(); }
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const;
  [[nodiscard]] const std::string& fault() const { return parts_.socket->fault(); }
  void watch(const dataplane::Watcher& watcher) {
    parts_.socket->watch(watcher);
    watcher_ = watcher;
  }
  [[nodiscard]] Result<void, std::string> add_network(const IpPrefix& network);
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair);
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair);
  [[nodiscard]] int event_descriptor() const { return wakeup_.descriptor(); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return parts_.notes; }

 private:
  using Failure = dataplane::Failure;
  /// Held ones that a wake-up deletes at most: N4 doesn't wait longer than for a session's change.
  static constexpr std::size_t kQersAtOnce = 128;
  /// More than the module takes to walk the PDRs under a quota.
  static constexpr std::chrono::milliseconds kWalk{1};

  /// Counted, but not handed up yet.
  struct Unread {
    rules::Volume octets{};
    rules::Volume packets{};
  };
  struct Session {
    rules::SessionRules rules{};
    KernelRules kernel{};
    Installed installed{};
    FiredLimits fired{};
    std::map<UrrId, Unread> unread{};
    std::map<UrrId, rules::Volume> metered{};  ///< all that was ever counted
    struct Armed {
      std::uint32_t generation{};
      rules::Volume base{};  ///< of `metered`, when it was armed
    };
    std::map<UrrKey, Armed> armed{};
    std::vector<UrrKey> to_base{};               ///< armed on a meter that is to be read for it
    std::set<UrrId> counted_here{};              ///< URRs of packets that the daemon sent itself
    std::vector<Op> leftovers{};                 ///< deletions that the kernel refused: tried again
    std::map<std::uint16_t, PdrId> pdr_names{};  ///< kernel PDR to PDR, also of the last ones gone
    std::map<std::uint32_t, UrrKey> urr_names{};
  };
  /// A packet that came through a tunnel, to go through the kernel once more.
  struct Again {
    Ipv4 local{};
    Teid teid{};
    std::vector<std::uint8_t> octets{};
  };
  /// A change on its way.
  struct Step {
    Seid seid{};
    const rules::SessionRules* after{};
    Compiled compiled{};
    KernelPlan plan{};
    std::vector<FarId> flush{};             ///< FARs whose held packets go out
    std::vector<Op> done{};                 ///< what the kernel carried out so far
    std::set<std::uint32_t> failed_fars{};  ///< kernel FARs whose update it refused
  };
  struct Counts {
    std::uint64_t kernel_refusals{};
    std::uint64_t undone{};
    std::uint64_t overruns{};
    std::uint64_t flushed{};
    std::uint64_t no_tunnel{};
    std::uint64_t not_sent{};
    std::uint64_t end_markers{};
    std::uint64_t strange_events{};
    std::uint64_t error_indications{};
    std::uint64_t echo_requests{};
    std::uint64_t echo_responses{};
    std::uint64_t gtpu_ignored{};
  };

  // controller.cpp: changes
  [[nodiscard]] std::optional<Failure> refuse_early(const dataplane::Change& change) const;
  [[nodiscard]] Result<void, Failure> switch_over(Session& session, Step& step);
  [[nodiscard]] Result<void, Failure> run_ops(Session& session, Step& step,
                                              const std::vector<Op>& ops);
  void undo(Session& session, const Step& step);
  void settle_undo(Session& session, const Step& step, const std::vector<Op>& ops,
                   const std::vector<netlink::Answer>& answers);
  [[nodiscard]] Failure why(const Step& step, const Op& op, int error) const;
  void adopt(Session& session, Step& step);
  [[nodiscard]] std::map<UrrId, dataplane::Reading> clean_up(Session& session, const Step& step,
                                                             const std::vector<UrrId>& query);
  [[nodiscard]] std::optional<std::vector<netlink::Answer>> send(Seid seid,
                                                                 const std::vector<Op>& ops);
  [[nodiscard]] bool send_some(Seid seid, const std::vector<Op>& ops,
                               const std::vector<std::size_t>& which,
                               std::vector<netlink::Answer>& answers);
  void end_quotas(Seid seid, Session& session);
  void forget(Seid seid, const Session& session);
  void hold(std::span<const RuleName> qers);
  void delete_held(std::size_t most);
  [[nodiscard]] std::vector<RuleName> delete_qers(std::vector<RuleName> qers);
  void resync(Seid seid, Session& session);
  void index_teids(Seid seid, const rules::SessionRules* before, const rules::SessionRules* after);

  // controller_usage.cpp
  [[nodiscard]] dataplane::Reading take_unread(Session& session, UrrId urr);
  /// Adds to a Reading or an Unread.
  template <class To>
  static void add(To& to, const rules::Volume& octets, const rules::Volume& packets) {
    to.octets.uplink += octets.uplink;
    to.octets.downlink += octets.downlink;
    to.packets.uplink += packets.uplink;
    to.packets.downlink += packets.downlink;
  }
  void on_report(const Report& report);
  void arm(Session& session, const Installed& before);
  void count_here(Session& session, const rules::Pdr& pdr, const rules::Volume& octets);
  void recount(Seid seid, Session& session);
  void on_threshold(Seid seid, Session& session, const UrrKey& key);
  void on_quota(Seid seid, Session& session, const UrrKey& key);
  [[nodiscard]] dataplane::Reading read_now(Seid seid, Session& session, UrrId urr);

  // controller_audit.cpp: what the kernel really holds
  struct Comparison {
    std::uint64_t rules{};
    std::set<RuleName> wrong{};
    std::vector<dataplane::Drift> drifts{};
  };
  [[nodiscard]] static Failure unavailable();
  [[nodiscard]] std::optional<std::vector<netlink::Answer>> get(const std::vector<RuleName>& names);
  void settle_events();
  [[nodiscard]] Result<Comparison, Failure> compare(Seid seid, const Session& session);
  [[nodiscard]] Result<dataplane::Audited, Failure> replace_whole(
      Seid seid, const rules::SessionRules& intended, bool repair);
  void keep_counts(Seid seid, Session& session, const std::set<RuleName>& wrong);
  bool mend(Seid seid, Session& session, const std::set<RuleName>& wrong);
  [[nodiscard]] bool is_ours(const RuleName& name) const;
  [[nodiscard]] Result<void, Failure> open_dump();
  void end_unknown_sessions(const std::function<bool(Seid)>& known, bool repair,
                            std::vector<dataplane::Drift>& drifts);
  [[nodiscard]] bool find_strays(bool repair, std::vector<dataplane::Drift>& drifts);
  bool remove_stray(const RuleName& name);
  [[nodiscard]] std::set<RuleName> remove_stray_quotas(const std::vector<RuleName>& names,
                                                       const std::vector<netlink::Answer>& found);

  void keep_limits(const rules::SessionRules& before, Session& session);

  // controller_buffer.cpp: packets that wait, and what is sent from here
  void drain_events();
  void on_buffered(const BufferedEvent& event);
  void follow_buffering(const dataplane::Change& change);
  [[nodiscard]] std::vector<FarId> fars_to_flush(const dataplane::Change& change) const;
  void drop_held(Seid seid, FarId far);
  void flush(Session& session, const Step& step);
  void send_held(Session& session, const rules::SessionRules& rules, const KernelRules& kernel,
                 const dataplane::BufferedPacket& packet, std::optional<std::uint16_t> sequence);
  void send_again();
  void send_end_markers(const dataplane::Change& change, const Session& session);
  void read_gtpu();
  void on_signalling(const SocketAddress& from, wire::Bytes datagram);
  void follow_peers(const Installed& before, const Installed& after);
  void ask_peers();
  void arm_wakeup();

  Settings settings_;
  Parts parts_;
  Target target_;
  KernelIds ids_;
  HeldQers held_;
  std::unordered_map<Seid, Session> sessions_{};
  std::unordered_map<Teid, Seid> teids_{};
  dataplane::PacketBuffer buffer_;
  Episodes episodes_{};
  Paths paths_;
  std::uint16_t echo_sequence_{};
  Wakeup wakeup_;
  std::vector<dataplane::Event> pending_{};
  std::vector<Report> reports_{};
  std::vector<Again> again_{};
  std::set<Seid> to_recount_{};  ///< sessions with packets that the daemon sent itself
  std::vector<std::uint8_t> receive_buffer_;
  std::optional<RuleDump> dump_{};  ///< of an audit that is under way
  std::set<RuleName> suspects_{};   ///< rules that it found and that are not known
  Counts counts_{};
  dataplane::Watcher watcher_{};
};

/// The kernel PDR that stands for a PDR (any of its variants); nullptr: it has none.
[[nodiscard]] const KernelPdr* kernel_pdr_of(const KernelRules& kernel, const rules::Pdr& pdr);

/// PPP, RQI and QFI of the packets that a kernel PDR encapsulates; none: no PDU Session Container.
[[nodiscard]] std::optional<std::uint8_t> container_of(const KernelRules& kernel,
                                                       const KernelPdr& pdr);

}  // namespace upf::gtp5g

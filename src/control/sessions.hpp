#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "src/control/core.hpp"
#include "src/control/session_sets.hpp"

namespace upf::pfcp {
struct SessionModificationRequest;
}

namespace upf::control {

/// Session Establishment, Modification and Deletion (TS 29.244 6.3.2 to 6.3.4), and the ends of
/// sessions that no request asks for.
class Sessions {
 public:
  explicit Sessions(Core& core) : core_(core) {}

  void on_establishment(const n4::Request& request);
  void on_modification(const n4::Request& request);
  void on_deletion(const n4::Request& request);

  /// Ends a session whose CP function still wants its usage: a Session Report with PSDBU follows.
  void end_and_report(Seid seid);
  /// Ends a session whose CP function is gone or has forgotten it.
  void end_silently(Seid seid);
  /// All of an association; returns how many.
  std::size_t end_all_of(const std::string& owner);

  /// Tries again to remove what the plane would not let go of.
  void on_timer();
  [[nodiscard]] std::optional<TimePoint> wake_at() const;

  /// The session goes on with another CP function of the same SMF set.
  void move(Seid seid, const n4::Association& to, const pfcp::FSeid& cp);
  /// The same while nobody knows yet which F-SEID that CP function gives it.
  void orphan(Seid seid, const n4::Association& to);
  [[nodiscard]] bool is_orphan(Seid seid) const { return orphans_.contains(seid); }
  /// Ended, but the plane has not let go of it yet.
  [[nodiscard]] bool is_doomed(Seid seid) const { return doomed_.contains(seid); }
  [[nodiscard]] const SessionSets& sets() const { return sets_; }
  [[nodiscard]] std::size_t orphans() const { return orphans_.size(); }
  [[nodiscard]] std::size_t doomed() const { return doomed_.size(); }

  /// A change that comes with no request of its own (Update BAR in a Session Report Response).
  void modify(Seid seid, const pfcp::SessionModificationRequest& change);
  /// The URRs of the session are armed anew in the plane.
  void rearm(Seid seid);
  /// The rules again from the same provisioning, after the PFDs have changed.
  void refresh(Seid seid);

 private:
  using Reports = std::vector<usage::Report>;

  /// `before`: what the plane has; nullptr: nothing. Afterwards `plan.next` is the session.
  [[nodiscard]] Result<Reports, session::Refusal> execute(session::Plan& plan,
                                                          const rules::SessionRules* before);
  [[nodiscard]] Result<session::Session, pfcp::Cause> find_for(const n4::Request& request) const;
  [[nodiscard]] std::optional<session::Refusal> refusal_of_new(
      const n4::Association* association) const;
  [[nodiscard]] const n4::Association* heir_of(
      const n4::Request& request, const session::Session& session,
      const pfcp::SessionModificationRequest& message) const;
  void settle_pages(const session::Session& session);
  [[nodiscard]] Result<void, session::Refusal> try_remove(Seid seid, bool report);
  void remove(Seid seid, bool report);
  [[nodiscard]] n4::Association* association_of(const std::string& owner) const;

  Core& core_;
  SessionSets sets_{};
  std::unordered_set<Seid> orphans_{};
  /// Sessions that have ended but that the plane failed to remove, and whether their usage is still
  /// owed. They stay in the store, so that their identifiers are not given to others, and nobody
  /// can reach them.
  std::map<Seid, bool> doomed_{};
  TimePoint next_attempt_{};
};

}  // namespace upf::control

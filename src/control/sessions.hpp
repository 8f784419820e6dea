#pragma once

#include <string>
#include <vector>

#include "src/control/core.hpp"

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

  /// A change that comes with no request of its own (Update BAR in a Session Report Response).
  void modify(Seid seid, const pfcp::SessionModificationRequest& change);
  /// The URRs of the session are armed anew in the plane.
  void rearm(Seid seid);
  /// The rules again from the same provisioning, after the PFDs have changed.
  void refresh(Seid seid);

 private:
  using Reports = std::vector<usage::Report>;

  [[nodiscard]] Result<Reports, session::Refusal> execute(session::Plan plan,
                                                          const rules::SessionRules* before);
  [[nodiscard]] Result<const session::Session*, pfcp::Cause> find_for(
      const n4::Request& request) const;
  void settle_pages(const session::Session& session);
  void remove(Seid seid, bool report);

  Core& core_;
};

}  // namespace upf::control

#pragma once

#include <set>

#include "src/session/translate.hpp"
#include "upf/pfcp/messages/session.hpp"
#include "upf/session/plan.hpp"

namespace upf::session {

/// The next state of a session while a request is worked into it, one IE after the other. A call
/// that fails ends the request; what the draft has taken goes back with it.
class Draft {
 public:
  /// `start`: the session as it is, or a new one with its SEID.
  Draft(Context& context, Session start);

  [[nodiscard]] Check remove(const pfcp::SessionModificationRequest& request);
  /// Of a Session Establishment or Modification Request.
  template <class Request>
  [[nodiscard]] Check create(const Request& request);
  [[nodiscard]] Check update(const pfcp::SessionModificationRequest& request);
  /// What can only be seen at the whole: references, limits, addresses of other sessions. Then the
  /// plan is complete but for queries.
  [[nodiscard]] Result<Plan, Refusal> finish() &&;

  /// `restored`: F-TEIDs that are given are told back as if they were chosen (RESTI, 23.007 19A).
  void set_restored(bool restored) { restored_ = restored; }
  /// Nothing is asked for: what can't be made now is left out instead of refused.
  void set_refresh() { refresh_ = true; }
  [[nodiscard]] Session& session() { return plan_.next; }
  [[nodiscard]] Plan& plan() { return plan_; }

 private:
  Check create(const pfcp::CreatePdr& ie);
  Check create(const pfcp::CreateFar& ie);
  Check create(const pfcp::CreateQer& ie);
  Check create(const pfcp::CreateUrr& ie);
  Check create(const pfcp::CreateBar& ie);
  Check create(const pfcp::CreateTrafficEndpoint& ie);
  Check change(const pfcp::UpdatePdr& ie);
  Check change(const pfcp::UpdateFar& ie);
  Check change(const pfcp::UpdateQer& ie);
  Check change(const pfcp::UpdateUrr& ie);
  Check change(const pfcp::UpdateBar& ie);
  Check change(const pfcp::UpdateTrafficEndpoint& ie);
  Check drop(const pfcp::RemovePdr& ie);
  Check drop(const pfcp::RemoveFar& ie);
  Check drop(const pfcp::RemoveQer& ie);
  Check drop(const pfcp::RemoveUrr& ie);
  Check drop(const pfcp::RemoveBar& ie);
  Check drop(const pfcp::RemoveTrafficEndpoint& ie);

  /// Puts a PDR of this provisioning into the session, or its source where it is to be derived.
  Check put(PdrSource source);
  [[nodiscard]] PdrSource source_of(PdrId id) const;
  [[nodiscard]] bool has(PdrId id) const;
  /// Turns what is to be chosen into what was; true if anything was.
  [[nodiscard]] Result<bool, Refusal> resolve(pfcp::FTeid& ie, rules::Interface from,
                                              const std::string& network_instance);
  [[nodiscard]] Result<bool, Refusal> resolve(std::vector<pfcp::UeIpAddress>& ies,
                                              const std::string& network_instance);
  [[nodiscard]] Check choose_ipv4(pfcp::UeIpAddress& ie, const std::string& network_instance);
  [[nodiscard]] Check choose_ipv6(pfcp::UeIpAddress& ie, const std::string& network_instance);
  [[nodiscard]] Check resolve(pfcp::Pdi& pdi, PdrId id, bool updated);
  [[nodiscard]] Result<std::optional<rules::Pdr>, Refusal> compile(const PdrSource& source) const;
  [[nodiscard]] Check compile_endpoints(const pfcp::Pdi& pdi, rules::Pdr& rule) const;
  [[nodiscard]] Result<bool, Refusal> compile_filters(const PdrSource& source,
                                                      rules::Pdr& rule) const;
  [[nodiscard]] Result<bool, Refusal> compile_predefined(const PdrSource& source,
                                                         rules::Pdr& rule) const;
  [[nodiscard]] Check add_predefined(const PdrSource& source);
  [[nodiscard]] Check define_filters(const pfcp::Pdi& pdi);
  [[nodiscard]] Check derive();
  [[nodiscard]] Check check_references() const;
  [[nodiscard]] Check check_limits() const;
  [[nodiscard]] Check check_ue_addresses();
  [[nodiscard]] Check check_teids() const;
  void forget_unused_choices();
  void note_detached();
  void set_usage(rules::UsageUpdate update);

  Context& context_;
  Plan plan_;
  std::set<UrrId> measured_before_{};  ///< URRs that had a PDR when the request came
  std::set<FarId> removed_fars_{};
  std::set<Teid> contested_{};  ///< given TEIDs that another session has
  bool new_{};
  bool restored_{};
  bool refresh_{};
};

/// The TEIDs that a session has, in order: of PDRs, also those without a rule now, and of
/// endpoints.
[[nodiscard]] std::vector<Teid> teids_of(const Session& session);

/// UE addresses as Created PDR and Created Traffic Endpoint have them.
[[nodiscard]] std::vector<pfcp::UeIpAddress> as_created(std::vector<pfcp::UeIpAddress> ies);

/// Vectors of rules are kept in order of ID.
template <class Rule>
bool insert(std::vector<Rule>& sorted, Rule rule) {
  const auto at = std::ranges::lower_bound(sorted, rule.id, {}, &Rule::id);
  if (at != sorted.end() && at->id == rule.id) return false;
  sorted.insert(at, std::move(rule));
  return true;
}
template <class Rule, class Id>
bool erase(std::vector<Rule>& sorted, Id id) {
  const auto at = std::ranges::lower_bound(sorted, id, {}, &Rule::id);
  if (at == sorted.end() || at->id != id) return false;
  sorted.erase(at);
  return true;
}

template <class Request>
Check Draft::create(const Request& request) {
  // SDF Filter IDs first: a PDR may refer to the filter of one that comes later.
  for (const auto& ie : request.create_pdrs) {
    if (auto ok = define_filters(ie.pdi); !ok) {
      return failure(in_rule(std::move(ok.error()), ie.pdr_id));
    }
  }
  const auto each = [this](const auto& ies) -> Check {
    for (const auto& ie : ies) {
      if (auto ok = this->create(ie); !ok) return ok;
    }
    return {};
  };
  auto ok = each(request.create_bars);
  if (ok) ok = each(request.create_traffic_endpoints);
  if (ok) ok = each(request.create_fars);
  if (ok) ok = each(request.create_qers);
  if (ok) ok = each(request.create_urrs);
  if (ok) ok = each(request.create_pdrs);
  return ok;
}

}  // namespace upf::session

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/result.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/ie_type.hpp"
#include "upf/rules/usage_rule.hpp"
#include "upf/session/allocator.hpp"
#include "upf/session/session.hpp"

namespace upf::pfcp {
struct SessionEstablishmentRequest;
struct SessionModificationRequest;
}  // namespace upf::pfcp

/// What a request means for a session: a plan, or a refusal with the cause that the answer carries.
/// Deciding changes nothing but the identifiers that the plan holds:
///
///   auto plan = plan_modification(context, session, request);
///   if (!plan) -> answer with plan.error(); nothing has happened
///   auto prepared = engine.prepare(plan->next.seid, plan->usage, now, reader);
///   plan->next.installed = plan->next.rules;   prepared.arm(plan->next.installed);
///   auto applied = plane.apply({seid, before.installed, plan->next.installed,
///                               plan->end_markers, plan->drop_buffered, plan->query});
///   if (!applied) -> answer with refusal(applied.error()...); the plan's identifiers go back
///   auto reports = engine.commit(std::move(prepared), applied->readings, now);
///   commit(context, *plan);  // the only write of session state
///   answer with accepted(...) and the reports
namespace upf::session {

/// A local GTP-U address as peers are told it.
struct GtpuAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool n9{};           ///< ifList type N9 (tunnels of source interface Core), else N3
  std::string name{};  ///< matched with the Network Instance, where both are there
};

/// A Predefined Rules name of the rules file: what a PDR that activates it (TS 29.244 5.19) gets
/// beside what the CP function provisions. Its IDs have the top bit, the mark of rules that are the
/// UP function's (8.2.74, 8.2.75).
struct PredefinedRule {
  std::vector<rules::SdfFilter> filters{};  ///< at least one
  rules::Far far{};                         ///< for an uplink PDR without a FAR ID
  std::optional<rules::Qer> qer{};          ///< applied beside the PDR's own
};

/// What one session may hold; more is answered with cause 75. No lab meets these.
struct Limits {
  std::size_t sessions{1'000'000};
  std::size_t sessions_per_owner{1'000'000};
  std::size_t pdrs{256};
  std::size_t fars{256};
  std::size_t qers{256};
  std::size_t urrs{256};
  std::size_t bars{64};
  std::size_t endpoints{64};
  std::size_t filters_per_pdr{64};
  std::size_t references_per_pdr{64};  ///< QERs, URRs, QFIs and UE addresses, each
};

struct Settings {
  std::vector<GtpuAddress> gtpu{};
  std::vector<UePool> pools{};
  std::map<std::string, PredefinedRule> predefined{};
  Limits limits{};
  bool ipv6{};            ///< the plane serves IPv6 UEs
  bool framed_routing{};  ///< the plane serves framed routes
};

/// Identifiers in use, for all sessions.
struct Context {
  const Settings& settings;
  /// What the PFDs of an Application ID match; nullptr: unknown.
  using Applications = std::function<const std::vector<rules::SdfFilter>*(const std::string&)>;
  Applications applications{};
  Store& store;
  Teids& teids;
  Random& random;
  UeAddresses* ue_addresses{};  ///< nullptr: the UP function chooses none
};

/// Which rule a refusal is about (Failed Rule ID, TS 29.244 8.2.80).
struct FailedRule {
  enum class Kind : std::uint8_t { Pdr = 0, Far = 1, Qer = 2, Urr = 3, Bar = 4 };
  Kind kind{};
  std::uint32_t id{};
  bool operator==(const FailedRule&) const = default;
};

struct Refusal {
  pfcp::Cause cause{};
  std::optional<pfcp::IeType> offending_ie{};
  std::optional<FailedRule> failed_rule{};
  std::string text{};  ///< for people
};

/// "FAR 3"
[[nodiscard]] std::string to_string(const FailedRule& rule);
/// "Mandatory IE missing, offending IE F-SEID: …"
[[nodiscard]] std::string to_string(const Refusal& refusal);

/// TEIDs and UE addresses that a plan took. They go back unless the plan is committed.
class Reservation {
 public:
  explicit Reservation(Context& context)
      : teids_(&context.teids), addresses_(context.ue_addresses) {}
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { give_back(); }

  [[nodiscard]] std::optional<Teid> allocate(Seid owner);
  /// false: another session has it.
  [[nodiscard]] bool claim(Teid teid, Seid owner);
  void add(Ipv4 address) { ipv4_.push_back(address); }
  void add(const Ipv6Prefix& prefix) { ipv6_.push_back(prefix); }
  /// `used`: the TEIDs that the session has now, in order.
  void keep(const std::vector<Teid>& used);

 private:
  void give_back();
  void forget();
  Teids* teids_;
  UeAddresses* addresses_;
  std::vector<Teid> teids_taken_;
  std::vector<Ipv4> ipv4_;
  std::vector<Ipv6Prefix> ipv6_;
};

/// An F-TEID or UE address that the UP function chose, for Created PDR or Updated PDR.
struct ChosenPdr {
  PdrId id{};
  std::optional<pfcp::FTeid> f_teid{};
  std::vector<pfcp::UeIpAddress> ue_addresses{};
  bool updated{};  ///< Updated PDR (Table 7.5.9.3-1) instead of Created PDR
};
struct ChosenEndpoint {
  std::uint8_t id{};
  std::optional<pfcp::FTeid> f_teid{};
  std::vector<pfcp::UeIpAddress> ue_addresses{};
};

/// What is to be done. Move-only: it holds identifiers.
struct Plan {
  Session next{};  ///< of a deletion: the session that ends
  rules::UsageChange usage{};
  std::vector<FarId> end_markers{};
  std::vector<FarId> drop_buffered{};
  std::vector<UrrId> query{};  ///< to read along: queried or detached URRs
  std::vector<ChosenPdr> chosen_pdrs{};
  std::vector<ChosenEndpoint> chosen_endpoints{};
  /// Sessions of the same CP function whose UE address this one takes over (cases.md 15). End them
  /// first, with a Session Report of their usage.
  std::vector<Seid> supersedes{};
  std::vector<Teid> teids_before{};  ///< what the session had when the request came, in order
  bool ends{};
  Reservation ids;
};

/// `owner`: the Node ID's value octets, of an association that is there.
[[nodiscard]] Result<Plan, Refusal> plan_establishment(
    Context& context, const std::string& owner, const pfcp::SessionEstablishmentRequest& request);

/// The caller has found the session by the header's SEID and checked that the sender may.
[[nodiscard]] Result<Plan, Refusal> plan_modification(
    Context& context, Session session, const pfcp::SessionModificationRequest& request);

/// The session's rules made anew from the same provisioning, once what they depend on (PFDs) has
/// changed. An Application ID that is unknown now matches nothing.
[[nodiscard]] Plan plan_refresh(Context& context, const Session& session);

[[nodiscard]] Plan plan_deletion(Context& context, Session session);

/// The plane has taken it. `plan.next` is in the store from now on, or isn't any more.
void commit(Context& context, Plan& plan);
inline void commit(Context& context, Plan&& plan) { commit(context, plan); }

}  // namespace upf::session

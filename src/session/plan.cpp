#include "upf/session/plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/session/draft.hpp"

namespace upf::session {
namespace {

using pfcp::IeType;

std::string to_text(const pfcp::Snssai& ie) {
  std::string text = std::to_string(ie.sst);
  if (ie.sd == 0xffffff) return text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += '-';
  for (int shift = 20; shift >= 0; shift -= 4) text += kDigits[(ie.sd >> shift) & 0xfU];
  return text;
}

/// TBCD (TS 29.002 17.7.8): two digits an octet, low half first; f fills up.
std::string digits(const std::optional<std::string>& octets) {
  std::string text;
  for (const char c : octets.value_or("")) {
    const auto octet = static_cast<std::uint8_t>(c);
    for (const unsigned digit : {octet & 0xfU, static_cast<unsigned>(octet) >> 4U}) {
      if (digit < 10) text += static_cast<char>('0' + digit);
    }
  }
  return text;
}

/// The 3GPP Interface Types (8.2.118) that PDRs and FARs name, each once.
std::string interface_types(const pfcp::SessionEstablishmentRequest& request) {
  std::set<unsigned> types;
  for (const auto& pdr : request.create_pdrs) {
    if (pdr.pdi.source_interface_type) {
      types.insert(static_cast<unsigned>(*pdr.pdi.source_interface_type));
    }
  }
  for (const auto& far : request.create_fars) {
    if (far.forwarding_parameters && far.forwarding_parameters->destination_interface_type) {
      types.insert(static_cast<unsigned>(*far.forwarding_parameters->destination_interface_type));
    }
  }
  std::string text;
  for (const unsigned type : types) text += (text.empty() ? "" : " ") + std::to_string(type);
  return text;
}

Labels labels(const pfcp::SessionEstablishmentRequest& request) {
  Labels labels{};
  if (request.apn_dnn) labels.dnn = request.apn_dnn->text;
  if (request.s_nssai) labels.s_nssai = to_text(*request.s_nssai);
  if (request.user_id) {
    labels.imsi = digits(request.user_id->imsi);
    labels.imei = digits(request.user_id->imei);
    labels.msisdn = digits(request.user_id->msisdn);
    labels.nai = request.user_id->nai.value_or("");
  }
  if (request.pdn_type) labels.pdn_type = static_cast<std::uint8_t>(*request.pdn_type);
  labels.interface_types = interface_types(request);
  return labels;
}

Check check_pdn_type(const pfcp::SessionEstablishmentRequest& request) {
  if (!request.pdn_type) return {};
  switch (*request.pdn_type) {
    case pfcp::PdnType::Ipv4:
    case pfcp::PdnType::Ipv6:
    case pfcp::PdnType::Ipv4v6:
      return {};
    case pfcp::PdnType::NonIp:
    case pfcp::PdnType::Ethernet:
      return unsupported(IeType::PdnType, "sessions are of IP");
  }
  return incorrect(IeType::PdnType, "it doesn't exist");
}

/// Random, as a peer that knows its own must not know the others'. 0 is nobody's
/// (TS 29.244 7.2.2.4.2), and all ones have broken other implementations (cases.md 4).
std::optional<Seid> free_seid(Context& context) {
  for (int tries = 0; tries < 1000; ++tries) {
    const Seid seid{context.random()};
    if (seid.value != 0 && ~seid.value != 0 && !context.store.contains(seid)) return seid;
  }
  return std::nullopt;
}

Check room_for_one_more(const Context& context, const std::string& owner) {
  const Limits& limits = context.settings.limits;
  if (context.store.size() >= limits.sessions) return exhausted("too many sessions");
  if (context.store.size_of(owner) >= limits.sessions_per_owner) {
    return exhausted("too many sessions of this association");
  }
  return {};
}

Check check_f_seid(const pfcp::FSeid& ie) {
  if (ie.ipv4 || ie.ipv6) return {};
  return incorrect(IeType::FSeid, "it has no address");
}

/// QAURR and Query URR.
Check add_queries(Plan& plan, const pfcp::SessionModificationRequest& request) {
  auto& queried = plan.usage.queried;
  if (request.pfcpsmreq_flags && request.pfcpsmreq_flags->qaurr) {
    for (const auto& urr : plan.next.usage) queried.push_back(urr.id);
  }
  for (const auto& ie : request.query_urrs) {
    if (rules::find(plan.next.usage, ie.urr_id) == nullptr) {
      return bad_rule(ie.urr_id, "is queried but doesn't exist");
    }
    if (std::ranges::find(queried, ie.urr_id) == queried.end()) queried.push_back(ie.urr_id);
  }
  // A URR that is created in this message has nothing to report, but it is asked for.
  for (const UrrId id : queried) {
    if (std::ranges::find(plan.query, id) == plan.query.end()) plan.query.push_back(id);
  }
  plan.usage.query_reference = request.query_urr_reference;
  return {};
}

}  // namespace

std::vector<Teid> teids_of(const Session& session) {
  std::vector<Teid> teids;
  for (const auto& pdr : session.rules.pdrs) {
    if (pdr.f_teid) teids.push_back(pdr.f_teid->teid);
  }
  for (const auto& [id, source] : session.sources) {
    if (source->pdi.local_f_teid) teids.push_back(source->pdi.local_f_teid->teid);
  }
  for (const auto& [id, endpoint] : session.endpoints) {
    if (endpoint->local_f_teid) teids.push_back(endpoint->local_f_teid->teid);
  }
  std::ranges::sort(teids);
  // Not std::ranges::unique: clang 14, which fuzzes, can't read the library's subrange.
  teids.erase(std::unique(teids.begin(), teids.end()), teids.end());
  return teids;
}

// --- reservation -------------------------------------------------------------------------------

Reservation::Reservation(Reservation&& other) noexcept
    : teids_(other.teids_),
      addresses_(other.addresses_),
      teids_taken_(std::exchange(other.teids_taken_, {})),
      ipv4_(std::exchange(other.ipv4_, {})),
      ipv6_(std::exchange(other.ipv6_, {})) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    give_back();
    teids_ = other.teids_;
    addresses_ = other.addresses_;
    teids_taken_ = std::exchange(other.teids_taken_, {});
    ipv4_ = std::exchange(other.ipv4_, {});
    ipv6_ = std::exchange(other.ipv6_, {});
  }
  return *this;
}

void Reservation::keep(const std::vector<Teid>& used) {
  // One that a later IE of the same request put out of use again isn't kept.
  for (const Teid teid : teids_taken_) {
    if (!std::ranges::binary_search(used, teid)) teids_->release(teid);
  }
  forget();
}

void Reservation::forget() {
  teids_taken_.clear();
  ipv4_.clear();
  ipv6_.clear();
}

void Reservation::give_back() {
  for (const Teid teid : teids_taken_) teids_->release(teid);
  for (const Ipv4 address : ipv4_) addresses_->release(address);
  for (const auto& prefix : ipv6_) addresses_->release(prefix);
  forget();
}

std::optional<Teid> Reservation::allocate(Seid owner) {
  const auto teid = teids_->allocate(owner);
  if (teid) teids_taken_.push_back(*teid);
  return teid;
}

bool Reservation::claim(Teid teid, Seid owner) {
  const auto holder = teids_->owner(teid);
  if (holder) return *holder == owner;
  if (!teids_->claim(teid, owner)) return false;
  teids_taken_.push_back(teid);
  return true;
}

// --- planning ----------------------------------------------------------------------------------

Result<Plan, Refusal> plan_establishment(Context& context, const std::string& owner,
                                         const pfcp::SessionEstablishmentRequest& request) {
  if (auto ok = room_for_one_more(context, owner); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_f_seid(request.cp_f_seid); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_pdn_type(request); !ok) return failure(std::move(ok.error()));
  const auto seid = free_seid(context);
  if (!seid) return exhausted("no SEID is left");
  Session start{.seid = *seid, .owner = owner, .cp = request.cp_f_seid, .labels = labels(request)};
  Draft draft{context, std::move(start)};
  draft.set_restored(request.pfcpsereq_flags && request.pfcpsereq_flags->resti);
  if (request.user_plane_inactivity_timer) {
    draft.session().inactivity_timer_s = request.user_plane_inactivity_timer->count();
    draft.plan().usage.inactivity_timer = request.user_plane_inactivity_timer->count();
  }
  if (auto ok = draft.create(request); !ok) return failure(std::move(ok.error()));
  return std::move(draft).finish();
}

Result<Plan, Refusal> plan_modification(Context& context, Session session,
                                        const pfcp::SessionModificationRequest& request) {
  Draft draft{context, std::move(session)};
  if (request.cp_f_seid) {
    if (auto ok = check_f_seid(*request.cp_f_seid); !ok) return failure(std::move(ok.error()));
    draft.session().cp = *request.cp_f_seid;
  }
  if (request.s_nssai) draft.session().labels.s_nssai = to_text(*request.s_nssai);
  if (request.user_plane_inactivity_timer) {
    draft.session().inactivity_timer_s = request.user_plane_inactivity_timer->count();
    draft.plan().usage.inactivity_timer = request.user_plane_inactivity_timer->count();
  }
  if (request.pfcpsmreq_flags && request.pfcpsmreq_flags->drobu) {
    for (const auto& far : draft.session().rules.fars) {
      if (far.action.buffer) draft.plan().drop_buffered.push_back(far.id);
    }
  }
  if (auto ok = draft.remove(request); !ok) return failure(std::move(ok.error()));
  if (auto ok = draft.create(request); !ok) return failure(std::move(ok.error()));
  if (auto ok = draft.update(request); !ok) return failure(std::move(ok.error()));
  auto plan = std::move(draft).finish();
  if (!plan) return plan;
  if (auto ok = add_queries(*plan, request); !ok) return failure(std::move(ok.error()));
  // FARs that are gone have no buffer left to be told of.
  std::erase_if(plan->drop_buffered,
                [&](FarId id) { return rules::find(plan->next.rules.fars, id) == nullptr; });
  std::ranges::sort(plan->query);
  return plan;
}

Plan plan_refresh(Context& context, const Session& session) {
  Draft draft{context, session};
  draft.set_refresh();
  auto plan = std::move(draft).finish();
  if (plan) return std::move(*plan);
  // Flows of an application may be more than a session may have: it keeps what it has.
  return Plan{.next = session, .ids = Reservation{context}};
}

Plan plan_deletion(Context& context, Session session) {
  Plan plan{.next = std::move(session), .ends = true, .ids = Reservation{context}};
  plan.teids_before = teids_of(plan.next);
  plan.usage.ends = true;
  return plan;
}

void commit(Context& context, Plan& plan) {
  const Seid seid = plan.next.seid;
  const std::vector<Teid> after = plan.ends ? std::vector<Teid>{} : teids_of(plan.next);
  plan.ids.keep(after);
  for (const Teid teid : plan.teids_before) {
    if (!std::ranges::binary_search(after, teid)) context.teids.release(teid);
  }
  // Those of a session that this one supersedes have come free only now.
  for (const Teid teid : after) (void)context.teids.claim(teid, seid);
  if (plan.ends) {
    for (const auto& [instance, address] : plan.next.chosen_ipv4) {
      context.ue_addresses->release(address);
    }
    for (const auto& [key, prefix] : plan.next.chosen_ipv6) context.ue_addresses->release(prefix);
    context.store.erase(seid);
  } else {
    context.store.put(plan.next);
  }
}

}  // namespace upf::session

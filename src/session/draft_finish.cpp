#include <algorithm>

#include "src/session/draft.hpp"

// Identifiers that the UP function chooses, and what can only be checked once the whole request has
// been worked in.

namespace upf::session {
namespace {

using pfcp::IeType;

/// The local GTP-U address for a tunnel that is to be chosen: of the kind that the source interface
/// asks for, by preference of the Network Instance's name.
const GtpuAddress* pick(const std::vector<GtpuAddress>& all, const pfcp::FTeid& ie,
                        rules::Interface from, const std::string& instance) {
  const GtpuAddress* best = nullptr;
  int best_score = -1;
  const bool n9 = from == rules::Interface::Core;
  for (const GtpuAddress& address : all) {
    if (!(ie.ipv4 && address.ipv4) && !(ie.ipv6 && address.ipv6)) continue;
    const int score = (address.n9 == n9 ? 2 : 0) + (address.name == instance ? 1 : 0);
    if (score > best_score) {
      best = &address;
      best_score = score;
    }
  }
  return best;
}

bool faces_n6(const rules::Pdr& pdr) {
  const bool core = pdr.source_interface == rules::Interface::Core ||
                    pdr.source_interface == rules::Interface::N6Lan;
  return core && !pdr.f_teid;
}

}  // namespace

Result<bool, Refusal> Draft::resolve(pfcp::FTeid& ie, rules::Interface from,
                                     const std::string& network_instance) {
  const Seid owner = session().seid;
  if (!ie.ipv4 && !ie.ipv6) return incorrect(IeType::FTeid, "it names no address family");
  if (!ie.choose) {
    if (ie.teid == Teid{}) return incorrect(IeType::FTeid, "TEID is 0");
    if (!plan_.ids.claim(ie.teid, owner)) contested_.insert(ie.teid);
    return false;
  }
  const GtpuAddress* local = pick(context_.settings.gtpu, ie, from, network_instance);
  if (local == nullptr) return exhausted("no local GTP-U address of the family that is asked for");
  std::optional<Teid> teid;
  if (ie.choose_id) {
    const auto known = session().chosen_teids.find(*ie.choose_id);
    if (known != session().chosen_teids.end()) teid = known->second;
  }
  if (!teid) teid = plan_.ids.allocate(owner);
  if (!teid) return exhausted("no TEID is left");
  if (ie.choose_id) session().chosen_teids[*ie.choose_id] = *teid;
  ie = {.teid = *teid,
        .ipv4 = ie.ipv4 ? local->ipv4 : std::nullopt,
        .ipv6 = ie.ipv6 ? local->ipv6 : std::nullopt};
  return true;
}

Result<bool, Refusal> Draft::resolve(std::vector<pfcp::UeIpAddress>& ies,
                                     const std::string& network_instance) {
  bool any = false;
  for (auto& ie : ies) {
    Check ok;
    any = any || ie.choose_ipv4 || ie.choose_ipv6;
    if (ie.choose_ipv4) ok = choose_ipv4(ie, network_instance);
    if (ok && ie.choose_ipv6) ok = choose_ipv6(ie, network_instance);
    if (!ok) return failure(std::move(ok.error()));
  }
  return any;
}

namespace {

auto no_pool() {
  return unsupported(IeType::UeIpAddress, "there is no address pool for this data network");
}
auto pool_used_up() {
  return failure(Refusal{pfcp::Cause::AllDynamicAddressesAreOccupied, IeType::UeIpAddress,
                         std::nullopt, "the address pool is used up"});
}

}  // namespace

Check Draft::choose_ipv4(pfcp::UeIpAddress& ie, const std::string& network_instance) {
  ie.choose_ipv4 = false;
  auto& chosen = session().chosen_ipv4;
  if (const auto at = chosen.find(network_instance); at != chosen.end()) {
    ie.ipv4 = at->second;
    return {};
  }
  UeAddresses* pools = context_.ue_addresses;
  if (pools == nullptr) return no_pool();
  const auto network = pools->network({network_instance, session().labels.dnn}, false);
  if (!network) return no_pool();
  const auto taken = [&](Ipv4 a) { return context_.store.of_ue(network_instance, a).has_value(); };
  const auto address = pools->allocate_ipv4(*network, taken);
  if (!address) return pool_used_up();
  plan_.ids.add(*address);
  chosen.emplace(network_instance, *address);
  ie.ipv4 = *address;
  return {};
}

Check Draft::choose_ipv6(pfcp::UeIpAddress& ie, const std::string& network_instance) {
  ie.choose_ipv6 = false;
  const unsigned whole = ie.ipv6_prefix_length.value_or(64);
  const unsigned delegated = ie.ipv6_prefix_delegation_bits.value_or(0);
  if (whole > 64 || delegated >= whole) {
    return unsupported(IeType::UeIpAddress, "IPv6 prefixes that we choose have at most 64 bits");
  }
  const auto length = static_cast<std::uint8_t>(whole - delegated);
  auto& chosen = session().chosen_ipv6;
  if (const auto at = chosen.find({network_instance, length}); at != chosen.end()) {
    ie.ipv6 = at->second.address;
    return {};
  }
  UeAddresses* pools = context_.ue_addresses;
  if (pools == nullptr) return no_pool();
  const auto network = pools->network({network_instance, session().labels.dnn}, true);
  if (!network) return no_pool();
  const auto taken = [&](const Ipv6Prefix& prefix) {
    return context_.store.of_ue(network_instance, prefix).has_value();
  };
  const auto prefix = pools->allocate_ipv6(*network, length, taken);
  if (!prefix) return pool_used_up();
  plan_.ids.add(*prefix);
  chosen.emplace(std::pair{network_instance, length}, *prefix);
  ie.ipv6 = prefix->address;
  return {};
}

Result<Plan, Refusal> Draft::finish() && {
  if (auto ok = derive(); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_limits(); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_references(); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_ue_addresses(); !ok) return failure(std::move(ok.error()));
  if (auto ok = check_teids(); !ok) return failure(std::move(ok.error()));
  forget_unused_choices();
  note_detached();
  // Sessions stay for hours: without the room that growing left.
  rules::SessionRules& all = plan_.next.rules;
  all.pdrs.shrink_to_fit();
  all.fars.shrink_to_fit();
  all.qers.shrink_to_fit();
  all.urrs.shrink_to_fit();
  plan_.next.usage.shrink_to_fit();
  return std::move(plan_);
}

Check Draft::check_references() const {
  const rules::SessionRules& all = plan_.next.rules;
  for (const auto& pdr : all.pdrs) {
    if (rules::find(all.fars, pdr.far) == nullptr) {
      if (removed_fars_.contains(pdr.far)) {
        return bad_rule(pdr.far, "is to be removed but " + to_string(failed(pdr.id)) + " uses it");
      }
      return bad_rule(pdr.id, "refers to " + to_string(failed(pdr.far)) + ", which doesn't exist");
    }
    for (const QerId id : pdr.qers) {
      if (rules::find(all.qers, id) != nullptr) continue;
      return bad_rule(pdr.id, "refers to " + to_string(failed(id)) + ", which doesn't exist");
    }
    for (const UrrId id : pdr.urrs) {
      if (rules::find(all.urrs, id) != nullptr) continue;
      return bad_rule(pdr.id, "refers to " + to_string(failed(id)) + ", which doesn't exist");
    }
  }
  for (const auto& far : all.fars) {
    if (far.bar && rules::find(all.bars, *far.bar) == nullptr) {
      return bad_rule(far.id, "refers to " + to_string(failed(*far.bar)) + ", which doesn't exist");
    }
  }
  for (const auto& urr : plan_.next.usage) {
    if (urr.quota_action && rules::find(all.fars, *urr.quota_action) == nullptr) {
      return bad_rule(
          urr.id, "refers to " + to_string(failed(*urr.quota_action)) + ", which doesn't exist");
    }
  }
  return {};
}

Check Draft::check_limits() const {
  const Limits& limits = context_.settings.limits;
  const Session& next = plan_.next;
  const auto most = [](std::size_t count, std::size_t limit, const char* what) -> Check {
    if (count <= limit) return {};
    return exhausted(std::to_string(count) + ' ' + what + ", the limit is " +
                     std::to_string(limit));
  };
  auto ok = most(std::max(next.rules.pdrs.size(), next.sources.size()), limits.pdrs, "PDRs");
  if (ok) ok = most(next.rules.fars.size(), limits.fars, "FARs");
  if (ok) ok = most(next.rules.qers.size(), limits.qers, "QERs");
  if (ok) ok = most(next.usage.size(), limits.urrs, "URRs");
  if (ok) ok = most(next.rules.bars.size(), limits.bars, "BARs");
  if (ok) ok = most(next.endpoints.size(), limits.endpoints, "traffic endpoints");
  if (ok) ok = most(next.filters.size(), limits.pdrs, "SDF Filter IDs");
  for (const auto& pdr : next.rules.pdrs) {
    const std::size_t references = std::max({pdr.qers.size(), pdr.urrs.size(), pdr.qfis.size(),
                                             pdr.ue_addresses.size(), pdr.framed_routes.size()});
    if (ok) ok = most(pdr.filters.size(), limits.filters_per_pdr, "SDF filters in a PDR");
    if (ok) ok = most(references, limits.references_per_pdr, "references of a kind in a PDR");
    if (!ok) return failure(in_rule(std::move(ok.error()), pdr.id));
  }
  return ok;
}

// A UE address is one session's on N6. Another CP function can't take it; the same one knows what
// it does (it has lost a deletion, say), and its new session replaces the old one (cases.md 15).
Check Draft::check_ue_addresses() {
  const Session& next = plan_.next;
  const auto check = [&](std::optional<Seid> holder, PdrId pdr) -> Check {
    if (!holder || *holder == next.seid) return {};
    const auto other = context_.store.head(*holder);
    if (!other || other->owner != next.owner || !new_) {
      return bad_rule(pdr, "has the UE address of another session");
    }
    if (std::ranges::find(plan_.supersedes, *holder) == plan_.supersedes.end()) {
      plan_.supersedes.push_back(*holder);
    }
    return {};
  };
  for (const auto& pdr : next.rules.pdrs) {
    if (!faces_n6(pdr)) continue;
    for (const auto& address : pdr.ue_addresses) {
      Check ok;
      if (address.ipv4) {
        ok = check(context_.store.of_ue(pdr.network_instance, *address.ipv4), pdr.id);
      }
      if (ok && address.ipv6) {
        ok = check(context_.store.of_ue(pdr.network_instance, *address.ipv6), pdr.id);
      }
      if (!ok) return ok;
    }
  }
  return {};
}

Check Draft::check_teids() const {
  if (contested_.empty()) return {};
  const auto is_anothers = [&](Teid teid) {
    if (!contested_.contains(teid)) return false;
    const auto owner = context_.teids.owner(teid);
    return owner && *owner != plan_.next.seid &&
           std::ranges::find(plan_.supersedes, *owner) == plan_.supersedes.end();
  };
  const auto teids = teids_of(plan_.next);
  const auto taken = std::ranges::find_if(teids, is_anothers);
  if (taken == teids.end()) return {};
  Refusal refusal{restored_ ? pfcp::Cause::PfcpSessionRestorationFailure
                            : pfcp::Cause::RuleCreationModificationFailure,
                  restored_ ? std::optional{IeType::FTeid} : std::nullopt, std::nullopt,
                  "TEID " + std::to_string(taken->value) + " is another session's"};
  for (const auto& pdr : plan_.next.rules.pdrs) {
    if (pdr.f_teid && pdr.f_teid->teid == *taken) {
      return failure(in_rule(std::move(refusal), pdr.id));
    }
  }
  return failure(std::move(refusal));
}

/// A CHOOSE ID is forgotten with the last use of its TEID.
void Draft::forget_unused_choices() {
  if (plan_.next.chosen_teids.empty()) return;
  const auto used = teids_of(plan_.next);
  std::erase_if(session().chosen_teids,
                [&](const auto& entry) { return !std::ranges::binary_search(used, entry.second); });
}

/// URRs that stay but that no PDR refers to any more: final reports (TS 29.244 5.2.2.3.1).
void Draft::note_detached() {
  if (measured_before_.empty()) return;
  std::set<UrrId> measured;
  for (const auto& pdr : plan_.next.rules.pdrs) {
    measured.insert(pdr.urrs.begin(), pdr.urrs.end());
  }
  for (const UrrId id : measured_before_) {
    if (measured.contains(id) || rules::find(plan_.next.usage, id) == nullptr) continue;
    const auto& removed = plan_.usage.removed;
    if (std::ranges::find(removed, id) != removed.end()) continue;
    plan_.usage.detached.push_back(id);
    plan_.query.push_back(id);
  }
}

}  // namespace upf::session

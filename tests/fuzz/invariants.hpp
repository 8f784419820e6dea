#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/fake_plane.hpp"
#include "upf/control/up_function.hpp"

/// What holds of a UP function and its plane between any two calls.
namespace upf::fuzz {

[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

/// A session as far as it can be compared.
struct Image {
  std::string owner{};
  pfcp::FSeid cp{};
  rules::SessionRules rules{};
  rules::SessionRules installed{};
  std::vector<rules::UsageRule> usage{};
  std::map<std::uint8_t, Teid> teids{};
  std::map<std::uint32_t, rules::SdfFilter> filters{};
  std::map<std::string, Ipv4> ipv4{};
  std::map<std::pair<std::string, std::uint8_t>, Ipv6Prefix> ipv6{};
  std::map<PdrId, std::shared_ptr<const session::PdrSource>> sources{};
  std::map<std::uint8_t, std::shared_ptr<const pfcp::CreateTrafficEndpoint>> endpoints{};
  std::optional<std::uint32_t> inactivity_timer{};
  session::Labels labels{};
  bool operator==(const Image&) const = default;

  explicit Image(const session::Session& from)
      : owner(from.owner),
        cp(from.cp),
        rules(from.rules),
        installed(from.installed),
        usage(from.usage),
        teids(from.chosen_teids),
        filters(from.filters),
        ipv4(from.chosen_ipv4),
        ipv6(from.chosen_ipv6),
        sources(from.sources),
        endpoints(from.endpoints),
        inactivity_timer(from.inactivity_timer_s),
        labels(from.labels) {}
};

/// What must not change when a request is refused.
struct Snapshot {
  std::map<Seid, Image> sessions{};
  std::map<Seid, rules::SessionRules> installed{};
  std::size_t teids{};
  std::size_t ue_addresses{};
  std::size_t urrs{};
  control::UpFunction::Kept kept{};
  bool operator==(const Snapshot&) const = default;

  Snapshot(const control::UpFunction& up, const contract::FakePlane& plane)
      : teids(up.teids().size()),
        ue_addresses(up.ue_addresses().size()),
        urrs(up.usage().urr_count()),
        kept(up.kept()) {
    for (const Seid seid : plane.seids()) installed[seid] = *plane.rules_of(seid);
    for (const Seid seid : up.sessions().all()) {
      sessions.emplace(seid, Image{*up.sessions().find(seid)});
    }
  }
};

/// The TEIDs of a session: of its rules, of what they are made from, and of its endpoints.
inline void add_teids(const session::Session& session, std::set<Teid>& teids) {
  for (const auto& pdr : session.rules.pdrs) {
    if (pdr.f_teid) teids.insert(pdr.f_teid->teid);
  }
  for (const auto& [id, endpoint] : session.endpoints) {
    if (endpoint->local_f_teid) teids.insert(endpoint->local_f_teid->teid);
  }
  for (const auto& [id, source] : session.sources) {
    if (source->pdi.local_f_teid) teids.insert(source->pdi.local_f_teid->teid);
  }
}

/// A UE address on N6 is the session's alone.
inline void check_ue_addresses(const control::UpFunction& up, const session::Session& session) {
  for (const auto& pdr : session.rules.pdrs) {
    if (pdr.source_interface != rules::Interface::Core || pdr.f_teid) continue;
    for (const auto& ue : pdr.ue_addresses) {
      if (ue.ipv4 && up.sessions().of_ue(pdr.network_instance, *ue.ipv4) != session.seid) {
        broken("a UE address is two sessions' or nobody's");
      }
    }
  }
}

/// Plane and store hold the same, and what sessions take from is given out as often as it is held.
inline void check_state(const control::UpFunction& up, const contract::FakePlane& plane) {
  auto seids = up.sessions().all();
  std::ranges::sort(seids);
  if (seids != plane.seids()) broken("the plane has other sessions than the store");
  std::set<Teid> teids;
  std::size_t urrs = 0;
  std::size_t addresses = 0;
  for (const Seid seid : seids) {
    const session::Session session = *up.sessions().find(seid);
    if (session.installed != *plane.rules_of(seid)) {
      broken("the plane has other rules than the store");
    }
    std::set<Teid> own;
    add_teids(session, own);
    for (const Teid teid : own) {
      if (up.teids().owner(teid) != seid) broken("a TEID is not its session's");
    }
    teids.merge(own);
    urrs += session.usage.size();
    addresses += session.chosen_ipv4.size() + session.chosen_ipv6.size();
    check_ue_addresses(up, session);
  }
  if (teids.size() != up.teids().size()) broken("a TEID has leaked or is missing");
  if (urrs != up.usage().urr_count()) broken("a URR has leaked or is missing");
  if (addresses != up.ue_addresses().size()) broken("a UE address has leaked or is missing");
}

/// When all peers are gone.
inline void check_nothing_is_left(const control::UpFunction& up, const contract::FakePlane& plane) {
  if (plane.session_count() != 0) broken("sessions are left in the plane");
  if (up.sessions().size() != 0) broken("sessions are left in the store");
  if (up.teids().size() != 0) broken("TEIDs are left");
  if (up.ue_addresses().size() != 0) broken("UE addresses are left");
  if (up.usage().urr_count() != 0) broken("URRs are left");
  if (up.unsent_reports().sessions() != 0) broken("reports are left");
  if (up.unsent_reports().usage_reports() != 0) broken("the count of reports is wrong");
  if (up.kept() != control::UpFunction::Kept{}) broken("something of a session is left");
}

}  // namespace upf::fuzz

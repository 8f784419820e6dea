// The user-space plane has no second set of books: what can differ is its tables from the sessions'
// state. The rules are compiled once more and compared with the snapshot that packets meet, and
// each of the session's keys is looked up as a packet would.
#include <algorithm>

#include "session_keeper.hpp"

namespace upf::userplane {

using dataplane::Audited;
using dataplane::Drift;
using dataplane::Failure;

namespace {

bool same(const Snapshot& a, const Snapshot& b) {
  return a.seid == b.seid && a.filtered == b.filtered && a.cacheable == b.cacheable &&
         a.pdrs == b.pdrs && a.fars == b.fars && a.ue == b.ue && a.framed == b.framed &&
         a.filters == b.filters && a.ports == b.ports && a.urrs == b.urrs && a.rates == b.rates;
}

/// The states of the rules, in their order; false: there is none for one of them.
template <class State, class Rule>
bool find_states(const StateList<State>& owned, const std::vector<Rule>& rules,
                 std::vector<State*>& states) {
  for (const Rule& rule : rules) {
    State* const state = owned.find(rule.id);
    if (state == nullptr) return false;
    states.push_back(state);
  }
  return owned.size() == rules.size();
}

std::uint64_t count_of(const rules::SessionRules& rules) {
  return rules.pdrs.size() + rules.fars.size() + rules.qers.size() + rules.urrs.size();
}

}  // namespace

std::optional<Drift> SessionKeeper::compare(Session& session, const rules::SessionRules& intended) {
  const Seid seid = session.seid;
  States states;
  const bool all = find_states(session.urrs, intended.urrs, states.urrs) &&
                   find_states(session.qers, intended.qers, states.qers) &&
                   find_states(session.fars, intended.fars, states.fars);
  if (!all) return Drift{Drift::Kind::Different, seid, "the states of its rules"};
  const auto compiled = compile(seid, intended, states, ends_);
  if (!compiled) return Drift{Drift::Kind::Different, seid, compiled.error().detail};
  const Snapshot& installed = *session.rules.load(std::memory_order_relaxed);
  if (!same(**compiled, installed)) {
    return Drift{Drift::Kind::Different, seid, "the compiled rules"};
  }
  const std::vector<TableKey> keys = keys_of(installed);
  const auto lost = std::ranges::find_if(
      keys, [&](const TableKey& key) { return !shared_.tables.holds(key, &session); });
  if (lost != keys.end()) {
    return Drift{
        Drift::Kind::Missing, seid,
        lost->table == TableKey::Table::Teid ? "a TEID in the table" : "a UE address in the table"};
  }
  return std::nullopt;
}

void SessionKeeper::insert_lost_keys(Session& session) {
  for (const TableKey& key : keys_of(*session.rules.load(std::memory_order_relaxed))) {
    if (shared_.tables.holds(key, &session)) continue;
    shared_.tables.erase(key, &session);  // for the books of prefix lengths
    shared_.tables.insert(key, &session);
  }
}

Result<Audited, Failure> SessionKeeper::audit(Seid seid, const rules::SessionRules& intended,
                                              bool repair) {
  Audited audited{.rules = count_of(intended)};
  Session* session = find(seid);
  auto drift = session == nullptr ? std::optional{Drift{Drift::Kind::Missing, seid, "the session"}}
                                  : compare(*session, intended);
  if (!drift) return audited;
  if (repair) {
    if (session != nullptr) insert_lost_keys(*session);
    const rules::SessionRules* before = session == nullptr ? nullptr : &intended;
    drift->repaired = apply({.seid = seid, .before = before, .after = &intended}).has_value();
  }
  audited.drifts.push_back(std::move(*drift));
  return audited;
}

dataplane::Strays SessionKeeper::audit_strays(const std::function<bool(Seid)>& known, bool repair) {
  dataplane::Strays strays{.done = true};
  std::vector<Seid> unknown;
  for (const auto& [seid, session] : sessions_) {
    if (!known(seid)) unknown.push_back(seid);
  }
  for (const Seid seid : unknown) {
    if (repair) (void)end(*find(seid));
    strays.found.drifts.push_back({Drift::Kind::Foreign, seid, "the session", repair});
  }
  return strays;
}

}  // namespace upf::userplane

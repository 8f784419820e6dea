#include "upf/session/session.hpp"

#include <algorithm>
#include <span>

#include "src/session/packing.hpp"
#include "upf/base/assert.hpp"

namespace upf::session {
namespace {

/// N6's side of a session: where a UE address has to be the session's alone.
bool faces_n6(const rules::Pdr& pdr) {
  const bool core = pdr.source_interface == rules::Interface::Core ||
                    pdr.source_interface == rules::Interface::N6Lan;
  return core && !pdr.f_teid;
}

/// Sorted, each once.
template <class T>
void settle(std::vector<T>& all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// The inner index of a key, or nullptr.
template <class Outer, class Key>
auto inner_of(Outer& outer, const Key& key) -> decltype(&outer.begin()->second) {
  const auto at = outer.find(key);
  return at == outer.end() ? nullptr : &at->second;
}

}  // namespace

std::string_view dnn_of(const Session& session) {
  if (!session.labels.dnn.empty()) return session.labels.dnn;
  for (const auto& pdr : session.rules.pdrs) {
    if (pdr.source_interface == rules::Interface::Core && !pdr.network_instance.empty()) {
      return pdr.network_instance;
    }
  }
  for (const auto& far : session.rules.fars) {
    if (far.forwarding && far.forwarding->destination == rules::Interface::Core) {
      return far.forwarding->network_instance;
    }
  }
  return {};
}

struct Store::Keys {
  std::vector<std::pair<std::string, Ipv4>> ue_ipv4{};
  std::vector<std::pair<std::string, Ipv6Prefix>> ue_ipv6{};
  std::vector<std::pair<IpAddress, Teid>> remote{};
  bool operator==(const Keys&) const = default;

  explicit Keys(const rules::SessionRules& rules) {
    for (const auto& pdr : rules.pdrs) {
      if (!faces_n6(pdr)) continue;
      for (const auto& address : pdr.ue_addresses) {
        if (address.ipv4) ue_ipv4.emplace_back(pdr.network_instance, *address.ipv4);
        if (address.ipv6) ue_ipv6.emplace_back(pdr.network_instance, *address.ipv6);
      }
    }
    for (const auto& far : rules.fars) {
      if (!far.forwarding || !far.forwarding->outer_header) continue;
      remote.emplace_back(far.forwarding->outer_header->peer, far.forwarding->outer_header->teid);
    }
    settle(ue_ipv4);
    settle(ue_ipv6);
    settle(remote);
  }
};

// --- packed ------------------------------------------------------------------------------------

Session Store::unpack(Seid seid, const Record& record) const {
  Session session{.seid = seid};
  Unpacker from{record.octets.get()};
  from.get(session.owner);
  from.get(session.cp);
  from.get(session.rules);
  bool as_provisioned{};
  from.get(as_provisioned);
  if (as_provisioned) {
    session.installed = session.rules;
  } else {
    from.get(session.installed);
  }
  from.get(session.usage);
  from.get(session.predefined_fars);
  from.get(session.predefined_qers);
  from.get(session.chosen_teids);
  from.get(session.filters);
  from.get(session.chosen_ipv4);
  from.get(session.chosen_ipv6);
  from.get(session.inactivity_timer_s);
  from.get(session.labels);
  if (const auto at = origins_.find(seid); at != origins_.end()) {
    session.sources = at->second.sources;
    session.endpoints = at->second.endpoints;
  }
  return session;
}

void Store::pack(const Session& session, Record& record) {
  // Names all members, so that none is forgotten. The SEID is the record's key.
  const auto& [seid, owner, cp, rules, installed, usage, sources, endpoints, predefined_fars,
               predefined_qers, chosen_teids, filters, chosen_ipv4, chosen_ipv6, inactivity_timer,
               labels] = session;
  scratch_.clear();
  Packer into{scratch_};
  into.put(owner);
  into.put(cp);
  into.put(rules);
  const bool as_provisioned = installed == rules;
  into.put(as_provisioned);
  if (!as_provisioned) into.put(installed);
  into.put(usage);
  into.put(predefined_fars);
  into.put(predefined_qers);
  into.put(chosen_teids);
  into.put(filters);
  into.put(chosen_ipv4);
  into.put(chosen_ipv6);
  into.put(inactivity_timer);
  into.put(labels);
  record.octets = std::make_unique<std::uint8_t[]>(scratch_.size());
  std::ranges::copy(scratch_, record.octets.get());
  if (sources.empty() && endpoints.empty()) {
    origins_.erase(seid);
  } else {
    origins_.insert_or_assign(seid, Origins{sources, endpoints});
  }
}

Head Store::head_of(const Record& record) {
  Head head;
  Unpacker from{record.octets.get()};
  from.get(head.owner);
  from.get(head.cp);
  return head;
}

// --- found -------------------------------------------------------------------------------------

Found Store::find(Seid seid) const {
  const Record* const record = records_.find(seid);
  return record == nullptr ? Found{} : Found{unpack(seid, *record)};
}

std::optional<Head> Store::head(Seid seid) const {
  const Record* const record = records_.find(seid);
  if (record == nullptr) return std::nullopt;
  return head_of(*record);
}

std::size_t Store::size_of(const std::string& owner) const {
  const auto at = by_owner_.find(owner);
  return at == by_owner_.end() ? 0 : at->second.seids.size();
}

std::vector<Seid> Store::of_owner(const std::string& owner) const {
  const auto at = by_owner_.find(owner);
  return at == by_owner_.end() ? std::vector<Seid>{} : at->second.seids;
}

std::map<std::string, std::size_t> Store::dnns_of(const std::string& owner) const {
  const auto at = by_owner_.find(owner);
  if (at == by_owner_.end()) return {};
  return {at->second.dnns.begin(), at->second.dnns.end()};
}

std::vector<Seid> Store::all() const {
  std::vector<Seid> seids;
  seids.reserve(records_.size());
  records_.for_each([&](Seid seid, const Record&) { seids.push_back(seid); });
  return seids;
}

std::vector<Seid> Store::of_cp_address(const IpAddress& address) const {
  const auto has = [&](const pfcp::FSeid& cp) {
    if (const auto* v4 = std::get_if<Ipv4>(&address)) return cp.ipv4 == *v4;
    return cp.ipv6 == std::get<Ipv6>(address);
  };
  std::vector<Seid> seids;
  records_.for_each([&](Seid seid, const Record& record) {
    if (has(head_of(record).cp)) seids.push_back(seid);
  });
  return seids;
}

std::optional<Seid> Store::of_cp(const pfcp::FSeid& cp) const {
  std::optional<Seid> found;
  records_.for_each([&](Seid seid, const Record& record) {
    if (!found && head_of(record).cp == cp) found = seid;
  });
  return found;
}

std::optional<Seid> Store::of_ue(const std::string& network_instance, Ipv4 address) const {
  const auto* const network = inner_of(by_ue_ipv4_, network_instance);
  const Seid* const seid = network == nullptr ? nullptr : network->find(address);
  return seid == nullptr ? std::nullopt : std::optional{*seid};
}

std::optional<Seid> Store::of_ue(const std::string& network_instance,
                                 const Ipv6Prefix& prefix) const {
  const auto at = by_ue_ipv6_.find({network_instance, prefix});
  return at == by_ue_ipv6_.end() ? std::nullopt : std::optional{at->second};
}

std::vector<Seid> Store::of_ue(const IpAddress& address) const {
  std::vector<Seid> seids;
  if (const auto* v4 = std::get_if<Ipv4>(&address)) {
    for (const auto& [network, of_network] : by_ue_ipv4_) {
      if (const Seid* const seid = of_network.find(*v4)) seids.push_back(*seid);
    }
    settle(seids);
    return seids;
  }
  const auto& v6 = std::get<Ipv6>(address);
  const Ipv6Prefix near{v6, 64};  // longer prefixes are in it, a shorter one just before it
  Ipv6 last = v6;
  std::ranges::fill(std::span{last.octets}.subspan(8), std::uint8_t{0xff});
  Ipv6 greatest;
  greatest.octets.fill(0xff);
  for (auto network = by_ue_ipv6_.begin(); network != by_ue_ipv6_.end();) {
    const std::string& name = network->first.first;
    for (auto at = by_ue_ipv6_.upper_bound({name, {last, 128}}); at != network;) {
      const auto& [key, seid] = *--at;
      if (key.second.contains(v6)) seids.push_back(seid);
      if (!near.contains(key.second.address)) break;
    }
    network = by_ue_ipv6_.upper_bound({name, {greatest, 128}});
  }
  settle(seids);
  return seids;
}

std::vector<Store::Tunnel> Store::of_remote(Teid teid, const IpAddress& peer) const {
  std::vector<Tunnel> tunnels;
  const auto add = [&](Seid seid) {
    const Session session = unpack(seid, *records_.find(seid));
    for (const auto& far : session.rules.fars) {
      if (!far.forwarding || !far.forwarding->outer_header) continue;
      const auto& header = *far.forwarding->outer_header;
      if (header.teid == teid && header.peer == peer) tunnels.push_back({seid, far.id});
    }
  };
  const auto* const theirs = inner_of(by_remote_, peer);
  const Seid* const first = theirs == nullptr ? nullptr : theirs->find(teid);
  if (first != nullptr) add(*first);
  for (auto at = more_by_remote_.lower_bound({peer, teid, Seid{}}); at != more_by_remote_.end();
       ++at) {
    if (std::get<IpAddress>(*at) != peer || std::get<Teid>(*at) != teid) break;
    add(std::get<Seid>(*at));
  }
  return tunnels;
}

std::vector<Seid> Store::of_peer(const IpAddress& peer) const {
  std::vector<Seid> seids;
  if (const auto* const theirs = inner_of(by_remote_, peer); theirs != nullptr) {
    theirs->for_each([&](Teid, Seid seid) { seids.push_back(seid); });
  }
  for (auto at = more_by_remote_.lower_bound({peer, Teid{}, Seid{}});
       at != more_by_remote_.end() && std::get<IpAddress>(*at) == peer; ++at) {
    seids.push_back(std::get<Seid>(*at));
  }
  settle(seids);
  return seids;
}

// --- changed -----------------------------------------------------------------------------------

void Store::put(const Session& session) {
  const Keys keys{session.rules};
  if (Record* const record = records_.find(session.seid); record != nullptr) {
    const Session before = unpack(session.seid, *record);
    if (const Keys old{before.rules}; !(old == keys)) {
      unindex(old, session.seid);
      index(keys, session.seid);
    }
    if (before.owner != session.owner || dnn_of(before) != dnn_of(session)) {
      leave(before, *record);
      join(session, *record);
    }
    return pack(session, *record);
  }
  Record record;
  join(session, record);
  index(keys, session.seid);
  pack(session, record);
  records_.insert(session.seid, std::move(record));
}

void Store::erase(Seid seid) {
  const Record* const record = records_.find(seid);
  if (record == nullptr) return;
  const Session session = unpack(seid, *record);
  unindex(Keys{session.rules}, seid);
  leave(session, *record);
  origins_.erase(seid);
  records_.erase(seid);
}

void Store::set_installed(Seid seid, rules::SessionRules installed) {
  Record* const record = records_.find(seid);
  UPF_ASSERT(record != nullptr);
  Session session = unpack(seid, *record);
  session.installed = std::move(installed);
  pack(session, *record);
}

void Store::move(Seid seid, std::string owner, pfcp::FSeid cp) {
  Record* const record = records_.find(seid);
  UPF_ASSERT(record != nullptr);
  Session session = unpack(seid, *record);
  leave(session, *record);
  session.owner = std::move(owner);
  session.cp = cp;
  join(session, *record);
  pack(session, *record);
}

void Store::index(const Keys& keys, Seid seid) {
  for (const auto& [network, address] : keys.ue_ipv4) {
    FlatIndex<Ipv4, Seid>& of_network = by_ue_ipv4_[network];
    if (!of_network.insert(address, seid)) *of_network.find(address) = seid;
  }
  for (const auto& key : keys.ue_ipv6) by_ue_ipv6_[key] = seid;
  for (const auto& [peer, teid] : keys.remote) {
    if (!by_remote_[peer].insert(teid, seid)) more_by_remote_.emplace(peer, teid, seid);
  }
}

void Store::unindex(const Keys& keys, Seid seid) {
  for (const auto& [network, address] : keys.ue_ipv4) {
    auto* const of_network = inner_of(by_ue_ipv4_, network);
    const Seid* const holder = of_network == nullptr ? nullptr : of_network->find(address);
    if (holder == nullptr || *holder != seid) continue;
    of_network->erase(address);
    if (of_network->empty()) by_ue_ipv4_.erase(network);
  }
  for (const auto& key : keys.ue_ipv6) {
    const auto at = by_ue_ipv6_.find(key);
    if (at != by_ue_ipv6_.end() && at->second == seid) by_ue_ipv6_.erase(at);
  }
  for (const auto& [peer, teid] : keys.remote) unindex_remote(peer, teid, seid);
}

void Store::unindex_remote(const IpAddress& peer, Teid teid, Seid seid) {
  if (more_by_remote_.erase({peer, teid, seid}) > 0) return;
  FlatIndex<Teid, Seid>& theirs = by_remote_.at(peer);
  const auto heir = more_by_remote_.lower_bound({peer, teid, Seid{}});
  const bool is_shared = heir != more_by_remote_.end() && std::get<IpAddress>(*heir) == peer &&
                         std::get<Teid>(*heir) == teid;
  if (is_shared) {
    *theirs.find(teid) = std::get<Seid>(*heir);
    more_by_remote_.erase(heir);
    return;
  }
  theirs.erase(teid);
  if (theirs.empty()) by_remote_.erase(peer);
}

void Store::join(const Session& session, Record& record) {
  auto& [seids, dnns] = by_owner_[session.owner];
  record.place = static_cast<std::uint32_t>(seids.size());
  seids.push_back(session.seid);
  ++dnns[std::string{dnn_of(session)}];
}

/// The last one takes its place.
void Store::leave(const Session& session, const Record& record) {
  const auto at = by_owner_.find(session.owner);
  auto& [seids, dnns] = at->second;
  if (Record* const last = records_.find(seids.back()); last != nullptr) last->place = record.place;
  seids[record.place] = seids.back();
  seids.pop_back();
  const auto dnn = dnns.find(dnn_of(session));
  if (--dnn->second == 0) dnns.erase(dnn);
  if (seids.empty()) by_owner_.erase(at);
}

}  // namespace upf::session

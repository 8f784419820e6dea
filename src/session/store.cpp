#include "upf/session/session.hpp"

#include <algorithm>

#include "upf/base/assert.hpp"

namespace upf::session {
namespace {

/// N6's side of a session: where a UE address has to be the session's alone.
bool faces_n6(const rules::Pdr& pdr) {
  const bool core = pdr.source_interface == rules::Interface::Core ||
                    pdr.source_interface == rules::Interface::N6Lan;
  return core && !pdr.f_teid;
}

template <class Map>
std::optional<Seid> lookup(const Map& map, const typename Map::key_type& key) {
  const auto at = map.find(key);
  if (at == map.end()) return std::nullopt;
  return at->second;
}

/// Adds the entry, or takes it away if it is still this session's.
template <class Map>
void set(Map& map, const typename Map::key_type& key, Seid seid, bool add) {
  if (add) {
    map[key] = seid;
  } else if (const auto at = map.find(key); at != map.end() && at->second == seid) {
    map.erase(at);
  }
}

}  // namespace

const Session* Store::find(Seid seid) const {
  const auto at = sessions_.find(seid);
  return at == sessions_.end() ? nullptr : &at->second;
}

std::size_t Store::size_of(const std::string& owner) const {
  const auto at = by_owner_.find(owner);
  return at == by_owner_.end() ? 0 : at->second.size();
}

std::vector<Seid> Store::of_owner(const std::string& owner) const {
  const auto at = by_owner_.find(owner);
  if (at == by_owner_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::vector<Seid> Store::all() const {
  std::vector<Seid> seids;
  seids.reserve(sessions_.size());
  for (const auto& [seid, session] : sessions_) seids.push_back(seid);
  return seids;
}

std::vector<Seid> Store::of_cp_address(const IpAddress& address) const {
  const auto has = [&](const pfcp::FSeid& cp) {
    if (const auto* v4 = std::get_if<Ipv4>(&address)) return cp.ipv4 == *v4;
    return cp.ipv6 == std::get<Ipv6>(address);
  };
  std::vector<Seid> seids;
  for (const auto& [seid, session] : sessions_) {
    if (has(session.cp)) seids.push_back(seid);
  }
  return seids;
}

std::optional<Seid> Store::of_cp(const pfcp::FSeid& cp) const {
  for (const auto& [seid, session] : sessions_) {
    if (session.cp == cp) return seid;
  }
  return std::nullopt;
}

std::optional<Seid> Store::of_ue(const std::string& network_instance, Ipv4 address) const {
  return lookup(by_ue_ipv4_, {network_instance, address});
}
std::optional<Seid> Store::of_ue(const std::string& network_instance,
                                 const Ipv6Prefix& prefix) const {
  return lookup(by_ue_ipv6_, {network_instance, prefix});
}

std::vector<Store::Tunnel> Store::of_remote(Teid teid, const IpAddress& peer) const {
  std::vector<Tunnel> tunnels;
  const auto [first, last] = by_remote_.equal_range({peer, teid});
  for (auto at = first; at != last; ++at) tunnels.push_back(at->second);
  return tunnels;
}

std::vector<Seid> Store::of_peer(const IpAddress& peer) const {
  std::vector<Seid> seids;
  for (auto at = by_remote_.lower_bound({peer, Teid{}});
       at != by_remote_.end() && at->first.first == peer; ++at) {
    if (seids.empty() || seids.back() != at->second.seid) seids.push_back(at->second.seid);
  }
  std::ranges::sort(seids);
  seids.erase(std::unique(seids.begin(), seids.end()), seids.end());
  return seids;
}

void Store::put(Session session) {
  erase(session.seid);
  index(session, true);
  const Seid seid = session.seid;
  sessions_.insert_or_assign(seid, std::move(session));
}

void Store::erase(Seid seid) {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return;
  index(at->second, false);
  sessions_.erase(at);
}

void Store::set_installed(Seid seid, rules::SessionRules installed) {
  const auto at = sessions_.find(seid);
  UPF_ASSERT(at != sessions_.end());
  at->second.installed = std::move(installed);
}

void Store::move(Seid seid, std::string owner, pfcp::FSeid cp) {
  const auto at = sessions_.find(seid);
  UPF_ASSERT(at != sessions_.end());
  // In place: who holds a reference to the session (its own request, say) keeps it.
  Session& session = at->second;
  index(session, false);
  session.owner = std::move(owner);
  session.cp = cp;
  index(session, true);
}

void Store::index(const Session& session, bool add) {
  auto& of_owner = by_owner_[session.owner];
  if (add) {
    of_owner.insert(session.seid);
  } else {
    of_owner.erase(session.seid);
    if (of_owner.empty()) by_owner_.erase(session.owner);
  }
  for (const auto& pdr : session.rules.pdrs) {
    if (!faces_n6(pdr)) continue;
    for (const auto& address : pdr.ue_addresses) {
      if (address.ipv4) {
        set(by_ue_ipv4_, {pdr.network_instance, *address.ipv4}, session.seid, add);
      }
      if (address.ipv6) {
        set(by_ue_ipv6_, {pdr.network_instance, *address.ipv6}, session.seid, add);
      }
    }
  }
  for (const auto& far : session.rules.fars) {
    if (!far.forwarding || !far.forwarding->outer_header) continue;
    const auto& header = *far.forwarding->outer_header;
    const std::pair<IpAddress, Teid> key{header.peer, header.teid};
    if (add) {
      by_remote_.emplace(key, Tunnel{session.seid, far.id});
      continue;
    }
    const auto [first, last] = by_remote_.equal_range(key);
    const auto mine = std::find_if(first, last, [&](const auto& entry) {
      return entry.second.seid == session.seid && entry.second.far == far.id;
    });
    if (mine != last) by_remote_.erase(mine);
  }
}

}  // namespace upf::session

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/flat_index.hpp"
#include "upf/base/ids.hpp"
#include "upf/pfcp/ies/pdr.hpp"
#include "upf/rules/rules.hpp"
#include "upf/rules/usage_rule.hpp"

namespace upf::session {

/// What a PDR was provisioned with, kept where its rule depends on something outside of the PDR
/// (Traffic Endpoints, Application IDs, Predefined Rules, SDF Filter IDs) and so may have to be
/// made again.
struct PdrSource {
  pfcp::Pdi pdi{};    ///< its F-TEID and UE addresses are those that were allocated
  rules::Pdr bare{};  ///< the PDR without its PDI and without what Predefined Rules add
  std::vector<std::string> predefined{};  ///< activated Predefined Rules names
  bool without_far{};                     ///< no FAR ID: that of the Predefined Rules
};

/// For the operator only; nothing decides by it.
struct Labels {
  std::string dnn{};
  std::string s_nssai{};  ///< "1-010203"
  std::string imsi{};
  std::string imei{};
  std::string msisdn{};
  std::string nai{};
  std::uint8_t pdn_type{};        ///< TS 29.244 8.2.79; 0: not said
  std::string interface_types{};  ///< 8.2.118 of its PDRs and FARs when it began: "11 17"
  bool operator==(const Labels&) const = default;
};

/// A PFCP session: one value that is replaced as a whole once the plane has taken a change. What is
/// added here and in what it is made of goes into src/session/members.hpp and store.cpp too.
struct Session {
  Seid seid{};                  ///< the UP F-SEID's
  std::string owner{};          ///< the association it belongs to: the Node ID IE's value octets
  pfcp::FSeid cp{};             ///< CP F-SEID: where Session Reports go
  rules::SessionRules rules{};  ///< as provisioned; `urrs` as the usage engine armed them
  rules::SessionRules installed{};  ///< as the plane has them (Quota Action may have changed FARs)
  std::vector<rules::UsageRule> usage{};  ///< as provisioned, in order of ID
  std::map<PdrId, std::shared_ptr<const PdrSource>> sources{};
  /// Traffic Endpoints (5.2.3A), their F-TEIDs and UE addresses as allocated.
  std::map<std::uint8_t, std::shared_ptr<const pfcp::CreateTrafficEndpoint>> endpoints{};
  /// Of `rules`, those that Predefined Rules brought.
  std::vector<FarId> predefined_fars{};
  std::vector<QerId> predefined_qers{};
  std::map<std::uint8_t, Teid> chosen_teids{};          ///< CHOOSE ID to TEID (8.2.3)
  std::map<std::uint32_t, rules::SdfFilter> filters{};  ///< SDF Filter ID to what it stands for
  /// UE addresses of our pools, by Network Instance: one of a kind, whichever PDR asks.
  std::map<std::string, Ipv4> chosen_ipv4{};
  std::map<std::pair<std::string, std::uint8_t>, Ipv6Prefix> chosen_ipv6{};  ///< and length
  std::optional<std::uint32_t> inactivity_timer_s{};  ///< User Plane Inactivity Timer (8.2.83)
  Labels labels{};
  bool operator==(const Session&) const = default;
};

/// The data network's name: what the SMF calls it (APN/DNN), else the Network Instance of the way
/// there, else "".
[[nodiscard]] std::string_view dnn_of(const Session& session);

/// What a session says of its CP function.
struct Head {
  std::string owner{};
  pfcp::FSeid cp{};
};

/// A session out of the store: a copy of its own, which changes don't reach.
class Found {
 public:
  Found() = default;
  explicit Found(Session session) : session_(std::move(session)) {}
  explicit operator bool() const { return session_.has_value(); }
  bool operator==(std::nullptr_t) const { return !session_; }
  const Session* operator->() const { return &*session_; }
  Session* operator->() { return &*session_; }
  const Session& operator*() const& { return *session_; }
  /// By value, so that `const Session& session = *store.find(seid)` lives as long as its name.
  Session operator*() && { return *std::move(session_); }

 private:
  std::optional<Session> session_{};
};

/// All sessions, found by what messages and events name. There are many and few of them are looked
/// at: they are kept packed, as a tenth of the octets that a Session takes.
class Store {
 public:
  [[nodiscard]] Found find(Seid seid) const;
  [[nodiscard]] std::optional<Head> head(Seid seid) const;  ///< cheaper than all of it
  [[nodiscard]] bool contains(Seid seid) const { return records_.contains(seid); }
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] std::size_t size_of(const std::string& owner) const;
  /// How many of an owner's sessions are to which DNN (dnn_of).
  [[nodiscard]] std::map<std::string, std::size_t> dnns_of(const std::string& owner) const;
  [[nodiscard]] std::vector<Seid> of_owner(const std::string& owner) const;
  [[nodiscard]] std::vector<Seid> all() const;
  /// Those of an owner whose CP F-SEID has this address (Session Set Deletion, SMF sets).
  [[nodiscard]] std::vector<Seid> of_cp_address(const IpAddress& address) const;
  [[nodiscard]] std::optional<Seid> of_cp(const pfcp::FSeid& cp) const;

  /// The session whose N6 side has the UE address (its downlink PDRs without a tunnel).
  [[nodiscard]] std::optional<Seid> of_ue(const std::string& network_instance, Ipv4 address) const;
  [[nodiscard]] std::optional<Seid> of_ue(const std::string& network_instance,
                                          const Ipv6Prefix& prefix) const;
  /// The same of all network instances, for people: IPv6 by any address in the prefix.
  [[nodiscard]] std::vector<Seid> of_ue(const IpAddress& address) const;
  struct Tunnel {
    Seid seid{};
    FarId far{};
  };
  /// The FARs that send into this tunnel (for an Error Indication).
  [[nodiscard]] std::vector<Tunnel> of_remote(Teid teid, const IpAddress& peer) const;
  [[nodiscard]] std::vector<Seid> of_peer(const IpAddress& peer) const;
  /// What is kept for these look-ups; nothing once there is no session.
  [[nodiscard]] std::size_t index_entries() const {
    return by_owner_.size() + by_ue_ipv4_.size() + by_ue_ipv6_.size() + by_remote_.size() +
           more_by_remote_.size();
  }

  void put(const Session& session);
  void erase(Seid seid);
  /// After rules::Urr were armed anew and the plane has taken them.
  void set_installed(Seid seid, rules::SessionRules installed);
  /// The session belongs to another CP function from now on.
  void move(Seid seid, std::string owner, pfcp::FSeid cp);

 private:
  struct Record {
    std::unique_ptr<std::uint8_t[]> octets{};
    std::uint32_t place{};  ///< in the list of its owner
    bool operator==(const Record&) const = default;
  };
  /// What PDRs and endpoints were made from, of the few sessions where it is kept at all.
  struct Origins {
    decltype(Session::sources) sources{};
    decltype(Session::endpoints) endpoints{};
  };
  struct Owned {
    std::vector<Seid> seids{};
    std::map<std::string, std::size_t, std::less<>> dnns{};  ///< how many are to each
  };
  /// Under what else than its SEID a session is found.
  struct Keys;

  [[nodiscard]] Session unpack(Seid seid, const Record& record) const;
  [[nodiscard]] static Head head_of(const Record& record);
  void pack(const Session& session, Record& record);
  void index(const Keys& keys, Seid seid);
  void unindex(const Keys& keys, Seid seid);
  void unindex_remote(const IpAddress& peer, Teid teid, Seid seid);
  void join(const Session& session, Record& record);
  void leave(const Session& session, const Record& record);

  FlatIndex<Seid, Record> records_{};
  std::unordered_map<Seid, Origins> origins_{};
  std::vector<std::uint8_t> scratch_{};
  std::unordered_map<std::string, Owned> by_owner_{};
  std::map<std::string, FlatIndex<Ipv4, Seid>> by_ue_ipv4_{};  ///< by Network Instance
  std::map<std::pair<std::string, Ipv6Prefix>, Seid> by_ue_ipv6_{};
  std::map<IpAddress, FlatIndex<Teid, Seid>> by_remote_{};
  /// All but the first of the sessions that send into one tunnel: there should be none.
  std::set<std::tuple<IpAddress, Teid, Seid>> more_by_remote_{};
};

}  // namespace upf::session

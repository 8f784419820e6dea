#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "upf/base/address.hpp"
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

/// A PFCP session: one value that is replaced as a whole once the plane has taken a change.
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
};

/// All sessions, found by what messages and events name.
class Store {
 public:
  [[nodiscard]] const Session* find(Seid seid) const;
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }
  [[nodiscard]] std::size_t size_of(const std::string& owner) const;
  [[nodiscard]] std::vector<Seid> of_owner(const std::string& owner) const;
  [[nodiscard]] std::vector<Seid> all() const;
  /// Those of an owner whose CP F-SEID has this address (Session Set Deletion, SMF sets).
  [[nodiscard]] std::vector<Seid> of_cp_address(const IpAddress& address) const;
  [[nodiscard]] std::optional<Seid> of_cp(const pfcp::FSeid& cp) const;

  /// The session whose N6 side has the UE address (its downlink PDRs without a tunnel).
  [[nodiscard]] std::optional<Seid> of_ue(const std::string& network_instance, Ipv4 address) const;
  [[nodiscard]] std::optional<Seid> of_ue(const std::string& network_instance,
                                          const Ipv6Prefix& prefix) const;
  struct Tunnel {
    Seid seid{};
    FarId far{};
  };
  /// The FARs that send into this tunnel (for an Error Indication).
  [[nodiscard]] std::vector<Tunnel> of_remote(Teid teid, const IpAddress& peer) const;
  [[nodiscard]] std::vector<Seid> of_peer(const IpAddress& peer) const;
  /// What is kept for these look-ups; nothing once there is no session.
  [[nodiscard]] std::size_t index_entries() const {
    return by_owner_.size() + by_ue_ipv4_.size() + by_ue_ipv6_.size() + by_remote_.size();
  }

  void put(Session session);
  void erase(Seid seid);
  /// After rules::Urr were armed anew and the plane has taken them.
  void set_installed(Seid seid, rules::SessionRules installed);
  /// The session belongs to another CP function from now on.
  void move(Seid seid, std::string owner, pfcp::FSeid cp);

 private:
  void index(const Session& session, bool add);

  std::unordered_map<Seid, Session> sessions_;
  std::unordered_map<std::string, std::unordered_set<Seid>> by_owner_;
  std::map<std::pair<std::string, Ipv4>, Seid> by_ue_ipv4_;
  std::map<std::pair<std::string, Ipv6Prefix>, Seid> by_ue_ipv6_;
  std::multimap<std::pair<IpAddress, Teid>, Tunnel> by_remote_;
};

}  // namespace upf::session

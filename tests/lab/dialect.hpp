#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/tlv.hpp"
#include "upf/base/address.hpp"

namespace upf::lab {

/// One end of a GTP-U tunnel.
struct TunnelEnd {
  std::uint32_t teid{};
  Ipv4 address{};
};

/// What a PCC rule adds to a session: a PDR each way with one filter, and a QER of its own.
struct Flow {
  std::string description{};
  std::uint8_t precedence{128};
  std::uint8_t qfi{2};
  std::uint64_t mbr_uplink_kbps{};  ///< 0: no MBR
  std::uint64_t mbr_downlink_kbps{};
};

/// Usage reporting for the session; what is 0 is not asked for.
struct Usage {
  bool enabled{};
  std::uint32_t period_s{};
  std::uint64_t threshold_octets{};
  std::uint64_t quota_octets{};
};

/// A PDU session as an SMF keeps it.
struct Session {
  std::uint64_t cp_seid{};
  std::uint64_t up_seid{};
  Ipv4 ue{};
  std::string dnn{"internet"};
  std::uint8_t qfi{1};
  std::uint64_t ambr_uplink_kbps{1'000'000'000};
  std::uint64_t ambr_downlink_kbps{1'000'000'000};
  std::vector<Flow> flows{};
  Usage usage{};
  /// The first PDR, FAR and QER ID of the session; the others follow. free5GC's are unique over the
  /// UPF.
  std::uint32_t first_id{1};
  TunnelEnd uplink{};                   ///< at the UPF
  std::optional<TunnelEnd> downlink{};  ///< at the gNB, since activation
  std::optional<TunnelEnd> indirect{};  ///< at the UPF, while data is forwarded indirectly
  bool restored{};                      ///< RESTI: established again after the UPF restarted
};

/// Who the SMF says it is.
struct Identity {
  Ipv4 address{};
  std::string node_id{};  ///< a name makes an FQDN; empty: the address
  std::uint32_t recovery_time_stamp{};
};

/// The session messages of one SMF, octet for octet as it writes them. `sequence` is the caller's.
class Dialect {
 public:
  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;
  virtual ~Dialect() = default;

  using Sequence = std::uint32_t;
  [[nodiscard]] virtual wire::Octets establishment(const Identity& smf, const Session& session,
                                                   Sequence sequence) const = 0;
  /// To session.downlink: N2 setup answer, service request, paging answer.
  [[nodiscard]] virtual wire::Octets activation(const Identity& smf, const Session& session,
                                                Sequence sequence) const = 0;
  /// AN release: buffer and notify.
  [[nodiscard]] virtual wire::Octets idle(const Identity& smf, const Session& session,
                                          Sequence sequence) const = 0;
  /// Path switch to session.downlink, which is the new gNB's already; asks for End Markers.
  [[nodiscard]] virtual wire::Octets handover(const Identity& smf, const Session& session,
                                              Sequence sequence) const = 0;
  /// N2 handover with indirect forwarding: what arrives at session.indirect goes to `target`.
  [[nodiscard]] virtual wire::Octets indirect(const Identity& smf, const Session& session,
                                              TunnelEnd target, Sequence sequence) const = 0;
  [[nodiscard]] virtual wire::Octets indirect_removal(const Identity& smf, const Session& session,
                                                      Sequence sequence) const = 0;
  /// Update URR with a new volume quota (session.usage.quota_octets).
  [[nodiscard]] virtual wire::Octets quota(const Identity& smf, const Session& session,
                                           Sequence sequence) const = 0;
  /// How many PDR, FAR and QER IDs from session.first_id on a session may use.
  [[nodiscard]] virtual std::uint32_t ids_per_session(const Session& session) const = 0;
  /// Whether the UPF chooses the uplink F-TEID (CHOOSE), or session.uplink says it.
  [[nodiscard]] virtual bool upf_chooses() const = 0;

  [[nodiscard]] wire::Octets query(const Identity& smf, const Session& session,
                                   Sequence sequence) const;
  [[nodiscard]] wire::Octets deletion(const Session& session, Sequence sequence) const;

 protected:
  /// free5GC sends its F-SEID in each modification, and a priority in each session message.
  [[nodiscard]] virtual Message modification(const Identity& smf, const Session& session,
                                             Sequence sequence) const = 0;
  [[nodiscard]] virtual Header header(std::uint8_t type, std::uint64_t seid,
                                      Sequence sequence) const = 0;
};

/// "free5gc" or "open5gs"; nullptr for another name.
[[nodiscard]] std::unique_ptr<Dialect> make_dialect(std::string_view name);
[[nodiscard]] std::unique_ptr<Dialect> make_free5gc();
[[nodiscard]] std::unique_ptr<Dialect> make_open5gs();

// Node messages are alike in both dialects.
[[nodiscard]] wire::Octets association_setup(const Identity& smf, std::uint32_t sequence);
[[nodiscard]] wire::Octets association_release(const Identity& smf, std::uint32_t sequence);
[[nodiscard]] wire::Octets heartbeat(const Identity& smf, std::uint32_t sequence);

// IEs that both dialects write alike.
void put_node_id(Message& out, const Identity& smf);
void put_f_seid(Message& out, Ipv4 address, std::uint64_t seid);
void put_f_teid(Message& out, TunnelEnd end);
void put_ue_ip(Message& out, Ipv4 ue, bool destination);
void put_gtpu_header(Message& out, TunnelEnd to);
void put_bit_rate(Message& out, std::uint16_t type, std::uint64_t uplink_kbps,
                  std::uint64_t downlink_kbps);
void put_sdf_filter(Message& out, std::string_view description,
                    std::optional<std::uint32_t> filter_id);
/// "a.b" as DNS labels: 1 a 1 b.
[[nodiscard]] wire::Octets labels(std::string_view name);

}  // namespace upf::lab

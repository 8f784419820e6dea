// free5GC's SMF on the wire, as its sources of 2026-05 write it: TEIDs of its own choice, rule IDs
// unique over the UPF, the whole PDI again in each Update PDR, its F-SEID in each modification, an
// Apply Action of one octet, Network Instances in plain text, priority 12 from the first
// modification on.
//
// IDs from first_id on: PDRs and FARs +0 uplink, +1 downlink, then a pair per flow; the pair behind
// the last flow is for indirect forwarding. QERs: +0 default, +1 AMBR, then one per flow. URR 1:
// N3N6 before QoS.

#include "tests/lab/dialect.hpp"

namespace upf::lab {
namespace {

constexpr std::uint8_t kAccess = 0;
constexpr std::uint8_t kCore = 1;
constexpr std::uint32_t kUsageUrr = 1;

/// One PDR and its FAR, as the SMF keeps them for one direction of a data path.
struct Path {
  bool uplink{};
  const Flow* flow{};  ///< nullptr: the default path
  std::uint32_t id{};  ///< of the PDR and of the FAR
  std::vector<std::uint32_t> qers{};
};

std::vector<Path> paths(const Session& session) {
  const std::uint32_t first = session.first_id;
  const std::vector<std::uint32_t> of_default{first, first + 1};
  std::vector<Path> all{{true, nullptr, first, of_default},
                        {false, nullptr, first + 1, of_default}};
  std::uint32_t next = first + 2;
  for (const Flow& flow : session.flows) {
    // A non-GBR rule: the session's AMBR and the rule's own QER.
    const auto index = static_cast<std::uint32_t>(&flow - session.flows.data());
    const std::vector<std::uint32_t> qers{first + 1, first + 2 + index};
    all.push_back({true, &flow, next, qers});
    all.push_back({false, &flow, next + 1, qers});
    next += 2;
  }
  return all;
}

void put_pdi(Message& out, const Session& session, const Path& path) {
  out.group(ie::kPdi, [&] {
    out.put(ie::kSourceInterface, {path.uplink ? kAccess : kCore});
    if (path.uplink) put_f_teid(out, session.uplink);
    out.text(ie::kNetworkInstance, session.dnn);
    put_ue_ip(out, session.ue, !path.uplink);
    if (path.flow != nullptr) put_sdf_filter(out, path.flow->description, std::nullopt);
  });
}

void put_pdr(Message& out, std::uint16_t type, const Session& session, const Path& path) {
  out.group(type, [&] {
    out.number(ie::kPdrId, static_cast<std::uint16_t>(path.id));
    out.number(ie::kPrecedence, std::uint32_t{path.flow != nullptr ? path.flow->precedence : 255U});
    put_pdi(out, session, path);
    if (path.uplink) out.put(ie::kOuterHeaderRemoval, {0});
    out.number(ie::kFarId, path.id);
    if (session.usage.enabled) out.number(ie::kUrrId, kUsageUrr);
    for (const std::uint32_t qer : path.qers) out.number(ie::kQerId, qer);
  });
}

void put_create_far(Message& out, const Session& session, const Path& path) {
  out.group(ie::kCreateFar, [&] {
    out.number(ie::kFarId, path.id);
    out.put(ie::kApplyAction, {0x02});
    out.group(ie::kForwarding, [&] {
      out.put(ie::kDestinationInterface, {path.uplink ? kCore : kAccess});
      // The access node's side has no Outer Header Creation before the activation.
      if (path.uplink) out.text(ie::kNetworkInstance, session.dnn);
    });
  });
}

void put_update_far(Message& out, const Session& session, const Path& path, std::uint8_t action,
                    std::uint8_t flags) {
  out.group(ie::kUpdateFar, [&] {
    out.number(ie::kFarId, path.id);
    out.put(ie::kApplyAction, {action});
    out.group(ie::kUpdateForwarding, [&] {
      out.put(ie::kDestinationInterface, {kAccess});
      out.text(ie::kNetworkInstance, session.dnn);
      if (session.downlink) put_gtpu_header(out, *session.downlink);
      out.put(ie::kSmReqFlags, {flags});
    });
  });
}

void put_create_qer(Message& out, std::uint32_t id, std::uint8_t qfi, std::uint64_t uplink_kbps,
                    std::uint64_t downlink_kbps) {
  out.group(ie::kCreateQer, [&] {
    out.number(ie::kQerId, id);
    out.put(ie::kGateStatus, {0});
    if (uplink_kbps != 0 || downlink_kbps != 0)
      put_bit_rate(out, ie::kMbr, uplink_kbps, downlink_kbps);
    out.put(ie::kQfi, {qfi});
  });
}

void put_qers(Message& out, const Session& session) {
  put_create_qer(out, session.first_id, session.qfi, 0, 0);
  put_create_qer(out, session.first_id + 1, session.qfi, session.ambr_uplink_kbps,
                 session.ambr_downlink_kbps);
  std::uint32_t id = session.first_id + 2;
  for (const Flow& flow : session.flows) {
    put_create_qer(out, id++, flow.qfi, flow.mbr_uplink_kbps, flow.mbr_downlink_kbps);
  }
}

void put_volume(Message& out, std::uint16_t type, std::uint8_t flags, std::uint64_t octets) {
  out.group(type, [&] {
    out.raw().be(flags);
    for (unsigned bits = flags; bits != 0; bits &= bits - 1) out.raw().be(octets);
  });
}

void put_create_urr(Message& out, const Usage& usage) {
  out.group(ie::kCreateUrr, [&] {
    out.number(ie::kUrrId, kUsageUrr);
    out.put(ie::kMeasurementMethod, {0x02});
    // PERIO and VOLTH are always asked for, even where the IE with the value is not sent.
    out.put(ie::kReportingTriggers,
            {0x03, static_cast<std::uint8_t>(usage.quota_octets != 0 ? 0x01 : 0x00)});
    if (usage.period_s != 0) out.number(ie::kMeasurementPeriod, usage.period_s);
    if (usage.threshold_octets != 0) {
      put_volume(out, ie::kVolumeThreshold, 0x06, usage.threshold_octets);
    }
    if (usage.quota_octets != 0) put_volume(out, ie::kVolumeQuota, 0x01, usage.quota_octets);
    out.put(ie::kMeasurementInformation, {0x11});
  });
}

class Free5gc final : public Dialect {
 public:
  wire::Octets establishment(const Identity& smf, const Session& session,
                             Sequence sequence) const override {
    Message out{
        {.type = message::kEstablishmentRequest, .sequence = sequence, .seid = 0, .priority = 0}};
    put_node_id(out, smf);
    put_f_seid(out, smf.address, session.cp_seid);
    for (const Path& path : paths(session)) put_pdr(out, ie::kCreatePdr, session, path);
    for (const Path& path : paths(session)) put_create_far(out, session, path);
    if (session.usage.enabled) put_create_urr(out, session.usage);
    put_qers(out, session);
    out.put(ie::kPdnType, {1});
    return std::move(out).finish();
  }

  wire::Octets activation(const Identity& smf, const Session& session,
                          Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    for (const Path& path : paths(session)) put_pdr(out, ie::kUpdatePdr, session, path);
    for (const Path& path : paths(session)) {
      if (!path.uplink) put_update_far(out, session, path, 0x02, 0x00);
    }
    return std::move(out).finish();
  }

  wire::Octets idle(const Identity& smf, const Session& session, Sequence sequence) const override {
    return update_downlink(smf, session, sequence, 0x0c, 0x00);
  }

  wire::Octets handover(const Identity& smf, const Session& session,
                        Sequence sequence) const override {
    return update_downlink(smf, session, sequence, 0x02, 0x02);
  }

  wire::Octets indirect(const Identity& smf, const Session& session, TunnelEnd target,
                        Sequence sequence) const override {
    const std::uint32_t id = indirect_id(session);
    Message out = modification(smf, session, sequence);
    out.group(ie::kCreatePdr, [&] {
      out.number(ie::kPdrId, static_cast<std::uint16_t>(id));
      out.number(ie::kPrecedence, std::uint32_t{0});
      out.group(ie::kPdi, [&] {
        out.put(ie::kSourceInterface, {kAccess});
        put_f_teid(out, session.indirect.value_or(TunnelEnd{}));
      });
      out.put(ie::kOuterHeaderRemoval, {0});
      out.number(ie::kFarId, id);
    });
    out.group(ie::kCreateFar, [&] {
      out.number(ie::kFarId, id);
      out.put(ie::kApplyAction, {0x02});
      out.group(ie::kForwarding, [&] {
        out.put(ie::kDestinationInterface, {kAccess});
        put_gtpu_header(out, target);
      });
    });
    return std::move(out).finish();
  }

  wire::Octets indirect_removal(const Identity& smf, const Session& session,
                                Sequence sequence) const override {
    const std::uint32_t id = indirect_id(session);
    Message out = modification(smf, session, sequence);
    out.group(ie::kRemovePdr, [&] { out.number(ie::kPdrId, static_cast<std::uint16_t>(id)); });
    out.group(ie::kRemoveFar, [&] { out.number(ie::kFarId, id); });
    return std::move(out).finish();
  }

  wire::Octets quota(const Identity& smf, const Session& session,
                     Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    out.group(ie::kUpdateUrr, [&] {
      out.number(ie::kUrrId, kUsageUrr);
      out.put(ie::kMeasurementMethod, {0x02});
      out.put(ie::kReportingTriggers, {0x02, 0x01});
      // Sent when it is not set, so its value means nothing, and no trigger asks for it.
      out.number(ie::kQuotaValidityTime, std::uint32_t{0});
      if (session.usage.threshold_octets != 0) {
        put_volume(out, ie::kVolumeThreshold, 0x07, session.usage.threshold_octets);
      }
      // A quota of 0 is not encoded: a VOLQU trigger without a Volume Quota means no grant.
      if (session.usage.quota_octets != 0) {
        put_volume(out, ie::kVolumeQuota, 0x07, session.usage.quota_octets);
      }
      out.put(ie::kMeasurementInformation, {0x00});
    });
    return std::move(out).finish();
  }

  std::uint32_t ids_per_session(const Session& session) const override {
    return static_cast<std::uint32_t>(session.flows.size()) * 2 + 3;
  }
  bool upf_chooses() const override { return false; }

 protected:
  Message modification(const Identity& smf, const Session& session,
                       Sequence sequence) const override {
    Message out{header(message::kModificationRequest, session.up_seid, sequence)};
    put_f_seid(out, smf.address, session.cp_seid);
    return out;
  }
  Header header(std::uint8_t type, std::uint64_t seid, Sequence sequence) const override {
    return {.type = type, .sequence = sequence, .seid = seid, .priority = 12};
  }

 private:
  static std::uint32_t indirect_id(const Session& session) {
    return session.first_id + 2 + static_cast<std::uint32_t>(session.flows.size()) * 2;
  }

  wire::Octets update_downlink(const Identity& smf, const Session& session, Sequence sequence,
                               std::uint8_t action, std::uint8_t flags) const {
    Message out = modification(smf, session, sequence);
    for (const Path& path : paths(session)) {
      if (!path.uplink) put_update_far(out, session, path, action, flags);
    }
    return std::move(out).finish();
  }
};

}  // namespace

std::unique_ptr<Dialect> make_free5gc() { return std::make_unique<Free5gc>(); }

}  // namespace upf::lab

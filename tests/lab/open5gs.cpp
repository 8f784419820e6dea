// Open5GS's SMF on the wire, as its sources of 2026-08 write it: four PDRs a session, the uplink
// F-TEID chosen by the UPF with CHOOSE_ID 5, Apply Actions of two octets, Network Instances as
// labels, a BAR, and a pair of PDRs for router advertisements between the SMF and the UE.
//
// Rule IDs are small and start again with each session: PDR 1 downlink, 2 uplink, 3 CP to UP, 4 UP
// to CP, then a pair per flow; FAR 1 downlink, 2 uplink, 3 UP to CP; URR, QER and BAR 1.

#include "tests/lab/dialect.hpp"

namespace upf::lab {
namespace {

constexpr std::uint8_t kAccess = 0, kCore = 1, kCpFunction = 3;
constexpr std::uint8_t kTypeN3 = 11, kTypeN6 = 17, kTypeForwarding = 28, kTypeN9 = 10;
constexpr std::uint8_t kUplinkChoose = 5, kIndirectChoose = 10;
constexpr std::uint32_t kDownlinkFar = 1, kUplinkFar = 2, kCpFar = 3, kIndirectFar = 100;
constexpr std::uint16_t kIndirectPdr = 100;
constexpr std::uint32_t kDefaultPrecedence = 65535, kCpPrecedence = 255, kIndirectPrecedence = 4096;
constexpr const char* kRouterSolicitation = "permit out 58 from ff02::2/128 to assigned";

/// F-TEID with CH (and CHID): V4 and V6 both wanted.
void put_choose(Message& out, std::optional<std::uint8_t> choose_id) {
  if (choose_id) {
    out.put(ie::kFTeid, {0x0f, *choose_id});
  } else {
    out.put(ie::kFTeid, {0x07});
  }
}

/// What follows the PDI in each PDR.
struct PdrTail {
  bool removes_header{};
  std::uint32_t far{};
  bool urr{};
  std::uint32_t qer{};  ///< 0: none
};

template <class F>
void put_pdr(Message& out, std::uint16_t id, std::uint32_t precedence, const F& pdi,
             const PdrTail& tail) {
  out.group(ie::kCreatePdr, [&] {
    out.number(ie::kPdrId, id);
    out.number(ie::kPrecedence, precedence);
    out.group(ie::kPdi, pdi);
    if (tail.removes_header) out.put(ie::kOuterHeaderRemoval, {6});
    out.number(ie::kFarId, tail.far);
    if (tail.urr) out.number(ie::kUrrId, std::uint32_t{1});
    if (tail.qer != 0) out.number(ie::kQerId, tail.qer);
  });
}

void put_downlink_pdi(Message& out, const Session& session, const Flow* flow) {
  out.put(ie::kSourceInterface, {kCore});
  out.put(ie::kNetworkInstance, labels(session.dnn));
  put_ue_ip(out, session.ue, true);
  if (flow != nullptr) put_sdf_filter(out, flow->description, 1);
  out.put(ie::kInterfaceType, {kTypeN6});
}

void put_uplink_pdi(Message& out, const Session& session, const Flow* flow) {
  out.put(ie::kSourceInterface, {kAccess});
  if (session.restored) {
    put_f_teid(out, session.uplink);
  } else {
    put_choose(out, kUplinkChoose);
  }
  out.put(ie::kNetworkInstance, labels(session.dnn));
  if (flow != nullptr) put_sdf_filter(out, flow->description, 1);
  out.put(ie::kQfi, {flow != nullptr ? flow->qfi : session.qfi});
  out.put(ie::kInterfaceType, {kTypeN3});
}

void put_default_pdrs(Message& out, const Session& session) {
  put_pdr(out, 1, kDefaultPrecedence, [&] { put_downlink_pdi(out, session, nullptr); },
          {.far = kDownlinkFar, .urr = true, .qer = 1});
  put_pdr(out, 2, kDefaultPrecedence, [&] { put_uplink_pdi(out, session, nullptr); },
          {.removes_header = true, .far = kUplinkFar, .qer = 1});
  put_pdr(out, 3, kCpPrecedence,
          [&] {
            out.put(ie::kSourceInterface, {kCpFunction});
            put_choose(out, std::nullopt);
          },
          {.removes_header = true, .far = kDownlinkFar});
  put_pdr(out, 4, kCpPrecedence,
          [&] {
            out.put(ie::kSourceInterface, {kAccess});
            if (session.restored) {
              put_f_teid(out, session.uplink);
            } else {
              put_choose(out, kUplinkChoose);
            }
            out.put(ie::kNetworkInstance, labels(session.dnn));
            put_sdf_filter(out, kRouterSolicitation, std::nullopt);
            out.put(ie::kInterfaceType, {kTypeN3});
          },
          {.removes_header = true, .far = kCpFar});
}

void put_flow_pdrs(Message& out, const Session& session) {
  std::uint16_t id = 5;
  std::uint32_t qer = 2;
  for (const Flow& flow : session.flows) {
    put_pdr(out, id++, flow.precedence, [&] { put_downlink_pdi(out, session, &flow); },
            {.far = kDownlinkFar, .urr = true, .qer = qer});
    put_pdr(out, id++, flow.precedence, [&] { put_uplink_pdi(out, session, &flow); },
            {.removes_header = true, .far = kUplinkFar, .qer = qer++});
  }
}

void put_fars(Message& out, const Identity& smf, const Session& session) {
  out.group(ie::kCreateFar, [&] {
    out.number(ie::kFarId, kDownlinkFar);
    out.put(ie::kApplyAction, {0x0c, 0x00});
    out.put(ie::kBarId, {1});
  });
  out.group(ie::kCreateFar, [&] {
    out.number(ie::kFarId, kUplinkFar);
    out.put(ie::kApplyAction, {0x02, 0x00});
    out.group(ie::kForwarding, [&] {
      out.put(ie::kDestinationInterface, {kCore});
      out.put(ie::kNetworkInstance, labels(session.dnn));
      out.put(ie::kInterfaceType, {kTypeN6});
    });
  });
  out.group(ie::kCreateFar, [&] {
    out.number(ie::kFarId, kCpFar);
    out.put(ie::kApplyAction, {0x02, 0x00});
    out.group(ie::kForwarding, [&] {
      out.put(ie::kDestinationInterface, {kCpFunction});
      put_gtpu_header(out, {static_cast<std::uint32_t>(session.cp_seid), smf.address});
    });
  });
}

void put_qer(Message& out, std::uint32_t id, std::uint8_t qfi, std::uint64_t uplink,
             std::uint64_t downlink) {
  out.group(ie::kCreateQer, [&] {
    out.number(ie::kQerId, id);
    out.put(ie::kGateStatus, {0});
    if (uplink != 0 || downlink != 0) put_bit_rate(out, ie::kMbr, uplink, downlink);
    out.put(ie::kQfi, {qfi});
  });
}

void put_urr(Message& out, const Usage& usage) {
  const std::uint64_t threshold = usage.threshold_octets != 0 ? usage.threshold_octets : 104857600;
  out.group(ie::kCreateUrr, [&] {
    out.number(ie::kUrrId, std::uint32_t{1});
    out.put(ie::kMeasurementMethod, {0x02});
    out.put(ie::kReportingTriggers, {0x02, 0x00, 0x00});
    out.group(ie::kVolumeThreshold, [&] {
      out.raw().be(std::uint8_t{1});
      out.raw().be(threshold);
    });
  });
}

/// IMSI only: flags 1, length, TBCD digits.
void put_user_id(Message& out, const Session& session) {
  const std::uint32_t host = session.ue.host();
  out.put(ie::kUserId,
          {0x01, 0x08, 0x99, 0x99, 0x07, 0x00, 0x00, static_cast<std::uint8_t>(host >> 8U & 0x77U),
           static_cast<std::uint8_t>(host & 0x77U), 0xf0});
}

void put_forward_to_access(Message& out, const Session& session, std::uint8_t flags) {
  out.group(ie::kUpdateFar, [&] {
    out.number(ie::kFarId, kDownlinkFar);
    out.put(ie::kApplyAction, {0x02, 0x00});
    out.group(ie::kUpdateForwarding, [&] {
      out.put(ie::kDestinationInterface, {kAccess});
      out.put(ie::kNetworkInstance, labels(session.dnn));
      if (session.downlink) put_gtpu_header(out, *session.downlink);
      if (flags != 0) out.put(ie::kSmReqFlags, {flags});
      out.put(ie::kInterfaceType, {kTypeN3});
    });
  });
}

class Open5gs final : public Dialect {
 public:
  wire::Octets establishment(const Identity& smf, const Session& session,
                             Sequence sequence) const override {
    Message out{{.type = message::kEstablishmentRequest, .sequence = sequence, .seid = 0}};
    put_node_id(out, smf);
    put_f_seid(out, smf.address, session.cp_seid);
    put_default_pdrs(out, session);
    put_flow_pdrs(out, session);
    put_fars(out, smf, session);
    put_urr(out, session.usage);
    put_qer(out, 1, session.qfi, session.ambr_uplink_kbps, session.ambr_downlink_kbps);
    std::uint32_t id = 2;
    for (const Flow& flow : session.flows) {
      put_qer(out, id++, flow.qfi, flow.mbr_uplink_kbps, flow.mbr_downlink_kbps);
    }
    out.group(ie::kCreateBar, [&] { out.put(ie::kBarId, {1}); });
    out.put(ie::kPdnType, {1});
    put_user_id(out, session);
    out.put(ie::kApnDnn, labels(session.dnn));
    out.put(ie::kSNssai, {1, 0xff, 0xff, 0xff});
    if (session.restored) out.put(ie::kSeReqFlags, {1});
    return std::move(out).finish();
  }

  wire::Octets activation(const Identity& smf, const Session& session,
                          Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    put_forward_to_access(out, session, 0);
    return std::move(out).finish();
  }

  wire::Octets idle(const Identity& smf, const Session& session, Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    out.group(ie::kUpdateFar, [&] {
      out.number(ie::kFarId, kDownlinkFar);
      out.put(ie::kApplyAction, {0x0c, 0x00});
      out.put(ie::kBarId, {1});
    });
    return std::move(out).finish();
  }

  wire::Octets handover(const Identity& smf, const Session& session,
                        Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    put_forward_to_access(out, session, 0x02);
    return std::move(out).finish();
  }

  wire::Octets indirect(const Identity& smf, const Session& session, TunnelEnd target,
                        Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    put_pdr(out, kIndirectPdr, kIndirectPrecedence,
            [&] {
              out.put(ie::kSourceInterface, {kAccess});
              put_choose(out, kIndirectChoose);
              out.put(ie::kNetworkInstance, labels(session.dnn));
              out.put(ie::kQfi, {session.qfi});
              out.put(ie::kInterfaceType, {kTypeForwarding});
            },
            {.removes_header = true, .far = kIndirectFar});
    out.group(ie::kCreateFar, [&] {
      out.number(ie::kFarId, kIndirectFar);
      out.put(ie::kApplyAction, {0x02, 0x00});
      out.group(ie::kForwarding, [&] {
        out.put(ie::kDestinationInterface, {kAccess});
        out.put(ie::kNetworkInstance, labels(session.dnn));
        put_gtpu_header(out, target);
        out.put(ie::kInterfaceType, {kTypeN9});
      });
    });
    return std::move(out).finish();
  }

  wire::Octets indirect_removal(const Identity& smf, const Session& session,
                                Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    out.group(ie::kRemovePdr, [&] { out.number(ie::kPdrId, kIndirectPdr); });
    out.group(ie::kRemoveFar, [&] { out.number(ie::kFarId, kIndirectFar); });
    return std::move(out).finish();
  }

  wire::Octets quota(const Identity& smf, const Session& session,
                     Sequence sequence) const override {
    Message out = modification(smf, session, sequence);
    out.group(ie::kUpdateUrr, [&] {
      out.number(ie::kUrrId, std::uint32_t{1});
      out.put(ie::kMeasurementMethod, {0x02});
      out.put(ie::kReportingTriggers, {0x00, 0x01, 0x00});
      out.group(ie::kVolumeQuota, [&] {
        out.raw().be(std::uint8_t{1});
        out.raw().be(session.usage.quota_octets);
      });
    });
    return std::move(out).finish();
  }

  std::uint32_t ids_per_session(const Session& /*session*/) const override { return 0; }
  bool upf_chooses() const override { return true; }

 protected:
  Message modification(const Identity& /*smf*/, const Session& session,
                       Sequence sequence) const override {
    return Message{header(message::kModificationRequest, session.up_seid, sequence)};
  }
  Header header(std::uint8_t type, std::uint64_t seid, Sequence sequence) const override {
    return {.type = type, .sequence = sequence, .seid = seid};
  }
};

}  // namespace

std::unique_ptr<Dialect> make_open5gs() { return std::make_unique<Open5gs>(); }

}  // namespace upf::lab

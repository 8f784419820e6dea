// QoS enforcement: TS 29.244 7.5.2.5 and its update.

#include "upf/pfcp/ies/qer.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::field;
using rows::field_if;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::member;
using namespace tables;

constexpr FieldRow kGateStatus[] = {
    rows::packed<&GateStatus::downlink, 2, &GateStatus::uplink, 2>()};

/// Three bits of time unit in an octet, then the number of packets.
struct PacketRateCodec {
  static PacketRateLimit read(wire::Reader& in) {
    const auto unit = static_cast<std::uint8_t>(in.be<std::uint8_t>() & 7U);
    return {unit, in.be<std::uint16_t>()};
  }
  static void write(wire::Writer& out, PacketRateLimit limit) {
    out.be(static_cast<std::uint8_t>(limit.time_unit & 7U));
    out.be(limit.max_packets);
  }
  static std::string text(PacketRateLimit limit) {
    return fmt::format("{}/unit{}", limit.max_packets, limit.time_unit);
  }
};

constexpr auto kMoreUplink = [](const PacketRate& r) { return r.additional && r.uplink; };
constexpr auto kMoreDownlink = [](const PacketRate& r) { return r.additional && r.downlink; };
constexpr auto kNoMoreUplink = [](const PacketRate& r) { return !kMoreUplink(r); };
constexpr auto kNoMoreDownlink = [](const PacketRate& r) { return !kMoreDownlink(r); };

constexpr FieldRow kPacketRate[] = {
    flags<&PacketRate::uplink, &PacketRate::downlink, &PacketRate::additional>(),
    rows::value_row<&PacketRate::uplink, PacketRateCodec, rows::kNever<&PacketRate::uplink>>(),
    rows::value_row<&PacketRate::downlink, PacketRateCodec, rows::kNever<&PacketRate::downlink>>(),
    rows::value_row<&PacketRate::additional_uplink, PacketRateCodec, kNoMoreUplink>(),
    rows::value_row<&PacketRate::additional_downlink, PacketRateCodec, kNoMoreDownlink>(),
};

using Status = PacketRateStatus;
constexpr auto kStatusMoreUplink = [](const Status& s) {
  return s.additional && s.remaining_uplink;
};
constexpr auto kStatusMoreDownlink = [](const Status& s) {
  return s.additional && s.remaining_downlink;
};
constexpr auto kStatusAny = [](const Status& s) {
  return s.remaining_uplink || s.remaining_downlink;
};

constexpr FieldRow kPacketRateStatus[] = {
    flags<&Status::remaining_uplink, &Status::remaining_downlink, &Status::additional>(),
    field<&Status::remaining_uplink>(),
    field_if<&Status::additional_uplink, kStatusMoreUplink>(),
    field<&Status::remaining_downlink>(),
    field_if<&Status::additional_downlink, kStatusMoreDownlink>(),
    field_if<&Status::validity_time, kStatusAny>(),
};

constexpr FieldRow kDlFlowLevelMarking[] = {
    flags<&DlFlowLevelMarking::tos_traffic_class, &DlFlowLevelMarking::service_class_indicator>(),
    field<&DlFlowLevelMarking::tos_traffic_class>(),
    field<&DlFlowLevelMarking::service_class_indicator>(),
};

constexpr FieldRow kRqi[] = {flags<&Rqi::rqi>()};
constexpr FieldRow kQerControlIndications[] = {
    flags<&QerControlIndications::rcsr, &QerControlIndications::moed,
          &QerControlIndications::nord>()};
constexpr FieldRow kQerIndications[] = {flags<&QerIndications::iqfis>()};

constexpr MemberRow kCreateQer[] = {
    member<&CreateQer::qer_id>(kQerId),
    member<&CreateQer::qer_correlation_id>(kQerCorrelationId),
    member<&CreateQer::gate_status>(),
    member<&CreateQer::mbr>(kMbr),
    member<&CreateQer::gbr>(kGbr),
    member<&CreateQer::packet_rate>(),
    member<&CreateQer::packet_rate_status>(),
    member<&CreateQer::dl_flow_level_marking>(),
    member<&CreateQer::qfi>(kQfi),
    member<&CreateQer::rqi>(),
    member<&CreateQer::paging_policy_indicator>(kPagingPolicyIndicator),
    member<&CreateQer::averaging_window>(kAveragingWindow),
    member<&CreateQer::qer_control_indications>(),
    member<&CreateQer::qer_indications>(),
};

constexpr MemberRow kUpdateQer[] = {
    member<&UpdateQer::qer_id>(kQerId),
    member<&UpdateQer::qer_correlation_id>(kQerCorrelationId),
    member<&UpdateQer::gate_status>(),
    member<&UpdateQer::mbr>(kMbr),
    member<&UpdateQer::gbr>(kGbr),
    member<&UpdateQer::packet_rate>(),
    member<&UpdateQer::dl_flow_level_marking>(),
    member<&UpdateQer::qfi>(kQfi),
    member<&UpdateQer::rqi>(),
    member<&UpdateQer::paging_policy_indicator>(kPagingPolicyIndicator),
    member<&UpdateQer::averaging_window>(kAveragingWindow),
    member<&UpdateQer::qer_control_indications>(),
    member<&UpdateQer::qer_indications>(),
};

constexpr MemberRow kRemoveQer[] = {member<&RemoveQer::qer_id>(kQerId)};

}  // namespace

constinit const IeDef GateStatus::def = leaf(IeType::GateStatus, kGateStatus);
constinit const IeDef PacketRate::def = leaf(IeType::PacketRate, kPacketRate);
constinit const IeDef PacketRateStatus::def = leaf(IeType::PacketRateStatus, kPacketRateStatus);
constinit const IeDef DlFlowLevelMarking::def =
    leaf(IeType::DlFlowLevelMarking, kDlFlowLevelMarking);
constinit const IeDef Rqi::def = leaf(IeType::Rqi, kRqi);
constinit const IeDef QerControlIndications::def =
    leaf(IeType::QerControlIndications, kQerControlIndications);
constinit const IeDef QerIndications::def = leaf(IeType::QerIndications, kQerIndications);
constinit const IeDef CreateQer::def = group<CreateQer>(IeType::CreateQer, kCreateQer);
constinit const IeDef UpdateQer::def = group<UpdateQer>(IeType::UpdateQer, kUpdateQer);
constinit const IeDef RemoveQer::def = group<RemoveQer>(IeType::RemoveQer, kRemoveQer);

}  // namespace upf::pfcp

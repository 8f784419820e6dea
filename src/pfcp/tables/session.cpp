// What belongs to a session as a whole, and its reports that are not usage: TS 29.244 7.5.

#include "upf/pfcp/ies/session.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::at_least_one;
using rows::counted;
using rows::field;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::low_bits;
using rows::member;
using namespace tables;

/// 8.2.80: the type, then an ID of the width of that type.
template <std::size_t Kind = 0>
bool read_failed_rule(wire::Reader& in, FailedRuleId& failed, unsigned kind) {
  using Rules = decltype(failed.rule);
  if constexpr (Kind == std::variant_size_v<Rules>) {
    return false;
  } else {
    if (kind != Kind) return read_failed_rule<Kind + 1>(in, failed, kind);
    using Rule = std::variant_alternative_t<Kind, Rules>;
    failed.rule = Rule{in.be<typename Rule::Value>()};
    return true;
  }
}

constexpr FieldRow kFailedRuleId[] = {
    {"",
     [](wire::Reader& in, void* ie) {
       const unsigned kind = in.be<std::uint8_t>() & 0x1fU;
       return read_failed_rule(in, *static_cast<FailedRuleId*>(ie), kind);
     },
     [](wire::Writer& out, const void* ie) {
       const auto& rule = static_cast<const FailedRuleId*>(ie)->rule;
       out.be(static_cast<std::uint8_t>(rule.index()));
       std::visit([&out](auto id) { out.be(id.value); }, rule);
     },
     [](std::string_view, std::string& out, const void* ie) {
       static constexpr const char* kKinds[] = {"PDR", "FAR", "QER", "URR", "BAR", "MAR", "SRR"};
       const auto& rule = static_cast<const FailedRuleId*>(ie)->rule;
       std::visit([&](auto id) { out += fmt::format(" {} {}", kKinds[rule.index()], id.value); },
                  rule);
     }},
};

constexpr FieldRow kPfcpSeReqFlags[] = {flags<&PfcpSeReqFlags::resti, &PfcpSeReqFlags::sumpc>()};
constexpr FieldRow kPfcpSrReqFlags[] = {flags<&PfcpSrReqFlags::psdbu>()};
constexpr FieldRow kPfcpSrRspFlags[] = {flags<&PfcpSrRspFlags::drobu>()};
constexpr FieldRow kPfcpSdRspFlags[] = {flags<&PfcpSdRspFlags::puru>()};

constexpr FieldRow kUserId[] = {
    flags<&UserId::imsi, &UserId::imei, &UserId::msisdn, &UserId::nai, &UserId::supi, &UserId::gpsi,
          &UserId::pei>(),
    counted<&UserId::imsi, 1>(),
    counted<&UserId::imei, 1>(),
    counted<&UserId::msisdn, 1>(),
    counted<&UserId::nai, 1>(),
    counted<&UserId::supi, 1>(),
    counted<&UserId::gpsi, 1>(),
    counted<&UserId::pei, 1>(),
};

constexpr FieldRow kTraceInformation[] = {
    field<&TraceInformation::plmn>(),
    rows::uint<&TraceInformation::trace_id, 3>(),
    counted<&TraceInformation::triggering_events, 1>(),
    field<&TraceInformation::session_trace_depth>(),
    counted<&TraceInformation::list_of_interfaces, 1>(),
    counted<&TraceInformation::trace_collection_entity, 1>(),
};

constexpr FieldRow kReportType[] = {
    flags<&ReportType::dldr, &ReportType::usar, &ReportType::erir, &ReportType::upir,
          &ReportType::tmir, &ReportType::sesr, &ReportType::uisr>()};

using ServiceInformation = DownlinkDataServiceInformation;
constexpr FieldRow kDownlinkDataServiceInformation[] = {
    flags<&ServiceInformation::paging_policy_indication, &ServiceInformation::qfi>(),
    low_bits<&ServiceInformation::paging_policy_indication, 6>(),
    low_bits<&ServiceInformation::qfi, 6>(),
};

constexpr FieldRow kDataStatus[] = {flags<&DataStatus::drop, &DataStatus::buff>()};

constexpr MemberRow kDownlinkDataReport[] = {
    at_least_one<&DownlinkDataReport::pdr_ids>(kPdrId),
    member<&DownlinkDataReport::downlink_data_service_information>(),
    member<&DownlinkDataReport::dl_data_packets_size>(kDlDataPacketsSize),
    member<&DownlinkDataReport::data_status>(),
};

constexpr MemberRow kErrorIndicationReport[] = {
    at_least_one<&ErrorIndicationReport::remote_f_teids>()};

constexpr FieldRow kOffendingIeInformation[] = {field<&OffendingIeInformation::type>(),
                                                field<&OffendingIeInformation::value>()};

constexpr MemberRow kPartialFailureInformation[] = {
    member<&PartialFailureInformation::failed_rule_id>(),
    member<&PartialFailureInformation::failure_cause>(kCause),
    member<&PartialFailureInformation::offending_ie_information>(),
};

constexpr FieldRow kNfInstanceId[] = {field<&NfInstanceId::uuid>()};

constexpr MemberRow kPacketRateStatusReportRows[] = {
    member<&PacketRateStatusReport::qer_id>(kQerId),
    member<&PacketRateStatusReport::packet_rate_status>(),
};

constexpr MemberRow kQueryPacketRateStatus[] = {member<&QueryPacketRateStatus::qer_id>(kQerId)};

}  // namespace

namespace tables {
constinit const Def<PacketRateStatusReport> kPacketRateStatusReport =
    rows::shared_group<PacketRateStatusReport>(IeType::PacketRateStatusReport,
                                               kPacketRateStatusReportRows);
constinit const Def<PacketRateStatusReport> kPacketRateStatusReportModification =
    rows::shared_group<PacketRateStatusReport>(IeType::PacketRateStatusReportModification,
                                               kPacketRateStatusReportRows);
}  // namespace tables

constinit const IeDef FailedRuleId::def = leaf(IeType::FailedRuleId, kFailedRuleId);
constinit const IeDef PfcpSeReqFlags::def = leaf(IeType::PfcpSeReqFlags, kPfcpSeReqFlags);
constinit const IeDef PfcpSrReqFlags::def = leaf(IeType::PfcpSrReqFlags, kPfcpSrReqFlags);
constinit const IeDef PfcpSrRspFlags::def = leaf(IeType::PfcpSrRspFlags, kPfcpSrRspFlags);
constinit const IeDef PfcpSdRspFlags::def = leaf(IeType::PfcpSdRspFlags, kPfcpSdRspFlags);
constinit const IeDef UserId::def = leaf(IeType::UserId, kUserId);
constinit const IeDef TraceInformation::def = leaf(IeType::TraceInformation, kTraceInformation);
constinit const IeDef ReportType::def = leaf(IeType::ReportType, kReportType);
constinit const IeDef DownlinkDataServiceInformation::def =
    leaf(IeType::DownlinkDataServiceInformation, kDownlinkDataServiceInformation);
constinit const IeDef DataStatus::def = leaf(IeType::DataStatus, kDataStatus);
constinit const IeDef DownlinkDataReport::def =
    group<DownlinkDataReport>(IeType::DownlinkDataReport, kDownlinkDataReport);
constinit const IeDef ErrorIndicationReport::def =
    group<ErrorIndicationReport>(IeType::ErrorIndicationReport, kErrorIndicationReport);
constinit const IeDef OffendingIeInformation::def =
    leaf(IeType::OffendingIeInformation, kOffendingIeInformation);
constinit const IeDef PartialFailureInformation::def =
    group<PartialFailureInformation>(IeType::PartialFailureInformation, kPartialFailureInformation);
constinit const IeDef NfInstanceId::def = leaf(IeType::NfInstanceId, kNfInstanceId);
constinit const IeDef QueryPacketRateStatus::def =
    group<QueryPacketRateStatus>(IeType::QueryPacketRateStatus, kQueryPacketRateStatus);

}  // namespace upf::pfcp

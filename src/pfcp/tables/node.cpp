// Associations, load, paths: TS 29.244 7.4.4, 7.4.5, 7.4.7, 7.5.3.3, 7.5.3.4.

#include "upf/pfcp/ies/node.hpp"

#include "src/pfcp/tables/domain_name.hpp"
#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::at_least_one;
using rows::field;
using rows::flags;
using rows::group;
using rows::leaf;
using rows::member;
using rows::more_flags;
using namespace tables;

using Up = UpFunctionFeatures;
constexpr FieldRow kUpFunctionFeatures[] = {
    flags<&Up::bucp, &Up::ddnd, &Up::dlbd, &Up::trst, &Up::ftup, &Up::pfdm, &Up::heeu, &Up::treu>(),
    more_flags<&Up::empu, &Up::pdiu, &Up::udbc, &Up::quoac, &Up::trace, &Up::frrt, &Up::pfde,
               &Up::epfar>(),
    more_flags<&Up::dpdra, &Up::adpdp, &Up::ueip, &Up::sset, &Up::mnop, &Up::mte, &Up::bundl,
               &Up::gcom>(),
    more_flags<&Up::mpas, &Up::rttl, &Up::vtime, &Up::norp, &Up::iptv, &Up::ip6pl, &Up::tscu,
               &Up::mptcp>(),
    more_flags<&Up::atsss_ll, &Up::qfqm, &Up::gpqm, &Up::mt_edt, &Up::ciot, &Up::ethar, &Up::ddds,
               &Up::rds>(),
    more_flags<&Up::rttwp, &Up::quasf, &Up::nspoc, &Up::l2tp, &Up::upber, &Up::resps, &Up::iprep,
               &Up::dnsts>(),
    more_flags<&Up::drqos, &Up::mbsn4, &Up::psuprm, &Up::eppi, &Up::ratp, &Up::upidp>(),
};

using Cp = CpFunctionFeatures;
constexpr FieldRow kCpFunctionFeatures[] = {
    flags<&Cp::load, &Cp::ovrl, &Cp::epfar, &Cp::sset, &Cp::bundl, &Cp::mpas, &Cp::ardr,
          &Cp::uiaur>(),
    more_flags<&Cp::psucc, &Cp::rpgur>(),
};

using Upiri = UserPlaneIpResourceInformation;

/// V4, V6, three bits of TEIDRI, ASSONI, ASSOSI; then what they announce. The Network Instance has
/// no length: it ends where the source interface, which is one octet, begins.
bool read_upiri(wire::Reader& in, Upiri& info) {
  const unsigned octet = in.be<std::uint8_t>();
  const unsigned range_bits = octet >> 2U & 7U;
  if (range_bits != 0) {
    info.teid_range = {static_cast<std::uint8_t>(range_bits), in.be<std::uint8_t>()};
  }
  if ((octet & 1U) != 0) info.ipv4 = Ipv4{in.array<4>()};
  if ((octet & 2U) != 0) info.ipv6 = Ipv6{in.array<16>()};
  const bool has_source = (octet & 0x40U) != 0;
  if ((octet & 0x20U) != 0) {
    const std::size_t tail = has_source ? 1 : 0;
    if (in.remaining() < tail) in.fail();
    info.network_instance = rows::to_text(in.take(in.failed() ? 0 : in.remaining() - tail));
  }
  if (has_source) {
    info.source_interface = static_cast<SourceInterface>(in.be<std::uint8_t>() & 0xfU);
  }
  return true;
}

void write_upiri(wire::Writer& out, const Upiri& info) {
  const unsigned range_bits = info.teid_range ? info.teid_range->bits & 7U : 0U;
  out.be(static_cast<std::uint8_t>((info.ipv4 ? 1U : 0U) | (info.ipv6 ? 2U : 0U) |
                                   range_bits << 2U | (info.network_instance ? 0x20U : 0U) |
                                   (info.source_interface ? 0x40U : 0U)));
  if (range_bits != 0) out.be(info.teid_range->value);
  if (info.ipv4) out.put(info.ipv4->octets);
  if (info.ipv6) out.put(info.ipv6->octets);
  if (info.network_instance) out.put(rows::to_octets(*info.network_instance));
  if (info.source_interface) out.be(static_cast<std::uint8_t>(*info.source_interface));
}

constexpr FieldRow kUserPlaneIpResourceInformation[] = {
    {"", [](wire::Reader& in, void* ie) { return read_upiri(in, *static_cast<Upiri*>(ie)); },
     [](wire::Writer& out, const void* ie) { write_upiri(out, *static_cast<const Upiri*>(ie)); },
     [](std::string_view, std::string& out, const void* ie) {
       const auto& info = *static_cast<const Upiri*>(ie);
       if (info.teid_range) {
         out += fmt::format(" teid_range={:#x}/{}", info.teid_range->value, info.teid_range->bits);
       }
       if (info.ipv4) out += " ipv4=" + to_string(*info.ipv4);
       if (info.ipv6) out += " ipv6=" + to_string(*info.ipv6);
       if (info.network_instance) {
         out += " network_instance=" + rows::quoted(*info.network_instance);
       }
       if (info.source_interface) {
         out += fmt::format(" source_interface={}", static_cast<unsigned>(*info.source_interface));
       }
     }},
};

/// 8.2.131: a spare octet, then the FQDN. go-pfcp leaves the spare octet out; no label has length
/// 0, so the two can be told apart.
constexpr FieldRow kSmfSetId[] = {
    {"fqdn",
     [](wire::Reader& in, void* ie) {
       if (in.empty()) in.fail();
       if (!in.empty() && in.rest().front() == 0) (void)in.be<std::uint8_t>();
       static_cast<SmfSetId*>(ie)->fqdn = FqdnCodec::read(in);
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       out.be(std::uint8_t{0});
       FqdnCodec::write(out, static_cast<const SmfSetId*>(ie)->fqdn);
     },
     [](std::string_view name, std::string& out, const void* ie) {
       rows::print_named(name, out, FqdnCodec::text(static_cast<const SmfSetId*>(ie)->fqdn));
     }},
};

using Alternative = AlternativeSmfIpAddress;
constexpr FieldRow kAlternativeSmfIpAddress[] = {
    flags<&Alternative::ipv6, &Alternative::ipv4, &Alternative::preferred>(),
    field<&Alternative::ipv4>(),
    field<&Alternative::ipv6>(),
};

constexpr MemberRow kPfcpSessionRetentionInformation[] = {
    member<&PfcpSessionRetentionInformation::cp_pfcp_entity_ip_addresses>(kCpPfcpEntityIpAddress),
};

constexpr FieldRow kPfcpAsReqFlags[] = {flags<&PfcpAsReqFlags::uupsi>()};
constexpr FieldRow kPfcpAsRspFlags[] = {flags<&PfcpAsRspFlags::psrei, &PfcpAsRspFlags::uupsi>()};
constexpr FieldRow kPfcpAuReqFlags[] = {flags<&PfcpAuReqFlags::parps>()};
constexpr FieldRow kPfcpAssociationReleaseRequest[] = {
    flags<&PfcpAssociationReleaseRequest::sarr, &PfcpAssociationReleaseRequest::urss>()};
constexpr FieldRow kIpVersion[] = {flags<&IpVersion::v4, &IpVersion::v6>()};
constexpr FieldRow kSnssai[] = {field<&Snssai::sst>(), rows::uint<&Snssai::sd, 3>()};

constexpr MemberRow kUeIpAddressPoolInformation[] = {
    at_least_one<&UeIpAddressPoolInformation::ue_ip_address_pool_identities>(
        kUeIpAddressPoolIdentity),
    member<&UeIpAddressPoolInformation::network_instance>(kNetworkInstance),
    member<&UeIpAddressPoolInformation::snssais>(),
    member<&UeIpAddressPoolInformation::ip_version>(),
};

/// Node-ID type and number of CSIDs share an octet; the node type came with Release 15.
bool read_fq_csid(wire::Reader& in, FqCsid& id) {
  const unsigned head = in.be<std::uint8_t>();
  switch (head >> 4U) {
    case 0:
      id.node_address = Ipv4{in.array<4>()};
      break;
    case 1:
      id.node_address = Ipv6{in.array<16>()};
      break;
    case 2:
      id.node_address = in.array<4>();
      break;
    default:
      return false;
  }
  for (unsigned i = 0; i < (head & 0xfU); ++i) id.csids.push_back(in.be<std::uint16_t>());
  if (!in.empty()) id.node_type = static_cast<std::uint8_t>(in.be<std::uint8_t>() & 0xfU);
  return true;
}

void write_fq_csid(wire::Writer& out, const FqCsid& id) {
  const std::size_t count = std::min<std::size_t>(id.csids.size(), 15);
  out.be(static_cast<std::uint8_t>(id.node_address.index() << 4U | count));
  if (const auto* v4 = std::get_if<Ipv4>(&id.node_address)) out.put(v4->octets);
  if (const auto* v6 = std::get_if<Ipv6>(&id.node_address)) out.put(v6->octets);
  if (const auto* number = std::get_if<std::array<std::uint8_t, 4>>(&id.node_address)) {
    out.put(*number);
  }
  for (std::size_t i = 0; i < count; ++i) out.be(id.csids[i]);
  if (id.node_type) out.be(static_cast<std::uint8_t>(*id.node_type & 0xfU));
}

std::string fq_csid_text(const FqCsid& id) {
  std::string text;
  if (const auto* v4 = std::get_if<Ipv4>(&id.node_address)) text = to_string(*v4);
  if (const auto* v6 = std::get_if<Ipv6>(&id.node_address)) text = to_string(*v6);
  if (const auto* number = std::get_if<std::array<std::uint8_t, 4>>(&id.node_address)) {
    text = fmt::format("{:02x}", fmt::join(*number, ""));
  }
  text += fmt::format(" csids={}", fmt::join(id.csids, ","));
  if (id.node_type) text += fmt::format(" node_type={}", *id.node_type);
  return text;
}

constexpr FieldRow kFqCsid[] = {
    {"", [](wire::Reader& in, void* ie) { return read_fq_csid(in, *static_cast<FqCsid*>(ie)); },
     [](wire::Writer& out, const void* ie) { write_fq_csid(out, *static_cast<const FqCsid*>(ie)); },
     [](std::string_view, std::string& out, const void* ie) {
       out += ' ' + fq_csid_text(*static_cast<const FqCsid*>(ie));
     }},
};

constexpr FieldRow kGroupId[] = {field<&GroupId::octets>()};

constexpr MemberRow kPfcpSessionChangeInfo[] = {
    member<&PfcpSessionChangeInfo::fq_csids>(),
    member<&PfcpSessionChangeInfo::group_ids>(),
    member<&PfcpSessionChangeInfo::cp_ip_addresses>(kCpIpAddress),
    member<&PfcpSessionChangeInfo::alternative_smf_ip_address>(),
};

constexpr MemberRow kLoadControlInformation[] = {
    member<&LoadControlInformation::sequence_number>(kSequenceNumber),
    member<&LoadControlInformation::load_metric>(kMetric),
};

constexpr FieldRow kOciFlags[] = {flags<&OciFlags::aoci>()};

constexpr MemberRow kOverloadControlInformation[] = {
    member<&OverloadControlInformation::sequence_number>(kSequenceNumber),
    member<&OverloadControlInformation::overload_reduction_metric>(kMetric),
    member<&OverloadControlInformation::period_of_validity>(kTimer),
    member<&OverloadControlInformation::oci_flags>(),
};

constexpr FieldRow kNodeReportType[] = {
    flags<&NodeReportType::upfr, &NodeReportType::uprr, &NodeReportType::ckdr,
          &NodeReportType::gpqr, &NodeReportType::purr, &NodeReportType::vsr>()};

/// The destination interface sits behind a length of its own, which is 1.
struct CountedInterface {
  static DestinationInterface read(wire::Reader& in) {
    wire::Reader inner{in.take(in.be<std::uint16_t>())};
    const auto value = inner.be<std::uint8_t>();
    if (inner.failed()) in.fail();
    return static_cast<DestinationInterface>(value & 0xfU);
  }
  static void write(wire::Writer& out, DestinationInterface value) {
    out.be(std::uint16_t{1});
    out.be(static_cast<std::uint8_t>(value));
  }
  static std::string text(DestinationInterface value) {
    return fmt::format("{}", static_cast<unsigned>(value));
  }
};

constexpr FieldRow kRemoteGtpuPeer[] = {
    flags<&RemoteGtpuPeer::ipv6, &RemoteGtpuPeer::ipv4, &RemoteGtpuPeer::destination_interface,
          &RemoteGtpuPeer::network_instance>(),
    field<&RemoteGtpuPeer::ipv4>(),
    field<&RemoteGtpuPeer::ipv6>(),
    rows::value_row<&RemoteGtpuPeer::destination_interface, CountedInterface,
                    rows::kNever<&RemoteGtpuPeer::destination_interface>>(),
    rows::counted<&RemoteGtpuPeer::network_instance>(),
};

constexpr MemberRow kUserPlanePathFailureReport[] = {
    at_least_one<&UserPlanePathFailureReport::remote_gtpu_peers>()};
constexpr MemberRow kUserPlanePathRecoveryReport[] = {
    at_least_one<&UserPlanePathRecoveryReport::remote_gtpu_peers>()};
constexpr MemberRow kPeerUpRestartReport[] = {
    at_least_one<&PeerUpRestartReport::remote_gtpu_peers>()};

using UsedAddresses = NumberOfUeIpAddresses;
constexpr FieldRow kNumberOfUeIpAddresses[] = {
    flags<&UsedAddresses::ipv4, &UsedAddresses::ipv6>(),
    field<&UsedAddresses::ipv4>(),
    field<&UsedAddresses::ipv6>(),
};

using Usage = UeIpAddressUsageInformation;
constexpr MemberRow kUeIpAddressUsageInformation[] = {
    member<&Usage::sequence_number>(kSequenceNumber),
    member<&Usage::metric>(kMetric),
    member<&Usage::validity_timer>(kValidityTimer),
    member<&Usage::number_of_ue_ip_addresses>(),
    member<&Usage::network_instance>(kNetworkInstance),
    member<&Usage::ue_ip_address_pool_identity>(kUeIpAddressPoolIdentity),
    member<&Usage::snssai>(),
};

}  // namespace

constinit const IeDef UpFunctionFeatures::def =
    leaf(IeType::UpFunctionFeatures, kUpFunctionFeatures, 2);
constinit const IeDef CpFunctionFeatures::def =
    leaf(IeType::CpFunctionFeatures, kCpFunctionFeatures, 1);
constinit const IeDef UserPlaneIpResourceInformation::def =
    leaf(IeType::UserPlaneIpResourceInformation, kUserPlaneIpResourceInformation);
constinit const IeDef SmfSetId::def = leaf(IeType::SmfSetId, kSmfSetId);
constinit const IeDef AlternativeSmfIpAddress::def =
    leaf(IeType::AlternativeSmfIpAddress, kAlternativeSmfIpAddress);
constinit const IeDef PfcpSessionRetentionInformation::def = group<PfcpSessionRetentionInformation>(
    IeType::PfcpSessionRetentionInformation, kPfcpSessionRetentionInformation);
constinit const IeDef PfcpAsReqFlags::def = leaf(IeType::PfcpAsReqFlags, kPfcpAsReqFlags);
constinit const IeDef PfcpAsRspFlags::def = leaf(IeType::PfcpAsRspFlags, kPfcpAsRspFlags);
constinit const IeDef PfcpAuReqFlags::def = leaf(IeType::PfcpAuReqFlags, kPfcpAuReqFlags);
constinit const IeDef PfcpAssociationReleaseRequest::def =
    leaf(IeType::PfcpAssociationReleaseRequest, kPfcpAssociationReleaseRequest);
constinit const IeDef IpVersion::def = leaf(IeType::IpVersion, kIpVersion);
constinit const IeDef Snssai::def = leaf(IeType::Snssai, kSnssai);
constinit const IeDef UeIpAddressPoolInformation::def = group<UeIpAddressPoolInformation>(
    IeType::UeIpAddressPoolInformation, kUeIpAddressPoolInformation);
constinit const IeDef FqCsid::def = leaf(IeType::FqCsid, kFqCsid);
constinit const IeDef GroupId::def = leaf(IeType::GroupId, kGroupId);
constinit const IeDef PfcpSessionChangeInfo::def =
    group<PfcpSessionChangeInfo>(IeType::PfcpSessionChangeInfo, kPfcpSessionChangeInfo);
constinit const IeDef LoadControlInformation::def =
    group<LoadControlInformation>(IeType::LoadControlInformation, kLoadControlInformation);
constinit const IeDef OciFlags::def = leaf(IeType::OciFlags, kOciFlags);
constinit const IeDef OverloadControlInformation::def = group<OverloadControlInformation>(
    IeType::OverloadControlInformation, kOverloadControlInformation);
constinit const IeDef NodeReportType::def = leaf(IeType::NodeReportType, kNodeReportType);
constinit const IeDef RemoteGtpuPeer::def = leaf(IeType::RemoteGtpuPeer, kRemoteGtpuPeer);
constinit const IeDef UserPlanePathFailureReport::def = group<UserPlanePathFailureReport>(
    IeType::UserPlanePathFailureReport, kUserPlanePathFailureReport);
constinit const IeDef UserPlanePathRecoveryReport::def = group<UserPlanePathRecoveryReport>(
    IeType::UserPlanePathRecoveryReport, kUserPlanePathRecoveryReport);
constinit const IeDef PeerUpRestartReport::def =
    group<PeerUpRestartReport>(IeType::PeerUpRestartReport, kPeerUpRestartReport);
constinit const IeDef NumberOfUeIpAddresses::def =
    leaf(IeType::NumberOfUeIpAddresses, kNumberOfUeIpAddresses);
constinit const IeDef UeIpAddressUsageInformation::def = group<UeIpAddressUsageInformation>(
    IeType::UeIpAddressUsageInformation, kUeIpAddressUsageInformation);

}  // namespace upf::pfcp

#pragma once

#include <array>
#include <string>
#include <vector>

#include "upf/pfcp/ies/common.hpp"
#include "upf/pfcp/ies/pdr.hpp"

/// Associations, load, PFDs, paths.
namespace upf::pfcp {

/// 8.2.25
struct UpFunctionFeatures {
  bool bucp{}, ddnd{}, dlbd{}, trst{}, ftup{}, pfdm{}, heeu{}, treu{};
  bool empu{}, pdiu{}, udbc{}, quoac{}, trace{}, frrt{}, pfde{}, epfar{};
  bool dpdra{}, adpdp{}, ueip{}, sset{}, mnop{}, mte{}, bundl{}, gcom{};
  bool mpas{}, rttl{}, vtime{}, norp{}, iptv{}, ip6pl{}, tscu{}, mptcp{};
  bool atsss_ll{}, qfqm{}, gpqm{}, mt_edt{}, ciot{}, ethar{}, ddds{}, rds{};
  bool rttwp{}, quasf{}, nspoc{}, l2tp{}, upber{}, resps{}, iprep{}, dnsts{};
  bool drqos{}, mbsn4{}, psuprm{}, eppi{}, ratp{}, upidp{};
  bool operator==(const UpFunctionFeatures&) const = default;
  static const IeDef def;
};

/// 8.2.58
struct CpFunctionFeatures {
  bool load{}, ovrl{}, epfar{}, sset{}, bundl{}, mpas{}, ardr{}, uiaur{};
  bool psucc{}, rpgur{};
  bool operator==(const CpFunctionFeatures&) const = default;
  static const IeDef def;
};

/// 8.2.82 (removed in Release 16, still looked at by older CP functions)
struct UserPlaneIpResourceInformation {
  struct TeidRange {
    std::uint8_t bits{};   ///< 1 to 7: how many leading bits of the TEID are fixed
    std::uint8_t value{};  ///< those bits, right aligned
    bool operator==(const TeidRange&) const = default;
  };
  std::optional<TeidRange> teid_range{};
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  std::optional<std::string> network_instance{};  ///< octets as on the wire
  std::optional<SourceInterface> source_interface{};
  bool operator==(const UserPlaneIpResourceInformation&) const = default;
  static const IeDef def;
};

/// 8.2.131
struct SmfSetId {
  std::string fqdn{};
  bool operator==(const SmfSetId&) const = default;
  static const IeDef def;
};

/// 8.2.129
struct AlternativeSmfIpAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool preferred{};  ///< PPE
  bool operator==(const AlternativeSmfIpAddress&) const = default;
  static const IeDef def;
};

/// Table 7.4.4.1-2
struct PfcpSessionRetentionInformation {
  std::vector<DualAddress> cp_pfcp_entity_ip_addresses{};
  bool operator==(const PfcpSessionRetentionInformation&) const = default;
  static const IeDef def;
};

/// 8.2.178
struct PfcpAsReqFlags {
  bool uupsi{};
  bool operator==(const PfcpAsReqFlags&) const = default;
  static const IeDef def;
};

/// 8.2.134
struct PfcpAsRspFlags {
  bool psrei{};  ///< sessions are retained
  bool uupsi{};
  bool operator==(const PfcpAsRspFlags&) const = default;
  static const IeDef def;
};

/// 8.2.120
struct PfcpAuReqFlags {
  bool parps{};
  bool operator==(const PfcpAuReqFlags&) const = default;
  static const IeDef def;
};

/// 8.2.77
struct PfcpAssociationReleaseRequest {
  bool sarr{};  ///< release is asked for
  bool urss{};  ///< non-zero usage reports were sent for every session
  bool operator==(const PfcpAssociationReleaseRequest&) const = default;
  static const IeDef def;
};

/// 8.2.177
struct IpVersion {
  bool v4{};
  bool v6{};
  bool operator==(const IpVersion&) const = default;
  static const IeDef def;
};

/// 8.2.176
struct Snssai {
  std::uint8_t sst{};
  std::uint32_t sd{0xffffff};  ///< 24 bits; all ones: none
  bool operator==(const Snssai&) const = default;
  static const IeDef def;
};

/// Table 7.4.4.1-3
struct UeIpAddressPoolInformation {
  std::vector<std::string> ue_ip_address_pool_identities{};  ///< at least one
  std::optional<DomainName> network_instance{};
  std::vector<Snssai> snssais{};
  std::optional<IpVersion> ip_version{};
  bool operator==(const UeIpAddressPoolInformation&) const = default;
  static const IeDef def;
};

/// 8.2.43
struct FqCsid {
  /// Of type 0, 1 and 2: IPv4, IPv6, and four octets of MCC, MNC and a number.
  std::variant<Ipv4, Ipv6, std::array<std::uint8_t, 4>> node_address{};
  std::vector<std::uint16_t> csids{};       ///< at most 15
  std::optional<std::uint8_t> node_type{};  ///< 0 MME, 1 SGW-C, 2 PGW-C/SMF, 3 ePDG, 4 TWAN, 5 UP
  bool operator==(const FqCsid&) const = default;
  static const IeDef def;
};

/// 8.2.198: octets, not text.
struct GroupId {
  std::string octets{};
  bool operator==(const GroupId&) const = default;
  static const IeDef def;
};

/// Table 7.4.7.1-2
struct PfcpSessionChangeInfo {
  std::vector<FqCsid> fq_csids{};
  std::vector<GroupId> group_ids{};
  std::vector<DualAddress> cp_ip_addresses{};
  AlternativeSmfIpAddress alternative_smf_ip_address{};
  bool operator==(const PfcpSessionChangeInfo&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.3-1
struct LoadControlInformation {
  std::uint32_t sequence_number{};
  std::uint8_t load_metric{};  ///< percent
  bool operator==(const LoadControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.76
struct OciFlags {
  bool aoci{};
  bool operator==(const OciFlags&) const = default;
  static const IeDef def;
};

/// Table 7.5.3.4-1
struct OverloadControlInformation {
  std::uint32_t sequence_number{};
  std::uint8_t overload_reduction_metric{};  ///< percent
  UnitTimer period_of_validity{};
  std::optional<OciFlags> oci_flags{};
  bool operator==(const OverloadControlInformation&) const = default;
  static const IeDef def;
};

/// 8.2.39
struct PfdContents {
  std::optional<std::string> flow_description{};
  std::optional<std::string> url{};
  std::optional<std::string> domain_name{};
  std::optional<std::string> custom_pfd_content{};
  std::optional<std::string> domain_name_protocol{};
  std::vector<std::string> additional_flow_descriptions{};
  std::vector<std::string> additional_urls{};
  /// Each a domain name and its protocol.
  std::vector<std::pair<std::string, std::string>> additional_domain_names{};
  bool operator==(const PfdContents&) const = default;
  static const IeDef def;
};

/// Table 7.4.3.1-3
struct PfdContext {
  std::vector<PfdContents> pfd_contents{};  ///< at least one
  bool operator==(const PfdContext&) const = default;
  static const IeDef def;
};

/// Table 7.4.3.1-2. Without a context: the application's PFDs are to be removed (6.2.5).
struct ApplicationIdsPfds {
  std::string application_id{};
  std::vector<PfdContext> pfd_contexts{};
  bool operator==(const ApplicationIdsPfds&) const = default;
  static const IeDef def;
};

/// 8.2.69
struct NodeReportType {
  bool upfr{};
  bool uprr{};
  bool ckdr{};
  bool gpqr{};
  bool purr{};
  bool vsr{};
  bool operator==(const NodeReportType&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.2-1
struct UserPlanePathFailureReport {
  std::vector<RemoteGtpuPeer> remote_gtpu_peers{};  ///< at least one
  bool operator==(const UserPlanePathFailureReport&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.3-1
struct UserPlanePathRecoveryReport {
  std::vector<RemoteGtpuPeer> remote_gtpu_peers{};  ///< at least one
  bool operator==(const UserPlanePathRecoveryReport&) const = default;
  static const IeDef def;
};

/// Table 7.4.5.1.7-1
struct PeerUpRestartReport {
  std::vector<RemoteGtpuPeer> remote_gtpu_peers{};  ///< at least one
  bool operator==(const PeerUpRestartReport&) const = default;
  static const IeDef def;
};

/// 8.2.183
struct NumberOfUeIpAddresses {
  std::optional<std::uint32_t> ipv4{};
  std::optional<std::uint32_t> ipv6{};
  bool operator==(const NumberOfUeIpAddresses&) const = default;
  static const IeDef def;
};

/// Table 7.4.4.3.1-1
struct UeIpAddressUsageInformation {
  std::uint32_t sequence_number{};
  std::uint8_t metric{};
  std::uint16_t validity_timer{};  ///< seconds
  NumberOfUeIpAddresses number_of_ue_ip_addresses{};
  DomainName network_instance{};
  std::string ue_ip_address_pool_identity{};
  std::optional<Snssai> snssai{};
  bool operator==(const UeIpAddressUsageInformation&) const = default;
  static const IeDef def;
};

}  // namespace upf::pfcp

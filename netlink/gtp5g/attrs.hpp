#pragma once

#include <array>
#include <cstdint>

#include "netlink/attributes.hpp"
#include "upf/base/address.hpp"

/// gtp5g's generic-netlink contract, in numbers of our own (v0.9.3 to v0.10.2). Integers are host
/// order, addresses and masks network order (an Ipv4's octets). The module checks no widths itself:
/// these types are the only check there is.
namespace upf::gtp5g {

inline constexpr const char* kFamilyName = "gtp5g";
inline constexpr const char* kEventGroup = "gtp5g";

enum class Command : std::uint8_t {
  AddPdr = 1,
  AddFar = 2,
  AddQer = 3,
  DelPdr = 4,
  DelFar = 5,
  DelQer = 6,
  GetPdr = 7,
  GetFar = 8,
  GetQer = 9,
  AddUrr = 10,
  AddBar = 11,
  DelUrr = 12,
  DelBar = 13,
  GetUrr = 14,
  GetBar = 15,
  GetVersion = 16,
  GetReport = 17,
  Event = 18,
  GetMultiReports = 19,
  GetUsageStatistic = 20,
};

using netlink::Attr;
using netlink::Blob;
using netlink::Nest;
using netlink::Text;

using U8 = Attr<std::uint8_t>;
using U16 = Attr<std::uint16_t>;
using U32 = Attr<std::uint32_t>;
using U64 = Attr<std::uint64_t>;
using Address = Attr<Ipv4>;

inline constexpr U32 kLink{1};      ///< of every request but GET_VERSION: the link's ifindex
inline constexpr Text kVersion{0};  ///< of GET_VERSION's answer (really number 0)

namespace pdr {
inline constexpr U16 kId{3};
inline constexpr U32 kPrecedence{4};
inline constexpr Nest kPdi{5};
inline constexpr U8 kOuterHeaderRemoval{6};
inline constexpr U32 kFarId{7};
inline constexpr Address kRoleAddress{8};
inline constexpr Text kUnixSocketPath{9};
inline constexpr U32 kQerId{10};  ///< repeated
inline constexpr U64 kSeid{11};
inline constexpr U32 kUrrId{12};  ///< repeated
}  // namespace pdr

namespace pdi {
inline constexpr Address kUeAddress{1};
inline constexpr Nest kFTeid{2};
inline constexpr Nest kSdfFilter{3};
inline constexpr U8 kSourceInterface{4};
inline constexpr Nest kFramedRoutes{6};
}  // namespace pdi

namespace f_teid {
inline constexpr U32 kTeid{1};
inline constexpr Address kAddress{2};
}  // namespace f_teid

namespace sdf {
inline constexpr Nest kFlowDescription{1};
}  // namespace sdf

namespace flow {
inline constexpr U8 kAction{1};
inline constexpr U8 kDirection{2};
inline constexpr U8 kProtocol{3};
inline constexpr Address kSource{4};
inline constexpr Address kSourceMask{5};
inline constexpr Address kDestination{6};
inline constexpr Address kDestinationMask{7};
inline constexpr Blob kSourcePorts{8};  ///< u32 each: first port in the low, last in the high half
inline constexpr Blob kDestinationPorts{9};
inline constexpr std::uint8_t kPermit = 1;
inline constexpr std::uint8_t kOut = 2;
inline constexpr std::uint8_t kAnyProtocol = 0xff;
}  // namespace flow

namespace far {
inline constexpr U32 kId{3};
inline constexpr U16 kApplyAction{4};
inline constexpr Nest kForwarding{5};
inline constexpr U64 kSeid{7};
}  // namespace far

namespace action {
inline constexpr std::uint16_t kDrop = 1;
inline constexpr std::uint16_t kForward = 2;
inline constexpr std::uint16_t kBuffer = 4;
inline constexpr std::uint16_t kNotifyCp = 8;
}  // namespace action

namespace forwarding {
inline constexpr Nest kOuterHeader{1};
inline constexpr Text kPolicy{2};
inline constexpr U8 kSmReqFlags{3};
inline constexpr U8 kTosTc{4};
}  // namespace forwarding

namespace outer_header {
inline constexpr U16 kDescription{1};
inline constexpr U32 kTeid{2};
inline constexpr Address kPeer{3};
inline constexpr U16 kPort{4};
/// The IE's description octets for GTP-U/UDP/IPv4 (TS 29.244 8.2.56).
inline constexpr std::uint16_t kGtpuUdpIpv4 = 0x0100;
}  // namespace outer_header

namespace qer {
inline constexpr U32 kId{3};
inline constexpr U8 kGate{4};
inline constexpr Nest kMbr{5};
inline constexpr Nest kGbr{6};
inline constexpr U32 kCorrelation{7};
inline constexpr U8 kRqi{8};
inline constexpr U8 kQfi{9};
inline constexpr U64 kSeid{13};
inline constexpr std::uint8_t kUplinkClosed = 4;  ///< of the gate octet, TS 29.244 8.2.7
inline constexpr std::uint8_t kDownlinkClosed = 1;
}  // namespace qer

/// A rate in kbit/s is split: all but its lowest octet, and its lowest octet.
namespace bit_rate {
inline constexpr U32 kUplinkHigh{1};
inline constexpr U8 kUplinkLow{2};
inline constexpr U32 kDownlinkHigh{3};
inline constexpr U8 kDownlinkLow{4};
}  // namespace bit_rate

namespace urr {
inline constexpr U32 kId{3};
inline constexpr U8 kMethod{4};
inline constexpr U32 kTrigger{5};
inline constexpr U32 kPeriod{6};
inline constexpr U8 kInfo{7};
inline constexpr U64 kSeid{8};
inline constexpr Nest kThreshold{9};
inline constexpr Nest kQuota{10};
inline constexpr Nest kSeidAndId{11};  ///< of GET_MULTI_REPORTS, repeated
inline constexpr U32 kCount{12};       ///< of GET_MULTI_REPORTS
inline constexpr std::uint8_t kMethodVolume = 2;
inline constexpr std::uint8_t kInfoBeforeQos = 0x01;  ///< MBQE
inline constexpr std::uint8_t kInfoInactive = 0x02;   ///< INAM, also set by the module itself
inline constexpr std::uint8_t kInfoCountPackets = 0x10;
inline constexpr std::uint32_t kTriggerPeriodic = 1U << 0U;
inline constexpr std::uint32_t kTriggerThreshold = 1U << 1U;
inline constexpr std::uint32_t kTriggerStart = 1U << 4U;
inline constexpr std::uint32_t kTriggerQuota = 1U << 8U;
}  // namespace urr

/// Volume Threshold and Volume Quota alike.
namespace volume {
inline constexpr U8 kFlags{1};
inline constexpr U64 kTotal{2};
inline constexpr U64 kUplink{3};
inline constexpr U64 kDownlink{4};
inline constexpr std::uint8_t kHasTotal = 1;
inline constexpr std::uint8_t kHasUplink = 2;
inline constexpr std::uint8_t kHasDownlink = 4;
}  // namespace volume

namespace bar {
inline constexpr U8 kId{3};
}  // namespace bar

namespace report {
inline constexpr Nest kReport{5};  ///< repeated
inline constexpr U32 kUrrId{3};
inline constexpr U32 kTrigger{4};
inline constexpr Nest kVolume{6};
inline constexpr U64 kStart{8};  ///< ns since 1970
inline constexpr U64 kEnd{9};
inline constexpr U64 kSeid{10};
}  // namespace report

namespace measurement {
inline constexpr U64 kTotal{2};
inline constexpr U64 kUplink{3};
inline constexpr U64 kDownlink{4};
inline constexpr U64 kTotalPackets{5};
inline constexpr U64 kUplinkPackets{6};
inline constexpr U64 kDownlinkPackets{7};
}  // namespace measurement

namespace event {
inline constexpr Nest kBuffered{1};
inline constexpr Nest kReports{2};
inline constexpr Blob kPacket{4};
inline constexpr U16 kPdrId{5};
inline constexpr U64 kSeid{6};
inline constexpr U16 kAction{7};
inline constexpr U16 kSequence{8};
}  // namespace event

/// Of the link's IFLA_INFO_DATA.
namespace link {
inline constexpr const char* kKind = "gtp5g";
inline constexpr U32 kSocket{1};
inline constexpr U32 kHashSize{2};
inline constexpr U32 kRole{3};
inline constexpr std::uint32_t kRoleUpf = 0;
}  // namespace link

}  // namespace upf::gtp5g

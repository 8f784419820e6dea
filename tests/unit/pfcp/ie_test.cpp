// IEs one by one: struct to bytes and back, written down from their clauses.

#include <gtest/gtest.h>

#include "tests/support/hex.hpp"
#include "upf/pfcp/ies/session.hpp"

namespace upf::pfcp {
namespace {

using upf::test::hex_of;
using upf::test::octets_of;

Bytes value_of(Bytes ie) { return ie.subspan(4); }

/// Encodes to `hex`, decodes from it, and prints as `text`.
template <class T>
void expect_ie(const T& ie, std::string_view hex, std::string_view text) {
  const Octets octets = octets_of(hex);
  EXPECT_EQ(hex_of(encode(ie)), hex_of(octets));
  const auto decoded = decode<T>(value_of(octets));
  ASSERT_TRUE(decoded) << to_string(decoded.error());
  EXPECT_EQ(*decoded, ie);
  EXPECT_EQ(to_string(ie), text);
}

TEST(FTeid, Clause8_2_3) {
  expect_ie(FTeid{.teid = {1}, .ipv4 = Ipv4{{10, 0, 0, 1}}}, "0015 0009 01 00000001 0a000001",
            "F-TEID{ teid=0x1 ipv4=10.0.0.1 }");
  expect_ie(FTeid{.ipv4 = Ipv4{}, .choose = true, .choose_id = std::uint8_t{7}}, "0015 0002 0d 07",
            "F-TEID{ choose ipv4 choose_id=7 }");
  expect_ie(FTeid{.choose = true}, "0015 0001 04", "F-TEID{ choose }");
}

TEST(UeIpAddress, Clause8_2_62) {
  expect_ie(UeIpAddress{.ipv4 = Ipv4{{10, 60, 0, 1}}, .is_destination = true},
            "005d 0005 06 0a3c0001", "UE IP Address{ is_destination ipv4=10.60.0.1 }");
  expect_ie(UeIpAddress{.choose_ipv4 = true, .choose_ipv6 = true}, "005d 0001 30",
            "UE IP Address{ choose_ipv4 choose_ipv6 }");
  UeIpAddress delegated{};
  delegated.ipv6.emplace().octets[0] = 0x20;
  delegated.ipv6_prefix_delegation_bits = 8;
  delegated.ipv6_prefix_length = 56;
  expect_ie(delegated, "005d 0013 49 20000000000000000000000000000000 08 38",
            "UE IP Address{ ipv6=2000:: ipv6_prefix_delegation_bits=8 ipv6_prefix_length=56 }");
}

TEST(SdfFilter, Clause8_2_5) {
  expect_ie(SdfFilter{.filter_id = 9}, "0017 0006 10 00 00000009", "SDF Filter{ filter_id=9 }");
  expect_ie(SdfFilter{.flow_description = "permit"}, "0017 000a 01 00 0006 7065726d6974",
            "SDF Filter{ flow_description=\"permit\" }");
  // A length that runs past the IE.
  EXPECT_FALSE(decode<SdfFilter>(octets_of("01 00 0007 7065726d6974")));
}

TEST(ApplyAction, OneOctetOrTwo) {
  expect_ie(ApplyAction{.buff = true, .nocp = true}, "002c 0001 0c", "Apply Action{ buff nocp }");
  expect_ie(ApplyAction{.buff = true, .bdpn = true}, "002c 0002 04 02",
            "Apply Action{ buff bdpn }");
  EXPECT_EQ(decode<ApplyAction>(octets_of("0c 00")), (ApplyAction{.buff = true, .nocp = true}));
  EXPECT_EQ(decode<ApplyAction>(octets_of("0c 00 ff")), (ApplyAction{.buff = true, .nocp = true}));
}

TEST(ReportingTriggers, TwoOctetsOrThree) {
  expect_ie(ReportingTriggers{.perio = true, .quvti = true}, "0025 0002 01 80",
            "Reporting Triggers{ perio quvti }");
  expect_ie(ReportingTriggers{.upint = true}, "0025 0003 00 00 02", "Reporting Triggers{ upint }");
  EXPECT_EQ(decode<ReportingTriggers>(octets_of("020000")), ReportingTriggers{.volth = true});
  EXPECT_EQ(decode<ReportingTriggers>({}).error(),
            (DecodeError{Cause::InvalidLength, IeType::ReportingTriggers, {}}));
}

TEST(UsageReportTrigger, AlwaysThreeOctets) {
  expect_ie(UsageReportTrigger{.termr = true}, "003f 0003 00 08 00",
            "Usage Report Trigger{ termr }");
  expect_ie(UsageReportTrigger{.upint = true}, "003f 0003 00 00 20",
            "Usage Report Trigger{ upint }");
}

TEST(OuterHeaderCreation, FieldsFollowTheDescription) {
  using Ohc = OuterHeaderCreation;
  expect_ie(Ohc{.gtpu_udp_ipv4 = true, .teid = {0x100}, .ipv4 = Ipv4{{10, 0, 0, 3}}},
            "0054 000a 0100 00000100 0a000003",
            "Outer Header Creation{ gtpu_udp_ipv4 teid=0x100 ipv4=10.0.0.3 }");
  expect_ie(Ohc{.udp_ipv4 = true, .ipv4 = Ipv4{{10, 0, 0, 3}}, .port = 5000},
            "0054 0008 0400 0a000003 1388",
            "Outer Header Creation{ udp_ipv4 ipv4=10.0.0.3 port=5000 }");
  expect_ie(Ohc{.n6_indication = true, .c_tag = 0x010203}, "0054 0005 4002 010203",
            "Outer Header Creation{ n6_indication c_tag=66051 }");
}

TEST(NodeId, Clause8_2_38) {
  expect_ie(NodeId{"upf.example"}, "003c 000d 02 03757066 076578616d706c65",
            "Node ID{ upf.example }");
  // Plain text, as some peers write it, is kept; it is not a length of 117.
  EXPECT_EQ(decode<NodeId>(octets_of("02 757066")), NodeId{"upf"});
  EXPECT_EQ(decode<NodeId>(octets_of("02")).error(),
            (DecodeError{Cause::InvalidLength, IeType::NodeId, {}}));
}

TEST(NodeId, NamesThatAreNotLabelsSurviveARoundTrip) {
  for (const char* name : {".", "a..b", "a.", ".a",
                           "\x03"
                           "a.b"}) {
    const NodeId node{name};
    EXPECT_EQ(decode<NodeId>(value_of(encode(node))), node) << name;
  }
  const NodeId long_label{std::string(64, 'a')};
  EXPECT_EQ(decode<NodeId>(value_of(encode(long_label))), long_label);
}

TEST(FailedRuleId, WidthFollowsTheKind) {
  expect_ie(FailedRuleId{PdrId{0x102}}, "0072 0003 00 0102", "Failed Rule ID{ PDR 258 }");
  expect_ie(FailedRuleId{FarId{5}}, "0072 0005 01 00000005", "Failed Rule ID{ FAR 5 }");
  expect_ie(FailedRuleId{QerId{5}}, "0072 0005 02 00000005", "Failed Rule ID{ QER 5 }");
  expect_ie(FailedRuleId{UrrId{5}}, "0072 0005 03 00000005", "Failed Rule ID{ URR 5 }");
  expect_ie(FailedRuleId{BarId{5}}, "0072 0002 04 05", "Failed Rule ID{ BAR 5 }");
  EXPECT_EQ(decode<FailedRuleId>(octets_of("1f 00")).error(),
            (DecodeError{Cause::MandatoryIeIncorrect, IeType::FailedRuleId, {}}));
}

TEST(UpFunctionFeatures, AsManyOctetsAsNeeded) {
  expect_ie(UpFunctionFeatures{.ftup = true}, "002b 0002 10 00", "UP Function Features{ ftup }");
  expect_ie(UpFunctionFeatures{.bundl = true, .upidp = true}, "002b 0007 00 00 40 00 00 00 20",
            "UP Function Features{ bundl upidp }");
  EXPECT_EQ(decode<UpFunctionFeatures>(octets_of("10")), UpFunctionFeatures{.ftup = true});
}

TEST(UserPlaneIpResourceInformation, NetworkInstanceEndsWhereTheInterfaceBegins) {
  UserPlaneIpResourceInformation info{};
  info.ipv4 = Ipv4{{10, 0, 0, 1}};
  info.network_instance = "n3";
  info.source_interface = SourceInterface::Access;
  expect_ie(info, "0074 0008 61 0a000001 6e33 00",
            "User Plane IP Resource Information{ ipv4=10.0.0.1 network_instance=\"n3\" "
            "source_interface=0 }");
  EXPECT_FALSE(decode<UserPlaneIpResourceInformation>(octets_of("61 0a000001")));
}

TEST(UnitTimer, DurationsBothWays) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  EXPECT_EQ((UnitTimer{0, 31}.duration()), seconds{62});
  EXPECT_EQ((UnitTimer{4, 2}.duration()), hours{20});
  EXPECT_EQ((UnitTimer{5, 2}.duration()), minutes{2});
  EXPECT_EQ((UnitTimer{7, 2}.duration()), std::nullopt);
  EXPECT_EQ(UnitTimer::of(seconds{3}), (UnitTimer{0, 2}));
  EXPECT_EQ(UnitTimer::of(seconds{63}), (UnitTimer{1, 2}));
  EXPECT_EQ(UnitTimer::of(hours{311}), (UnitTimer{7, 0}));
  EXPECT_EQ(UnitTimer::of(seconds{0}), (UnitTimer{0, 0}));
}

TEST(NtpTime, EraOneBeginsIn2036) {
  using std::chrono::seconds;
  const WallTime in_2026{seconds{1796000000}};
  EXPECT_EQ(NtpTime::from(in_2026).seconds, 1796000000U + NtpTime::kUnixEpoch);
  EXPECT_EQ(NtpTime::from(in_2026).to_wall(), in_2026);
  const WallTime in_2040{seconds{2208988800LL + 100}};
  EXPECT_EQ(NtpTime::from(in_2040).to_wall(), in_2040);
}

TEST(UpdateGroups, ChildrenOfLengthZeroAreRemovals) {
  const auto pdr = decode<UpdatePdr>(octets_of("0038 0002 0002 0051 0000 0051 0000 0002 0000"));
  ASSERT_TRUE(pdr) << to_string(pdr.error());
  EXPECT_EQ(pdr->removed, (Removed{IeType::UrrId, IeType::Pdi}));
  EXPECT_TRUE(pdr->urr_ids.empty());
  EXPECT_EQ(pdr->pdi, std::nullopt);
  // Not in a group that creates, and not the rule's own ID.
  EXPECT_EQ(decode<CreatePdr>(octets_of("0038 0002 0002 001d 0000")).error(),
            (DecodeError{Cause::InvalidLength, IeType::Precedence, {}}));
  EXPECT_EQ(decode<UpdatePdr>(octets_of("0038 0000")).error(),
            (DecodeError{Cause::InvalidLength, IeType::PdrId, {}}));
}

TEST(DecodeError, NamesTheGroupsAroundTheOffendingIe) {
  const auto far = decode<CreateFar>(
      octets_of("006c 0004 00000001 002c 0001 02 0004 0005 002a 0001 00 0004 0000"));
  EXPECT_TRUE(far);  // the second Forwarding Parameters is not looked at
  const auto pdr = decode<CreatePdr>(
      octets_of("0038 0002 0001 001d 0004 000000ff 0002 000a 0014 0001 00 0015 0001 01"));
  ASSERT_FALSE(pdr);
  EXPECT_EQ(to_string(pdr.error()), "Invalid length: F-TEID in PDI in Create PDR");
  // A child that runs past its group is the group's last octets' fault, and named.
  const auto over = decode<CreatePdr>(octets_of("0038 0003 0001"));
  ASSERT_FALSE(over);
  EXPECT_EQ(to_string(over.error()), "Invalid length: PDR ID in Create PDR");
}

}  // namespace
}  // namespace upf::pfcp

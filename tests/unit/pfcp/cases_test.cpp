// Reports about other UPFs, by the row of cases.md; each fixed as a kind in the engine, each a
// test.

#include <gtest/gtest.h>

#include "tests/support/hex.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace upf::pfcp {
namespace {

using upf::test::octets_of;

template <class M>
[[nodiscard]] Result<M, DecodeError> decode_datagram(std::string_view hex) {
  const Octets octets = octets_of(hex);
  const auto frame = decode_header(octets);
  EXPECT_TRUE(frame);
  return decode<M>(frame->body);
}

CreateFar far_with(OuterHeaderCreation ohc) {
  CreateFar far{.far_id = {1}, .apply_action = {.forw = true}};
  far.forwarding_parameters.emplace().outer_header_creation = ohc;
  return far;
}

CreatePdr some_pdr() { return {.pdr_id = {1}, .precedence = 255, .pdi = {}, .far_id = FarId{1}}; }

SessionEstablishmentRequest some_request() {
  SessionEstablishmentRequest request{};
  request.node_id.value = Ipv4{{10, 0, 0, 1}};
  request.cp_f_seid = {.seid = {7}, .ipv4 = Ipv4{{10, 0, 0, 1}}, .ipv6 = {}};
  request.create_pdrs.push_back(some_pdr());
  request.create_fars.push_back(far_with({.gtpu_udp_ipv4 = true}));
  return request;
}

Octets body_of(const SessionEstablishmentRequest& request) {
  const Octets octets = encode(request, {.seid = Seid{0}, .sequence = 1});
  const Bytes body = decode_header(octets)->body;
  return {body.begin(), body.end()};
}

DecodeError missing(IeType type) { return {Cause::MandatoryIeMissing, type, {}}; }
DecodeError invalid_length(IeType type) { return {Cause::InvalidLength, type, {}}; }

// cases.md 2
TEST(Cases, HeartbeatWithAnEmptyTimeStampOrNone) {
  EXPECT_EQ(decode_datagram<HeartbeatRequest>("2001000c0000020000600000e81fe7b4").error(),
            invalid_length(IeType::RecoveryTimeStamp));
  EXPECT_EQ(decode_datagram<HeartbeatRequest>("2001000400000200").error(),
            missing(IeType::RecoveryTimeStamp));
}

// cases.md 5. The row wants cause 69, which TS 29.244 table 8.2.1-1 keeps for a mandatory IE with
// an invalid value; for "an IE with an invalid length" the same table has 68, and Outer Header
// Creation is conditional (table 7.5.2.3-2). A value that is wrong in a right length stays 69.
TEST(Cases, OuterHeaderCreationThatIsEmptyShortOrWithoutItsAddress) {
  const auto decode_far = [](std::string_view ohc) {
    Octets value = octets_of("006c0004 00000001 002c0001 02 0004");
    const Octets parameters = octets_of(ohc);
    value.push_back(0);
    value.push_back(static_cast<std::uint8_t>(parameters.size() + 5));
    const Octets destination = octets_of("002a0001 00");
    value.insert(value.end(), destination.begin(), destination.end());
    value.insert(value.end(), parameters.begin(), parameters.end());
    return decode<CreateFar>(value);
  };
  for (int again = 0; again < 2; ++again) {  // o5#4699: only the second one crashed
    for (const char* ohc : {"0054 0000", "0054 0001 01", "0054 0002 0100",
                            "0054 0006 0100 00000001", "0054 0009 0100 00000001 0a0000"}) {
      const auto decoded = decode_far(ohc);
      ASSERT_FALSE(decoded) << ohc;
      EXPECT_EQ(decoded.error(), invalid_length(IeType::OuterHeaderCreation)) << ohc;
      EXPECT_EQ(to_string(decoded.error()),
                "Invalid length: Outer Header Creation in Forwarding Parameters in Create FAR");
    }
  }
  EXPECT_TRUE(decode_far("0054 000a 0100 00000001 0a000001"));
}

// cases.md 8: the mandatory ones by the decoder; FAR ID is conditional and session's to miss.
TEST(Cases, CreatePdrWithoutPrecedenceOrPdi) {
  EXPECT_EQ(decode<CreatePdr>(octets_of("0038 0002 0001 0002 0005 0014 0001 00")).error(),
            missing(IeType::Precedence));
  EXPECT_EQ(decode<CreatePdr>(octets_of("0038 0002 0001 001d 0004 000000ff")).error(),
            missing(IeType::Pdi));
  const auto without_far =
      decode<CreatePdr>(octets_of("0038 0002 0001 001d 0004 000000ff 0002 0005 0014 0001 00"));
  ASSERT_TRUE(without_far);
  EXPECT_EQ(without_far->far_id, std::nullopt);
}

// cases.md 10
TEST(Cases, RemovePdrWithAnEmptyId) {
  EXPECT_EQ(decode<SessionModificationRequest>(octets_of("000f 0004 0038 0000")).error(),
            invalid_length(IeType::PdrId));
  EXPECT_EQ(decode<SessionModificationRequest>(octets_of("0009 0004 0038 0000")).error(),
            invalid_length(IeType::PdrId));
}

// cases.md 12
TEST(Cases, AssociationSetupWithoutOrWithEmptyNodeIdOrTimeStamp) {
  using Request = AssociationSetupRequest;
  EXPECT_EQ(decode<Request>(octets_of("0060 0004 e81fdc30")).error(), missing(IeType::NodeId));
  EXPECT_EQ(decode<Request>(octets_of("003c 0005 00 0a000001")).error(),
            missing(IeType::RecoveryTimeStamp));
  EXPECT_EQ(decode<Request>(octets_of("003c 0000 0060 0004 e81fdc30")).error(),
            invalid_length(IeType::NodeId));
  EXPECT_EQ(decode<Request>(octets_of("003c 0001 02 0060 0004 e81fdc30")).error(),
            invalid_length(IeType::NodeId));
  EXPECT_EQ(decode<Request>(octets_of("003c 0005 00 0a000001 0060 0000")).error(),
            invalid_length(IeType::RecoveryTimeStamp));
  EXPECT_EQ(decode<Request>(octets_of("003c 0005 03 0a000001 0060 0004 e81fdc30")).error(),
            (DecodeError{Cause::MandatoryIeIncorrect, IeType::NodeId, {}}));
}

TEST(Cases, NodeMessageWithTheSessionFlag) {
  // cases.md 12: header 21 05. The header decodes; what to make of the SEID is the endpoint's.
  const Octets octets =
      octets_of("21050021 0000000000000000 000001 00 003c0005000a64c864 00600004e81fdc30");
  const auto frame = decode_header(octets);
  ASSERT_FALSE(frame);  // the length says more than there is
  const Octets right =
      octets_of("2105001d 0000000000000000 000001 00 003c0005000a64c864 00600004e81fdc30");
  const auto read = decode_header(right);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.seid, Seid{0});
  EXPECT_TRUE(decode<AssociationSetupRequest>(read->body));
}

// cases.md 19
TEST(Cases, EstablishmentWithoutSeidNodeOrRules) {
  const auto refused = [](auto change) {
    SessionEstablishmentRequest request = some_request();
    change(request);
    return decode<SessionEstablishmentRequest>(body_of(request)).error();
  };
  EXPECT_EQ(refused([](auto& r) { r.create_pdrs.clear(); }), missing(IeType::CreatePdr));
  EXPECT_EQ(refused([](auto& r) { r.create_fars.clear(); }), missing(IeType::CreateFar));
  EXPECT_EQ(decode<SessionEstablishmentRequest>({}).error(), missing(IeType::NodeId));
  EXPECT_EQ(decode<SessionEstablishmentRequest>(octets_of("003c 0005 00 0a000001")).error(),
            missing(IeType::FSeid));
}

// cases.md 20: what a receiver needs is never left out of what we write.
TEST(Cases, ReportsCarryWhatTheSmfNeeds) {
  UsageReport usage{.urr_id = {1}, .ur_seqn = 2, .usage_report_trigger = {.volth = true}};
  usage.volume_measurement.emplace().total = 5;
  SessionReportRequest report{};
  report.report_type.usar = true;
  report.usage_reports.push_back(usage);
  const Octets octets = encode(report, {.seid = Seid{1}, .sequence = 1});
  EXPECT_EQ(upf::test::hex_of(decode_header(octets)->body),
            "00 27 00 01 02 "                           // Report Type USAR, one octet
            "00 50 00 24 00 51 00 04 00 00 00 01 "      // Usage Report, URR ID
            "00 68 00 04 00 00 00 02 "                  // UR-SEQN
            "00 3f 00 03 02 00 00 "                     // Usage Report Trigger, three octets
            "00 42 00 09 01 00 00 00 00 00 00 00 05");  // Volume Measurement
}

// cases.md 21
TEST(Cases, OddValues) {
  // A short MBR.
  EXPECT_EQ(
      decode<CreateQer>(octets_of("006d 0004 00000001 0019 0001 00 001a 0005 0000000001")).error(),
      invalid_length(IeType::Mbr));
  // A PDI without Source Interface.
  EXPECT_EQ(decode<Pdi>({}).error(), missing(IeType::SourceInterface));
  // Destination Interface 0x99: its upper half is spare, 9 is left for session to refuse.
  const auto parameters = decode<ForwardingParameters>(octets_of("002a 0001 99"));
  ASSERT_TRUE(parameters);
  EXPECT_EQ(static_cast<int>(parameters->destination_interface), 9);
  // PDN Type 0 likewise.
  SessionEstablishmentRequest request = some_request();
  request.pdn_type = static_cast<PdnType>(0);
  EXPECT_EQ(decode<SessionEstablishmentRequest>(body_of(request))->pdn_type,
            static_cast<PdnType>(0));
  // URR ID 65535 with ISTM; TEID 0 with RESTI: well-formed.
  EXPECT_TRUE(
      decode<CreateUrr>(octets_of("0051 0004 0000ffff 003e 0001 02 0025 0002 0100 0064 0001 08")));
  // Create FAR with Outer Header Creation in a modification: valid.
  SessionModificationRequest modification{};
  modification.create_fars.push_back(
      far_with({.gtpu_udp_ipv4 = true, .teid = {5}, .ipv4 = Ipv4{{10, 0, 0, 2}}}));
  const Octets octets = encode(modification, {.seid = Seid{1}, .sequence = 1});
  EXPECT_EQ(*decode<SessionModificationRequest>(decode_header(octets)->body), modification);
}

// cases.md 61 and V3
TEST(Cases, V3ChooseWithoutAFamily) {
  const auto request = decode_datagram<SessionEstablishmentRequest>(
      "2132006e000000000000000000000100003c0005007f0000640039000d0200000000000027107f00006400010029"
      "00"
      "3800020001001d0004000003e80002000a00140001030015000105005f000100006c00040000000100030017006c"
      "00"
      "0400000001002c0002020000040005002a000100");
  ASSERT_TRUE(request) << to_string(request.error());
  const CreatePdr& pdr = request->create_pdrs.at(0);
  EXPECT_EQ(pdr.pdi.source_interface, SourceInterface::CpFunction);
  ASSERT_TRUE(pdr.pdi.local_f_teid);
  EXPECT_TRUE(pdr.pdi.local_f_teid->choose);
  EXPECT_TRUE(pdr.pdi.local_f_teid->ipv4);
  EXPECT_FALSE(pdr.pdi.local_f_teid->ipv6);
  EXPECT_EQ(request->create_fars.at(0).apply_action, ApplyAction{.forw = true});
}

TEST(Cases, V1Association) {
  const auto request = decode_datagram<AssociationSetupRequest>(
      "2005001f00000100003c0005000a64c86400600004e81fdc30002b0006210000000000");
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(to_text(request->node_id), "10.100.200.100");
  EXPECT_EQ(request->up_function_features, (UpFunctionFeatures{.bucp = true, .pfdm = true}));
}

// cases.md 63
TEST(Cases, NetworkInstanceAsLabelsAsTextAndAbsent) {
  const auto plain = decode<Pdi>(octets_of("0014 0001 00 0016 0008 696e7465726e6574"));
  const auto labels = decode<Pdi>(octets_of("0014 0001 00 0016 0009 08 696e7465726e6574"));
  ASSERT_TRUE(plain && labels);
  EXPECT_EQ(plain->network_instance, (DomainName{"internet", false}));
  EXPECT_EQ(labels->network_instance, (DomainName{"internet", true}));
  EXPECT_EQ(decode<Pdi>(octets_of("0014 0001 00"))->network_instance, std::nullopt);
}

}  // namespace
}  // namespace upf::pfcp

#include "unit/control/support.hpp"

namespace upf::control::test {
namespace {

using Association = UpFunctionTest;
using pfcp::Cause;
using pfcp::IeType;

// Changes one octet range of an encoded message and keeps its length field right.
wire::Octets without(wire::Octets message, std::size_t at, std::size_t count) {
  message.erase(message.begin() + static_cast<std::ptrdiff_t>(at),
                message.begin() + static_cast<std::ptrdiff_t>(at + count));
  const std::size_t length = message.size() - 4;
  message[2] = static_cast<std::uint8_t>(length >> 8U);
  message[3] = static_cast<std::uint8_t>(length);
  return message;
}

TEST_F(Association, IsAcceptedWithOurNodeIdAndTimeStamp) {
  const auto response = associate();
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_EQ(response.node_id, (pfcp::NodeId{kUpf}));
  EXPECT_EQ(response.recovery_time_stamp, pfcp::NtpTime::from(settings().recovery_time_stamp));
  // cases.md 30
  ASSERT_TRUE(response.up_function_features);
  EXPECT_TRUE(response.up_function_features->ftup) << "Open5GS needs it";
}

TEST_F(Association, AnFqdnNodeIdIsSentAsItWasConfigured) {  // cases.md 31
  Settings named = settings();
  named.node_id = "upf1.free5gc.org";
  restart(named);
  const auto output = send(pfcp::AssociationSetupRequest{
      .node_id = {std::string{"smf.free5gc.org"}}, .recovery_time_stamp = {1}});
  EXPECT_EQ(answer<pfcp::AssociationSetupResponse>(output).node_id,
            (pfcp::NodeId{std::string{"upf1.free5gc.org"}}));
}

TEST_F(Association, WithAMandatoryIeMissingOrEmptyIsAnsweredWithThat) {  // cases.md 12
  const auto whole =
      pfcp::encode(pfcp::AssociationSetupRequest{.node_id = kSmfNode, .recovery_time_stamp = {1}},
                   {.sequence = 1});
  // 8 octets of header, 9 of Node ID, 8 of Recovery Time Stamp.
  const auto no_node = answer<pfcp::AssociationSetupResponse>(datagram(without(whole, 8, 9)));
  EXPECT_EQ(no_node.cause, Cause::MandatoryIeMissing);
  EXPECT_EQ(no_node.offending_ie, IeType::NodeId);
  const auto no_time = answer<pfcp::AssociationSetupResponse>(datagram(without(whole, 17, 8)));
  EXPECT_EQ(no_time.cause, Cause::MandatoryIeMissing);
  EXPECT_EQ(no_time.offending_ie, IeType::RecoveryTimeStamp);
  auto empty_node = without(whole, 12, 5);
  empty_node[11] = 0;
  const auto empty = answer<pfcp::AssociationSetupResponse>(datagram(empty_node));
  EXPECT_FALSE(pfcp::is_acceptance(empty.cause));
  EXPECT_EQ(empty.offending_ie, IeType::NodeId);
}

TEST_F(Association, OfANodeMessageWithASeidInItsHeaderIsAnswered) {  // cases.md 12
  const wire::Octets flagged{0x21, 0x05, 0x00, 0x1f, 0x00, 0x00, 0x01, 0x00, 0x00, 0x3c, 0x00, 0x05,
                             0x00, 0x0a, 0x64, 0xc8, 0x64, 0x00, 0x60, 0x00, 0x04, 0xe8, 0x1f, 0xdc,
                             0x30, 0x00, 0x2b, 0x00, 0x06, 0x21, 0x00, 0x00, 0x00, 0x00, 0x00};
  const auto response = answer<pfcp::AssociationSetupResponse>(datagram(flagged));
  EXPECT_FALSE(pfcp::is_acceptance(response.cause));
}

TEST_F(Association, WithALengthThatDoesNotFitIsInvalidLength) {
  auto octets =
      pfcp::encode(pfcp::AssociationSetupRequest{.node_id = kSmfNode, .recovery_time_stamp = {1}},
                   {.sequence = 1});
  octets.push_back(0);
  EXPECT_EQ(answer<pfcp::AssociationSetupResponse>(datagram(octets)).cause, Cause::InvalidLength);
}

TEST_F(Association, AgainEndsTheSessionsThatAreNotToBeKept) {  // cases.md 26
  associate();
  establish();
  EXPECT_EQ(plane.session_count(), 1U);
  // The same time stamp makes no difference: TS 29.244 6.2.6.2.2.
  const auto response = associate();
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_FALSE(response.pfcpasrsp_flags);
  EXPECT_EQ(plane.session_count(), 0U);
}

// Its CP function has forgotten it: an operator's release owes nobody a report.
TEST_F(Association, WhatHasEndedButIsStillInThePlaneIsNotReleasedOnceMore) {
  associate();
  const Seid ended = establish();
  ASSERT_EQ(modify(ended, activation()), Cause::RequestAccepted);
  plane.offer(ended, {1}, 100);
  plane.fail_next(dataplane::Failure::Kind::Unavailable);
  associate();
  ASSERT_EQ(plane.session_count(), 1U);
  EXPECT_TRUE(up->release_session(now, ended).send.empty());
  EXPECT_TRUE(at(seconds{2}).send.empty());
  EXPECT_EQ(plane.session_count(), 0U);
}

TEST_F(Association, AgainKeepsTheSessionsThatItAsksFor) {  // cases.md 26
  associate();
  const Seid kept = establish();
  auto other = establishment(0x200, {{10, 60, 0, 2}});
  other.cp_f_seid.ipv4 = Ipv4{{10, 0, 0, 7}};
  establish(other);
  pfcp::AssociationSetupRequest again{.node_id = kSmfNode, .recovery_time_stamp = {2000}};
  again.pfcp_session_retention_information = {
      .cp_pfcp_entity_ip_addresses = {{.ipv4 = std::get<Ipv4>(kSmf.ip)}}};
  const auto response = answer<pfcp::AssociationSetupResponse>(send(again));
  ASSERT_TRUE(response.pfcpasrsp_flags);
  EXPECT_TRUE(response.pfcpasrsp_flags->psrei);
  EXPECT_EQ(plane.seids(), std::vector{kept});
  EXPECT_EQ(modify(kept, activation()), Cause::RequestAccepted);
}

TEST_F(Association, ARepeatedSetupIsAnsweredAndEndsNothing) {
  const auto octets =
      pfcp::encode(pfcp::AssociationSetupRequest{.node_id = kSmfNode, .recovery_time_stamp = {1}},
                   {.sequence = 7});
  const auto first = answer<pfcp::AssociationSetupResponse>(datagram(octets));
  establish();
  auto again = answer<pfcp::AssociationSetupResponse>(datagram(octets));
  EXPECT_EQ(plane.session_count(), 1U);
  // Features of two octets, which is all that old SMFs of free5GC read.
  ASSERT_TRUE(again.up_function_features);
  EXPECT_EQ(pfcp::encode(*again.up_function_features).size(), 4U + 2U);
  EXPECT_TRUE(again.up_function_features->ftup);
  EXPECT_FALSE(again.up_function_features->bundl);
  again.up_function_features = first.up_function_features;
  EXPECT_EQ(again, first);
}

TEST_F(Association, AreLimited) {  // cases.md 13
  Settings few = settings();
  few.limits.associations = 2;
  restart(few);
  EXPECT_EQ(associate().cause, Cause::RequestAccepted);
  EXPECT_EQ(associate(kOtherSmf, kOtherNode).cause, Cause::RequestAccepted);
  for (std::uint8_t i = 1; i < 50; ++i) {
    EXPECT_EQ(associate(kSmf, {Ipv4{{172, 16, 0, i}}}).cause, Cause::NoResourcesAvailable);
  }
  EXPECT_EQ(associate().cause, Cause::RequestAccepted) << "the ones that are there may come again";
}

TEST_F(Association, ThoseWhoAreNotOnTheListGetNoAnswerAtAll) {  // cases.md 13
  Settings listed = settings();
  listed.allow = {*parse_ip_prefix("10.0.0.1")};
  restart(listed);
  associate();
  const Seid seid = establish();
  // A forged setup with the live SMF's Node ID.
  const pfcp::AssociationSetupRequest forged{.node_id = kSmfNode, .recovery_time_stamp = {9999}};
  EXPECT_TRUE(send(forged, {}, kOtherSmf).send.empty());
  EXPECT_TRUE(send(pfcp::HeartbeatRequest{}, {}, kOtherSmf).send.empty());
  EXPECT_EQ(plane.seids(), std::vector{seid});
}

TEST_F(Association, StrangersHaveARateAndHeartbeatsDoNot) {
  Settings slow = settings();
  slow.limits.requests_per_second_of_a_stranger = 5;
  restart(slow);
  std::size_t answered = 0;
  for (std::uint8_t i = 0; i < 100; ++i) {
    answered += send(pfcp::SessionDeletionRequest{}, Seid{i}).send.size();
    EXPECT_EQ(send(pfcp::HeartbeatRequest{}).send.size(), 1U);
  }
  EXPECT_EQ(answered, 5U);
}

TEST_F(Association, ReleaseEndsItsSessions) {  // cases.md 29
  associate();
  establish();
  const auto response = answer<pfcp::AssociationReleaseResponse>(
      send(pfcp::AssociationReleaseRequest{.node_id = kSmfNode}));
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_EQ(response.node_id, (pfcp::NodeId{kUpf}));
  EXPECT_EQ(plane.session_count(), 0U);
  EXPECT_EQ(answer<pfcp::SessionEstablishmentResponse>(send(establishment(), Seid{})).cause,
            Cause::NoEstablishedPfcpAssociation);
  EXPECT_EQ(answer<pfcp::AssociationReleaseResponse>(
                send(pfcp::AssociationReleaseRequest{.node_id = kSmfNode}))
                .cause,
            Cause::NoEstablishedPfcpAssociation);
}

TEST_F(Association, UpdateIsAnswered) {  // cases.md 29
  EXPECT_EQ(answer<pfcp::AssociationUpdateResponse>(
                send(pfcp::AssociationUpdateRequest{.node_id = kSmfNode}))
                .cause,
            Cause::NoEstablishedPfcpAssociation);
  associate();
  pfcp::AssociationUpdateRequest update{.node_id = kSmfNode};
  EXPECT_EQ(answer<pfcp::AssociationUpdateResponse>(send(update)).cause, Cause::RequestAccepted);
  establish();
  update.pfcpaureq_flags = {.parps = true};
  EXPECT_EQ(answer<pfcp::AssociationUpdateResponse>(send(update)).cause, Cause::RequestAccepted);
  EXPECT_EQ(answer<pfcp::SessionEstablishmentResponse>(
                send(establishment(0x200, {{10, 60, 0, 2}}), Seid{}))
                .cause,
            Cause::RequestRejected)
      << "no new sessions once a release is announced";
}

TEST_F(Association, EveryNodeRequestIsAnswered) {  // cases.md 29
  EXPECT_EQ(answer<pfcp::PfdManagementResponse>(send(pfcp::PfdManagementRequest{})).cause,
            Cause::NoEstablishedPfcpAssociation);
  EXPECT_EQ(answer<pfcp::SessionSetDeletionResponse>(
                send(pfcp::SessionSetDeletionRequest{.node_id = kSmfNode}))
                .cause,
            Cause::NoEstablishedPfcpAssociation);
  EXPECT_FALSE(pfcp::is_acceptance(
      answer<pfcp::NodeReportResponse>(send(pfcp::NodeReportRequest{.node_id = kSmfNode})).cause));
}

using Heartbeat = UpFunctionTest;

TEST_F(Heartbeat, IsAnsweredFromAnyoneWhateverItHolds) {  // cases.md 2
  const auto time = pfcp::NtpTime::from(settings().recovery_time_stamp);
  EXPECT_EQ(answer<pfcp::HeartbeatResponse>(send(pfcp::HeartbeatRequest{})).recovery_time_stamp,
            time);
  const wire::Octets empty_ie{0x20, 0x01, 0x00, 0x0c, 0x00, 0x00, 0x02, 0x00,
                              0x00, 0x60, 0x00, 0x00, 0xe8, 0x1f, 0xe7, 0xb4};
  EXPECT_EQ(answer<pfcp::HeartbeatResponse>(datagram(empty_ie)).recovery_time_stamp, time);
  const wire::Octets nothing{0x20, 0x01, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00};
  EXPECT_EQ(answer<pfcp::HeartbeatResponse>(datagram(nothing)).recovery_time_stamp, time);
}

TEST_F(Heartbeat, WithALaterTimeStampEndsThePeersSessions) {
  associate(kSmf, kSmfNode, 1000);
  establish();
  (void)send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1000}});
  (void)send(pfcp::HeartbeatRequest{.recovery_time_stamp = {999}});
  EXPECT_EQ(plane.session_count(), 1U) << "the same life, or an old message";
  (void)send(pfcp::HeartbeatRequest{.recovery_time_stamp = {5000}}, {}, kOtherSmf);
  EXPECT_EQ(plane.session_count(), 1U) << "somebody else's life";
  const Output output = send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1001}});
  EXPECT_EQ(output.send.size(), 1U);
  EXPECT_EQ(plane.session_count(), 0U);
}

TEST_F(Heartbeat, IsSentAndASilentPeerIsPurgedIfConfigured) {  // cases.md 27
  for (const bool purge : {false, true}) {
    Settings beating = settings();
    beating.heartbeat_interval = seconds{10};
    if (purge) beating.purge_after = seconds{60};
    now.steady = {};
    (void)up->shutdown(now);
    restart(beating);
    associate();
    establish();
    const Output due = at(seconds{10});
    ASSERT_EQ(due.send.size(), 1U);
    EXPECT_EQ(due.send[0].to, kSmf);
    EXPECT_EQ(decoded<pfcp::HeartbeatRequest>(due.send[0]).recovery_time_stamp,
              pfcp::NtpTime::from(beating.recovery_time_stamp));
    (void)reply(due.send[0], pfcp::HeartbeatResponse{.recovery_time_stamp = {1000}});
    EXPECT_EQ(plane.session_count(), 1U);
    for (int second = 11; second <= 90; ++second) (void)at(seconds{second});
    EXPECT_EQ(plane.session_count(), purge ? 0U : 1U);
  }
}

TEST_F(Heartbeat, AnAnswerWithALaterTimeStampEndsThePeersSessions) {
  Settings beating = settings();
  beating.heartbeat_interval = seconds{10};
  restart(beating);
  associate();
  establish();
  const Output due = at(seconds{10});
  ASSERT_EQ(due.send.size(), 1U);
  (void)reply(due.send[0], pfcp::HeartbeatResponse{.recovery_time_stamp = {4000}});
  EXPECT_EQ(plane.session_count(), 0U);
}

struct ByUs : UpFunctionTest {
  ByUs() {
    Settings with_peer = settings();
    with_peer.peers = {{.name = "smf", .address = kSmf}};
    up.emplace(with_peer, plane);
  }
};

TEST_F(ByUs, TheAssociationIsSetUpWithConfiguredPeers) {  // cases.md 25
  const Output first = up->start(now);
  ASSERT_EQ(first.send.size(), 1U);
  const auto setup = decoded<pfcp::AssociationSetupRequest>(first.send[0]);
  EXPECT_EQ(setup.node_id, (pfcp::NodeId{kUpf}));
  EXPECT_TRUE(setup.up_function_features);
  (void)reply(first.send[0], pfcp::AssociationSetupResponse{.node_id = kSmfNode,
                                                            .cause = Cause::RequestAccepted,
                                                            .recovery_time_stamp = {77}});
  establish();
}

TEST_F(ByUs, ItIsTriedAgainUntilThePeerAnswers) {  // cases.md 25
  (void)up->start(now);
  std::size_t sent = 0;
  for (int second = 1; second <= 60; ++second) sent += at(seconds{second}).send.size();
  EXPECT_GE(sent, 10U);
}

TEST_F(ByUs, Free5gcsFixedSequenceNumberIsAccepted) {
  Settings with_peer = settings();
  with_peer.peers = {{.name = "smf", .address = kSmf}};
  with_peer.first_sequence = 4711;
  up.emplace(with_peer, plane);
  (void)up->start(now);
  (void)datagram(pfcp::encode(
      pfcp::AssociationSetupResponse{
          .node_id = kSmfNode, .cause = Cause::RequestAccepted, .recovery_time_stamp = {77}},
      {.sequence = 1}));
  establish();
}

TEST_F(ByUs, ShutdownSaysGoodbyeAndLeavesNothingInThePlane) {
  (void)up->start(now);
  associate();
  establish();
  const Output bye = up->shutdown(now);
  EXPECT_EQ(bye.send.size(), 1U);
  EXPECT_EQ(plane.session_count(), 0U);
}

TEST_F(ByUs, ShutdownDoesNotEmptyAPlaneThatEndsByItself) {
  plane.can.ends_with_process = true;
  (void)up->start(now);
  associate();
  establish();
  const Output bye = up->shutdown(now);
  EXPECT_EQ(bye.send.size(), 1U);
  EXPECT_EQ(plane.session_count(), 1U);
}

}  // namespace
}  // namespace upf::control::test

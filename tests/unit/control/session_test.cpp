#include "unit/control/support.hpp"

namespace upf::control::test {
namespace {

using pfcp::Cause;
using pfcp::IeType;

struct SessionTest : UpFunctionTest {
  SessionTest() { associate(); }

  pfcp::SessionEstablishmentResponse establish_response(
      const pfcp::SessionEstablishmentRequest& request) {
    return answer<pfcp::SessionEstablishmentResponse>(send(request, Seid{}));
  }
};

TEST_F(SessionTest, EstablishmentPutsItsRulesIntoThePlane) {
  const Output output = send(establishment(), Seid{});
  const auto response = answer<pfcp::SessionEstablishmentResponse>(output);
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_EQ(response.node_id, (pfcp::NodeId{kUpf}));
  EXPECT_EQ(header_seid(output), kCpSeid);
  ASSERT_TRUE(response.up_f_seid);
  EXPECT_EQ(response.up_f_seid->ipv4, kUpf);
  EXPECT_FALSE(response.up_f_seid->ipv6);
  const auto* rules = plane.rules_of(response.up_f_seid->seid);
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->pdrs.size(), 2U);
  EXPECT_EQ(rules->fars.size(), 2U);
  ASSERT_TRUE(rules->pdrs[0].f_teid);
  EXPECT_EQ(rules->pdrs[0].f_teid->teid, (Teid{0x100}));
}

TEST_F(SessionTest, EstablishmentWithoutAnAssociationIsRefused) {
  auto request = establishment();
  request.node_id = kOtherNode;
  const Output output = send(request, Seid{});
  const auto response = answer<pfcp::SessionEstablishmentResponse>(output);
  EXPECT_EQ(response.cause, Cause::NoEstablishedPfcpAssociation);
  EXPECT_EQ(response.node_id, (pfcp::NodeId{kUpf}));
  EXPECT_EQ(header_seid(output), kCpSeid) << "the peer's SEID also in refusals";
  EXPECT_EQ(plane.session_count(), 0U);
}

TEST_F(SessionTest, EachMandatoryIeOfAnEstablishmentIsNamedWhenItIsMissing) {  // cases.md 8, 19
  const auto whole = pfcp::encode(establishment(), {.seid = Seid{}, .sequence = 1});
  struct Row {
    IeType type;
    Cause cause;
  };
  for (const Row row : {Row{IeType::NodeId, Cause::MandatoryIeMissing},
                        Row{IeType::FSeid, Cause::MandatoryIeMissing},
                        Row{IeType::CreatePdr, Cause::MandatoryIeMissing},
                        Row{IeType::CreateFar, Cause::MandatoryIeMissing}}) {
    // Every IE of that type goes, at the top level.
    wire::Octets octets{whole.begin(), whole.begin() + 16};
    for (wire::Reader in{wire::Bytes{whole}.subspan(16)}; !in.empty();) {
      const wire::Bytes rest = in.rest();
      const auto type = in.be<std::uint16_t>();
      const auto length = in.be<std::uint16_t>();
      (void)in.take(length);
      const wire::Bytes ie = rest.first(4U + length);
      if (type != static_cast<std::uint16_t>(row.type)) {
        octets.insert(octets.end(), ie.begin(), ie.end());
      }
    }
    octets[2] = static_cast<std::uint8_t>((octets.size() - 4) >> 8U);
    octets[3] = static_cast<std::uint8_t>(octets.size() - 4);
    octets[14] = static_cast<std::uint8_t>(next_sequence++);
    const Output output = datagram(octets);
    const auto response = answer<pfcp::SessionEstablishmentResponse>(output);
    EXPECT_EQ(response.cause, row.cause) << to_string(row.type);
    EXPECT_EQ(response.offending_ie, row.type);
    EXPECT_EQ(header_seid(output), row.type == IeType::FSeid ? Seid{} : kCpSeid);
    EXPECT_EQ(plane.session_count(), 0U);
  }
}

TEST_F(SessionTest, APlaneThatFailsLeavesNothingBehind) {  // cases.md 17
  for (const auto& [kind, cause] :
       {std::pair{dataplane::Failure::Kind::Refused, Cause::RuleCreationModificationFailure},
        std::pair{dataplane::Failure::Kind::Unsupported, Cause::RuleCreationModificationFailure},
        std::pair{dataplane::Failure::Kind::NoResources, Cause::NoResourcesAvailable},
        std::pair{dataplane::Failure::Kind::Unavailable, Cause::SystemFailure}}) {
    plane.fail_next(kind, FarId{2});
    const auto response = establish_response(establishment());
    EXPECT_EQ(response.cause, cause);
    EXPECT_FALSE(response.up_f_seid);
    ASSERT_TRUE(response.failed_rule_id);
    EXPECT_EQ(response.failed_rule_id->rule, (decltype(response.failed_rule_id->rule){FarId{2}}));
    EXPECT_EQ(plane.session_count(), 0U);
  }
  establish();  // the TEID went back each time
}

TEST_F(SessionTest, UnknownSeidsAreSessionContextNotFound) {  // cases.md 4
  for (const std::uint64_t seid : {0ULL, ~0ULL, 1ULL << 63U, 4711ULL}) {
    const Output modification = send(activation(), Seid{seid});
    EXPECT_EQ(answer<pfcp::SessionModificationResponse>(modification).cause,
              Cause::SessionContextNotFound);
    EXPECT_EQ(header_seid(modification), Seid{});
    const Output deletion = send(pfcp::SessionDeletionRequest{}, Seid{seid});
    EXPECT_EQ(answer<pfcp::SessionDeletionResponse>(deletion).cause, Cause::SessionContextNotFound);
    EXPECT_EQ(header_seid(deletion), Seid{});
  }
}

TEST_F(SessionTest, OnlyItsOwnerMayTouchASession) {
  const Seid seid = establish();
  const Output stranger = send(pfcp::SessionDeletionRequest{}, seid, kOtherSmf);
  EXPECT_EQ(answer<pfcp::SessionDeletionResponse>(stranger).cause,
            Cause::NoEstablishedPfcpAssociation);
  EXPECT_EQ(header_seid(stranger), Seid{});
  associate(kOtherSmf, kOtherNode);
  EXPECT_EQ(answer<pfcp::SessionModificationResponse>(send(activation(), seid, kOtherSmf)).cause,
            Cause::SessionContextNotFound);
  EXPECT_EQ(plane.session_count(), 1U);
  EXPECT_EQ(modify(seid, activation()), Cause::RequestAccepted);
}

TEST_F(SessionTest, AnSmfWithSeveralAddressesIsOneSmf) {  // cases.md 32
  const SocketAddress second{Ipv4{{10, 0, 0, 12}}, 30000};
  auto request = establishment();
  request.cp_f_seid.ipv4 = Ipv4{{10, 0, 0, 13}};
  const Output output = send(request, Seid{}, second);
  ASSERT_EQ(output.send.size(), 1U);
  EXPECT_EQ(output.send[0].to, second) << "to where the request came from";
  const auto seid = decoded<pfcp::SessionEstablishmentResponse>(output.send[0]).up_f_seid->seid;
  EXPECT_EQ(answer<pfcp::SessionModificationResponse>(send(idle(), seid, second)).cause,
            Cause::RequestAccepted);
  plane.offer(seid, {2}, 100);
  const Output report = events();
  ASSERT_EQ(report.send.size(), 1U);
  EXPECT_EQ(report.send[0].to, (SocketAddress{Ipv4{{10, 0, 0, 13}}, 8805}));
  const SocketAddress f_seid_address{Ipv4{{10, 0, 0, 13}}, 8805};
  EXPECT_EQ(
      answer<pfcp::SessionModificationResponse>(send(activation(), seid, f_seid_address)).cause,
      Cause::RequestAccepted);
}

TEST_F(SessionTest, ARepeatedRequestIsAnsweredFromTheCache) {
  const auto octets = pfcp::encode(establishment(), {.seid = Seid{}, .sequence = 5});
  const Output first = datagram(octets);
  EXPECT_EQ(datagram(octets).send, first.send);
  EXPECT_EQ(plane.session_count(), 1U);
}

TEST_F(SessionTest, ModificationOfWhatIsNotThereChangesNothing) {  // cases.md 9, 10
  const Seid seid = establish();
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  const auto before = *plane.rules_of(seid);
  std::vector<pfcp::SessionModificationRequest> wrong(6);
  wrong[0].update_pdrs = {{.pdr_id = {99}}};
  wrong[1].remove_pdrs = {{{99}}};
  wrong[2].update_fars = {{.far_id = {99}}};
  wrong[3].remove_qers = {{{99}}};
  wrong[4].query_urrs = {{{99}}};
  wrong[5].remove_bars = {{{9}}};
  for (auto& request : wrong) {
    request.update_fars.insert(request.update_fars.begin(), idle().update_fars[0]);
    const auto response = answer<pfcp::SessionModificationResponse>(send(request, seid));
    EXPECT_EQ(response.cause, Cause::RuleCreationModificationFailure) << pfcp::to_string(request);
    EXPECT_TRUE(response.failed_rule_id);
    EXPECT_EQ(*plane.rules_of(seid), before);
  }
}

TEST_F(SessionTest, AFailedModificationLeavesTheSessionAsItWas) {  // cases.md 46
  const Seid seid = establish();
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  const auto before = *plane.rules_of(seid);
  plane.fail_next(dataplane::Failure::Kind::Refused, FarId{2});
  const Output output = send(idle(), seid);
  const auto response = answer<pfcp::SessionModificationResponse>(output);
  EXPECT_EQ(response.cause, Cause::RuleCreationModificationFailure);
  EXPECT_EQ(header_seid(output), kCpSeid);
  EXPECT_EQ(*plane.rules_of(seid), before);
  EXPECT_EQ(modify(seid, idle()), Cause::RequestAccepted);
}

TEST_F(SessionTest, DeletionAnswersWithExactlyOneFinalReport) {  // cases.md 53
  const Seid seid = establish();
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  plane.offer(seid, {1}, 1000);
  plane.offer(seid, {2}, 500);
  const Output output = send(pfcp::SessionDeletionRequest{}, seid);
  EXPECT_EQ(header_seid(output), kCpSeid);
  const auto response = answer<pfcp::SessionDeletionResponse>(output);
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  ASSERT_EQ(response.usage_reports.size(), 1U);
  const auto& report = response.usage_reports[0];
  EXPECT_EQ(report.urr_id, (UrrId{1}));
  EXPECT_EQ(report.usage_report_trigger, (pfcp::UsageReportTrigger{.termr = true}));
  ASSERT_TRUE(report.volume_measurement);
  EXPECT_EQ(report.volume_measurement->uplink, 1000U);
  EXPECT_EQ(report.volume_measurement->downlink, 500U);
  EXPECT_EQ(plane.session_count(), 0U);
  EXPECT_EQ(answer<pfcp::SessionDeletionResponse>(send(pfcp::SessionDeletionRequest{}, seid)).cause,
            Cause::SessionContextNotFound);
}

TEST_F(SessionTest, QueryUrrIsAnsweredInTheModification) {
  const Seid seid = establish();
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  pfcp::SessionModificationRequest query;
  query.query_urrs = {{{1}}};
  for (const std::uint64_t octets : {700U, 300U}) {
    plane.offer(seid, {2}, octets);
    const auto response = answer<pfcp::SessionModificationResponse>(send(query, seid));
    EXPECT_EQ(response.cause, Cause::RequestAccepted);
    ASSERT_EQ(response.usage_reports.size(), 1U);
    EXPECT_TRUE(response.usage_reports[0].usage_report_trigger.immer);
    EXPECT_EQ(response.usage_reports[0].volume_measurement->downlink, octets);
  }
}

TEST_F(SessionTest, AnAnswerThatWouldBeTooLongIsContinuedInSessionReports) {
  auto request = establishment();
  for (std::uint32_t id = 2; id <= 60; ++id) {
    auto urr = request.create_urrs[0];
    urr.urr_id = {id};
    request.create_urrs.push_back(urr);
    request.create_pdrs[0].urr_ids.push_back({id});
  }
  const Seid seid = establish(request);
  plane.offer(seid, {1}, 100);
  pfcp::SessionModificationRequest query;
  query.pfcpsmreq_flags = {.qaurr = true};
  Output output = send(query, seid);
  ASSERT_GE(output.send.size(), 2U);
  const auto response = decoded<pfcp::SessionModificationResponse>(output.send[0]);
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  // 8.2.91: the number of those that follow, and then no AURI.
  ASSERT_TRUE(response.additional_usage_reports_information);
  EXPECT_FALSE(response.additional_usage_reports_information->auri);
  EXPECT_EQ(response.additional_usage_reports_information->number_of_reports,
            60U - response.usage_reports.size());
  std::size_t reported = response.usage_reports.size();
  while (output.send.size() > 1 || (output.send.size() == 1 && reported < 60)) {
    const auto last = output.send.back();
    EXPECT_LE(last.octets.size(), 2048U);
    reported += decoded<pfcp::SessionReportRequest>(last).usage_reports.size();
    output = reply(last, pfcp::SessionReportResponse{.cause = Cause::RequestAccepted}, seid);
  }
  EXPECT_EQ(reported, 60U);
}

TEST_F(SessionTest, TheSameUeAddressFromTheSameSmfReplacesTheOldSession) {  // cases.md 15
  const Seid old = establish(establishment(0x100));
  ASSERT_EQ(modify(old, activation()), Cause::RequestAccepted);
  plane.offer(old, {1}, 100);
  const Output output = send(establishment(0x101), Seid{});
  ASSERT_GE(output.send.size(), 1U);
  const auto response = decoded<pfcp::SessionEstablishmentResponse>(output.send[0]);
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_EQ(plane.seids(), std::vector{response.up_f_seid->seid});
  ASSERT_EQ(output.send.size(), 2U) << "the usage of the old one is owed";
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[1]);
  ASSERT_TRUE(report.pfcpsrreq_flags);
  EXPECT_TRUE(report.pfcpsrreq_flags->psdbu);
  ASSERT_EQ(report.usage_reports.size(), 1U);
  EXPECT_EQ(report.usage_reports[0].volume_measurement->uplink, 100U);
}

TEST_F(SessionTest, AUeAddressIsNotGivenOnWhileThePlaneHoldsOnToIt) {  // cases.md 15
  const Seid old = establish();
  plane.fail_next(dataplane::Failure::Kind::Unavailable);
  const auto again = establishment(0x200);
  const auto refused = answer<pfcp::SessionEstablishmentResponse>(send(again, Seid{}));
  EXPECT_EQ(refused.cause, Cause::SystemFailure);
  EXPECT_EQ(plane.seids(), std::vector{old});
  EXPECT_EQ(modify(old, activation()), Cause::RequestAccepted) << "a refused request ends nothing";
  const Output output = send(again, Seid{});
  const auto response = decoded<pfcp::SessionEstablishmentResponse>(output.send.at(0));
  EXPECT_EQ(response.cause, Cause::RequestAccepted);
  EXPECT_EQ(plane.seids(), std::vector{response.up_f_seid->seid});
}

TEST_F(SessionTest, AManglesRequestIsAnsweredWithTheOffendingIeTwiceAlike) {  // cases.md 5
  const auto whole = pfcp::encode(establishment(), {.seid = Seid{}, .sequence = 1});
  for (int i = 0; i < 2; ++i) {
    auto request = establishment();
    request.create_fars[1].forwarding_parameters->outer_header_creation =
        pfcp::OuterHeaderCreation{.gtpu_udp_ipv4 = true, .teid = {1}, .ipv4 = {{10, 1, 0, 1}}};
    auto octets = pfcp::encode(request, {.seid = Seid{}, .sequence = next_sequence++});
    // Outer Header Creation is 84, ten octets long: its length becomes 2, and six octets go.
    for (std::size_t at = 16; at + 4 < octets.size(); ++at) {
      if (octets[at] == 0 && octets[at + 1] == 84 && octets[at + 2] == 0 && octets[at + 3] == 10) {
        octets[at + 1] = 84;
        octets[at + 4] = 0x02;  // description: GTP-U/UDP/IPv6, whose address is not there
        break;
      }
    }
    const auto response = answer<pfcp::SessionEstablishmentResponse>(datagram(octets));
    EXPECT_FALSE(pfcp::is_acceptance(response.cause));
    EXPECT_EQ(response.offending_ie, IeType::OuterHeaderCreation);
    EXPECT_EQ(plane.session_count(), 0U);
  }
}

TEST_F(SessionTest, EmptyAndInvalidDatagramsDoNotStopIt) {  // cases.md 1
  EXPECT_TRUE(datagram({}).send.empty());
  for (std::size_t n = 1; n < 16; ++n) (void)datagram(wire::Octets(n, 0x21));
  establish();
}

TEST_F(SessionTest, RefusalsOfStrangersAreNoAmplifier) {
  const SocketAddress stranger{Ipv4{{192, 0, 2, 7}}, 8805};
  for (unsigned type = 0; type < 256; ++type) {
    if (type == 1 || type == 5) continue;  // heartbeat and association setup
    wire::Octets octets{
        0x21, static_cast<std::uint8_t>(type), 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    for (const auto& sent : datagram(octets, stranger).send) {
      // Node ID, Cause and Offending IE are 20 octets; a stranger has a rate, too.
      EXPECT_LE(sent.octets.size(), octets.size() + 20) << type;
    }
  }
}

struct ReportTest : SessionTest {
  Seid seid = establish();

  ReportTest() { EXPECT_EQ(modify(seid, activation()), Cause::RequestAccepted); }

  Output page() {
    EXPECT_EQ(modify(seid, idle()), Cause::RequestAccepted);
    plane.offer(seid, {2}, 100);
    plane.offer(seid, {2}, 100);
    return events();
  }
  Output usage(std::uint64_t octets) {
    plane.offer(seid, {1}, octets);
    return events();
  }
  void with_threshold(std::uint64_t octets) {
    pfcp::UpdateUrr urr;
    urr.urr_id = {1};
    urr.reporting_triggers = pfcp::ReportingTriggers{.volth = true};
    urr.volume_threshold = pfcp::Volumes{.total = octets};
    pfcp::SessionModificationRequest request;
    request.update_urrs = {urr};
    EXPECT_EQ(modify(seid, request), Cause::RequestAccepted);
  }
  Output accept(const n4::Datagram& report) {
    return reply(report, pfcp::SessionReportResponse{.cause = Cause::RequestAccepted}, seid);
  }
};

TEST_F(ReportTest, DownlinkDataIsReportedOncePerEpisode) {  // cases.md 55, 56
  for (int episode = 0; episode < 2; ++episode) {
    const Output output = page();
    ASSERT_EQ(output.send.size(), 1U);
    EXPECT_EQ(output.send[0].to, kSmf);
    EXPECT_EQ(header_seid(output), kCpSeid);
    const auto report = decoded<pfcp::SessionReportRequest>(output.send[0]);
    EXPECT_EQ(report.report_type, (pfcp::ReportType{.dldr = true}));
    ASSERT_TRUE(report.downlink_data_report);
    EXPECT_EQ(report.downlink_data_report->pdr_ids, (std::vector<PdrId>{{2}}));
    EXPECT_TRUE(accept(output.send[0]).send.empty());
    EXPECT_EQ(modify(seid, activation()), Cause::RequestAccepted);
    EXPECT_TRUE(events().send.empty());
  }
}

TEST_F(ReportTest, AThresholdIsReportedAndTheReportIsWholeAndNonEmpty) {  // cases.md 20
  with_threshold(1000);
  const Output output = usage(1500);
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[0]);
  EXPECT_EQ(report.report_type, (pfcp::ReportType{.usar = true}));
  ASSERT_EQ(report.usage_reports.size(), 1U);
  EXPECT_EQ(report.usage_reports[0].usage_report_trigger,
            (pfcp::UsageReportTrigger{.volth = true}));
  EXPECT_EQ(report.usage_reports[0].volume_measurement->total, 1500U);
}

TEST_F(ReportTest, AnUnansweredReportIsRepeatedKeptAndSentAgainWhenThePeerIsBack) {  // cases.md 23
  with_threshold(1000);
  const Output first = usage(1500);
  ASSERT_EQ(first.send.size(), 1U);
  std::size_t repeated = 0;
  for (int second = 1; second <= 4; ++second) repeated += at(seconds{second}).send.size();
  EXPECT_EQ(repeated, 3U);
  // Nothing more until its time comes.
  for (int second = 5; second < 34; ++second) EXPECT_TRUE(at(seconds{second}).send.empty());
  const Output again = at(seconds{34});
  ASSERT_EQ(again.send.size(), 1U);
  const auto report = decoded<pfcp::SessionReportRequest>(again.send[0]);
  EXPECT_EQ(report.usage_reports.at(0).volume_measurement->total, 1500U);
  EXPECT_TRUE(accept(again.send[0]).send.empty());
  for (int second = 35; second < 120; ++second) EXPECT_TRUE(at(seconds{second}).send.empty());
}

TEST_F(ReportTest, TheDeletionAnswerBringsWhatWasNotAcknowledged) {
  with_threshold(1000);
  (void)usage(1500);
  for (int second = 1; second <= 4; ++second) (void)at(seconds{second});
  const auto response =
      answer<pfcp::SessionDeletionResponse>(send(pfcp::SessionDeletionRequest{}, seid));
  ASSERT_EQ(response.usage_reports.size(), 2U);
  EXPECT_EQ(response.usage_reports[0].volume_measurement->total, 1500U);
  EXPECT_TRUE(response.usage_reports[1].usage_report_trigger.termr);
  EXPECT_EQ(response.usage_reports[0].ur_seqn + 1, response.usage_reports[1].ur_seqn);
}

TEST_F(ReportTest, ASessionThatItsSmfDoesNotKnowIsEnded) {
  const Output output = page();
  ASSERT_EQ(output.send.size(), 1U);
  (void)reply(output.send[0], pfcp::SessionReportResponse{.cause = Cause::SessionContextNotFound},
              Seid{});
  EXPECT_EQ(plane.session_count(), 0U);
}

TEST_F(ReportTest, DrobuInTheAnswerDropsWhatIsBuffered) {
  const Output output = page();
  ASSERT_EQ(output.send.size(), 1U);
  EXPECT_EQ(plane.buffered(seid, {2}), 2U);
  pfcp::SessionReportResponse response{.cause = Cause::RequestAccepted};
  response.pfcpsrrsp_flags = {.drobu = true};
  (void)reply(output.send[0], response, seid);
  EXPECT_EQ(plane.buffered(seid, {2}), 0U);
}

TEST_F(ReportTest, AModificationIsServedWhileTheReportIsOpen) {
  with_threshold(1000);
  const Output output = usage(1500);
  ASSERT_EQ(output.send.size(), 1U);
  with_threshold(5000);  // free5GC renews before it answers
  EXPECT_TRUE(accept(output.send[0]).send.empty());
}

TEST_F(ReportTest, AnErrorIndicationIsReportedWithTheRemoteTunnel) {  // cases.md 64
  plane.raise(dataplane::ErrorIndication{.teid = {0x2000}, .peer = Ipv4{{10, 1, 0, 1}}});
  const Output output = events();
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[0]);
  EXPECT_EQ(report.report_type, (pfcp::ReportType{.erir = true}));
  ASSERT_TRUE(report.error_indication_report);
  EXPECT_EQ(report.error_indication_report->remote_f_teids,
            (std::vector<pfcp::FTeid>{{.teid = {0x2000}, .ipv4 = Ipv4{{10, 1, 0, 1}}}}));
}

TEST_F(ReportTest, APathFailureIsReportedToTheNode) {
  plane.raise(dataplane::PathState{.peer = Ipv4{{10, 1, 0, 1}}, .up = false});
  const Output output = events();
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::NodeReportRequest>(output.send[0]);
  EXPECT_TRUE(report.node_report_type.upfr);
  ASSERT_TRUE(report.user_plane_path_failure_report);
  EXPECT_EQ(report.user_plane_path_failure_report->remote_gtpu_peers.at(0).ipv4,
            (Ipv4{{10, 1, 0, 1}}));
  plane.raise(dataplane::PathState{.peer = Ipv4{{10, 9, 9, 9}}, .up = false});
  EXPECT_TRUE(events().send.empty()) << "nobody has sessions over that path";
}

TEST_F(ReportTest, ASessionThatIsGoneIsNotReported) {  // cases.md 51
  EXPECT_EQ(modify(seid, idle()), Cause::RequestAccepted);
  plane.offer(seid, {2}, 100);
  (void)send(pfcp::SessionDeletionRequest{}, seid);
  EXPECT_TRUE(events().send.empty());
  for (int second = 1; second < 100; ++second) EXPECT_TRUE(at(seconds{second}).send.empty());
}

}  // namespace
}  // namespace upf::control::test

#include "unit/control/support.hpp"

namespace upf::control::test {
namespace {

using pfcp::Cause;

using Pfd = UpFunctionTest;

pfcp::PfdManagementRequest pfds(const std::string& flow) {
  pfcp::ApplicationIdsPfds web{.application_id = "web"};
  web.pfd_contexts = {{.pfd_contents = {{.flow_description = flow}}}};
  pfcp::PfdManagementRequest request;
  request.application_ids_pfds = {web};
  return request;
}

TEST_F(Pfd, TheFlowsOfAnApplicationAreInItsPdrsAndFollowTheirChange) {
  associate();
  EXPECT_EQ(
      answer<pfcp::PfdManagementResponse>(send(pfds("permit out 6 from 10.9.0.1 to any"))).cause,
      Cause::RequestAccepted);
  auto request = establishment();
  request.create_pdrs[1].pdi.application_id = "web";
  const Seid seid = establish(request);
  ASSERT_EQ(plane.rules_of(seid)->pdrs[1].filters.size(), 1U);
  const auto before = plane.rules_of(seid)->pdrs[1].filters;
  EXPECT_EQ(
      answer<pfcp::PfdManagementResponse>(send(pfds("permit out 17 from 10.9.0.2 to any"))).cause,
      Cause::RequestAccepted);
  ASSERT_EQ(plane.rules_of(seid)->pdrs[1].filters.size(), 1U);
  EXPECT_NE(plane.rules_of(seid)->pdrs[1].filters, before);
}

TEST_F(Pfd, WhatNoPlaneLooksAtIsRefusedAndChangesNothing) {
  associate();
  auto request = pfds("permit out ip from any to any");
  request.application_ids_pfds[0].pfd_contexts[0].pfd_contents[0].url = "example.com";
  EXPECT_EQ(answer<pfcp::PfdManagementResponse>(send(request)).cause, Cause::ServiceNotSupported);
  EXPECT_FALSE(pfcp::is_acceptance(
      answer<pfcp::PfdManagementResponse>(send(pfds("aaaaaaaabbbbcccc"))).cause));  // cases.md 7
}

struct SmfSet : UpFunctionTest {
  SmfSet() {
    for (const auto& [from, node] : {std::pair{kSmf, kSmfNode}, std::pair{kOtherSmf, kOtherNode}}) {
      pfcp::AssociationSetupRequest setup{.node_id = node, .recovery_time_stamp = {1}};
      setup.smf_set_id = pfcp::SmfSetId{"set1.example"};
      (void)send(setup, {}, from);
    }
  }
};

TEST_F(SmfSet, AnotherSmfOfTheSetGoesOnWithASession) {
  const Seid seid = establish();
  auto change = idle();
  change.cp_f_seid = pfcp::FSeid{.seid = {0x2222}, .ipv4 = std::get<Ipv4>(kOtherSmf.ip)};
  const Output output = send(change, seid, kOtherSmf);
  EXPECT_EQ(answer<pfcp::SessionModificationResponse>(output).cause, Cause::RequestAccepted);
  EXPECT_EQ(header_seid(output), Seid{0x2222});
  plane.offer(seid, {2}, 100);
  const Output report = events();
  ASSERT_EQ(report.send.size(), 1U);
  EXPECT_EQ(report.send[0].to, kOtherSmf);
}

TEST_F(SmfSet, SetModificationMovesTheReportsToAnotherSmf) {
  const Seid seid = establish();
  EXPECT_EQ(modify(seid, idle()), Cause::RequestAccepted);
  pfcp::PfcpSessionChangeInfo change;
  change.alternative_smf_ip_address.ipv4 = std::get<Ipv4>(kOtherSmf.ip);
  change.cp_ip_addresses = {{.ipv4 = std::get<Ipv4>(kSmf.ip)}};
  const pfcp::SessionSetModificationRequest request{.node_id = kOtherNode,
                                                    .pfcp_session_change_infos = {change}};
  EXPECT_EQ(answer<pfcp::SessionSetModificationResponse>(send(request, {}, kOtherSmf)).cause,
            Cause::RequestAccepted);
  plane.offer(seid, {2}, 100);
  const Output report = events();
  ASSERT_EQ(report.send.size(), 1U);
  EXPECT_EQ(report.send[0].to, kOtherSmf);
}

TEST_F(SmfSet, ASessionOutlivesItsSmfsAssociation) {
  const Seid seid = establish();
  EXPECT_EQ(modify(seid, idle()), Cause::RequestAccepted);
  (void)send(pfcp::AssociationReleaseRequest{.node_id = kSmfNode});
  EXPECT_EQ(plane.seids(), std::vector{seid});
  plane.offer(seid, {2}, 100);
  const Output report = events();
  ASSERT_EQ(report.send.size(), 1U);
  EXPECT_EQ(report.send[0].to, kOtherSmf);
  EXPECT_EQ(header_seid(report), Seid{});
  const auto request = decoded<pfcp::SessionReportRequest>(report.send[0]);
  ASSERT_TRUE(request.old_cp_f_seid);
  EXPECT_EQ(request.old_cp_f_seid->seid, kCpSeid);
}

using Sets = UpFunctionTest;

TEST_F(Sets, SetDeletionEndsTheSessionsOfTheSetOnly) {  // cases.md 29
  associate();
  auto request = establishment();
  request.fq_csids = {{.node_address = Ipv4{{10, 0, 0, 1}}, .csids = {7}}};
  establish(request);
  const Seid other = establish(establishment(0x200, {{10, 60, 0, 2}}));
  const pfcp::SessionSetDeletionRequest deletion{
      .node_id = kSmfNode, .fq_csids = {{.node_address = Ipv4{{10, 0, 0, 1}}, .csids = {7, 8}}}};
  EXPECT_EQ(answer<pfcp::SessionSetDeletionResponse>(send(deletion)).cause, Cause::RequestAccepted);
  EXPECT_EQ(plane.seids(), std::vector{other});
}

struct Operator : UpFunctionTest {
  Operator() { associate(); }
};

TEST_F(Operator, DrainingTakesNoNewSessionsAndAsksForTheRelease) {
  const Seid seid = establish();
  const Output drain = up->set_draining(now, true, true);
  ASSERT_EQ(drain.send.size(), 1U);
  const auto update = decoded<pfcp::AssociationUpdateRequest>(drain.send[0]);
  ASSERT_TRUE(update.pfcp_association_release_request);
  EXPECT_TRUE(update.pfcp_association_release_request->sarr);
  EXPECT_TRUE(update.graceful_release_period);
  EXPECT_EQ(answer<pfcp::SessionEstablishmentResponse>(
                send(establishment(0x200, {{10, 60, 0, 2}}), Seid{}))
                .cause,
            Cause::NoResourcesAvailable);
  EXPECT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  (void)up->set_draining(now, false, false);
  establish(establishment(0x200, {{10, 60, 0, 2}}));
}

// Who is there stays as long as it likes: no association is to be released.
TEST_F(Operator, DrainingWithoutAnEndAsksForNoRelease) {
  const Seid seid = establish();
  EXPECT_TRUE(up->set_draining(now, true, false).send.empty());
  EXPECT_EQ(answer<pfcp::SessionEstablishmentResponse>(
                send(establishment(0x200, {{10, 60, 0, 2}}), Seid{}))
                .cause,
            Cause::NoResourcesAvailable);
  EXPECT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  EXPECT_EQ(up->set_draining(now, true, true).send.size(), 1U);  // now there is one
  EXPECT_TRUE(up->set_draining(now, true, true).send.empty());   // asked already
}

// 6.2.3, 6.2.4: those who asked for it are told by load control, too, and told when it is over.
TEST_F(Operator, DrainingIsAllTheLoadThereCanBe) {
  pfcp::AssociationSetupRequest setup{.node_id = kSmfNode, .recovery_time_stamp = {1}};
  setup.cp_function_features = {.load = true, .ovrl = true};
  (void)send(setup);
  const Seid seid = establish();
  (void)up->set_draining(now, true, true);
  auto told = answer<pfcp::SessionModificationResponse>(send(activation(), seid));
  ASSERT_TRUE(told.load_control_information);
  EXPECT_EQ(told.load_control_information->load_metric, 100);
  ASSERT_TRUE(told.overload_control_information);
  EXPECT_EQ(told.overload_control_information->overload_reduction_metric, 100);
  (void)up->set_draining(now, false, false);
  told = answer<pfcp::SessionModificationResponse>(send(idle(), seid));
  ASSERT_TRUE(told.load_control_information);
  EXPECT_EQ(told.load_control_information->load_metric, 0);
  ASSERT_TRUE(told.overload_control_information);
  EXPECT_EQ(told.overload_control_information->overload_reduction_metric, 0);
}

TEST_F(Operator, AReleasedSessionOwesItsLastUsage) {
  const Seid seid = establish();
  plane.offer(seid, {1}, 1000);
  const Output output = up->release_session(now, seid);
  EXPECT_EQ(plane.session_count(), 0U);
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[0]);
  ASSERT_TRUE(report.pfcpsrreq_flags);
  EXPECT_TRUE(report.pfcpsrreq_flags->psdbu);
  EXPECT_EQ(report.usage_reports.at(0).volume_measurement->uplink, 1000U);
}

TEST_F(Operator, ASessionThatThePlaneDoesNotLetGoOfIsTriedAgain) {
  establish();
  plane.fail_next(dataplane::Failure::Kind::Unavailable);
  (void)up->drop_association(now, kSmfNode);
  EXPECT_EQ(plane.session_count(), 1U);
  (void)at(seconds{2});
  EXPECT_EQ(plane.session_count(), 0U);
  EXPECT_EQ(up->sessions().size(), 0U);
}

TEST_F(Operator, UsageOfASessionThatThePlaneHoldsOnToIsNotForgotten) {
  const Seid seid = establish();
  plane.offer(seid, {1}, 1000);
  plane.fail_next(dataplane::Failure::Kind::Unavailable);
  EXPECT_TRUE(up->release_session(now, seid).send.empty());
  const Output output = at(seconds{2});
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[0]);
  EXPECT_EQ(report.usage_reports.at(0).volume_measurement->uplink, 1000U);
}

TEST_F(Operator, LimitsOfSessionsAreCause75) {  // cases.md 16
  Settings few = settings();
  few.sessions.limits.sessions = 1;
  restart(few);
  associate();
  establish();
  EXPECT_EQ(answer<pfcp::SessionEstablishmentResponse>(
                send(establishment(0x200, {{10, 60, 0, 2}}), Seid{}))
                .cause,
            Cause::NoResourcesAvailable);
}

}  // namespace
}  // namespace upf::control::test

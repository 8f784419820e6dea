// What the association promises (UP Function Features and the rest of the Association Setup
// Response), and that peers are held to what they were promised. tests/contract/features_test.cpp
// says which test proves which bit.
#include "unit/control/support.hpp"
#include "unit/pfcp/vectors.hpp"

namespace upf::control::test {
namespace {

using pfcp::Cause;

struct Promise : UpFunctionTest {
  Promise() { associate(); }

  pfcp::AssociationSetupRequest setup(const pfcp::NodeId& node) const {
    pfcp::AssociationSetupRequest request{.node_id = node, .recovery_time_stamp = {1}};
    request.smf_set_id = pfcp::SmfSetId{"set1.example"};
    return request;
  }
};

// cases.md 30: what the SMF needs to know is in the answer, and not in both configurations.
TEST_F(Promise, TheAssociationSaysWhatThePlaneCanDo) {
  plane.can.end_marker = false;
  plane.can.framed_routing = true;
  const auto response = associate();
  ASSERT_TRUE(response.up_function_features);
  EXPECT_TRUE(response.up_function_features->ftup);
  EXPECT_TRUE(response.up_function_features->frrt);
  EXPECT_FALSE(response.up_function_features->empu);
  EXPECT_FALSE(response.up_function_features->ueip) << "there is no pool";
  EXPECT_FALSE(response.up_function_features->adpdp) << "there is no Predefined Rule";
}

TEST_F(Promise, PeersThatLookForIpResourcesFindThem) {
  Settings two = settings();
  two.sessions.gtpu = {{.ipv4 = kN3}, {.ipv4 = Ipv4{{10, 2, 0, 100}}, .n9 = true}};
  restart(two);
  const auto response = associate();
  ASSERT_EQ(response.user_plane_ip_resource_information.size(), 2U);
  EXPECT_EQ(response.user_plane_ip_resource_information[0].ipv4, kN3);
  EXPECT_EQ(response.user_plane_ip_resource_information[0].source_interface,
            pfcp::SourceInterface::Access);
  EXPECT_EQ(response.user_plane_ip_resource_information[1].source_interface,
            pfcp::SourceInterface::Core);
}

// BUNDL, 6.5: each message of a datagram is answered.
TEST_F(Promise, BundledRequestsAreAnsweredOneByOne) {
  wire::Octets octets =
      pfcp::encode(establishment(), {.seid = Seid{}, .sequence = 900, .follow_on = true});
  const wire::Octets second =
      pfcp::encode(establishment(0x200, {{10, 60, 0, 2}}), {.seid = Seid{}, .sequence = 901});
  octets.insert(octets.end(), second.begin(), second.end());
  const Output output = datagram(octets);
  ASSERT_EQ(output.send.size(), 2U);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(pfcp::decode_header(output.send[i].octets)->header.sequence, 900 + i);
    EXPECT_EQ(decoded<pfcp::SessionEstablishmentResponse>(output.send[i]).cause,
              Cause::RequestAccepted);
  }
  EXPECT_EQ(plane.session_count(), 2U);
}

// MNOP: the number of packets is in the reports of the URRs that ask for it, and only there.
TEST_F(Promise, PacketsAreCountedWhereTheUrrAsks) {
  auto request = establishment();
  request.create_urrs[0].measurement_information = {.mnop = true};
  auto plain = request.create_urrs[0];
  plain.urr_id = {2};
  plain.measurement_information.reset();
  request.create_urrs.push_back(plain);
  for (auto& pdr : request.create_pdrs) pdr.urr_ids = {UrrId{1}, UrrId{2}};
  const Seid seid = establish(request);
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  plane.offer(seid, {1}, 100);
  plane.offer(seid, {2}, 100);
  plane.offer(seid, {2}, 100);
  const auto response =
      answer<pfcp::SessionDeletionResponse>(send(pfcp::SessionDeletionRequest{}, seid));
  ASSERT_EQ(response.usage_reports.size(), 2U);
  const auto& counted = *response.usage_reports[0].volume_measurement;
  EXPECT_EQ(counted.uplink_packets, 1U);
  EXPECT_EQ(counted.downlink_packets, 2U);
  EXPECT_EQ(counted.total_packets, 3U);
  EXPECT_FALSE(response.usage_reports[1].volume_measurement->total_packets);
}

// PFDE: several flow descriptions in one PFD Contents.
TEST_F(Promise, APfdMayHaveSeveralFlows) {
  pfcp::PfdContents contents{.flow_description = "permit out 6 from 10.9.0.1 to any"};
  contents.additional_flow_descriptions = {"permit out 17 from 10.9.0.2 to any",
                                           "permit out 17 from 10.9.0.3 to any"};
  pfcp::ApplicationIdsPfds web{.application_id = "web"};
  web.pfd_contexts = {{.pfd_contents = {contents}}};
  EXPECT_EQ(answer<pfcp::PfdManagementResponse>(
                send(pfcp::PfdManagementRequest{.application_ids_pfds = {web}}))
                .cause,
            Cause::RequestAccepted);
  auto request = establishment();
  request.create_pdrs[1].pdi.application_id = "web";
  EXPECT_EQ(plane.rules_of(establish(request))->pdrs[1].filters.size(), 3U);
}

// DDND: the delay of a BAR is the plane's to keep.
TEST_F(Promise, ABarsDelayReachesThePlane) {
  auto request = establishment();
  request.create_bars = {{.bar_id = {1}, .downlink_data_notification_delay = 4}};
  request.create_fars[1].bar_id = BarId{1};
  const Seid seid = establish(request);
  ASSERT_EQ(plane.rules_of(seid)->bars.size(), 1U);
  EXPECT_EQ(plane.rules_of(seid)->bars[0].notification_delay_50ms, 4);
}

// BUCP, 5.3.3: with buffering in the CP function, downlink data goes there through a tunnel and
// comes back through another.
TEST_F(Promise, DownlinkDataMayBeBufferedInTheCpFunction) {
  auto request = establishment();
  auto back = request.create_pdrs[0];
  back.pdr_id = {3};
  back.pdi = {};
  back.pdi.source_interface = pfcp::SourceInterface::CpFunction;
  back.pdi.local_f_teid = pfcp::FTeid{.ipv4 = Ipv4{}, .choose = true};
  back.far_id = FarId{3};
  request.create_pdrs.push_back(back);
  auto& to_cp = *request.create_fars[1].forwarding_parameters;
  to_cp.destination_interface = pfcp::DestinationInterface::CpFunction;
  to_cp.outer_header_creation = pfcp::OuterHeaderCreation{
      .gtpu_udp_ipv4 = true, .teid = {0x77}, .ipv4 = std::get<Ipv4>(kSmf.ip)};
  auto to_gnb = request.create_fars[1];
  to_gnb.far_id = {3};
  to_gnb.forwarding_parameters->destination_interface = pfcp::DestinationInterface::Access;
  to_gnb.forwarding_parameters->outer_header_creation->teid = {0x2000};
  request.create_fars.push_back(to_gnb);
  const auto response = answer<pfcp::SessionEstablishmentResponse>(send(request, Seid{}));
  ASSERT_EQ(response.cause, Cause::RequestAccepted);
  ASSERT_EQ(response.created_pdrs.size(), 1U);
  EXPECT_EQ(response.created_pdrs[0].pdr_id, PdrId{3});
  const auto& rules = *plane.rules_of(response.up_f_seid->seid);
  EXPECT_EQ(rules.pdrs[2].source_interface, rules::Interface::CpFunction);
  EXPECT_EQ(rules.fars[1].forwarding->destination, rules::Interface::CpFunction);
  EXPECT_EQ(rules.fars[1].forwarding->outer_header->teid, Teid{0x77});
}

// RESPS, 5.22.4: sessions by FQ-CSID, by group and by address of the CP function, each alone.
TEST_F(Promise, SessionsOfASetAreMovedByEachOfTheirNames) {
  (void)send(setup(kSmfNode));
  (void)send(setup(kOtherNode), {}, kOtherSmf);
  auto request = establishment();
  request.fq_csids = {{.node_address = Ipv4{{10, 0, 0, 1}}, .csids = {7}}};
  const Seid by_csid = establish(request);
  request = establishment(0x200, {{10, 60, 0, 2}});
  request.group_id = pfcp::GroupId{"group-a"};
  const Seid by_group = establish(request);
  request = establishment(0x300, {{10, 60, 0, 3}});
  request.cp_f_seid.ipv4 = Ipv4{{10, 0, 0, 9}};
  const Seid by_address = establish(request);

  std::vector<pfcp::PfcpSessionChangeInfo> changes(3);
  changes[0].fq_csids = {{.node_address = Ipv4{{10, 0, 0, 1}}, .csids = {7}}};
  changes[1].group_ids = {pfcp::GroupId{"group-a"}};
  changes[2].cp_ip_addresses = {{.ipv4 = Ipv4{{10, 0, 0, 9}}}};
  const Seid all[] = {by_csid, by_group, by_address};
  for (std::size_t i = 0; i < 3; ++i) {
    changes[i].alternative_smf_ip_address.ipv4 = std::get<Ipv4>(kOtherSmf.ip);
    const pfcp::SessionSetModificationRequest move{.node_id = kOtherNode,
                                                   .pfcp_session_change_infos = {changes[i]}};
    EXPECT_EQ(answer<pfcp::SessionSetModificationResponse>(send(move, {}, kOtherSmf)).cause,
              Cause::RequestAccepted);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(up->sessions().find(all[j])->cp.ipv4 == std::get<Ipv4>(kOtherSmf.ip), j <= i)
          << "after change " << i << ", session " << j;
    }
  }
}

// 5.22.3: a refused modification does not take a session over either.
TEST_F(Promise, ARefusedModificationLeavesASessionWithItsSmf) {
  (void)send(setup(kSmfNode));
  (void)send(setup(kOtherNode), {}, kOtherSmf);
  const Seid seid = establish();
  pfcp::SessionModificationRequest wrong;
  wrong.remove_fars = {{{99}}};
  wrong.cp_f_seid = pfcp::FSeid{.seid = {0x2222}, .ipv4 = std::get<Ipv4>(kOtherSmf.ip)};
  const Output output = send(wrong, seid, kOtherSmf);
  EXPECT_EQ(answer<pfcp::SessionModificationResponse>(output).cause,
            Cause::RuleCreationModificationFailure);
  EXPECT_EQ(header_seid(output), Seid{0x2222}) << "the answer is the asker's";
  EXPECT_EQ(up->sessions().find(seid)->cp.seid, kCpSeid);
  EXPECT_EQ(up->sessions().of_owner(up->sessions().find(seid)->owner).size(), 1U);
}

// Usage is not forgotten when the PFDs of an application go and its PDR with them.
TEST_F(Promise, UsageOfAnApplicationWithoutFlowsIsReported) {
  pfcp::ApplicationIdsPfds web{.application_id = "web"};
  web.pfd_contexts = {
      {.pfd_contents = {{.flow_description = "permit out 6 from 10.9.0.1 to any"}}}};
  (void)send(pfcp::PfdManagementRequest{.application_ids_pfds = {web}});
  auto request = establishment();
  request.create_pdrs[1].pdi.application_id = "web";
  request.create_pdrs[0].urr_ids.clear();
  const Seid seid = establish(request);
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  plane.offer(seid, {2}, 1234);
  const Output output = send(pfcp::PfdManagementRequest{});  // all of them go
  ASSERT_EQ(output.send.size(), 2U);
  const auto report = decoded<pfcp::SessionReportRequest>(output.send[1]);
  ASSERT_EQ(report.usage_reports.size(), 1U);
  EXPECT_EQ(report.usage_reports[0].volume_measurement->downlink, 1234U);
}

TEST_F(Promise, APathThatRecoversIsReportedToo) {
  const Seid seid = establish();
  ASSERT_EQ(modify(seid, activation()), Cause::RequestAccepted);
  plane.raise(dataplane::PathState{.peer = Ipv4{{10, 1, 0, 1}}, .up = true});
  const Output output = events();
  ASSERT_EQ(output.send.size(), 1U);
  const auto report = decoded<pfcp::NodeReportRequest>(output.send[0]);
  EXPECT_TRUE(report.node_report_type.uprr);
  EXPECT_FALSE(report.node_report_type.upfr);
  ASSERT_TRUE(report.user_plane_path_recovery_report);
  // Until it is answered.
  EXPECT_EQ(at(seconds{1}).send, output.send);
  (void)reply(output.send[0],
              pfcp::NodeReportResponse{.node_id = kSmfNode, .cause = Cause::RequestAccepted});
  EXPECT_TRUE(at(seconds{2}).send.empty());
}

// 6.2.3, 6.2.4: measured, said to those who asked for it, and acted on by degrees.
struct Overload : UpFunctionTest {
  TimePoint clock{};
  std::chrono::milliseconds cost{};  ///< of each look at the clock

  Overload() {
    Settings measured = settings();
    measured.clock = [this] { return clock += cost; };
    restart(measured);
    pfcp::AssociationSetupRequest setup{.node_id = kSmfNode, .recovery_time_stamp = {1}};
    setup.cp_function_features = {.load = true, .ovrl = true};
    (void)send(setup);
  }

  // Ten seconds in which nothing else is done than serving.
  void be_busy() {
    for (int i = 0; i < 20; ++i) {
      now.steady += std::chrono::milliseconds{500};
      cost = std::chrono::milliseconds{250};
      (void)send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1}});
      cost = {};
    }
  }
};

TEST_F(Overload, NewSessionsAreRefusedFirstAndPeersAreTold) {
  const Seid seid = establish();
  be_busy();
  const auto refused = answer<pfcp::SessionEstablishmentResponse>(
      send(establishment(0x200, {{10, 60, 0, 2}}), Seid{}));
  EXPECT_EQ(refused.cause, Cause::PfcpEntityInCongestion);
  EXPECT_EQ(plane.session_count(), 1U);
  const auto modified = answer<pfcp::SessionModificationResponse>(send(activation(), seid));
  EXPECT_EQ(modified.cause, Cause::RequestAccepted);
  ASSERT_TRUE(modified.load_control_information);
  EXPECT_GE(modified.load_control_information->load_metric, 97);
  ASSERT_TRUE(modified.overload_control_information);
  EXPECT_EQ(modified.overload_control_information->overload_reduction_metric, 100);
  EXPECT_EQ(send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1}}).send.size(), 1U);
  EXPECT_EQ(answer<pfcp::SessionDeletionResponse>(send(pfcp::SessionDeletionRequest{}, seid)).cause,
            Cause::RequestAccepted);
}

TEST_F(Overload, ItPassesAndPeersAreToldThatToo) {
  const Seid seid = establish();
  be_busy();
  (void)send(activation(), seid);
  now.steady += seconds{60};
  (void)send(pfcp::HeartbeatRequest{.recovery_time_stamp = {1}});
  const auto modified = answer<pfcp::SessionModificationResponse>(send(idle(), seid));
  ASSERT_TRUE(modified.overload_control_information);
  EXPECT_EQ(modified.overload_control_information->overload_reduction_metric, 0);
  establish(establishment(0x200, {{10, 60, 0, 2}}));
}

// cases.md 81: sessions that come and go leave nothing.
TEST_F(Promise, FiftyThousandSessionsLeaveNothingBehind) {
#ifdef NDEBUG
  constexpr int kSessions = 50'000;
#else
  constexpr int kSessions = 2'000;  // the same without an optimiser takes a minute
#endif
  for (int i = 0; i < kSessions; ++i) {
    const auto ue = static_cast<std::uint32_t>(0x0a3c0001 + i % 1000);
    const Seid seid =
        establish(establishment(0x1000U + static_cast<std::uint32_t>(i), Ipv4::from_host(ue)));
    ASSERT_EQ(
        answer<pfcp::SessionDeletionResponse>(send(pfcp::SessionDeletionRequest{}, seid)).cause,
        Cause::RequestAccepted);
    now.steady += std::chrono::milliseconds{10};
  }
  EXPECT_EQ(plane.session_count(), 0U);
  EXPECT_EQ(up->sessions().size(), 0U);
  EXPECT_EQ(up->teids().size(), 0U);
  EXPECT_EQ(up->usage().urr_count(), 0U);
  EXPECT_EQ(up->unsent_reports().sessions(), 0U);
  EXPECT_EQ(up->kept(), UpFunction::Kept{});
}

// cases.md byte vectors V2 and V4: everything that other encoders can say is answered, once, and
// leaves nothing behind where it is refused; strangers to it change nothing of that.
struct EveryRequest : UpFunctionTest, testing::WithParamInterface<pfcp::test::Vector> {
  static bool asks(const pfcp::test::Vector& vector) {
    const auto type = static_cast<pfcp::MessageType>(vector.octets.at(1));
    return n4::is_request(type) && type != pfcp::MessageType::SessionReportRequest;
  }
  static std::vector<pfcp::test::Vector> requests() {
    std::vector<pfcp::test::Vector> found;
    for (const auto& vector : pfcp::test::all_vectors()) {
      if (asks(vector)) found.push_back(vector);
    }
    return found;
  }
  /// The one answer's cause, of the answer's kind and the request's number.
  Cause sole_answer(const wire::Octets& octets) {
    const Output output = datagram(octets);
    std::size_t answers = 0;
    Cause cause{};
    for (const auto& sent : output.send) {
      const auto frame = pfcp::decode_header(sent.octets);
      if (frame->header.type != pfcp::response_to(static_cast<pfcp::MessageType>(octets[1]))) {
        continue;
      }
      ++answers;
      const auto ie = pfcp::find_ie(frame->body, pfcp::IeType::Cause);
      cause = ie ? Cause{(*ie)[0]} : Cause::RequestAccepted;
    }
    EXPECT_EQ(answers, 1U);
    return cause;
  }
};

TEST_P(EveryRequest, IsAnsweredOnceAndARefusalLeavesNothing) {
  associate(kSmf, pfcp::NodeId{Ipv4{{192, 0, 2, 1}}});
  wire::Octets octets = GetParam().octets;
  for (int times = 0; times < 2; ++times) {
    const std::size_t before = plane.session_count();
    const Cause cause = sole_answer(octets);
    if (!pfcp::is_acceptance(cause)) {
      EXPECT_EQ(plane.session_count(), before);
    }
    // Unknown IEs of ours and of a vendor, and another sequence number.
    const wire::Octets strangers = {0x7f, 0xff, 0, 2, 1, 2, 0x80, 1, 0, 3, 0, 9, 7};
    octets.insert(octets.end(), strangers.begin(), strangers.end());
    const std::size_t length = octets.size() - 4;
    octets[2] = static_cast<std::uint8_t>(length >> 8U);
    octets[3] = static_cast<std::uint8_t>(length);
    n4::write_sequence(octets, next_sequence++);
  }
  // Version 3, as the 1608 octets of the reports begin.
  octets[0] = static_cast<std::uint8_t>((octets[0] & 0x1fU) | 0x60U);
  const Output output = datagram(octets);
  ASSERT_EQ(output.send.size(), 1U);
  EXPECT_EQ(output.send[0].octets[1],
            static_cast<std::uint8_t>(pfcp::MessageType::VersionNotSupportedResponse));
}

INSTANTIATE_TEST_SUITE_P(Vectors, EveryRequest, testing::ValuesIn(EveryRequest::requests()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace upf::control::test

#include <algorithm>

#include "unit/session/support.hpp"

namespace upf::session::test {
namespace {

using pfcp::Cause;
using pfcp::IeType;
using Establishment = PlanTest;

TEST_F(Establishment, Free5gcsRequestBecomesItsRules) {
  const Seid seid = establish(free5gc());
  const auto& ul = pdr(seid, kUl);
  EXPECT_EQ(ul.source_interface, rules::Interface::Access);
  EXPECT_EQ(ul.f_teid, (rules::LocalFTeid{Teid{0x100}, Ipv4{{10, 0, 0, 1}}, std::nullopt}));
  EXPECT_EQ(ul.network_instance, "internet");
  EXPECT_EQ(ul.removal, rules::HeaderRemoval::GtpuUdpIpv4);
  EXPECT_EQ(ul.ue_addresses, (std::vector{rules::UeAddress{.ipv4 = Ipv4{{10, 60, 0, 1}}}}));
  EXPECT_EQ(ul.far, FarId{1});
  EXPECT_EQ(ul.qers, std::vector{QerId{1}});
  EXPECT_TRUE(pdr(seid, kDl).ue_addresses[0].is_destination);
  // First downlink FAR: FORW towards Access without a header is accepted (n4-clients.md 1).
  EXPECT_TRUE(far(seid, 2).action.forward);
  EXPECT_EQ(far(seid, 2).forwarding->outer_header, std::nullopt);
  const auto& qer = rules(seid).qers[0];
  EXPECT_EQ(qer.mbr, (rules::BitRate{1000, 2000}));
  EXPECT_EQ(qer.qfi, 1);
  EXPECT_TRUE(qer.uplink_open && qer.downlink_open);
}

TEST_F(Establishment, NothingIsToldBackOfATeidThatTheSmfChose) {
  auto made = plan(free5gc());
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->chosen_pdrs.empty());
}

// cases.md 61: CHOOSE allocates, the same CHOOSE ID gives the same TEID
TEST_F(Establishment, ChooseIdsShareATeidAndAreToldBack) {
  auto made = plan(open5gs());
  ASSERT_TRUE(made) << made.error().text;
  ASSERT_EQ(made->chosen_pdrs.size(), 3U);
  const auto& ul = made->chosen_pdrs[0];
  const auto& cp = made->chosen_pdrs[1];
  const auto& up = made->chosen_pdrs[2];
  EXPECT_EQ(ul.id, kUl);
  EXPECT_NE(ul.f_teid->teid, Teid{});
  EXPECT_EQ(ul.f_teid->ipv4, (Ipv4{{10, 0, 0, 1}}));
  EXPECT_EQ(ul.f_teid->ipv6, std::nullopt);  // asked for, but there is none
  EXPECT_FALSE(ul.f_teid->choose);
  EXPECT_EQ(up.f_teid->teid, ul.f_teid->teid);
  EXPECT_NE(cp.f_teid->teid, ul.f_teid->teid);
}

// cases.md 61: free5gc issue 746's vector asks with flags 05, no ID
TEST_F(Establishment, AChooseIdHoldsAcrossModifications) {
  const Seid seid = establish(open5gs());
  pfcp::SessionModificationRequest more{};
  auto ul = open5gs().create_pdrs[0];
  ul.pdr_id = PdrId{9};
  more.create_pdrs = {ul};
  modify(seid, more);
  EXPECT_EQ(pdr(seid, PdrId{9}).f_teid->teid, pdr(seid, kUl).f_teid->teid);
}

TEST_F(Establishment, ChooseForCoreTakesAnN9Address) {
  auto request = free5gc();
  request.create_pdrs[1].pdi.local_f_teid = pfcp::FTeid{.ipv4 = Ipv4{}, .choose = true};
  const Seid seid = establish(request);
  EXPECT_EQ(pdr(seid, kDl).f_teid->ipv4, (Ipv4{{10, 0, 9, 1}}));
}

TEST_F(Establishment, ChooseOfAFamilyThatIsNotThereIsOutOfResources) {
  auto request = free5gc();
  request.create_pdrs[0].pdi.local_f_teid = pfcp::FTeid{.ipv6 = Ipv6{}, .choose = true};
  EXPECT_EQ(refused(plan(request)).cause, Cause::NoResourcesAvailable);
  request.create_pdrs[0].pdi.local_f_teid = pfcp::FTeid{.choose = true};
  EXPECT_EQ(refused(plan(request)).cause, Cause::MandatoryIeIncorrect);
}

TEST_F(Establishment, ARefusalGivesTeidsBack) {
  auto request = open5gs();
  request.create_pdrs[3].far_id = FarId{99};
  const auto refusal = refused(plan(request));
  EXPECT_EQ(refusal.cause, Cause::RuleCreationModificationFailure);
  EXPECT_EQ(refusal.failed_rule, (FailedRule{FailedRule::Kind::Pdr, 4}));
  EXPECT_EQ(teids.size(), 0U);
  EXPECT_EQ(store.size(), 0U);
}

TEST_F(Establishment, APlanThatIsDroppedGivesTeidsBack) {
  {
    auto made = plan(open5gs());
    ASSERT_TRUE(made);
    EXPECT_EQ(teids.size(), 2U);
  }
  EXPECT_EQ(teids.size(), 0U);
  const Seid seid = establish(open5gs());
  EXPECT_EQ(teids.size(), 2U);
  commit(context, plan_deletion(context, *store.find(seid)));
  EXPECT_EQ(teids.size(), 0U);
  EXPECT_EQ(store.size(), 0U);
}

// cases.md 17: after a failure the right request works
TEST_F(Establishment, FailsAndThenSucceedsWithTheSameIdentifiers) {
  auto request = free5gc();
  request.create_fars.pop_back();
  EXPECT_EQ(refused(plan(request)).failed_rule, (FailedRule{FailedRule::Kind::Pdr, 2}));
  establish(free5gc());
}

TEST_F(Establishment, ATeidOfAnotherSessionIsRefused) {
  establish(free5gc(1, 0x100, {{10, 60, 0, 1}}));
  const auto refusal = refused(plan(free5gc(2, 0x100, {{10, 60, 0, 2}})));
  EXPECT_EQ(refusal.cause, Cause::RuleCreationModificationFailure);
  EXPECT_EQ(refusal.failed_rule, (FailedRule{FailedRule::Kind::Pdr, 1}));
  EXPECT_EQ(teids.size(), 1U);
}

// cases.md 15: the UE address of a session of another CP function, and of the same
TEST_F(Establishment, AUeAddressIsAnotherCpFunctionsOrTakenOver) {
  const Seid first = establish(free5gc(1, 0x100));
  EXPECT_EQ(refused(plan(free5gc(2, 0x200), "other smf")).failed_rule,
            (FailedRule{FailedRule::Kind::Pdr, 2}));
  auto made = plan(free5gc(2, 0x100));
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->supersedes, std::vector{first});
  // As the caller is told to: first the old one ends.
  commit(context, plan_deletion(context, *store.find(first)));
  const Seid second = made->next.seid;
  commit(context, std::move(*made));
  EXPECT_EQ(store.size(), 1U);
  EXPECT_EQ(store.of_ue("internet", Ipv4{{10, 60, 0, 1}}), second);
  EXPECT_EQ(teids.owner(Teid{0x100}), second);
}

TEST_F(Establishment, TheSameAddressInAnotherNetworkIsAnother) {
  establish(free5gc(1, 0x100));
  auto request = free5gc(2, 0x200);
  for (auto& pdr : request.create_pdrs) pdr.pdi.network_instance->text = "ims";
  establish(request, "other smf");
}

// cases.md 4: SEIDs that must never be handed out
TEST_F(Establishment, SeidsAreNeverZeroOrAllOnesOrInUse) {
  std::vector<std::uint64_t> numbers{0, ~0ULL, 42};
  std::size_t at = 0;
  random = [&] { return at < numbers.size() ? numbers[at++] : 42 + (++at); };
  EXPECT_EQ(establish(free5gc(1, 1, {{10, 60, 0, 1}})), Seid{42});
  at = 2;
  EXPECT_NE(establish(free5gc(2, 2, {{10, 60, 0, 2}})), Seid{42});
}

// n4-clients.md 3.15 and cases.md 21: RESTI asks for F-TEIDs by value
TEST_F(Establishment, RestorationTakesTheFTeidsThatAreGiven) {
  auto request = free5gc();
  request.pfcpsereq_flags = pfcp::PfcpSeReqFlags{.resti = true};
  auto made = plan(request);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->chosen_pdrs.size(), 1U);
  EXPECT_EQ(made->chosen_pdrs[0].f_teid->teid, Teid{0x100});
  commit(context, std::move(*made));
  auto other = free5gc(2, 0x100, {{10, 60, 0, 2}});
  other.pfcpsereq_flags = pfcp::PfcpSeReqFlags{.resti = true};
  EXPECT_EQ(refused(plan(other)).cause, Cause::PfcpSessionRestorationFailure);
  other.create_pdrs[0].pdi.local_f_teid->teid = Teid{};
  EXPECT_EQ(refused(plan(other)).offending_ie, IeType::FTeid);
}

struct Wrong {
  const char* name;
  void (*spoil)(pfcp::SessionEstablishmentRequest&);
  Cause cause;
  std::optional<IeType> ie;
  std::optional<FailedRule> rule{};
};
class Wrongly : public PlanTest, public testing::WithParamInterface<Wrong> {};

TEST_P(Wrongly, MadeRequestsAreRefusedWhole) {
  auto request = free5gc();
  GetParam().spoil(request);
  for (int twice = 0; twice < 2; ++twice) {  // cases.md 5: the second one crashed others
    const auto refusal = refused(plan(request));
    EXPECT_EQ(refusal.cause, GetParam().cause) << refusal.text;
    EXPECT_EQ(refusal.offending_ie, GetParam().ie) << refusal.text;
    if (GetParam().rule) {
      EXPECT_EQ(refusal.failed_rule, GetParam().rule) << refusal.text;
    }
    EXPECT_FALSE(refusal.text.empty());
  }
  EXPECT_EQ(teids.size(), 0U);
  EXPECT_EQ(store.size(), 0U);
}

using Request = pfcp::SessionEstablishmentRequest;
constexpr auto kFails = Cause::RuleCreationModificationFailure;
constexpr auto kWrong = Cause::MandatoryIeIncorrect;
constexpr auto kNotServed = Cause::ServiceNotSupported;

INSTANTIATE_TEST_SUITE_P(
    Rows, Wrongly,
    testing::Values(
        // cases.md 8
        Wrong{"PdrWithoutFarId", [](Request& r) { r.create_pdrs[0].far_id.reset(); },
              Cause::ConditionalIeMissing, IeType::FarId, FailedRule{FailedRule::Kind::Pdr, 1}},
        // cases.md 5
        Wrong{"OuterHeaderWithoutDescription",
              [](Request& r) {
                r.create_fars[1].forwarding_parameters->outer_header_creation =
                    pfcp::OuterHeaderCreation{};
              },
              kWrong, IeType::OuterHeaderCreation, FailedRule{FailedRule::Kind::Far, 2}},
        Wrong{"OuterHeaderToNowhere",
              [](Request& r) {
                r.create_fars[1].forwarding_parameters->outer_header_creation =
                    gnb_tunnel(1, Ipv4{});
              },
              kWrong, IeType::OuterHeaderCreation},
        Wrong{"OuterHeaderWithTeidZero",
              [](Request& r) {
                r.create_fars[1].forwarding_parameters->outer_header_creation = gnb_tunnel(0);
              },
              kWrong, IeType::OuterHeaderCreation},
        // cases.md 7
        Wrong{"FlowDescriptionOfNoise",
              [](Request& r) {
                r.create_pdrs[1].pdi.sdf_filters = {{.flow_description = "aaaaaaaabbbbcccc"}};
              },
              kWrong, IeType::SdfFilter, FailedRule{FailedRule::Kind::Pdr, 2}},
        Wrong{"FlowDescriptionEmpty",
              [](Request& r) { r.create_pdrs[1].pdi.sdf_filters = {{.flow_description = ""}}; },
              kWrong, IeType::SdfFilter},
        Wrong{"FilterOfNothing", [](Request& r) { r.create_pdrs[1].pdi.sdf_filters = {{}}; },
              kWrong, IeType::SdfFilter},
        // cases.md 38
        Wrong{"FilterIdOfNoFilter",
              [](Request& r) { r.create_pdrs[1].pdi.sdf_filters = {{.filter_id = 7}}; }, kWrong,
              IeType::SdfFilter},
        // cases.md 17
        Wrong{"PdrOfMissingFar", [](Request& r) { r.create_pdrs[1].far_id = FarId{9}; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Pdr, 2}},
        Wrong{"PdrOfMissingQer", [](Request& r) { r.create_pdrs[1].qer_ids = {QerId{9}}; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Pdr, 2}},
        Wrong{"PdrOfMissingUrr", [](Request& r) { r.create_pdrs[1].urr_ids = {UrrId{9}}; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Pdr, 2}},
        Wrong{"FarOfMissingBar", [](Request& r) { r.create_fars[1].bar_id = BarId{9}; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Far, 2}},
        Wrong{"TwoPdrsOfOneId", [](Request& r) { r.create_pdrs[1].pdr_id = kUl; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Pdr, 1}},
        Wrong{"TwoFarsOfOneId", [](Request& r) { r.create_fars[1].far_id = FarId{1}; }, kFails,
              std::nullopt, FailedRule{FailedRule::Kind::Far, 1}},
        Wrong{"TwoQersOfOneId", [](Request& r) { r.create_qers.push_back(r.create_qers[0]); },
              kFails, std::nullopt, FailedRule{FailedRule::Kind::Qer, 1}},
        // cases.md 21
        Wrong{"PdnTypeZero", [](Request& r) { r.pdn_type = pfcp::PdnType{}; }, kWrong,
              IeType::PdnType},
        Wrong{"PdnTypeEthernet", [](Request& r) { r.pdn_type = pfcp::PdnType::Ethernet; },
              kNotServed, IeType::PdnType},
        Wrong{"DestinationInterfaceThatDoesntExist",
              [](Request& r) {
                r.create_fars[0].forwarding_parameters->destination_interface =
                    pfcp::DestinationInterface{9};
              },
              kWrong, IeType::DestinationInterface},
        Wrong{"SourceInterfaceThatDoesntExist",
              [](Request& r) { r.create_pdrs[0].pdi.source_interface = pfcp::SourceInterface{9}; },
              kWrong, IeType::SourceInterface},
        Wrong{"TeidZero", [](Request& r) { r.create_pdrs[0].pdi.local_f_teid->teid = Teid{}; },
              kWrong, IeType::FTeid},
        Wrong{"ApplyActionOfNothing", [](Request& r) { r.create_fars[0].apply_action = {}; },
              kWrong, IeType::ApplyAction, FailedRule{FailedRule::Kind::Far, 1}},
        Wrong{"ApplyActionOfTwo",
              [](Request& r) { r.create_fars[0].apply_action = {.drop = true, .forw = true}; },
              kWrong, IeType::ApplyAction},
        Wrong{"Duplication",
              [](Request& r) { r.create_fars[0].apply_action = {.forw = true, .dupl = true}; },
              kNotServed, IeType::ApplyAction},
        Wrong{"ForwardingWithoutParameters",
              [](Request& r) { r.create_fars[0].forwarding_parameters.reset(); },
              Cause::ConditionalIeMissing, IeType::ForwardingParameters},
        // cases.md 47: policies that are no marks
        Wrong{"ForwardingPolicyByName",
              [](Request& r) { r.create_fars[0].forwarding_parameters->forwarding_policy = "abc"; },
              Cause::InvalidForwardingPolicy, IeType::ForwardingPolicy},
        Wrong{"ForwardingPolicyZero",
              [](Request& r) { r.create_fars[0].forwarding_parameters->forwarding_policy = "0"; },
              Cause::InvalidForwardingPolicy, IeType::ForwardingPolicy},
        // cases.md 62: v6 prefixes that can't be
        Wrong{"UePrefixOfTooManyBits",
              [](Request& r) {
                r.create_pdrs[1].pdi.ue_ip_addresses = {
                    {.ipv6 = Ipv6{{0x20, 1}}, .ipv6_prefix_length = 129}};
              },
              kWrong, IeType::UeIpAddress},
        Wrong{"UeAddressOfNothing", [](Request& r) { r.create_pdrs[1].pdi.ue_ip_addresses = {{}}; },
              kWrong, IeType::UeIpAddress},
        Wrong{"FramedRouteOfNothing",
              [](Request& r) { r.create_pdrs[1].pdi.framed_routes = {"anywhere"}; }, kWrong,
              IeType::FramedRoute},
        Wrong{"UnknownApplication",
              [](Request& r) { r.create_pdrs[1].pdi.application_id = "video"; },
              Cause::UnknownApplicationId, IeType::ApplicationId},
        Wrong{"UnknownTrafficEndpoint",
              [](Request& r) { r.create_pdrs[1].pdi.traffic_endpoint_ids = {3}; }, kWrong,
              IeType::TrafficEndpointId},
        // cases.md 50: what isn't measured is refused, not accepted and forgotten
        Wrong{"EventQuota",
              [](Request& r) {
                r.create_urrs = {{}};
                r.create_urrs[0].event_quota = 5;
              },
              kNotServed, IeType::EventQuota, FailedRule{FailedRule::Kind::Urr, 0}},
        Wrong{"CpFSeidWithoutAddress", [](Request& r) { r.cp_f_seid.ipv4.reset(); }, kWrong,
              IeType::FSeid}),
    [](const auto& param) { return param.param.name; });

// cases.md 16: limits
TEST_F(Establishment, LimitsAreAnsweredNoResources) {
  settings.limits.urrs = 10;
  auto request = free5gc();
  for (std::uint32_t id = 1; id <= 11; ++id) {
    request.create_urrs.push_back({});
    request.create_urrs.back().urr_id = UrrId{id};
  }
  EXPECT_EQ(refused(plan(request)).cause, Cause::NoResourcesAvailable);
  request.create_urrs.pop_back();
  establish(request);
  settings.limits.sessions_per_owner = 1;
  EXPECT_EQ(refused(plan(free5gc(2, 2, {{10, 60, 0, 2}}))).cause, Cause::NoResourcesAvailable);
  establish(free5gc(2, 2, {{10, 60, 0, 2}}), "other smf");
  settings.limits.sessions = 2;
  EXPECT_EQ(refused(plan(free5gc(3, 3, {{10, 60, 0, 3}}), "third")).cause,
            Cause::NoResourcesAvailable);
}

// cases.md 34, 36, 39: filters that SMFs send
TEST_F(Establishment, FlowDescriptionsAreKeptAsWritten) {
  auto request = open5gs();
  request.create_pdrs[1].pdi.sdf_filters = {
      {.flow_description = "permit out ip from any to assigned"},
      {.flow_description = "permit out udp from 172.22.0.20 49459 to any",
       .tos_traffic_class = pfcp::TosTrafficClass{0xb8, 0xfc},
       .security_parameter_index = 5,
       .flow_label = 0xf12345}};
  const Seid seid = establish(request);
  const auto& filters = pdr(seid, kDl).filters;
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_TRUE(filters[0].flow->destination.assigned);
  EXPECT_EQ(filters[1].flow->protocol, 17);
  EXPECT_EQ(filters[1].tos, (rules::MaskedOctet{0xb8, 0xfc}));
  EXPECT_EQ(filters[1].spi, 5U);
  EXPECT_EQ(filters[1].flow_label, 0x12345U);
  EXPECT_EQ(pdr(seid, PdrId{4}).filters[0].flow->protocol, 58);
  EXPECT_EQ(pdr(seid, PdrId{3}).source_interface, rules::Interface::CpFunction);
}

// cases.md 38: an SDF Filter ID reuses a description, wherever in the message that is
TEST_F(Establishment, FilterIdsReferToDescriptions) {
  auto request = free5gc();
  request.create_pdrs[0].pdi.sdf_filters = {{.filter_id = 7}};
  request.create_pdrs[1].pdi.sdf_filters = {
      {.flow_description = "permit out tcp from 1.1.1.1 80 to assigned", .filter_id = 7}};
  const Seid seid = establish(request);
  EXPECT_EQ(pdr(seid, kUl).filters, pdr(seid, kDl).filters);
  pfcp::SessionModificationRequest more{};
  more.create_pdrs = {request.create_pdrs[0]};
  more.create_pdrs[0].pdr_id = PdrId{3};
  modify(seid, more);
  EXPECT_EQ(pdr(seid, PdrId{3}).filters, pdr(seid, kDl).filters);
}

TEST_F(Establishment, PrefixesOfUesAndFramedRoutes) {
  auto request = free5gc();
  request.create_pdrs[1].pdi.ue_ip_addresses.push_back({.ipv6 = *parse_ipv6("2001:db8:1::"),
                                                        .is_destination = true,
                                                        .ipv6_prefix_delegation_bits = 4});
  request.create_pdrs[1].pdi.framed_routes = {"192.168.7.0/24 0.0.0.0 1"};
  request.create_pdrs[1].pdi.framed_ipv6_routes = {"2001:db8:7::/48"};
  const Seid seid = establish(request);
  EXPECT_EQ(pdr(seid, kDl).ue_addresses[1].ipv6->length, 60);
  EXPECT_EQ(pdr(seid, kDl).framed_routes,
            (std::vector{*parse_ip_prefix("192.168.7.0/24"), *parse_ip_prefix("2001:db8:7::/48")}));
}

TEST_F(Establishment, ApplicationsBecomeTheirFlowsAndFollowThem) {
  std::vector<rules::SdfFilter> flows(2);
  flows[0].spi = 1;
  flows[1].spi = 2;
  bool known = true;
  context.applications = [&](const std::string& id) {
    return known && id == "video" ? &flows : nullptr;
  };
  auto request = free5gc();
  request.create_pdrs[1].pdi.application_id = "video";
  const Seid seid = establish(request);
  EXPECT_EQ(pdr(seid, kDl).filters, flows);
  flows.pop_back();
  commit(context, plan_refresh(context, *store.find(seid)));
  EXPECT_EQ(pdr(seid, kDl).filters, flows);
  // Nothing must not become everything.
  flows.clear();
  commit(context, plan_refresh(context, *store.find(seid)));
  EXPECT_EQ(rules::find(rules(seid).pdrs, kDl), nullptr);
  known = false;
  commit(context, plan_refresh(context, *store.find(seid)));
  EXPECT_EQ(rules::find(rules(seid).pdrs, kDl), nullptr);
  known = true;
  flows.resize(1);
  commit(context, plan_refresh(context, *store.find(seid)));
  EXPECT_EQ(pdr(seid, kDl).filters, flows);
  pfcp::SessionModificationRequest remove{};
  remove.remove_pdrs = {{kDl}};
  modify(seid, remove);
  EXPECT_EQ(rules(seid).pdrs.size(), 1U);
}

TEST_F(Establishment, TrafficEndpointsGiveTheirPdrsWhatTheyHave) {
  auto request = free5gc();
  pfcp::CreateTrafficEndpoint endpoint{.traffic_endpoint_id = 1};
  endpoint.local_f_teid = pfcp::FTeid{.ipv4 = Ipv4{}, .choose = true};
  endpoint.ue_ip_addresses = {{.ipv4 = Ipv4{{10, 60, 0, 9}}}};
  endpoint.network_instance = pfcp::DomainName{"ims"};
  request.create_traffic_endpoints = {endpoint};
  request.create_pdrs[0].pdi = {.source_interface = pfcp::SourceInterface::Access,
                                .traffic_endpoint_ids = {1}};
  auto made = plan(request);
  ASSERT_TRUE(made) << made.error().text;
  ASSERT_EQ(made->chosen_endpoints.size(), 1U);
  const Seid seid = made->next.seid;
  commit(context, std::move(*made));
  const auto& ul = pdr(seid, kUl);
  EXPECT_EQ(ul.network_instance, "ims");
  EXPECT_EQ(ul.ue_addresses[0].ipv4, (Ipv4{{10, 60, 0, 9}}));
  ASSERT_TRUE(ul.f_teid);
  pfcp::SessionModificationRequest change{};
  change.update_traffic_endpoints = {{.traffic_endpoint_id = 1}};
  change.update_traffic_endpoints[0].network_instance = pfcp::DomainName{"internet"};
  modify(seid, change);
  EXPECT_EQ(pdr(seid, kUl).network_instance, "internet");
  pfcp::SessionModificationRequest remove{};
  remove.remove_traffic_endpoints = {{1}};
  modify(seid, remove);
  EXPECT_EQ(rules::find(rules(seid).pdrs, kUl), nullptr);
  EXPECT_EQ(teids.size(), 0U);
}

// cases.md 62: CHV4 and CHV6
TEST_F(Establishment, UeAddressesAreChosenOncePerSessionAndReturned) {
  auto request = free5gc();
  request.create_pdrs[0].pdi.ue_ip_addresses = {{.choose_ipv4 = true, .choose_ipv6 = true}};
  request.create_pdrs[1].pdi.ue_ip_addresses = {
      {.is_destination = true, .choose_ipv4 = true, .choose_ipv6 = true}};
  auto made = plan(request);
  ASSERT_TRUE(made) << made.error().text;
  ASSERT_EQ(made->chosen_pdrs.size(), 2U);
  const auto& told = made->chosen_pdrs[1].ue_addresses.at(0);
  EXPECT_EQ(told.ipv4, (Ipv4{{10, 61, 0, 2}}));
  EXPECT_EQ(to_string(*told.ipv6), "2001:db8:0:1::");
  EXPECT_FALSE(told.choose_ipv4 || told.choose_ipv6 || told.is_destination);
  const Seid seid = made->next.seid;
  commit(context, std::move(*made));
  EXPECT_EQ(pdr(seid, kUl).ue_addresses[0].ipv4, (Ipv4{{10, 61, 0, 2}}));
  EXPECT_EQ(pdr(seid, kDl).ue_addresses[0].ipv4, (Ipv4{{10, 61, 0, 2}}));
  EXPECT_EQ(pdr(seid, kDl).ue_addresses[0].ipv6->length, 64);
  EXPECT_EQ(addresses.size(), 2U);
  // The pool has one IPv4 address.
  auto second = request;
  second.create_pdrs[0].pdi.local_f_teid->teid = Teid{0x200};
  EXPECT_EQ(refused(plan(second)).cause, Cause::AllDynamicAddressesAreOccupied);
  EXPECT_EQ(addresses.size(), 2U);
  commit(context, plan_deletion(context, *store.find(seid)));
  EXPECT_EQ(addresses.size(), 0U);
  establish(second);
}

TEST_F(Establishment, AnAddressThatTheSmfGaveIsNotChosen) {
  establish(free5gc(1, 0x100, {{10, 61, 0, 2}}));
  auto request = free5gc(2, 0x200);
  request.create_pdrs[1].pdi.ue_ip_addresses = {{.is_destination = true, .choose_ipv4 = true}};
  EXPECT_EQ(refused(plan(request)).cause, Cause::AllDynamicAddressesAreOccupied);
}

TEST_F(Establishment, DelegatedPrefixesAreAsLongAsAsked) {
  auto request = free5gc();
  request.create_pdrs[1].pdi.ue_ip_addresses = {
      {.is_destination = true, .ipv6_prefix_delegation_bits = 8, .choose_ipv6 = true}};
  auto made = plan(request);
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->chosen_pdrs[0].ue_addresses[0].ipv6_prefix_length, 56);
  EXPECT_EQ(rules::find(made->next.rules.pdrs, kDl)->ue_addresses[0].ipv6->length, 56);
  request.create_pdrs[1].pdi.ue_ip_addresses[0].ipv6_prefix_length = 80;
  EXPECT_EQ(refused(plan(request)).offending_ie, IeType::UeIpAddress);
  context.ue_addresses = nullptr;
  EXPECT_EQ(refused(plan(request)).cause, Cause::ServiceNotSupported);
}

TEST_F(Establishment, KeepsWhatTheOperatorWantsToSee) {
  auto request = free5gc();
  request.apn_dnn = pfcp::DomainName{"internet"};
  request.s_nssai = pfcp::Snssai{1, 0x010203};
  request.user_id = pfcp::UserId{.imsi = std::string{"\x02\x89\x39\xf0", 4}};
  request.user_plane_inactivity_timer = pfcp::Seconds{30};
  request.create_pdrs[0].pdi.source_interface_type = pfcp::InterfaceType3gpp::N3Access3gpp;
  request.create_fars[0].forwarding_parameters->destination_interface_type =
      pfcp::InterfaceType3gpp::N6;
  const Seid seid = establish(request);
  const Session session = *store.find(seid);
  EXPECT_EQ(session.labels.dnn, "internet");
  EXPECT_EQ(session.labels.s_nssai, "1-010203");
  EXPECT_EQ(session.labels.imsi, "2098930");
  EXPECT_EQ(session.labels.interface_types, "11 17");
  EXPECT_EQ(session.inactivity_timer_s, 30U);
}

}  // namespace
}  // namespace upf::session::test

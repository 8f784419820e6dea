#include <algorithm>

#include "unit/session/support.hpp"

namespace upf::session::test {
namespace {

using pfcp::Cause;
using pfcp::IeType;
using Request = pfcp::SessionModificationRequest;

class Modification : public PlanTest {
 protected:
  Modification() { seid = establish(with_urr()); }

  static pfcp::SessionEstablishmentRequest with_urr() {
    auto request = free5gc();
    request.create_urrs = {{}};
    request.create_urrs[0].urr_id = UrrId{1};
    request.create_urrs[0].measurement_method.volum = true;
    request.create_urrs[0].volume_threshold = pfcp::Volumes{.total = 1000};
    for (auto& pdr : request.create_pdrs) pdr.urr_ids = {UrrId{1}};
    return request;
  }
  /// free5GC's activation: outer header towards the gNB (n4-clients.md 1).
  static Request activation(std::uint32_t teid, bool sndem = false, Ipv4 gnb = {{10, 0, 1, 1}}) {
    Request request{};
    request.update_fars = {{.far_id = FarId{2}, .apply_action = pfcp::ApplyAction{.forw = true}}};
    request.update_fars[0].update_forwarding_parameters = pfcp::UpdateForwardingParameters{
        .destination_interface = pfcp::DestinationInterface::Access,
        .outer_header_creation = gnb_tunnel(teid, gnb),
        .pfcpsmreq_flags = pfcp::PfcpSmReqFlags{.sndem = sndem}};
    return request;
  }
  /// free5GC's idle: buffer, the old outer header, and perhaps a stale SNDEM.
  static Request idle(std::uint32_t teid, bool sndem) {
    auto request = activation(teid, sndem);
    request.update_fars[0].apply_action = pfcp::ApplyAction{.buff = true, .nocp = true};
    return request;
  }

  Seid seid{};
};

TEST_F(Modification, ActivationMergesForwardingParameters) {
  modify(seid, activation(0x500));
  const auto& forwarding = *far(seid, 2).forwarding;
  EXPECT_EQ(forwarding.outer_header->teid, Teid{0x500});
  EXPECT_EQ(forwarding.outer_header->peer, (IpAddress{Ipv4{{10, 0, 1, 1}}}));
  EXPECT_EQ(forwarding.network_instance, "internet");  // wasn't said again
}

// n4-clients.md 3.10
TEST_F(Modification, IdleBuffersWhateverTheParametersSay) {
  modify(seid, activation(0x500));
  modify(seid, idle(0x500, false));
  EXPECT_TRUE(far(seid, 2).action.buffer);
  EXPECT_TRUE(far(seid, 2).action.notify_cp);
  EXPECT_EQ(far(seid, 2).forwarding->outer_header->teid, Teid{0x500});
}

// cases.md 58: one End Marker, to the old tunnel, when the tunnel changes
TEST_F(Modification, EndMarkersOnlyWhereTheTunnelChanges) {
  const auto markers = [&](const Request& request) {
    auto made = plan(seid, request);
    EXPECT_TRUE(made);
    auto list = made->end_markers;
    commit(context, std::move(*made));
    return list;
  };
  EXPECT_TRUE(markers(activation(0x500, true)).empty());  // there was no tunnel before
  EXPECT_EQ(markers(activation(0x600, true)), std::vector{FarId{2}});
  EXPECT_TRUE(markers(activation(0x600, true)).empty());
  EXPECT_TRUE(markers(idle(0x600, true)).empty());  // stale flag
  EXPECT_TRUE(markers(activation(0x700, false)).empty());
  EXPECT_EQ(markers(activation(0x700, true, {{10, 0, 1, 2}})), std::vector{FarId{2}});
}

TEST_F(Modification, DropBufferedMeansTheFarsThatBuffer) {
  modify(seid, idle(0x500, false));
  auto request = activation(0x600);
  request.pfcpsmreq_flags = pfcp::PfcpSmReqFlags{.drobu = true};
  const auto made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->drop_buffered, std::vector{FarId{2}});
}

// cases.md 9, 10: unknown rules: cause 73 with the rule, and nothing has changed
struct Unknown {
  const char* name;
  void (*ask)(Request&);
  FailedRule::Kind kind;
};
class UnknownRule : public Modification, public testing::WithParamInterface<Unknown> {};

TEST_P(UnknownRule, IsNamedAndNothingChanges) {
  auto request = activation(0x999);  // good in itself
  GetParam().ask(request);
  const auto before = rules(seid);
  const auto refusal = refused(plan(seid, request));
  EXPECT_EQ(refusal.cause, Cause::RuleCreationModificationFailure);
  EXPECT_EQ(refusal.failed_rule, (FailedRule{GetParam().kind, 99}));
  EXPECT_EQ(rules(seid), before);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, UnknownRule,
    testing::Values(
        Unknown{"UpdatePdr", [](Request& r) { r.update_pdrs = {{.pdr_id = PdrId{99}}}; },
                FailedRule::Kind::Pdr},
        Unknown{"UpdateFar", [](Request& r) { r.update_fars.push_back({.far_id = FarId{99}}); },
                FailedRule::Kind::Far},
        Unknown{"UpdateQer", [](Request& r) { r.update_qers = {{.qer_id = QerId{99}}}; },
                FailedRule::Kind::Qer},
        Unknown{"UpdateUrr",
                [](Request& r) {
                  r.update_urrs = {{}};
                  r.update_urrs[0].urr_id = UrrId{99};
                },
                FailedRule::Kind::Urr},
        Unknown{"UpdateBar", [](Request& r) { r.update_bars = {{.bar_id = BarId{99}}}; },
                FailedRule::Kind::Bar},
        Unknown{"RemovePdr", [](Request& r) { r.remove_pdrs = {{PdrId{99}}}; },
                FailedRule::Kind::Pdr},
        Unknown{"RemoveFar", [](Request& r) { r.remove_fars = {{FarId{99}}}; },
                FailedRule::Kind::Far},
        Unknown{"RemoveQer", [](Request& r) { r.remove_qers = {{QerId{99}}}; },
                FailedRule::Kind::Qer},
        Unknown{"RemoveUrr", [](Request& r) { r.remove_urrs = {{UrrId{99}}}; },
                FailedRule::Kind::Urr},
        Unknown{"RemoveBar", [](Request& r) { r.remove_bars = {{BarId{99}}}; },
                FailedRule::Kind::Bar},
        Unknown{"QueryUrr", [](Request& r) { r.query_urrs = {{UrrId{99}}}; },
                FailedRule::Kind::Urr}),
    [](const auto& param) { return param.param.name; });

TEST_F(Modification, AFarInUseCantBeRemoved) {
  Request request{};
  request.remove_fars = {{FarId{2}}};
  EXPECT_EQ(refused(plan(seid, request)).failed_rule, (FailedRule{FailedRule::Kind::Far, 2}));
  request.remove_pdrs = {{kDl}};
  modify(seid, request);
  EXPECT_EQ(rules(seid).fars.size(), 1U);
  EXPECT_EQ(rules(seid).pdrs.size(), 1U);
}

TEST_F(Modification, PdrsGoOnWithoutAQerOrUrrThatIsRemoved) {
  Request request{};
  request.remove_qers = {{QerId{1}}};
  request.remove_urrs = {{UrrId{1}}};
  auto made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->usage.removed, std::vector{UrrId{1}});
  EXPECT_TRUE(made->usage.detached.empty());  // one final report, not two
  commit(context, std::move(*made));
  EXPECT_TRUE(pdr(seid, kUl).qers.empty());
  EXPECT_TRUE(pdr(seid, kUl).urrs.empty());
}

TEST_F(Modification, AnIdRemovedAndCreatedInOneMessageIsANewRule) {
  Request request{};
  request.remove_pdrs = {{kDl}};
  request.remove_fars = {{FarId{2}}};
  request.create_fars = {forwarding_far(2, pfcp::DestinationInterface::Core)};
  request.create_pdrs = {free5gc().create_pdrs[1]};
  request.create_pdrs[0].precedence = 7;
  modify(seid, request);
  EXPECT_EQ(pdr(seid, kDl).precedence, 7U);
  EXPECT_EQ(far(seid, 2).forwarding->destination, rules::Interface::Core);
}

TEST_F(Modification, RulesMayReferToThoseOfTheSameMessage) {
  Request request{};
  request.create_fars = {forwarding_far(5, pfcp::DestinationInterface::Access)};
  request.create_fars[0].forwarding_parameters->outer_header_creation = gnb_tunnel(0x42);
  request.create_qers = {{.qer_id = QerId{5}}};
  request.update_pdrs = {{.pdr_id = kDl, .far_id = FarId{5}, .qer_ids = {QerId{5}, QerId{1}}}};
  request.update_fars = {{.far_id = FarId{5}, .apply_action = pfcp::ApplyAction{.drop = true}}};
  modify(seid, request);  // cases.md 21: an outer header in a FAR created here is valid
  EXPECT_EQ(pdr(seid, kDl).far, FarId{5});
  EXPECT_EQ(pdr(seid, kDl).qers, (std::vector{QerId{5}, QerId{1}}));
  EXPECT_TRUE(far(seid, 5).action.drop);
}

// n4-clients.md 1: indirect forwarding
TEST_F(Modification, APdrOfAnFTeidAlone) {
  Request request{};
  request.create_fars = {forwarding_far(5, pfcp::DestinationInterface::Access)};
  request.create_fars[0].forwarding_parameters->outer_header_creation = gnb_tunnel(0x42);
  pfcp::CreatePdr pdr_ie{.pdr_id = PdrId{5}, .far_id = FarId{5}};
  pdr_ie.pdi.source_interface = pfcp::SourceInterface::Access;
  pdr_ie.pdi.local_f_teid = pfcp::FTeid{.teid = Teid{0x77}, .ipv4 = Ipv4{{10, 0, 0, 1}}};
  request.create_pdrs = {pdr_ie};
  modify(seid, request);
  EXPECT_EQ(teids.size(), 2U);
  Request remove{};
  remove.remove_pdrs = {{PdrId{5}}};
  remove.remove_fars = {{FarId{5}}};
  modify(seid, remove);
  EXPECT_EQ(teids.size(), 1U);
}

TEST_F(Modification, ListsInUpdatePdrAreWholeAndAbsentOnesStay) {
  Request request{};
  request.update_pdrs = {{.pdr_id = kUl, .precedence = 9}};
  modify(seid, request);
  EXPECT_EQ(pdr(seid, kUl).precedence, 9U);
  EXPECT_EQ(pdr(seid, kUl).urrs, std::vector{UrrId{1}});  // cases.md 53: no false end of measuring
  EXPECT_EQ(pdr(seid, kUl).removal, rules::HeaderRemoval::GtpuUdpIpv4);
  EXPECT_TRUE(pdr(seid, kUl).f_teid);
}

// TS 29.244 5.6.3: an IE of length 0 takes away
TEST_F(Modification, EmptyIesTakeAway) {
  Request request{};
  request.update_pdrs = {{.pdr_id = kDl, .removed = {IeType::UrrId, IeType::QerId}}};
  request.update_qers = {{.qer_id = QerId{1}, .removed = {IeType::Mbr}}};
  auto made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->usage.detached.empty());  // the uplink PDR still counts
  commit(context, std::move(*made));
  EXPECT_TRUE(pdr(seid, kDl).urrs.empty());
  EXPECT_TRUE(pdr(seid, kDl).qers.empty());
  EXPECT_EQ(rules(seid).qers[0].mbr, std::nullopt);
  EXPECT_EQ(rules(seid).qers[0].qfi, 1);
}

// TS 29.244 5.2.2.3.1: the last PDR of a URR
TEST_F(Modification, AUrrThatLosesItsLastPdrReportsAndStays) {
  Request request{};
  for (const PdrId id : {kUl, kDl}) {
    request.update_pdrs.push_back({.pdr_id = id, .removed = {IeType::UrrId}});
  }
  auto made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->usage.detached, std::vector{UrrId{1}});
  EXPECT_EQ(made->query, std::vector{UrrId{1}});
  EXPECT_EQ(made->next.usage.size(), 1U);
}

TEST_F(Modification, QueriesNameUrrsOrAll) {
  Request request{};
  request.query_urrs = {{UrrId{1}}, {UrrId{1}}};
  request.query_urr_reference = 5;
  auto made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->query, std::vector{UrrId{1}});
  EXPECT_EQ(made->usage.query_reference, 5U);
  request = {};
  request.pfcpsmreq_flags = pfcp::PfcpSmReqFlags{.qaurr = true};
  made = plan(seid, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->usage.queried, std::vector{UrrId{1}});
}

TEST_F(Modification, APdiReplacesThePdiBefore) {
  Request request{};
  pfcp::UpdatePdr update{.pdr_id = kDl};
  update.pdi = free5gc().create_pdrs[1].pdi;
  update.pdi->ue_ip_addresses[0].ipv4 = Ipv4{{10, 60, 0, 77}};
  update.pdi->sdf_filters = {{.flow_description = "permit out ip from 1.1.1.1 to assigned"}};
  request.update_pdrs = {update};
  modify(seid, request);
  EXPECT_EQ(pdr(seid, kDl).ue_addresses[0].ipv4, (Ipv4{{10, 60, 0, 77}}));
  EXPECT_EQ(store.of_ue("internet", Ipv4{{10, 60, 0, 1}}), std::nullopt);
  EXPECT_EQ(store.of_ue("internet", Ipv4{{10, 60, 0, 77}}), seid);
  // Without filters now: they are gone with the PDI before.
  request.update_pdrs[0].pdi->sdf_filters.clear();
  modify(seid, request);
  EXPECT_TRUE(pdr(seid, kDl).filters.empty());
}

// n4-clients.md 2: TFT by Update PDR with source interface and filters alone
TEST_F(Modification, APdiThatLocatesNothingKeepsWhereItWas) {
  const Seid o5 = establish(open5gs(2));
  Request request{};
  pfcp::UpdatePdr update{.pdr_id = kUl};
  update.pdi = pfcp::Pdi{.source_interface = pfcp::SourceInterface::Access};
  update.pdi->sdf_filters = {{.flow_description = "permit out ip from 1.1.1.1 to assigned"}};
  request.update_pdrs = {update};
  const auto before = pdr(o5, kUl);
  modify(o5, request);
  EXPECT_EQ(pdr(o5, kUl).f_teid, before.f_teid);
  EXPECT_EQ(pdr(o5, kUl).qfis, before.qfis);
  EXPECT_EQ(pdr(o5, kUl).filters.size(), 1U);
  // An update that says nothing of the PDI keeps those filters.
  request.update_pdrs = {{.pdr_id = kUl, .precedence = 3}};
  modify(o5, request);
  EXPECT_EQ(pdr(o5, kUl).filters.size(), 1U);
}

TEST_F(Modification, AFailureAtTheEndUndoesTheBeginning) {
  Request request{};
  pfcp::CreatePdr more = open5gs().create_pdrs[0];
  more.pdr_id = PdrId{7};
  request.create_pdrs = {more};
  request.remove_urrs = {{UrrId{1}}};
  request.update_fars = {{.far_id = FarId{98}}};
  const auto before = rules(seid);
  (void)refused(plan(seid, request));
  EXPECT_EQ(rules(seid), before);
  EXPECT_EQ(teids.size(), 1U);
}

// TS 29.244 5.19
TEST_F(Modification, PredefinedRulesAreActivatedAndDeactivated) {
  rules::SdfFilter filter{.spi = 7};
  settings.predefined["video"] = {
      .filters = {filter},
      .far = {.id = FarId{0x80000000}, .action = {.drop = true}},
      .qer = rules::Qer{.id = QerId{0x80000000}, .mbr = rules::BitRate{1, 2}}};
  Request request{};
  pfcp::CreatePdr ul = free5gc().create_pdrs[0];
  ul.pdr_id = PdrId{7};
  ul.far_id.reset();
  ul.activate_predefined_rules = {"video"};
  request.create_pdrs = {ul};
  modify(seid, request);
  EXPECT_EQ(pdr(seid, PdrId{7}).filters, std::vector{filter});
  EXPECT_EQ(pdr(seid, PdrId{7}).far, FarId{0x80000000});
  EXPECT_EQ(pdr(seid, PdrId{7}).qers, (std::vector{QerId{1}, QerId{0x80000000}}));
  EXPECT_TRUE(far(seid, 0x80000000).action.drop);
  EXPECT_EQ(pdr(seid, PdrId{7}).f_teid, pdr(seid, kUl).f_teid);

  // A downlink PDR brings its own FAR; with it the name goes on.
  Request downlink{};
  downlink.update_pdrs = {{.pdr_id = kDl, .activate_predefined_rules = {"video"}}};
  modify(seid, downlink);
  EXPECT_EQ(pdr(seid, kDl).far, FarId{2});
  EXPECT_EQ(pdr(seid, kDl).filters, std::vector{filter});
  Request off{};
  off.update_pdrs = {{.pdr_id = kDl, .deactivate_predefined_rules = {"video"}}};
  modify(seid, off);
  EXPECT_TRUE(pdr(seid, kDl).filters.empty());
  off.update_pdrs[0].deactivate_predefined_rules = {"video"};
  EXPECT_EQ(refused(plan(seid, off)).cause, Cause::UnknownPredefinedRule);
  off.update_pdrs = {{.pdr_id = PdrId{7}, .deactivate_predefined_rules = {"video"}}};
  EXPECT_EQ(refused(plan(seid, off)).offending_ie, IeType::FarId);

  Request gone{};
  gone.remove_pdrs = {{PdrId{7}}};
  modify(seid, gone);
  EXPECT_EQ(rules::find(rules(seid).fars, FarId{0x80000000}), nullptr);
  EXPECT_EQ(rules(seid).qers.size(), 1U);

  request.create_pdrs[0].activate_predefined_rules = {"nothing"};
  EXPECT_EQ(refused(plan(seid, request)).cause, Cause::UnknownPredefinedRule);
  request.create_pdrs[0].activate_predefined_rules = {"video"};
  request.create_pdrs[0].pdi.sdf_filters = {{.security_parameter_index = 1}};
  EXPECT_EQ(refused(plan(seid, request)).offending_ie, IeType::ActivatePredefinedRules);
  request.create_pdrs = {free5gc().create_pdrs[1]};
  request.create_pdrs[0].pdr_id = PdrId{8};
  request.create_pdrs[0].far_id.reset();
  request.create_pdrs[0].activate_predefined_rules = {"video"};
  EXPECT_EQ(refused(plan(seid, request)).offending_ie, IeType::FarId);
}

TEST_F(Modification, GatesAndRates) {
  Request request{};
  request.update_qers = {
      {.qer_id = QerId{1}, .gate_status = pfcp::GateStatus{pfcp::Gate::Closed, pfcp::Gate{2}}}};
  modify(seid, request);
  EXPECT_FALSE(rules(seid).qers[0].uplink_open);
  EXPECT_FALSE(rules(seid).qers[0].downlink_open);  // 2: closed (8.2.7)
  EXPECT_EQ(rules(seid).qers[0].mbr, (rules::BitRate{1000, 2000}));
}

TEST_F(Modification, TheCpFSeidMoves) {
  Request request{};
  request.cp_f_seid = pfcp::FSeid{.seid = Seid{77}, .ipv4 = Ipv4{{10, 0, 0, 3}}};
  modify(seid, request);
  EXPECT_EQ(store.of_cp(*request.cp_f_seid), seid);
  EXPECT_EQ(store.of_cp_address(Ipv4{{10, 0, 0, 3}}), std::vector{seid});
  request.cp_f_seid->ipv4.reset();
  EXPECT_EQ(refused(plan(seid, request)).offending_ie, IeType::FSeid);
}

TEST_F(Modification, QuotasAreNotedAsGrants) {
  Request request{};
  pfcp::UpdateUrr update{};
  update.urr_id = UrrId{1};
  update.volume_quota = pfcp::Volumes{.total = 500};
  update.removed = {IeType::VolumeThreshold};
  request.update_urrs = {update};
  auto made = plan(seid, request);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->usage.updates.size(), 1U);
  const auto& noted = made->usage.updates[0];
  EXPECT_TRUE(noted.grant.volume_quota && noted.grant.volume_threshold);
  EXPECT_FALSE(noted.grant.created || noted.grant.time_quota);
  EXPECT_EQ(noted.rule.volume_quota->total, 500U);
  EXPECT_EQ(noted.rule.volume_threshold, std::nullopt);
  EXPECT_TRUE(noted.rule.measure_volume);
}

TEST_F(Modification, TunnelsAreFoundForErrorIndications) {
  modify(seid, activation(0x500));
  const IpAddress gnb = Ipv4{{10, 0, 1, 1}};
  const auto found = store.of_remote(Teid{0x500}, gnb);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].far, FarId{2});
  EXPECT_EQ(store.of_peer(gnb), std::vector{seid});
  modify(seid, activation(0x600));
  EXPECT_TRUE(store.of_remote(Teid{0x500}, gnb).empty());
}

TEST_F(Modification, ASessionMovesToAnotherCpFunction) {
  store.move(seid, "other smf", {.seid = Seid{5}, .ipv4 = Ipv4{{10, 0, 0, 9}}});
  EXPECT_EQ(store.size_of("smf"), 0U);
  EXPECT_EQ(store.of_owner("other smf"), std::vector{seid});
  EXPECT_EQ(store.find(seid)->cp.seid, Seid{5});
  EXPECT_EQ(store.of_ue("internet", Ipv4{{10, 60, 0, 1}}), seid);
}

}  // namespace
}  // namespace upf::session::test

#include <random>
#include <set>

#include "contract/fake_plane.hpp"
#include "unit/session/support.hpp"

// Random requests, good and bad ones mixed, of two CP functions, planned, put into the fake plane
// (which aborts on rules that break the port's contract, and sometimes refuses), and committed.
// After each: the plane has what the store says, no TEID or UE address is lost or doubled, and
// whatever was refused has changed nothing.

namespace upf::session::test {
namespace {

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}
  bool one_in(int n) { return number(1, n) == 1; }
  std::uint32_t number(int from, int to) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<int>{from, to}(engine_));
  }
  PdrId pdr_id() { return PdrId{static_cast<std::uint16_t>(number(1, 5))}; }
  FarId far_id() { return FarId{number(1, 4)}; }
  QerId qer_id() { return QerId{number(1, 3)}; }
  UrrId urr_id() { return UrrId{number(1, 3)}; }

  pfcp::Pdi pdi() {
    pfcp::Pdi pdi{};
    const bool uplink = one_in(2);
    pdi.source_interface = uplink ? pfcp::SourceInterface::Access : pfcp::SourceInterface::Core;
    if (one_in(8)) pdi.source_interface = static_cast<pfcp::SourceInterface>(number(0, 9));
    if (uplink || one_in(6)) pdi.local_f_teid = f_teid();
    if (!one_in(3)) pdi.network_instance = pfcp::DomainName{one_in(4) ? "ims" : "internet"};
    if (!uplink || one_in(3)) pdi.ue_ip_addresses = {ue_address(!uplink)};
    if (one_in(4)) pdi.traffic_endpoint_ids = {static_cast<std::uint8_t>(number(1, 2))};
    if (one_in(4)) pdi.sdf_filters.push_back(filter());
    if (one_in(10)) pdi.application_id = one_in(2) ? "known" : "unknown";
    if (one_in(6)) pdi.qfis = {static_cast<std::uint8_t>(number(0, 63))};
    if (one_in(12)) pdi.framed_routes = {one_in(4) ? "nonsense" : "192.168.0.0/24"};
    return pdi;
  }
  pfcp::FTeid f_teid() {
    pfcp::FTeid ie{.ipv4 = Ipv4{{10, 0, 0, 1}}};
    if (one_in(2)) {
      ie.choose = true;
      if (one_in(2)) ie.choose_id = static_cast<std::uint8_t>(number(1, 3));
    } else {
      ie.teid = Teid{number(0, 20)};
    }
    return ie;
  }
  pfcp::UeIpAddress ue_address(bool destination) {
    pfcp::UeIpAddress ie{.is_destination = destination};
    if (one_in(3)) {
      ie.choose_ipv4 = true;
      ie.choose_ipv6 = one_in(2);
    } else {
      ie.ipv4 = Ipv4{{10, 60, 0, static_cast<std::uint8_t>(number(1, 12))}};
    }
    return ie;
  }
  pfcp::SdfFilter filter() {
    pfcp::SdfFilter ie{};
    if (!one_in(3)) ie.flow_description = "permit out ip from 1.1.1.1 to assigned";
    if (one_in(10)) ie.flow_description = "permit in ip from any to any";
    if (one_in(2)) ie.filter_id = number(1, 3);
    return ie;
  }
  pfcp::CreatePdr create_pdr() {
    pfcp::CreatePdr ie{.pdr_id = pdr_id(), .precedence = number(0, 300), .pdi = pdi()};
    if (!one_in(12)) ie.far_id = far_id();
    if (one_in(2)) ie.qer_ids = {qer_id(), qer_id()};
    if (one_in(2)) ie.urr_ids = {urr_id()};
    if (one_in(8)) ie.activate_predefined_rules = {one_in(5) ? "nothing" : "video"};
    return ie;
  }
  pfcp::CreateFar create_far(FarId id) {
    auto ie = forwarding_far(id.value, one_in(2) ? pfcp::DestinationInterface::Access
                                                 : pfcp::DestinationInterface::Core);
    if (one_in(2)) ie.forwarding_parameters->outer_header_creation = gnb_tunnel(number(0, 50));
    if (one_in(6)) ie.apply_action = {.drop = one_in(2), .buff = one_in(2)};
    if (one_in(8)) ie.bar_id = BarId{1};
    return ie;
  }
  template <class Request>
  void creations(Request& request, int least) {
    for (std::uint32_t n = number(least, least + 2); n > 0; --n) {
      request.create_pdrs.push_back(create_pdr());
    }
    for (std::uint32_t id = 1; id <= 4; ++id) {
      if (least > 0 || one_in(5)) request.create_fars.push_back(create_far(FarId{id}));
    }
    for (std::uint32_t id = 1; id <= 3; ++id) {
      if (least > 0 || one_in(6)) request.create_qers.push_back({.qer_id = QerId{id}});
      if (least > 0 || one_in(6)) {
        request.create_urrs.push_back({});
        request.create_urrs.back().urr_id = UrrId{id};
      }
    }
    if (least > 0 || one_in(8)) request.create_bars.push_back({.bar_id = BarId{1}});
    if (one_in(3)) {
      request.create_traffic_endpoints.push_back(
          {.traffic_endpoint_id = static_cast<std::uint8_t>(number(1, 2)),
           .local_f_teid = f_teid(),
           .ue_ip_addresses = {ue_address(false)}});
    }
  }
  void changes(pfcp::SessionModificationRequest& request) {
    if (one_in(3)) request.remove_pdrs.push_back({pdr_id()});
    if (one_in(8)) request.remove_fars.push_back({far_id()});
    if (one_in(8)) request.remove_qers.push_back({qer_id()});
    if (one_in(8)) request.remove_urrs.push_back({urr_id()});
    if (one_in(12)) request.remove_bars.push_back({BarId{1}});
    if (one_in(10)) request.remove_traffic_endpoints.push_back({1});
    if (one_in(2)) {
      pfcp::UpdatePdr ie{.pdr_id = pdr_id()};
      if (one_in(2)) ie.pdi = pdi();
      if (one_in(3)) ie.far_id = far_id();
      if (one_in(4)) ie.urr_ids = {urr_id()};
      if (one_in(4)) ie.removed = {pfcp::IeType::UrrId, pfcp::IeType::QerId};
      if (one_in(6)) ie.activate_predefined_rules = {"video"};
      if (one_in(6)) ie.deactivate_predefined_rules = {"video"};
      request.update_pdrs.push_back(std::move(ie));
    }
    if (one_in(2)) {
      pfcp::UpdateFar ie{.far_id = far_id()};
      if (one_in(3)) ie.apply_action = pfcp::ApplyAction{.buff = true, .nocp = true};
      ie.update_forwarding_parameters = pfcp::UpdateForwardingParameters{
          .destination_interface = pfcp::DestinationInterface::Access,
          .outer_header_creation = gnb_tunnel(number(1, 50)),
          .pfcpsmreq_flags = pfcp::PfcpSmReqFlags{.sndem = one_in(2)}};
      request.update_fars.push_back(std::move(ie));
    }
    if (one_in(4)) request.query_urrs.push_back({urr_id()});
  }

 private:
  std::mt19937 engine_;
};

class Sequences : public PlanTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  Sequences() {
    settings.predefined["video"] = {.filters = {rules::SdfFilter{.spi = 7}},
                                    .far = {.id = FarId{0x80000000}, .action = {.drop = true}},
                                    .qer = rules::Qer{.id = QerId{0x80000000}}};
    context.applications = [this](const std::string& id) {
      return id == "known" ? &flows : nullptr;
    };
  }

  /// As control does it. true: the plane and the store have it.
  bool carry_out(Plan plan) {
    const Seid seid = plan.next.seid;
    for (const Seid old : plan.supersedes) {
      EXPECT_TRUE(carry_out(plan_deletion(context, *store.find(old))));
    }
    plan.next.installed = plan.next.rules;
    const auto before = store.find(seid);
    const auto applied = plane.apply({.seid = seid,
                                      .before = before ? &before->installed : nullptr,
                                      .after = plan.ends ? nullptr : &plan.next.installed,
                                      .end_markers = plan.end_markers,
                                      .drop_buffered = plan.drop_buffered,
                                      .query = plan.query});
    if (!applied) return false;
    commit(context, std::move(plan));
    return true;
  }

  void check_everything() {
    std::set<Teid> in_use;
    std::size_t chosen = 0;
    std::set<Ipv4> chosen_ipv4;
    for (const Seid seid : store.all()) {
      const Session session = *store.find(seid);
      chosen += session.chosen_ipv4.size() + session.chosen_ipv6.size();
      for (const auto& [network, address] : session.chosen_ipv4) {
        EXPECT_TRUE(chosen_ipv4.insert(address).second) << to_string(address);
      }
      std::set<Teid> mine;
      for (const auto& pdr : session.rules.pdrs) {
        if (pdr.f_teid) mine.insert(pdr.f_teid->teid);
      }
      for (const auto& [id, source] : session.sources) {
        if (source->pdi.local_f_teid) mine.insert(source->pdi.local_f_teid->teid);
      }
      for (const auto& [id, endpoint] : session.endpoints) {
        if (endpoint->local_f_teid) mine.insert(endpoint->local_f_teid->teid);
      }
      for (const Teid teid : mine) {
        EXPECT_EQ(teids.owner(teid), seid);
        EXPECT_TRUE(in_use.insert(teid).second);
      }
      ASSERT_NE(plane.rules_of(seid), nullptr);
      EXPECT_EQ(*plane.rules_of(seid), session.installed);
    }
    EXPECT_EQ(teids.size(), in_use.size());
    EXPECT_EQ(addresses.size(), chosen);
    EXPECT_EQ(plane.session_count(), store.size());
  }

  void one_step(Chance& chance) {
    const std::string owner = chance.one_in(2) ? "smf" : "other smf";
    const auto seids = store.all();
    if (seids.empty() || (seids.size() < 6 && chance.one_in(4))) {
      pfcp::SessionEstablishmentRequest request{
          .cp_f_seid = {.seid = Seid{chance.number(1, 1000)}, .ipv4 = Ipv4{{10, 0, 0, 2}}}};
      if (chance.one_in(6)) request.pfcpsereq_flags = pfcp::PfcpSeReqFlags{.resti = true};
      chance.creations(request, 1);
      auto made = plan(request, owner);
      if (made) (void)carry_out(std::move(*made));
      return;
    }
    const Seid seid = seids[chance.number(0, static_cast<int>(seids.size()) - 1)];
    if (chance.one_in(8)) {
      EXPECT_TRUE(carry_out(plan_deletion(context, *store.find(seid))));
    } else if (chance.one_in(8)) {
      flows.resize(chance.number(0, 2));
      for (const Seid each : seids) {
        EXPECT_TRUE(carry_out(plan_refresh(context, *store.find(each))));
      }
    } else {
      pfcp::SessionModificationRequest request{};
      chance.creations(request, 0);
      chance.changes(request);
      const auto rules_before = rules(seid);
      auto made = plan(seid, request);
      EXPECT_TRUE(made || !made.error().text.empty());
      if (made && chance.one_in(6)) plane.fail_next(dataplane::Failure::Kind::Refused);
      const bool done = made && carry_out(std::move(*made));
      EXPECT_TRUE(done || rules(seid) == rules_before);
    }
  }

  contract::FakePlane plane{};
  std::vector<rules::SdfFilter> flows{rules::SdfFilter{.spi = 1}};
};

TEST_P(Sequences, KeepStorePlaneAndIdentifiersTogether) {
  Chance chance{GetParam()};
  for (int step = 0; step < 300 && !HasFailure(); ++step) {
    one_step(chance);
    check_everything();
  }
  for (const Seid seid : store.all()) {
    EXPECT_TRUE(carry_out(plan_deletion(context, *store.find(seid))));
  }
  check_everything();
  EXPECT_EQ(teids.size(), 0U);
  EXPECT_EQ(addresses.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sequences, testing::Range(1U, 60U));

}  // namespace
}  // namespace upf::session::test

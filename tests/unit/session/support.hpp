#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "upf/pfcp/messages/session.hpp"
#include "upf/session/plan.hpp"

/// Requests as SMFs write them, and a control half that always succeeds.
namespace upf::session::test {

inline constexpr PdrId kUl{1};
inline constexpr PdrId kDl{2};

inline pfcp::OuterHeaderCreation gnb_tunnel(std::uint32_t teid, Ipv4 gnb = {{10, 0, 1, 1}}) {
  return {.gtpu_udp_ipv4 = true, .teid = Teid{teid}, .ipv4 = gnb};
}

inline pfcp::CreateFar forwarding_far(std::uint32_t id, pfcp::DestinationInterface to) {
  return {.far_id = FarId{id},
          .apply_action = {.forw = true},
          .forwarding_parameters = pfcp::ForwardingParameters{
              .destination_interface = to, .network_instance = pfcp::DomainName{"internet"}}};
}

/// Uplink: TEID chosen by the SMF; downlink: UE address (n4-clients.md 1).
inline pfcp::SessionEstablishmentRequest free5gc(std::uint64_t cp_seid = 1,
                                                 std::uint32_t teid = 0x100,
                                                 Ipv4 ue = {{10, 60, 0, 1}}) {
  const pfcp::DomainName dnn{"internet", false};
  pfcp::SessionEstablishmentRequest request{
      .node_id = {Ipv4{{10, 0, 0, 2}}},
      .cp_f_seid = {.seid = Seid{cp_seid}, .ipv4 = Ipv4{{10, 0, 0, 2}}}};
  pfcp::CreatePdr ul{.pdr_id = kUl, .precedence = 255};
  ul.pdi.source_interface = pfcp::SourceInterface::Access;
  ul.pdi.local_f_teid = pfcp::FTeid{.teid = Teid{teid}, .ipv4 = Ipv4{{10, 0, 0, 1}}};
  ul.pdi.network_instance = dnn;
  ul.pdi.ue_ip_addresses = {{.ipv4 = ue}};
  ul.outer_header_removal = pfcp::OuterHeaderRemoval{};
  ul.far_id = FarId{1};
  ul.qer_ids = {QerId{1}};
  pfcp::CreatePdr dl{.pdr_id = kDl, .precedence = 255};
  dl.pdi.source_interface = pfcp::SourceInterface::Core;
  dl.pdi.network_instance = dnn;
  dl.pdi.ue_ip_addresses = {{.ipv4 = ue, .is_destination = true}};
  dl.far_id = FarId{2};
  dl.qer_ids = {QerId{1}};
  request.create_pdrs = {ul, dl};
  request.create_fars = {forwarding_far(1, pfcp::DestinationInterface::Core),
                         forwarding_far(2, pfcp::DestinationInterface::Access)};
  request.create_qers = {{.qer_id = QerId{1}, .mbr = pfcp::BitRates{1000, 2000}, .qfi = 1}};
  request.pdn_type = pfcp::PdnType::Ipv4;
  return request;
}

/// Open5GS: CHOOSE with a CHOOSE ID, CP function PDRs for router advertisement (n4-clients.md 2).
inline pfcp::SessionEstablishmentRequest open5gs(std::uint64_t cp_seid = 1,
                                                 Ipv4 ue = {{10, 45, 0, 2}}) {
  const auto choose = [](std::optional<std::uint8_t> id) {
    return pfcp::FTeid{.ipv4 = Ipv4{}, .ipv6 = Ipv6{}, .choose = true, .choose_id = id};
  };
  auto request = free5gc(cp_seid, 0, ue);
  auto& ul = request.create_pdrs[0];
  ul.pdi.local_f_teid = choose(5);
  ul.pdi.ue_ip_addresses.clear();
  ul.pdi.qfis = {1};
  ul.outer_header_removal->description = pfcp::OuterHeaderRemoval::Description::GtpuUdpIp;
  auto cp_to_up = ul;
  cp_to_up.pdr_id = PdrId{3};
  cp_to_up.pdi = {.source_interface = pfcp::SourceInterface::CpFunction,
                  .local_f_teid = choose(std::nullopt)};
  cp_to_up.far_id = FarId{2};
  auto up_to_cp = ul;
  up_to_cp.pdr_id = PdrId{4};
  up_to_cp.pdi.sdf_filters = {{.flow_description = "permit out 58 from ff02::2/128 to assigned"}};
  up_to_cp.far_id = FarId{3};
  request.create_pdrs.push_back(cp_to_up);
  request.create_pdrs.push_back(up_to_cp);
  auto& dl_far = request.create_fars[1];
  dl_far.apply_action = {.buff = true, .nocp = true};
  dl_far.forwarding_parameters.reset();
  dl_far.bar_id = BarId{1};
  auto to_cp = forwarding_far(3, pfcp::DestinationInterface::CpFunction);
  to_cp.forwarding_parameters->outer_header_creation = gnb_tunnel(0x77, {{10, 0, 0, 2}});
  request.create_fars.push_back(to_cp);
  request.create_bars = {{.bar_id = BarId{1}}};
  return request;
}

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    settings.gtpu = {{.ipv4 = Ipv4{{10, 0, 0, 1}}},
                     {.ipv4 = Ipv4{{10, 0, 9, 1}}, .n9 = true, .name = "n9"}};
  }

  [[nodiscard]] Result<Plan, Refusal> plan(const pfcp::SessionEstablishmentRequest& request,
                                           const std::string& owner = "smf") {
    return plan_establishment(context, owner, request);
  }
  [[nodiscard]] Result<Plan, Refusal> plan(Seid seid,
                                           const pfcp::SessionModificationRequest& request) {
    return plan_modification(context, *store.find(seid), request);
  }
  /// Plans and commits; the test fails if it is refused.
  Seid establish(const pfcp::SessionEstablishmentRequest& request,
                 const std::string& owner = "smf") {
    auto made = plan(request, owner);
    EXPECT_TRUE(made) << (made ? "" : made.error().text);
    if (!made) return {};
    const Seid seid = made->next.seid;
    commit(context, std::move(*made));
    return seid;
  }
  void modify(Seid seid, const pfcp::SessionModificationRequest& request) {
    auto made = plan(seid, request);
    ASSERT_TRUE(made) << made.error().text;
    commit(context, std::move(*made));
  }
  [[nodiscard]] Refusal refused(Result<Plan, Refusal> made) {
    EXPECT_FALSE(made);
    return made ? Refusal{} : made.error();
  }
  /// As they are now; the reference is good until the test ends.
  [[nodiscard]] const rules::SessionRules& rules(Seid seid) {
    return looked_at_.emplace_back(store.find(seid)->rules);
  }
  [[nodiscard]] const rules::Pdr& pdr(Seid seid, PdrId id) {
    return *rules::find(rules(seid).pdrs, id);
  }
  [[nodiscard]] const rules::Far& far(Seid seid, std::uint32_t id) {
    return *rules::find(rules(seid).fars, FarId{id});
  }

  std::uint64_t next_random = 0x1000;
  Random random{[this] { return next_random++; }};
  Settings settings{};
  Store store{};
  Teids teids{random};
  UeAddresses addresses{{{"internet", *parse_ip_prefix("10.61.0.0/30")},
                         {"internet", *parse_ip_prefix("2001:db8::/48")}}};
  Context context{.settings = settings,
                  .store = store,
                  .teids = teids,
                  .random = random,
                  .ue_addresses = &addresses};

 private:
  std::deque<rules::SessionRules> looked_at_{};
};

}  // namespace upf::session::test

#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "contract/fake_plane.hpp"
#include "upf/control/up_function.hpp"
#include "upf/n4/message.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"

/// A UP function on the fake plane, and peers that speak to it in encoded messages.
namespace upf::control::test {

using std::chrono::seconds;

inline const Ipv4 kUpf{{10, 0, 0, 100}};
inline const Ipv4 kN3{{10, 1, 0, 100}};
inline const SocketAddress kSmf{Ipv4{{10, 0, 0, 1}}, 8805};
inline const SocketAddress kOtherSmf{Ipv4{{10, 0, 0, 2}}, 8805};
inline const pfcp::NodeId kSmfNode{Ipv4{{10, 0, 0, 1}}};
inline const pfcp::NodeId kOtherNode{Ipv4{{10, 0, 0, 2}}};
inline const Seid kCpSeid{0x1111};

inline Settings settings() {
  Settings result;
  result.node_id = "10.0.0.100";
  result.recovery_time_stamp = WallTime{seconds{1'700'000'000}};
  result.n4_ipv4 = kUpf;
  result.sessions.gtpu = {{.ipv4 = kN3}};
  result.heartbeat_interval = seconds{0};
  result.random = [state = std::uint64_t{1}]() mutable {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state ^ (state >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  };
  return result;
}

/// One UL and one DL PDR as free5GC's SMF writes them: TEID chosen by the SMF, a FAR for each, a
/// volume URR and a QER that both share. The DL FAR has no tunnel yet.
inline pfcp::SessionEstablishmentRequest establishment(std::uint32_t teid = 0x100,
                                                       Ipv4 ue = {{10, 60, 0, 1}}) {
  pfcp::SessionEstablishmentRequest request{.node_id = kSmfNode};
  request.cp_f_seid = {.seid = kCpSeid, .ipv4 = std::get<Ipv4>(kSmf.ip)};
  pfcp::CreatePdr uplink{.pdr_id = {1}, .precedence = 255};
  uplink.pdi.source_interface = pfcp::SourceInterface::Access;
  uplink.pdi.local_f_teid = pfcp::FTeid{.teid = {teid}, .ipv4 = kN3};
  uplink.pdi.network_instance = pfcp::DomainName{.text = "internet", .as_labels = false};
  uplink.pdi.ue_ip_addresses = {{.ipv4 = ue}};
  uplink.outer_header_removal = pfcp::OuterHeaderRemoval{};
  uplink.far_id = FarId{1};
  uplink.urr_ids = {UrrId{1}};
  uplink.qer_ids = {QerId{1}};
  pfcp::CreatePdr downlink = uplink;
  downlink.pdr_id = {2};
  downlink.pdi.source_interface = pfcp::SourceInterface::Core;
  downlink.pdi.local_f_teid.reset();
  downlink.pdi.ue_ip_addresses = {{.ipv4 = ue, .is_destination = true}};
  downlink.outer_header_removal.reset();
  downlink.far_id = FarId{2};
  request.create_pdrs = {uplink, downlink};

  pfcp::CreateFar up{.far_id = {1}, .apply_action = {.forw = true}};
  up.forwarding_parameters = pfcp::ForwardingParameters{};
  up.forwarding_parameters->destination_interface = pfcp::DestinationInterface::Core;
  pfcp::CreateFar down = up;
  down.far_id = {2};
  down.forwarding_parameters->destination_interface = pfcp::DestinationInterface::Access;
  request.create_fars = {up, down};

  pfcp::CreateUrr urr;
  urr.urr_id = {1};
  urr.measurement_method = {.volum = true};
  request.create_urrs = {urr};
  pfcp::CreateQer qer{.qer_id = {1}};
  qer.qfi = 1;
  request.create_qers = {qer};
  request.pdn_type = pfcp::PdnType::Ipv4;
  return request;
}

/// The DL FAR gets the gNB's tunnel, as at the end of a PDU session's activation.
inline pfcp::SessionModificationRequest activation(std::uint32_t teid = 0x2000,
                                                   Ipv4 gnb = {{10, 1, 0, 1}}) {
  pfcp::UpdateFar far{.far_id = {2}, .apply_action = pfcp::ApplyAction{.forw = true}};
  far.update_forwarding_parameters = pfcp::UpdateForwardingParameters{};
  far.update_forwarding_parameters->destination_interface = pfcp::DestinationInterface::Access;
  far.update_forwarding_parameters->outer_header_creation =
      pfcp::OuterHeaderCreation{.gtpu_udp_ipv4 = true, .teid = {teid}, .ipv4 = gnb};
  pfcp::SessionModificationRequest request;
  request.update_fars = {far};
  return request;
}

/// AN release: downlink packets are buffered and the SMF is told.
inline pfcp::SessionModificationRequest idle() {
  pfcp::SessionModificationRequest request;
  request.update_fars = {
      {.far_id = {2}, .apply_action = pfcp::ApplyAction{.buff = true, .nocp = true}}};
  return request;
}

class UpFunctionTest : public testing::Test {
 protected:
  UpFunctionTest() { restart(settings()); }

  void restart(Settings with) {
    up.emplace(std::move(with), plane);
    (void)up->start(now);
  }

  Output datagram(const wire::Octets& octets, const SocketAddress& from = kSmf) {
    return up->on_datagram(now, from, octets);
  }
  template <pfcp::Message M>
  Output send(const M& message, std::optional<Seid> seid = {}, const SocketAddress& from = kSmf) {
    return datagram(pfcp::encode(message, {.seid = seid, .sequence = next_sequence++}), from);
  }
  /// The message a datagram holds.
  template <pfcp::Message M>
  static M decoded(const n4::Datagram& sent) {
    const auto frame = pfcp::decode_header(sent.octets);
    EXPECT_TRUE(frame.has_value());
    const auto message = pfcp::decode<M>(frame->body);
    EXPECT_TRUE(message.has_value()) << pfcp::describe(sent.octets);
    return message ? *message : M{};
  }
  /// The one answer of an output.
  template <pfcp::Message M>
  static M answer(const Output& output) {
    EXPECT_EQ(output.send.size(), 1U);
    return output.send.empty() ? M{} : decoded<M>(output.send[0]);
  }
  static Seid header_seid(const Output& output) {
    return pfcp::decode_header(output.send.at(0).octets)->header.seid.value_or(Seid{~0ULL});
  }
  template <pfcp::Message M>
  static bool is(const n4::Datagram& sent, pfcp::MessageType type) {
    return pfcp::decode_header(sent.octets)->header.type == type;
  }

  pfcp::AssociationSetupResponse associate(const SocketAddress& from = kSmf,
                                           const pfcp::NodeId& node = kSmfNode,
                                           std::uint32_t recovery = 1000) {
    return answer<pfcp::AssociationSetupResponse>(
        send(pfcp::AssociationSetupRequest{.node_id = node, .recovery_time_stamp = {recovery}}, {},
             from));
  }
  /// Our SEID of a session that was established.
  Seid establish(const pfcp::SessionEstablishmentRequest& request = establishment()) {
    const auto response = answer<pfcp::SessionEstablishmentResponse>(send(request, Seid{}));
    EXPECT_EQ(response.cause, pfcp::Cause::RequestAccepted) << pfcp::to_string(response);
    return response.up_f_seid ? response.up_f_seid->seid : Seid{};
  }
  pfcp::Cause modify(Seid seid, const pfcp::SessionModificationRequest& request) {
    return answer<pfcp::SessionModificationResponse>(send(request, seid)).cause;
  }
  /// Takes what the plane has to say to the UP function.
  Output events() { return up->on_plane_events(now, plane.take_events()); }
  Output at(seconds since_start) {
    now.steady = TimePoint{since_start};
    return up->on_timer(now);
  }
  /// The peer's answer to a request of ours.
  template <pfcp::Message M>
  Output reply(const n4::Datagram& ours, const M& message, std::optional<Seid> seid = {}) {
    const auto frame = pfcp::decode_header(ours.octets);
    return datagram(pfcp::encode(message, {.seid = seid, .sequence = frame->header.sequence}),
                    ours.to);
  }

  contract::FakePlane plane;
  Now now{.steady = TimePoint{}, .wall = WallTime{seconds{1'700'000'100}}};
  std::optional<UpFunction> up;
  std::uint32_t next_sequence{100};
};

}  // namespace upf::control::test

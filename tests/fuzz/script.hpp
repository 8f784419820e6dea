#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/dataplane/data_plane.hpp"
#include "upf/n4/message.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::fuzz {

/// Octets read as choices. Small ranges everywhere, so that rules, sessions and nodes meet each
/// other; past the end every choice is 0.
class Script {
 public:
  explicit Script(wire::Bytes octets) : in_(octets) {}

  [[nodiscard]] bool empty() const { return in_.empty(); }
  std::uint8_t octet() { return in_.empty() ? std::uint8_t{0} : in_.be<std::uint8_t>(); }
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(octet() % limit); }
  bool flag() { return (octet() & 1U) != 0; }

  dataplane::Failure failure() {
    dataplane::Failure failure{.kind = static_cast<dataplane::Failure::Kind>(below(4)),
                               .detail = "as the script says"};
    if (flag()) failure.rule = FarId{below(4)};
    return failure;
  }

  pfcp::SessionEstablishmentRequest establishment(const pfcp::NodeId& node) {
    pfcp::SessionEstablishmentRequest request{.node_id = node};
    request.cp_f_seid = {.seid = {0x1000ULL + octet()}, .ipv4 = cp_address()};
    for (unsigned n = 1 + below(3); n > 0; --n) request.create_pdrs.push_back(create_pdr());
    for (unsigned n = 1 + below(3); n > 0; --n) request.create_fars.push_back(create_far());
    for (unsigned n = below(3); n > 0; --n) request.create_urrs.push_back(create_urr());
    for (unsigned n = below(3); n > 0; --n) request.create_qers.push_back(create_qer());
    if (below(4) == 0) request.create_bars = {{.bar_id = bar_id()}};
    if (below(4) == 0) request.create_traffic_endpoints = {create_endpoint()};
    if (below(4) == 0) request.pfcpsereq_flags = {.resti = true};
    if (below(8) == 0) request.user_plane_inactivity_timer = pfcp::Seconds{below(20)};
    if (below(8) == 0) request.fq_csids = {fq_csid()};
    return request;
  }

  pfcp::SessionModificationRequest modification() {
    pfcp::SessionModificationRequest request;
    for (unsigned n = 1 + below(3); n > 0; --n) add_change(request);
    return request;
  }

  pfcp::SessionReportResponse report_response() {
    pfcp::SessionReportResponse response{.cause = pfcp::Cause::RequestAccepted};
    const pfcp::Cause causes[] = {
        pfcp::Cause::RequestAccepted, pfcp::Cause::RequestAccepted, pfcp::Cause::RequestRejected,
        pfcp::Cause::NoEstablishedPfcpAssociation, pfcp::Cause::SessionContextNotFound};
    response.cause = causes[below(5)];
    if (below(4) == 0) {
      response.update_bar = pfcp::UpdateBar{.bar_id = bar_id()};
      response.update_bar->downlink_data_notification_delay = octet();
    }
    if (below(4) == 0) response.pfcpsrrsp_flags = {.drobu = true};
    return response;
  }

  pfcp::PfdManagementRequest pfds() {
    pfcp::PfdManagementRequest request;
    for (unsigned n = below(3); n > 0; --n) {
      pfcp::ApplicationIdsPfds application{.application_id = application_id()};
      if (flag()) {
        application.pfd_contexts = {{.pfd_contents = {{.flow_description = flow()}}}};
      }
      request.application_ids_pfds.push_back(application);
    }
    return request;
  }

  pfcp::SessionSetDeletionRequest set_deletion(const pfcp::NodeId& node) {
    return {.node_id = node, .fq_csids = {fq_csid()}};
  }

  pfcp::SessionSetModificationRequest set_modification(const pfcp::NodeId& node) {
    pfcp::PfcpSessionChangeInfo change;
    change.alternative_smf_ip_address.ipv4 = cp_address();
    if (flag()) change.cp_ip_addresses = {{.ipv4 = cp_address()}};
    if (flag()) change.fq_csids = {fq_csid()};
    return {.node_id = node, .pfcp_session_change_infos = {change}};
  }

  /// One change to octets behind the sequence number's place, to the size, or now and then to what
  /// the header begins with.
  void mutate(wire::Octets& octets) {
    if (octets.size() < 17) return octets.push_back(octet());
    if (below(16) == 0) {
      octets[below(2)] = octet();
      return;
    }
    const std::size_t at = 8 + (octet() * 256U + octet()) % (octets.size() - 8);
    switch (below(4)) {
      case 0:
        octets[at] = octet();
        break;
      case 1:
        octets[at] = static_cast<std::uint8_t>(octets[at] ^ (1U << below(8)));
        break;
      case 2:
        octets.erase(octets.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        octets.insert(octets.begin() + static_cast<std::ptrdiff_t>(at), octet());
    }
  }

  /// Length and sequence number as they should be.
  static void mend(wire::Octets& octets, std::uint32_t sequence) {
    const std::size_t header = !octets.empty() && (octets[0] & 1U) != 0 ? 16 : 8;
    if (octets.size() < header) return;
    octets[2] = static_cast<std::uint8_t>((octets.size() - 4) >> 8U);
    octets[3] = static_cast<std::uint8_t>(octets.size() - 4);
    n4::write_sequence(octets, sequence);
  }

 private:
  PdrId pdr_id() { return {static_cast<std::uint16_t>(1 + below(4))}; }
  FarId far_id() { return {1 + below(3)}; }
  UrrId urr_id() { return {1 + below(3)}; }
  QerId qer_id() { return {1 + below(3)}; }
  BarId bar_id() { return {static_cast<std::uint8_t>(1 + below(2))}; }
  Ipv4 ue_address() { return {{10, 60, 0, static_cast<std::uint8_t>(1 + below(4))}}; }
  Ipv4 cp_address() { return {{10, 0, 0, static_cast<std::uint8_t>(1 + below(4))}}; }
  std::string application_id() { return below(2) == 0 ? "web" : "video"; }
  std::string flow() {
    const char* const flows[] = {"permit out ip from any to assigned",
                                 "permit out udp from 10.9.0.0/16 53 to assigned",
                                 "permit out 6 from any 80,443 to any", "permit in nonsense", ""};
    return flows[below(5)];
  }
  pfcp::FqCsid fq_csid() {
    return {.node_address = Ipv4{{10, 0, 0, 1}},
            .csids = {static_cast<std::uint16_t>(1 + below(3))}};
  }

  pfcp::FTeid f_teid() {
    pfcp::FTeid result{.ipv4 = Ipv4{{10, 1, 0, 100}}};
    if (flag()) {
      result.choose = true;
      if (flag()) result.choose_id = static_cast<std::uint8_t>(below(2));
      return result;
    }
    result.teid = {0x100 + below(6)};
    return result;
  }

  pfcp::UeIpAddress ue_ip(bool downlink) {
    pfcp::UeIpAddress result{.ipv4 = ue_address(), .is_destination = downlink};
    switch (below(16)) {
      case 0:
        return {.is_destination = downlink, .choose_ipv4 = true};
      case 1:
        return {.is_destination = downlink, .choose_ipv6 = true};
      case 2:
        result = {.is_destination = downlink, .choose_ipv4 = true, .choose_ipv6 = true};
        result.ipv6_prefix_length = static_cast<std::uint8_t>(61 + below(5));
        return result;
      case 3:
        result = {.is_destination = downlink, .choose_ipv6 = true};
        result.ipv6_prefix_delegation_bits = static_cast<std::uint8_t>(below(4));
        return result;
      default:
        return result;
    }
  }

  pfcp::Pdi pdi() {
    pfcp::Pdi result;
    const bool downlink = flag();
    result.source_interface =
        downlink ? pfcp::SourceInterface::Core : pfcp::SourceInterface::Access;
    if (below(32) == 0) result.source_interface = pfcp::SourceInterface::CpFunction;
    if (!downlink || below(8) == 0) {
      if (below(8) == 0) {
        result.traffic_endpoint_ids = {static_cast<std::uint8_t>(below(2))};
      } else {
        result.local_f_teid = f_teid();
      }
    }
    if (downlink || flag()) result.ue_ip_addresses = {ue_ip(downlink)};
    if (below(4) == 0) result.sdf_filters = {{.flow_description = flow()}};
    if (below(8) == 0) result.application_id = application_id();
    if (below(8) == 0) result.qfis = {static_cast<std::uint8_t>(below(64))};
    return result;
  }

  pfcp::CreatePdr create_pdr() {
    pfcp::CreatePdr pdr{.pdr_id = pdr_id(), .precedence = below(4), .pdi = pdi()};
    if (flag()) pdr.outer_header_removal = pfcp::OuterHeaderRemoval{};
    if (below(32) != 0) pdr.far_id = far_id();
    if (flag()) pdr.urr_ids = {urr_id()};
    if (flag()) pdr.qer_ids = {qer_id()};
    return pdr;
  }

  pfcp::ApplyAction action() {
    switch (below(6)) {
      case 0:
        return {.drop = true};
      case 1:
        return {.buff = true, .nocp = flag()};
      case 2:
        return {.drop = flag(), .forw = flag()};  // not always what may be
      default:
        return {.forw = true};
    }
  }

  pfcp::OuterHeaderCreation outer_header() {
    return {.gtpu_udp_ipv4 = true,
            .teid = {0x2000U + below(4)},
            .ipv4 = {{10, 1, 0, static_cast<std::uint8_t>(1 + below(2))}}};
  }

  pfcp::CreateFar create_far() {
    pfcp::CreateFar far{.far_id = far_id(), .apply_action = action()};
    if (below(4) != 0) {
      far.forwarding_parameters.emplace();
      far.forwarding_parameters->destination_interface =
          flag() ? pfcp::DestinationInterface::Core : pfcp::DestinationInterface::Access;
      if (flag()) far.forwarding_parameters->outer_header_creation = outer_header();
    }
    if (below(8) == 0) far.bar_id = bar_id();
    return far;
  }

  void fill(pfcp::UrrParameters& urr) {
    if (flag()) urr.volume_threshold = pfcp::Volumes{.total = 100U + octet() * 10U};
    if (flag()) urr.volume_quota = pfcp::Volumes{.total = 100U + octet() * 10U};
    if (below(4) == 0) urr.time_threshold = pfcp::Seconds{below(20)};
    if (below(4) == 0) urr.measurement_period = pfcp::Seconds{below(20)};
    if (below(8) == 0) urr.far_id_for_quota_action = far_id();
    if (below(8) == 0) urr.linked_urr_ids = {urr_id()};
  }

  pfcp::ReportingTriggers triggers() {
    const std::uint8_t bits = octet();
    return {.perio = (bits & 1U) != 0,
            .volth = (bits & 2U) != 0,
            .timth = (bits & 4U) != 0,
            .start = (bits & 8U) != 0,
            .liusa = (bits & 16U) != 0,
            .volqu = (bits & 32U) != 0};
  }

  pfcp::CreateUrr create_urr() {
    pfcp::CreateUrr urr;
    fill(urr);
    urr.urr_id = urr_id();
    urr.measurement_method = {.durat = flag(), .volum = true};
    urr.reporting_triggers = triggers();
    return urr;
  }

  pfcp::CreateQer create_qer() {
    pfcp::CreateQer qer;
    qer.qer_id = qer_id();
    if (flag()) qer.qfi = static_cast<std::uint8_t>(below(64));
    return qer;
  }

  pfcp::CreateTrafficEndpoint create_endpoint() {
    pfcp::CreateTrafficEndpoint endpoint{.traffic_endpoint_id =
                                             static_cast<std::uint8_t>(below(2))};
    if (flag()) endpoint.local_f_teid = f_teid();
    if (flag()) endpoint.ue_ip_addresses = {ue_ip(flag())};
    return endpoint;
  }

  void add_change(pfcp::SessionModificationRequest& request) {
    switch (below(18)) {
      case 0:
        return request.create_pdrs.push_back(create_pdr());
      case 1:
        return request.create_fars.push_back(create_far());
      case 2:
        return request.create_urrs.push_back(create_urr());
      case 3:
        return request.create_qers.push_back(create_qer());
      case 4:
        return request.remove_pdrs.push_back({pdr_id()});
      case 5:
        return request.remove_fars.push_back({far_id()});
      case 6:
        return request.remove_urrs.push_back({urr_id()});
      case 7:
        return request.remove_qers.push_back({qer_id()});
      case 8:
        return request.query_urrs.push_back({urr_id()});
      case 9:
        request.pfcpsmreq_flags = {.drobu = flag(), .sndem = flag(), .qaurr = flag()};
        return;
      case 10:
        request.cp_f_seid = pfcp::FSeid{.seid = {0x1000ULL + octet()}, .ipv4 = cp_address()};
        return;
      case 11:
        return request.create_traffic_endpoints.push_back(create_endpoint());
      case 12:
        return request.remove_traffic_endpoints.push_back({static_cast<std::uint8_t>(below(2))});
      default:
        return add_update(request);
    }
  }

  void add_update(pfcp::SessionModificationRequest& request) {
    switch (below(4)) {
      case 0: {
        pfcp::UpdatePdr pdr{.pdr_id = pdr_id()};
        if (flag()) pdr.pdi = pdi();
        if (flag()) pdr.far_id = far_id();
        if (flag()) pdr.urr_ids = {urr_id()};
        if (flag()) pdr.qer_ids = {qer_id()};
        return request.update_pdrs.push_back(pdr);
      }
      case 1: {
        pfcp::UpdateUrr urr;
        fill(urr);
        urr.urr_id = urr_id();
        if (flag()) urr.reporting_triggers = triggers();
        return request.update_urrs.push_back(urr);
      }
      default: {
        pfcp::UpdateFar far{.far_id = far_id()};
        if (below(4) != 0) far.apply_action = action();
        if (flag()) {
          far.update_forwarding_parameters.emplace();
          far.update_forwarding_parameters->destination_interface =
              pfcp::DestinationInterface::Access;
          if (flag()) far.update_forwarding_parameters->outer_header_creation = outer_header();
        }
        return request.update_fars.push_back(far);
      }
    }
  }

  wire::Reader in_;
};

}  // namespace upf::fuzz

// Associations that we begin (TS 29.244 6.2.6.3): one attempt after the other with each configured
// SMF, for as long as nothing is associated from its address.
#include <algorithm>

#include "src/control/nodes.hpp"

namespace upf::control {

using Level = LogRecord::Level;

void Nodes::start() { try_contacts(); }

void Nodes::try_contacts() {
  for (Contact& contact : contacts_) {
    if (contact.under_way || contact.next > core_.now.steady) continue;
    if (core_.associations.is_known(contact.peer.address.ip)) {
      contact.next = core_.now.steady + core_.settings.peer_retry;
      continue;
    }
    pfcp::AssociationSetupRequest setup{.node_id = core_.node,
                                        .recovery_time_stamp = core_.recovery,
                                        .up_function_features = features()};
    setup.user_plane_ip_resource_information = ip_resources();
    contact.under_way = core_.request(contact.peer.address, setup);
    contact.next = core_.now.steady + core_.settings.peer_retry;
  }
}

std::optional<TimePoint> Nodes::wake_at() const {
  std::optional<TimePoint> first;
  for (const Contact& contact : contacts_) {
    if (contact.under_way) continue;
    if (!first || contact.next < *first) first = contact.next;
  }
  return first;
}

bool Nodes::on_response(const n4::Response& response) {
  if (core_.associations.heartbeat_over(response.request)) {
    const auto decoded = pfcp::decode<pfcp::HeartbeatResponse>(response.body);
    if (decoded) on_recovery(response.from.ip, decoded->recovery_time_stamp);
    return true;
  }
  for (Contact& contact : contacts_) {
    if (contact.under_way != response.request) continue;
    contact.under_way.reset();
    on_contact_response(contact, response);
    return true;
  }
  return false;
}

void Nodes::on_contact_response(Contact& contact, const n4::Response& response) {
  constexpr const char* kProcedure = "association-setup";
  const std::string peer = contact.peer.name;
  contact.next = core_.now.steady + core_.settings.peer_retry;
  const auto decoded = pfcp::decode<pfcp::AssociationSetupResponse>(response.body);
  if (!decoded) {
    return log(Level::Warning, kProcedure, "answer not understood: " + to_string(decoded.error()),
               peer);
  }
  if (!pfcp::is_acceptance(decoded->cause)) {
    return log(Level::Warning, kProcedure, "refused by the peer: " + to_string(decoded->cause),
               peer);
  }
  const bool known = core_.associations.find(decoded->node_id) != nullptr;
  n4::Association* const association = core_.associations.set_up(
      core_.now, decoded->node_id, response.from, decoded->recovery_time_stamp);
  if (association == nullptr) return log(Level::Warning, kProcedure, "too many associations", peer);
  if (known) (void)begin_anew(owner_of(decoded->node_id), std::nullopt);
  set_up(*association, decoded->cp_function_features, decoded->smf_set_id);
  contact.node = decoded->node_id;
  log(Level::Info, kProcedure, "association set up by us, node " + pfcp::to_text(decoded->node_id),
      peer);
}

bool Nodes::on_expired(const n4::Expired& expired) {
  if (const auto node = core_.associations.heartbeat_over(expired.request)) {
    if (core_.associations.lost(*node)) {
      log(Level::Warning, "heartbeat", "peer does not answer", pfcp::to_text(*node));
    }
    return true;
  }
  for (Contact& contact : contacts_) {
    if (contact.under_way != expired.request) continue;
    contact.under_way.reset();
    contact.next = core_.now.steady + core_.settings.peer_retry;
    log(Level::Warning, "association-setup", "peer does not answer, trying again later",
        contact.peer.name);
    return true;
  }
  return false;
}

void Nodes::set_peers(const std::vector<Peer>& peers) {
  std::vector<Contact> next;
  for (const Peer& peer : peers) {
    const auto known = std::ranges::find_if(
        contacts_, [&](const Contact& one) { return one.peer.address == peer.address; });
    next.push_back(known != contacts_.end() ? *known : Contact{.peer = peer});
  }
  contacts_ = std::move(next);
  try_contacts();
}

}  // namespace upf::control

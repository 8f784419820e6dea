// Node procedures. The peer's Node ID names its association, and every session belongs to one; what
// a node message does to an association it does to all of the association's sessions.
#include "src/control/nodes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/control/answers.hpp"
#include "src/control/features.hpp"

namespace upf::control {
namespace {

using Level = LogRecord::Level;

bool contains(const std::vector<pfcp::DualAddress>& addresses, const pfcp::FSeid& cp) {
  return std::ranges::any_of(addresses, [&](const pfcp::DualAddress& one) {
    return (one.ipv4 && one.ipv4 == cp.ipv4) || (one.ipv6 && one.ipv6 == cp.ipv6);
  });
}

pfcp::RemoteGtpuPeer gtpu_peer(const IpAddress& address) {
  if (const auto* v4 = std::get_if<Ipv4>(&address)) return {.ipv4 = *v4};
  return {.ipv6 = std::get<Ipv6>(address)};
}

}  // namespace

Nodes::Nodes(Core& core, Sessions& sessions) : core_(core), sessions_(sessions) {
  core_.sessions.applications = [this](const std::string& id) { return pfds_.find(id); };
  for (const Peer& peer : core_.settings.peers) contacts_.push_back({.peer = peer});
}

// 6.2.2: from anyone, at any time, and before anything else. What can't be read of it does not
// matter: the sender wants to know whether we live.
void Nodes::on_heartbeat(const n4::Request& request) {
  core_.answer(request, pfcp::HeartbeatResponse{.recovery_time_stamp = core_.recovery});
  if (request.invalid_length) return;
  const auto decoded = pfcp::decode<pfcp::HeartbeatRequest>(request.body);
  if (decoded) on_recovery(request.key.peer.ip, decoded->recovery_time_stamp);
}

// TS 23.527 4.2, 4.3: a peer that has begun a new life knows nothing of its sessions. With several
// nodes behind one address the time stamp can't be attributed.
void Nodes::on_recovery(const IpAddress& source, pfcp::NtpTime recovery) {
  const auto nodes = core_.associations.at(source);
  if (nodes.size() != 1) return;
  n4::Association& association = *nodes.front();
  if (association.peer.ip != source) return;
  // Modulo 2^32: later, but not by more than half of all that there is.
  const std::uint32_t later = recovery.seconds - association.recovery.seconds;
  if (later == 0 || later >= 0x80000000U) return;
  association.recovery = recovery;
  const std::size_t ended = sessions_.end_all_of(owner_of(association.node));
  log(Level::Warning, "heartbeat",
      "peer has restarted, its " + std::to_string(ended) + " sessions are ended",
      pfcp::to_text(association.node));
}

void Nodes::on_setup(const n4::Request& request) {
  constexpr const char* kProcedure = "association-setup";
  pfcp::AssociationSetupResponse response{.node_id = core_.node,
                                          .recovery_time_stamp = core_.recovery};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::AssociationSetupRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);

  const bool known = core_.associations.find(decoded->node_id) != nullptr;
  if (known) core_.endpoint.forget_answers(request.key.peer.ip);
  n4::Association* const association = core_.associations.set_up(
      core_.now, decoded->node_id, request.key.peer, decoded->recovery_time_stamp);
  if (association == nullptr) {
    return refuse(core_, request, response,
                  {.cause = pfcp::Cause::NoResourcesAvailable,
                   .text = "as many associations as pfcp.limits.associations allows"},
                  kProcedure);
  }
  // 6.2.6.2.2: whatever the time stamp, the new association replaces the old one; of its sessions
  // those stay that the request wants to keep.
  Retained retained;
  if (known) {
    retained = begin_anew(owner_of(decoded->node_id), decoded->pfcp_session_retention_information);
  }
  set_up(*association, decoded->cp_function_features, decoded->smf_set_id);
  add_addresses(*association, decoded->alternative_smf_ip_addresses);
  std::string text =
      known ? "association set up anew, sessions kept=" + std::to_string(retained.kept) +
                  " ended=" + std::to_string(retained.ended)
            : "association set up";
  log(retained.ended > 0 ? Level::Warning : Level::Info, kProcedure,
      text + ", node " + pfcp::to_text(decoded->node_id), to_string(request.key.peer));
  if (retained.kept > 0) response.pfcpasrsp_flags = {.psrei = true};
  accept_setup(request, std::move(response));
}

void Nodes::accept_setup(const n4::Request& request, pfcp::AssociationSetupResponse response) {
  response.cause = pfcp::Cause::RequestAccepted;
  response.up_function_features = features();
  response.user_plane_ip_resource_information = ip_resources();
  core_.answer(request, response);
  // Version 1.0 of free5GC's PFCP library takes exactly two octets of features, drops an answer
  // with more, and its SMF asks again. Whoever asks again gets what everyone can read.
  response.up_function_features = first_two_octets(*response.up_function_features);
  (void)core_.endpoint.answer(request.key,
                              pfcp::encode(response, {.sequence = request.key.sequence}));
}

Nodes::Retained Nodes::begin_anew(
    const std::string& owner, const std::optional<pfcp::PfcpSessionRetentionInformation>& kept) {
  if (!kept) return {.ended = sessions_.end_all_of(owner)};
  Retained retained;
  for (const Seid seid : core_.store.of_owner(owner)) {
    const auto& addresses = kept->cp_pfcp_entity_ip_addresses;
    // Table 7.4.4.1-2: without addresses all of them are meant.
    if (addresses.empty() || contains(addresses, core_.store.head(seid)->cp)) {
      ++retained.kept;
    } else {
      sessions_.end_silently(seid);
      ++retained.ended;
    }
  }
  core_.reports.retry(owner);
  return retained;
}

void Nodes::set_up(n4::Association& association,
                   const std::optional<pfcp::CpFunctionFeatures>& cp_features,
                   const std::optional<pfcp::SmfSetId>& smf_set) {
  association.features = cp_features.value_or(pfcp::CpFunctionFeatures{});
  association.smf_set = smf_set ? smf_set->fqdn : std::string{};
  core_.endpoint.set_known(association.peer.ip, true);
}

// 5.22.2: with one association for a whole set, its SMFs speak from these.
void Nodes::add_addresses(n4::Association& association,
                          const std::vector<pfcp::AlternativeSmfIpAddress>& addresses) {
  for (const pfcp::AlternativeSmfIpAddress& one : addresses) {
    if (one.ipv4) core_.associations.add_address(association, *one.ipv4);
    if (one.ipv6) core_.associations.add_address(association, *one.ipv6);
  }
}

void Nodes::on_update(const n4::Request& request) {
  constexpr const char* kProcedure = "association-update";
  pfcp::AssociationUpdateResponse response{.node_id = core_.node};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::AssociationUpdateRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);
  n4::Association* const association = core_.associations.find(decoded->node_id);
  if (association == nullptr) {
    return refuse(core_, request, response, {.cause = pfcp::Cause::NoEstablishedPfcpAssociation},
                  kProcedure);
  }
  if (decoded->cp_function_features) association->features = *decoded->cp_function_features;
  if (decoded->smf_set_id) association->smf_set = decoded->smf_set_id->fqdn;
  add_addresses(*association, decoded->alternative_smf_ip_addresses);
  // 5.18: the CP function is about to release the association.
  if (decoded->pfcpaureq_flags && decoded->pfcpaureq_flags->parps) association->releasing = true;
  response.cause = pfcp::Cause::RequestAccepted;
  response.up_function_features = features();
  log(Level::Info, kProcedure, "association updated", pfcp::to_text(decoded->node_id));
  core_.answer(request, response);
}

void Nodes::on_release(const n4::Request& request) {
  constexpr const char* kProcedure = "association-release";
  pfcp::AssociationReleaseResponse response{.node_id = core_.node};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::AssociationReleaseRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);
  if (core_.associations.find(decoded->node_id) == nullptr) {
    return refuse(core_, request, response, {.cause = pfcp::Cause::NoEstablishedPfcpAssociation},
                  kProcedure);
  }
  end(decoded->node_id, "released by the peer");  // 6.2.8: with all its sessions
  response.cause = pfcp::Cause::RequestAccepted;
  core_.answer(request, response);
}

void Nodes::end(const pfcp::NodeId& node, const std::string& why) {
  const n4::Association* const association = core_.associations.find(node);
  if (association == nullptr) return;
  const std::set<IpAddress> addresses = association->addresses;
  // 5.22.3: what an SMF leaves behind goes on with another one of its set.
  if (const n4::Association* const heir = core_.associations.stand_in_for(*association)) {
    for (const Seid seid : core_.store.of_owner(owner_of(node))) {
      sessions_.orphan(seid, *heir);
    }
  }
  const std::size_t ended = sessions_.end_all_of(owner_of(node));
  core_.associations.remove(node);
  for (const IpAddress& address : addresses) {
    if (!core_.associations.is_known(address)) core_.endpoint.set_known(address, false);
  }
  for (Contact& contact : contacts_) {
    if (contact.node != node) continue;
    contact.node.reset();
    contact.next = core_.now.steady + core_.settings.peer_retry;
  }
  log(Level::Info, "association-release",
      "association ended, " + why + ", sessions ended=" + std::to_string(ended),
      pfcp::to_text(node));
}

void Nodes::on_pfd_management(const n4::Request& request) {
  constexpr const char* kProcedure = "pfd-management";
  pfcp::PfdManagementResponse response{.node_id = core_.node};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  if (!core_.associations.is_known(request.key.peer.ip)) {
    return refuse(core_, request, response, {.cause = pfcp::Cause::NoEstablishedPfcpAssociation},
                  kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::PfdManagementRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);
  const auto changed = pfds_.apply(*decoded);
  if (!changed) {
    const Pfds::Refusal& why = changed.error();
    return refuse(core_, request, response,
                  {.cause = why.cause, .offending_ie = why.offending_ie, .text = why.text},
                  kProcedure);
  }
  std::size_t refreshed = 0;
  for (const Seid seid : core_.store.all()) {
    const auto session = core_.store.find(seid);
    const bool uses = std::ranges::any_of(session->sources, [&](const auto& pdr) {
      const auto& application = pdr.second->pdi.application_id;
      return application && std::ranges::find(*changed, *application) != changed->end();
    });
    if (!uses) continue;
    sessions_.refresh(seid);
    ++refreshed;
  }
  response.cause = pfcp::Cause::RequestAccepted;
  log(Level::Info, kProcedure,
      "PFDs of " + std::to_string(changed->size()) +
          " applications changed, sessions refreshed=" + std::to_string(refreshed),
      to_string(request.key.peer));
  core_.answer(request, response);
}

// 6.2.9: the sessions of a set of which a node has lost everything (TS 23.007). Only the sender's
// own.
void Nodes::on_set_deletion(const n4::Request& request) {
  constexpr const char* kProcedure = "session-set-deletion";
  pfcp::SessionSetDeletionResponse response{.node_id = core_.node};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::SessionSetDeletionRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);
  if (core_.associations.find(decoded->node_id) == nullptr) {
    return refuse(core_, request, response, {.cause = pfcp::Cause::NoEstablishedPfcpAssociation},
                  kProcedure);
  }
  std::size_t ended = 0;
  for (const Seid seid : core_.store.of_owner(owner_of(decoded->node_id))) {
    if (!sessions_.sets().in_any(seid, decoded->fq_csids)) continue;
    sessions_.end_silently(seid);
    ++ended;
  }
  response.cause = pfcp::Cause::RequestAccepted;
  log(Level::Info, kProcedure, "sessions ended=" + std::to_string(ended),
      to_string(request.key.peer));
  core_.answer(request, response);
}

// 5.22.2, 6.2.10: sessions of one SMF of a set go on with another one, which reports go to from now
// on.
void Nodes::on_set_modification(const n4::Request& request) {
  constexpr const char* kProcedure = "session-set-modification";
  pfcp::SessionSetModificationResponse response{.node_id = core_.node};
  if (request.invalid_length) {
    return refuse(core_, request, response, invalid_length(), kProcedure);
  }
  const auto decoded = pfcp::decode<pfcp::SessionSetModificationRequest>(request.body);
  if (!decoded) return refuse(core_, request, response, refusal_of(decoded.error()), kProcedure);
  const n4::Association* const association = core_.associations.find(decoded->node_id);
  if (association == nullptr) {
    return refuse(core_, request, response, {.cause = pfcp::Cause::NoEstablishedPfcpAssociation},
                  kProcedure);
  }
  std::size_t moved = 0;
  for (const pfcp::PfcpSessionChangeInfo& change : decoded->pfcp_session_change_infos) {
    moved += move_set(*association, change);
  }
  response.cause = pfcp::Cause::RequestAccepted;
  log(Level::Info, kProcedure, "sessions moved=" + std::to_string(moved),
      to_string(request.key.peer));
  core_.answer(request, response);
}

// The sessions are those of the sender and of the other SMFs of its set.
std::size_t Nodes::move_set(const n4::Association& sender,
                            const pfcp::PfcpSessionChangeInfo& change) {
  const auto& to = change.alternative_smf_ip_address;
  std::vector<Seid> chosen;
  for (const auto& [node, association] : core_.associations.all()) {
    const bool same_set = !sender.smf_set.empty() && association.smf_set == sender.smf_set;
    if (node != sender.node && !same_set) continue;
    for (const Seid seid : core_.store.of_owner(owner_of(node))) {
      if (contains(change.cp_ip_addresses, core_.store.head(seid)->cp) ||
          sessions_.sets().in_any(seid, change.fq_csids) ||
          sessions_.sets().in_any(seid, change.group_ids)) {
        chosen.push_back(seid);
      }
    }
  }
  for (const Seid seid : chosen) {
    const pfcp::FSeid cp{.seid = core_.store.head(seid)->cp.seid, .ipv4 = to.ipv4, .ipv6 = to.ipv6};
    sessions_.move(seid, association_at(to, sender), cp);
  }
  return chosen.size();
}

// Who speaks from that address, of the sender's set; the sender, if nobody does.
const n4::Association& Nodes::association_at(const pfcp::AlternativeSmfIpAddress& address,
                                             const n4::Association& sender) {
  std::vector<n4::Association*> there;
  if (address.ipv4) there = core_.associations.at(*address.ipv4);
  if (there.empty() && address.ipv6) there = core_.associations.at(*address.ipv6);
  for (const n4::Association* one : there) {
    if (!sender.smf_set.empty() && one->smf_set == sender.smf_set) return *one;
  }
  return sender;
}

// A UP function sends these and does not get them; whoever asks is told.
void Nodes::on_node_report(const n4::Request& request) {
  pfcp::NodeReportResponse response{.node_id = core_.node};
  refuse(core_, request, response, {.cause = pfcp::Cause::ServiceNotSupported}, "node-report");
}

// 6.2.11: a path failed or recovered; who has sessions over it is told.
void Nodes::on_event(const dataplane::PathState& event) {
  std::set<std::string> owners;
  for (const Seid seid : core_.store.of_peer(event.peer)) {
    owners.insert(core_.store.head(seid)->owner);
  }
  pfcp::NodeReportRequest report{.node_id = core_.node};
  if (event.up) {
    report.node_report_type.uprr = true;
    report.user_plane_path_recovery_report = {.remote_gtpu_peers = {gtpu_peer(event.peer)}};
  } else {
    report.node_report_type.upfr = true;
    report.user_plane_path_failure_report = {.remote_gtpu_peers = {gtpu_peer(event.peer)}};
  }
  for (const std::string& owner : owners) {
    const auto node = node_of(owner);
    const n4::Association* const association = node ? core_.associations.find(*node) : nullptr;
    if (association == nullptr) continue;
    (void)core_.request({association->peer.ip, n4::kPort}, report);
  }
  log(event.up ? Level::Info : Level::Warning, "node-report",
      event.up ? "GTP-U path recovered" : "GTP-U path failed", to_string(event.peer));
}

void Nodes::heard(const IpAddress& source) {
  for (const pfcp::NodeId& node : core_.associations.heard(core_.now, source)) {
    core_.reports.retry(owner_of(node));
    log(Level::Info, "heartbeat", "peer is back", pfcp::to_text(node));
  }
}

void Nodes::on_timer() {
  send_heartbeats();
  for (const pfcp::NodeId& node : core_.associations.purge_due(core_.now)) {
    end(node, "peer silent for too long");
  }
  try_contacts();
}

void Nodes::send_heartbeats() {
  for (const pfcp::NodeId& node : core_.associations.heartbeats_due(core_.now)) {
    const n4::Association& association = *core_.associations.find(node);
    const auto request =
        core_.request({association.peer.ip, n4::kPort},
                      pfcp::HeartbeatRequest{.recovery_time_stamp = core_.recovery});
    if (request) core_.associations.heartbeat_sent(node, *request);
  }
}

// 6.2.7.3, 6.2.8: the UP function asks for the release of its associations, and gives time for it.
void Nodes::ask_for_release(std::optional<std::chrono::seconds> graceful) {
  for (const auto& [node, association] : core_.associations.all()) {
    pfcp::AssociationUpdateRequest update{.node_id = core_.node};
    update.pfcp_association_release_request = {.sarr = true};
    if (graceful) update.graceful_release_period = pfcp::UnitTimer::of(*graceful);
    (void)core_.request({association.peer.ip, n4::kPort}, update);
  }
}

void Nodes::set_draining(bool draining, bool end) {
  constexpr std::chrono::seconds kGrace{600};
  if (draining && end && !std::exchange(asked_for_release_, true)) ask_for_release(kGrace);
  if (!draining) asked_for_release_ = false;
  core_.draining = draining;
  core_.load.set_draining(draining);
  log(Level::Info, "drain", draining ? "no new sessions from now on" : "new sessions again", {});
}

void Nodes::drop(const pfcp::NodeId& node) { end(node, "dropped by the operator"); }

void Nodes::shutdown() {
  ask_for_release(std::nullopt);
  const std::size_t count = core_.store.size();
  // One by one a hundred thousand sessions are seconds on a busy host, for nothing if the plane
  // that they leave is about to go itself.
  if (!core_.plane.capabilities().ends_with_process) {
    for (const Seid seid : core_.store.all()) sessions_.end_silently(seid);
  }
  log(Level::Info, "shutdown", "sessions ended=" + std::to_string(count), {});
}

pfcp::UpFunctionFeatures Nodes::features() const {
  return features_of(core_.plane.capabilities(), core_.settings.sessions);
}

std::vector<pfcp::UserPlaneIpResourceInformation> Nodes::ip_resources() const {
  std::vector<pfcp::UserPlaneIpResourceInformation> resources;
  for (const session::GtpuAddress& local : core_.settings.sessions.gtpu) {
    pfcp::UserPlaneIpResourceInformation one{.ipv4 = local.ipv4, .ipv6 = local.ipv6};
    one.source_interface = local.n9 ? pfcp::SourceInterface::Core : pfcp::SourceInterface::Access;
    resources.push_back(std::move(one));
  }
  return resources;
}

void Nodes::log(LogRecord::Level level, std::string procedure, std::string text, std::string peer) {
  core_.log({.level = level,
             .text = std::move(text),
             .procedure = std::move(procedure),
             .peer = std::move(peer)});
}

}  // namespace upf::control

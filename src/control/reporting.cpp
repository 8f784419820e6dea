#include "src/control/reporting.hpp"

#include <algorithm>

#include "src/control/answers.hpp"
#include "src/control/load_information.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace upf::control {
namespace {

using Level = LogRecord::Level;
using Lane = ReportQueue::Lane;

// So many requests at once; the next ones leave when the loop comes round again.
constexpr std::size_t kBurst = 64;

pfcp::DownlinkDataReport downlink_report(const std::vector<dataplane::DownlinkData>& data) {
  pfcp::DownlinkDataReport report;
  for (const auto& one : data) {
    report.pdr_ids.push_back(one.pdr);
    // Only the QFI: Open5GS's SMF refuses a Paging Policy Indication.
    if (one.qfi) report.downlink_data_service_information.push_back({.qfi = one.qfi});
  }
  return report;
}

pfcp::ErrorIndicationReport error_report(const std::vector<dataplane::ErrorIndication>& errors) {
  pfcp::ErrorIndicationReport report;
  for (const auto& error : errors) {
    pfcp::FTeid remote{.teid = error.teid};
    if (const auto* v4 = std::get_if<Ipv4>(&error.peer)) {
      remote.ipv4 = *v4;
    } else {
      remote.ipv6 = std::get<Ipv6>(error.peer);
    }
    report.remote_f_teids.push_back(remote);
  }
  return report;
}

// 5.2.2.3, cases.md 31 and 32: to the CP F-SEID's address whatever address the requests come from,
// in the family that the association is of where there is a choice.
SocketAddress report_address(const pfcp::FSeid& cp, const n4::Association& association) {
  const bool by_ipv4 = std::holds_alternative<Ipv4>(association.peer.ip);
  if (cp.ipv4 && (by_ipv4 || !cp.ipv6)) return {*cp.ipv4, n4::kPort};
  if (cp.ipv6) return {*cp.ipv6, n4::kPort};
  return {association.peer.ip, n4::kPort};
}

// The first `usage_reports` of the content and all that is not usage.
pfcp::SessionReportRequest message_of(const ReportContent& content, std::size_t usage_reports,
                                      bool ended) {
  pfcp::SessionReportRequest message;
  message.report_type = {.dldr = !content.downlink.empty(),
                         .usar = usage_reports > 0,
                         .erir = !content.errors.empty(),
                         .upir = content.inactive};
  if (!content.downlink.empty()) message.downlink_data_report = downlink_report(content.downlink);
  if (!content.errors.empty()) message.error_indication_report = error_report(content.errors);
  for (std::size_t i = 0; i < usage_reports; ++i) {
    message.usage_reports.push_back(to_pfcp(content.usage[i]));
  }
  if (ended && usage_reports == content.usage.size()) message.pfcpsrreq_flags = {.psdbu = true};
  return message;
}

}  // namespace

void Reporting::on_event(const dataplane::DownlinkData& event) {
  const auto session = core_.store.find(event.seid);
  if (!session) return;  // ended while the event was on its way
  core_.reports.add_downlink(event.seid, {session->owner, session->cp}, event);
  core_.log_session(Level::Info, *session, "session-report",
                    "downlink data for an idle UE, PDR " + std::to_string(event.pdr.value));
}

void Reporting::on_event(const dataplane::LimitReached& event) {
  take(core_.usage.on_limit(event, core_.now, core_.reader));
}

void Reporting::on_event(const dataplane::TrafficStart& event) {
  take(core_.usage.on_start(event, core_.now, core_.reader));
}

// 5.10: the CP function of each session that sends into that tunnel learns of it.
void Reporting::on_event(const dataplane::ErrorIndication& event) {
  for (const auto& tunnel : core_.store.of_remote(event.teid, event.peer)) {
    const auto session = core_.store.find(tunnel.seid);
    if (!session) continue;
    core_.reports.add_error(tunnel.seid, {session->owner, session->cp}, event);
    core_.log_session(Level::Warning, *session, "session-report",
                      "GTP-U peer does not know tunnel " + std::to_string(event.teid.value),
                      to_string(event.peer));
  }
}

void Reporting::on_event(const dataplane::Overrun& /*event*/) {
  core_.log({.level = Level::Warning,
             .text = "data plane events were lost, all counters are read again",
             .procedure = "usage"});
  take(core_.usage.on_overrun(core_.now, core_.reader));
}

void Reporting::on_usage_timer() { take(core_.usage.on_timer(core_.now, core_.reader)); }

void Reporting::take(const usage::Outcome& outcome) {
  for (const usage::SessionReports& one : outcome.reports) {
    const auto head = core_.store.head(one.seid);
    if (head) core_.reports.add_usage(one.seid, {head->owner, head->cp}, one.reports);
  }
  for (const Seid seid : outcome.rearmed) sessions_.rearm(seid);
  for (const Seid seid : outcome.inactive) {
    const auto head = core_.store.head(seid);
    if (head) core_.reports.add_inactivity(seid, {head->owner, head->cp});
  }
}

void Reporting::flush() {
  for (const ReportQueue::Ready& ready : core_.reports.ready(core_.now, kBurst)) {
    if (!send(ready)) break;
  }
}

// To the session's own SMF; if that one does not answer, to another one of its set.
std::optional<Reporting::Route> Reporting::route(Seid seid, const ReportTarget& target) {
  const auto node = node_of(target.owner);
  n4::Association* const own = node ? core_.associations.find(*node) : nullptr;
  if (own == nullptr) return std::nullopt;
  if (own->reachable && !sessions_.is_orphan(seid)) {
    return Route{.association = own, .to = report_address(target.cp, *own)};
  }
  n4::Association* const other = own->reachable ? own : core_.associations.stand_in_for(*own);
  if (other == nullptr) return Route{.association = own};
  return Route{.association = other, .to = {other->peer.ip, n4::kPort}, .foreign = true};
}

// False: there is no room for another request now.
bool Reporting::send(const ReportQueue::Ready& ready) {
  const ReportTarget* const target = core_.reports.target(ready.seid);
  if (target == nullptr) return true;
  const auto route_to = route(ready.seid, *target);
  if (!route_to) {
    core_.reports.forget(ready.seid);
    return true;
  }
  if (!route_to->association->reachable) {
    core_.reports.defer(ready, core_.now);
    return true;
  }
  if (!core_.endpoint.can_request()) return false;

  const ReportContent content = core_.reports.content(ready);
  const std::size_t most = core_.settings.max_message_octets;
  // A usage report has at least so many octets; only a few come in one message as a rule.
  constexpr std::size_t kSmallestReport = 57;
  std::size_t count = std::min(content.usage.size(), most / kSmallestReport);
  wire::Octets octets;
  for (;; --count) {
    auto message = message_of(content, count, target->ended);
    if (route_to->foreign) message.old_cp_f_seid = target->cp;
    add_load(core_, message, route_to->association);
    octets = pfcp::encode(message, {.seid = route_to->foreign ? Seid{} : target->cp.seid});
    if (octets.size() <= most || count <= 1) break;
  }
  const auto request =
      core_.endpoint.request(core_.now, route_to->to, std::move(octets), core_.out.send);
  if (!request) return false;
  core_.reports.sent(ready, count, *request);
  return true;
}

bool Reporting::on_response(const n4::Response& response) {
  const auto decoded = pfcp::decode<pfcp::SessionReportResponse>(response.body);
  // 7.6.1: an answer that makes no sense ends the request all the same; the peer has got the
  // report.
  const pfcp::Cause cause = decoded ? decoded->cause : pfcp::Cause::RequestAccepted;
  const bool again = cause == pfcp::Cause::NoEstablishedPfcpAssociation ||
                     cause == pfcp::Cause::PfcpEntityInCongestion;
  const auto ready = again ? core_.reports.unanswered(response.request, core_.now)
                           : core_.reports.acknowledged(response.request);
  if (!ready) return false;
  if (!pfcp::is_acceptance(cause)) {
    on_refusal(*ready, cause);
    return true;
  }
  if (!decoded) return true;
  if (decoded->cp_f_seid) take_over(ready->seid, response.from.ip, *decoded->cp_f_seid);
  if (decoded->update_bar || (decoded->pfcpsrrsp_flags && decoded->pfcpsrrsp_flags->drobu)) {
    pfcp::SessionModificationRequest change;
    if (decoded->update_bar) change.update_bars.push_back(*decoded->update_bar);
    if (decoded->pfcpsrrsp_flags && decoded->pfcpsrrsp_flags->drobu) {
      change.pfcpsmreq_flags = {.drobu = true};
    }
    sessions_.modify(ready->seid, change);
  }
  return true;
}

// 5.22.3: the SMF that took the report of an SMF of its set says under which F-SEID it goes on.
void Reporting::take_over(Seid seid, const IpAddress& from, const pfcp::FSeid& cp) {
  const auto head = core_.store.head(seid);
  if (!head || head->cp == cp) return;
  for (const n4::Association* one : core_.associations.at(from)) {
    return sessions_.move(seid, *one, cp);
  }
}

void Reporting::on_refusal(const ReportQueue::Ready& ready, pfcp::Cause cause) {
  core_.log({.level = Level::Warning,
             .text = "Session Report refused: " + to_string(cause),
             .procedure = "session-report",
             .seid = ready.seid});
  // The CP function has no such session, so nobody will ever delete ours.
  if (cause == pfcp::Cause::SessionContextNotFound) sessions_.end_silently(ready.seid);
}

bool Reporting::on_expired(const n4::Expired& expired) {
  const auto ready = core_.reports.unanswered(expired.request, core_.now);
  if (!ready) return false;
  core_.log({.level = Level::Warning,
             .text = "Session Report not answered, kept",
             .procedure = "session-report",
             .seid = ready->seid,
             .peer = to_string(expired.peer)});
  return true;
}

}  // namespace upf::control

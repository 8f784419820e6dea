// The module trusts whoever has CAP_NET_ADMIN: it checks no widths and few references, and some
// requests take the host down. This is the one place that knows which; nothing gets past it.
#include "netlink/gtp5g/safety.hpp"

#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace upf::gtp5g {
namespace {

using netlink::Attributes;

constexpr std::size_t kHeaders = NLMSG_HDRLEN + 4;

std::vector<std::uint32_t> all_of(const Attributes& attributes, U32 attr) {
  std::vector<std::uint32_t> values;
  attributes.for_each([&](std::uint16_t id, wire::Bytes payload, bool) {
    if (id != attr.id || payload.size() != sizeof(std::uint32_t)) return;
    std::uint32_t value{};
    std::memcpy(&value, payload.data(), sizeof value);
    values.push_back(value);
  });
  return values;
}

std::size_t count_of(const Attributes& attributes, std::uint16_t wanted) {
  std::size_t count = 0;
  attributes.for_each([&](std::uint16_t id, wire::Bytes, bool) { count += id == wanted; });
  return count;
}

bool subset(const std::vector<std::uint32_t>& some, const std::set<std::uint32_t>& all) {
  return std::ranges::all_of(some, [&](std::uint32_t id) { return all.contains(id); });
}

}  // namespace

std::string_view describe(Hazard hazard) {
  switch (hazard) {
    case Hazard::PdrWithoutFar:
      return "ADD_PDR without FAR ID";
    case Hazard::PdrWithoutPdi:
      return "ADD_PDR without PDI";
    case Hazard::PdrUpdate:
      return "ADD_PDR as an update";
    case Hazard::PdrWithoutSide:
      return "ADD_PDR without SRC_INTF or ROLE_ADDR_IPV4";
    case Hazard::TunnelWithoutRemoval:
      return "ADD_PDR with an F-TEID and no OUTER_HEADER_REMOVAL";
    case Hazard::GenlVersion:
      return "a generic-netlink version other than 0";
    case Hazard::EndMarkerUnused:
      return "SNDEM for a FAR that no PDR uses";
    case Hazard::BarUpdate:
      return "ADD_BAR as an update";
    case Hazard::UpdateThatFails:
      return "an update that would fail";
    case Hazard::SocketPath:
      return "UNIX_SOCKET_PATH other than \"/\"";
    case Hazard::ReportCount:
      return "GET_MULTI_REPORTS with another number of entries";
    case Hazard::ReportOfNoUrr:
      return "GET_MULTI_REPORTS of a URR that isn't there";
    case Hazard::ThresholdWithQuota:
      return "a URR with both VOLTH and VOLQU";
    case Hazard::UrrWithoutTrigger:
      return "a URR without a trigger";
    case Hazard::DeletedWhileInUse:
      return "deletion of a FAR or QER that a PDR uses";
    case Hazard::DanglingReference:
      return "a PDR that names a rule that isn't there";
    case Hazard::SeveralFilters:
      return "a PDR with several SDF filters";
    case Hazard::UnknownCommand:
      return "a command that is not in use";
  }
  return "unknown";
}

struct KernelMirror::Parsed : Subject {
  std::uint8_t version{};
  Attributes attributes{};
};

KernelMirror::Parsed KernelMirror::parse(const netlink::GenlRequest& request) {
  const wire::Bytes bytes = request.bytes();
  return {subject_of(request), bytes[NLMSG_HDRLEN + 1], Attributes{bytes.subspan(kHeaders)}};
}

std::optional<Hazard> KernelMirror::check_pdr(const Parsed& request, const Session& session) {
  const auto far = request.attributes.get(pdr::kFarId);
  if (!far) return Hazard::PdrWithoutFar;
  const auto pdi = request.attributes.get(pdr::kPdi);
  if (!pdi) return Hazard::PdrWithoutPdi;
  if (request.attributes.get(pdr::kUnixSocketPath) != "/") return Hazard::SocketPath;
  if (count_of(*pdi, pdi::kSdfFilter.id) > 1) return Hazard::SeveralFilters;
  const auto side = pdi->get(pdi::kSourceInterface);
  if (!side || *side > 1 || !request.attributes.get(pdr::kRoleAddress)) {
    return Hazard::PdrWithoutSide;
  }
  if (pdi->get(pdi::kFTeid) && !request.attributes.get(pdr::kOuterHeaderRemoval)) {
    return Hazard::TunnelWithoutRemoval;
  }
  if (request.replace) return Hazard::PdrUpdate;
  const bool resolved = session.fars.contains(*far) &&
                        subset(all_of(request.attributes, pdr::kQerId), session.qers) &&
                        subset(all_of(request.attributes, pdr::kUrrId), session.urrs);
  return resolved ? std::nullopt : std::optional{Hazard::DanglingReference};
}

std::optional<Hazard> KernelMirror::check_far(const Parsed& request, const Session& session) {
  if (!request.replace) return std::nullopt;
  if (!session.fars.contains(request.id)) return Hazard::UpdateThatFails;
  const auto parameters = request.attributes.get(far::kForwarding);
  if (!parameters) return std::nullopt;
  if (const auto header = parameters->get(forwarding::kOuterHeader)) {
    const bool whole = header->get(outer_header::kDescription) &&
                       header->get(outer_header::kTeid) && header->get(outer_header::kPeer) &&
                       header->get(outer_header::kPort);
    if (!whole) return Hazard::UpdateThatFails;
  }
  constexpr std::uint8_t kSendEndMarker = 2;
  const bool used = std::ranges::any_of(
      session.pdrs, [&](const auto& pdr) { return pdr.second.far == request.id; });
  if ((parameters->get(forwarding::kSmReqFlags).value_or(0) & kSendEndMarker) != 0 && !used) {
    return Hazard::EndMarkerUnused;
  }
  if (const auto policy = parameters->get(forwarding::kPolicy)) {
    const bool number = !policy->empty() && policy->size() <= 10 && policy->front() != '0' &&
                        policy->find_first_not_of("0123456789") == std::string_view::npos;
    if (!number) return Hazard::UpdateThatFails;
  }
  return std::nullopt;
}

std::optional<Hazard> KernelMirror::check_urr(const Parsed& request, const Session& session) {
  const std::uint32_t trigger = request.attributes.get(urr::kTrigger).value_or(0);
  if (trigger == 0) return Hazard::UrrWithoutTrigger;
  if ((trigger & urr::kTriggerThreshold) != 0 && (trigger & urr::kTriggerQuota) != 0) {
    return Hazard::ThresholdWithQuota;
  }
  if (request.replace && !session.urrs.contains(request.id)) return Hazard::UpdateThatFails;
  return std::nullopt;
}

std::optional<Hazard> KernelMirror::check_multi_reports(const Parsed& request,
                                                        const Session& session) {
  std::size_t entries = 0;
  bool known = true;
  bool counted = false;
  bool count_first = true;  // or its attribute walk reads the header as a length
  request.attributes.for_each([&](std::uint16_t id, wire::Bytes payload, bool) {
    counted = counted || id == urr::kCount.id;
    if (id != urr::kSeidAndId.id) return;
    count_first = count_first && counted;
    ++entries;
    const Attributes entry{payload};  // all of one session
    const auto urr = entry.get(urr::kId);
    known =
        known && urr && session.urrs.contains(*urr) && entry.get(urr::kSeid) == request.seid.value;
  });
  if (request.attributes.get(urr::kCount) != entries || !count_first) return Hazard::ReportCount;
  return known ? std::nullopt : std::optional{Hazard::ReportOfNoUrr};
}

std::optional<Hazard> KernelMirror::check(const Parsed& request, const Session& session) {
  const auto used = [&](auto uses) {
    const bool any =
        std::ranges::any_of(session.pdrs, [&](const auto& p) { return uses(p.second); });
    return any ? std::optional{Hazard::DeletedWhileInUse} : std::nullopt;
  };
  if (request.version != 0) return Hazard::GenlVersion;
  switch (request.command) {
    case Command::AddPdr:
      return check_pdr(request, session);
    case Command::AddFar:
      return check_far(request, session);
    case Command::AddQer:
      if (request.replace && !session.qers.contains(request.id)) return Hazard::UpdateThatFails;
      return std::nullopt;
    case Command::AddUrr:
      return check_urr(request, session);
    case Command::AddBar:
      return request.replace ? std::optional{Hazard::BarUpdate} : std::nullopt;
    case Command::DelFar:
      return used([&](const Users& u) { return u.far == request.id; });
    case Command::DelQer:
      return used([&](const Users& u) { return u.qers.contains(request.id); });
    case Command::GetMultiReports:
      return check_multi_reports(request, session);
    case Command::DelPdr:
    case Command::DelUrr:  // PDRs look it up by number
    case Command::DelBar:
    case Command::GetPdr:
    case Command::GetFar:
    case Command::GetQer:
    case Command::GetUrr:
    case Command::GetVersion:
    case Command::GetReport:
    case Command::GetUsageStatistic:
      return std::nullopt;
    default:
      return Hazard::UnknownCommand;
  }
}

std::optional<Hazard> KernelMirror::check(std::span<const netlink::GenlRequest> requests) const {
  std::unordered_map<Seid, Session> ahead;
  for (const netlink::GenlRequest& request : requests) {
    const Parsed parsed = parse(request);
    auto at = ahead.find(parsed.seid);
    if (at == ahead.end()) {
      const auto now = sessions_.find(parsed.seid);
      at = ahead.emplace(parsed.seid, now == sessions_.end() ? Session{} : now->second).first;
    }
    if (const auto hazard = check(parsed, at->second)) return hazard;
    apply(parsed, at->second);
  }
  return std::nullopt;
}

void KernelMirror::apply(const Parsed& request, Session& session) {
  switch (request.command) {
    case Command::AddPdr: {
      Users& users = session.pdrs[static_cast<std::uint16_t>(request.id)];
      users.far = request.attributes.get(pdr::kFarId).value_or(0);
      for (const std::uint32_t id : all_of(request.attributes, pdr::kQerId)) users.qers.insert(id);
      break;
    }
    case Command::AddFar:
      session.fars.insert(request.id);
      break;
    case Command::AddQer:
      session.qers.insert(request.id);
      break;
    case Command::AddUrr:
      session.urrs.insert(request.id);
      break;
    default:
      forget(request, session);
  }
}

void KernelMirror::forget(const Parsed& request, Session& session) {
  switch (request.command) {
    case Command::AddPdr:
    case Command::DelPdr:
      session.pdrs.erase(static_cast<std::uint16_t>(request.id));
      break;
    case Command::AddFar:
    case Command::DelFar:
      session.fars.erase(request.id);
      break;
    case Command::AddQer:
    case Command::DelQer:
      session.qers.erase(request.id);
      break;
    case Command::AddUrr:
    case Command::DelUrr:
      session.urrs.erase(request.id);
      break;
    default:
      break;
  }
}

void KernelMirror::settle(const netlink::GenlRequest& request, int error) {
  const Parsed parsed = parse(request);
  Session& session = sessions_[parsed.seid];
  const bool gone = error == ENOENT || (error != 0 && parsed.replace);
  if (error == 0) {
    apply(parsed, session);
  } else if (gone) {
    forget(parsed, session);
  }
  if (session.empty()) sessions_.erase(parsed.seid);
}

}  // namespace upf::gtp5g

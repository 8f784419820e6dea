// What the plane installed for a session, by its own books: each kernel rule with its number in the
// kernel and the PFCP rule that it comes from.
#include <fmt/format.h>

#include "netlink/gtp5g/controller.hpp"

namespace upf::gtp5g {
namespace {

using dataplane::Inspection;

template <class Ids>
std::string numbers(const Ids& ids) {
  std::string text;
  for (const auto id : ids) text += fmt::format("{}#{}", text.empty() ? "" : ",", id);
  return text;
}

std::string text_of(const CreatePdr& pdr) {
  std::string text = fmt::format("kernel #{}: {}", pdr.id, pdr.body.uplink ? "uplink" : "downlink");
  if (pdr.body.teid) text += fmt::format(", tunnel {:#010x}", pdr.body.teid->value);
  if (pdr.body.ue_address) text += ", UE " + to_string(*pdr.body.ue_address);
  if (pdr.body.flow) text += ", 1 filter";
  text += fmt::format(", FAR #{}", pdr.far);
  if (!pdr.qers.empty()) text += ", QERs " + numbers(pdr.qers);
  if (!pdr.urrs.empty()) text += ", URRs " + numbers(pdr.urrs);
  return text;
}

std::string text_of(std::uint32_t id, const KernelFar& far) {
  std::string text = fmt::format("kernel #{}: action {:#x}", id, far.action);
  if (far.tunnel) {
    text +=
        fmt::format(", tunnel {:#010x}@{}", far.tunnel->teid.value, to_string(far.tunnel->peer));
  }
  return text;
}

std::string text_of(std::uint32_t id, const KernelQer& qer) {
  std::string text = fmt::format("kernel #{}: gate {}, QFI {}", id, qer.gate, qer.qfi & 0x3fU);
  if (qer.mbr)
    text += fmt::format(", MBR {}/{} kbit/s", qer.mbr->uplink_kbps, qer.mbr->downlink_kbps);
  return text;
}

const char* text_of(UrrKey::Role role) {
  switch (role) {
    case UrrKey::Role::Meter:
      return "meter";
    case UrrKey::Role::Threshold:
      return "threshold";
    case UrrKey::Role::Quota:
      return "quota";
    case UrrKey::Role::Start:
      return "start detector";
  }
  return "";
}

}  // namespace

std::optional<Inspection> Controller::inspect(Seid seid) const {
  const auto at = sessions_.find(seid);
  if (at == sessions_.end()) return std::nullopt;
  const Session& session = at->second;
  Inspection found;
  for (const auto& [key, pdr] : session.installed.pdrs) {
    found.rules.push_back({key.pdr, text_of(pdr)});
  }
  for (const auto& [key, far] : session.installed.fars) {
    found.rules.push_back({key.far, text_of(far.id, far.body)});
  }
  for (const auto& [key, qer] : session.installed.qers) {
    for (const QerId id : key.qers) found.rules.push_back({id, text_of(qer.id, qer.body)});
  }
  for (const auto& [key, urr] : session.installed.urrs) {
    found.rules.push_back({key.urr, fmt::format("kernel #{}: {}", urr.id, text_of(key.role))});
  }
  for (const auto& [urr, octets] : session.metered) {
    found.counted.push_back({.urr = urr, .octets = octets});
  }
  for (const rules::Far& far : session.rules.fars) {
    found.waiting_packets += buffer_.held(seid, far.id);
  }
  return found;
}

Result<void, std::string> Controller::add_network(const IpPrefix& network) {
  const auto* v4 = std::get_if<Ipv4Prefix>(&network);
  if (v4 == nullptr) return failure(std::string{"forwarder gtp5g has no IPv6"});
  return parts_.host->add_route(parts_.link, *v4);
}

}  // namespace upf::gtp5g

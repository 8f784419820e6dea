#include "netlink/gtp5g/requests.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace upf::gtp5g {
namespace {

using netlink::GenlRequest;

constexpr std::size_t kHeaders = NLMSG_HDRLEN + GENL_HDRLEN;

GenlRequest begin(const Target& target, Command command, std::uint16_t flags) {
  GenlRequest request{target.family, static_cast<std::uint8_t>(command), flags};
  request.put(kLink, target.ifindex);
  return request;
}

template <class V>
V value_of(Attr<V>);  // not defined: for its type

Ipv4 mask_of(std::uint8_t length) {
  return Ipv4::from_host(length == 0 ? 0U : ~std::uint32_t{0} << (32U - length));
}

// --- PDR -------------------------------------------------------------------------------------

void put_ports(GenlRequest& request, Blob attr, const std::vector<rules::PortRange>& ports) {
  if (ports.empty()) return;
  std::vector<std::uint32_t> ranges;
  for (const rules::PortRange& range : ports) {
    ranges.push_back(std::uint32_t{range.last} << 16U | range.first);
  }
  request.put(attr, {reinterpret_cast<const std::uint8_t*>(ranges.data()),
                     ranges.size() * sizeof(std::uint32_t)});
}

void put_flow(GenlRequest& request, const KernelFlow& flow) {
  request.put(flow::kAction, flow::kPermit);
  request.put(flow::kDirection, flow::kOut);  // the only one that ever matches
  request.put(flow::kProtocol, flow.protocol);
  request.put(flow::kSource, flow.source.address);
  request.put(flow::kSourceMask, mask_of(flow.source.length));
  request.put(flow::kDestination, flow.destination.address);
  request.put(flow::kDestinationMask, mask_of(flow.destination.length));
  put_ports(request, flow::kSourcePorts, flow.source_ports);
  put_ports(request, flow::kDestinationPorts, flow.destination_ports);
}

void put_pdi(GenlRequest& request, const KernelPdr& body) {
  request.put(pdi::kSourceInterface, static_cast<std::uint8_t>(body.uplink ? 0 : 1));
  if (body.teid) {
    request.nest(pdi::kFTeid, [&] {
      request.put(f_teid::kTeid, body.teid->value);
      request.put(f_teid::kAddress, body.local_address);
    });
  }
  if (body.ue_address) request.put(pdi::kUeAddress, *body.ue_address);
  if (body.flow) {
    request.nest(pdi::kSdfFilter, [&] {
      request.nest(sdf::kFlowDescription, [&] { put_flow(request, *body.flow); });
    });
  }
}

GenlRequest build(const Target& target, Seid seid, const CreatePdr& op) {
  GenlRequest request = begin(target, Command::AddPdr, NLM_F_EXCL);
  request.put(pdr::kId, op.id);
  request.put(pdr::kSeid, seid.value);
  request.put(pdr::kPrecedence, op.precedence);
  request.nest(pdr::kPdi, [&] { put_pdi(request, op.body); });
  if (op.body.removal) request.put(pdr::kOuterHeaderRemoval, 0);
  request.put(pdr::kRoleAddress, op.body.local_address);
  request.put(pdr::kUnixSocketPath, "/");
  request.put(pdr::kFarId, op.far);
  for (const std::uint32_t qer : op.qers) request.put(pdr::kQerId, qer);
  for (const std::uint32_t urr : op.urrs) request.put(pdr::kUrrId, urr);
  return request;
}

GenlRequest build(const Target& target, Seid seid, const DeletePdr& op) {
  GenlRequest request = begin(target, Command::DelPdr, 0);
  request.put(pdr::kId, op.id);
  request.put(pdr::kSeid, seid.value);
  return request;
}

// --- FAR -------------------------------------------------------------------------------------

void put_parameters(GenlRequest& request, const KernelFar& body) {
  if (!body.tunnel && body.mark == 0) return;
  request.nest(far::kForwarding, [&] {
    if (body.tunnel) {
      request.nest(forwarding::kOuterHeader, [&] {
        request.put(outer_header::kDescription, outer_header::kGtpuUdpIpv4);
        request.put(outer_header::kTeid, body.tunnel->teid.value);
        request.put(outer_header::kPeer, body.tunnel->peer);
        request.put(outer_header::kPort, body.tunnel->port);
      });
    }
    if (body.mark != 0) request.put(forwarding::kPolicy, std::to_string(body.mark));
    if (body.tunnel) request.put(forwarding::kTosTc, body.tos);
  });
}

GenlRequest add_far(const Target& target, Seid seid, std::uint16_t flags, std::uint32_t id,
                    const KernelFar& body, bool with_parameters) {
  GenlRequest request = begin(target, Command::AddFar, flags);
  request.put(far::kId, id);
  request.put(far::kSeid, seid.value);
  request.put(far::kApplyAction, body.action);
  if (with_parameters) put_parameters(request, body);
  return request;
}

GenlRequest build(const Target& target, Seid seid, const CreateFar& op) {
  return add_far(target, seid, NLM_F_EXCL, op.id, op.body, true);
}
GenlRequest build(const Target& target, Seid seid, const UpdateFar& op) {
  return add_far(target, seid, NLM_F_REPLACE, op.id, op.body, op.with_parameters);
}
GenlRequest build(const Target& target, Seid seid, const DeleteFar& op) {
  GenlRequest request = begin(target, Command::DelFar, 0);
  request.put(far::kId, op.id);
  request.put(far::kSeid, seid.value);
  return request;
}

// --- QER -------------------------------------------------------------------------------------

void put_rate(GenlRequest& request, Nest nest, const rules::BitRate& rate) {
  request.nest(nest, [&] {
    request.put(bit_rate::kUplinkHigh, static_cast<std::uint32_t>(rate.uplink_kbps >> 8U));
    request.put(bit_rate::kUplinkLow, static_cast<std::uint8_t>(rate.uplink_kbps));
    request.put(bit_rate::kDownlinkHigh, static_cast<std::uint32_t>(rate.downlink_kbps >> 8U));
    request.put(bit_rate::kDownlinkLow, static_cast<std::uint8_t>(rate.downlink_kbps));
  });
}

GenlRequest build(const Target& target, Seid seid, const CreateQer& op) {
  GenlRequest request = begin(target, Command::AddQer, NLM_F_EXCL);
  request.put(qer::kId, op.id);
  request.put(qer::kSeid, seid.value);
  request.put(qer::kGate, op.body.gate);
  if (op.body.mbr) put_rate(request, qer::kMbr, *op.body.mbr);
  if (op.body.gbr) put_rate(request, qer::kGbr, *op.body.gbr);
  if (op.body.qfi != 0) request.put(qer::kQfi, op.body.qfi);
  return request;
}
GenlRequest build(const Target& target, Seid seid, const DeleteQer& op) {
  GenlRequest request = begin(target, Command::DelQer, 0);
  request.put(qer::kId, op.id);
  request.put(qer::kSeid, seid.value);
  return request;
}

// --- URR -------------------------------------------------------------------------------------

std::uint32_t trigger_of(UrrKey::Role role) {
  switch (role) {
    case UrrKey::Role::Meter:
      return urr::kTriggerPeriodic;
    case UrrKey::Role::Threshold:
    case UrrKey::Role::Start:
      return urr::kTriggerThreshold;
    case UrrKey::Role::Quota:
      return urr::kTriggerQuota;
  }
  return urr::kTriggerPeriodic;
}

/// A total of 0 is a quota that is used up, to the module, even where only another one is meant.
void put_volume(GenlRequest& request, Nest nest, const rules::VolumeLimit& limit) {
  std::uint8_t flags = 0;
  if (limit.total) flags |= volume::kHasTotal;
  if (limit.uplink) flags |= volume::kHasUplink;
  if (limit.downlink) flags |= volume::kHasDownlink;
  const auto at_least_one = [](std::uint64_t octets) { return octets == 0 ? 1 : octets; };
  request.nest(nest, [&] {
    request.put(volume::kFlags, flags);
    request.put(volume::kTotal, at_least_one(limit.total.value_or(UINT64_MAX)));
    if (limit.uplink) request.put(volume::kUplink, at_least_one(*limit.uplink));
    if (limit.downlink) request.put(volume::kDownlink, at_least_one(*limit.downlink));
  });
}

GenlRequest build(const Target& target, Seid seid, const CreateUrr& op) {
  GenlRequest request = begin(target, Command::AddUrr, NLM_F_EXCL);
  request.put(urr::kId, op.id);
  request.put(urr::kSeid, seid.value);
  request.put(urr::kMethod, urr::kMethodVolume);
  request.put(urr::kTrigger, trigger_of(op.role));
  request.put(urr::kPeriod, 1);  // counts only if it isn't 0; the kernel never times it
  const std::uint8_t before_qos = op.body.before_qos ? urr::kInfoBeforeQos : 0;
  request.put(urr::kInfo, static_cast<std::uint8_t>(urr::kInfoCountPackets | before_qos));
  if (op.role == UrrKey::Role::Threshold || op.role == UrrKey::Role::Start) {
    put_volume(request, urr::kThreshold, op.body.limit);
  } else if (op.role == UrrKey::Role::Quota) {
    put_volume(request, urr::kQuota, op.body.limit);
  }
  return request;
}

GenlRequest build(const Target& target, Seid seid, const DeleteUrr& op) {
  GenlRequest request = begin(target, Command::DelUrr, 0);
  request.put(urr::kId, op.id);
  request.put(urr::kSeid, seid.value);
  return request;
}
GenlRequest build(const Target& target, Seid seid, const ReadUrr& op) {
  GenlRequest request = begin(target, Command::GetReport, 0);
  request.put(urr::kId, op.id);
  request.put(urr::kSeid, seid.value);
  return request;
}

}  // namespace

GenlRequest version_request(std::uint16_t family) {
  return GenlRequest{family, static_cast<std::uint8_t>(Command::GetVersion)};
}

GenlRequest to_request(const Target& target, Seid seid, const Op& op) {
  return std::visit([&](const auto& one) { return build(target, seid, one); }, op);
}

Subject subject_of(const GenlRequest& request) {
  const wire::Bytes bytes = request.bytes();
  const netlink::Attributes attributes{bytes.subspan(kHeaders)};
  std::uint16_t flags{};
  std::memcpy(&flags, bytes.data() + 6, sizeof flags);
  Subject subject{.command = static_cast<Command>(bytes[NLMSG_HDRLEN]),
                  .replace = (flags & NLM_F_REPLACE) != 0};
  const auto take = [&](auto id, U64 seid) {
    subject.id = attributes.get(id).value_or(0);
    subject.seid = {attributes.get(seid).value_or(0)};
  };
  switch (subject.command) {
    case Command::AddPdr:
    case Command::DelPdr:
    case Command::GetPdr:
      take(pdr::kId, pdr::kSeid);
      break;
    case Command::AddFar:
    case Command::DelFar:
    case Command::GetFar:
      take(far::kId, far::kSeid);
      break;
    case Command::AddQer:
    case Command::DelQer:
    case Command::GetQer:
      take(qer::kId, qer::kSeid);
      break;
    case Command::AddUrr:
    case Command::DelUrr:
    case Command::GetUrr:
    case Command::GetReport:
      take(urr::kId, urr::kSeid);
      break;
    case Command::GetMultiReports:
      if (const auto entry = attributes.get(urr::kSeidAndId)) {
        subject.seid = {entry->get(urr::kSeid).value_or(0)};
      }
      break;
    default:
      break;
  }
  return subject;
}

std::string to_string(const Subject& subject) {
  static constexpr std::array<std::string_view, 21> kNames{
      "",        "ADD_PDR",           "ADD_FAR",
      "ADD_QER", "DEL_PDR",           "DEL_FAR",
      "DEL_QER", "GET_PDR",           "GET_FAR",
      "GET_QER", "ADD_URR",           "ADD_BAR",
      "DEL_URR", "DEL_BAR",           "GET_URR",
      "GET_BAR", "GET_VERSION",       "GET_REPORT",
      "EVENT",   "GET_MULTI_REPORTS", "GET_USAGE_STATISTIC"};
  const auto command = static_cast<std::size_t>(subject.command);
  std::string text{command < kNames.size() ? kNames[command] : ""};
  if (subject.id != 0) text += " #" + std::to_string(subject.id);
  if (subject.replace) text += " (update)";
  return text;
}

GenlRequest get_request(const Target& target, const RuleName& rule) {
  const auto build = [&](Command command, auto id, U64 seid) {
    GenlRequest request = begin(target, command, 0);
    request.put(id, static_cast<decltype(value_of(id))>(rule.id));
    request.put(seid, rule.seid.value);
    return request;
  };
  switch (rule.kind) {
    case RuleName::Kind::Pdr:
      return build(Command::GetPdr, pdr::kId, pdr::kSeid);
    case RuleName::Kind::Far:
      return build(Command::GetFar, far::kId, far::kSeid);
    case RuleName::Kind::Qer:
      return build(Command::GetQer, qer::kId, qer::kSeid);
    case RuleName::Kind::Urr:
      break;
  }
  return build(Command::GetUrr, urr::kId, urr::kSeid);
}

}  // namespace upf::gtp5g

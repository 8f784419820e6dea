// Session rules to kernel rules. The kernel matches on one flow description, IPv4 only, one rate
// per PDR, and enforces a quota by turning FARs to DROP; PFCP knows none of these limits. What can
// be expressed by several kernel rules is; what can't is refused before anything is sent.
#include "netlink/gtp5g/compile.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/flows.hpp"

namespace upf::gtp5g {
namespace {

using dataplane::Failure;
using dataplane::RuleId;
using rules::Interface;

tl::unexpected<Failure> unsupported(RuleId rule, std::string detail) {
  return failure(Failure{Failure::Kind::Unsupported, rule, "gtp5g: " + std::move(detail)});
}

std::string name_of(PdrId id) { return "PDR " + std::to_string(id.value); }

bool is_cp_side(Interface interface) {
  return interface == Interface::CpFunction || interface == Interface::LiFunction;
}

/// Tunnels between UE and CP function carry router advertisements and the like: accepted, not
/// served (cases.md 39).
bool not_for_the_kernel(const rules::Pdr& pdr, const rules::Far& far) {
  return is_cp_side(pdr.source_interface) ||
         (far.forwarding && is_cp_side(far.forwarding->destination));
}

class Compiler {
 public:
  Compiler(const rules::SessionRules& session, const FiredLimits& fired,
           const CompileContext& context)
      : session_(session), fired_(fired), context_(context) {}

  Result<Compiled, Failure> run() {
    source_ = session_source();
    for (const rules::Far& far : session_.fars) {
      if (far.forwarding && is_cp_side(far.forwarding->destination)) continue;
      if (auto ok = check_far(far); !ok) return failure(ok.error());
    }
    for (const rules::Urr& urr : session_.urrs) {
      if (auto ok = check_urr(urr); !ok) return failure(ok.error());
      add_urr(urr);
    }
    find_split_gates();
    for (const rules::Pdr& pdr : session_.pdrs) {
      if (auto ok = add_pdr(pdr); !ok) return failure(ok.error());
    }
    warn_of_qfi_matches();
    return std::move(out_);
  }

 private:
  void warn(std::string text) { out_.warnings.push_back(std::move(text)); }

  /// Downlink packets leave from the address that the session's own access tunnel is at.
  Ipv4 session_source() const {
    for (const rules::Pdr& pdr : session_.pdrs) {
      if (pdr.source_interface == Interface::Access && pdr.f_teid && pdr.f_teid->ipv4) {
        return *pdr.f_teid->ipv4;
      }
    }
    return context_.default_source;
  }

  [[nodiscard]] Result<void, Failure> check_far(const rules::Far& far) const;
  [[nodiscard]] Result<void, Failure> check_urr(const rules::Urr& urr) const;
  [[nodiscard]] Result<void, Failure> check_pdi(const rules::Pdr& pdr, const rules::Far& far) const;
  [[nodiscard]] Result<void, Failure> add_pdr(const rules::Pdr& pdr);
  std::vector<std::optional<Ipv4>> addresses_of(const rules::Pdr& pdr, const rules::Far& far);
  [[nodiscard]] Result<std::vector<std::optional<KernelFlow>>, Failure> flows_of(
      const rules::Pdr& pdr, std::optional<Ipv4> ue);
  FarKey add_far(const rules::Pdr& pdr, const rules::Far& far);
  KernelFar far_body(const rules::Far& far, const FarKey& key) const;
  bool closed(UrrId id) const;
  void find_split_gates();
  KernelQer qer_body(const rules::Qer& qer, bool with_rate) const;
  std::vector<QerKey> add_qers(const rules::Pdr& pdr);
  std::optional<QerKey> choose_rate(const rules::Pdr& pdr);
  void add_urr(const rules::Urr& urr);
  KernelUrr limit_rule(const UrrKey& key, const rules::VolumeLimit& limit) const;
  std::vector<UrrKey> urrs_of(const rules::Pdr& pdr) const;
  void warn_of_qfi_matches();

  const rules::SessionRules& session_;
  const FiredLimits& fired_;
  const CompileContext& context_;
  Ipv4 source_{};
  std::set<QerId> split_gates_{};
  Compiled out_{};
};

/// A mark that the module accepts: the whole text a decimal number, not 0 (cases.md 47).
std::optional<std::uint32_t> parse_mark(const std::string& policy) {
  std::uint32_t mark = 0;
  const char* end = policy.data() + policy.size();
  const auto [stop, error] = std::from_chars(policy.data(), end, mark);
  if (error != std::errc{} || stop != end || mark == 0) return std::nullopt;
  return mark;
}

Result<void, Failure> Compiler::check_far(const rules::Far& far) const {
  if (far.action.duplicate) return unsupported(far.id, "DUPL: the module duplicates no packets");
  if (!far.forwarding) return {};
  if (const auto& header = far.forwarding->outer_header) {
    if (header->kind != rules::OuterHeader::Kind::GtpuUdpIpv4 ||
        !std::holds_alternative<Ipv4>(header->peer)) {
      return unsupported(far.id, "the only outer header it makes is GTP-U/UDP/IPv4");
    }
  }
  const std::string& policy = far.forwarding->forwarding_policy;
  if (!policy.empty() && !parse_mark(policy)) {
    return unsupported(far.id, "forwarding policy '" + policy +
                                   "': it becomes the packet mark, a decimal number above 0");
  }
  return {};
}

Result<void, Failure> Compiler::check_urr(const rules::Urr& urr) const {
  if (urr.notify_dropped) {
    return unsupported(urr.id,
                       "Dropped DL Traffic Threshold: the module counts no dropped packets");
  }
  return {};
}

Result<void, Failure> Compiler::check_pdi(const rules::Pdr& pdr, const rules::Far& far) const {
  const bool has_v4 =
      std::ranges::any_of(pdr.ue_addresses, [](const auto& ue) { return ue.ipv4.has_value(); });
  if (!pdr.ue_addresses.empty() && !has_v4) return unsupported(pdr.id, "UE address of IPv6 only");
  if (pdr.f_teid && !pdr.f_teid->ipv4) return unsupported(pdr.id, "F-TEID of IPv6 only");
  if (!pdr.f_teid && (pdr.source_interface == Interface::Access || !has_v4)) {
    return unsupported(pdr.id, "a PDR is found by its TEID or, from N6, by its UE address");
  }
  if (!pdr.framed_routes.empty()) return unsupported(pdr.id, "framed routes");
  if (!pdr.f_teid || !far.action.forward) return {};
  if (!pdr.removal) return unsupported(pdr.id, "packets of a tunnel always lose their header");
  if (*pdr.removal != rules::HeaderRemoval::GtpuUdpIpv4 &&
      *pdr.removal != rules::HeaderRemoval::GtpuUdpIp) {
    return unsupported(pdr.id, "the only outer header it removes is GTP-U/UDP/IPv4");
  }
  return {};
}

Result<void, Failure> Compiler::add_pdr(const rules::Pdr& pdr) {
  const rules::Far& far = *rules::find(session_.fars, pdr.far);
  if (not_for_the_kernel(pdr, far)) return {};
  if (auto ok = check_pdi(pdr, far); !ok) return ok;

  KernelPdr body{.uplink = pdr.source_interface == Interface::Access,
                 .local_address = pdr.f_teid ? *pdr.f_teid->ipv4 : source_,
                 .removal = pdr.f_teid.has_value()};
  if (pdr.f_teid) body.teid = pdr.f_teid->teid;
  body.far = add_far(pdr, far);
  body.qers = add_qers(pdr);
  body.urrs = urrs_of(pdr);

  std::uint16_t variant = 0;
  for (const std::optional<Ipv4>& ue : addresses_of(pdr, far)) {
    const auto flows = flows_of(pdr, ue);
    if (!flows) return failure(flows.error());
    for (const std::optional<KernelFlow>& flow : *flows) {
      body.ue_address = ue;
      body.flow = flow;
      out_.rules.pdrs.emplace(PdrKey{pdr.precedence, pdr.id, variant++}, body);
    }
  }
  if (out_.rules.pdrs.size() > kMostKernelPdrs) {
    return failure(Failure{
        Failure::Kind::NoResources, pdr.id,
        "gtp5g: the session needs more than " + std::to_string(kMostKernelPdrs) + " kernel PDRs"});
  }
  return {};
}

/// UE addresses of the PDR's packets; one `none` for any. An uplink PDR that names none takes the
/// session's, or a UE could send with any source address (the module checks what the PDI has).
/// Packets that come from Access to go back there (indirect forwarding) are downlink ones.
std::vector<std::optional<Ipv4>> Compiler::addresses_of(const rules::Pdr& pdr,
                                                        const rules::Far& far) {
  std::vector<std::optional<Ipv4>> addresses;
  const auto take = [&](const rules::Pdr& from) {
    for (const rules::UeAddress& ue : from.ue_addresses) {
      if (ue.ipv4 && std::ranges::find(addresses, ue.ipv4) == addresses.end()) {
        addresses.emplace_back(ue.ipv4);
      }
      if (ue.ipv6 && &from == &pdr) warn(name_of(pdr.id) + ": its IPv6 UE address gets no traffic");
    }
  };
  take(pdr);
  const bool to_core = far.forwarding && far.forwarding->destination != Interface::Access;
  if (addresses.empty() && pdr.source_interface == Interface::Access && to_core) {
    for (const rules::Pdr& other : session_.pdrs) {
      if (other.source_interface != Interface::Access) take(other);
    }
  }
  if (addresses.empty()) addresses.emplace_back(std::nullopt);
  return addresses;
}

Result<std::vector<std::optional<KernelFlow>>, Failure> Compiler::flows_of(const rules::Pdr& pdr,
                                                                           std::optional<Ipv4> ue) {
  std::vector<std::optional<KernelFlow>> all;
  if (pdr.filters.empty()) all.emplace_back(std::nullopt);
  for (const rules::SdfFilter& filter : pdr.filters) {
    const bool tos = filter.tos && filter.tos->mask != 0;
    if (tos || filter.spi || filter.flow_label) {
      return unsupported(pdr.id, "SDF filters on ToS, SPI or flow label");
    }
    if (!filter.flow) {
      all.emplace_back(std::nullopt);
      continue;
    }
    const bool uplink = pdr.source_interface == Interface::Access;
    const auto flows = expand_flow(*filter.flow, uplink, ue, kMostKernelPdrs);
    if (!flows) return unsupported(pdr.id, flows.error());
    if (flows->empty()) warn(name_of(pdr.id) + ": an SDF filter that no IPv4 packet can match");
    for (const KernelFlow& flow : *flows) all.emplace_back(flow);
  }
  return all;
}

// --- FARs ------------------------------------------------------------------------------------

/// A quota that is used up, withheld, or of nothing.
bool Compiler::closed(UrrId id) const {
  const rules::Urr& urr = *rules::find(session_.urrs, id);
  if (urr.blocked) return true;
  if (!urr.block_at) return false;
  const auto fired = fired_.exhausted.find(id);
  if (fired != fired_.exhausted.end() && fired->second == urr.block_at->generation) return true;
  return urr.block_at->total == 0U || urr.block_at->uplink == 0U || urr.block_at->downlink == 0U;
}

FarKey Compiler::add_far(const rules::Pdr& pdr, const rules::Far& far) {
  FarKey key{.far = far.id, .from_n6 = !pdr.f_teid};
  for (const UrrId id : pdr.urrs) {
    const rules::Urr& urr = *rules::find(session_.urrs, id);
    if (!urr.block_at && !urr.blocked) continue;
    key.quotas.push_back({id, urr.block_at ? urr.block_at->generation : 0});
  }
  std::ranges::sort(key.quotas);
  key.quotas.erase(std::unique(key.quotas.begin(), key.quotas.end()), key.quotas.end());
  out_.rules.fars.emplace(key, far_body(far, key));
  return key;
}

KernelFar Compiler::far_body(const rules::Far& far, const FarKey& key) const {
  KernelFar body{.action = action::kDrop};
  if (far.forwarding) {
    if (const auto& header = far.forwarding->outer_header) {
      body.tunnel = KernelTunnel{header->teid, std::get<Ipv4>(header->peer), 2152};
      if (const auto& marking = far.forwarding->transport_level_marking) {
        body.tos = static_cast<std::uint8_t>(marking->value & marking->mask);
      }
    }
    body.mark = parse_mark(far.forwarding->forwarding_policy).value_or(0);
  }
  if (far.action.drop ||
      std::ranges::any_of(key.quotas, [&](const QuotaRef& quota) { return closed(quota.urr); })) {
    return body;
  }
  if (far.action.buffer) {
    body.action = action::kBuffer;
    if (far.action.notify_cp) body.action |= action::kNotifyCp;
    return body;
  }
  // Never unencapsulated towards Access; and from N6 the kernel can only encapsulate.
  const bool way_out =
      far.forwarding &&
      (body.tunnel || (!key.from_n6 && far.forwarding->destination != Interface::Access));
  if (way_out) body.action = action::kForward;
  return body;
}

// --- QERs ------------------------------------------------------------------------------------

/// 0 is no limit. The kernel polices a PDR only by a QER with both rates, and 0 as one of them
/// stops all: what isn't limited gets a rate that no packet stream reaches.
std::uint64_t rate(std::uint64_t kbps) {
  return kbps == 0 ? UINT32_MAX : std::min<std::uint64_t>(kbps, UINT32_MAX);
}

bool limits(const std::optional<rules::BitRate>& mbr) {
  return mbr && (mbr->uplink_kbps != 0 || mbr->downlink_kbps != 0);
}

rules::BitRate tighter(const rules::BitRate& a, const rules::BitRate& b) {
  const auto least = [](std::uint64_t x, std::uint64_t y) {
    return x == 0 ? y : y == 0 ? x : std::min(x, y);
  };
  return {least(a.uplink_kbps, b.uplink_kbps), least(a.downlink_kbps, b.downlink_kbps)};
}

/// To packets out of a tunnel the module applies the uplink gate, also where they are downlink ones
/// that come over N9.
bool meets_wrong_gate(const rules::Pdr& pdr) {
  return pdr.f_teid && pdr.source_interface != Interface::Access;
}

/// QERs whose gate is shut in one direction and that such a PDR uses. They stay open, so that all
/// their PDRs go on to share one bucket, and PDRs of the direction that is shut get a shut gate.
void Compiler::find_split_gates() {
  for (const rules::Pdr& pdr : session_.pdrs) {
    if (!meets_wrong_gate(pdr)) continue;
    for (const QerId id : pdr.qers) {
      const rules::Qer& qer = *rules::find(session_.qers, id);
      if (qer.uplink_open != qer.downlink_open) split_gates_.insert(id);
    }
  }
}

KernelQer Compiler::qer_body(const rules::Qer& qer, bool with_rate) const {
  KernelQer body{};
  const bool split = split_gates_.contains(qer.id);
  if (!qer.uplink_open && !split) body.gate |= qer::kUplinkClosed;
  if (!qer.downlink_open && !split) body.gate |= qer::kDownlinkClosed;
  if (with_rate && limits(qer.mbr)) {
    body.mbr = rules::BitRate{rate(qer.mbr->uplink_kbps), rate(qer.mbr->downlink_kbps)};
  }
  body.gbr = qer.gbr;
  // The module copies this octet into the container as it is, so that it can carry the RQI bit
  // (TS 38.415 5.5.2.1), which the module knows nothing of.
  constexpr std::uint8_t kRqiBit = 0x40;
  if (qer.qfi && *qer.qfi != 0) {
    body.qfi = static_cast<std::uint8_t>(*qer.qfi | (qer.rqi ? kRqiBit : 0U));
  }
  return body;
}

/// The one rule that polices the PDR: the kernel takes no more than one (cases.md 43).
std::optional<QerKey> Compiler::choose_rate(const rules::Pdr& pdr) {
  std::vector<QerId> rated;
  std::optional<rules::BitRate> least;
  for (const QerId id : pdr.qers) {
    const auto& mbr = rules::find(session_.qers, id)->mbr;
    if (!limits(mbr)) continue;
    rated.push_back(id);
    least = least ? tighter(*least, *mbr) : *mbr;
  }
  if (rated.empty()) return std::nullopt;
  if (rated.size() > 1) {
    warn(name_of(pdr.id) + ": of its " + std::to_string(rated.size()) +
         " MBRs the kernel polices the tighter one only");
  }
  for (const QerId id : rated) {
    if (rules::find(session_.qers, id)->mbr == least) return QerKey{QerKey::Role::Whole, {id}};
  }
  std::ranges::sort(rated);
  QerKey key{QerKey::Role::TighterRate, rated};
  out_.rules.qers.emplace(
      key, KernelQer{.mbr = rules::BitRate{rate(least->uplink_kbps), rate(least->downlink_kbps)}});
  return key;
}

std::vector<QerKey> Compiler::add_qers(const rules::Pdr& pdr) {
  const std::optional<QerKey> policing = choose_rate(pdr);
  std::vector<QerKey> keys;
  for (const QerId id : pdr.qers) {
    const rules::Qer& qer = *rules::find(session_.qers, id);
    const QerKey whole{QerKey::Role::Whole, {id}};
    const bool with_rate = !limits(qer.mbr) || policing == whole;
    const QerKey key = with_rate ? whole : QerKey{QerKey::Role::WithoutRate, {id}};
    out_.rules.qers.emplace(key, qer_body(qer, with_rate));
    keys.push_back(key);
  }
  // The kernel marks with the first QFI that it finds. free5GC lists the session's QER before the
  // flow's (n4-clients.md 1), and means the flow's: the last one listed.
  const auto last = std::find_if(keys.rbegin(), keys.rend(), [&](const QerKey& key) {
    return out_.rules.qers.at(key).qfi != 0;
  });
  if (last != keys.rend()) std::rotate(keys.begin(), last.base() - 1, last.base());
  if (policing && policing->role == QerKey::Role::TighterRate) keys.push_back(*policing);
  const bool uplink = pdr.source_interface == Interface::Access;
  for (const QerId id : pdr.qers) {
    const rules::Qer& qer = *rules::find(session_.qers, id);
    if (!split_gates_.contains(id) || (uplink ? qer.uplink_open : qer.downlink_open)) continue;
    const QerKey shut{QerKey::Role::ShutGate, {id}};
    out_.rules.qers.emplace(
        shut, KernelQer{.gate = std::uint8_t{qer::kUplinkClosed | qer::kDownlinkClosed}});
    keys.push_back(shut);
  }
  return keys;
}

// --- URRs ------------------------------------------------------------------------------------

bool limits_anything(const rules::VolumeLimit& limit) {
  return limit.total || limit.uplink || limit.downlink;
}

bool fired_already(const std::map<UrrId, std::uint32_t>& fired, UrrId id,
                   std::uint32_t generation) {
  const auto at = fired.find(id);
  return at != fired.end() && at->second == generation;
}

/// What is left of a limit.
rules::VolumeLimit rest_of(rules::VolumeLimit limit, const rules::Volume& counted) {
  const auto reduce = [](std::optional<std::uint64_t>& octets, std::uint64_t by) {
    if (octets) octets = *octets > by ? *octets - by : 1;
  };
  reduce(limit.total, counted.total());
  reduce(limit.uplink, counted.uplink);
  reduce(limit.downlink, counted.downlink);
  return limit;
}

KernelUrr Compiler::limit_rule(const UrrKey& key, const rules::VolumeLimit& limit) const {
  const bool before_qos = rules::find(session_.urrs, key.urr)->before_qos;
  const auto counted = fired_.counted.find(key);
  if (counted == fired_.counted.end() || counted->second.generation != limit.generation) {
    return {limit, before_qos};
  }
  return {rest_of(limit, counted->second.octets), before_qos};
}

void Compiler::add_urr(const rules::Urr& urr) {
  auto& urrs = out_.rules.urrs;
  urrs.emplace(UrrKey{urr.id, UrrKey::Role::Meter}, KernelUrr{.before_qos = urr.before_qos});
  if (urr.notify_at && limits_anything(*urr.notify_at) &&
      !fired_already(fired_.notified, urr.id, urr.notify_at->generation)) {
    const UrrKey key{urr.id, UrrKey::Role::Threshold};
    urrs.emplace(key, limit_rule(key, *urr.notify_at));
  }
  if (urr.block_at && limits_anything(*urr.block_at) && !closed(urr.id)) {
    const UrrKey key{urr.id, UrrKey::Role::Quota};
    urrs.emplace(key, limit_rule(key, *urr.block_at));
  }
  // The kernel's own START trigger drops the packet that starts the traffic; a threshold of one
  // octet doesn't.
  if (urr.notify_start && !fired_already(fired_.started, urr.id, urr.start_generation)) {
    urrs.emplace(UrrKey{urr.id, UrrKey::Role::Start},
                 KernelUrr{{.generation = urr.start_generation, .total = 1}, urr.before_qos});
  }
}

std::vector<UrrKey> Compiler::urrs_of(const rules::Pdr& pdr) const {
  std::vector<UrrKey> keys;
  for (const UrrKey::Role role :
       {UrrKey::Role::Meter, UrrKey::Role::Start, UrrKey::Role::Threshold, UrrKey::Role::Quota}) {
    for (const UrrId id : pdr.urrs) {
      if (const UrrKey key{id, role}; out_.rules.urrs.contains(key)) keys.push_back(key);
    }
  }
  return keys;
}

// --- what the kernel doesn't look at ---------------------------------------------------------

/// Open5GS puts a QFI into every uplink PDI. That the kernel ignores it only matters where the QFI
/// is all that tells two PDRs apart.
void Compiler::warn_of_qfi_matches() {
  for (const rules::Pdr& a : session_.pdrs) {
    for (const rules::Pdr& b : session_.pdrs) {
      if (a.id < b.id && a.f_teid && a.f_teid == b.f_teid && a.qfis != b.qfis &&
          a.filters == b.filters) {
        warn(name_of(a.id) + " and " + name_of(b.id) +
             ": the kernel doesn't match the QFI, and nothing else tells them apart");
      }
    }
  }
}

}  // namespace

Result<Compiled, Failure> compile(const rules::SessionRules& session, const FiredLimits& fired,
                                  const CompileContext& context) {
  return Compiler{session, fired, context}.run();
}

}  // namespace upf::gtp5g

#include <fmt/format.h>

#include <algorithm>

#include "src/app/ops/views.hpp"
#include "upf/rules/flow.hpp"

namespace upf::app::ops {
namespace {

const char* text_of(rules::Interface interface) {
  switch (interface) {
    case rules::Interface::Access:
      return "access";
    case rules::Interface::Core:
      return "core";
    case rules::Interface::N6Lan:
      return "n6-lan";
    case rules::Interface::CpFunction:
      return "cp-function";
    case rules::Interface::LiFunction:
      return "li-function";
  }
  return "other";
}

std::string text_of(const rules::LocalFTeid& f_teid) {
  std::string text = fmt::format("{:#010x}", f_teid.teid.value);
  if (f_teid.ipv4) text += "@" + to_string(*f_teid.ipv4);
  if (f_teid.ipv6) text += "@" + to_string(*f_teid.ipv6);
  return text;
}

std::string action_of(const rules::ApplyAction& action) {
  std::string text;
  const auto add = [&](bool set, const char* word) {
    if (set) text += (text.empty() ? "" : "+") + std::string{word};
  };
  add(action.drop, "drop");
  add(action.forward, "forward");
  add(action.buffer, "buffer");
  add(action.notify_cp, "notify");
  add(action.duplicate, "duplicate");
  return text;
}

template <class Ids>
Json ids(const Ids& list) {
  Json all = Json::array();
  for (const auto& id : list) all.push_back(id.value);
  return all;
}

Json view(const rules::Pdr& pdr) {
  Json json{{"id", pdr.id.value},
            {"precedence", pdr.precedence},
            {"source", text_of(pdr.source_interface)},
            {"network", pdr.network_instance}};
  if (pdr.f_teid) json["f_teid"] = text_of(*pdr.f_teid);
  Json ues = Json::array();
  for (const auto& ue : pdr.ue_addresses) {
    if (ue.ipv4) ues.push_back(to_string(*ue.ipv4));
    if (ue.ipv6) ues.push_back(to_string(*ue.ipv6));
  }
  json["ue"] = ues;
  Json filters = Json::array();
  for (const auto& filter : pdr.filters) {
    filters.push_back(filter.flow ? rules::to_string(*filter.flow) : std::string{"(no flow)"});
  }
  json["filters"] = filters;
  json["qfis"] = pdr.qfis;
  json["far"] = pdr.far.value;
  json["qers"] = ids(pdr.qers);
  json["urrs"] = ids(pdr.urrs);
  return json;
}

Json view(const rules::Far& far) {
  Json json{{"id", far.id.value}, {"action", action_of(far.action)}};
  if (far.bar) json["bar"] = far.bar->value;
  if (!far.forwarding) return json;
  json["destination"] = text_of(far.forwarding->destination);
  json["network"] = far.forwarding->network_instance;
  if (const auto& outer = far.forwarding->outer_header) {
    json["tunnel"] = fmt::format("{:#010x}@{}", outer->teid.value, to_string(outer->peer));
  }
  return json;
}

Json rate(const std::optional<rules::BitRate>& rate) {
  if (!rate) return nullptr;
  return {{"uplink_kbps", rate->uplink_kbps}, {"downlink_kbps", rate->downlink_kbps}};
}

Json view(const rules::Qer& qer) {
  Json json{{"id", qer.id.value},
            {"uplink_open", qer.uplink_open},
            {"downlink_open", qer.downlink_open},
            {"mbr", rate(qer.mbr)},
            {"gbr", rate(qer.gbr)}};
  if (qer.qfi) json["qfi"] = *qer.qfi;
  return json;
}

Json amount(const std::optional<rules::VolumeAmount>& amount) {
  if (!amount) return nullptr;
  Json json = Json::object();
  if (amount->total) json["total"] = *amount->total;
  if (amount->uplink) json["uplink"] = *amount->uplink;
  if (amount->downlink) json["downlink"] = *amount->downlink;
  return json;
}

Json view(const rules::UsageRule& urr) {
  Json json{{"id", urr.id.value},
            {"measures_volume", urr.measure_volume},
            {"measures_duration", urr.measure_duration},
            {"volume_threshold", amount(urr.volume_threshold)},
            {"volume_quota", amount(urr.volume_quota)}};
  if (urr.period) json["period_seconds"] = *urr.period;
  if (urr.time_threshold) json["time_threshold_seconds"] = *urr.time_threshold;
  if (urr.time_quota) json["time_quota_seconds"] = *urr.time_quota;
  return json;
}

Json view(const rules::Bar& bar) {
  Json json{{"id", bar.id.value}, {"delay_ms", bar.notification_delay_50ms * 50}};
  if (bar.suggested_packets) json["suggested_packets"] = *bar.suggested_packets;
  return json;
}

template <class Rules>
Json views(const Rules& list) {
  Json all = Json::array();
  for (const auto& rule : list) all.push_back(view(rule));
  return all;
}

Json tunnels(const session::Session& session) {
  Json all = Json::array();
  for (const auto& pdr : session.rules.pdrs) {
    if (pdr.f_teid) all.push_back(text_of(*pdr.f_teid));
  }
  return all;
}

/// Puts what the plane has of each rule beside what is wanted; what has no place goes to
/// "unmatched".
void put_installed(Json& json, const dataplane::Inspection& installed) {
  constexpr std::string_view kKinds[] = {"pdrs", "fars", "qers", "urrs", "bars"};
  Json unmatched = Json::array();
  for (const auto& rule : installed.rules) {
    const auto id = std::visit([](auto of) { return std::uint64_t{of.value}; }, rule.of);
    Json& rules = json[std::string{kKinds[rule.of.index()]}];
    const auto at = std::ranges::find_if(rules, [&](const Json& one) { return one["id"] == id; });
    if (at == rules.end()) {
      unmatched.push_back(fmt::format("{} {}: {}", kKinds[rule.of.index()], id, rule.state));
    } else {
      (*at)["installed"].push_back(rule.state);
    }
  }
  for (const auto& reading : installed.counted) {
    for (Json& urr : json["urrs"]) {
      if (urr["id"] != reading.urr.value) continue;
      urr["counted"] = {{"uplink_octets", reading.octets.uplink},
                        {"downlink_octets", reading.octets.downlink},
                        {"uplink_packets", reading.packets.uplink},
                        {"downlink_packets", reading.packets.downlink}};
    }
  }
  json["unmatched"] = unmatched;
  json["waiting_packets"] = installed.waiting_packets;
}

}  // namespace

Json session_row(const session::Session& session) {
  bool idle = false;
  for (const auto& far : session.rules.fars) idle = idle || far.action.buffer;
  return {{"seid", seid_text(session.seid)},   {"ue", ue_addresses(session)},
          {"dnn", session::dnn_of(session)},   {"node_id", owner_text(session.owner)},
          {"tunnels", tunnels(session)},       {"state", idle ? "idle" : "active"},
          {"pdrs", session.rules.pdrs.size()}, {"fars", session.rules.fars.size()},
          {"qers", session.rules.qers.size()}, {"urrs", session.usage.size()}};
}

Json session_view(const session::Session& session,
                  const std::optional<dataplane::Inspection>& installed) {
  Json json = session_row(session);
  json["cp_seid"] = seid_text(session.cp.seid);
  json["cp_address"] = session.cp.ipv4   ? to_string(*session.cp.ipv4)
                       : session.cp.ipv6 ? to_string(*session.cp.ipv6)
                                         : std::string{};
  json["s_nssai"] = session.labels.s_nssai;
  json["imsi"] = session.labels.imsi;
  json["imei"] = session.labels.imei;
  json["msisdn"] = session.labels.msisdn;
  json["nai"] = session.labels.nai;
  json["interface_types"] = session.labels.interface_types;
  json["pdrs"] = views(session.rules.pdrs);
  json["fars"] = views(session.rules.fars);
  json["qers"] = views(session.rules.qers);
  json["urrs"] = views(session.usage);
  json["bars"] = views(session.rules.bars);
  // A BAR is no rule of its own in any plane: it goes with its FARs.
  for (const char* kind : {"pdrs", "fars", "qers", "urrs"}) {
    for (Json& rule : json[kind]) rule["installed"] = Json::array();
  }
  json["in_plane"] = installed.has_value();
  put_installed(json, installed.value_or(dataplane::Inspection{}));
  return json;
}

}  // namespace upf::app::ops

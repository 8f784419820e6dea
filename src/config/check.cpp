#include "src/config/check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace upf::config {
namespace {

bool is_unspecified(const IpAddress& address) {
  return address == IpAddress{Ipv4{}} || address == IpAddress{Ipv6{}};
}
bool is_unspecified(const Host& host) { return host.address && is_unspecified(*host.address); }

bool is_loopback(const IpAddress& address) {
  constexpr std::uint8_t kNet = 127;
  if (const auto* v4 = std::get_if<Ipv4>(&address)) return v4->octets[0] == kNet;
  return address == parse_ip("::1");
}

/// Whether the kernel gives only one of them out. `::` takes IPv4 in, too.
bool collide(const Listen& a, const Listen& b) {
  if (a.port != b.port) return false;
  const IpAddress any{Ipv6{}};
  if (a.ip == b.ip || a.ip == any || b.ip == any) return true;
  return a.ip.index() == b.ip.index() && (is_unspecified(a.ip) || is_unspecified(b.ip));
}

bool overlap(const IpPrefix& a, const IpPrefix& b) {
  if (a.index() != b.index()) return false;
  if (const auto* v4 = std::get_if<Ipv4Prefix>(&a)) {
    const auto& other = std::get<Ipv4Prefix>(b);
    return v4->contains(other.address) || other.contains(v4->address);
  }
  const auto& v6 = std::get<Ipv6Prefix>(a);
  const auto& other = std::get<Ipv6Prefix>(b);
  return v6.contains(other.address) || other.contains(v6.address);
}

class Check {
 public:
  Check(const Config& config, const Marks& marks, Errors& errors, std::vector<Remark>& warnings,
        std::vector<Remark>& notes)
      : config_(config), marks_(marks), errors_(errors), warnings_(warnings), notes_(notes) {}

  void pfcp() {
    const Pfcp& n4 = config_.pfcp;
    if (is_unspecified(n4.node_id)) {
      add(errors_, "pfcp.nodeID",
          fmt::format("found \"{}\", allowed: an address or name by which the SMF knows this UPF",
                      n4.node_id.text));
    }
    if (is_unspecified(n4.addr) && !n4.advertise && !n4.node_id.address) {
      add(errors_, "pfcp.addr",
          fmt::format("found \"{}\" with a name as nodeID: pfcp.advertise must then be the address "
                      "that SMFs are to use",
                      n4.addr.text));
    }
    if (n4.advertise && is_unspecified(*n4.advertise)) unspecified("pfcp.advertise");
    if (n4.limits.sessions_per_peer > n4.limits.sessions && given("pfcp.limits.sessionsPerPeer")) {
      add(warnings_, "pfcp.limits.sessionsPerPeer",
          fmt::format("{} is more than pfcp.limits.sessions ({}), which comes first",
                      n4.limits.sessions_per_peer, n4.limits.sessions));
    }
  }

  void interfaces() {
    const auto& list = config_.gtpu.if_list;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string key = fmt::format("gtpu.ifList[{}]", i);
      if (list[i].advertise && is_unspecified(*list[i].advertise)) unspecified(key + ".advertise");
      for (std::size_t j = 0; j < i; ++j) {
        // One address may serve N3 and N9, or several network instances; the same entry twice is a
        // slip.
        if (list[i].addr == list[j].addr && list[i].type == list[j].type &&
            list[i].network_instance == list[j].network_instance) {
          add(errors_, key + ".addr",
              fmt::format("\"{}\" is already gtpu.ifList[{}].addr", list[i].addr.text, j));
        }
      }
      if (list[i].mtu != 0 && i != 0 && list[i].mtu != list[0].mtu) {
        add(warnings_, key + ".mtu", "the first entry's mtu counts, ignoring");
      }
    }
  }

  void forwarder() {
    const bool userspace = config_.gtpu.forwarder == Forwarder::Userspace;
    if (userspace) return;
    if (given("gtpu.workers")) {
      add(warnings_, "gtpu.workers", "only forwarder userspace has workers, ignoring");
    }
    if (given("gtpu.withoutOffloads")) {
      add(warnings_, "gtpu.withoutOffloads", "only forwarder userspace has offloads, ignoring");
    }
    for (std::size_t i = 0; i < config_.gtpu.if_list.size(); ++i) {
      const auto& address = config_.gtpu.if_list[i].addr.address;
      if (!address || std::holds_alternative<Ipv4>(*address)) continue;
      add(errors_, fmt::format("gtpu.ifList[{}].addr", i),
          fmt::format("found \"{}\": forwarder gtp5g carries GTP-U over IPv4 only; allowed: an "
                      "IPv4 address, or forwarder userspace",
                      to_string(*address)));
    }
  }

  void networks() {
    const auto& list = config_.dnn_list;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!overlap(list[i].cidr, list[j].cidr)) continue;
        add(warnings_, fmt::format("dnnList[{}].cidr", i),
            fmt::format("{} overlaps {} of dnnList[{}]", to_string(list[i].cidr),
                        to_string(list[j].cidr), j));
      }
    }
  }

  void listeners() {
    const Api& api = config_.api;
    if (api.page && api.socket.empty() && !api.listen) {
      add(errors_, "api.page", "the status page needs api.listen or api.socket");
    }
    const auto& metrics = config_.metrics.listen;
    if (api.listen && metrics && collide(*api.listen, *metrics)) {
      add(errors_, "metrics.listen", "is already api.listen; allowed: another port");
    }
    if (api.listen && !is_loopback(api.listen->ip)) {
      add(warnings_, "api.listen",
          fmt::format("{} is open to others: whoever reaches it reads sessions, addresses of UEs "
                      "and this configuration, without password or encryption (actions are for "
                      "root and the daemon's own user, over api.socket): give 127.0.0.1, or keep "
                      "others out by a firewall",
                      to_string(api.listen->ip)));
    }
    if (metrics && !is_loopback(metrics->ip)) {
      add(notes_, "metrics.listen",
          fmt::format("whoever reaches {} reads the metrics, without password or encryption: "
                      "counts, and the addresses of SMFs and gNBs",
                      to_string(metrics->ip)));
    }
  }

 private:
  bool given(const std::string& key) const { return marks_.contains(key); }

  void unspecified(const std::string& key) {
    add(errors_, key, "found an unspecified address; allowed: one that peers can reach");
  }

  void add(std::vector<Remark>& to, const std::string& key, std::string text) {
    const auto mark = marks_.find(key);
    const bool known = mark != marks_.end();
    to.push_back({key, known ? mark->second.line + 1 : 0, known ? mark->second.column + 1 : 0,
                  std::move(text)});
  }

  const Config& config_;
  const Marks& marks_;
  Errors& errors_;
  std::vector<Remark>& warnings_;
  std::vector<Remark>& notes_;
};

}  // namespace

void check(const Config& config, const Marks& marks, Errors& errors, std::vector<Remark>& warnings,
           std::vector<Remark>& notes) {
  Check check{config, marks, errors, warnings, notes};
  check.pfcp();
  check.interfaces();
  check.forwarder();
  check.networks();
  check.listeners();
}

void check(const PredefinedRules& rules, const Marks& marks, Errors& errors) {
  const auto wrong = [&](std::size_t index, const char* key, std::string text) {
    const std::string path = fmt::format("rules[{}].{}", index, key);
    const auto mark = marks.find(path);
    const bool known = mark != marks.end();
    errors.push_back({path, known ? mark->second.line + 1 : 0, known ? mark->second.column + 1 : 0,
                      std::move(text)});
  };
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    const PredefinedRule& rule = rules.rules[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (rules.rules[j].name != rule.name) continue;
      wrong(i, "name", fmt::format("\"{}\" is the name of rules[{}] too", rule.name, j));
      break;
    }
    if ((rule.uplink_kbps == 0) != (rule.downlink_kbps == 0)) {
      wrong(i, rule.uplink_kbps == 0 ? "downlinkKbps" : "uplinkKbps",
            "limits one direction only; set both or neither");
    }
    if (rule.mark != 0 && rule.action == PredefinedAction::Drop) {
      wrong(i, "mark", "what is dropped has no mark");
    }
  }
}

}  // namespace upf::config

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "src/app/control_settings.hpp"
#include "src/app/daemon.hpp"
#include "upf/pfcp/ies/common.hpp"

// What SIGHUP and the API's reload do. A configuration is taken as a whole or not at all: one that
// is wrong, or asks for what the host refuses, leaves everything as it was.
namespace upf::app {
namespace {

/// Peers by name keep the address that they had; looking names up would hold N4 up. False: one is
/// new.
bool resolve_as_before(std::vector<config::Host>& peers, const std::vector<config::Host>& known) {
  bool all = true;
  for (config::Host& peer : peers) {
    const auto same = std::ranges::find(known, peer.text, &config::Host::text);
    if (!peer.address && same != known.end()) peer.address = same->address;
    all = all && peer.address.has_value();
  }
  return all;
}

/// Whether the data networks that are there stay as they are; more may be behind them.
bool keeps(const std::vector<config::Dnn>& loaded, const std::vector<config::Dnn>& known) {
  const auto same = [](const config::Dnn& a, const config::Dnn& b) {
    return a.dnn == b.dnn && a.cidr == b.cidr;
  };
  return loaded.size() >= known.size() &&
         std::ranges::equal(std::span{loaded}.first(known.size()), known, same);
}

/// Of a Node ID as people write it.
pfcp::NodeId node_of(const std::string& text) {
  if (const auto v4 = parse_ipv4(text)) return {*v4};
  if (const auto v6 = parse_ipv6(text)) return {*v6};
  return {text};
}

std::string list_of(const std::vector<config::Difference>& differences) {
  std::string text;
  for (const auto& difference : differences) {
    text += fmt::format("{}{} \"{}\" -> \"{}\"", text.empty() ? "" : ", ", difference.key,
                        difference.before, difference.after);
  }
  return text;
}

}  // namespace

Result<config::Config, std::string> Daemon::next_config(const config::Config& loaded) const {
  config::Config next = config_;
  next.description = loaded.description;
  next.logger = loaded.logger;
  next.metrics = loaded.metrics;
  next.gtpu.audit = loaded.gtpu.audit;
  next.api.page = loaded.api.page;
  next.pfcp = loaded.pfcp;
  next.pfcp.addr = config_.pfcp.addr;
  next.pfcp.node_id = config_.pfcp.node_id;
  next.pfcp.advertise = config_.pfcp.advertise;
  if (!resolve_as_before(next.pfcp.peers, config_.pfcp.peers)) {
    return failure(std::string{"pfcp.peers: a new peer by name needs a restart; give its address"});
  }
  if (!keeps(loaded.dnn_list, config_.dnn_list)) return next;
  next.dnn_list = loaded.dnn_list;
  for (std::size_t i = 0; i < config_.dnn_list.size(); ++i) {
    next.dnn_list[i].ip_forward_enable = config_.dnn_list[i].ip_forward_enable;
    next.dnn_list[i].table = config_.dnn_list[i].table;
  }
  return next;
}

Result<void, std::string> Daemon::apply_to_host(const config::Config& next) {
  for (std::size_t i = config_.dnn_list.size(); i < next.dnn_list.size(); ++i) {
    // Routed by a reload that failed later on: it is there.
    if (!routed_.contains(next.dnn_list[i].cidr)) {
      if (auto ok = plane_->add_network(next.dnn_list[i].cidr); !ok) return ok;
      routed_.insert(next.dnn_list[i].cidr);
      if (routes_) {
        if (auto ok = routes_->add(next.dnn_list[i]); !ok) return ok;
      }
    }
    if (!next.dnn_list[i].ip_forward_enable || !netfilter_) continue;
    if (auto ok = Host{}.enable_forwarding(); !ok) log_.warn("host", ok.error());
  }
  if (netfilter_ && next.dnn_list != config_.dnn_list) {
    if (auto ok = netfilter_->apply(next); !ok) return ok;
  }
  return operations_->listen(next);
}

ops::Actions::Outcome Daemon::reload() {
  const auto loaded = config::load(path_);
  if (!loaded) {
    std::string text;
    for (const auto& error : loaded.error()) text += config::to_string(path_, error) + "\n";
    text.pop_back();
    return failure("nothing changed: " + text);
  }
  std::vector<config::Difference> applied;
  std::vector<config::Difference> later;
  const bool networks_stay = keeps(loaded->config.dnn_list, config_.dnn_list);
  for (auto& difference : config::compare(config_, loaded->config)) {
    const bool live = difference.live && (networks_stay || !difference.key.starts_with("dnnList["));
    (live ? applied : later).push_back(std::move(difference));
  }
  auto next = next_config(loaded->config);
  if (!next) return failure("nothing changed: " + next.error());
  if (auto ok = apply_to_host(*next); !ok) return failure("nothing changed: " + ok.error());
  log_.apply(next->logger);
  config_ = std::move(*next);
  const Now now = runtime::now();
  act(control_->reconfigure(now, control_settings(config_, now)));
  std::string text = applied.empty() ? "nothing to apply" : "applied: " + list_of(applied);
  if (!later.empty()) text += "; needs a restart: " + list_of(later);
  return text;
}

void Daemon::on_reload() {
  runtime::notify_reloading();
  if (auto reopened = log_.reopen(); !reopened) log_.error("reload", reopened.error());
  const auto outcome = reload();
  if (outcome) {
    log_.info("reload", *outcome);
  } else {
    log_.error("reload", outcome.error());
  }
  runtime::notify_ready("serving N4 at " + to_string(n4_->local()));
}

ops::Actions Daemon::actions() {
  ops::Actions actions;
  actions.set_level = [this](config::LogLevel level) -> ops::Actions::Outcome {
    config_.logger.level = level;
    log_.apply(config_.logger);
    return std::string{"log level set"};
  };
  actions.reload = [this] {
    auto outcome = reload();
    if (outcome) log_.info("reload", *outcome);
    return outcome;
  };
  actions.set_draining = [this](bool on, bool end) -> ops::Actions::Outcome {
    draining_ = on;
    end_when_empty_ = on && end;
    act(control_->set_draining(runtime::now(), on));
    runtime::notify_status(on ? "draining" : "serving N4 at " + to_string(n4_->local()));
    if (!on) return std::string{"new sessions again"};
    return fmt::format("no new sessions; SMFs are told{}",
                       end ? "; upf stops once the last session is gone" : "");
  };
  actions.release_session = [this](Seid seid) -> ops::Actions::Outcome {
    act(control_->release_session(runtime::now(), seid));
    return std::string{"session released"};
  };
  actions.drop_association = [this](const std::string& text) -> ops::Actions::Outcome {
    const pfcp::NodeId node = node_of(text);
    if (control_->associations().find(node) == nullptr) {
      return failure("no association with " + text);
    }
    act(control_->drop_association(runtime::now(), node));
    return std::string{"association dropped"};
  };
  actions.audit = [this](bool repair) -> ops::Actions::Outcome {
    bool begun = false;
    act(control_->start_audit(runtime::now(), repair, begun));
    if (!begun) return failure(std::string{"an audit runs already"});
    return std::string{"an audit has begun; GET /v1/audit says how it goes"};
  };
  return actions;
}

}  // namespace upf::app

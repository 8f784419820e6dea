#include <fmt/format.h>

#include "src/app/control_settings.hpp"
#include "src/app/daemon.hpp"
#include "upf/pfcp/ies/common.hpp"

// What SIGHUP and the API's reload do. A configuration is taken as a whole or not at all: one that
// is wrong, or asks for what the host refuses, leaves everything as it was.
namespace upf::app {
namespace {

/// Of a Node ID as people write it.
pfcp::NodeId node_of(const std::string& text) {
  if (const auto v4 = parse_ipv4(text)) return {*v4};
  if (const auto v6 = parse_ipv6(text)) return {*v6};
  return {text};
}

std::string list_of(const std::vector<config::Difference>& differences, bool live) {
  std::string text;
  for (const auto& difference : differences) {
    if (difference.live != live) continue;
    text += fmt::format("{}{} \"{}\" -> \"{}\"", text.empty() ? "" : ", ", difference.key,
                        difference.before, difference.after);
    if (!difference.why.empty()) text += fmt::format(" ({})", difference.why);
  }
  return text;
}

}  // namespace

void write_remarks(Log& log, const std::string& path, const config::Loaded& loaded) {
  for (const auto& warning : loaded.warnings) log.warn("config", config::to_string(path, warning));
  for (const auto& note : loaded.notes) log.info("config", config::to_string(path, note));
}

Result<void, std::string> Daemon::add_networks(const config::Config& next) {
  for (std::size_t i = config_.dnn_list.size(); i < next.dnn_list.size(); ++i) {
    const config::Dnn& dnn = next.dnn_list[i];
    if (!routed_.contains(dnn.cidr)) {
      if (auto ok = plane_->add_network(dnn.cidr); !ok) return ok;
      routed_.insert(dnn.cidr);
    }
    if (!routes_) continue;
    if (auto ok = routes_->add(dnn); !ok) return ok;
  }
  return {};
}

// Each step that fails changes nothing by itself, and those before it are taken back; but for
// routes, which go with the device. They come last: what they need is there then, and only another
// route can refuse them.
Result<void, std::string> Daemon::apply_to_host(const config::Config& next) {
  if (auto ok = operations_->listen(next); !ok) return ok;
  const bool rules = netfilter_ && next.dnn_list != config_.dnn_list;
  auto done = rules ? netfilter_->apply(next) : Result<void, std::string>{};
  if (done) {
    done = add_networks(next);
    if (!done && rules) (void)netfilter_->apply(config_);
  }
  if (!done) {
    (void)operations_->listen(config_);
    return done;
  }
  for (std::size_t i = config_.dnn_list.size(); i < next.dnn_list.size(); ++i) {
    if (!next.dnn_list[i].ip_forward_enable || !netfilter_) continue;
    if (auto ok = Host{}.enable_forwarding(); !ok) log_.warn("host", ok.error());
  }
  return {};
}

ops::Actions::Outcome Daemon::reload() {
  const auto loaded = config::load(path_);
  if (!loaded) {
    std::string text;
    for (const auto& error : loaded.error()) {
      text += (text.empty() ? "" : "; ") + config::to_string(path_, error);
    }
    return failure("nothing changed: " + text);
  }
  config::Reload plan = config::plan_reload(config_, loaded->config);
  if (auto ok = apply_to_host(plan.next); !ok) return failure("nothing changed: " + ok.error());
  config_ = std::move(plan.next);
  log_.apply(config_.logger);
  write_remarks(log_, path_, *loaded);
  const Now now = runtime::now();
  act(control_->reconfigure(now, control_settings(config_, now)));
  const std::string applied = list_of(plan.differences, true);
  const std::string later = list_of(plan.differences, false);
  std::string text = applied.empty() ? "nothing to apply" : "applied: " + applied;
  if (!later.empty()) text += "; needs a restart: " + later;
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
  runtime::notify_ready(state());
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
    act(control_->set_draining(runtime::now(), on, end));
    runtime::notify_status(state());
    if (!on) return std::string{"new sessions again"};
    return fmt::format("no new sessions; SMFs are told{}",
                       end ? ", and asked to release their associations within 10 minutes; upf "
                             "stops once the last session is gone"
                           : "");
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

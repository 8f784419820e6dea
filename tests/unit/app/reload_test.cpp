// What a reload does with each key, and what checks say of it beforehand.
#include <fmt/format.h>

#include "unit/app/daemon_fixture.hpp"

namespace upf::app::test {
namespace {

TEST_F(Daemon, AReloadAppliesWhatCanChangeInLife) {
  start(with_api());
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api(
      "logger: {level: debug}\nmetrics: {listen: '127.0.0.80:" + std::to_string(free_port()) +
      "'}\n");
  const std::string done = api("/v1/reload", "POST")["done"];
  EXPECT_NE(done.find("logger.level \"info\" -> \"debug\""), std::string::npos) << done;
  EXPECT_EQ(done.find("restart"), std::string::npos) << done;
  EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "debug");
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api("gtp: {}\n");
  const auto refused = api("/v1/reload", "POST", 409);
  EXPECT_NE(refused["error"].get<std::string>().find("gtp: unknown key (did you mean gtpu?)"),
            std::string::npos);
  EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "debug");
  EXPECT_EQ(stop(), 0);
}

// A data network that is added behind the others is routed and served at once.
TEST_F(Daemon, AReloadAddsDataNetworks) {
  start(with_api());
  std::string yaml = with_api("description: two\n");
  const std::string one = "[{dnn: internet, cidr: 10.60.0.0/16}]";
  yaml.replace(yaml.find(one), one.size(),
               "[{dnn: internet, cidr: 10.60.0.0/16}, {dnn: ims, cidr: 10.61.0.0/16}]");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml << std::flush;
  const std::string done = api("/v1/reload", "POST")["done"];
  EXPECT_NE(done.find("dnnList[1].dnn \"\" -> \"ims\""), std::string::npos) << done;
  EXPECT_EQ(done.find("restart"), std::string::npos) << done;
  EXPECT_EQ(plane_->networks, std::vector{*parse_ip_prefix("10.61.0.0/16")});
  EXPECT_EQ(api("/v1/pools")["pools"].size(), 2U);
  // Put in front of the others, nothing of the list is taken.
  yaml.replace(yaml.find("[{dnn: internet"), 1, "[{dnn: first, cidr: 10.59.0.0/16}, ");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml << std::flush;
  const std::string refused = api("/v1/reload", "POST")["done"];
  EXPECT_NE(refused.find("needs a restart: dnnList[0].dnn"), std::string::npos) << refused;
  EXPECT_EQ(plane_->networks.size(), 1U);  // before a question: the daemon's thread is past it then
  EXPECT_EQ(api("/v1/pools")["pools"][0]["dnn"], "internet");
  EXPECT_EQ(stop(), 0);
}

/// A good configuration, and for each key another value that is good as well.
struct Alternative {
  const char* key;
  nlohmann::json value;
};
const std::vector<Alternative>& alternatives() {
  static const std::vector<Alternative> all{
      {"description", "another"},
      {"pfcp.addr", "127.0.0.81"},
      {"pfcp.nodeID", "other.example.org"},
      {"pfcp.advertise", "192.0.2.9"},
      {"pfcp.retransTimeout", "2s"},
      {"pfcp.maxRetrans", 5},
      {"pfcp.peers", {"127.0.0.99"}},
      {"pfcp.allow", {"127.0.0.0/8"}},
      {"pfcp.heartbeat.interval", "1h"},
      {"pfcp.heartbeat.purgeAfter", "5m"},
      {"pfcp.limits.associations", 7},
      {"pfcp.limits.sessions", 7},
      {"pfcp.limits.sessionsPerPeer", 7},
      {"pfcp.limits.rulesPerSession", 7},
      {"pfcp.limits.requestsPerSecond", 7},
      {"gtpu.forwarder", "gtp5g"},
      {"gtpu.ifList[0].addr", "127.0.0.82"},
      {"gtpu.ifList[0].type", "N9"},
      {"gtpu.ifList[0].name", "another"},
      {"gtpu.ifList[0].ifname", "lo"},
      {"gtpu.ifList[0].mtu", 1400},
      {"gtpu.ifList[0].advertise", "192.0.2.9"},
      {"gtpu.ifList[0].networkInstance", "access"},
      {"gtpu.ifList[0].bindTo", "lo"},
      {"gtpu.ifname", "upfgtp9"},
      {"gtpu.qos", false},
      {"gtpu.versionCheck", false},
      {"gtpu.workers", 3},
      {"gtpu.withoutOffloads", {"uso"}},
      {"gtpu.echo.interval", "2m"},
      {"gtpu.echo.timeout", "4s"},
      {"gtpu.echo.retries", 7},
      {"gtpu.audit.interval", "1h"},
      {"gtpu.audit.repair", false},
      {"gtpu.buffering.packets", 7},
      {"gtpu.buffering.bytes", "2MiB"},
      {"gtpu.buffering.totalBytes", "3MiB"},
      {"gtpu.buffering.drop", "newest"},
      {"dnnList[0].dnn", "ims"},
      {"dnnList[0].cidr", "10.70.0.0/16"},
      {"dnnList[0].natifname", "lo"},
      {"dnnList[0].ipForwardEnable", true},
      {"dnnList[0].tcpMss", 1340},
      {"dnnList[0].table", 100},
      {"predefinedRules", "rules.yaml"},
      {"logger.enable", false},
      {"logger.level", "debug"},
      {"logger.reportCaller", true},
      {"logger.format", "json"},
      {"metrics.listen", "127.0.0.80:" + std::to_string(free_port())},
      {"api.socket", "/tmp/kupf-another.sock"},
      {"api.listen", "127.0.0.80:9806"},
      {"api.page", true},
  };
  return all;
}

/// "gtpu.ifList[0].mtu" as a JSON pointer.
nlohmann::json::json_pointer pointer_to(std::string key) {
  for (const auto& [from, to] : {std::pair{".", "/"}, std::pair{"[0]", "/0"}}) {
    for (std::size_t at = 0; (at = key.find(from, at)) != std::string::npos; at += 2) {
      key.replace(at, std::strlen(from), to);
    }
  }
  return nlohmann::json::json_pointer{"/" + key};
}

/// Whether the README's table of keys marks it as one that a reload applies.
bool is_marked(std::string key) {
  if (const std::size_t at = key.find("[0]"); at != std::string::npos) key.replace(at, 3, "[]");
  std::ifstream readme{std::string{KUPF_SOURCE_DIR} + "/configs/README.md"};
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("| `" + key + "` |")) return line.ends_with("*(reload)* |");
  }
  ADD_FAILURE() << key << " is not in configs/README.md";
  return false;
}

// Every key: what the README marks is in force after a reload, the rest is named and is not.
TEST_F(Daemon, AReloadDoesWhatTheReadmeSaysOfEachKey) {
  std::ofstream{folder_ / "rules.yaml"}
      << "rules: [{name: a, flows: [permit out ip from any to any]}]\n";
  nlohmann::json base = {
      {"version", "1.0.3"},
      {"pfcp", {{"addr", "127.0.0.80"}, {"nodeID", "upf"}, {"heartbeat", {{"interval", "0"}}}}},
      {"gtpu", {{"forwarder", "userspace"}}},
      {"api", {{"socket", api_socket()}}}};
  base["gtpu"]["ifList"][0] = {{"addr", "127.0.0.80"}, {"type", "N3"}};
  base["dnnList"][0] = {{"dnn", "internet"}, {"cidr", "10.60.0.0/16"}};
  start(base.dump());
  const auto reload_with = [&](const nlohmann::json& yaml) {
    std::ofstream{folder_ / "upfcfg.yaml"} << yaml.dump() << std::flush;
    return api("/v1/reload", "POST")["done"].get<std::string>();
  };
  const auto keys = api("/v1/config")["config"];
  for (const auto& [key, before] : keys.items()) {
    if (key == "version") continue;  // there is one
    const auto other = std::ranges::find(alternatives(), key, &Alternative::key);
    ASSERT_NE(other, alternatives().end()) << key << " needs another value in alternatives()";
    nlohmann::json changed = base;
    changed[pointer_to(key)] = other->value;
    const std::string done = reload_with(changed);
    const bool live = is_marked(key);
    EXPECT_TRUE(done.starts_with((live ? "applied: " : "nothing to apply; needs a restart: ") +
                                 key + " \""))
        << done;
    EXPECT_EQ(api("/v1/config")["config"][key] != before, live) << key;
    reload_with(base);
    EXPECT_EQ(api("/v1/config")["config"], keys) << key;
  }
  EXPECT_EQ(stop(), 0);
}

/// What a check of the daemon's file says, and what a reload then does: the same.
class CheckedReload : public Daemon {
 protected:
  std::string reload_with(const std::string& yaml) {
    std::ofstream{folder_ / "upfcfg.yaml"} << yaml << std::flush;
    const auto loaded = config::load(folder_ / "upfcfg.yaml");
    EXPECT_TRUE(loaded.has_value()) << yaml;
    const http::UnixPath socket{api_socket()};
    const auto said = preview(socket, loaded->config).value();
    const std::string done = api("/v1/reload", "POST")["done"];
    std::string left;
    for (const auto& difference : said) {
      const std::string key = " " + difference.key + " ";
      EXPECT_NE(done.find(key), std::string::npos) << done;
      EXPECT_EQ(done.find(key) < done.find("needs a restart"), difference.live) << done;
      if (!difference.live) left += config::to_string(difference) + "\n";
    }
    std::string after;
    const auto still = preview(socket, loaded->config).value();
    for (const auto& difference : still) {
      after += config::to_string(difference) + "\n";
    }
    EXPECT_EQ(after, left);
    return done;
  }
};

TEST_F(CheckedReload, OfANetworkInFrontOfOthers) {
  start(with_api());
  std::string yaml = with_api("description: changed\n");
  yaml.replace(yaml.find("[{dnn: internet"), 1, "[{dnn: first, cidr: 10.59.0.0/16}, ");
  EXPECT_TRUE(reload_with(yaml).starts_with(
      "applied: description \"\" -> \"changed\"; needs a restart: dnnList[0].dnn "));
  EXPECT_EQ(api("/v1/pools")["pools"].size(), 1U);
  EXPECT_EQ(stop(), 0);
}

// A name that DNS hasn't got is no reason to refuse reloads, and neither is a new one.
TEST_F(CheckedReload, OfPeersByName) {
  const auto with_peers = [&](const std::string& peers, const std::string& more = "") {
    std::string yaml = with_api(more);
    return yaml.insert(yaml.find("heartbeat:"), "peers: [" + peers + "], ");
  };
  start(with_peers("known.invalid"));
  EXPECT_NE(log().find("pfcp.peers: the name \"known.invalid\" can't be resolved"),
            std::string::npos);
  EXPECT_EQ(reload_with(with_peers("known.invalid", "description: new\n")),
            "applied: description \"\" -> \"new\"");
  EXPECT_EQ(
      reload_with(with_peers("known.invalid, new.invalid")),
      "applied: description \"new\" -> \"\"; needs a restart: pfcp.peers \"known.invalid\" -> "
      "\"known.invalid, new.invalid\" (a new name is looked up at start; an address would do "
      "now)");
  EXPECT_EQ(reload_with(with_peers("127.0.0.98")),
            "applied: pfcp.peers \"known.invalid\" -> \"127.0.0.98\"");
  EXPECT_EQ(stop(), 0);
}

TEST_F(CheckedReload, OfAChangedRulesFile) {
  const std::string yaml = with_api("predefinedRules: rules.yaml\n");
  const auto write_rules = [&](const std::string& name) {
    std::ofstream{folder_ / "rules.yaml"} << "rules: [{name: " << name
                                          << ", flows: [permit out ip from any to any]}]\n";
  };
  write_rules("video");
  start(yaml);
  EXPECT_EQ(reload_with(yaml), "nothing to apply");
  write_rules("audio");
  EXPECT_EQ(reload_with(yaml),
            "nothing to apply; needs a restart: predefinedRules.rules[0].name \"video\" -> "
            "\"audio\"");
  EXPECT_EQ(stop(), 0);
}

// From one address to all of them on the same port and back: the old server is in the way until the
// new one is there. What is refused leaves the old one serving.
TEST_F(CheckedReload, OfWhereMetricsAreServed) {
  const std::uint16_t port = free_port();
  const auto at = [&](const std::string& address) {
    return with_api(fmt::format("metrics: {{listen: '{}:{}'}}\n", address, port));
  };
  const auto scrape = [&](const char* address) {
    const auto reply = http::fetch(SocketAddress{*parse_ip(address), port}, "GET", "/metrics");
    return reply.has_value() && reply->status == 200;
  };
  start(at("127.0.0.80"));
  EXPECT_TRUE(scrape("127.0.0.80"));
  EXPECT_FALSE(scrape("127.0.0.81"));
  reload_with(at("0.0.0.0"));
  EXPECT_TRUE(scrape("127.0.0.80") && scrape("127.0.0.81"));
  EXPECT_NE(log().find("whoever reaches 0.0.0.0 reads the metrics"), std::string::npos);
  reload_with(at("127.0.0.80"));
  EXPECT_TRUE(scrape("127.0.0.80"));
  EXPECT_FALSE(scrape("127.0.0.81"));
  const auto taken = http::Server::open(SocketAddress{*parse_ip("127.0.0.81"), port},
                                        [](const auto&, const auto& done) { done({}); });
  ASSERT_TRUE(taken.has_value());
  std::ofstream{folder_ / "upfcfg.yaml"} << at("0.0.0.0") << std::flush;
  const std::string refused = api("/v1/reload", "POST", 409)["error"];
  EXPECT_NE(refused.find("nothing changed: listening at 0.0.0.0"), std::string::npos) << refused;
  EXPECT_TRUE(scrape("127.0.0.80"));
  EXPECT_EQ(stop(), 0);
}

// Whatever fails, and whatever was to be done before it.
TEST_F(Daemon, AReloadThatFailsChangesNothing) {
  const std::uint16_t port = free_port();
  const auto metrics_at = [&](const char* address) {
    std::string yaml = with_api(
        fmt::format("metrics: {{listen: '{}:{}'}}\nlogger: {{level: debug}}\n", address, port));
    const std::string end = "cidr: 10.60.0.0/16}";
    return yaml.insert(yaml.find(end) + end.size(), ", {dnn: ims, cidr: 10.61.0.0/16}");
  };
  const auto scraped = [&](const char* address) {
    return http::fetch(SocketAddress{*parse_ip(address), port}, "GET", "/metrics").has_value();
  };
  const auto nothing_changed = [&](const std::string& why) {
    const std::string refused = api("/v1/reload", "POST", 409)["error"];
    EXPECT_TRUE(refused.starts_with("nothing changed: " + why)) << refused;
    EXPECT_EQ(api("/v1/pools")["pools"].size(), 1U);
    EXPECT_EQ(api("/v1/config")["config"]["logger.level"], "info");
    EXPECT_TRUE(plane_->networks.empty());
    EXPECT_TRUE(scraped("127.0.0.80"));
    EXPECT_FALSE(scraped("127.0.0.81"));
  };
  start(with_api(fmt::format("metrics: {{listen: '127.0.0.80:{}'}}\n", port)));
  std::ofstream{folder_ / "upfcfg.yaml"} << metrics_at("192.0.2.1");  // isn't this host's
  nothing_changed("listening at 192.0.2.1");
  plane_->no_network = "another route";
  std::ofstream{folder_ / "upfcfg.yaml"} << metrics_at("127.0.0.81");
  nothing_changed("another route");
  plane_->no_network.clear();
  EXPECT_TRUE(api("/v1/reload", "POST").contains("done"));
  EXPECT_EQ(plane_->networks.size(), 1U);
  EXPECT_TRUE(scraped("127.0.0.81"));
  EXPECT_EQ(stop(), 0);
}

// What `upf --check` says beside "good", of a daemon that runs.
TEST_F(Daemon, ACheckSaysWhatWouldChange) {
  start(with_api());
  const auto now = config::parse(with_api());
  const auto then = config::parse(with_api("logger: {level: debug}\n"));
  ASSERT_TRUE(now && then);
  const http::UnixPath socket{api_socket()};
  EXPECT_EQ(preview_text(preview(socket, now->config).value()),
            "the running daemon has the same\n");
  EXPECT_EQ(preview_text(preview(socket, then->config).value()),
            "would change in the running daemon:\n"
            "  logger.level: \"info\" -> \"debug\" (reload)\n");
  EXPECT_EQ(stop(), 0);
  EXPECT_FALSE(preview(socket, now->config).has_value());
}

// Who else can look, before it is so and when it is.
TEST_F(Daemon, AnApiThatOthersReachIsWarnedOf) {
  const std::string yaml = configuration(
      fmt::format("api: {{listen: '0.0.0.0:{}'}}\nmetrics: {{listen: '0.0.0.0:{}'}}\n", free_port(),
                  free_port()));
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(yaml, {"--check"}), 0);
  const std::string file = folder_ / "upfcfg.yaml";
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string warning = file + ":5:7: api.listen: 0.0.0.0 is open to others";
  EXPECT_NE(said.find("upf: warning: " + warning), std::string::npos) << said;
  EXPECT_NE(said.find("upf: note: " + file + ":6:11: metrics.listen: "), std::string::npos) << said;
  start(yaml);
  EXPECT_NE(log().find("WARN  config: " + warning), std::string::npos) << log();
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, SighupNamesWhatNeedsARestart) {
  start(with_api());
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api("description: new\n") << std::flush;
  std::string yaml = with_api();
  yaml.replace(yaml.find("10.60.0.0/16"), 12, "10.70.0.0/16");
  std::ofstream{folder_ / "upfcfg.yaml"} << yaml;
  ::kill(::getpid(), SIGHUP);
  for (int i = 0; i < 1500 && log().find("reload:") == std::string::npos; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_NE(log().find("needs a restart: dnnList[0].cidr"), std::string::npos) << log();
  EXPECT_EQ(api("/v1/pools")["pools"][0]["cidr"], "10.60.0.0/16");
  EXPECT_EQ(stop(), 0);
}

TEST_F(Daemon, ARefusedReloadIsALineWithAllErrors) {
  start(with_api());
  std::ofstream{folder_ / "upfcfg.yaml"} << with_api("gtp: {}\npcfp: {}\n");
  ::kill(::getpid(), SIGHUP);
  for (int i = 0; i < 1500 && log().find("reload:") == std::string::npos; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  const std::string said = log().substr(log().find("reload:"));
  EXPECT_NE(said.find("gtp: unknown key (did you mean gtpu?); "), std::string::npos) << said;
  EXPECT_NE(said.find("pcfp: unknown key"), std::string::npos) << said;
  EXPECT_EQ(said.find("\\x0a"), std::string::npos) << said;
  EXPECT_EQ(stop(), 0);
}

}  // namespace
}  // namespace upf::app::test

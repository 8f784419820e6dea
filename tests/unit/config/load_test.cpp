#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "upf/config/config.hpp"

namespace upf::config {
namespace {

using namespace std::chrono_literals;

const std::string kSource = KUPF_SOURCE_DIR;

/// What every file needs, with a place for more.
std::string file(const std::string& pfcp = "", const std::string& gtpu = "",
                 const std::string& rest = "") {
  return "version: 1.0.3\n"
         "pfcp:\n"
         "  addr: 127.0.0.8\n"
         "  nodeID: 127.0.0.8\n" +
         pfcp +
         "gtpu:\n"
         "  forwarder: userspace\n"
         "  ifList:\n"
         "    - addr: 127.0.0.8\n"
         "      type: N3\n" +
         gtpu + "dnnList:\n  - dnn: internet\n    cidr: 10.60.0.0/16\n" + rest;
}

Config parsed(const std::string& yaml) {
  const auto loaded = parse(yaml);
  if (loaded) return loaded->config;
  for (const Remark& error : loaded.error()) ADD_FAILURE() << to_string("input", error);
  return {};
}

Errors refused(const std::string& yaml) {
  const auto loaded = parse(yaml);
  EXPECT_FALSE(loaded.has_value()) << yaml;
  return loaded ? Errors{} : loaded.error();
}

Remark only_error(const std::string& yaml) {
  const Errors errors = refused(yaml);
  EXPECT_EQ(errors.size(), 1U);
  return errors.empty() ? Remark{} : errors.front();
}

class Sample : public testing::TestWithParam<const char*> {};

TEST_P(Sample, LoadsWithoutAWord) {
  const auto loaded = load(kSource + "/configs/" + GetParam());
  ASSERT_TRUE(loaded.has_value()) << to_string(GetParam(), loaded.error().front());
  EXPECT_TRUE(loaded->warnings.empty()) << to_string(GetParam(), loaded->warnings.front());
}

INSTANTIATE_TEST_SUITE_P(Configs, Sample,
                         testing::Values("upfcfg.yaml", "upfcfg-open5gs.yaml",
                                         "upfcfg-userspace.yaml"),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name;
                         });

TEST(ConfigSamples, EveryYamlFileInConfigsIsTested) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/configs")) {
    files += entry.path().extension() == ".yaml" ? 1U : 0U;
  }
  EXPECT_EQ(files, 4U)
      << "add new samples to the list above; predefined-rules.yaml is tested below";
}

TEST(ConfigLoad, TakesEveryKeyOfGoUpf) {
  const Config config = parsed(
      "version: \"1.0.3\"\n"
      "description: all of go-upf's keys\n"
      "pfcp:\n  addr: 10.0.0.1\n  nodeID: upf.example.org\n  retransTimeout: 500ms\n"
      "  maxRetrans: 5\n"
      "gtpu:\n  forwarder: gtp5g\n  ifList:\n"
      "    - addr: 10.1.0.1\n      type: N3\n      name: upf.example.org\n      ifname: gtpif\n"
      "      mtu: 1400\n"
      "    - addr: 10.2.0.1\n      type: N9\n"
      "dnnList:\n  - dnn: internet\n    cidr: 10.60.0.1/16\n    natifname: eth0\n"
      "logger:\n  enable: false\n  level: trace\n  reportCaller: true\n");
  EXPECT_EQ(config.version, "1.0.3");
  EXPECT_EQ(config.description, "all of go-upf's keys");
  EXPECT_EQ(config.pfcp.addr.address, parse_ip("10.0.0.1"));
  EXPECT_EQ(config.pfcp.node_id, (Host{"upf.example.org", {}}));
  EXPECT_EQ(config.pfcp.retrans_timeout, 500ms);
  EXPECT_EQ(config.pfcp.max_retrans, 5);
  EXPECT_EQ(config.gtpu.forwarder, Forwarder::Gtp5g);
  ASSERT_EQ(config.gtpu.if_list.size(), 2U);
  EXPECT_EQ(config.gtpu.if_list[0].ifname, "gtpif");
  EXPECT_EQ(config.gtpu.if_list[0].mtu, 1400U);
  EXPECT_EQ(config.gtpu.if_list[1].type, InterfaceType::N9);
  ASSERT_EQ(config.dnn_list.size(), 1U);
  EXPECT_EQ(to_string(config.dnn_list[0].cidr), "10.60.0.1/16");
  EXPECT_EQ(config.dnn_list[0].natifname, "eth0");
  EXPECT_FALSE(config.logger.enable);
  EXPECT_EQ(config.logger.level, LogLevel::Trace);
  EXPECT_TRUE(config.logger.report_caller);
}

TEST(ConfigLoad, TakesKupfsOwnKeys) {
  const Config config =
      parsed(file("  peers: [10.0.0.2, smf.example.org]\n  allow: [10.0.0.0/8, 192.0.2.1]\n"
                  "  heartbeat: {interval: 0, purgeAfter: 1m30s}\n  limits: {sessions: 5}\n",
                  "      advertise: 192.0.2.7\n  qos: no\n  workers: 4\n"
                  "  withoutOffloads: [uso, udpGro]\n"
                  "  buffering: {totalBytes: 16MiB, drop: newest}\n",
                  "logger: {format: json}\nmetrics: {listen: '127.0.0.1:9805'}\n"
                  "api: {socket: /run/kupf/api.sock, listen: '[::1]:8080', page: true}\n"));
  EXPECT_EQ(config.pfcp.peers,
            (std::vector<Host>{{"10.0.0.2", parse_ip("10.0.0.2")}, {"smf.example.org", {}}}));
  EXPECT_EQ(config.pfcp.allow.size(), 2U);
  EXPECT_EQ(config.pfcp.heartbeat.interval, 0s);
  EXPECT_EQ(config.pfcp.heartbeat.purge_after, 90s);
  EXPECT_EQ(config.pfcp.limits.sessions, 5U);
  EXPECT_EQ(config.gtpu.if_list[0].advertise, parse_ip("192.0.2.7"));
  EXPECT_FALSE(config.gtpu.qos);
  EXPECT_EQ(config.gtpu.workers, 4U);
  EXPECT_EQ(config.gtpu.without_offloads, (std::vector<Offload>{Offload::Uso, Offload::UdpGro}));
  EXPECT_EQ(config.gtpu.buffering.total_bytes, 16U << 20U);
  EXPECT_EQ(config.gtpu.buffering.drop, DropPolicy::Newest);
  EXPECT_EQ(config.logger.format, LogFormat::Json);
  ASSERT_TRUE(config.metrics.listen.has_value());
  EXPECT_EQ(config.metrics.listen->port, 9805);
  EXPECT_EQ(config.api.listen->ip, parse_ip("::1"));
}

// cases.md 76: the key, its place, what was found and what is allowed; all of them at once.
TEST(ConfigErrors, NameKeyPlaceFoundAndAllowed) {
  const Errors errors = refused(
      "version: 1.0.2\n"
      "pfcp:\n"
      "  addr: 127.0.0.300\n"
      "  nodeId: 127.0.0.8\n"
      "gtpu:\n"
      "  forwarder: ebpf\n"
      "  ifList:\n"
      "    - addr: 127.0.0.8\n"
      "      type: N6\n"
      "      mtu: abc\n");
  std::string text;
  for (const Remark& error : errors) text += to_string("upfcfg.yaml", error) + "\n";
  EXPECT_EQ(
      text,
      "upfcfg.yaml:1:1: dnnList: missing; it must be a list with at least one entry\n"
      "upfcfg.yaml:1:10: version: found \"1.0.2\", allowed: 1.0.3 (the format of free5GC 3.2.0 and "
      "later; older files must be rewritten, configs/README.md shows how)\n"
      "upfcfg.yaml:3:3: pfcp.nodeID: missing; it must be an IPv4 or IPv6 address, or a host name\n"
      "upfcfg.yaml:3:9: pfcp.addr: found \"127.0.0.300\", allowed: an IPv4 or IPv6 address, or a "
      "host name\n"
      "upfcfg.yaml:4:3: pfcp.nodeId: unknown key (did you mean nodeID?); allowed here: addr, "
      "nodeID, advertise, retransTimeout, maxRetrans, peers, allow, heartbeat, limits\n"
      "upfcfg.yaml:6:14: gtpu.forwarder: found \"ebpf\", allowed: gtp5g or userspace\n"
      "upfcfg.yaml:9:13: gtpu.ifList[0].type: found \"N6\", allowed: N3 or N9\n"
      "upfcfg.yaml:10:12: gtpu.ifList[0].mtu: found \"abc\", allowed: 0 (kupf chooses) or a whole "
      "number from 576 to 65535\n");
}

TEST(ConfigErrors, AKeyGivenTwice) {
  const Remark error = only_error(file("  maxRetrans: 1\n  maxRetrans: 2\n"));
  EXPECT_EQ(error, (Remark{"pfcp.maxRetrans", 6, 3, "given twice; keep one of them"}));
}

TEST(ConfigErrors, AListWhereAValueBelongs) {
  EXPECT_EQ(only_error(file("  maxRetrans: [1]\n")).text,
            "found a list, allowed: a whole number from 0 to 255");
}

TEST(ConfigErrors, AValueWhereAListBelongs) {
  EXPECT_EQ(only_error(file("  allow: 10.0.0.1\n")).text,
            "found \"10.0.0.1\", allowed: a list (\"- …\" lines), each entry an address or a "
            "prefix, such as 10.0.0.2 or 10.0.0.0/8");
}

TEST(ConfigErrors, AValueWhereAMappingBelongs) {
  EXPECT_EQ(only_error(file("", "", "logger: info\n")).text,
            "found \"info\", allowed: a mapping of keys to values");
}

// cases.md 76: ifList absent, empty, or with nothing behind it.
TEST(ConfigErrors, NoInterface) {
  const std::string head = "version: 1.0.3\npfcp: {addr: 127.0.0.8, nodeID: 127.0.0.8}\n";
  const std::string tail = "dnnList: [{dnn: internet, cidr: 10.60.0.0/16}]\n";
  for (const char* gtpu :
       {"gtpu: {forwarder: userspace}\n", "gtpu: {forwarder: userspace, ifList: []}\n",
        "gtpu: {forwarder: userspace, ifList: }\n"}) {
    const Remark error = only_error(head + gtpu + tail);
    EXPECT_EQ(error.key, "gtpu.ifList");
    EXPECT_EQ(error.text, "missing; it must be a list with at least one entry");
  }
}

TEST(ConfigErrors, SyntaxNamesThePlace) {
  const Remark error = only_error("version: 1.0.3\npfcp: [unclosed\n");
  EXPECT_TRUE(error.text.starts_with("not YAML: ")) << error.text;
  EXPECT_GE(error.line, 2);
  EXPECT_GE(error.column, 1);
}

TEST(ConfigErrors, AnEmptyFile) {
  EXPECT_EQ(only_error("").text, "the file is empty");
  EXPECT_EQ(only_error("# nothing but this\n").text, "the file is empty");
}

// cases.md 76: the path is printed, with what a relative one means.
TEST(ConfigErrors, AFileThatIsNotThere) {
  const auto loaded = load("no/such/upfcfg.yaml");
  ASSERT_FALSE(loaded.has_value());
  const std::string text = to_string("no/such/upfcfg.yaml", loaded.error().front());
  EXPECT_EQ(text, "no/such/upfcfg.yaml: can't be read (" +
                      std::filesystem::absolute("no/such/upfcfg.yaml").string() +
                      "): No such file or directory");
}

TEST(ConfigErrors, ADirectory) {
  const auto loaded = load("/");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(to_string("/", loaded.error().front()), "/: can't be read: it is a directory");
}

// cases.md 31: a name is kept as it is; nothing is looked up while loading.
TEST(ConfigLoad, AnFqdnNodeIdIsText) {
  const Config config = parsed(
      "version: 1.0.3\npfcp: {addr: 127.0.0.8, nodeID: upf.5gc.invalid}\n"
      "gtpu: {forwarder: gtp5g, ifList: [{addr: 127.0.0.8, type: N3}]}\n"
      "dnnList: [{dnn: internet, cidr: 10.60.0.0/16}]\nlogger: {level: info}\n");
  EXPECT_EQ(config.pfcp.node_id.text, "upf.5gc.invalid");
  EXPECT_FALSE(config.pfcp.node_id.address.has_value());
}

TEST(ConfigLoad, AnEmptyOptionalKeyIsAbsent) {
  EXPECT_EQ(parsed(file("  maxRetrans:\n  peers:\n", "", "logger:\nmetrics: {listen: ''}\n")),
            parsed(file()));
}

TEST(ConfigLoad, GoUpfsEventExposureIsNamedAndIgnored) {
  const auto loaded = parse(file("", "", "ees:\n  enabled: true\n  port: 8088\n"));
  ASSERT_TRUE(loaded.has_value());
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_EQ(loaded->warnings[0].key, "ees");
  EXPECT_EQ(loaded->warnings[0].line, 13);
}

// What nobody asked to open stays closed.
TEST(ConfigLoad, APortAloneIsTheLoopbackAddresss) {
  for (const char* listen : {"9805", "':9805'", "127.0.0.1:9805"}) {
    const auto loaded = parse(file("", "", std::string{"api: {listen: "} + listen + "}\n"));
    ASSERT_TRUE(loaded.has_value()) << listen;
    EXPECT_EQ(loaded->config.api.listen, (Listen{*parse_ip("127.0.0.1"), 9805})) << listen;
    EXPECT_TRUE(loaded->warnings.empty()) << listen;
  }
}

TEST(ConfigLoad, AnApiThatOthersReachIsWarnedOf) {
  for (const char* listen : {"0.0.0.0:9805", "'[::]:9805'", "192.0.2.1:9805"}) {
    const auto loaded = parse(file("", "", std::string{"api: {listen: "} + listen + "}\n"));
    ASSERT_TRUE(loaded.has_value()) << listen;
    ASSERT_EQ(loaded->warnings.size(), 1U) << listen;
    EXPECT_EQ(loaded->warnings[0].key, "api.listen");
    EXPECT_EQ(loaded->warnings[0].line, 13);
    EXPECT_NE(loaded->warnings[0].text.find("open to others"), std::string::npos);
  }
  for (const char* listen : {"127.0.0.9:9805", "'[::1]:9805'"}) {
    const auto loaded = parse(file("", "", std::string{"api: {listen: "} + listen + "}\n"));
    ASSERT_TRUE(loaded.has_value()) << listen;
    EXPECT_TRUE(loaded->warnings.empty()) << listen;
  }
}

// Prometheus is most often elsewhere: worth a note.
TEST(ConfigLoad, MetricsThatOthersReachAreNoted) {
  const auto loaded = parse(file("", "", "metrics: {listen: 0.0.0.0:9805}\n"));
  ASSERT_TRUE(loaded.has_value());
  EXPECT_TRUE(loaded->warnings.empty());
  ASSERT_EQ(loaded->notes.size(), 1U);
  EXPECT_EQ(loaded->notes[0].key, "metrics.listen");
  EXPECT_TRUE(parse(file("", "", "metrics: {listen: 9805}\n"))->notes.empty());
}

TEST(ConfigErrors, TheSamePortForApiAndMetrics) {
  for (const auto& [api, metrics, taken] :
       {std::tuple{"9805", "9805", true}, std::tuple{"9805", "0.0.0.0:9805", true},
        std::tuple{"'[::]:9805'", "127.0.0.1:9805", true},
        std::tuple{"127.0.0.1:9805", "127.0.0.2:9805", false}, std::tuple{"9805", "9806", false}}) {
    const auto loaded = parse(
        file("", "", fmt::format("api: {{listen: {}}}\nmetrics: {{listen: {}}}\n", api, metrics)));
    EXPECT_EQ(loaded.has_value(), !taken) << api << " " << metrics;
    if (!loaded) {
      EXPECT_EQ(loaded.error().front().key, "metrics.listen");
    }
  }
}

struct Time {
  const char* text;
  std::optional<std::chrono::nanoseconds> value;
};
class GoDuration : public testing::TestWithParam<Time> {};

TEST_P(GoDuration, IsReadAsGoDoes) {
  const auto loaded = parse(file(std::string{"  retransTimeout: "} + GetParam().text + "\n"));
  ASSERT_EQ(loaded.has_value(), GetParam().value.has_value());
  if (loaded) {
    EXPECT_EQ(loaded->config.pfcp.retrans_timeout, *GetParam().value);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GoDuration,
                         testing::Values(Time{"1s", 1s}, Time{"500ms", 500ms}, Time{"1m30s", 90s},
                                         Time{"1.5s", 1500ms}, Time{".5s", 500ms}, Time{"+2s", 2s},
                                         Time{"1h2m3s", 3723s}, Time{"2500000us", 2500ms},
                                         Time{"3000\xc2\xb5s", 3ms}, Time{"24h", 24h},
                                         Time{"5", {}}, Time{"-1s", {}}, Time{"1 s", {}},
                                         Time{"s", {}}, Time{"1d", {}}, Time{"0", {}},
                                         Time{"1us", {}}, Time{"25h", {}}, Time{"1s1", {}},
                                         Time{"1e3s", {}}, Time{"99999999999999999999h", {}},
                                         Time{"nan", {}}, Time{"infs", {}}));

struct Wrong {
  const char* name;
  std::string yaml;
  const char* key;
};
class Refused : public testing::TestWithParam<Wrong> {};

TEST_P(Refused, WithTheKeyAndItsLine) {
  const Remark error = only_error(GetParam().yaml);
  EXPECT_EQ(error.key, GetParam().key);
  EXPECT_GT(error.line, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Values, Refused,
    testing::Values(
        Wrong{"MaxRetransTooLarge", file("  maxRetrans: 256\n"), "pfcp.maxRetrans"},
        Wrong{"MaxRetransNegative", file("  maxRetrans: -1\n"), "pfcp.maxRetrans"},
        Wrong{"AllowNotAnAddress", file("  allow: [localhost]\n"), "pfcp.allow[0]"},
        Wrong{"PeerNotAHost", file("  peers: ['a b']\n"), "pfcp.peers[0]"},
        Wrong{"HeartbeatWithoutUnit", file("  heartbeat: {interval: 10}\n"),
              "pfcp.heartbeat.interval"},
        Wrong{"UnknownLimit", file("  limits: {session: 1}\n"), "pfcp.limits.session"},
        Wrong{"LimitZero", file("  limits: {sessions: 0}\n"), "pfcp.limits.sessions"},
        Wrong{"MtuTooSmall", file("", "      mtu: 100\n"), "gtpu.ifList[0].mtu"},
        Wrong{"DeviceNameTooLong", file("", "  ifname: sixteen-letters-\n"), "gtpu.ifname"},
        Wrong{"DeviceNameThatTheKernelCompletes", file("", "  ifname: upf%d\n"), "gtpu.ifname"},
        Wrong{"SizeOverflow", file("", "  buffering: {bytes: 18014398509481985KiB}\n"),
              "gtpu.buffering.bytes"},
        Wrong{"SameAddressTwice", file("", "    - {addr: 127.0.0.8, type: N3}\n"),
              "gtpu.ifList[1].addr"},
        Wrong{"AdvertiseUnspecified", file("", "      advertise: 0.0.0.0\n"),
              "gtpu.ifList[0].advertise"},
        Wrong{"LevelUnknown", file("", "", "logger: {level: verbose}\n"), "logger.level"},
        Wrong{"BoolNotBool", file("", "", "logger: {enable: 1}\n"), "logger.enable"},
        Wrong{"ListenWithoutPort", file("", "", "metrics: {listen: 127.0.0.1}\n"),
              "metrics.listen"},
        Wrong{"ListenBareIpv6", file("", "", "metrics: {listen: '::1:90'}\n"), "metrics.listen"},
        Wrong{"PageWithoutAddress", file("", "", "api: {page: true}\n"), "api.page"},
        Wrong{"SocketRelative", file("", "", "api: {socket: run/api.sock}\n"), "api.socket"},
        Wrong{"UnknownTopLevel", file("", "", "sbi: {port: 1}\n"), "sbi"}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(ConfigErrors, CidrNeedsALength) {
  const Remark error = only_error(
      "version: 1.0.3\npfcp: {addr: 127.0.0.8, nodeID: 127.0.0.8}\n"
      "gtpu: {forwarder: gtp5g, ifList: [{addr: 127.0.0.8, type: N3}]}\n"
      "dnnList: [{dnn: internet, cidr: 10.60.0.0}]\n");
  EXPECT_EQ(error.key, "dnnList[0].cidr");
}

TEST(ConfigErrors, Gtp5gCarriesIpv4Only) {
  const Remark error = only_error(
      "version: 1.0.3\npfcp: {addr: 127.0.0.8, nodeID: 127.0.0.8}\n"
      "gtpu: {forwarder: gtp5g, ifList: [{addr: '2001:db8::1', type: N3}]}\n"
      "dnnList: [{dnn: internet, cidr: 10.60.0.0/16}]\n");
  EXPECT_EQ(error.key, "gtpu.ifList[0].addr");
  EXPECT_EQ(error.line, 3);
}

// cases.md 66, 73: several pools, equal and overlapping ones too.
TEST(ConfigLoad, OverlappingPoolsAreNamedAndTaken) {
  const auto loaded = parse(file("", "", "  - {dnn: ims, cidr: 10.60.128.0/17}\n"));
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->config.dnn_list.size(), 2U);
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_EQ(loaded->warnings[0].text, "10.60.128.0/17 overlaps 10.60.0.0/16 of dnnList[0]");
}

/// What a check says, a line for each difference; and that a reload does just that.
std::string preview(const Config& running, const Config& loaded) {
  const Reload reload = plan_reload(running, loaded);
  std::string text;
  std::string left;
  for (const Difference& d : reload.differences) {
    text += to_string(d) + "\n";
    if (!d.live) left += to_string(d) + "\n";
  }
  std::string again;
  for (const Difference& d : compare(describe(reload.next), loaded)) {
    again += to_string(d) + "\n";
  }
  EXPECT_EQ(again, left) << "what is left to change once it is done";
  return text;
}

TEST(ConfigReload, TellsWhatCanChangeWithoutARestart) {
  const Config before = parsed(file());
  EXPECT_EQ(preview(before, before), "");
  EXPECT_EQ(preview(before, parsed(file("  allow: [10.0.0.2]\n", "  workers: 2\n",
                                        "  - {dnn: ims, cidr: 10.62.0.0/16}\n"))),
            "pfcp.allow: \"\" -> \"10.0.0.2/32\" (reload)\n"
            "gtpu.workers: \"0\" -> \"2\" (restart)\n"
            "dnnList[1].dnn: \"\" -> \"ims\" (reload)\n"
            "dnnList[1].cidr: \"\" -> \"10.62.0.0/16\" (reload)\n"
            "dnnList[1].natifname: \"\" -> \"\" (reload)\n"
            "dnnList[1].ipForwardEnable: \"\" -> \"false\" (reload)\n"
            "dnnList[1].tcpMss: \"\" -> \"0\" (reload)\n"
            "dnnList[1].table: \"\" -> \"0\" (reload)\n");
}

TEST(ConfigReload, TakesWhatIsLiveAndLeavesTheRest) {
  const Config before = parsed(file("", "", "logger: {level: debug}\nmetrics: {listen: 9805}\n"));
  const Config loaded =
      parsed(file("  maxRetrans: 9\n  heartbeat: {interval: 5s}\n  advertise: "
                  "192.0.2.1\n  limits: {sessions: 3}\n",
                  "  qos: false\n  audit: {interval: 1h}\n"));
  const Config next = plan_reload(before, loaded).next;
  EXPECT_EQ(next.pfcp.max_retrans, 9);
  EXPECT_EQ(next.pfcp.heartbeat.interval, 5s);
  EXPECT_EQ(next.pfcp.limits.sessions, 3U);
  EXPECT_EQ(next.gtpu.audit.interval, 1h);
  EXPECT_EQ(next.logger.level, LogLevel::Info);
  EXPECT_FALSE(next.metrics.listen.has_value());
  EXPECT_FALSE(next.pfcp.advertise.has_value());
  EXPECT_TRUE(next.gtpu.qos);
}

TEST(ConfigReload, AddsDataNetworksBehindTheOthersAndTakesNothingElseOfTheList) {
  const std::string natted = "    natifname: eth0\n";
  const std::string ims = "  - {dnn: ims, cidr: 10.62.0.0/16}\n";
  const Config one = parsed(file());
  const Config two = parsed(file("", "", ims));
  const Config next = plan_reload(one, parsed(file("", "", natted + ims))).next;
  ASSERT_EQ(next.dnn_list.size(), 2U);
  EXPECT_EQ(next.dnn_list[0].natifname, "eth0");
  EXPECT_EQ(next.dnn_list[1].dnn, "ims");
  // In front, in another place, with another pool, or gone: all of it needs a restart.
  std::string front = file();
  front.insert(front.find("  - dnn: internet"), ims);
  for (const Config& loaded :
       {parsed(front), parsed(file("", "", natted + "  - {dnn: ims, cidr: 10.63.0.0/16}\n")),
        parsed(file("", "", natted))}) {
    EXPECT_EQ(preview(two, loaded).find("(reload)"), std::string::npos);
    EXPECT_EQ(plan_reload(two, loaded).next, two);
  }
  EXPECT_NE(
      preview(one, parsed(front))
          .find("dnnList[1].dnn: \"\" -> \"internet\" (restart: data networks are added behind "
                "those that are there)"),
      std::string::npos);
  EXPECT_EQ(plan_reload(one, parsed(front)).next, one);
}

TEST(ConfigReload, TakesNewPeersByAddressAndKnownNames) {
  Config running = parsed(file("  peers: [a.example.org, b.example.org]\n"));
  running.pfcp.peers[0].address = parse_ip("10.0.0.1");  // b isn't in DNS
  EXPECT_EQ(preview(running, parsed(file("  peers: [a.example.org, 10.0.0.3, c.example.org]\n"))),
            "pfcp.peers: \"a.example.org, b.example.org\" -> \"a.example.org, 10.0.0.3, "
            "c.example.org\" (restart: a new name is looked up at start; an address would do "
            "now)\n");
  const Config loaded = parsed(file("  peers: [b.example.org, 10.0.0.3, a.example.org]\n"));
  EXPECT_EQ(preview(running, loaded),
            "pfcp.peers: \"a.example.org, b.example.org\" -> \"b.example.org, 10.0.0.3, "
            "a.example.org\" (reload)\n");
  EXPECT_EQ(plan_reload(running, loaded).next.pfcp.peers,
            (std::vector<Host>{{"b.example.org", {}},
                               {"10.0.0.3", parse_ip("10.0.0.3")},
                               {"a.example.org", parse_ip("10.0.0.1")}}));
}

void expect_in_readme(const std::string& table, const std::string& name) {
  std::ifstream readme{kSource + "/configs/README.md"};
  std::stringstream text;
  text << readme.rdbuf();
  if (text.str().find("\n" + table + "\n") != std::string::npos) return;
  std::ofstream{name} << table;
  ADD_FAILURE() << "configs/README.md hasn't got the table of keys as it is now; it is in "
                << std::filesystem::absolute(name);
}

TEST(ConfigReference, IsWhatTheReadmeSays) {
  expect_in_readme(reference(), "config-reference.md");
  expect_in_readme(predefined_reference(), "rules-reference.md");
}

TEST(PredefinedRulesFile, TheSampleLoads) {
  std::ifstream sample{kSource + "/configs/predefined-rules.yaml"};
  std::stringstream text;
  text << sample.rdbuf();
  const auto rules = parse_predefined(text.str());
  ASSERT_TRUE(rules) << to_string("sample", rules.error().front());
  ASSERT_EQ(rules->rules.size(), 2U);
  EXPECT_EQ(rules->rules[0].flows.size(), 2U);
  EXPECT_EQ(rules->rules[0].downlink_kbps, 8000U);
  EXPECT_EQ(rules->rules[1].action, PredefinedAction::Drop);
}

TEST(PredefinedRulesFile, SaysWhatIsWrongAndWhere) {
  const auto errors_of = [](const char* yaml) {
    const auto rules = parse_predefined(yaml);
    EXPECT_FALSE(rules) << yaml;
    return rules ? std::string{} : to_string("f", rules.error().front());
  };
  EXPECT_EQ(
      errors_of("rules:\n  - name: a\n    flows: [permit in ip from any to any]\n").substr(0, 29),
      "f:3:13: rules[0].flows[0]: fo");
  EXPECT_NE(errors_of("rules:\n  - name: a\n").find("rules[0].flows: missing"), std::string::npos);
  EXPECT_NE(errors_of("rules:\n"
                      "  - {name: a, flows: [permit out ip from any to any]}\n"
                      "  - {name: a, flows: [permit out ip from any to any]}\n")
                .find("f:3:6: rules[1].name: \"a\" is the name of rules[0] too"),
            std::string::npos);
  EXPECT_NE(errors_of("rules: [{name: a, flows: [permit out ip from any to any], uplinkKbps: 5}]")
                .find("one direction only"),
            std::string::npos);
  EXPECT_NE(errors_of("rules: [{name: a, flows: [permit out ip from any to any], action: drop, "
                      "mark: 1}]")
                .find("rules[0].mark: what is dropped has no mark"),
            std::string::npos);
}

TEST(PredefinedRulesFile, IsReadWithTheConfigurationThatNamesIt) {
  const auto folder = std::filesystem::temp_directory_path() / "kupf-predefined-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "upfcfg.yaml").string();
  std::ofstream{path} << file("", "", "predefinedRules: rules.yaml\n");
  std::filesystem::remove(folder / "rules.yaml");
  auto loaded = load(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().front().key, "predefinedRules");
  EXPECT_NE(loaded.error().front().text.find("rules.yaml"), std::string::npos);
  std::ofstream{folder / "rules.yaml"}
      << "rules: [{name: a, flows: [permit out ip from any to any]}]\n";
  loaded = load(path);
  ASSERT_TRUE(loaded) << to_string(path, loaded.error().front());
  EXPECT_EQ(loaded->config.predefined.rules.at(0).name, "a");
  const Config before = loaded->config;
  std::ofstream{folder / "rules.yaml"}
      << "rules: [{name: b, flows: [permit out ip from any to any]}]\n";
  loaded = load(path);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(preview(before, loaded->config),
            "predefinedRules.rules[0].name: \"a\" -> \"b\" (restart)\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace upf::config

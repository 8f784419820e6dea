#include "src/app/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "src/app/control_settings.hpp"
#include "src/app/netfilter.hpp"

namespace upf::app {
namespace {

namespace fs = std::filesystem;

config::Config sample(const std::string& pfcp, const std::string& dnns) {
  auto loaded =
      config::parse("version: 1.0.3\npfcp: {" + pfcp +
                    "}\ngtpu: {forwarder: userspace, ifList: [{addr: 10.0.0.8, type: N3}, "
                    "{addr: 10.0.0.9, type: N9, advertise: 192.0.2.9, networkInstance: "
                    "n9.example}]}\ndnnList: [" +
                    dnns + "]\n");
  if (!loaded) {
    ADD_FAILURE() << config::to_string("sample", loaded.error().front());
    return {};
  }
  return loaded->config;
}

const char* const kPool = "{dnn: internet, cidr: 10.60.0.0/16}";
const char* const kN4 = "addr: 127.0.0.8, nodeID: 127.0.0.8";

class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        (fs::temp_directory_path() / ("kupf-host-" + std::to_string(::getpid()))).string() + "/";
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path{root_ + path}.parent_path());
    std::ofstream{root_ + path} << text;
  }
  std::string root_{};
};

// cases.md 70: who has the port.
TEST_F(FakeRoot, NamesTheOwnerOfAPort) {
  put("proc/net/udp",
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode ref pointer drops\n"
      " 1410: 0800007F:2265 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 "
      "4711 2 0000000000000000 0\n");
  put("proc/77/comm", "go-upf\n");
  fs::create_directories(root_ + "proc/77/fd");
  fs::create_symlink("socket:[4711]", root_ + "proc/77/fd/5");
  const Host host{root_};
  EXPECT_EQ(host.owner_of_udp_port(8805), "go-upf (pid 77)");
  EXPECT_FALSE(host.owner_of_udp_port(2152).has_value());
}

// cases.md 67
TEST_F(FakeRoot, SeesWhetherLinksMayBeSetUp) {
  put("proc/self/status", "Name:\tupf\nCapEff:\t0000000000001000\n");
  EXPECT_TRUE(Host{root_}.has_net_admin());
  put("proc/self/status", "Name:\tupf\nCapEff:\t0000000000000400\n");
  EXPECT_FALSE(Host{root_}.has_net_admin());
}

// cases.md 73, 74: what keeps packets from flowing is named with the command that mends it.
TEST_F(FakeRoot, NamesWhatKeepsPacketsFromFlowing) {
  put("proc/sys/net/ipv4/ip_forward", "0\n");
  put("proc/sys/net/ipv6/conf/all/forwarding", "0\n");
  put("proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
  const Host host{root_};
  const auto faults = host.forwarding_faults(sample(kN4, kPool));
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_TRUE(faults[0].ends_with("sysctl -w net.ipv4.ip_forward=1"));
  EXPECT_TRUE(faults[1].ends_with("sysctl -w net.ipv4.conf.all.rp_filter=2"));
  const auto v6 = host.forwarding_faults(sample(kN4, "{dnn: six, cidr: '2001:db8::/48'}"));
  EXPECT_TRUE(v6[0].ends_with("sysctl -w net.ipv6.conf.all.forwarding=1"));
  ASSERT_TRUE(host.enable_forwarding().has_value());
  put("proc/sys/net/ipv4/conf/all/rp_filter", "2\n");
  EXPECT_TRUE(host.forwarding_faults(sample(kN4, kPool)).empty());
}

// The larger of two values counts, so that neither alone says what holds for a device.
TEST_F(FakeRoot, NamesTheDevicesThatFilterTheReversePathStrictly) {
  const auto conf = [&](const std::string& device, const char* value) {
    put("proc/sys/net/ipv4/conf/" + device + "/rp_filter", value);
  };
  put("proc/sys/net/ipv4/ip_forward", "1\n");
  const auto named = [&]() -> std::string {
    const auto faults = Host{root_}.forwarding_faults(sample(kN4, kPool));
    if (faults.empty()) return {};
    const std::string& text = faults.front();
    const std::string before = "is strict on ";
    const auto at = text.find(before) + before.size();
    return text.substr(at, text.find(", so ") - at);
  };
  conf("all", "0\n");
  conf("default", "0\n");
  conf("lo", "1\n");
  conf("n3", "1\n");
  conf("n6", "2\n");
  conf("n9", "0\n");
  EXPECT_EQ(named(), "n3");
  conf("all", "1\n");
  EXPECT_EQ(named(), "n3, n9, upfgtp");  // the last of them isn't there yet
  conf("default", "2\n");
  EXPECT_EQ(named(), "n3, n9");
  conf("upfgtp", "1\n");
  EXPECT_EQ(named(), "n3, n9, upfgtp");
  conf("all", "2\n");
  EXPECT_EQ(named(), "");
}

// cases.md 31: where an address is needed, a name is resolved once at start; the Node ID never.
TEST(ResolveNames, LooksUpWhereItListensAndNothingElse) {
  const auto config = sample("addr: localhost, nodeID: upf.invalid, peers: [smf.invalid]", kPool);
  const auto resolved = resolve_names(config);
  ASSERT_TRUE(resolved.has_value()) << resolved.error();
  EXPECT_EQ(resolved->pfcp.addr.address, parse_ip("127.0.0.1"));
  EXPECT_FALSE(resolved->pfcp.node_id.address.has_value());
  EXPECT_FALSE(resolved->pfcp.peers[0].address.has_value());
}

TEST(ResolveNames, SaysWhichNameHasNoAddress) {
  const auto resolved = resolve_names(sample("addr: n4.invalid, nodeID: upf.invalid", kPool));
  ASSERT_FALSE(resolved.has_value());
  EXPECT_TRUE(resolved.error().starts_with("pfcp.addr: the name \"n4.invalid\" can't be resolved"))
      << resolved.error();
}

TEST(ControlSettings, AreTheConfigurations) {
  const auto config = sample(
      "addr: 10.0.0.1, nodeID: upf.example.org, retransTimeout: 500ms, maxRetrans: 2, peers: "
      "[10.0.0.2, smf.invalid], allow: [10.0.0.0/24], limits: {sessions: 7}",
      kPool);
  const Now now{TimePoint{}, WallTime{std::chrono::seconds{1'700'000'000}}};
  const auto settings = control_settings(config, now);
  EXPECT_EQ(settings.node_id, "upf.example.org");
  EXPECT_EQ(settings.recovery_time_stamp, now.wall);
  EXPECT_EQ(settings.n4_ipv4, parse_ipv4("10.0.0.1"));
  EXPECT_EQ(settings.retransmit_after, std::chrono::milliseconds{500});
  EXPECT_EQ(settings.max_retransmissions, 2U);
  ASSERT_EQ(settings.peers.size(), 1U);
  EXPECT_EQ(to_string(settings.peers[0].address), "10.0.0.2:8805");
  EXPECT_EQ(settings.allow.size(), 1U);
  EXPECT_EQ(settings.sessions.limits.sessions, 7U);
  EXPECT_GE(settings.first_sequence, 1U);
  EXPECT_LE(settings.first_sequence, 0xffffffU);
}

// cases.md 72: what peers are told need not be what is bound.
TEST(ControlSettings, AdvertiseWhatPeersCanReach) {
  auto config = sample("addr: 0.0.0.0, nodeID: upf.example.org, advertise: 192.0.2.1", kPool);
  auto settings = control_settings(config, {});
  EXPECT_EQ(settings.n4_ipv4, parse_ipv4("192.0.2.1"));
  const auto& gtpu = settings.sessions.gtpu;
  ASSERT_EQ(gtpu.size(), 2U);  // cases.md 71: all entries of ifList
  EXPECT_EQ(gtpu[0].ipv4, parse_ipv4("10.0.0.8"));
  EXPECT_FALSE(gtpu[0].n9);
  EXPECT_EQ(gtpu[1].ipv4, parse_ipv4("192.0.2.9"));
  EXPECT_TRUE(gtpu[1].n9);
  config = sample("addr: 0.0.0.0, nodeID: 192.0.2.3", kPool);
  EXPECT_EQ(control_settings(config, {}).n4_ipv4, parse_ipv4("192.0.2.3"));
}

TEST(ControlSettings, RandomNumbersDiffer) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 2000; ++i) numbers.insert(random_number());
  EXPECT_EQ(numbers.size(), 2000U);
}

// cases.md 74: natifname does what it says.
TEST(Netfilter, MasqueradesThePoolBehindTheDevice) {
  const auto config = sample(kN4,
                             "{dnn: internet, cidr: 10.60.0.0/16, natifname: eth0, tcpMss: 1400}, "
                             "{dnn: ims, cidr: 10.61.0.0/16}");
  EXPECT_EQ(
      nat_script(config),
      "table inet kupf_upfgtp { }\n"
      "delete table inet kupf_upfgtp\n"
      "table inet kupf_upfgtp {\n"
      "  chain postrouting {\n"
      "    type nat hook postrouting priority srcnat;\n"
      "    ip saddr 10.60.0.0/16 oifname \"eth0\" masquerade\n"
      "  }\n"
      "  chain forward {\n"
      "    type filter hook forward priority mangle;\n"
      "    ip saddr 10.60.0.0/16 tcp flags & (syn | rst) == syn tcp option maxseg size > 1400 "
      "tcp option maxseg size set 1400\n"
      "    ip daddr 10.60.0.0/16 tcp flags & (syn | rst) == syn tcp option maxseg size > 1400 "
      "tcp option maxseg size set 1400\n"
      "  }\n"
      "}\n");
  EXPECT_EQ(nat_script(sample(kN4, kPool)), "");
}

std::string ruleset() {
  std::string text;
  if (FILE* nft = ::popen("nft list ruleset", "r"); nft != nullptr) {
    std::array<char, 4096> block{};
    for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), nft)) > 0;) {
      text.append(block.data(), got);
    }
    ::pclose(nft);
  }
  return text;
}

/// Runs in a network namespace of its own; false where that can't be.
bool in_own_network(const std::function<void()>& body) {
  bool ran = false;
  std::thread{[&] {
    if (::unshare(CLONE_NEWNET) != 0) return;
    ran = true;
    body();
  }}.join();
  return ran;
}

// cases.md 66, 74: what a killed daemon left is replaced, what others have is left alone.
TEST(Netfilter, IsInTheKernelAsLongAsItLives) {
  const bool ran = in_own_network([] {
    const auto config = sample(kN4, "{dnn: internet, cidr: 10.60.0.0/16, natifname: eth0}");
    const auto other = sample(kN4, "{dnn: internet, cidr: 10.62.0.0/16, natifname: eth1}");
    ASSERT_EQ(std::system("nft add table inet kupf_other"), 0);
    {
      auto leaked = Netfilter::open(config);
      ASSERT_TRUE(leaked.has_value()) << leaked.error();
      static const Netfilter* killed = nullptr;  // its destructor never runs
      killed = leaked->release();
      ASSERT_NE(killed, nullptr);
    }
    {
      const auto second = Netfilter::open(config);
      ASSERT_TRUE(second.has_value()) << second.error();
      const std::string rule = "ip saddr 10.60.0.0/16 oifname \"eth0\" masquerade";
      const std::string text = ruleset();
      const auto at = text.find(rule);
      EXPECT_NE(at, std::string::npos) << text;
      EXPECT_EQ(text.find(rule, at + 1), std::string::npos) << "there twice\n" << text;
      ASSERT_TRUE((*second)->apply(other).has_value());
      EXPECT_EQ(ruleset().find(rule), std::string::npos);
      EXPECT_NE(ruleset().find("10.62.0.0/16"), std::string::npos);
    }
    EXPECT_EQ(ruleset(), "table inet kupf_other {\n}\n");
  });
  if (!ran) {
    ASSERT_EQ(std::getenv("UPF_REQUIRE_NETNS"), nullptr) << "CI must run this test";
    GTEST_SKIP() << "needs root";
  }
}

// A stale table is removed even if the new configuration asks for none.
TEST(Netfilter, RemovesWhatNobodyAsksForAnyMore) {
  const bool ran = in_own_network([] {
    ASSERT_EQ(std::system("nft add table inet kupf_upfgtp"), 0);
    const auto none = Netfilter::open(sample(kN4, kPool));
    ASSERT_TRUE(none.has_value());
    EXPECT_EQ(ruleset(), "");
  });
  if (!ran) {
    ASSERT_EQ(std::getenv("UPF_REQUIRE_NETNS"), nullptr) << "CI must run this test";
    GTEST_SKIP() << "needs root";
  }
}

}  // namespace
}  // namespace upf::app

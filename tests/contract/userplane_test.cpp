// The user-space plane with its sockets, TUN device and threads, under each set of offloads.
#include "upf/userplane/user_plane.hpp"

#include "contract/data_plane_contract.hpp"
#include "contract/netns_world.hpp"

namespace upf::contract {
namespace {

class UserPlaneWorld : public NetnsWorld {
 public:
  explicit UserPlaneWorld(const userplane::Offloads& offloads, unsigned workers) {
    userplane::Settings settings;
    settings.local_addresses = {{.address = local()}};
    settings.ue_pools = {Ipv4Prefix{{{10, 45, 0, 0}}, 16}, *parse_ipv6_prefix("2001:db8:45::/48")};
    settings.mtu = 1400;
    settings.workers = workers;
    settings.offloads = offloads;
    auto plane = userplane::UserPlane::open(settings);
    if (!plane) throw std::runtime_error(plane.error());
    plane_ = std::move(*plane);
  }
  dataplane::DataPlane& plane() override { return *plane_; }

 private:
  std::unique_ptr<userplane::UserPlane> plane_{};
};

WorldFactory with(std::string name, const userplane::Offloads& offloads, unsigned workers = 2) {
  return {std::move(name), [=] { return std::make_unique<UserPlaneWorld>(offloads, workers); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(UserPlane, DataPlaneContract,
                         testing::Values(with("AllOffloads", {}), with("OneWorker", {}, 1),
                                         with("FourWorkers", {}, 4),
                                         with("NoUdpGro", {.udp_gro = false}),
                                         with("NoUdpSegment", {.udp_segment = false}),
                                         with("NoVnetHeader", {.vnet_header = false}),
                                         with("NoTso", {.tso = false}),
                                         with("NoUso", {.uso = false}),
                                         with("Nothing", {.udp_gro = false,
                                                          .udp_segment = false,
                                                          .vnet_header = false,
                                                          .tso = false,
                                                          .uso = false})),
                         name_of);

// --- the mechanics of speed, gated by counts instead of time
// --------------------------------------

class UserPlaneMechanics : public testing::Test {
 protected:
  void SetUp() override {
    const auto applied = world_.plane().apply({.seid = kSeid, .after = &rules_});
    ASSERT_TRUE(applied) << applied.error().detail;
  }
  std::uint64_t counter(const std::string& name) {
    std::uint64_t sum = 0;
    for (const dataplane::Counter& c : world_.plane().counters())
      sum += c.name == name ? c.value : 0;
    return sum;
  }
  static Packet segment(std::uint32_t index) {
    Packet packet = to_network();
    packet.protocol = 6;
    packet.payload = 1300;
    packet.id = static_cast<std::uint16_t>(index + 1);
    packet.sequence = 1 + index * 1300;
    packet.mark = static_cast<std::uint8_t>(index);
    return packet;
  }

  UserPlaneWorld world_{{}, 2};
  rules::SessionRules rules_ = usual_session(world_);
};

TEST_F(UserPlaneMechanics, BulkUplinkIsReceivedAndSentInTrains) {
  constexpr std::uint32_t kTrains = 20;
  constexpr std::uint32_t kEach = 40;
  std::uint32_t next = 0;
  std::vector<Octets> sent;
  std::vector<Octets> got;
  for (std::uint32_t t = 0; t < kTrains; ++t) {
    std::vector<Octets> train;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      sent.push_back(build(segment(next++)));
      train.push_back(gtpu(kUplinkTeid, sent.back(), {.qfi = 1}));
    }
    world_.train_from_peer(0, train);
    if (t % 10 == 9) {  // dn0's queue is short
      for (const Output& output : world_.await(10 * kEach)) got.push_back(output.octets);
    }
  }
  const std::uint64_t packets = std::uint64_t{kTrains} * kEach;
  EXPECT_TRUE(got == sent) << got.size();  // bit for bit and in order
  EXPECT_GE(counter("glued_packets") * 10, packets * 9);
  EXPECT_LE(counter("receive_messages") * 10, packets);
  EXPECT_LE((counter("receive_calls") + counter("send_calls")) * 5, packets);
  EXPECT_EQ(counter("bad_inner_checksums"), 0U);
}

/// Rules change while packets are on their way: each packet passes once, by the old rules or the
/// new, and the sum of all readings is what passed.
TEST_F(UserPlaneMechanics, RulesChangeUnderTrafficWithoutLosingAPacketOrAnOctet) {
  constexpr std::uint32_t kRounds = 100;
  constexpr std::uint32_t kEach = 10;
  rules::SessionRules now = rules_;
  std::uint64_t read = 0;
  std::uint64_t passed = 0;
  std::uint64_t to_gnb = 0;
  std::uint32_t next = 0;
  const auto change_to = [&](const rules::SessionRules& after) {
    const auto applied = world_.plane().apply({.seid = kSeid, .before = &now, .after = &after});
    ASSERT_TRUE(applied) << applied.error().detail;
    for (const dataplane::Reading& reading : applied->readings) read += reading.octets.total();
    now = after;
  };
  change_to(metered(rules_));
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    std::vector<Octets> train;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      train.push_back(gtpu(kUplinkTeid, build(segment(next++)), {.qfi = 1}));
    }
    world_.train_from_peer(0, train);
    world_.from_n6(build(to_ue()));
    rules::SessionRules after = metered(rules_);
    after.urrs[0].id = {1 + round % 2};  // the other is gone, and gives its final reading
    for (rules::Pdr& p : after.pdrs) p.urrs = {after.urrs[0].id};
    after.qers = {{.id = {1}, .mbr = rules::BitRate{1'000'000'000, 1'000'000'000}, .qfi = 3}};
    if (round % 3 == 0) pdr(after, kDownlinkPdr).qers = {{1}};
    if (round % 5 == 0) far(after, kDownlinkFar).forwarding->outer_header->teid = {0x77};
    change_to(after);
    if (round % 20 != 19) continue;
    for (const Output& output : world_.settle()) {
      ++(output.to_n6 ? passed : to_gnb);
    }
  }
  EXPECT_EQ(passed, std::uint64_t{kRounds} * kEach);
  EXPECT_EQ(to_gnb, kRounds);
  const rules::SessionRules last = now;
  const auto applied = world_.plane().apply({.seid = kSeid, .before = &last});
  ASSERT_TRUE(applied);
  for (const dataplane::Reading& reading : applied->readings) read += reading.octets.total();
  EXPECT_EQ(read, passed * build(segment(0)).size() + to_gnb * build(to_ue()).size());
}

TEST_F(UserPlaneMechanics, TooLargeDownlinkPacketsAreAnsweredWithTheMtu) {
  Packet packet = to_ue();
  packet.payload = 1500;
  packet.fragment = 0x4000;  // DF
  world_.from_n6(build(packet));
  const auto outputs = world_.settle();
  ASSERT_EQ(outputs.size(), 1U);
  ASSERT_TRUE(outputs[0].to_n6);
  EXPECT_EQ(outputs[0].octets.at(9), 1);  // ICMP
  EXPECT_EQ(outputs[0].octets.at(20), 3);
  EXPECT_EQ(outputs[0].octets.at(21), 4);  // fragmentation needed
  EXPECT_EQ(get16(outputs[0].octets, 26), 1400U);
}

TEST_F(UserPlaneMechanics, LargeDownlinkPacketsWithoutDfComeInFragments) {
  Packet packet = to_ue();
  packet.payload = 2000;
  world_.from_n6(build(packet));
  const auto outputs = world_.settle();
  ASSERT_EQ(outputs.size(), 2U);
  for (const Output& output : outputs) EXPECT_EQ(read_gtpu(output.octets).teid, kGnbTeid);
}

TEST(UserPlaneStart, SaysWhatToDoWhenThePortIsTaken) {
  const UserPlaneWorld first{{}, 1};
  userplane::Settings settings;
  settings.tun_name = "other";
  settings.local_addresses = {{.address = first.local()}};
  const auto second = userplane::UserPlane::open(settings);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("10.100.0.1:2152: the port is in use"), std::string::npos)
      << second.error();
}

TEST(UserPlaneStart, SaysWhatToDoWhenTheAddressOrTheTunIsWrong) {
  userplane::Settings settings;
  settings.local_addresses = {{.address = Ipv4{{192, 0, 2, 1}}}};
  auto plane = userplane::UserPlane::open(settings);
  ASSERT_FALSE(plane);
  EXPECT_NE(plane.error().find("no interface has this address"), std::string::npos);
  settings.local_addresses = {{.address = Ipv4{{10, 100, 0, 1}}}};
  settings.tun_name = "lo";
  plane = userplane::UserPlane::open(settings);
  ASSERT_FALSE(plane);
  EXPECT_NE(plane.error().find("no TUN"), std::string::npos) << plane.error();
  settings.local_addresses.clear();
  EXPECT_FALSE(userplane::UserPlane::open(settings));
}

}  // namespace upf::contract

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!upf::contract::enter_netns()) {
    if (std::getenv("UPF_REQUIRE_NETNS") != nullptr) {
      std::puts("no network namespace can be made, and UPF_REQUIRE_NETNS is set");
      return 1;
    }
    std::puts("SKIPPED: needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
    return 77;
  }
  return RUN_ALL_TESTS();
}

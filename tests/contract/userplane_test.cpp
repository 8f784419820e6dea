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

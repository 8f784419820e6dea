// The contract of data planes, on the gtp5g plane over the real kernel module: for tests/vm.
// Without the module it is one skip (exit code 77).
#include <net/if.h>

#include "contract/data_plane_contract.hpp"
#include "contract/gtp5g_meddler.hpp"
#include "contract/netns_world.hpp"
#include "netlink/gtp5g/gtpu.hpp"
#include "netlink/gtp5g/plane.hpp"

namespace upf::contract {
namespace {

class Gtp5gWorld : public NetnsWorld {
 public:
  Gtp5gWorld() {
    gtp5g::Settings settings;
    settings.addresses = {Gtp5gWorld::local()};
    settings.mtu = 1400;
    settings.ue_networks = {Ipv4Prefix{{{10, 45, 0, 0}}, 16}};
    auto opened = gtp5g::Plane::open(settings, gtp5g::linux_host());
    if (!opened) throw std::runtime_error(opened.error());
    plane_ = std::move(*opened);
  }
  dataplane::DataPlane& plane() override { return *plane_; }
  bool lose_uplink() override {
    return lose_tunnel_pdrs(*gtp5g::linux_host(), ::if_nametoindex("upfgtp"), kSeid);
  }
  [[nodiscard]] bool has(Trait trait) const override {
    return trait != Trait::QfiMatch && trait != Trait::CountsDrops;
  }
  [[nodiscard]] std::uint64_t counted_octets(const Octets& t_pdu) const override {
    return gtp5g::counted_octets(t_pdu);
  }

 private:
  std::unique_ptr<gtp5g::Plane> plane_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gtp5g, DataPlaneContract,
                         testing::Values(WorldFactory{
                             "Kernel", [] { return std::make_unique<Gtp5gWorld>(); }}),
                         name_of);

}  // namespace upf::contract

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (::access("/proc/gtp5g", F_OK) != 0) {
    std::puts("SKIPPED: the gtp5g module is not loaded (tests/vm runs this in a virtual machine)");
    return 77;
  }
  if (!upf::contract::enter_netns()) {
    std::puts("SKIPPED: needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
    return 77;
  }
  return RUN_ALL_TESTS();
}

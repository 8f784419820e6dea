// The contract of data planes, on the gtp5g plane over the stand-in kernel.
#include "contract/data_plane_contract.hpp"
#include "contract/gtp5g_meddler.hpp"
#include "netlink/gtp5g/gtpu.hpp"
#include "netlink/gtp5g/plane.hpp"
#include "standin/host.hpp"

namespace upf::contract {
namespace {

class StandinWorld : public World {
 public:
  StandinWorld() {
    auto opened =
        gtp5g::Plane::open({.addresses = {StandinWorld::local()}}, standin::host_of(machine_));
    if (!opened) throw std::runtime_error(opened.error());
    plane_ = std::move(*opened);
  }
  dataplane::DataPlane& plane() override { return *plane_; }

  void from_peer(std::uint8_t number, const Octets& datagram) override {
    machine_->kernel.receive_datagram({peer(number), 2152}, local(), datagram);
  }
  void from_n6(const Octets& packet) override { machine_->kernel.receive_packet(packet); }

  std::vector<Output> settle() override {
    std::vector<Output> outputs;
    for (Octets& packet : machine_->take_n6()) {
      outputs.push_back({.to_n6 = true, .octets = std::move(packet)});
    }
    for (standin::SentDatagram& sent : machine_->take_sent()) {
      outputs.push_back({.peer = sent.to.ip, .octets = std::move(sent.octets)});
    }
    return outputs;
  }
  std::vector<dataplane::Event> events() override { return plane_->take_events(); }

  bool lose_uplink() override {
    return lose_tunnel_pdrs(*standin::host_of(machine_), standin::Kernel::kIfindex, kSeid);
  }
  [[nodiscard]] bool has(Trait trait) const override {
    return trait != Trait::QfiMatch && trait != Trait::CountsDrops;
  }
  [[nodiscard]] std::uint64_t counted_octets(const Octets& t_pdu) const override {
    return gtp5g::counted_octets(t_pdu);
  }

 private:
  std::shared_ptr<standin::Machine> machine_ = std::make_shared<standin::Machine>();
  std::unique_ptr<gtp5g::Plane> plane_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gtp5gOnStandin, DataPlaneContract,
                         testing::Values(WorldFactory{
                             "Standin", [] { return std::make_unique<StandinWorld>(); }}),
                         name_of);

}  // namespace upf::contract

// What the TUN device hands over: virtio-net headers and packets or super packets. The kernel is
// trusted not to lie, yet nothing it says may lead out of the packet.
#include "userplane_session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using upf::userplane::VnetHeader;
  upf::contract::MemoryWorld world;
  upf::fuzz::install_everything(world);
  upf::fuzz::for_each_piece(data, size, [&](const upf::contract::Octets& piece) {
    VnetHeader header{};
    if (piece.size() < sizeof header) return;
    std::memcpy(&header, piece.data(), sizeof header);
    world.from_tun(header, upf::contract::Octets(piece.begin() + sizeof header, piece.end()));
  });
  upf::fuzz::check_outputs(world);
  return 0;
}

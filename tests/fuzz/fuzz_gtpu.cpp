// Datagrams at the GTP-U port, through the whole packet function: one batch of them an input.
#include "userplane_session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  upf::contract::MemoryWorld world;
  upf::fuzz::install_everything(world);
  upf::fuzz::for_each_piece(
      data, size, [&](const upf::contract::Octets& datagram) { world.from_peer(0, datagram); });
  upf::fuzz::check_outputs(world);
  return 0;
}

// What gtp5g's multicast group, its answers and GTP-U peers say to the daemon. The octets are from
// the kernel, which is trusted, and from packets that any host may send, which are not.
#include <cstdlib>

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/events.hpp"
#include "netlink/gtp5g/gtpu.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace upf;
  const wire::Bytes octets{data, size};
  constexpr std::uint64_t kNegative = std::uint64_t{1} << 63U;
  for (const gtp5g::KernelEvent& event : gtp5g::decode_events(0x20, octets)) {
    if (const auto* packet = std::get_if<gtp5g::BufferedEvent>(&event)) {
      // It lies within what was received.
      if (packet->packet.data() < data || packet->packet.size() > size) std::abort();
      if (gtp5g::counted_octets(packet->packet) > packet->packet.size()) std::abort();
      (void)gtp5g::dscp_of(packet->packet);
    } else if (std::get<gtp5g::Report>(event).octets.uplink >= kNegative) {
      std::abort();
    }
  }
  (void)gtp5g::decode_reports(octets);
  (void)gtp5g::decode_signalling(octets);
  netlink::for_each_message(octets, [](std::uint16_t, std::uint32_t, wire::Bytes payload) {
    netlink::Attributes{payload}.for_each([](std::uint16_t, wire::Bytes value, bool) {
      (void)netlink::Attributes{value}.get(netlink::Text{1});
    });
  });
  return 0;
}

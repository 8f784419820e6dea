#pragma once

#include <cstdlib>

#include "contract/memory_world.hpp"
#include "contract/sessions.hpp"

/// A session with one rule of every kind, for fuzz targets of the user-space plane.
namespace upf::fuzz {

inline void must_apply(contract::MemoryWorld& world, Seid seid, const rules::SessionRules& rules) {
  if (!world.plane().apply({.seid = seid, .after = &rules})) std::abort();
}

inline void install_everything(contract::MemoryWorld& world) {
  using namespace contract;
  rules::SessionRules rules = metered(usual_session(world));
  rules.urrs[0].notify_at = rules::VolumeLimit{.generation = 1, .total = 2000};
  rules.qers = {{.id = {1}, .mbr = rules::BitRate{10'000, 10'000}, .qfi = 9, .rqi = true}};
  for (rules::Pdr& p : rules.pdrs) {
    p.qers = {{1}};
    p.ue_addresses[0].ipv6 = Ipv6Prefix{{{0x20, 1, 0xd, 0xb8}}, 64};
    p.framed_routes = {Ipv4Prefix{{{10, 99, 0, 0}}, 16}};
  }
  rules.fars.push_back({.id = {3}, .action = {.buffer = true, .notify_cp = true}});
  rules::Pdr held = pdr(rules, kDownlinkPdr);
  held.id = {3};
  held.precedence = 1;
  held.far = {3};
  held.filters = {flow_from(kHost, 53)};
  rules::SdfFilter odd;
  odd.spi = 7;
  odd.flow_label = 3;
  odd.tos = rules::MaskedOctet{0x20, 0xe0};
  held.filters.push_back(odd);
  rules.pdrs.push_back(held);
  must_apply(world, {1}, rules);

  rules::SessionRules n9 = n9_session(world, false, true);
  pdr(n9, kUplinkPdr).f_teid->teid = {kUplinkTeid + 0x100};
  must_apply(world, {2}, n9);
}

/// The input's pieces, each behind two octets of length.
template <class Each>
void for_each_piece(const std::uint8_t* data, std::size_t size, const Each& each) {
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(data[0] * 256U + data[1], size - 2);
    each(contract::Octets(data + 2, data + 2 + length));
    data += 2 + length;
    size -= 2 + length;
  }
}

/// What comes out is whole: a G-PDU's length is the datagram's, and what goes to N6 is from a UE.
inline void check_outputs(contract::MemoryWorld& world) {
  using namespace contract;
  for (const Output& output : world.settle()) {
    if (output.to_n6) {
      const bool v4 = output.octets.at(0) >> 4U == 4;
      const std::uint32_t source = get32(output.octets, v4 ? 12 : 8);
      const bool own = v4 ? source == kUe.host() || source >> 16U == 0x0a63 : source == 0x20010db8;
      if (!own) std::abort();
    } else if (get16(output.octets, 2) + 8 != output.octets.size()) {
      std::abort();
    }
  }
  (void)world.events();
}

}  // namespace upf::fuzz

// What the control thread can say of a session without disturbing anybody: the rules that packets
// meet at this moment, and what was counted so far.
#include <fmt/format.h>

#include <mutex>

#include "session_keeper.hpp"

namespace upf::userplane {
namespace {

using dataplane::Inspection;
using dataplane::Reading;

std::string text_of(const PdrEntry& pdr, const Snapshot& rules) {
  std::string text = pdr.tunnelled ? fmt::format("packets of tunnel {:#010x}", pdr.teid)
                                   : std::string{"packets from N6"};
  if (pdr.filters.count != 0) text += fmt::format(", {} filters", pdr.filters.count);
  text += fmt::format(", to FAR {}", rules.fars[pdr.far].id.value);
  if (!pdr.gates_open) text += ", gate closed";
  for (std::size_t i = 0; i < pdr.urrs.count; ++i) {
    const UrrState& urr = *rules.urrs[pdr.urrs.first + i];
    if (!urr.blocked.load(std::memory_order_acquire)) continue;
    text += fmt::format(", blocked by URR {}", urr.id.value);
  }
  return text;
}

std::string text_of(const FarEntry& far, std::size_t waiting) {
  switch (far.way) {
    case Way::Drop:
      return "drops";
    case Way::Hold:
      return fmt::format("holds, {} packets wait", waiting);
    case Way::ToN6:
      return "to N6";
    case Way::ToTunnel:
      return fmt::format("to tunnel {:#010x}@{}", far.tunnel.teid,
                         to_string(far.tunnel.peer.to_ip(far.tunnel.ipv6)));
    case Way::Nowhere:
      return "nowhere to forward to";
  }
  return {};
}

std::string text_of(const ArmedLimit& limit, const char* name) {
  if (!limit.generation) return {};
  std::string text = fmt::format(", {} {}", name,
                                 limit.armed.load(std::memory_order_acquire) ? "armed" : "reached");
  for (const auto& [what, at] : {std::pair{"total", &limit.total}, std::pair{"up", &limit.uplink},
                                 std::pair{"down", &limit.downlink}}) {
    const std::uint64_t octets = at->load(std::memory_order_relaxed);
    if (octets != kNoLimit) text += fmt::format(" at {} octets {}", octets, what);
  }
  return text;
}

std::string text_of(const UrrState& urr) {
  std::string text = urr.blocked.load(std::memory_order_acquire) ? "blocks" : "counts";
  text += text_of(urr.notify, "threshold") + text_of(urr.block, "quota");
  if (urr.start_wanted.load(std::memory_order_relaxed)) text += ", waits for traffic";
  return text;
}

Reading counted_by(const UrrState& urr) {
  const auto of = [](const std::atomic<std::uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  return {.urr = urr.id,
          .octets = {of(urr.uplink.octets), of(urr.downlink.octets)},
          .packets = {of(urr.uplink.packets), of(urr.downlink.packets)}};
}

}  // namespace

std::optional<Inspection> SessionKeeper::inspect(Seid seid) const {
  const Session* session = find(seid);
  if (session == nullptr) return std::nullopt;
  const Snapshot& rules = *session->rules.load(std::memory_order_acquire);
  Inspection found;
  for (const PdrEntry& pdr : rules.pdrs) found.rules.push_back({pdr.id, text_of(pdr, rules)});
  {
    const std::lock_guard lock{shared_.buffer_mutex};
    for (const FarEntry& far : rules.fars) {
      const std::size_t waiting = shared_.buffer.held(seid, far.id);
      found.waiting_packets += waiting;
      found.rules.push_back({far.id, text_of(far, waiting)});
    }
  }
  for (const auto& qer : session->qers) found.rules.push_back({qer.id, "in force"});
  for (const auto& urr : session->urrs) {
    found.rules.push_back({urr.id, text_of(urr)});
    found.counted.push_back(counted_by(urr));
  }
  return found;
}

std::pair<std::size_t, std::size_t> SessionKeeper::waiting() const {
  const std::lock_guard lock{shared_.buffer_mutex};
  return {shared_.buffer.packets(), shared_.buffer.octets()};
}

}  // namespace upf::userplane

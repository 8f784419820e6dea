#include "netlink/gtp5g/events.hpp"

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/attrs.hpp"

namespace upf::gtp5g {
namespace {

using netlink::Attributes;

/// A packet whose TCP header claims to be longer than the packet makes the module's counters go
/// down (and round): such a reading counts for nothing.
std::uint64_t clamp(std::optional<std::uint64_t> counter) {
  constexpr std::uint64_t kNegative = std::uint64_t{1} << 63U;
  return counter && *counter < kNegative ? *counter : 0;
}

rules::Volume pair(const Attributes& volume, U64 uplink, U64 downlink) {
  return {clamp(volume.get(uplink)), clamp(volume.get(downlink))};
}

std::optional<Report> decode_report(const Attributes& nest) {
  const auto urr = nest.get(report::kUrrId);
  const auto seid = nest.get(report::kSeid);
  const auto volume = nest.get(report::kVolume);
  if (!urr || !seid || !volume) return std::nullopt;
  return Report{
      .seid = {*seid},
      .urr = *urr,
      .trigger = nest.get(report::kTrigger).value_or(0),
      .octets = pair(*volume, measurement::kUplink, measurement::kDownlink),
      .packets = pair(*volume, measurement::kUplinkPackets, measurement::kDownlinkPackets)};
}

std::optional<BufferedEvent> decode_buffered(const Attributes& nest) {
  const auto seid = nest.get(event::kSeid);
  const auto pdr = nest.get(event::kPdrId);
  const auto packet = nest.get(event::kPacket);
  if (!seid || !pdr || !packet || packet->empty()) return std::nullopt;
  return BufferedEvent{{*seid}, *pdr, nest.get(event::kAction).value_or(0), *packet};
}

}  // namespace

std::vector<Report> decode_reports(wire::Bytes attributes) {
  std::vector<Report> reports;
  Attributes{attributes}.for_each([&](std::uint16_t id, wire::Bytes payload, bool) {
    if (id != report::kReport.id) return;
    if (auto report = decode_report(Attributes{payload})) reports.push_back(*report);
  });
  return reports;
}

std::vector<KernelEvent> decode_events(std::uint16_t family, wire::Bytes datagram) {
  std::vector<KernelEvent> events;
  const auto take = [&](std::uint16_t type, std::uint32_t, wire::Bytes payload) {
    constexpr std::size_t kGenlHeader = 4;
    if (type != family || payload.size() < kGenlHeader) return;
    if (payload[0] != static_cast<std::uint8_t>(Command::Event)) return;
    Attributes{payload.subspan(kGenlHeader)}.for_each(
        [&](std::uint16_t id, wire::Bytes nest, bool) {
          if (id == event::kBuffered.id) {
            if (auto packet = decode_buffered(Attributes{nest})) events.emplace_back(*packet);
          } else if (id == event::kReports.id) {
            for (const Report& report : decode_reports(nest)) events.emplace_back(report);
          }
        });
  };
  netlink::for_each_message(datagram, take);
  return events;
}

}  // namespace upf::gtp5g

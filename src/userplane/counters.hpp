#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace upf::userplane {

/// Why a packet went nowhere.
enum class Drop : std::uint8_t {
  Malformed,  ///< GTP-U header wrong
  NotIp,      ///< T-PDU is no IP packet, or its lengths don't fit
  UnknownTeid,
  UnknownAddress,  ///< from N6, for no UE of ours
  NoRule,          ///< no PDR of the session matches
  Gate,
  Quota,
  Rate,
  Rule,           ///< the FAR says DROP
  NoWayOut,       ///< FORW without anywhere to forward to
  BufferFull,     ///< the new packet, or the older ones that made room
  BufferDropped,  ///< by request, or its FAR or session went
  NotUnderstood,  ///< an extension header that demands to be
  UnknownMessage,
  ToSelf,     ///< GTP-U to ourselves out of a tunnel
  SendError,  ///< the kernel didn't take it
  Count_,
};

enum class Tally : std::uint8_t {
  UplinkPackets,
  UplinkOctets,
  DownlinkPackets,
  DownlinkOctets,
  Buffered,
  EchoRequests,
  EchoResponses,
  ErrorIndicationsSent,
  ErrorIndicationsReceived,
  EndMarkersSent,
  EndMarkersForwarded,
  BadInnerChecksums,
  ReceiveCalls,     ///< system calls that received
  ReceiveMessages,  ///< GRO messages or TUN reads that had something
  ReceivedPackets,  ///< packets in them
  N6Messages,       ///< of ReceiveMessages, the TUN reads
  N6Packets,        ///< of ReceivedPackets, those in them
  SendCalls,
  SentSingly,  ///< datagrams that UDP_SEGMENT would not take
  GluedPackets,
  Count_,
};

[[nodiscard]] std::string_view to_string(Drop reason);
[[nodiscard]] std::string_view to_string(Tally tally);

/// One thread's counts; it alone writes, anyone reads.
class alignas(64) ThreadCounters {
 public:
  void add(Tally what, std::uint64_t by = 1) { bump(tallies_[static_cast<std::size_t>(what)], by); }
  void drop(Drop why, std::uint64_t packets = 1) {
    bump(drops_[static_cast<std::size_t>(why)], packets);
  }
  [[nodiscard]] std::uint64_t of(Tally what) const {
    return tallies_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t of(Drop why) const {
    return drops_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  static void bump(std::atomic<std::uint64_t>& count, std::uint64_t by) {
    count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Tally::Count_)> tallies_{};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Drop::Count_)> drops_{};
};

}  // namespace upf::userplane

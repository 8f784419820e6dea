#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "upf/base/ids.hpp"

/// Packets that wait because a FAR says BUFF (TS 29.244 5.2.3), bounded on every side: a peer that
/// never answers a page, or a flood to idle UEs, costs a fixed amount of memory.
namespace upf::dataplane {

struct BufferLimits {
  std::size_t packets_per_session{100};
  std::size_t octets_per_session{256U * 1024U};
  std::size_t octets_in_all{64U * 1024U * 1024U};
  /// At a session's limit: the oldest packet goes (true) or the new one isn't taken (false). At the
  /// limit of all sessions the new one is never taken.
  bool drop_oldest{true};
};

struct BufferedPacket {
  PdrId pdr{};
  std::vector<std::uint8_t> octets{};  ///< in the form that the plane will want it back
  std::uint32_t note{};                ///< the plane's own (a QFI it came with, say)
};

/// Not thread-safe: a plane with threads brings its lock.
class PacketBuffer {
 public:
  enum class Outcome : std::uint8_t {
    First,          ///< kept, and the first one held for this FAR
    Kept,           ///< kept behind others
    OldestDropped,  ///< kept; one or more older ones of the session went
    NewestDropped,  ///< not kept
  };

  explicit PacketBuffer(BufferLimits limits = {}) : limits_(limits) {}

  /// `suggested`: the BAR's Suggested Buffering Packets Count; it can only lower the limit. What is
  /// dropped goes into `gone`.
  Outcome push(Seid seid, FarId far, BufferedPacket packet,
               std::optional<std::size_t> suggested = std::nullopt,
               std::vector<BufferedPacket>* gone = nullptr) {
    const std::size_t octets = packet.octets.size();
    const auto refuse = [&] {
      ++dropped_;
      if (gone != nullptr) gone->push_back(std::move(packet));
      return Outcome::NewestDropped;
    };
    if (octets > limits_.octets_per_session || octets_ + octets > limits_.octets_in_all) {
      return refuse();
    }
    const std::size_t most =
        suggested ? std::min(*suggested, limits_.packets_per_session) : limits_.packets_per_session;
    if (most == 0) return refuse();
    Session& session = sessions_[seid];
    bool dropped = false;
    while (session.packets >= most || session.octets + octets > limits_.octets_per_session) {
      if (!limits_.drop_oldest) return refuse();
      drop_oldest(session, gone);
      dropped = true;
    }
    auto& queue = session.queues[far];
    queue.push_back({next_++, std::move(packet)});
    account(session, octets);
    if (dropped) return Outcome::OldestDropped;
    return queue.size() == 1 ? Outcome::First : Outcome::Kept;
  }

  /// All packets of the FAR in the order they came; the FAR holds nothing afterwards.
  [[nodiscard]] std::deque<BufferedPacket> take(Seid seid, FarId far) {
    std::deque<BufferedPacket> packets;
    const auto session = sessions_.find(seid);
    if (session == sessions_.end()) return packets;
    const auto queue = session->second.queues.find(far);
    if (queue == session->second.queues.end()) return packets;
    for (Entry& entry : queue->second) {
      release(session->second, entry.packet.octets.size());
      packets.push_back(std::move(entry.packet));
    }
    session->second.queues.erase(queue);
    if (session->second.queues.empty()) sessions_.erase(session);
    return packets;
  }

  /// The packets that went.
  std::deque<BufferedPacket> drop(Seid seid, FarId far) {
    std::deque<BufferedPacket> gone = take(seid, far);
    dropped_ += gone.size();
    return gone;
  }
  /// How many packets went.
  std::size_t drop(Seid seid) {
    const auto session = sessions_.find(seid);
    if (session == sessions_.end()) return 0;
    const std::size_t count = session->second.packets;
    packets_ -= count;
    octets_ -= session->second.octets;
    dropped_ += count;
    sessions_.erase(session);
    return count;
  }

  [[nodiscard]] std::size_t held(Seid seid, FarId far) const {
    const auto session = sessions_.find(seid);
    if (session == sessions_.end()) return 0;
    const auto queue = session->second.queues.find(far);
    return queue == session->second.queues.end() ? 0 : queue->second.size();
  }
  [[nodiscard]] std::size_t packets() const { return packets_; }
  [[nodiscard]] std::size_t octets() const { return octets_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }  ///< since start

 private:
  struct Entry {
    std::uint64_t order{};  ///< of arrival, over all FARs
    BufferedPacket packet{};
  };
  struct Session {
    std::map<FarId, std::deque<Entry>> queues{};  ///< none of them empty
    std::size_t packets{};
    std::size_t octets{};
  };

  void account(Session& session, std::size_t octets) {
    ++session.packets;
    session.octets += octets;
    ++packets_;
    octets_ += octets;
  }
  void release(Session& session, std::size_t octets) {
    --session.packets;
    session.octets -= octets;
    --packets_;
    octets_ -= octets;
  }
  void drop_oldest(Session& session, std::vector<BufferedPacket>* gone) {
    auto oldest = session.queues.begin();
    for (auto queue = session.queues.begin(); queue != session.queues.end(); ++queue) {
      if (queue->second.front().order < oldest->second.front().order) oldest = queue;
    }
    release(session, oldest->second.front().packet.octets.size());
    if (gone != nullptr) gone->push_back(std::move(oldest->second.front().packet));
    oldest->second.pop_front();
    if (oldest->second.empty()) session.queues.erase(oldest);
    ++dropped_;
  }

  BufferLimits limits_{};
  std::unordered_map<Seid, Session> sessions_{};
  std::size_t packets_{};
  std::size_t octets_{};
  std::uint64_t dropped_{};
  std::uint64_t next_{};
};

}  // namespace upf::dataplane

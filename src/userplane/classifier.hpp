#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ip_packet.hpp"
#include "snapshot.hpp"

namespace upf::userplane {

/// How a packet came in.
struct Arrival {
  bool tunnelled{};
  std::uint32_t teid{};
  std::uint8_t qfi{kNoQfi};
};

/// The PDR that a packet meets, by the rules alone (TS 29.244 5.2.1A); nullptr: none.
[[nodiscard]] const PdrEntry* match(const Snapshot& rules, const Arrival& arrival,
                                    const IpPacket& packet);

/// One packet thread's matcher. It remembers which PDR a flow met, so that filters are walked once
/// a flow, and where the first fragment of a packet went, so that the later ones, which have no
/// ports, follow. Both memories are of fixed size and forget by being overwritten; a remembered
/// match is of one snapshot and worthless for the next.
class Classifier {
 public:
  Classifier();
  [[nodiscard]] const PdrEntry* find(const Snapshot& rules, const Arrival& arrival,
                                     const IpPacket& packet);

 private:
  struct Key {
    Address source{};
    Address destination{};
    std::uint64_t serial{};
    std::uint32_t ports{};
    std::uint32_t teid{};
    std::uint32_t rest{};  ///< version, protocol, ToS, QFI
    std::uint32_t more{};  ///< way in; of fragments the ID
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key{};
    std::int32_t pdr{-1};
  };
  static constexpr std::size_t kFlows = 2048;
  static constexpr std::size_t kFragments = 256;

  static std::size_t hash(const Key& key);
  [[nodiscard]] const PdrEntry* find_fragment(const Snapshot& rules, const Arrival& arrival,
                                              const IpPacket& packet);

  std::vector<Entry> flows_;
  std::vector<Entry> fragments_;
};

}  // namespace upf::userplane

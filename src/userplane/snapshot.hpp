#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gtpu.hpp"
#include "ip_packet.hpp"
#include "state.hpp"
#include "upf/base/result.hpp"
#include "upf/dataplane/data_plane.hpp"
#include "upf/rules/rules.hpp"

/// A session's rules in the form that packets meet: immutable, flat, every reference resolved.
namespace upf::userplane {

struct Prefix {
  Address value{};  ///< masked
  Address mask{};
  std::uint8_t version{};

  [[nodiscard]] bool contains(const Address& address) const {
    return (address.high & mask.high) == value.high && (address.low & mask.low) == value.low;
  }
  [[nodiscard]] static Prefix of(const Ipv4Prefix& prefix);
  [[nodiscard]] static Prefix of(const Ipv6Prefix& prefix);
  [[nodiscard]] static Prefix of(const IpPrefix& prefix);
  bool operator==(const Prefix&) const = default;
};

/// Part of one of the snapshot's vectors.
struct Range {
  std::uint16_t first{};
  std::uint16_t count{};
  bool operator==(const Range&) const = default;
};

/// A UE address or prefix: all sessions have some, so it is smaller than a Prefix.
struct UeMatch {
  Address value{};      ///< masked
  std::uint8_t rest{};  ///< bits behind the prefix, which may be any
  std::uint8_t version{};
  bool destination{};  ///< else the source is looked at

  [[nodiscard]] bool holds(std::uint8_t of_version, const Address& address) const {
    const std::uint64_t high = address.high ^ value.high;
    const std::uint64_t low = address.low ^ value.low;
    if (version != of_version) return false;
    if (rest < 64) return high == 0 && low >> rest == 0;
    return rest == 128 || high >> (rest - 64U) == 0;
  }
  bool operator==(const UeMatch&) const = default;
};

/// One end of a flow description, compiled.
struct EndMatch {
  enum class Kind : std::uint8_t { Any, Prefix, Assigned };
  Kind kind{};
  bool negated{};
  Range ports{};
  Prefix prefix{};
  bool operator==(const EndMatch&) const = default;
};

struct Filter {
  bool has_flow{};
  bool has_protocol{};
  bool has_tos{};
  bool has_spi{};
  bool has_flow_label{};
  std::uint8_t protocol{};
  std::uint8_t tos{};
  std::uint8_t tos_mask{};
  std::uint32_t spi{};
  std::uint32_t flow_label{};
  EndMatch from{};  ///< of the packet, ends already swapped where the PDR is uplink
  EndMatch to{};
  bool operator==(const Filter&) const = default;
};

/// A QER's maximum rate in one direction.
struct Rate {
  std::atomic<Ticks>* full_at{};
  double ticks_per_octet{};
  Ticks burst{};
  bool operator==(const Rate&) const = default;
};

/// A tunnel to send into.
struct Tunnel {
  std::uint32_t teid{};
  std::uint16_t socket{};  ///< index of the local address that sends
  bool ipv6{};
  bool marked{};  ///< tos is the rule's (Transport Level Marking)
  std::uint8_t tos{};
  Address peer{};
  bool operator==(const Tunnel&) const = default;
};

enum class Way : std::uint8_t {
  Drop,
  Hold,
  ToN6,
  ToTunnel,
  Nowhere,  ///< FORW without a place to forward to
};

struct FarEntry {
  FarId id{};
  Way way{};
  bool notify{};
  bool to_access{};
  bool to_network{};          ///< Core or N6-LAN
  bool has_tunnel{};          ///< an outer header is there, whatever the action
  std::uint8_t delay_50ms{};  ///< BAR's, before the CP function is told
  std::uint16_t suggested{};  ///< BAR's packet count; 0xffff: none
  Tunnel tunnel{};
  FarState* state{};
  bool operator==(const FarEntry&) const = default;
};

inline constexpr std::uint8_t kNoQfi = 0xff;

struct PdrEntry {
  PdrId id{};
  std::uint16_t far{};  ///< index
  std::uint32_t teid{};
  bool tunnelled{};  ///< matches packets that came with this TEID; else packets from N6
  bool uplink{};     ///< source interface Access
  bool gates_open{};
  bool blocked{};       ///< by a URR's rule
  bool check_source{};  ///< the PDI names no UE address, and what passes goes to the network
  bool rqi{};
  std::uint8_t qfi{kNoQfi};  ///< for the PDU Session Container
  std::uint64_t qfi_mask{};  ///< QFIs it matches; 0: all
  Range ue{};
  Range framed{};
  Range filters{};
  Range urrs{};
  Range urrs_before_qos{};  ///< the first of `urrs`
  Range rates{};
  bool operator==(const PdrEntry&) const = default;
};

/// What a snapshot is made of.
struct SnapshotParts {
  Seid seid{};
  bool filtered{};       ///< finding the PDR is more than a few comparisons
  bool cacheable{true};  ///< nothing but addresses, ports, protocol, ToS, QFI and TEID decides
  std::vector<PdrEntry> pdrs{};  ///< by precedence, then ID
  std::vector<FarEntry> fars{};  ///< by ID
  std::vector<UeMatch> ue{};
  std::vector<Prefix> framed{};
  std::vector<Filter> filters{};
  std::vector<rules::PortRange> ports{};
  std::vector<UrrState*> urrs{};
  std::vector<Rate> rates{};
};

/// Values in the block of memory that their snapshot begins.
template <class T>
class Row {
 public:
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  [[nodiscard]] const T* data() const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(this) + offset_);
  }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  const T& operator[](std::size_t index) const { return data()[index]; }
  bool operator==(const Row& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  friend struct Snapshot;
  /// Copies the values to `at`, which is left behind them.
  Row(const std::vector<T>& values, std::byte*& at)
      : offset_(static_cast<std::uint32_t>(at - reinterpret_cast<std::byte*>(this))),
        count_(static_cast<std::uint32_t>(values.size())) {
    static_assert(alignof(T) <= 8 && std::is_trivially_destructible_v<T>);
    std::uninitialized_copy(values.begin(), values.end(), reinterpret_cast<T*>(at));
    at += octets(values);
  }
  static std::size_t octets(const std::vector<T>& values) {
    return (std::span{values}.size_bytes() + 7) / 8 * 8;
  }

  std::uint32_t offset_;  ///< from here
  std::uint32_t count_;
};

template <class T>
[[nodiscard]] std::span<const T> part(const Row<T>& all, Range range) {
  return {all.data() + range.first, range.count};
}

/// A session's rules as packets meet them: one block of memory, because there are many sessions and
/// a packet of one that was quiet finds nothing of it in the cache.
struct Snapshot {
  [[nodiscard]] static std::unique_ptr<const Snapshot> of(const SnapshotParts& parts);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() = default;
  static void operator delete(void* block) { ::operator delete(block); }

  const std::uint64_t serial;  ///< unique in the process: a flow's remembered match names it
  const Seid seid;
  const bool filtered;
  const bool cacheable;
  const Row<PdrEntry> pdrs;
  const Row<FarEntry> fars;
  const Row<UeMatch> ue;
  const Row<Prefix> framed;
  const Row<Filter> filters;
  const Row<rules::PortRange> ports;
  const Row<UrrState*> urrs;
  const Row<Rate> rates;

 private:
  Snapshot(const SnapshotParts& parts, std::byte* rows);
  static void* operator new(std::size_t, void* block) { return block; }
  static void operator delete(void*, void*) {}
};

/// What a session's rules remember; the vectors are parallel to those of SessionRules.
struct States {
  std::vector<UrrState*> urrs{};
  std::vector<QerState*> qers{};
  std::vector<FarState*> fars{};
};

/// What compiling needs to know of the world.
class LocalEnds {
 public:
  virtual ~LocalEnds() = default;
  /// Index of the local address that sends to the peer; none: no address of that family.
  [[nodiscard]] virtual std::optional<std::uint16_t> towards(
      const IpAddress& peer, const std::string& network_instance) = 0;
};

[[nodiscard]] Result<std::unique_ptr<const Snapshot>, dataplane::Failure> compile(
    Seid seid, const rules::SessionRules& rules, const States& states, LocalEnds& ends);

}  // namespace upf::userplane

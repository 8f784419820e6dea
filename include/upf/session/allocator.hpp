#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/flat_index.hpp"
#include "upf/base/ids.hpp"

/// Identifiers that the UP function hands out.
namespace upf::session {

/// Uniformly random 64 bits; the shell's is the kernel's, a test's is seeded. Random identifiers
/// can't be guessed from one's own, and one that was given back isn't met again soon.
using Random = std::function<std::uint64_t()>;

/// TEIDs of local F-TEIDs: ours, which are random, and those that CP functions chose, side by side
/// (TS 29.244 5.5). A TEID belongs to one session whatever the local address: planes may look it
/// up without the address. Within its session it may be used by any number of PDRs.
class Teids {
 public:
  explicit Teids(Random random) : random_(std::move(random)) {}

  /// A TEID that nobody has; nothing if half of all are taken.
  [[nodiscard]] std::optional<Teid> allocate(Seid owner);
  /// Whether `owner` has it now, or had it before.
  [[nodiscard]] bool claim(Teid teid, Seid owner);
  void release(Teid teid) { (void)owners_.erase(teid); }
  [[nodiscard]] std::optional<Seid> owner(Teid teid) const;
  [[nodiscard]] std::size_t size() const { return owners_.size(); }

 private:
  Random random_;
  FlatIndex<Teid, Seid> owners_{};
};

/// An address block of a data network from which UEs get addresses.
struct UePool {
  std::string dnn{};
  IpPrefix prefix{};
};

/// UE addresses that the UP function chooses (TS 29.244 5.21.3). One that comes back is handed out
/// again only after all others: packets for its last owner may still be on their way.
///
/// A pool's network address, the first host (the data network's own) and an IPv4 broadcast address
/// are nobody's.
class UeAddresses {
 public:
  explicit UeAddresses(const std::vector<UePool>& pools);
  /// One more, behind the others.
  void add(const UePool& pool);

  /// The first of the names that has a pool of the family; with one data network, that.
  [[nodiscard]] std::optional<std::string> network(const std::vector<std::string>& names,
                                                   bool ipv6) const;
  /// `taken`: addresses that a CP function has given out of the same block.
  [[nodiscard]] std::optional<Ipv4> allocate_ipv4(const std::string& dnn,
                                                  const std::function<bool(Ipv4)>& taken);
  /// A prefix of the length, which is at most 64.
  [[nodiscard]] std::optional<Ipv6Prefix> allocate_ipv6(
      const std::string& dnn, std::uint8_t length,
      const std::function<bool(const Ipv6Prefix&)>& taken);
  void release(Ipv4 address);
  void release(const Ipv6Prefix& prefix);
  [[nodiscard]] std::size_t size() const { return ipv4_.size() + ipv6_.size(); }

 private:
  struct Pool4 {
    std::string dnn{};
    std::uint32_t next{};  ///< of those that were never given
    std::uint32_t last{};
    std::deque<std::uint32_t> returned{};
  };
  struct Pool6 {
    std::string dnn{};
    Ipv6Prefix prefix{};
    std::uint64_t next{};   ///< in /64s from the beginning of the pool
    std::uint64_t count{};  ///< of /64s
    std::map<std::uint8_t, std::deque<Ipv6Prefix>> returned{};  ///< by length
  };

  std::vector<Pool4> pools4_{};
  std::vector<Pool6> pools6_{};
  std::map<Ipv4, std::size_t> ipv4_{};  ///< given, and of which pool
  std::map<Ipv6Prefix, std::size_t> ipv6_{};
};

}  // namespace upf::session

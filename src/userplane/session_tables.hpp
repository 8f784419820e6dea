#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lookup_table.hpp"
#include "quiescence.hpp"
#include "snapshot.hpp"

namespace upf::userplane {

/// Where a session is found from a packet.
struct TableKey {
  enum class Table : std::uint8_t { Teid, Ipv4, Ipv6, Framed4, Framed6 };
  Table table{};
  std::uint8_t length{};  ///< of framed routes: prefix length
  std::uint64_t key{};
  auto operator<=>(const TableKey&) const = default;
};

/// What a session is to packet threads: a place that always holds the rules of the moment.
struct Session {
  explicit Session(Seid id) : seid(id) {}
  const Seid seid;
  std::atomic<const Snapshot*> rules{};

  // The control thread's.
  StateList<UrrState> urrs{};
  StateList<QerState> qers{};
  StateList<FarState> fars{};
};

/// From TEID and UE address to sessions. One thread writes, packet threads read.
class SessionTables {
 public:
  explicit SessionTables(Quiescence& quiescence)
      : teids_(quiescence), ipv4_(quiescence), ipv6_(quiescence), framed_(quiescence) {}

  /// The one session of a TEID, or nullptr.
  [[nodiscard]] Session* by_teid(std::uint32_t teid) const { return teids_.find_any(teid); }

  void prefetch_teid(std::uint32_t teid) const { teids_.prefetch(teid); }

  /// Visits the sessions that may own an address, its own before framed routes and of these the
  /// longest first, until `visit(Session*)` returns true.
  template <class Visit>
  bool by_address(std::uint8_t version, const Address& address, Visit&& visit) const;

  /// Whether the session is found under the key.
  [[nodiscard]] bool holds(const TableKey& key, const Session* session);
  void insert(const TableKey& key, Session* session);
  void erase(const TableKey& key, Session* session);

  /// Grows with every change of addresses: what was looked up before it may have changed.
  [[nodiscard]] std::uint64_t address_changes() const {
    return changes_.load(std::memory_order_acquire);
  }

  [[nodiscard]] static std::uint64_t framed_key(std::uint8_t version, const Address& prefix,
                                                std::uint8_t length);

 private:
  using Lengths = std::array<std::uint32_t, 129>;

  template <class Visit>
  bool by_framed_route(std::uint8_t version, const Address& address, Visit&& visit) const;
  LookupTable<Session>& table(TableKey::Table which);
  void count_length(const TableKey& key, int by);

  LookupTable<Session> teids_;
  LookupTable<Session> ipv4_;
  LookupTable<Session> ipv6_;  ///< by the first 64 bits
  LookupTable<Session> framed_;
  std::atomic<std::uint64_t> changes_{};
  /// Bit n of word n / 64: some framed route has n bits. Which lengths to try.
  std::array<std::atomic<std::uint64_t>, 3> lengths4_{};
  std::array<std::atomic<std::uint64_t>, 3> lengths6_{};
  Lengths counts4_{};
  Lengths counts6_{};
};

template <class Visit>
bool SessionTables::by_address(std::uint8_t version, const Address& address, Visit&& visit) const {
  if (version == 4 ? ipv4_.find(address.low, visit) : ipv6_.find(address.high, visit)) return true;
  return by_framed_route(version, address, visit);
}

template <class Visit>
bool SessionTables::by_framed_route(std::uint8_t version, const Address& address,
                                    Visit&& visit) const {
  const auto& lengths = version == 4 ? lengths4_ : lengths6_;
  for (std::size_t word = lengths.size(); word-- > 0;) {
    std::uint64_t bits = lengths[word].load(std::memory_order_acquire);
    while (bits != 0) {
      const unsigned top = 63U - static_cast<unsigned>(__builtin_clzll(bits));
      bits &= ~(std::uint64_t{1} << top);
      const auto length = static_cast<std::uint8_t>(word * 64 + top);
      const Prefix prefix =
          version == 4 ? Prefix::of(Ipv4Prefix{{}, length}) : Prefix::of(Ipv6Prefix{{}, length});
      const Address masked{address.high & prefix.mask.high, address.low & prefix.mask.low};
      if (framed_.find(framed_key(version, masked, length), visit)) return true;
    }
  }
  return false;
}

/// "tunnel 0x00000011", "UE address 10.60.0.1", "a framed route of 24 bits"
[[nodiscard]] std::string to_string(const TableKey& key);
/// The keys under which packets of these rules are looked up, sorted, each once.
[[nodiscard]] std::vector<TableKey> keys_of(const Snapshot& rules);

}  // namespace upf::userplane

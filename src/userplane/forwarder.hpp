#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "classifier.hpp"
#include "coalescer.hpp"
#include "counters.hpp"
#include "datagram_batch.hpp"
#include "meter.hpp"
#include "packet_events.hpp"
#include "segmenter.hpp"
#include "session_tables.hpp"
#include "upf/dataplane/packet_buffer.hpp"

namespace upf::userplane {

/// What all packet threads share.
struct Shared {
  Shared(Quiescence& quiescence, dataplane::BufferLimits limits)
      : tables(quiescence), buffer(limits) {}

  SessionTables tables;
  /// Taken by packets that have to wait or that meet waiting ones, and by the control thread. No
  /// other packet meets it.
  std::mutex buffer_mutex{};
  dataplane::PacketBuffer buffer;

  // Fixed before the first packet.
  struct Local {
    bool ipv6{};
    Address address{};
  };
  std::vector<Local> locals{};         ///< by socket index: what Error Indications name
  std::vector<Local> own_addresses{};  ///< where GTP-U out of a tunnel must not go
  bool copy_dscp{};
  std::int64_t error_indication_gap_ns{};  ///< between two of them on average; 0: none are sent
  std::atomic<std::int64_t> error_indication_at{};
};

/// Where a datagram came from.
struct DatagramSource {
  std::uint16_t socket{};
  std::uint16_t port{};
  Address peer{};
  bool ipv6{};
};

/// The packet function: from a received datagram or N6 packet through session, PDR, gates, rates,
/// usage and FAR to the sink. It makes no system call but the sink's, allocates nothing (what is
/// buffered aside) and takes no lock (buffering aside).
///
/// One object per thread. Packets given to it must lie still until finish(), which sends everything
/// accepted. Between two packets it holds no reference to rules.
class Forwarder : private LimitSink {
 public:
  struct Options {
    bool vnet_header{};
    bool glue_udp{};     ///< the TUN takes UDP super packets
    bool udp_segment{};  ///< the sockets take several datagrams in one send
  };
  Forwarder(Shared& shared, Sink& sink, Options options);

  void begin(const Instant& now) { now_ = now; }
  /// Datagrams of `each` octets, the last may be shorter, that will be given to from_tunnel()
  /// before rules may change. When all of a batch are known, fetch_expected() has the memory of all
  /// their sessions fetched at once, where one after the other the packets would wait for each.
  void expect(std::span<const std::uint8_t> datagrams, std::size_t each);
  void fetch_expected();
  /// A UDP payload from the GTP-U port.
  void from_tunnel(std::span<std::uint8_t> datagram, const DatagramSource& source);
  /// A packet that the TUN gave; without IFF_VNET_HDR the header is all zeros.
  void from_n6(const VnetHeader& header, std::span<std::uint8_t> packet);
  void finish();

  /// Control thread's forwarder: a packet that waited meets the rules of now. It doesn't queue
  /// behind others.
  void replay(Session& session, std::span<std::uint8_t> stored);
  /// A packet that waited, of the session of these rules, was thrown away.
  void forget(const Snapshot& rules, const dataplane::BufferedPacket& packet);
  void send_end_marker(const Tunnel& tunnel);
  void send(const DatagramSource& to, std::uint16_t port, std::span<const std::uint8_t> datagram);

  [[nodiscard]] ThreadCounters& counters() { return counters_; }
  [[nodiscard]] EventRing& events() { return events_; }
  /// Whether events were pushed since the last call.
  [[nodiscard]] bool take_signal() { return std::exchange(signal_, false); }

 private:
  /// A packet on its way through.
  struct Journey {
    Arrival arrival{};
    std::optional<gtpu::RawExtension> pdcp{};
    bool replayed{};
    bool turned{};  ///< it came from a UE and goes to another
    SuperPacket packet{};
  };

  // forwarder.cpp, holding.cpp
  void on_gpdu(const gtpu::Header& header, std::span<std::uint8_t> t_pdu,
               const DatagramSource& source);
  void to_owner(Journey& journey);
  bool try_forward(Session& session, Journey& journey);
  void apply(const Snapshot& rules, const PdrEntry& pdr, Journey& journey);
  /// All but the first `passing` packets.
  void drop(const Snapshot& rules, const PdrEntry& pdr, Drop why, const Train& train,
            std::uint32_t passing = 0);
  void forward(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far, Journey& journey);
  void to_n6(Journey& journey);
  bool turn_to_ue(Journey& journey);
  [[nodiscard]] bool is_ue(const IpPacket& packet);
  void to_tunnel(const PdrEntry& pdr, const FarEntry& far, const Journey& journey);
  [[nodiscard]] bool is_to_self(const IpPacket& packet) const;
  void hold(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far, Journey& journey);
  void store(const Snapshot& rules, const PdrEntry& pdr, const FarEntry& far,
             const Journey& journey);
  [[nodiscard]] std::vector<std::uint8_t> stored_form(const Journey& journey,
                                                      std::uint32_t segment) const;

  // signalling.cpp
  void on_echo_request(const gtpu::Header& header, const DatagramSource& source);
  void on_error_indication(const gtpu::Header& header, const DatagramSource& source);
  void on_end_marker(const gtpu::Header& header);
  void on_unknown_tunnel(std::uint32_t teid, const DatagramSource& source);
  [[nodiscard]] bool may_send_error_indication(std::uint32_t teid, const DatagramSource& source);

  // LimitSink
  void limit_reached(UrrState& urr, dataplane::LimitReached::Limit limit) override;
  void traffic_started(UrrState& urr, std::int64_t wall_ns) override;
  void tell(const PacketEvent& event);

  static constexpr std::size_t kMostExpected = 64;

  Shared& shared_;
  Classifier classifier_;
  Coalescer coalescer_;
  DatagramBatch batch_;
  ThreadCounters counters_;
  EventRing events_;
  Instant now_{};
  bool signal_{};
  std::array<std::uint32_t, kMostExpected> expected_{};  ///< TEIDs, no two neighbours the same
  std::size_t expected_count_{};

  /// The last destination that turned out to be no UE, so that a flow asks once.
  struct {
    Address address{};
    std::uint8_t version{};
    std::uint64_t changes{};
  } not_ue_{};
  /// TEIDs whose sender was told lately.
  struct Told {
    std::uint32_t teid{};
    Address peer{};
    std::int64_t at_ns{};
  };
  std::array<Told, 256> told_{};
};

}  // namespace upf::userplane

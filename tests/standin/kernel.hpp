#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink/attributes.hpp"
#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/wire/cursor.hpp"

/// A stand-in for the gtp5g kernel module, written from what was measured of v0.10.2 and not from
/// its code: it decodes the very octets that the plane sends, answers, forwards packets and raises
/// events as the module does, with its traps. What would panic, hang or corrupt the host aborts the
/// test.
namespace upf::standin {

/// What the packet path hands out.
class Outputs {
 public:
  Outputs() = default;
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  virtual ~Outputs() = default;
  /// An IP packet leaves the link towards N6.
  virtual void to_n6(wire::Bytes packet, std::uint32_t mark) = 0;
  /// A GTP-U datagram leaves.
  virtual void to_peer(Ipv4 from, const SocketAddress& to, std::uint8_t tos,
                       wire::Bytes datagram) = 0;
  /// A datagram that the module doesn't handle: the socket's owner reads it.
  virtual void to_socket(const SocketAddress& from, wire::Bytes datagram) = 0;
  /// A multicast event.
  virtual void event(wire::Bytes message) = 0;
};

class Kernel {
 public:
  static constexpr std::uint16_t kFamily = 0x20;
  static constexpr std::uint32_t kGroup = 9;
  static constexpr std::uint32_t kIfindex = 7;

  explicit Kernel(Outputs& outputs) : outputs_(outputs) {}

  /// Runs the messages of one send(); what comes back are datagrams, one an answer.
  [[nodiscard]] std::vector<wire::Octets> run(wire::Bytes messages);

  void create_link(std::uint32_t hash_size, bool socket_open);
  void remove_link();
  /// The link's socket was closed.
  void close_socket();
  void set_qos(bool on);

  /// A datagram on the link's UDP socket.
  void receive_datagram(const SocketAddress& from, Ipv4 to, wire::Bytes datagram);
  /// An IP packet that is routed to the link.
  void receive_packet(wire::Bytes packet);

  /// Rules of all sessions: a clean end leaves none.
  [[nodiscard]] std::size_t rules() const;
  [[nodiscard]] std::size_t pdrs() const;
  [[nodiscard]] std::uint64_t requests() const;
  /// From now on dumps have a FAR of another gtp5g link as well; nothing else knows of it.
  void dump_of_another_link(std::uint64_t seid, std::uint32_t far);
  /// System calls, that is run()s.
  [[nodiscard]] std::uint64_t calls() const;

  // --- seams ---------------------------------------------------------------------------------
  std::string version{"0.10.2"};
  bool loaded{true};
  /// What would take the host down; aborts unless a test wants to see it.
  std::function<void(const std::string&)> on_trap{};
  /// errno for a request before it is looked at; 0: as usual. By count of requests or by command.
  std::function<int(std::uint8_t command, bool replace)> fail{};
  /// run() doesn't return, as with a lock that is never released.
  std::function<void()> hang{};
  /// Events are lost from now on, as with a full queue; returns to normal by itself after one.
  std::function<TimePoint()> now{[] { return Clock::now(); }};

 private:
  using Id = std::pair<std::uint64_t, std::uint32_t>;  ///< SEID and number

  struct Ports {
    std::uint16_t first{};
    std::uint16_t last{};
  };
  struct Filter {
    std::uint8_t direction{};
    std::uint8_t protocol{};
    std::uint32_t source{}, source_mask{}, destination{}, destination_mask{};
    std::vector<Ports> source_ports{}, destination_ports{};
  };
  struct Volumes {
    std::uint64_t up{}, down{}, up_packets{}, down_packets{};
  };
  struct Limit {
    std::uint8_t flags{};
    std::uint64_t total{}, up{}, down{};
  };
  struct Bucket {
    double rate{};  ///< octets a second
    double tokens{}, excess{};
    TimePoint last{};
  };
  struct Far {
    std::uint32_t id{};
    std::uint16_t action{};
    bool has_tunnel{};
    std::uint32_t teid{};
    Ipv4 peer{};
    std::uint16_t port{};
    std::uint8_t tos{};
    std::uint32_t mark{};
    std::string policy{};  ///< as it was given
    std::uint16_t sequence{};
  };
  struct SplitRate {
    std::uint32_t up_high{}, down_high{};
    std::uint8_t up_low{}, down_low{};
  };
  struct Qer {
    std::uint8_t gate{};
    std::uint8_t qfi{};
    SplitRate mbr{}, gbr{};
    std::shared_ptr<Bucket> up{}, down{};
  };
  struct Urr {
    std::uint32_t trigger{}, period{};
    std::uint8_t method{}, info{};
    Limit threshold{}, quota{};
    Volumes period_count[2]{};
    int active{};
    Volumes threshold_count{}, quota_count{};
    bool exhausted{};
    std::uint64_t lost_pdr_in{};  ///< the call in which a PDR that lists it was deleted
    std::vector<std::pair<Id, std::uint16_t>> closed{};  ///< FARs and their actions before
    std::uint64_t start{};
  };
  struct Pdr {
    std::uint64_t seid{};
    std::uint16_t id{};
    std::uint32_t precedence{};
    std::uint8_t source_interface{};
    std::optional<std::uint32_t> ue{};
    std::optional<std::uint32_t> teid{};
    Ipv4 tunnel_address{};
    std::optional<Filter> filter{};
    bool removal{};
    std::uint32_t far{};
    std::vector<std::uint32_t> qers{}, urrs{};
    Ipv4 role{};
    std::uint8_t gate{}, qfi{};
    std::optional<std::uint32_t> policing{};
  };

  struct Request {
    std::uint8_t command{};
    std::uint8_t version{};
    bool excl{}, replace{}, ack{}, dump{};
    netlink::Attributes attributes{};
    wire::Bytes raw{};
  };

  void trap(const std::string& what) const;
  [[nodiscard]] int dispatch(const Request& request, std::vector<wire::Octets>& data);
  int add_pdr(const Request& request);
  int fill_pdr(Pdr& pdr, const Request& request);
  void fill_pdi(Pdr& pdr, netlink::Attributes pdi) const;
  int add_far(const Request& request);
  int fill_far(Far& far, const Request& request, bool update, std::uint64_t seid);
  int add_qer(const Request& request);
  int add_urr(const Request& request);
  int remove_pdr(const Request& request);
  int remove_far(const Request& request);
  int remove_qer(const Request& request);
  int remove_urr(const Request& request, std::vector<wire::Octets>& data);
  int report(const Request& request, std::vector<wire::Octets>& data);
  int multi_reports(const Request& request, std::vector<wire::Octets>& data);
  // read_back.cpp: GET and dumps
  [[nodiscard]] int read_back(const Request& request, std::vector<wire::Octets>& data) const;
  void dump(const Request& request, std::vector<wire::Octets>& data) const;
  [[nodiscard]] std::vector<std::uint16_t> users(std::uint64_t seid,
                                                 const std::function<bool(const Pdr&)>& uses) const;
  [[nodiscard]] wire::Octets octets_of(const Pdr& pdr, std::uint32_t sequence) const;
  [[nodiscard]] wire::Octets octets_of(const Id& id, const Far& far, std::uint32_t sequence) const;
  [[nodiscard]] wire::Octets octets_of(const Id& id, const Qer& qer, std::uint32_t sequence) const;
  [[nodiscard]] wire::Octets octets_of(const Id& id, const Urr& urr, std::uint32_t sequence) const;
  void family_answer(wire::Octets& out) const;
  void link(Pdr& pdr);
  void unlink(const Pdr& pdr);
  void erase_pdr(const Id& id);
  [[nodiscard]] bool used(std::uint64_t seid, const std::function<bool(const Pdr&)>& uses) const;
  [[nodiscard]] std::uint32_t bucket(const Id& id) const;

  [[nodiscard]] Pdr* match_tunnel(std::uint32_t teid, wire::Bytes inner, bool g_pdu);
  [[nodiscard]] Pdr* match_address(wire::Bytes packet);
  [[nodiscard]] static bool matches(const Pdr& pdr, wire::Bytes packet);
  void forward_tunnelled(Pdr& pdr, Far& far, wire::Bytes datagram, std::size_t header);
  void forward_encapsulated(Pdr& pdr, Far& far, wire::Bytes packet);
  void buffer(Pdr& pdr, Far& far, wire::Bytes packet);
  [[nodiscard]] bool police(const Pdr& pdr, std::uint64_t octets);
  /// False: the packet isn't to be forwarded.
  bool count(Pdr& pdr, std::uint64_t octets, bool dropped);
  void close_fars(const Id& urr_id, Urr& urr);
  void reopen_fars(Urr& urr);
  void end_marker(const Far& old, std::uint64_t seid, std::uint32_t far_id);
  void echo(const SocketAddress& from, Ipv4 to, wire::Bytes datagram);
  [[nodiscard]] wire::Octets usage(const Id& id, Urr& urr, Volumes& counter,
                                   std::uint32_t trigger) const;

  mutable std::recursive_mutex mutex_{};
  Outputs& outputs_;
  bool link_{};
  bool socket_{};
  bool qos_{};
  std::uint32_t hash_size_{1024};
  std::map<Id, Far> fars_{};
  std::map<Id, Far> fars_elsewhere_{};
  std::map<Id, Qer> qers_{};
  std::map<Id, Urr> urrs_{};
  std::map<Id, Pdr> pdrs_{};
  std::map<std::uint32_t, std::list<Id>> by_teid_{};  ///< in the order of matching
  std::map<std::uint32_t, std::list<Id>> by_ue_{};
  std::uint64_t requests_{};
  std::uint64_t calls_{};
  std::uint32_t event_sequence_{};
};

}  // namespace upf::standin

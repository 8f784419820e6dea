#pragma once

#include <deque>
#include <utility>

#include "contract/world.hpp"
#include "src/userplane/session_keeper.hpp"
#include "upf/base/assert.hpp"

/// The user-space plane without its shell: packet function and session keeper on a sink in memory.
/// Deterministic, needs no privileges, and time is the test's.
namespace upf::contract {

class MemorySink : public userplane::Sink {
 public:
  void send(std::span<const userplane::OutMessage> messages) override {
    for (const auto& message : messages) cut(message);
  }
  void write_n6(std::span<const iovec> parts) override {
    Octets whole = glue(parts);
    userplane::VnetHeader header{};
    if (vnet) {
      std::memcpy(&header, whole.data(), sizeof header);
      whole.erase(whole.begin(), whole.begin() + sizeof header);
    }
    // What the kernel would do with the super packet.
    userplane::SuperPacket packet;
    UPF_ASSERT(userplane::read_super_packet(header, whole.data(), whole.size(), packet));
    if (packet.count > 1) ++super_packets;
    for (std::uint32_t i = 0; i < packet.count && packet.segment_size > 0; ++i) {
      Octets segment(packet.header_size);
      const auto payload = userplane::write_segment(packet, i, segment.data());
      segment.insert(segment.end(), payload.begin(), payload.end());
      outputs.push_back({.to_n6 = true, .octets = segment});
    }
    if (packet.segment_size == 0) outputs.push_back({.to_n6 = true, .octets = whole});
  }

  std::vector<Output> outputs{};
  bool vnet{true};
  std::size_t super_packets{};
  std::size_t trains{};  ///< messages of more than one datagram

 private:
  static Octets glue(std::span<const iovec> parts) {
    Octets whole;
    for (const iovec& part : parts) {
      const auto* data = static_cast<const std::uint8_t*>(part.iov_base);
      whole.insert(whole.end(), data, data + part.iov_len);
    }
    return whole;
  }
  void cut(const userplane::OutMessage& message) {
    const Octets whole = glue(message.parts);
    UPF_ASSERT(whole.size() == message.octets);
    UPF_ASSERT((whole.size() + message.segment_size - 1) / message.segment_size == message.count);
    if (message.count > 1) ++trains;
    for (std::size_t at = 0; at < whole.size(); at += message.segment_size) {
      const std::size_t size = std::min<std::size_t>(message.segment_size, whole.size() - at);
      const auto first = whole.begin() + static_cast<std::ptrdiff_t>(at);
      outputs.push_back({.peer = address_of(message),
                         .octets = Octets(first, first + static_cast<std::ptrdiff_t>(size))});
      tos.push_back(message.tos);
    }
  }
  static IpAddress address_of(const userplane::OutMessage& message) {
    if (!message.ipv6) return Ipv4::from_host(static_cast<std::uint32_t>(message.peer.low));
    Ipv6 v6{};
    for (std::size_t i = 0; i < 8; ++i) {
      v6.octets[i] = static_cast<std::uint8_t>(message.peer.high >> (56 - 8 * i));
      v6.octets[8 + i] = static_cast<std::uint8_t>(message.peer.low >> (56 - 8 * i));
    }
    return v6;
  }

 public:
  std::vector<std::uint8_t> tos{};  ///< of each datagram
};

class MemoryWorld : public World, private dataplane::DataPlane, private userplane::LocalEnds {
 public:
  explicit MemoryWorld(dataplane::BufferLimits limits = {})
      : shared_(quiescence_, limits),
        packets_(shared_, sink, {.vnet_header = true, .glue_udp = true, .udp_segment = true}),
        control_(shared_, sink, {.vnet_header = true, .glue_udp = true, .udp_segment = true}),
        keeper_(shared_, quiescence_, control_, *this) {
    const auto own = userplane::Address::of(MemoryWorld::local());
    shared_.locals = {{false, own}, {true, {0x20010db800000000, 1}}};
    shared_.own_addresses = shared_.locals;
    shared_.error_indication_gap_ns = 10'000'000;
    packets_.begin({1, 1});
  }

  dataplane::DataPlane& plane() override { return *this; }
  /// All datagrams given until settle() are one batch.
  void from_peer(std::uint8_t number, const Octets& datagram) override {
    const auto peer_address = userplane::Address::of(peer(number));
    inputs_.push_back(datagram);
    packets_.begin({now.count(), 1'000'000'000 + now.count()});
    packets_.expect(inputs_.back(), inputs_.back().size());
    packets_.from_tunnel(inputs_.back(), {.socket = 0, .port = 2152, .peer = peer_address});
  }
  void from_n6(const Octets& packet) override { from_tun({}, packet); }
  void from_tun(const userplane::VnetHeader& header, const Octets& packet) {
    inputs_.push_back(packet);
    packets_.begin({now.count(), 1'000'000'000 + now.count()});
    packets_.from_n6(header, inputs_.back());
  }
  std::vector<Output> settle() override {
    packets_.fetch_expected();
    packets_.finish();
    inputs_.clear();
    return std::exchange(sink.outputs, {});
  }
  std::vector<dataplane::Event> events() override { return take_events(); }
  bool lose_uplink() override {
    constexpr std::uint32_t kTeid = 0x1001;
    userplane::Session* session = shared_.tables.by_teid(kTeid);
    if (session == nullptr) return false;
    shared_.tables.erase({userplane::TableKey::Table::Teid, 0, kTeid}, session);
    return true;
  }
  [[nodiscard]] std::uint64_t dropped(userplane::Drop why) {
    return packets_.counters().of(why) + control_.counters().of(why);
  }
  [[nodiscard]] std::uint64_t tally(userplane::Tally what) {
    return packets_.counters().of(what) + control_.counters().of(what);
  }
  userplane::Shared& shared() { return shared_; }
  userplane::Forwarder& packets() { return packets_; }

  MemorySink sink{};
  std::chrono::nanoseconds now{1'000'000'000};

 private:
  const dataplane::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change) override {
    packets_.finish();
    return keeper_.apply(change);
  }
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) override {
    return keeper_.read_usage(seid, urrs);
  }
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair) override {
    return keeper_.audit(seid, intended, repair);
  }
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair) override {
    return keeper_.audit_strays(known, repair);
  }
  void watch(const dataplane::Watcher& watcher) override { keeper_.watch(watcher); }
  std::optional<dataplane::Inspection> inspect(Seid seid) const override {
    return keeper_.inspect(seid);
  }
  int event_descriptor() const override { return -1; }
  std::vector<dataplane::Event> take_events() override {
    std::vector<dataplane::Event> out;
    const Now at{TimePoint{now}, WallTime{now}};
    for (userplane::Forwarder* forwarder : {&packets_, &control_}) {
      while (const auto event = forwarder->events().pop()) {
        keeper_.on_packet_event(*event, at, out);
      }
    }
    keeper_.on_time(at, out);
    return out;
  }
  std::vector<dataplane::Counter> counters() const override { return {}; }
  std::optional<std::uint16_t> towards(const IpAddress& to, const std::string&) override {
    return std::holds_alternative<Ipv6>(to) ? std::uint16_t{1} : std::uint16_t{0};
  }

  dataplane::Capabilities capabilities_{.name = "userspace in memory",
                                        .ipv6 = true,
                                        .outer_ipv6 = true,
                                        .buffering = true,
                                        .end_marker = true,
                                        .framed_routing = true,
                                        .quota_action = true,
                                        .cp_function = true};
  userplane::Quiescence quiescence_{};
  userplane::Shared shared_;
  userplane::Forwarder packets_;
  userplane::Forwarder control_;
  userplane::SessionKeeper keeper_;
  std::deque<Octets> inputs_{};
};

}  // namespace upf::contract

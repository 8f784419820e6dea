#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/lab/dialect.hpp"
#include "tests/lab/gtpu.hpp"
#include "tests/lab/socket.hpp"
#include "upf/base/result.hpp"

namespace upf::lab {

struct RanCounters {
  std::atomic<std::uint64_t> uplink_packets{}, downlink_packets{}, unknown_teid{}, end_markers{},
      echo_requests{}, error_indications{}, malformed{};
};

/// The radio side: UEs behind one TUN device, and gNBs that carry their packets in GTP-U.
/// Applications in the namespace use the TUN; a UE's packets go through the gNB that it is attached
/// to.
///
/// Two threads move packets; attach() and detach() may be called at any time.
class Ran {
 public:
  /// An empty `tun` name makes gNBs without UE: they only count what arrives.
  [[nodiscard]] static Result<std::unique_ptr<Ran>, std::string> start(const std::string& tun,
                                                                       int mtu);
  ~Ran();
  Ran(const Ran&) = delete;
  Ran& operator=(const Ran&) = delete;

  [[nodiscard]] Result<void, std::string> add_gnb(const std::string& name, Ipv4 address);
  /// Attaches the UE to the gNB; packets from it go to `uplink` from now on. Returns the gNB's own
  /// end, with a TEID that was not used before. What arrives at an end that the UE had before still
  /// reaches it.
  [[nodiscard]] Result<TunnelEnd, std::string> attach(Ipv4 ue, const std::string& gnb,
                                                      TunnelEnd uplink, std::uint8_t qfi);
  void detach(Ipv4 ue);
  [[nodiscard]] const RanCounters& counters() const { return counters_; }
  /// TEIDs for which an End Marker came, in order.
  [[nodiscard]] std::vector<std::uint32_t> end_marker_teids() const;

 private:
  struct Gnb {
    Socket socket{};
    Ipv4 address{};
  };
  struct Attachment {
    int socket{};
    TunnelEnd uplink{};
    std::uint8_t qfi{};
  };

  explicit Ran(Socket tun);
  void uplink_loop();
  void downlink_loop();
  void read_gnb(const Gnb& gnb, std::vector<std::uint8_t>& buffer);
  void handle(const Gnb& gnb, const GtpuPacket& packet, const SocketAddress& from,
              class Merger* merger);

  Socket tun_;
  mutable std::shared_mutex mutex_{};
  std::map<std::string, std::unique_ptr<Gnb>> gnbs_{};
  std::unordered_map<std::uint32_t, Attachment> by_ue_{};       ///< UE address
  std::unordered_map<std::uint32_t, std::uint32_t> by_teid_{};  ///< our TEID to UE address
  std::vector<std::uint32_t> end_markers_{};
  std::uint32_t next_teid_{0x1001};
  RanCounters counters_{};
  std::atomic<bool> stopping_{};
  std::thread uplink_{};
  std::thread downlink_{};
};

/// A TUN device with virtio-net headers and TSO, up, without an address. The error says what to do.
[[nodiscard]] Result<Socket, std::string> open_tun(const std::string& name, int mtu);

}  // namespace upf::lab

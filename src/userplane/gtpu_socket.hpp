#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "counters.hpp"
#include "fd.hpp"
#include "forwarder.hpp"
#include "sink.hpp"
#include "upf/base/result.hpp"
#include "upf/userplane/user_plane.hpp"

namespace upf::userplane {

/// A bound GTP-U socket.
struct GtpuSocket {
  Fd fd{};
  bool gro{};
  bool segment{};

  /// `shared`: several sockets with this address exist, one a worker.
  [[nodiscard]] static Result<GtpuSocket, std::string> open(const LocalAddress& local, bool shared,
                                                            const Offloads& offloads);
};

/// A socket address as the kernel wants it.
struct SocketName {
  union {
    sockaddr_in v4;
    sockaddr_in6 v6;
    sockaddr any;
  } address{};
  socklen_t size{};

  [[nodiscard]] static SocketName of(bool ipv6, const Address& address, std::uint16_t port);
  [[nodiscard]] static SocketName of(const IpAddress& address, std::uint16_t port);
};

/// Receives many datagrams in one call; with UDP_GRO each received message is a train of datagrams
/// of one sender.
///
/// How many messages a call asks for follows their size. Few while they are trains: what was
/// received is then sent while it is in the cache, and the kernel finds the buffers that it freed
/// in its own. Many while they are single packets (a peer without UDP checksums can't be received
/// in trains): a call is shared by many, and more of a flow's packets meet.
class GtpuReceiver {
 public:
  GtpuReceiver();
  /// Hands each datagram to `forwarder`. Returns the number of messages; 0: nothing was there.
  /// `drained`: nothing is left for now.
  std::size_t receive(int fd, std::uint16_t socket_index, Forwarder& forwarder, bool& drained,
                      const std::function<void()>& between_messages);

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kFew = 4;
  static constexpr std::size_t kSingle = 2048;
  static constexpr std::size_t kBatchOctets = 16 * 1024;
  static constexpr std::size_t kBuffer = 65536 + 192;  // off the power of two: no cache set is hot

  struct Control {
    alignas(cmsghdr) std::array<std::uint8_t, 64> octets{};
  };
  /// What a message holds: datagrams of `each` octets, the last may be shorter.
  struct Datagrams {
    std::span<std::uint8_t> octets{};
    std::size_t each{};
  };
  void prepare(std::size_t count);
  [[nodiscard]] Datagrams datagrams(std::size_t index);
  void deliver(std::size_t index, std::uint16_t socket_index, Forwarder& forwarder);

  std::size_t ask_{kMost};
  std::unique_ptr<std::uint8_t[]> buffers_;
  std::vector<mmsghdr> messages_;
  std::vector<iovec> parts_;
  std::vector<sockaddr_in6> names_;
  std::vector<Control> controls_;
};

/// What the packet path writes to in the product: sockets by index of local address, one TUN queue.
class SocketSink : public Sink {
 public:
  SocketSink(std::vector<int> sockets, int tun, bool segment)
      : sockets_(std::move(sockets)), tun_(tun), segment_(segment) {}

  void send(std::span<const OutMessage> messages) override;
  void write_n6(std::span<const iovec> parts) override;

  /// Where calls and losses are counted; set before the first packet.
  void count_in(ThreadCounters& counters) { counters_ = &counters; }
  /// A device refused UDP_SEGMENT (kernels before 6.11 do on devices without checksum offload).
  [[nodiscard]] bool gave_up_segmenting() const { return gave_up_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kMost = 64;
  struct Control {
    alignas(cmsghdr) std::array<std::uint8_t, 64> octets{};
  };
  struct Prepared {
    SocketName name{};
    Control control{};
  };

  void send_run(std::span<const OutMessage> messages);
  void prepare(std::size_t index, const OutMessage& message, std::span<const iovec> parts,
               bool segment);
  std::size_t push(int fd, std::size_t first, std::size_t count);
  void send_singly(const OutMessage& message);
  void flush_singles(int fd);
  [[nodiscard]] bool segmentable(const OutMessage& message) const;

  std::vector<int> sockets_;
  int tun_;
  const bool segment_;
  std::atomic<bool> gave_up_{};
  std::uint32_t largest_segment_{65535};  ///< what the path was found to take
  ThreadCounters* counters_{};
  std::array<mmsghdr, kMost> headers_{};
  std::array<Prepared, kMost> prepared_{};
  std::array<iovec, kMost * 4> single_parts_{};
  std::size_t singles_{};
  std::size_t single_parts_used_{};
};

}  // namespace upf::userplane

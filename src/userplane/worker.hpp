#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "fd.hpp"
#include "forwarder.hpp"
#include "gtpu_socket.hpp"
#include "quiescence.hpp"
#include "vnet_header.hpp"

namespace upf::userplane {

/// Reads packets from one TUN queue, many before the kernel is asked to send.
class TunReader {
 public:
  explicit TunReader(bool vnet_header);
  /// Hands packets to `forwarder` until a batch is full. Returns their number.
  std::size_t read(int fd, Forwarder& forwarder, bool& drained,
                   const std::function<void()>& between_packets);

 private:
  static constexpr std::size_t kMostReads = 64;
  static constexpr std::size_t kMostOctets = 64 * 1024;  // what stays in the cache
  static constexpr std::size_t kLargest = 65536 + 64;
  const bool vnet_;
  std::unique_ptr<std::uint8_t[]> arena_;
};

/// One packet thread: waits for its sockets and its TUN queue, and runs packets through a forwarder
/// of its own, batch by batch. A source that still has packets is served again before the thread
/// sleeps, in turns with the others.
class Worker {
 public:
  struct Source {
    int fd{-1};
    bool is_tun{};
    std::uint16_t socket_index{};
  };
  struct Wiring {
    std::vector<Source> sources{};
    std::vector<int> sockets{};  ///< to send from, by index of local address
    int tun{-1};                 ///< to write to
    int event_fd{-1};            ///< to tell the control thread that there are events
    Forwarder::Options options{};
  };

  Worker(Shared& shared, Quiescence& quiescence, Wiring wiring, const std::string& name);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  [[nodiscard]] Forwarder& forwarder() { return forwarder_; }
  [[nodiscard]] const SocketSink& sink() const { return sink_; }
  [[nodiscard]] bool lost_tun() const { return lost_tun_.load(std::memory_order_relaxed); }

 private:
  void run();
  void wait_for_sources();
  bool serve(const Source& source);
  void signal() const;

  Quiescence& quiescence_;
  Quiescence::Thread& thread_state_;
  const Wiring wiring_;
  SocketSink sink_;
  Forwarder forwarder_;
  GtpuReceiver receiver_;
  TunReader reader_;
  Fd epoll_;
  Fd stop_event_;
  std::atomic<bool> stop_{};
  std::atomic<bool> lost_tun_{};
  std::vector<bool> ready_;
  std::thread thread_;
};

}  // namespace upf::userplane

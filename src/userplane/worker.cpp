#include "worker.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#include <algorithm>
#include <chrono>

namespace upf::userplane {
namespace {

Instant read_clocks() {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::nanoseconds{steady}.count(), std::chrono::nanoseconds{wall}.count()};
}

void watch(int epoll, int fd, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  (void)::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

TunReader::TunReader(bool vnet_header)
    : vnet_(vnet_header), arena_(new std::uint8_t[kMostOctets + kLargest]) {}

std::size_t TunReader::read(int fd, Forwarder& forwarder, bool& drained,
                            const std::function<void()>& between_packets) {
  std::size_t at = 0;
  std::size_t packets = 0;
  drained = false;
  while (packets < kMostReads && at < kMostOctets) {
    VnetHeader header{};
    const std::array<iovec, 2> parts{{{&header, sizeof header}, {arena_.get() + at, kLargest}}};
    const iovec* first = vnet_ ? parts.data() : parts.data() + 1;
    const ssize_t got = ::readv(fd, first, vnet_ ? 2 : 1);
    forwarder.counters().add(Tally::ReceiveCalls);
    if (got < static_cast<ssize_t>(sizeof header)) {
      drained = true;
      break;
    }
    forwarder.counters().add(Tally::ReceiveMessages);
    forwarder.counters().add(Tally::N6Messages);
    const std::size_t size = static_cast<std::size_t>(got) - (vnet_ ? sizeof header : 0);
    forwarder.from_n6(header, {arena_.get() + at, size});
    between_packets();
    at += (size + 63) / 64 * 64;
    ++packets;
  }
  return packets;
}

Worker::Worker(Shared& shared, Quiescence& quiescence, Wiring wiring, const std::string& name)
    : quiescence_(quiescence),
      thread_state_(quiescence.add_thread()),
      wiring_(std::move(wiring)),
      sink_(wiring_.sockets, wiring_.tun, wiring_.options.udp_segment),
      forwarder_(shared, sink_, wiring_.options),
      reader_(wiring_.options.vnet_header),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ready_(wiring_.sources.size()) {
  sink_.count_in(forwarder_.counters());
  for (std::size_t i = 0; i < wiring_.sources.size(); ++i) {
    watch(epoll_.get(), wiring_.sources[i].fd, i);
  }
  watch(epoll_.get(), stop_event_.get(), wiring_.sources.size());
  thread_ = std::thread{[this] { run(); }};
  (void)::pthread_setname_np(thread_.native_handle(), name.c_str());
}

Worker::~Worker() {
  stop_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  (void)!::write(stop_event_.get(), &one, sizeof one);
  thread_.join();
}

void Worker::run() {
  while (!stop_.load(std::memory_order_acquire)) {
    if (std::ranges::find(ready_, true) == ready_.end()) wait_for_sources();
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      if (ready_[i]) ready_[i] = serve(wiring_.sources[i]);
    }
  }
  thread_state_.offline();
}

void Worker::wait_for_sources() {
  std::array<epoll_event, 16> events{};
  thread_state_.offline();
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
  thread_state_.online(quiescence_);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    const std::uint64_t what = event.data.u64;
    if (what >= ready_.size()) continue;
    ready_[what] = true;
    // A TUN device that somebody deleted stays "ready" for ever: without it this thread goes on.
    if ((event.events & EPOLLERR) != 0 && wiring_.sources[what].is_tun) {
      (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, wiring_.sources[what].fd, nullptr);
      lost_tun_.store(true, std::memory_order_relaxed);
      signal();
    }
  }
}

/// One batch. True: the source may have more.
bool Worker::serve(const Source& source) {
  const auto between = [this] { thread_state_.between_packets(quiescence_); };
  bool drained = true;
  forwarder_.begin(read_clocks());
  if (source.is_tun) {
    reader_.read(source.fd, forwarder_, drained, between);
  } else {
    receiver_.receive(source.fd, source.socket_index, forwarder_, drained, between);
  }
  forwarder_.finish();
  thread_state_.between_batches(quiescence_);
  if (forwarder_.take_signal()) signal();
  return !drained;
}

void Worker::signal() const {
  const std::uint64_t one = 1;
  (void)!::write(wiring_.event_fd, &one, sizeof one);
}

}  // namespace upf::userplane

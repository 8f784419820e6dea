#include "netlink/watched_transport.hpp"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace upf::netlink {

struct WatchedTransport::Shared {
  std::unique_ptr<Transport> inner{};
  std::chrono::milliseconds limit{};
  std::thread worker{};

  std::mutex mutex{};
  std::condition_variable changed{};
  std::optional<wire::Octets> work{};
  std::optional<Result<void, int>> done{};
  bool stop{};
  bool hung{};

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [&] { return stop || work; });
      if (stop) return;
      const wire::Octets messages = std::move(*work);
      work.reset();
      lock.unlock();
      Result<void, int> result = inner->send(messages);
      lock.lock();
      done = result;
      changed.notify_all();
    }
  }
};

WatchedTransport::WatchedTransport(std::unique_ptr<Transport> inner,
                                   std::chrono::milliseconds limit)
    : shared_(std::make_shared<Shared>()) {
  shared_->inner = std::move(inner);
  shared_->limit = limit;
  shared_->worker = std::thread{[shared = shared_] { shared->run(); }};
}

WatchedTransport::~WatchedTransport() {
  bool hung = false;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->stop = true;
    hung = shared_->hung;
    shared_->changed.notify_all();
  }
  // A thread that sits in the kernel for good is left there; it holds its share of the state.
  if (hung) {
    shared_->worker.detach();
  } else {
    shared_->worker.join();
  }
}

Result<void, int> WatchedTransport::send(wire::Bytes messages) {
  std::unique_lock lock{shared_->mutex};
  if (shared_->hung) return failure(ETIMEDOUT);
  shared_->done.reset();
  shared_->work.emplace(messages.begin(), messages.end());
  shared_->changed.notify_all();
  if (!shared_->changed.wait_for(lock, shared_->limit, [&] { return shared_->done.has_value(); })) {
    shared_->hung = true;
    return failure(ETIMEDOUT);
  }
  return *shared_->done;
}

Result<std::size_t, int> WatchedTransport::receive(std::span<std::uint8_t> buffer) {
  return shared_->inner->receive(buffer);
}

int WatchedTransport::descriptor() const { return shared_->inner->descriptor(); }

}  // namespace upf::netlink

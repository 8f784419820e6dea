#include "tests/standin/host.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace upf::standin {

// --- mailbox ---------------------------------------------------------------------------------

Mailbox::Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
Mailbox::~Mailbox() { ::close(event_); }

void Mailbox::put(SocketAddress from, wire::Bytes octets) {
  constexpr std::size_t kMost = 32768;  // as a socket's receive buffer holds no more
  const std::lock_guard lock{mutex_};
  if (items_.size() < kMost) {
    items_.push_back({from, {octets.begin(), octets.end()}});
  } else {
    overrun_ = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(event_, &one, sizeof one);
}

void Mailbox::overrun() {
  const std::lock_guard lock{mutex_};
  overrun_ = true;
  const std::uint64_t one = 1;
  (void)!::write(event_, &one, sizeof one);
}

Result<Mailbox::Item, int> Mailbox::take() {
  const std::lock_guard lock{mutex_};
  if (std::exchange(overrun_, false)) return failure(ENOBUFS);
  if (items_.empty()) {
    std::uint64_t all{};
    (void)!::read(event_, &all, sizeof all);
    return failure(EAGAIN);
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

// --- sockets ---------------------------------------------------------------------------------

namespace {

std::size_t copy(const wire::Octets& from, std::span<std::uint8_t> to) {
  std::memcpy(to.data(), from.data(), std::min(from.size(), to.size()));
  return std::min(from.size(), to.size());
}

class Requests final : public netlink::Transport {
 public:
  explicit Requests(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

  [[nodiscard]] Result<void, int> send(wire::Bytes messages) override {
    for (wire::Octets& answer : machine_->kernel.run(messages)) {
      answers_.push_back(std::move(answer));
    }
    return {};
  }
  [[nodiscard]] Result<std::size_t, int> receive(std::span<std::uint8_t> buffer) override {
    if (answers_.empty()) return failure(EAGAIN);
    const std::size_t size = copy(answers_.front(), buffer);
    answers_.pop_front();
    return size;
  }
  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  std::shared_ptr<Machine> machine_;
  std::deque<wire::Octets> answers_{};
};

class Events final : public netlink::Transport {
 public:
  explicit Events(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

  [[nodiscard]] Result<void, int> send(wire::Bytes) override { return failure(EOPNOTSUPP); }
  [[nodiscard]] Result<std::size_t, int> receive(std::span<std::uint8_t> buffer) override {
    const auto item = machine_->events.take();
    if (!item) return failure(int{item.error()});
    return copy(item->octets, buffer);
  }
  [[nodiscard]] int descriptor() const override { return machine_->events.descriptor(); }

 private:
  std::shared_ptr<Machine> machine_;
};

class Gtpu final : public gtp5g::GtpuSocket {
 public:
  explicit Gtpu(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}
  ~Gtpu() override {
    machine_->kernel.close_socket();
    machine_->close_socket();
  }

  [[nodiscard]] int descriptor() const override { return machine_->socket.descriptor(); }
  void silence() override {}
  [[nodiscard]] std::optional<Datagram> receive(std::span<std::uint8_t> buffer) override {
    const auto item = machine_->socket.take();
    if (!item) return std::nullopt;
    return Datagram{item->from, copy(item->octets, buffer)};
  }
  [[nodiscard]] bool send(Ipv4 from, const SocketAddress& to, std::uint8_t tos,
                          wire::Bytes datagram) override {
    return machine_->send(from, to, tos, datagram);
  }

 private:
  std::shared_ptr<Machine> machine_;
};

class StandinHost final : public gtp5g::Host {
 public:
  explicit StandinHost(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

  [[nodiscard]] std::optional<std::string> kernel_without_module() override {
    return machine_->without_module;
  }
  [[nodiscard]] Result<std::unique_ptr<netlink::Transport>, std::string> open_requests() override {
    return std::unique_ptr<netlink::Transport>{std::make_unique<Requests>(machine_)};
  }
  [[nodiscard]] Result<std::unique_ptr<netlink::Transport>, std::string> open_events(
      std::uint32_t group, std::size_t) override {
    if (group != Kernel::kGroup) return failure(std::string{"wrong multicast group"});
    return std::unique_ptr<netlink::Transport>{std::make_unique<Events>(machine_)};
  }
  [[nodiscard]] Result<std::unique_ptr<gtp5g::GtpuSocket>, std::string> open_gtpu(
      const std::vector<Ipv4>& addresses, std::uint16_t port) override {
    if (auto ok = machine_->open_socket(addresses, port); !ok) return failure(ok.error());
    return std::unique_ptr<gtp5g::GtpuSocket>{std::make_unique<Gtpu>(machine_)};
  }
  [[nodiscard]] Result<std::uint32_t, std::string> mtu_at(Ipv4 address) override {
    return machine_->mtu_at(address);
  }
  [[nodiscard]] Result<gtp5g::Link, std::string> create_link(const gtp5g::LinkRequest& request,
                                                             const gtp5g::GtpuSocket&) override {
    if (std::exchange(machine_->stale_link, false)) machine_->kernel.remove_link();
    if (auto ok = machine_->create_link(request); !ok) return failure(ok.error());
    machine_->link = request;
    machine_->kernel.create_link(request.hash_size, true);
    return gtp5g::Link{request.name, Kernel::kIfindex};
  }
  [[nodiscard]] Result<void, std::string> remove_link(const gtp5g::Link&) override {
    machine_->kernel.remove_link();
    machine_->remove_link();
    machine_->link.reset();
    return {};
  }
  [[nodiscard]] Result<void, std::string> add_route(const gtp5g::Link&,
                                                    Ipv4Prefix destination) override {
    machine_->routes.push_back(destination);
    return machine_->add_route(destination);
  }
  [[nodiscard]] Result<void, std::string> set_option(std::string_view name,
                                                     std::string_view value) override {
    machine_->options[std::string{name}] = value;
    if (name == "qos") machine_->kernel.set_qos(value == "1");
    return {};
  }

 private:
  std::shared_ptr<Machine> machine_;
};

}  // namespace

// --- machine ---------------------------------------------------------------------------------

Machine::Machine() = default;
Machine::~Machine() = default;

void Machine::to_n6(wire::Bytes packet, std::uint32_t) {
  const std::lock_guard lock{mutex_};
  n6_.emplace_back(packet.begin(), packet.end());
}

void Machine::to_peer(Ipv4 from, const SocketAddress& to, std::uint8_t tos, wire::Bytes datagram) {
  const std::lock_guard lock{mutex_};
  sent_.push_back({from, to, tos, {datagram.begin(), datagram.end()}});
}

void Machine::to_socket(const SocketAddress& from, wire::Bytes datagram) {
  socket.put(from, datagram);
}

void Machine::event(wire::Bytes message) { events.put({}, message); }

bool Machine::send(Ipv4 from, const SocketAddress& to, std::uint8_t tos, wire::Bytes datagram) {
  const auto* peer = std::get_if<Ipv4>(&to.ip);
  if (peer != nullptr && std::ranges::find(addresses, *peer) != addresses.end()) {
    kernel.receive_datagram({from, 2152}, *peer, datagram);
  } else {
    to_peer(from, to, tos, datagram);
  }
  return true;
}

Result<void, std::string> Machine::open_socket(const std::vector<Ipv4>& local, std::uint16_t) {
  addresses = local;
  return {};
}
void Machine::close_socket() {}
Result<void, std::string> Machine::create_link(const gtp5g::LinkRequest&) { return {}; }
void Machine::remove_link() {}
Result<void, std::string> Machine::add_route(Ipv4Prefix) { return {}; }
Result<std::uint32_t, std::string> Machine::mtu_at(Ipv4) { return interface_mtu; }

std::vector<SentDatagram> Machine::take_sent() {
  const std::lock_guard lock{mutex_};
  return std::exchange(sent_, {});
}
std::vector<wire::Octets> Machine::take_n6() {
  const std::lock_guard lock{mutex_};
  return std::exchange(n6_, {});
}

std::unique_ptr<gtp5g::Host> host_of(std::shared_ptr<Machine> machine) {
  return std::make_unique<StandinHost>(std::move(machine));
}

}  // namespace upf::standin

#include "src/app/http/server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include "upf/runtime/unique_fd.hpp"

// cpp-httplib parses, routes and writes; accepting and reading are done here, since its own sockets
// know no UNIX paths and don't tell who is at the other end.
namespace upf::app::http {
namespace {

using runtime::UniqueFd;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{5000};
constexpr int kWaiting = 64;

/// A connected socket with a deadline for each step, and none once the server is stopping.
class FdStream final : public httplib::Stream {
 public:
  FdStream(int fd, const std::atomic<bool>& stopping) : fd_(fd), stopping_(stopping) {}

  [[nodiscard]] bool is_readable() const override { return wait(POLLIN); }
  [[nodiscard]] bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* to, std::size_t size) override {
    return wait(POLLIN) ? ::recv(fd_, to, size, 0) : -1;
  }
  ssize_t write(const char* from, std::size_t size) override {
    return wait(POLLOUT) ? ::send(fd_, from, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return fd_; }

 private:
  [[nodiscard]] bool wait(short events) const {
    constexpr int kSliceMs = 50;
    for (auto left = kPatience; left.count() > 0 && !stopping_; left -= milliseconds{kSliceMs}) {
      pollfd ready{fd_, events, 0};
      if (::poll(&ready, 1, kSliceMs) == 1) return true;
    }
    return false;
  }
  int fd_;
  const std::atomic<bool>& stopping_;
};

/// Whether who is at the other end of a UNIX socket may do what the daemon may.
bool is_privileged(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == 0 || who.uid == ::geteuid();
}

std::string why(const char* doing, const std::string& where) {
  return fmt::format("{} {}: {}", doing, where, std::strerror(errno));
}

/// A socket file that a dead daemon left is in nobody's use: connecting to it is refused.
bool is_stale(const sockaddr_un& address) {
  const UniqueFd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

/// Sockets that share all let another one bind to an address that theirs is part of, or part of
/// theirs. Linux asks at the bind(), so it can be switched on for that long.
void share(int fd, bool on) {
  const int value = on ? 1 : 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, sizeof value);
}

[[nodiscard]] Result<UniqueFd, std::string> listen_at(UnixPath& where, bool) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  where.path.copy(address.sun_path, sizeof address.sun_path - 1);
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto bind = [&] {
    return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  bool bound = bind();
  if (!bound && errno == EADDRINUSE && is_stale(address)) {
    ::unlink(where.path.c_str());
    bound = bind();
  }
  // Everyone may look; who may act is asked of each connection.
  if (!bound || ::chmod(where.path.c_str(), 0666) != 0 || ::listen(fd.get(), kWaiting) != 0) {
    return failure(why("api.socket", where.path) + " (does its folder exist?)");
  }
  return fd;
}

[[nodiscard]] Result<UniqueFd, std::string> listen_at(SocketAddress& where, bool sharing) {
  sockaddr_storage storage{};
  socklen_t size{};
  if (const auto* v4 = std::get_if<Ipv4>(&where.ip)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(where.port);
    std::memcpy(&address.sin_addr, v4->octets.data(), 4);
    std::memcpy(&storage, &address, size = sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(where.port);
    std::memcpy(&address.sin6_addr, std::get<Ipv6>(where.ip).octets.data(), 16);
    std::memcpy(&storage, &address, size = sizeof address);
  }
  UniqueFd fd{::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  share(fd.get(), sharing);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), size) != 0 ||
      ::listen(fd.get(), kWaiting) != 0) {
    return failure(why("listening at", to_string(where)));
  }
  share(fd.get(), false);
  if (where.port == 0 &&
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &size) == 0) {
    sockaddr_in address{};  // the port is at the same place in both families
    std::memcpy(&address, &storage, sizeof address);
    where.port = ntohs(address.sin_port);
  }
  return fd;
}

/// What the handler is given, and what is waited for, unless the server is stopping: its handler
/// may then have nobody left to answer.
Reply ask(const Handler& handler, Call call, const std::atomic<bool>& stopping) {
  constexpr milliseconds kSlice{50};
  const auto promise = std::make_shared<std::promise<Reply>>();
  std::future<Reply> reply = promise->get_future();
  handler(std::move(call), [promise](Reply given) { promise->set_value(std::move(given)); });
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!stopping && std::chrono::steady_clock::now() < until) {
    if (reply.wait_for(kSlice) != std::future_status::ready) continue;
    try {
      return reply.get();
    } catch (const std::future_error&) {
      break;  // the daemon is stopping, and dropped the call
    }
  }
  return {503, "application/json", "{\"error\":\"the daemon is busy; try again\"}\n"};
}

}  // namespace

std::string Call::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found != query.end() ? found->second : std::string{};
}

class Server::Impl final : public httplib::Server {
 public:
  Impl(UniqueFd listener, Address at, http::Handler handler)
      : address(std::move(at)), listener_(std::move(listener)), handler_(std::move(handler)) {
    new_task_queue = [] { return new httplib::ThreadPool(4); };
    svr_sock_ = listener_.release();  // httplib closes it when it is told to stop
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
      return HandlerResponse::Handled;
    });
    thread_ = std::thread{[this] { listen_after_bind(); }};
    while (!is_running()) std::this_thread::yield();  // until then stop() has no effect
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() override {
    stopping_ = true;
    stop();
    thread_.join();
    if (const auto* path = std::get_if<UnixPath>(&address)) ::unlink(path->path.c_str());
  }

  [[nodiscard]] int listener() const { return svr_sock_; }

  const Address address;

 private:
  static constexpr const char* kPrivileged = "Kupf-Privileged";

  bool process_and_close_socket(socket_t socket) override {
    const UniqueFd fd{socket};
    FdStream stream{socket, stopping_};
    const bool privileged = std::holds_alternative<UnixPath>(address) && is_privileged(socket);
    bool closed = false;
    const bool served =
        process_request(stream, true, closed, [privileged](httplib::Request& request) {
          // Set by us alone: what the client sent under that name goes.
          request.headers.erase(kPrivileged);
          if (privileged) request.set_header(kPrivileged, "1");
        });
    ::shutdown(socket, SHUT_WR);
    return served;
  }

  void serve(const httplib::Request& request, httplib::Response& response) {
    Call call{request.method, request.path, {}, request.has_header(kPrivileged)};
    for (const auto& [key, value] : request.params) call.query[key] = value;
    const Reply reply = ask(handler_, std::move(call), stopping_);
    response.status = reply.status;
    response.set_content(reply.body, reply.type.c_str());
  }

  UniqueFd listener_;
  http::Handler handler_;
  std::atomic<bool> stopping_{false};
  std::thread thread_{};
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
const Address& Server::address() const { return impl_->address; }

Result<std::unique_ptr<Server>, std::string> Server::open(const Address& address, Handler handler,
                                                          std::span<const Server* const> leaving) {
  Address at = address;
  for (const Server* server : leaving) share(server->impl_->listener(), true);
  auto listener = std::visit([&](auto& where) { return listen_at(where, !leaving.empty()); }, at);
  for (const Server* server : leaving) share(server->impl_->listener(), false);
  if (!listener) return failure(listener.error());
  return std::unique_ptr<Server>{
      new Server{std::make_unique<Impl>(std::move(*listener), std::move(at), std::move(handler))}};
}

}  // namespace upf::app::http

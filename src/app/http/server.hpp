#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"

/// HTTP for the operator's side.
namespace upf::app::http {

struct Call {
  std::string method{};  ///< GET, POST or DELETE
  std::string path{};
  std::map<std::string, std::string> query{};
  /// May change things: root or the daemon's own user, over a UNIX socket.
  bool privileged{};

  /// The value of a parameter, "" if it isn't there.
  [[nodiscard]] std::string parameter(const std::string& name) const;
};

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
};

/// Answers a call. `done` is to be called exactly once, from any thread, soon: after 5 seconds the
/// client is told 503 and what comes later is dropped.
using Handler = std::function<void(Call call, std::function<void(Reply)> done)>;

struct UnixPath {
  std::string path{};
};
/// Where a server listens. TCP calls are never privileged.
using Address = std::variant<SocketAddress, UnixPath>;

/// A server on threads of its own: accepting, and 4 that serve one call each. It never touches what
/// the handler belongs to but through the handler; the packet and N4 paths don't wait for it.
///
/// Limits: 64 connections wait, each has 5 s to say what it wants; one call a connection; no bodies
/// (parameters are in the query); 8 KiB of address.
class Server {
 public:
  /// Listens from here on. The error is one line for the operator. `leaving`: servers that are
  /// about to go; while they are still there their ports can be had, for 0.0.0.0 after 127.0.0.1.
  [[nodiscard]] static Result<std::unique_ptr<Server>, std::string> open(
      const Address& address, Handler handler, std::span<const Server* const> leaving = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Calls that are being served are finished, a UNIX socket is removed.
  ~Server();

  /// As bound: with port 0, the port that the kernel chose.
  [[nodiscard]] const Address& address() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace upf::app::http

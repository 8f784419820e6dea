#include "src/app/http/client.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "upf/runtime/unique_fd.hpp"

namespace upf::app::http {
namespace {

/// httplib's client on a UNIX socket.
class UnixClient final : public httplib::ClientImpl {
 public:
  explicit UnixClient(std::string path) : ClientImpl("localhost"), path_(std::move(path)) {}

 private:
  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    runtime::UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      error = httplib::Error::Connection;
      return false;
    }
    socket.sock = fd.release();
    return true;
  }

  std::string path_;
};

[[nodiscard]] Result<Reply, std::string> run(httplib::ClientImpl& client, const std::string& where,
                                             const std::string& method, const std::string& target) {
  client.set_read_timeout(10);
  const httplib::Result result = method == "GET"      ? client.Get(target.c_str())
                                 : method == "DELETE" ? client.Delete(target.c_str())
                                                      : client.Post(target.c_str());
  if (!result) {
    const bool refused = result.error() == httplib::Error::Connection;
    return failure(fmt::format(
        "{}: {}", where,
        refused ? std::string{"nobody answers; is upf running, with api.socket or api.listen set?"}
                : httplib::to_string(result.error())));
  }
  return Reply{result->status, result->get_header_value("Content-Type"), result->body};
}

}  // namespace

Result<Reply, std::string> fetch(const Address& server, const std::string& method,
                                 const std::string& target) {
  if (const auto* path = std::get_if<UnixPath>(&server)) {
    UnixClient client{path->path};
    return run(client, path->path, method, target);
  }
  const auto& address = std::get<SocketAddress>(server);
  httplib::ClientImpl client{to_string(address.ip), address.port};
  return run(client, to_string(address), method, target);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(octet) != 0 || std::strchr("-_.~", c) != nullptr;
    out += plain && c != '\0' ? std::string{c} : fmt::format("%{:02X}", octet);
  }
  return out;
}

}  // namespace upf::app::http

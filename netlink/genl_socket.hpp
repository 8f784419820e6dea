#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netlink/request.hpp"
#include "netlink/transport.hpp"

namespace upf::netlink {

/// What came back for one request: its ack, and the messages before it (attributes only, without
/// headers).
struct Answer {
  int error{};  ///< errno; 0: done
  std::vector<wire::Octets> messages{};
};

/// Requests and their answers over one transport.
///
/// API: the requests of one transact() go out in as few system calls as their size allows; each is
/// run by the kernel in order, also after one that failed. Only the last one asks for an ack:
/// errors are answered anyway, and so one answer stands for all that succeeded. Errors: of the
/// transport (errno; ETIMEDOUT if an answer doesn't come). Then it isn't known which of the
/// requests were run, and the socket is not to be used any more. Threading: one thread.
class RequestSocket {
 public:
  static constexpr std::size_t kGenlHeader = 4;

  /// `family_header`: octets between an answer's netlink header and its attributes.
  explicit RequestSocket(std::unique_ptr<Transport> transport,
                         std::size_t family_header = kGenlHeader);

  [[nodiscard]] Result<std::vector<Answer>, int> transact(std::span<const Request* const> requests);
  [[nodiscard]] Result<Answer, int> transact(const Request& request);

 private:
  [[nodiscard]] Result<void, int> send(std::span<const Request* const> requests,
                                       std::uint32_t first_sequence);
  [[nodiscard]] Result<void, int> collect(std::span<Answer> answers, std::uint32_t first_sequence);

  std::unique_ptr<Transport> transport_;
  std::size_t family_header_;
  std::uint32_t next_sequence_{1};
  std::vector<std::uint8_t> buffer_;
};

/// A generic-netlink family as the kernel knows it (nlctrl's CTRL_CMD_GETFAMILY).
struct Family {
  std::uint16_t id{};
  struct Group {
    std::string name{};
    std::uint32_t id{};
  };
  std::vector<Group> groups{};
};

/// ENOENT: no such family (the module is not loaded).
[[nodiscard]] Result<Family, int> resolve_family(RequestSocket& socket, std::string_view name);

/// `visit(type, sequence, payload)` for each whole netlink message of a datagram.
template <class Visit>
void for_each_message(wire::Bytes datagram, Visit visit) {
  constexpr std::size_t kHeader = 16;
  while (datagram.size() >= kHeader) {
    std::uint32_t length{};
    std::uint16_t type{};
    std::uint32_t sequence{};
    std::memcpy(&length, datagram.data(), sizeof length);
    std::memcpy(&type, datagram.data() + 4, sizeof type);
    std::memcpy(&sequence, datagram.data() + 8, sizeof sequence);
    if (length < kHeader || length > datagram.size()) return;
    visit(type, sequence, datagram.subspan(kHeader, length - kHeader));
    const std::size_t whole = (std::size_t{length} + 3U) & ~std::size_t{3};
    datagram = datagram.subspan(whole < datagram.size() ? whole : datagram.size());
  }
}

}  // namespace upf::netlink

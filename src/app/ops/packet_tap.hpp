#pragma once

#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/base/result.hpp"
#include "upf/runtime/unique_fd.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::app::ops {

/// Copies of the packets that pass a device and are from or to some addresses, picked out by the
/// kernel (a socket filter): other traffic pays for a few comparisons, and only while a tap is
/// open.
class PacketTap {
 public:
  /// Needs CAP_NET_RAW; the error says so. At most 8 addresses count.
  [[nodiscard]] static Result<PacketTap, std::string> open(const std::string& device,
                                                           const std::vector<IpPrefix>& ues);

  [[nodiscard]] int fd() const { return fd_.get(); }

  struct Packet {
    wire::Bytes octets{};  ///< IP header first; until the next call
    std::size_t length{};  ///< before it was cut
  };
  /// None: nothing more for now.
  [[nodiscard]] std::optional<Packet> next();
  /// How many the kernel had no room for since this was asked last.
  [[nodiscard]] std::uint64_t lost();

 private:
  explicit PacketTap(runtime::UniqueFd fd) : fd_(std::move(fd)), buffer_(65536) {}
  runtime::UniqueFd fd_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace upf::app::ops

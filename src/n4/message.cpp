#include "upf/n4/message.hpp"

#include <algorithm>
#include <array>

#include "upf/base/assert.hpp"

namespace upf::n4 {
namespace {

constexpr std::uint8_t kSeidFlag = 0x01;
constexpr std::uint8_t kPriorityFlag = 0x02;
constexpr std::uint8_t kFollowOnFlag = 0x04;

constexpr std::array<std::uint8_t, 12> kRequests{1, 3, 5, 7, 9, 12, 14, 16, 50, 52, 54, 56};
constexpr std::array<std::uint8_t, 13> kResponses{2, 4, 6, 8, 10, 11, 13, 15, 17, 51, 53, 55, 57};

}  // namespace

bool is_request(std::uint8_t type) { return std::ranges::binary_search(kRequests, type); }
bool is_response(std::uint8_t type) { return std::ranges::binary_search(kResponses, type); }

std::optional<Header> read_header(wire::Bytes octets) {
  wire::Reader in{octets};
  Header header;
  const std::uint8_t flags = in.be<std::uint8_t>();
  header.version = static_cast<std::uint8_t>(flags >> 5U);
  header.follow_on = (flags & kFollowOnFlag) != 0;
  header.type = in.be<std::uint8_t>();
  header.length = in.be<std::uint16_t>();
  if ((flags & kSeidFlag) != 0) header.seid = in.be<std::uint64_t>();
  header.sequence = in.be<std::uint32_t, 3>();
  const std::uint8_t last = in.be<std::uint8_t>();
  if ((flags & kPriorityFlag) != 0) header.priority = static_cast<std::uint8_t>(last >> 4U);
  if (in.failed()) return std::nullopt;
  return header;
}

void write_sequence(wire::Octets& message, std::uint32_t sequence) {
  const std::size_t at = !message.empty() && (message[0] & kSeidFlag) != 0 ? 12 : 4;
  UPF_ASSERT(message.size() >= at + 4);
  message[at] = static_cast<std::uint8_t>(sequence >> 16U);
  message[at + 1] = static_cast<std::uint8_t>(sequence >> 8U);
  message[at + 2] = static_cast<std::uint8_t>(sequence);
}

}  // namespace upf::n4

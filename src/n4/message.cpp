#include "upf/n4/message.hpp"

#include "upf/base/assert.hpp"

namespace upf::n4 {
namespace {

constexpr std::uint8_t kSeidFlag = 0x01;
constexpr std::uint8_t kPriorityFlag = 0x02;
constexpr std::uint8_t kFollowOnFlag = 0x04;

}  // namespace

bool is_request(pfcp::MessageType type) { return pfcp::is_known(type) && !pfcp::is_response(type); }

std::optional<Header> read_header(wire::Bytes octets) {
  wire::Reader in{octets};
  Header header;
  const std::uint8_t flags = in.be<std::uint8_t>();
  header.version = static_cast<std::uint8_t>(flags >> 5U);
  header.follow_on = (flags & kFollowOnFlag) != 0;
  header.type = static_cast<pfcp::MessageType>(in.be<std::uint8_t>());
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

#include "netlink/genl_socket.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace upf::netlink {
namespace {

// The kernel copies a send() into one buffer and queues an ack for each request in our receive
// buffer: neither may grow without bound.
constexpr std::size_t kMostOctetsASend = 32768;
constexpr std::size_t kMostRequestsASend = 256;
constexpr std::size_t kReceiveBuffer = 65536;
constexpr std::size_t kFlagsAt = 6;
constexpr std::size_t kSequenceAt = 8;

std::size_t fits_one_send(std::span<const Request* const> requests) {
  std::size_t octets = 0;
  std::size_t count = 0;
  while (count < requests.size() && count < kMostRequestsASend) {
    octets += requests[count]->bytes().size();
    if (count > 0 && octets > kMostOctetsASend) break;
    ++count;
  }
  return count;
}

}  // namespace

RequestSocket::RequestSocket(std::unique_ptr<Transport> transport, std::size_t family_header)
    : transport_(std::move(transport)), family_header_(family_header), buffer_(kReceiveBuffer) {}

Result<std::vector<Answer>, int> RequestSocket::transact(std::span<const Request* const> requests) {
  std::vector<Answer> answers(requests.size());
  if (std::ranges::any_of(requests, [](const Request* r) { return r->overflowed(); })) {
    return failure(EMSGSIZE);
  }
  std::size_t done = 0;
  while (done < requests.size()) {
    const auto part = requests.subspan(done, fits_one_send(requests.subspan(done)));
    const std::uint32_t first = next_sequence_;
    next_sequence_ += static_cast<std::uint32_t>(part.size());
    if (auto sent = send(part, first); !sent) return failure(sent.error());
    if (auto got = collect(std::span{answers}.subspan(done, part.size()), first); !got) {
      return failure(got.error());
    }
    done += part.size();
  }
  return answers;
}

Result<Answer, int> RequestSocket::transact(const Request& request) {
  const Request* one = &request;
  auto answers = transact(std::span{&one, 1});
  if (!answers) return failure(answers.error());
  return std::move(answers->front());
}

Result<void, int> RequestSocket::send(std::span<const Request* const> requests,
                                      std::uint32_t first_sequence) {
  wire::Octets batch;
  for (const Request* request : requests) {
    const std::size_t at = batch.size();
    const wire::Bytes bytes = request->bytes();
    batch.insert(batch.end(), bytes.begin(), bytes.end());
    if (request != requests.back()) {
      std::uint16_t flags{};
      std::memcpy(&flags, batch.data() + at + kFlagsAt, sizeof flags);
      flags = static_cast<std::uint16_t>(flags & ~NLM_F_ACK);
      std::memcpy(batch.data() + at + kFlagsAt, &flags, sizeof flags);
    }
    std::memcpy(batch.data() + at + kSequenceAt, &first_sequence, sizeof first_sequence);
    ++first_sequence;
    batch.resize((batch.size() + 3U) & ~std::size_t{3});
  }
  return transport_->send(batch);
}

Result<void, int> RequestSocket::collect(std::span<Answer> answers, std::uint32_t first_sequence) {
  bool last_answered = false;
  while (!last_answered) {
    const auto size = transport_->receive(buffer_);
    if (!size) {
      if (size.error() == EINTR) continue;
      return failure(size.error() == EAGAIN ? ETIMEDOUT : size.error());
    }
    const auto take = [&](std::uint16_t type, std::uint32_t sequence, wire::Bytes payload) {
      const std::uint32_t index = sequence - first_sequence;
      if (index >= answers.size()) return;  // left over from another call
      if (type == NLMSG_ERROR && payload.size() >= sizeof(std::int32_t)) {
        std::int32_t error{};
        std::memcpy(&error, payload.data(), sizeof error);
        answers[index].error = -error;
        last_answered = last_answered || index + 1 == answers.size();
      } else if (type >= NLMSG_MIN_TYPE && payload.size() >= family_header_) {
        const wire::Bytes attributes = payload.subspan(family_header_);
        answers[index].messages.emplace_back(attributes.begin(), attributes.end());
      }
    };
    for_each_message(wire::Bytes{buffer_}.first(std::min(*size, buffer_.size())), take);
  }
  return {};
}

Result<Family, int> resolve_family(RequestSocket& socket, std::string_view name) {
  GenlRequest request{GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, 1};
  request.put(Text{CTRL_ATTR_FAMILY_NAME}, name);
  const auto answer = socket.transact(request);
  if (!answer) return failure(answer.error());
  if (answer->error != 0) return failure(answer->error);
  if (answer->messages.empty()) return failure(EBADMSG);

  const Attributes attributes{answer->messages.front()};
  const auto id = attributes.get(Attr<std::uint16_t>{CTRL_ATTR_FAMILY_ID});
  if (!id) return failure(EBADMSG);
  Family family{.id = *id};
  if (const auto groups = attributes.get(Nest{CTRL_ATTR_MCAST_GROUPS})) {
    groups->for_each([&](std::uint16_t, wire::Bytes payload, bool) {
      const Attributes group{payload};
      const auto group_name = group.get(Text{CTRL_ATTR_MCAST_GRP_NAME});
      const auto group_id = group.get(Attr<std::uint32_t>{CTRL_ATTR_MCAST_GRP_ID});
      if (group_name && group_id) family.groups.push_back({std::string{*group_name}, *group_id});
    });
  }
  return family;
}

}  // namespace upf::netlink

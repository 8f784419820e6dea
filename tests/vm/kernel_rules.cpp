#include "tests/vm/kernel_rules.hpp"

#include <linux/genetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

namespace upf::vm {
namespace {

struct Dump {
  const char* kind;
  std::uint8_t command;
  std::uint16_t id_attribute;
  std::uint16_t seid_attribute;
};
constexpr Dump kDumps[] = {
    {"pdr", 7, 3, 11}, {"far", 8, 3, 7}, {"qer", 9, 3, 13}, {"urr", 14, 3, 8}};
constexpr std::uint16_t kFarAction = 4, kFamilyId = 1, kFamilyName = 2;

using Visit = std::function<void(std::uint16_t type, wire::Bytes whole, wire::Bytes value)>;

void for_each_attribute(wire::Bytes in, const Visit& visit) {
  while (in.size() >= 4) {
    std::uint16_t length = 0, type = 0;
    std::memcpy(&length, in.data(), 2);
    std::memcpy(&type, in.data() + 2, 2);
    if (length < 4 || length > in.size()) return;
    const std::size_t whole = std::min<std::size_t>((length + 3U) & ~3U, in.size());
    visit(type & 0x3fffU, in.first(whole), in.subspan(4, length - 4U));
    in = in.subspan(whole);
  }
}

bool ask(int fd, std::uint16_t family, std::uint16_t flags, std::uint8_t command,
         wire::Bytes attributes) {
  wire::Octets message(NLMSG_HDRLEN + GENL_HDRLEN);
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(message.size() + attributes.size());
  header.nlmsg_type = family;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = 1;
  std::memcpy(message.data(), &header, sizeof header);
  message[NLMSG_HDRLEN] = command;
  message.insert(message.end(), attributes.begin(), attributes.end());
  return ::send(fd, message.data(), message.size(), 0) == static_cast<ssize_t>(message.size());
}

/// Each message of one receive; false when the dump is over, or failed.
Result<bool, std::string> receive(int fd, const std::function<void(wire::Bytes)>& visit) {
  std::vector<std::uint8_t> buffer(1U << 18U);
  const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (size < 0) return failure(std::string{"netlink: "} + std::strerror(errno));
  wire::Bytes rest{buffer.data(), static_cast<std::size_t>(size)};
  while (rest.size() >= NLMSG_HDRLEN) {
    nlmsghdr header{};
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > rest.size()) break;
    if (header.nlmsg_type == NLMSG_DONE) return false;
    if (header.nlmsg_type == NLMSG_ERROR) return failure(std::string{"the kernel refused a dump"});
    visit(rest.subspan(NLMSG_HDRLEN + GENL_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN));
    rest = rest.subspan(std::min<std::size_t>((header.nlmsg_len + 3U) & ~3U, rest.size()));
  }
  return true;
}

template <class U>
U number(wire::Bytes value) {
  U result{};
  std::memcpy(&result, value.data(), std::min(sizeof result, value.size()));
  return result;
}

KernelRule rule_of(const Dump& dump, wire::Bytes attributes) {
  KernelRule rule{.kind = dump.kind};
  const bool far = rule.kind == "far";
  for_each_attribute(attributes, [&](std::uint16_t type, wire::Bytes whole, wire::Bytes value) {
    if (type == dump.id_attribute) rule.id = number<std::uint32_t>(value);
    if (type == dump.seid_attribute) rule.seid = number<std::uint64_t>(value);
    if (far && type == kFarAction) return;
    rule.attributes.insert(rule.attributes.end(), whole.begin(), whole.end());
  });
  return rule;
}

}  // namespace

Result<KernelRules, std::string> KernelRules::open() {
  KernelRules made{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)};
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  (void)::setsockopt(made.fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  constexpr std::uint8_t kName[] = {10, 0, kFamilyName, 0, 'g', 't', 'p', '5', 'g', 0, 0, 0};
  if (!ask(made.fd_, GENL_ID_CTRL, NLM_F_REQUEST, CTRL_CMD_GETFAMILY, kName)) {
    return failure(std::string{"netlink: "} + std::strerror(errno));
  }
  const auto got = receive(made.fd_, [&](wire::Bytes attributes) {
    for_each_attribute(attributes, [&](std::uint16_t type, wire::Bytes, wire::Bytes value) {
      if (type == kFamilyId) made.family_ = number<std::uint16_t>(value);
    });
  });
  if (!got || made.family_ == 0) return failure(std::string{"gtp5g is not loaded"});
  return made;
}

KernelRules::KernelRules(KernelRules&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), family_(other.family_) {}
KernelRules::~KernelRules() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::vector<KernelRule>, std::string> KernelRules::read() const {
  std::vector<KernelRule> rules;
  for (const Dump& dump : kDumps) {
    if (!ask(fd_, family_, NLM_F_REQUEST | NLM_F_DUMP, dump.command, {})) {
      return failure(std::string{"netlink: "} + std::strerror(errno));
    }
    for (bool more = true; more;) {
      const auto got = receive(fd_, [&](wire::Bytes it) { rules.push_back(rule_of(dump, it)); });
      if (!got) return failure(got.error());
      more = *got;
    }
  }
  std::ranges::sort(rules);
  return rules;
}

}  // namespace upf::vm

#include "netlink/request.hpp"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cstring>

// libmnl builds into a buffer that it believes to be large enough unless told otherwise: only its
// _check functions are used here, and only here.
namespace upf::netlink {
namespace {

nlmsghdr* header(std::array<std::uint8_t, 4096>& storage) {
  return reinterpret_cast<nlmsghdr*>(storage.data());
}

std::array<std::uint8_t, GENL_HDRLEN> genl_header(std::uint8_t command, std::uint8_t version) {
  return {command, version};
}

}  // namespace

Request::Request(std::uint16_t type, std::uint16_t flags, wire::Bytes family_header) {
  nlmsghdr* message = mnl_nlmsg_put_header(storage_.data());
  message->nlmsg_type = type;
  message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  void* extra = mnl_nlmsg_put_extra_header(message, family_header.size());
  std::memcpy(extra, family_header.data(), family_header.size());
  set_length();
}

void Request::set_length() { size_ = header(storage_)->nlmsg_len; }

void Request::put_octets(std::uint16_t id, const void* value, std::size_t size) {
  if (overflowed_ || !mnl_attr_put_check(header(storage_), kCapacity, id, size, value)) {
    overflowed_ = true;
    return;
  }
  set_length();
}

void Request::put(Text attr, std::string_view value) {
  std::array<std::uint8_t, kCapacity> text{};
  if (value.size() >= text.size()) {
    overflowed_ = true;
    return;
  }
  std::memcpy(text.data(), value.data(), value.size());
  put_octets(attr.id, text.data(), value.size() + 1);
}

std::size_t Request::open_nest(std::uint16_t id) {
  const nlattr* nest =
      overflowed_ ? nullptr : mnl_attr_nest_start_check(header(storage_), kCapacity, id);
  if (nest == nullptr) {
    overflowed_ = true;
    return 0;
  }
  set_length();
  return static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(nest) - storage_.data());
}

void Request::close_nest(std::size_t at) {
  if (overflowed_) return;
  mnl_attr_nest_end(header(storage_), reinterpret_cast<nlattr*>(storage_.data() + at));
}

GenlRequest::GenlRequest(std::uint16_t family, std::uint8_t command, std::uint16_t flags,
                         std::uint8_t version)
    : Request(family, flags, genl_header(command, version)) {}

}  // namespace upf::netlink

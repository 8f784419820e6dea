#include "netlink/gtp5g/rule_dump.hpp"

#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>

#include "netlink/genl_socket.hpp"
#include "netlink/request.hpp"

namespace upf::gtp5g {
namespace {

constexpr std::size_t kBuffer = 65536;  // the kernel fills up to 32 KiB a receive
constexpr std::array kCommands{Command::GetPdr, Command::GetFar, Command::GetQer, Command::GetUrr};

}  // namespace

RuleDump::RuleDump(std::unique_ptr<netlink::Transport> transport, std::uint16_t family)
    : transport_(std::move(transport)), family_(family), buffer_(kBuffer) {}

Result<void, int> RuleDump::ask() {
  const netlink::GenlRequest request{family_, static_cast<std::uint8_t>(kCommands[kind_]),
                                     NLM_F_DUMP};
  return transport_->send(request.bytes());
}

Result<void, int> RuleDump::read(std::vector<RuleName>& into) {
  if (done()) return {};
  if (!asked_) {
    if (auto sent = ask(); !sent) return sent;
    asked_ = true;
  }
  const auto size = transport_->receive(buffer_);
  if (!size && size.error() == EINTR) return {};
  if (!size) return failure(size.error() == EAGAIN ? ETIMEDOUT : size.error());
  int error = 0;
  bool over = false;
  netlink::for_each_message(
      wire::Bytes{buffer_}.first(std::min(*size, buffer_.size())),
      [&](std::uint16_t type, std::uint32_t, wire::Bytes payload) {
        if (type == NLMSG_DONE) {
          over = true;
        } else if (type == NLMSG_ERROR && payload.size() >= sizeof(std::int32_t)) {
          std::int32_t code{};
          std::memcpy(&code, payload.data(), sizeof code);
          error = -code;
        } else if (type == family_ && payload.size() >= netlink::RequestSocket::kGenlHeader) {
          take(payload.subspan(netlink::RequestSocket::kGenlHeader), into);
        }
      });
  if (error != 0) return failure(int{error});
  if (over) {
    ++kind_;
    asked_ = false;
  }
  return {};
}

void RuleDump::take(wire::Bytes message, std::vector<RuleName>& into) const {
  const netlink::Attributes attributes{message};
  constexpr std::array kSeids{pdr::kSeid, far::kSeid, qer::kSeid, urr::kSeid};
  const Seid seid{attributes.get(kSeids[kind_]).value_or(0)};
  const auto kind = static_cast<RuleName::Kind>(kind_);
  if (kind == RuleName::Kind::Pdr) {
    if (const auto id = attributes.get(pdr::kId)) into.push_back({kind, seid, *id});
  } else if (const auto id = attributes.get(far::kId)) {  // of QERs and URRs the same number
    into.push_back({kind, seid, *id});
  }
}

}  // namespace upf::gtp5g

#include "netlink/gtp5g/safe_socket.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace upf::gtp5g {
namespace {

std::string text_of(int error) { return std::strerror(error); }

std::string why_no_family(int error, const std::optional<std::string>& kernel_without_module) {
  if (error == ENOENT && kernel_without_module) {
    return "the gtp5g kernel module is not built for the running kernel, " +
           *kernel_without_module + ": build and load it, or set gtpu.forwarder to userspace";
  }
  if (error == ENOENT) {
    return "the gtp5g kernel module is not loaded: load it (modprobe gtp5g), or set "
           "gtpu.forwarder to userspace";
  }
  if (error == EPERM) {
    return "no permission to talk to the gtp5g module: the daemon needs CAP_NET_ADMIN";
  }
  return "can't reach the gtp5g module: " + text_of(error);
}

}  // namespace

SafeSocket::SafeSocket(std::unique_ptr<netlink::RequestSocket> socket, netlink::Family family)
    : socket_(std::move(socket)), family_(std::move(family)) {}

Result<std::unique_ptr<SafeSocket>, std::string> SafeSocket::open(
    std::unique_ptr<netlink::Transport> transport,
    const std::optional<std::string>& kernel_without_module) {
  auto socket = std::make_unique<netlink::RequestSocket>(std::move(transport));
  auto family = netlink::resolve_family(*socket, kFamilyName);
  if (!family) return failure(why_no_family(family.error(), kernel_without_module));
  return std::unique_ptr<SafeSocket>{new SafeSocket{std::move(socket), std::move(*family)}};
}

Result<std::vector<netlink::Answer>, SafeSocket::Failure> SafeSocket::transact(
    std::span<const netlink::GenlRequest> requests) {
  if (!watcher_) return call(requests);
  const TimePoint began = Clock::now();
  auto answers = call(requests);
  tell(requests, answers, Clock::now() - began);
  return answers;
}

/// The requests of one call run one after the other in one system call: they have its time in
/// common.
void SafeSocket::tell(std::span<const netlink::GenlRequest> requests, const Answers& answers,
                      std::chrono::nanoseconds took) const {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Subject subject = subject_of(requests[i]);
    if (subject.seid.value == 0) continue;
    const std::string what = to_string(subject);
    if (!answers) {
      watcher_({subject.seid, true, fmt::format("{}: {}", what, answers.error().detail)});
      continue;
    }
    const int error = (*answers)[i].error;
    watcher_({subject.seid, true,
              fmt::format("{}: {}, request {} of {} in {} us", what,
                          error == 0 ? "done" : text_of(error), i + 1, requests.size(), micros)});
  }
}

SafeSocket::Answers SafeSocket::call(std::span<const netlink::GenlRequest> requests) {
  if (broken()) {
    return failure(Failure{Failure::Kind::Transport, ETIMEDOUT,
                           "an earlier call to gtp5g didn't return; no more are made"});
  }
  if (const auto hazard = mirror_.check(requests)) {
    ++hazards_;
    return failure(
        Failure{Failure::Kind::Hazard, 0, "held back: " + std::string{describe(*hazard)}});
  }
  std::vector<const netlink::Request*> pointers;
  for (const netlink::GenlRequest& request : requests) pointers.push_back(&request);
  auto answers = socket_->transact(pointers);
  requests_ += requests.size();
  if (!answers) {
    std::string why =
        answers.error() == ETIMEDOUT
            ? "a call to gtp5g didn't return: the kernel's rtnl lock may be held for good; the "
              "host needs a restart"
            : "a call to gtp5g failed: " + text_of(answers.error());
    if (answers.error() != EMSGSIZE) fault_ = why;
    return failure(Failure{Failure::Kind::Transport, answers.error(), std::move(why)});
  }
  for (std::size_t i = 0; i < requests.size(); ++i)
    mirror_.settle(requests[i], (*answers)[i].error);
  return std::move(*answers);
}

}  // namespace upf::gtp5g

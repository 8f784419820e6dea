#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/safety.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::gtp5g {

/// The only way to the module: it owns the socket, and checks each request before it goes out.
class SafeSocket {
 public:
  struct Failure {
    enum class Kind : std::uint8_t { Hazard, Transport } kind{};
    int error{};  ///< errno; of Transport
    std::string detail{};
  };

  /// Resolves the family too. The error is for the operator; `kernel_without_module` is the running
  /// kernel's release where it is known that no module was built for it.
  [[nodiscard]] static Result<std::unique_ptr<SafeSocket>, std::string> open(
      std::unique_ptr<netlink::Transport> transport,
      const std::optional<std::string>& kernel_without_module);

  /// All of them, in order, or none of them if one must not be sent. After a Transport failure the
  /// socket makes no more calls: whatever hangs in the kernel would hang the more.
  [[nodiscard]] Result<std::vector<netlink::Answer>, Failure> transact(
      std::span<const netlink::GenlRequest> requests);

  [[nodiscard]] const netlink::Family& family() const { return family_; }
  [[nodiscard]] bool broken() const { return !fault_.empty(); }
  /// What broke it, for the operator.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// Told of each request that is of a session, once its answer is there.
  void watch(const dataplane::Watcher& watcher) { watcher_ = watcher; }
  /// Requests that were held back, since start: a mistake of ours each.
  [[nodiscard]] std::uint64_t hazards() const { return hazards_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] const KernelMirror& mirror() const { return mirror_; }

 private:
  using Answers = Result<std::vector<netlink::Answer>, Failure>;

  SafeSocket(std::unique_ptr<netlink::RequestSocket> socket, netlink::Family family);
  [[nodiscard]] Answers call(std::span<const netlink::GenlRequest> requests);
  void tell(std::span<const netlink::GenlRequest> requests, const Answers& answers,
            std::chrono::nanoseconds took) const;

  std::unique_ptr<netlink::RequestSocket> socket_;
  netlink::Family family_;
  KernelMirror mirror_{};
  std::string fault_{};
  dataplane::Watcher watcher_{};
  std::uint64_t hazards_{};
  std::uint64_t requests_{};
};

}  // namespace upf::gtp5g

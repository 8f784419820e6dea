#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "netlink/gtp5g/attrs.hpp"
#include "netlink/transport.hpp"
#include "upf/base/ids.hpp"

namespace upf::gtp5g {

/// A rule in the kernel, by what finds it.
struct RuleName {
  enum class Kind : std::uint8_t { Pdr, Far, Qer, Urr };
  Kind kind{};
  Seid seid{};
  std::uint32_t id{};
  auto operator<=>(const RuleName&) const = default;
};

/// The names of all rules, PDRs first, read piece by piece.
///
/// A dump is a hint and no more: the module resumes it by number without SEID, so that it can skip
/// rules or say them twice, and it covers every gtp5g link of the network namespace without saying
/// which. It sends GET requests only, and so needs no safety layer.
class RuleDump {
 public:
  RuleDump(std::unique_ptr<netlink::Transport> transport, std::uint16_t family);

  [[nodiscard]] bool done() const { return kind_ == kKinds; }
  /// One receive. The error is an errno; the dump is of no more use.
  [[nodiscard]] Result<void, int> read(std::vector<RuleName>& into);

 private:
  static constexpr std::size_t kKinds = 4;
  [[nodiscard]] Result<void, int> ask();
  void take(wire::Bytes message, std::vector<RuleName>& into) const;

  std::unique_ptr<netlink::Transport> transport_;
  std::uint16_t family_;
  std::size_t kind_{};
  bool asked_{};
  std::vector<std::uint8_t> buffer_;
};

}  // namespace upf::gtp5g

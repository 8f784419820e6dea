#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "upf/base/result.hpp"
#include "upf/wire/cursor.hpp"

/// What the gtp5g module holds, read by plain system calls: nothing of what is tested is used here.
namespace upf::vm {

struct KernelRule {
  std::string kind{};  ///< "pdr", "far", "qer", "urr"
  std::uint32_t id{};
  std::uint64_t seid{};
  /// The dump's attributes; of a FAR without its action, which an exhausted quota changes.
  wire::Octets attributes{};
  auto operator<=>(const KernelRule&) const = default;
};

/// Dumps of the network namespace that it was made in. Without the module open() fails.
class KernelRules {
 public:
  [[nodiscard]] static Result<KernelRules, std::string> open();
  KernelRules(KernelRules&& other) noexcept;
  KernelRules& operator=(KernelRules&&) = delete;
  ~KernelRules();

  /// All rules, in one order.
  [[nodiscard]] Result<std::vector<KernelRule>, std::string> read() const;

 private:
  explicit KernelRules(int fd) : fd_(fd) {}
  int fd_;
  std::uint16_t family_{};
};

}  // namespace upf::vm

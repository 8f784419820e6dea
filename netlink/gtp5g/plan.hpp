#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "netlink/gtp5g/kernel_ids.hpp"
#include "netlink/gtp5g/kernel_rules.hpp"

namespace upf::gtp5g {

// One request to the kernel each. PDRs, QERs and URRs are never updated: the module's updates add,
// but don't take away, and one that fails deletes the live rule. They are replaced by a rule of
// another ID. FARs are updated where all of the new state overwrites the old.

struct CreateFar {
  std::uint32_t id{};
  KernelFar body{};
  bool operator==(const CreateFar&) const = default;
};
struct UpdateFar {
  std::uint32_t id{};
  KernelFar body{};
  bool with_parameters{};
  bool operator==(const UpdateFar&) const = default;
};
struct DeleteFar {
  std::uint32_t id{};
  bool operator==(const DeleteFar&) const = default;
};
struct CreateQer {
  std::uint32_t id{};
  KernelQer body{};
  bool operator==(const CreateQer&) const = default;
};
struct DeleteQer {
  std::uint32_t id{};
  bool operator==(const DeleteQer&) const = default;
};
struct CreateUrr {
  std::uint32_t id{};
  UrrKey::Role role{};
  KernelUrr body{};
  bool operator==(const CreateUrr&) const = default;
};
struct DeleteUrr {
  std::uint32_t id{};
  UrrKey key{};
  bool operator==(const DeleteUrr&) const = default;
};
struct ReadUrr {
  std::uint32_t id{};
  UrrId urr{};
  bool operator==(const ReadUrr&) const = default;
};
struct CreatePdr {
  std::uint16_t id{};
  PdrKey key{};
  std::uint32_t precedence{};
  KernelPdr body{};
  std::uint32_t far{};
  std::vector<std::uint32_t> qers{};
  std::vector<std::uint32_t> urrs{};
  bool operator==(const CreatePdr&) const = default;
};
struct DeletePdr {
  std::uint16_t id{};
  bool operator==(const DeletePdr&) const = default;
};

using Op = std::variant<CreateFar, UpdateFar, DeleteFar, CreateQer, DeleteQer, CreateUrr, DeleteUrr,
                        ReadUrr, CreatePdr, DeletePdr>;

/// A session as it is in the kernel, with the IDs that its rules have there.
struct Installed {
  template <class Body>
  struct Rule {
    std::uint32_t id{};
    Body body{};
  };
  std::map<FarKey, Rule<KernelFar>> fars{};
  std::map<QerKey, Rule<KernelQer>> qers{};
  std::map<UrrKey, Rule<KernelUrr>> urrs{};
  std::map<PdrKey, CreatePdr> pdrs{};
  std::uint16_t last_pdr{};
  std::uint32_t last_far{};
  bool upper_half{};  ///< which half of the kernel's precedences is in use

  [[nodiscard]] bool empty() const {
    return fars.empty() && qers.empty() && urrs.empty() && pdrs.empty();
  }
};

/// The way from what is installed to what shall be, so that every packet meets either the old or
/// the new rules:
///   prepare   makes what packets don't meet yet
///   switch_over  is when packets change over
///   remove    takes away what packets no longer meet
/// Held packets are sent between the first and the second.
struct KernelPlan {
  std::vector<Op> prepare{};
  std::vector<Op> switch_over{};
  std::vector<Op> remove{};
  Installed next{};
  /// FARs that are updated, as they are before: what undo puts back.
  std::vector<CreateFar> updated_fars{};
};

[[nodiscard]] KernelPlan make_plan(Seid seid, const Installed& installed, const KernelRules& wanted,
                                   KernelIds& ids);

/// What takes back the creations of a plan, the last one first. FARs that were updated are not in
/// it: whether the kernel still has them is for its caller to know.
[[nodiscard]] std::vector<Op> undo_of(const std::vector<Op>& done);

}  // namespace upf::gtp5g

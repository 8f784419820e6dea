#include "netlink/gtp5g/plan.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "netlink/gtp5g/attrs.hpp"

namespace upf::gtp5g {
namespace {

class Planner {
 public:
  Planner(Seid seid, const Installed& installed, const KernelRules& wanted, KernelIds& ids)
      : seid_(seid), installed_(installed), wanted_(wanted), ids_(ids) {
    plan_.next.last_pdr = installed.last_pdr;
    plan_.next.last_far = installed.last_far;
    plan_.next.upper_half = installed.upper_half;
  }

  KernelPlan run() {
    for (const auto& [key, body] : wanted_.fars) place_far(key, body);
    for (const auto& [key, body] : wanted_.qers) place_qer(key, body);
    for (const auto& [key, body] : wanted_.urrs) place_urr(key, body);
    place_pdrs();
    // FARs change over before PDRs do: a PDR that is new must meet its FAR as it will be.
    std::ranges::move(far_actions_, std::back_inserter(plan_.switch_over));
    std::ranges::move(new_pdrs_, std::back_inserter(plan_.switch_over));
    remove_rest();
    return std::move(plan_);
  }

 private:
  void place_far(const FarKey& key, const KernelFar& body);
  void update_far(std::uint32_t id, const KernelFar& before, const KernelFar& after);
  void create_far(const FarKey& key, const KernelFar& body);
  void place_qer(const QerKey& key, const KernelQer& body);
  void place_urr(const UrrKey& key, const KernelUrr& body);
  void place_pdrs();
  CreatePdr resolve(const PdrKey& key, const KernelPdr& body) const;
  std::map<PdrKey, std::uint32_t> precedences();
  std::optional<std::map<PdrKey, std::uint32_t>> fill_gaps() const;
  std::uint16_t free_pdr_id();
  void remove_rest();

  Seid seid_;
  const Installed& installed_;
  const KernelRules& wanted_;
  KernelIds& ids_;
  KernelPlan plan_{};
  std::vector<Op> far_actions_{};
  std::vector<Op> new_pdrs_{};
  std::set<std::uint16_t> new_pdr_ids_{};
};

// --- FARs ------------------------------------------------------------------------------------

bool forwards(const KernelFar& far) { return far.action == action::kForward; }

/// The module's update can't take a tunnel or a mark away, and writes TEID and peer one after the
/// other: a packet in between would go to the old peer with the new TEID.
bool can_update(const KernelFar& before, const KernelFar& after) {
  if (before.tunnel && !after.tunnel) return false;
  if (before.mark != 0 && after.mark == 0) return false;
  return !(forwards(before) && forwards(after) && before.tunnel != after.tunnel);
}

bool same_parameters(const KernelFar& a, const KernelFar& b) {
  return a.tunnel == b.tunnel && a.tos == b.tos && a.mark == b.mark;
}

void Planner::place_far(const FarKey& key, const KernelFar& body) {
  const auto at = installed_.fars.find(key);
  if (at == installed_.fars.end() || !can_update(at->second.body, body)) {
    create_far(key, body);
    return;
  }
  plan_.next.fars.emplace(key, Installed::Rule<KernelFar>{at->second.id, body});
  if (at->second.body != body) update_far(at->second.id, at->second.body, body);
}

void Planner::create_far(const FarKey& key, const KernelFar& body) {
  const std::uint32_t id = ++plan_.next.last_far;
  plan_.next.fars.emplace(key, Installed::Rule<KernelFar>{id, body});
  plan_.prepare.emplace_back(CreateFar{id, body});
}

/// The module applies an update's action before its parameters: so they come one at a time, and
/// parameters only while nothing is forwarded by them.
void Planner::update_far(std::uint32_t id, const KernelFar& before, const KernelFar& after) {
  plan_.updated_fars.push_back({id, before});
  const bool parameters = !same_parameters(before, after);
  if (before.action == after.action) {
    far_actions_.emplace_back(UpdateFar{id, after, true});
    return;
  }
  if (parameters && !forwards(before)) {
    KernelFar still = after;
    still.action = before.action;
    plan_.prepare.emplace_back(UpdateFar{id, still, true});
  }
  far_actions_.emplace_back(UpdateFar{id, after, false});
  if (parameters && forwards(before)) far_actions_.emplace_back(UpdateFar{id, after, true});
}

// --- QERs and URRs ---------------------------------------------------------------------------

void Planner::place_qer(const QerKey& key, const KernelQer& body) {
  const auto at = installed_.qers.find(key);
  if (at != installed_.qers.end() && at->second.body == body) {
    plan_.next.qers.emplace(key, at->second);
    return;
  }
  const std::uint32_t id = ids_.take_qer(seid_);
  plan_.next.qers.emplace(key, Installed::Rule<KernelQer>{id, body});
  plan_.prepare.emplace_back(CreateQer{id, body});
}

void Planner::place_urr(const UrrKey& key, const KernelUrr& body) {
  const auto at = installed_.urrs.find(key);
  if (at != installed_.urrs.end() && at->second.body == body) {
    plan_.next.urrs.emplace(key, at->second);
    return;
  }
  const std::uint32_t id = ids_.take_urr();
  plan_.next.urrs.emplace(key, Installed::Rule<KernelUrr>{id, body});
  plan_.prepare.emplace_back(CreateUrr{id, key.role, body});
}

// --- PDRs ------------------------------------------------------------------------------------

CreatePdr Planner::resolve(const PdrKey& key, const KernelPdr& body) const {
  CreatePdr pdr{.key = key, .body = body, .far = plan_.next.fars.at(body.far).id};
  for (const QerKey& qer : body.qers) pdr.qers.push_back(plan_.next.qers.at(qer).id);
  for (const UrrKey& urr : body.urrs) pdr.urrs.push_back(plan_.next.urrs.at(urr).id);
  return pdr;
}

void Planner::place_pdrs() {
  const std::map<PdrKey, std::uint32_t> labels = precedences();
  for (const auto& [key, body] : wanted_.pdrs) {  // highest priority first
    CreatePdr pdr = resolve(key, body);
    pdr.precedence = labels.at(key);
    if (const auto at = installed_.pdrs.find(key); at != installed_.pdrs.end()) {
      pdr.id = at->second.id;
      if (pdr == at->second) {
        plan_.next.pdrs.emplace(key, std::move(pdr));
        continue;
      }
    }
    pdr.id = free_pdr_id();
    new_pdrs_.emplace_back(pdr);
    plan_.next.pdrs.emplace(key, std::move(pdr));
  }
}

std::uint16_t Planner::free_pdr_id() {
  const auto taken = [&](std::uint16_t id) {
    return id == 0 || new_pdr_ids_.contains(id) ||
           std::ranges::any_of(installed_.pdrs, [&](const auto& p) { return p.second.id == id; });
  };
  do {
    ++plan_.next.last_pdr;
  } while (taken(plan_.next.last_pdr));
  new_pdr_ids_.insert(plan_.next.last_pdr);
  return plan_.next.last_pdr;
}

// Kernel precedences. The kernel puts the newest of equals first, PFCP rules of equal precedence
// are met by ID, and one PFCP rule may be several kernel rules: so kernel precedences are labels of
// our own that keep the order of the keys. A replacement takes the label of what it replaces and,
// being newer, is met instead of it.
//
// Only one half of the numbers is used at a time. If a gap is used up, all PDRs move to the other
// half. At every moment of the move packets meet the right rule: moving down, the new rules come in
// from the highest priority on, all of them before the old ones; moving up, they come in behind the
// old ones, which then go from the lowest priority on.
constexpr std::uint64_t kHalf = std::uint64_t{1} << 31U;
constexpr std::uint64_t kStep = std::uint64_t{1} << 16U;

std::optional<std::map<PdrKey, std::uint32_t>> Planner::fill_gaps() const {
  const std::uint64_t floor = installed_.upper_half ? kHalf : 0;
  const std::uint64_t ceiling = floor + kHalf;
  std::map<PdrKey, std::uint32_t> labels;
  std::vector<PdrKey> run;
  std::uint64_t below = floor;
  const auto close_run = [&](std::uint64_t above, bool last) {
    if (run.empty()) return true;
    std::uint64_t step = (above - below) / (run.size() + 1);
    if (last) step = std::min(step, kStep);
    if (step == 0) return false;
    for (const PdrKey& key : run) labels.emplace(key, static_cast<std::uint32_t>(below += step));
    run.clear();
    return true;
  };
  for (const auto& [key, body] : wanted_.pdrs) {
    const auto at = installed_.pdrs.find(key);
    if (at == installed_.pdrs.end()) {
      run.push_back(key);
      continue;
    }
    if (!close_run(at->second.precedence, false)) return std::nullopt;
    labels.emplace(key, at->second.precedence);
    below = at->second.precedence;
  }
  if (!close_run(ceiling, true)) return std::nullopt;
  return labels;
}

std::map<PdrKey, std::uint32_t> Planner::precedences() {
  if (auto labels = fill_gaps()) return std::move(*labels);
  plan_.next.upper_half = !installed_.upper_half;
  std::uint64_t label = plan_.next.upper_half ? kHalf : 0;
  std::map<PdrKey, std::uint32_t> labels;
  for (const auto& [key, body] : wanted_.pdrs) {
    labels.emplace(key, static_cast<std::uint32_t>(label += kStep));
  }
  return labels;
}

// --- what goes -------------------------------------------------------------------------------

/// The rules of `before` that are not, by ID, in `after`.
template <class Rules, class Visit>
void for_each_gone(const Rules& before, const Rules& after, Visit visit) {
  for (const auto& [key, rule] : before) {
    const auto at = after.find(key);
    if (at == after.end() || at->second.id != rule.id) visit(key, rule);
  }
}

void Planner::remove_rest() {
  for (const auto& [key, pdr] : std::views::reverse(installed_.pdrs)) {  // lowest priority first
    const auto at = plan_.next.pdrs.find(key);
    if (at == plan_.next.pdrs.end() || at->second.id != pdr.id) {
      plan_.remove.emplace_back(DeletePdr{pdr.id});
    }
  }
  for_each_gone(installed_.fars, plan_.next.fars, [&](const FarKey&, const auto& far) {
    plan_.remove.emplace_back(DeleteFar{far.id});
  });
  for_each_gone(installed_.qers, plan_.next.qers, [&](const QerKey&, const auto& qer) {
    plan_.remove.emplace_back(DeleteQer{qer.id});
  });
  for_each_gone(installed_.urrs, plan_.next.urrs, [&](const UrrKey& key, const auto& urr) {
    // A report switches between two counters, and a packet under way still counts on the one that
    // was just read: the last reading of a meter takes both.
    if (key.role == UrrKey::Role::Meter) plan_.remove.emplace_back(ReadUrr{urr.id, key.urr});
    plan_.remove.emplace_back(DeleteUrr{urr.id, key});
  });
}

}  // namespace

KernelPlan make_plan(Seid seid, const Installed& installed, const KernelRules& wanted,
                     KernelIds& ids) {
  return Planner{seid, installed, wanted, ids}.run();
}

std::vector<Op> undo_of(const std::vector<Op>& done) {
  std::vector<Op> undo;
  for (const Op& op : std::views::reverse(done)) {
    if (const auto* pdr = std::get_if<CreatePdr>(&op)) undo.emplace_back(DeletePdr{pdr->id});
  }
  for (const Op& op : std::views::reverse(done)) {
    if (const auto* far = std::get_if<CreateFar>(&op)) undo.emplace_back(DeleteFar{far->id});
    if (const auto* qer = std::get_if<CreateQer>(&op)) undo.emplace_back(DeleteQer{qer->id});
    if (const auto* urr = std::get_if<CreateUrr>(&op))
      undo.emplace_back(DeleteUrr{urr->id, {.role = urr->role}});
  }
  return undo;
}

}  // namespace upf::gtp5g

// A rule's attributes, asked for and read back, as two flat lists of (path, value). The module
// leaves out what is 0 or a whole mask on the way back, or gives a 0 that nobody sent; widths
// differ between its versions. So values are compared as numbers without their leading zeros, and
// those that are 0 not at all.
#include "netlink/gtp5g/likeness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace upf::gtp5g {
namespace {

using netlink::Attributes;

struct Leaf {
  std::vector<std::uint16_t> path{};
  wire::Octets value{};
  auto operator<=>(const Leaf&) const = default;
};
using Leaves = std::vector<Leaf>;
using Path = std::vector<std::uint16_t>;

/// Attributes that hold attributes, by command.
bool is_nest(Command add, const Path& path) {
  switch (add) {
    case Command::AddPdr:
      return path == Path{pdr::kPdi.id} || path == Path{pdr::kPdi.id, pdi::kFTeid.id} ||
             path == Path{pdr::kPdi.id, pdi::kSdfFilter.id} ||
             path == Path{pdr::kPdi.id, pdi::kSdfFilter.id, sdf::kFlowDescription.id} ||
             path == Path{pdr::kPdi.id, pdi::kFramedRoutes.id};
    case Command::AddFar:
      return path == Path{far::kForwarding.id} ||
             path == Path{far::kForwarding.id, forwarding::kOuterHeader.id};
    case Command::AddQer:
      return path == Path{qer::kMbr.id} || path == Path{qer::kGbr.id};
    case Command::AddUrr:
      return path == Path{urr::kThreshold.id} || path == Path{urr::kQuota.id};
    default:
      return false;
  }
}

constexpr std::uint16_t kFarRelatedToPdr = 6;
constexpr std::uint16_t kQerRelatedToPdr = 12;
constexpr std::uint16_t kUrrRelatedToPdr = 13;

/// What only one of the two sides has.
bool is_one_sided(Command add, const Path& path) {
  if (path.front() == 0 || path.front() == kLink.id) return true;  // 0: padding
  switch (add) {
    case Command::AddPdr:
      return path == Path{pdr::kUnixSocketPath.id} ||
             path == Path{pdr::kPdi.id, pdi::kSourceInterface.id};
    case Command::AddFar:
      return path == Path{kFarRelatedToPdr};
    case Command::AddQer:
      return path == Path{kQerRelatedToPdr};
    case Command::AddUrr:
      return path == Path{kUrrRelatedToPdr};
    default:
      return false;
  }
}

bool is_mask(Command add, const Path& path) {
  return add == Command::AddPdr && path.size() == 4 &&
         (path.back() == flow::kSourceMask.id || path.back() == flow::kDestinationMask.id);
}

/// Outer Header Removal is there or not; its value says nothing.
bool counts_if_zero(Command add, const Path& path) {
  return add == Command::AddPdr && path == Path{pdr::kOuterHeaderRemoval.id};
}

bool is_framed_route(Command add, const Path& path) {
  return add == Command::AddPdr && path.size() == 3 && path[1] == pdi::kFramedRoutes.id;
}

void flatten(Command add, const Attributes& attributes, const Path& above, Leaves& leaves) {
  attributes.for_each([&](std::uint16_t id, wire::Bytes payload, bool) {
    Path path = above;
    path.push_back(id);
    if (is_one_sided(add, path)) return;
    if (is_nest(add, path)) return flatten(add, Attributes{payload}, path, leaves);
    wire::Octets value{payload.begin(), payload.end()};
    while (!value.empty() && value.back() == 0) value.pop_back();
    if (value.empty() && !counts_if_zero(add, path)) return;
    if (is_mask(add, path) && value == wire::Octets(4, 0xff)) return;
    // The exhaustion of a quota sets this bit; whether the rule is the right one it doesn't say.
    if (add == Command::AddUrr && path == Path{urr::kInfo.id}) {
      value.front() = static_cast<std::uint8_t>(value.front() & ~urr::kInfoInactive);
      if (value.front() == 0) return;
    }
    if (is_framed_route(add, path)) path.back() = 0;  // numbered or not, in any order
    leaves.push_back({std::move(path), std::move(value)});
  });
}

Leaves leaves_of(Command add, wire::Bytes attributes) {
  Leaves leaves;
  flatten(add, Attributes{attributes}, {}, leaves);
  std::ranges::sort(leaves);
  return leaves;
}

std::string text_of(const Leaf& leaf) {
  std::string path;
  for (const std::uint16_t id : leaf.path) path += (path.empty() ? "" : ".") + std::to_string(id);
  std::string value;
  for (const std::uint8_t octet : leaf.value) value += fmt::format("{:02x}", octet);
  return fmt::format("attribute {} = {}", path, value.empty() ? "0" : value);
}

}  // namespace

std::optional<std::string> difference(Command add, const netlink::GenlRequest& made,
                                      wire::Bytes answer) {
  constexpr std::size_t kHeaders = 20;
  const Leaves wanted = leaves_of(add, made.bytes().subspan(kHeaders));
  const Leaves there = leaves_of(add, answer);
  if (wanted == there) return std::nullopt;
  Leaves lacks;
  Leaves more;
  std::ranges::set_difference(wanted, there, std::back_inserter(lacks));
  std::ranges::set_difference(there, wanted, std::back_inserter(more));
  if (!lacks.empty()) return "lacks " + text_of(lacks.front());
  return "has " + text_of(more.front());
}

}  // namespace upf::gtp5g

#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "upf/base/address.hpp"
#include "upf/base/ids.hpp"
#include "upf/pfcp/ies/common.hpp"
#include "upf/rules/rules.hpp"
#include "upf/rules/usage_rule.hpp"
#include "upf/session/session.hpp"

/// References to all members of the plain structs that sessions are made of, for packing.hpp. A
/// structured binding must name each member: one more in a struct doesn't compile before it is
/// here.
namespace upf::session {

template <class T, class... Any>
concept OneOf = (std::same_as<std::remove_const_t<T>, Any> || ...);

template <OneOf<Ipv4, Ipv6, PdrId, FarId, QerId, UrrId, BarId, Seid, Teid> T>
auto members(T& value) {
  auto& [a] = value;
  return std::tie(a);
}

template <OneOf<Ipv4Prefix, Ipv6Prefix, rules::PortRange, rules::MaskedOctet, rules::BitRate,
                rules::DroppedThreshold>
              T>
auto members(T& value) {
  auto& [a, b] = value;
  return std::tie(a, b);
}

template <OneOf<pfcp::FSeid, rules::FlowDescription, rules::LocalFTeid, rules::UeAddress,
                rules::Bar, rules::VolumeAmount, rules::DropLimit>
              T>
auto members(T& value) {
  auto& [a, b, c] = value;
  return std::tie(a, b, c);
}

template <OneOf<rules::EndpointMatch, rules::SdfFilter, rules::OuterHeader, rules::Far,
                rules::VolumeLimit>
              T>
auto members(T& value) {
  auto& [a, b, c, d] = value;
  return std::tie(a, b, c, d);
}

template <OneOf<rules::ApplyAction, rules::Forwarding, rules::SessionRules> T>
auto members(T& value) {
  auto& [a, b, c, d, e] = value;
  return std::tie(a, b, c, d, e);
}

template <OneOf<Labels, rules::Urr> T>
auto members(T& value) {
  auto& [a, b, c, d, e, f, g, h] = value;
  return std::tie(a, b, c, d, e, f, g, h);
}

template <OneOf<rules::Qer> T>
auto members(T& value) {
  auto& [a, b, c, d, e, f, g, h, i] = value;
  return std::tie(a, b, c, d, e, f, g, h, i);
}

template <OneOf<rules::UsageTriggers> T>
auto members(T& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k);
}

template <OneOf<rules::Pdr> T>
auto members(T& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
}

template <OneOf<rules::UsageRule> T>
auto members(T& value) {
  auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, za] = value;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, za);
}

}  // namespace upf::session

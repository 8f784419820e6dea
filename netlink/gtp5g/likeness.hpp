#pragma once

#include <optional>
#include <string>

#include "netlink/attributes.hpp"
#include "netlink/gtp5g/attrs.hpp"
#include "netlink/request.hpp"

/// Whether a rule in the kernel is the one that was asked for.
namespace upf::gtp5g {

/// Compares the kernel's answer to GET_PDR, GET_FAR, GET_QER or GET_URR with the request that made
/// the rule; none: the same, else what differs, for the operator. What the module doesn't give back
/// (source interface, socket path) can't be compared, what it adds (who uses the rule) isn't.
[[nodiscard]] std::optional<std::string> difference(Command add, const netlink::GenlRequest& made,
                                                    wire::Bytes answer);

}  // namespace upf::gtp5g

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/result.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/ie_type.hpp"
#include "upf/rules/rules.hpp"

namespace upf::pfcp {
struct ApplicationIdsPfds;
struct PfdManagementRequest;
}  // namespace upf::pfcp

namespace upf::control {

/// Packet Flow Descriptions by Application ID (TS 29.244 6.2.5), as the SDF filters that PDRs with
/// that Application ID match.
///
/// Only flow descriptions are taken. A PFD with a URL, a domain name or custom content matches what
/// no plane looks at; leaving that part out would make it match more than it says, so it is
/// refused.
///
/// Limits: kMaxApplications, and kMaxFilters filters for each.
class Pfds {
 public:
  static constexpr std::size_t kMaxApplications = 1024;
  static constexpr std::size_t kMaxFilters = 64;

  struct Refusal {
    pfcp::Cause cause{};
    std::optional<pfcp::IeType> offending_ie{};
    std::string text{};
  };

  /// All of the request or nothing of it. Returns the Application IDs whose filters have changed.
  [[nodiscard]] Result<std::vector<std::string>, Refusal> apply(
      const pfcp::PfdManagementRequest& request);

  /// nullptr: unknown.
  [[nodiscard]] const std::vector<rules::SdfFilter>* find(const std::string& application_id) const;
  [[nodiscard]] std::size_t size() const { return filters_.size(); }

 private:
  std::map<std::string, std::vector<rules::SdfFilter>> filters_;
};

}  // namespace upf::control

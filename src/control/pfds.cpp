#include "upf/control/pfds.hpp"

#include <utility>

#include "upf/pfcp/messages/node.hpp"
#include "upf/rules/flow.hpp"

namespace upf::control {
namespace {

using Filters = std::vector<rules::SdfFilter>;

Pfds::Refusal unsupported(const std::string& what) {
  return {.cause = pfcp::Cause::ServiceNotSupported,
          .offending_ie = pfcp::IeType::PfdContents,
          .text = what + " in a PFD is not supported"};
}

[[nodiscard]] Result<void, Pfds::Refusal> add(Filters& filters, const std::string& text) {
  auto flow = rules::parse_flow_description(text);
  if (!flow) {
    return failure(Pfds::Refusal{.cause = pfcp::Cause::MandatoryIeIncorrect,
                                 .offending_ie = pfcp::IeType::PfdContents,
                                 .text = flow.error()});
  }
  if (filters.size() == Pfds::kMaxFilters) {
    return failure(Pfds::Refusal{.cause = pfcp::Cause::NoResourcesAvailable,
                                 .text = "too many flow descriptions for one application"});
  }
  filters.push_back({.flow = std::move(*flow)});
  return {};
}

[[nodiscard]] Result<void, Pfds::Refusal> add(Filters& filters, const pfcp::PfdContents& pfd) {
  if (pfd.url || !pfd.additional_urls.empty()) return failure(unsupported("a URL"));
  if (pfd.domain_name || pfd.domain_name_protocol || !pfd.additional_domain_names.empty()) {
    return failure(unsupported("a domain name"));
  }
  if (pfd.custom_pfd_content) return failure(unsupported("custom content"));
  if (pfd.flow_description) {
    if (auto ok = add(filters, *pfd.flow_description); !ok) return ok;
  }
  for (const std::string& text : pfd.additional_flow_descriptions) {
    if (auto ok = add(filters, text); !ok) return ok;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>, Pfds::Refusal> Pfds::apply(
    const pfcp::PfdManagementRequest& request) {
  auto next = filters_;
  if (request.application_ids_pfds.empty()) next.clear();  // 6.2.5.2: all of them go
  for (const pfcp::ApplicationIdsPfds& application : request.application_ids_pfds) {
    Filters filters;
    for (const pfcp::PfdContext& context : application.pfd_contexts) {
      for (const pfcp::PfdContents& pfd : context.pfd_contents) {
        if (auto ok = add(filters, pfd); !ok) return failure(ok.error());
      }
    }
    if (application.pfd_contexts.empty()) {
      next.erase(application.application_id);
    } else {
      next.insert_or_assign(application.application_id, std::move(filters));
    }
  }
  if (next.size() > kMaxApplications) {
    return failure(
        Refusal{.cause = pfcp::Cause::NoResourcesAvailable, .text = "too many applications"});
  }

  std::vector<std::string> changed;
  for (const auto& [id, filters] : filters_) {
    const auto now = next.find(id);
    if (now == next.end() || now->second != filters) changed.push_back(id);
  }
  for (const auto& [id, filters] : next) {
    if (!filters_.contains(id)) changed.push_back(id);
  }
  filters_ = std::move(next);
  return changed;
}

const Filters* Pfds::find(const std::string& application_id) const {
  const auto at = filters_.find(application_id);
  return at == filters_.end() ? nullptr : &at->second;
}

}  // namespace upf::control

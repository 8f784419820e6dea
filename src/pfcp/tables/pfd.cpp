// Packet flow descriptions: TS 29.244 7.4.3 and 8.2.39.

#include "src/pfcp/tables/scalars.hpp"
#include "upf/pfcp/ies/node.hpp"

namespace upf::pfcp {
namespace {

using namespace tables;

enum : unsigned {
  kFlow = 1,
  kUrl = 2,
  kDomain = 4,
  kCustom = 8,
  kProtocol = 16,
  kMoreFlows = 32,
  kMoreUrls = 64,
  kMoreDomains = 128,
};

/// The additional ones are a list of counted texts, which is counted in octets as a whole.
wire::Reader counted_list(wire::Reader& in) {
  return wire::Reader{in.take(in.be<std::uint16_t>())};
}

void read_list(wire::Reader& in, std::vector<std::string>& texts) {
  wire::Reader list = counted_list(in);
  while (!list.empty()) texts.push_back(Counted<2>::read(list));
  if (list.failed()) in.fail();
}

void write_list(wire::Writer& out, const std::vector<std::string>& texts) {
  wire::Writer list;
  for (const std::string& text : texts) Counted<2>::write(list, text);
  Counted<2>::write(out, rows::to_text(list.octets()));
}

bool read_pfd_contents(wire::Reader& in, PfdContents& pfd) {
  const unsigned present = in.be<std::uint8_t>();
  (void)in.be<std::uint8_t>();  // spare
  if ((present & kFlow) != 0) pfd.flow_description = Counted<2>::read(in);
  if ((present & kUrl) != 0) pfd.url = Counted<2>::read(in);
  if ((present & kDomain) != 0) pfd.domain_name = Counted<2>::read(in);
  if ((present & kCustom) != 0) pfd.custom_pfd_content = Counted<2>::read(in);
  if ((present & kProtocol) != 0) pfd.domain_name_protocol = Counted<2>::read(in);
  if ((present & kMoreFlows) != 0) read_list(in, pfd.additional_flow_descriptions);
  if ((present & kMoreUrls) != 0) read_list(in, pfd.additional_urls);
  if ((present & kMoreDomains) != 0) {
    wire::Reader list = counted_list(in);
    while (!list.empty()) {
      std::string domain = Counted<2>::read(list);
      pfd.additional_domain_names.emplace_back(std::move(domain), Counted<2>::read(list));
    }
    if (list.failed()) in.fail();
  }
  return true;
}

unsigned present_in(const PfdContents& pfd) {
  return (pfd.flow_description ? kFlow : 0U) | (pfd.url ? kUrl : 0U) |
         (pfd.domain_name ? kDomain : 0U) | (pfd.custom_pfd_content ? kCustom : 0U) |
         (pfd.domain_name_protocol ? kProtocol : 0U) |
         (!pfd.additional_flow_descriptions.empty() ? kMoreFlows : 0U) |
         (!pfd.additional_urls.empty() ? kMoreUrls : 0U) |
         (!pfd.additional_domain_names.empty() ? kMoreDomains : 0U);
}

void write_pfd_contents(wire::Writer& out, const PfdContents& pfd) {
  const unsigned present = present_in(pfd);
  out.be(static_cast<std::uint8_t>(present));
  out.be(std::uint8_t{0});
  for (const auto* text : {&pfd.flow_description, &pfd.url, &pfd.domain_name,
                           &pfd.custom_pfd_content, &pfd.domain_name_protocol}) {
    if (*text) Counted<2>::write(out, **text);
  }
  if ((present & kMoreFlows) != 0) write_list(out, pfd.additional_flow_descriptions);
  if ((present & kMoreUrls) != 0) write_list(out, pfd.additional_urls);
  if ((present & kMoreDomains) != 0) {
    wire::Writer list;
    for (const auto& [domain, protocol] : pfd.additional_domain_names) {
      Counted<2>::write(list, domain);
      Counted<2>::write(list, protocol);
    }
    Counted<2>::write(out, rows::to_text(list.octets()));
  }
}

void print_pfd_contents(std::string& out, const PfdContents& pfd) {
  const auto print = [&out](std::string_view name, const std::optional<std::string>& text) {
    if (text) rows::print_named(name, out, rows::quoted(*text));
  };
  print("flow_description", pfd.flow_description);
  print("url", pfd.url);
  print("domain_name", pfd.domain_name);
  print("custom_pfd_content", pfd.custom_pfd_content);
  print("domain_name_protocol", pfd.domain_name_protocol);
  for (const auto& text : pfd.additional_flow_descriptions) print("additional_flow", text);
  for (const auto& text : pfd.additional_urls) print("additional_url", text);
  for (const auto& [domain, protocol] : pfd.additional_domain_names) {
    print("additional_domain_name", domain);
    print("protocol", protocol);
  }
}

constexpr FieldRow kPfdContents[] = {
    {"",
     [](wire::Reader& in, void* ie) {
       return read_pfd_contents(in, *static_cast<PfdContents*>(ie));
     },
     [](wire::Writer& out, const void* ie) {
       write_pfd_contents(out, *static_cast<const PfdContents*>(ie));
     },
     [](std::string_view, std::string& out, const void* ie) {
       print_pfd_contents(out, *static_cast<const PfdContents*>(ie));
     }},
};

constexpr MemberRow kPfdContext[] = {rows::at_least_one<&PfdContext::pfd_contents>()};

constexpr MemberRow kApplicationIdsPfds[] = {
    rows::member<&ApplicationIdsPfds::application_id>(kApplicationId),
    rows::member<&ApplicationIdsPfds::pfd_contexts>(),
};

}  // namespace

constinit const IeDef PfdContents::def = rows::leaf(IeType::PfdContents, kPfdContents);
constinit const IeDef PfdContext::def = rows::group<PfdContext>(IeType::PfdContext, kPfdContext);
constinit const IeDef ApplicationIdsPfds::def =
    rows::group<ApplicationIdsPfds>(IeType::ApplicationIdsPfds, kApplicationIdsPfds);

}  // namespace upf::pfcp

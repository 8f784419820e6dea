// Names, Node ID, F-SEID, and what needs more than a row.

#include "upf/pfcp/ies/common.hpp"

#include <array>

#include "src/pfcp/rows.hpp"
#include "src/pfcp/tables/domain_name.hpp"

namespace upf::pfcp {

namespace rows {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    }
  }
  return out + '"';
}

}  // namespace rows

namespace tables {

std::optional<std::string> labels_to_text(Bytes octets) {
  std::string text;
  wire::Reader in{octets};
  while (!in.empty()) {
    const auto length = in.be<std::uint8_t>();
    const std::string label = rows::to_text(in.take(length));
    if (in.failed() || length == 0 || length > 63 || label.find('.') != std::string::npos) {
      return std::nullopt;
    }
    if (!text.empty()) text += '.';
    text += label;
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<Octets> text_to_labels(std::string_view text) {
  Octets octets;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > 63) return std::nullopt;
    octets.push_back(static_cast<std::uint8_t>(label.size()));
    octets.insert(octets.end(), label.begin(), label.end());
    if (dot == std::string_view::npos) return octets;
    text.remove_prefix(dot + 1);
  }
}

DomainName DomainNameCodec::read(wire::Reader& in) {
  const Bytes octets = in.take_rest();
  if (auto text = labels_to_text(octets)) return {*std::move(text), true};
  return {rows::to_text(octets), false};
}

void DomainNameCodec::write(wire::Writer& out, const DomainName& name) {
  if (name.as_labels) {
    if (const auto labels = text_to_labels(name.text)) return out.put(*labels);
  }
  out.put(rows::to_octets(name.text));
}

std::string FqdnCodec::read(wire::Reader& in) { return DomainNameCodec::read(in).text; }

void FqdnCodec::write(wire::Writer& out, const std::string& fqdn) {
  DomainNameCodec::write(out, {fqdn, true});
}

}  // namespace tables

namespace {

using rows::field;
using rows::flags;

// ---- Node ID (8.2.38) ---------------------------------------------------------------------------

constexpr FieldRow kNodeId[] = {
    {"",
     [](wire::Reader& in, void* ie) {
       auto& value = static_cast<NodeId*>(ie)->value;
       switch (in.be<std::uint8_t>() & 0xfU) {
         case 0:
           value = Ipv4{in.array<4>()};
           return true;
         case 1:
           value = Ipv6{in.array<16>()};
           return true;
         case 2:
           if (in.empty()) in.fail();
           value = tables::FqdnCodec::read(in);
           return true;
         default:
           return false;
       }
     },
     [](wire::Writer& out, const void* ie) {
       const auto& value = static_cast<const NodeId*>(ie)->value;
       out.be(static_cast<std::uint8_t>(value.index()));
       if (const auto* v4 = std::get_if<Ipv4>(&value)) out.put(v4->octets);
       if (const auto* v6 = std::get_if<Ipv6>(&value)) out.put(v6->octets);
       if (const auto* fqdn = std::get_if<std::string>(&value)) {
         tables::FqdnCodec::write(out, *fqdn);
       }
     },
     [](std::string_view, std::string& out, const void* ie) {
       out += ' ' + to_text(*static_cast<const NodeId*>(ie));
     }},
};

constexpr FieldRow kFSeid[] = {
    flags<&FSeid::ipv6, &FSeid::ipv4>(),
    field<&FSeid::seid>(),
    field<&FSeid::ipv4>(),
    field<&FSeid::ipv6>(),
};

constexpr FieldRow kSdfFilter[] = {
    flags<&SdfFilter::flow_description, &SdfFilter::tos_traffic_class,
          &SdfFilter::security_parameter_index, &SdfFilter::flow_label, &SdfFilter::filter_id>(),
    rows::spare_octet(),
    rows::counted<&SdfFilter::flow_description>(),
    field<&SdfFilter::tos_traffic_class>(),
    field<&SdfFilter::security_parameter_index>(),
    rows::uint<&SdfFilter::flow_label, 3>(),
    field<&SdfFilter::filter_id>(),
};

constexpr std::array<std::chrono::seconds, 8> kTimerUnits = {
    std::chrono::seconds{2}, std::chrono::minutes{1}, std::chrono::minutes{10},
    std::chrono::hours{1},   std::chrono::hours{10},  std::chrono::minutes{1},
    std::chrono::minutes{1}, std::chrono::seconds{0},
};
constexpr std::uint8_t kInfinite = 7;

}  // namespace

constinit const IeDef NodeId::def = rows::leaf(IeType::NodeId, kNodeId);
constinit const IeDef FSeid::def = rows::leaf(IeType::FSeid, kFSeid);
constinit const IeDef SdfFilter::def = rows::leaf(IeType::SdfFilter, kSdfFilter);

std::string to_text(const NodeId& node) {
  if (const auto* v4 = std::get_if<Ipv4>(&node.value)) return to_string(*v4);
  if (const auto* v6 = std::get_if<Ipv6>(&node.value)) return to_string(*v6);
  return std::get<std::string>(node.value);
}

std::optional<std::chrono::seconds> UnitTimer::duration() const {
  if ((unit & 7U) == kInfinite) return std::nullopt;
  return kTimerUnits[unit & 7U] * value;
}

UnitTimer UnitTimer::of(std::chrono::seconds at_least) {
  for (std::uint8_t unit = 0; unit <= 4; ++unit) {
    const auto value = (at_least + kTimerUnits[unit] - std::chrono::seconds{1}) / kTimerUnits[unit];
    if (value <= 31) return {unit, static_cast<std::uint8_t>(std::max<std::int64_t>(value, 0))};
  }
  return {kInfinite, 0};
}

}  // namespace upf::pfcp

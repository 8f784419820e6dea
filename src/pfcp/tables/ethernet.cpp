// Ethernet PDU sessions: Table 7.5.2.2-3 and what is in it.

#include "upf/pfcp/ies/ethernet.hpp"

#include "src/pfcp/tables/scalars.hpp"

namespace upf::pfcp {
namespace {

using rows::field;
using rows::flags;
using rows::leaf;
using rows::member;
using namespace tables;

constexpr FieldRow kEthernetPduSessionInformation[] = {
    flags<&EthernetPduSessionInformation::ethi>()};
constexpr FieldRow kEthernetFilterProperties[] = {flags<&EthernetFilterProperties::bide>()};

constexpr FieldRow kMacAddress[] = {
    flags<&MacAddress::source, &MacAddress::destination, &MacAddress::upper_source,
          &MacAddress::upper_destination>(),
    field<&MacAddress::source>(),
    field<&MacAddress::destination>(),
    field<&MacAddress::upper_source>(),
    field<&MacAddress::upper_destination>(),
};

/// PCP in bits 1 to 3, DEI in bit 4, the VID's high bits in 5 to 8 and its low ones in the last
/// octet. What a flag does not announce is there all the same, and not looked at.
void read_vlan_tag(wire::Reader& in, VlanTag& tag) {
  const unsigned present = in.be<std::uint8_t>();
  const unsigned head = in.be<std::uint8_t>();
  const unsigned low = in.be<std::uint8_t>();
  if ((present & 1U) != 0) tag.pcp = static_cast<std::uint8_t>(head & 7U);
  if ((present & 2U) != 0) tag.dei = static_cast<std::uint8_t>(head >> 3U & 1U);
  if ((present & 4U) != 0) tag.vid = static_cast<std::uint16_t>((head >> 4U) << 8U | low);
}
void write_vlan_tag(wire::Writer& out, const VlanTag& tag) {
  const unsigned vid = tag.vid.value_or(0) & 0xfffU;
  out.be(
      static_cast<std::uint8_t>((tag.pcp ? 1U : 0U) | (tag.dei ? 2U : 0U) | (tag.vid ? 4U : 0U)));
  out.be(static_cast<std::uint8_t>((tag.pcp.value_or(0) & 7U) | (tag.dei.value_or(0) & 1U) << 3U |
                                   (vid >> 8U) << 4U));
  out.be(static_cast<std::uint8_t>(vid));
}
std::string vlan_tag_text(const VlanTag& tag) {
  std::string text;
  if (tag.pcp) text += fmt::format(" pcp={}", *tag.pcp);
  if (tag.dei) text += fmt::format(" dei={}", *tag.dei);
  if (tag.vid) text += fmt::format(" vid={}", *tag.vid);
  return text;
}

constexpr FieldRow kVlanTag[] = {
    {"",
     [](wire::Reader& in, void* ie) {
       read_vlan_tag(in, *static_cast<VlanTag*>(ie));
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       write_vlan_tag(out, *static_cast<const VlanTag*>(ie));
     },
     [](std::string_view, std::string& out, const void* ie) {
       out += vlan_tag_text(*static_cast<const VlanTag*>(ie));
     }},
};

/// A count and the addresses, then the tags, each behind a length of its own (0 or 3).
std::optional<VlanTag> read_counted_tag(wire::Reader& in) {
  if (in.empty()) return std::nullopt;  // before Release 16 the addresses end the IE
  const auto length = in.be<std::uint8_t>();
  if (length == 0) return std::nullopt;
  wire::Reader tag_in{in.take(length)};
  VlanTag tag{};
  read_vlan_tag(tag_in, tag);
  if (tag_in.failed()) in.fail();
  return tag;
}
void write_counted_tag(wire::Writer& out, const std::optional<VlanTag>& tag) {
  out.be(static_cast<std::uint8_t>(tag ? 3 : 0));
  if (tag) write_vlan_tag(out, *tag);
}

constexpr FieldRow kMacAddresses[] = {
    {"addresses",
     [](wire::Reader& in, void* ie) {
       auto& macs = *static_cast<MacAddresses*>(ie);
       const unsigned count = in.be<std::uint8_t>();
       for (unsigned i = 0; i < count && !in.failed(); ++i) macs.addresses.push_back(in.array<6>());
       macs.c_tag = read_counted_tag(in);
       macs.s_tag = read_counted_tag(in);
       return true;
     },
     [](wire::Writer& out, const void* ie) {
       const auto& macs = *static_cast<const MacAddresses*>(ie);
       const std::size_t count = std::min<std::size_t>(macs.addresses.size(), 0xff);
       out.be(static_cast<std::uint8_t>(count));
       for (std::size_t i = 0; i < count; ++i) out.put(macs.addresses[i]);
       write_counted_tag(out, macs.c_tag);
       write_counted_tag(out, macs.s_tag);
     },
     [](std::string_view, std::string& out, const void* ie) {
       const auto& macs = *static_cast<const MacAddresses*>(ie);
       for (const Mac& mac : macs.addresses) out += fmt::format(" {:02x}", fmt::join(mac, ":"));
       if (macs.c_tag) out += " c-tag" + vlan_tag_text(*macs.c_tag);
       if (macs.s_tag) out += " s-tag" + vlan_tag_text(*macs.s_tag);
     }},
};

constexpr MemberRow kEthernetPacketFilter[] = {
    member<&EthernetPacketFilter::ethernet_filter_id>(kEthernetFilterId),
    member<&EthernetPacketFilter::ethernet_filter_properties>(),
    member<&EthernetPacketFilter::mac_addresses>(),
    member<&EthernetPacketFilter::ethertype>(kEthertype),
    member<&EthernetPacketFilter::c_tag>(kCTag),
    member<&EthernetPacketFilter::s_tag>(kSTag),
    member<&EthernetPacketFilter::sdf_filters>(),
};

constexpr MemberRow kEthernetTrafficInformation[] = {
    member<&EthernetTrafficInformation::mac_addresses_detected>(kMacAddressesDetected),
    member<&EthernetTrafficInformation::mac_addresses_removed>(kMacAddressesRemoved),
};

}  // namespace

namespace tables {
constinit const Def<VlanTag> kCTag = rows::value_ie<VlanTag>(IeType::CTag, kVlanTag);
constinit const Def<VlanTag> kSTag = rows::value_ie<VlanTag>(IeType::STag, kVlanTag);
constinit const Def<MacAddresses> kMacAddressesDetected =
    rows::value_ie<MacAddresses>(IeType::MacAddressesDetected, kMacAddresses);
constinit const Def<MacAddresses> kMacAddressesRemoved =
    rows::value_ie<MacAddresses>(IeType::MacAddressesRemoved, kMacAddresses);
}  // namespace tables

constinit const IeDef EthernetPduSessionInformation::def =
    leaf(IeType::EthernetPduSessionInformation, kEthernetPduSessionInformation);
constinit const IeDef EthernetFilterProperties::def =
    leaf(IeType::EthernetFilterProperties, kEthernetFilterProperties);
constinit const IeDef MacAddress::def = leaf(IeType::MacAddress, kMacAddress);
constinit const IeDef EthernetPacketFilter::def =
    rows::group<EthernetPacketFilter>(IeType::EthernetPacketFilter, kEthernetPacketFilter);
constinit const IeDef EthernetTrafficInformation::def = rows::group<EthernetTrafficInformation>(
    IeType::EthernetTrafficInformation, kEthernetTrafficInformation);

}  // namespace upf::pfcp

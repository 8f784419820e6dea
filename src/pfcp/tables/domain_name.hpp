#pragma once

#include "src/pfcp/rows.hpp"

namespace upf::pfcp::tables {

/// Labels to dotted text. nullopt unless the octets are labels to the last one, without the root
/// label, and no label has a dot of its own (which dotted text could not tell from a separator).
[[nodiscard]] std::optional<std::string> labels_to_text(Bytes octets);
/// nullopt where a label would be empty or longer than 63 octets.
[[nodiscard]] std::optional<Octets> text_to_labels(std::string_view text);

/// APN/DNN (8.2.117), Network Instance (8.2.4): labels if they parse as such, else plain text.
struct DomainNameCodec {
  static DomainName read(wire::Reader& in);
  static void write(wire::Writer& out, const DomainName& name);
  static std::string text(const DomainName& name) { return rows::quoted(name.text); }
};

/// An FQDN: read like the above, written as labels wherever it can be.
struct FqdnCodec {
  static std::string read(wire::Reader& in);
  static void write(wire::Writer& out, const std::string& fqdn);
  static std::string text(const std::string& fqdn) { return rows::quoted(fqdn); }
};

}  // namespace upf::pfcp::tables

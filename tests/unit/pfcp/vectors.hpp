#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/hex.hpp"
#include "tests/unit/pfcp/any_message.hpp"

namespace upf::pfcp::test {

/// One block of a tests/vectors/*.vec file: `vector NAME`, `text TEXT`, and `hex OCTETS` in as many
/// lines as it takes.
struct Vector {
  std::string name{};
  std::string text{};
  Octets octets{};
};
inline void PrintTo(const Vector& vector, std::ostream* out) { *out << vector.name; }

inline std::vector<Vector> load_vectors(const std::filesystem::path& file) {
  std::vector<Vector> vectors;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "vector") {
      vectors.push_back({value, {}, {}});
    } else if (key == "text") {
      vectors.back().text = value;
    } else if (key == "hex") {
      const Octets octets = upf::test::octets_of(value);
      vectors.back().octets.insert(vectors.back().octets.end(), octets.begin(), octets.end());
    }
  }
  return vectors;
}

/// All of them, from every file.
inline const std::vector<Vector>& all_vectors() {
  static const std::vector<Vector> vectors = [] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator{KUPF_SOURCE_DIR "/tests/vectors"}) {
      if (entry.path().extension() == ".vec") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Vector> all;
    for (const auto& file : files) {
      for (Vector& vector : load_vectors(file)) all.push_back(std::move(vector));
    }
    return all;
  }();
  return vectors;
}

inline const Vector& vector_named(std::string_view name) {
  for (const Vector& vector : all_vectors()) {
    if (vector.name == name) return vector;
  }
  throw std::runtime_error("no vector " + std::string{name});
}

/// The IEs of a body as a tree, by the tables of its message; made to be changed and written again.
struct Node {
  IeType type{};
  const IeDef* def{};  ///< nullptr: unknown where it stands
  Octets value{};      ///< of a leaf
  std::vector<Node> children{};
};

inline std::vector<Node> parse_tree(std::span<const MemberRow> members, Bytes octets) {
  std::vector<Node> nodes;
  wire::Reader in{octets};
  while (!in.empty()) {
    Node node{static_cast<IeType>(in.be<std::uint16_t>()), nullptr, {}, {}};
    const auto length = in.be<std::uint16_t>();
    const Bytes value = in.take(length);
    for (const MemberRow& row : members) {
      if (row.ie->type == node.type) node.def = row.ie;
    }
    if (node.def != nullptr && node.def->is_group()) {
      node.children = parse_tree(node.def->members, value);
    } else {
      node.value.assign(value.begin(), value.end());
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

inline void write_tree(const std::vector<Node>& nodes, wire::Writer& out) {
  for (const Node& node : nodes) {
    wire::Writer value;
    value.put(node.value);
    write_tree(node.children, value);
    out.be(static_cast<std::uint16_t>(node.type));
    out.be(static_cast<std::uint16_t>(value.size()));
    out.put(value.octets());
  }
}

inline Octets octets_of(const std::vector<Node>& nodes) {
  wire::Writer out;
  write_tree(nodes, out);
  return std::move(out).take();
}

/// Calls `visit(siblings, index, rows of the group they are in, whether that group lists removals)`
/// for every IE of the tree. The visitor may change the siblings, but must put them back.
template <class Visit>
void for_each_node(std::vector<Node>& siblings, std::span<const MemberRow> rows, bool removable,
                   const Visit& visit) {
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    visit(siblings, i, rows, removable);
    const IeDef* def = siblings[i].def;
    if (def != nullptr && def->is_group()) {
      for_each_node(siblings[i].children, def->members, def->removed != nullptr, visit);
    }
  }
}

inline const MemberRow* row_of(std::span<const MemberRow> rows, IeType type) {
  for (const MemberRow& row : rows) {
    if (row.ie->type == type) return &row;
  }
  return nullptr;
}

}  // namespace upf::pfcp::test

// Writes src/pfcp/COVERAGE.md from the tables of the codec and from use.list: which IEs and
// messages there are, and what the daemon makes of each.
//
//   pfcp_coverage USE_LIST            to standard output
//   pfcp_coverage USE_LIST COVERAGE   compares, and fails if COVERAGE is not what it would write

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "src/pfcp/defs.hpp"

namespace {

using upf::pfcp::IeDef;
using upf::pfcp::IeType;
using upf::pfcp::IeTypeInfo;
using upf::pfcp::MemberRow;
using upf::pfcp::MessageDef;

struct Use {
  std::string status{};
  std::string note{};
};

/// What the tables know of one IE type.
struct Entry {
  const IeDef* def{};
  std::set<std::string> in{};  ///< groups and messages it is a member of
};
using Entries = std::map<IeType, Entry>;

void walk(std::span<const MemberRow> members, const std::string& parent, Entries& entries) {
  for (const MemberRow& row : members) {
    Entry& entry = entries[row.ie->type];
    const bool is_new = entry.def == nullptr;
    entry.def = row.ie;
    entry.in.insert(parent);
    if (is_new) walk(row.ie->members, to_string(row.ie->type), entries);
  }
}

/// `NUMBER STATUS NOTE...`; `#` begins a comment.
std::map<IeType, Use> read_uses(const char* file) {
  std::map<IeType, Use> uses;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    unsigned number = 0;
    if (!(words >> number)) continue;
    Use use{};
    words >> use.status;
    std::getline(words >> std::ws, use.note);
    uses[static_cast<IeType>(number)] = use;
  }
  return uses;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

constexpr const char* kHead =
    "# What of PFCP there is\n\n"
    "Written by the build target `pfcp_coverage_page` from the tables of the codec and from\n"
    "`use.list`; a test fails when it is stale. The numbers, names and clauses are those of\n"
    "TS 29.244 Release 17, Table 8.1.2-1.\n\n"
    "| use | meaning |\n|---|---|\n"
    "| used | changes what the daemon does |\n"
    "| sent | written by the daemon; as an input ignored |\n"
    "| kept | remembered for the operator or an answer, changes no packet |\n"
    "| refused | the request is refused with a cause |\n"
    "| ignored | decoded and checked for its form, then not looked at |\n"
    "| skipped | not decoded: as an unknown IE (7.6.9) |\n\n";

std::string message_table() {
  std::string text = "## Messages\n\n| message | type | IEs at its top level |\n|---|---|---|\n";
  for (const MessageDef* def : upf::pfcp::all_messages()) {
    text += fmt::format("| {} | {} | {} |\n", to_string(def->type), static_cast<int>(def->type),
                        def->members.size());
  }
  return text + "\n";
}

std::string ie_row(const IeTypeInfo& ie, const Entries& entries,
                   const std::map<IeType, Use>& uses) {
  const auto entry = entries.find(ie.type);
  const auto use = uses.find(ie.type);
  const bool decoded = entry != entries.end();
  const std::string status = use != uses.end() ? use->second.status
                             : decoded         ? "ignored"
                                               : "skipped";
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", static_cast<unsigned>(ie.type), ie.name,
                     ie.clause, decoded ? joined(entry->second.in) : "", status,
                     use != uses.end() ? use->second.note : "");
}

std::string page(const std::map<IeType, Use>& uses) {
  Entries entries;
  for (const MessageDef* def : upf::pfcp::all_messages()) {
    walk(def->members, to_string(def->type), entries);
  }
  std::string rows;
  std::size_t known = 0;
  for (unsigned number = 1; const IeTypeInfo* ie = upf::pfcp::info(static_cast<IeType>(number));
       ++number) {
    rows += ie_row(*ie, entries, uses);
    ++known;
  }
  return kHead + message_table() +
         fmt::format("## Information elements\n\n{} of {} are decoded.\n\n", entries.size(),
                     known) +
         "| no. | IE | content | in | use | note |\n|---|---|---|---|---|---|\n" + rows;
}

std::string content_of(const char* file) {
  std::ifstream in{file};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: pfcp_coverage USE_LIST [COVERAGE]\n";
    return 2;
  }
  const std::string text = page(read_uses(argv[1]));
  if (argc == 2) {
    std::cout << text;
    return 0;
  }
  if (content_of(argv[2]) == text) return 0;
  std::cerr << argv[2] << " is stale: build the target pfcp_coverage_page and commit it\n";
  return 1;
}

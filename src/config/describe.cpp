#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "src/config/row.hpp"
#include "upf/config/config.hpp"

namespace upf::config {
namespace {

struct Leaf {
  std::string key{};
  std::string value{};
  const Row* row{};
};

void collect(std::span<const Row> rows, const std::string& path, const void* owner,
             std::vector<Leaf>& leaves) {
  for (const Row& row : rows) {
    if (row.shape == Shape::Ignored) continue;
    const std::string key = path + std::string{row.key};
    if (row.print != nullptr) {
      leaves.push_back({key, row.print(owner), &row});
      continue;
    }
    for (std::size_t i = 0; i < row.count(owner); ++i) {
      const std::string element =
          row.shape == Shape::Sections ? fmt::format("{}[{}]", key, i) : key;
      collect(row.rows, element + ".", row.at(owner, i), leaves);
    }
  }
}

std::vector<Leaf> leaves_of(const Config& config) {
  std::vector<Leaf> leaves;
  collect(schema(), "", &config, leaves);
  collect(predefined_schema(), "predefinedRules.", &config.predefined, leaves);
  return leaves;
}

constexpr std::string_view kNetworks = "dnnList[";

/// Data networks are told apart by their place in the list: more may be behind those that are
/// there, which stay as they are, or nothing of the list is taken.
void restrain_networks(std::vector<Difference>& differences) {
  const auto of_networks = [](const Difference& d) { return d.key.starts_with(kNetworks); };
  const bool stay = std::ranges::none_of(differences, [&](const Difference& d) {
    return of_networks(d) && !d.before.empty() &&
           (d.key.ends_with(".dnn") || d.key.ends_with(".cidr"));
  });
  if (stay) return;
  std::string why = "data networks are added behind those that are there";
  for (Difference& difference : differences) {
    if (!of_networks(difference) || !difference.live) continue;
    difference.live = false;
    difference.why = std::exchange(why, {});
  }
}

/// Names are looked up once at start: a lookup would hold N4 up.
void restrain_peers(std::vector<Difference>& differences, const Config& loaded) {
  const auto peers = std::ranges::find(differences, "pfcp.peers", &Difference::key);
  if (peers == differences.end()) return;
  std::set<std::string> known;
  std::istringstream words{peers->before};
  for (std::string word; words >> word;) {
    if (word.ends_with(',')) word.pop_back();
    known.insert(word);
  }
  const bool all = std::ranges::all_of(loaded.pfcp.peers, [&](const Host& peer) {
    return peer.address || known.contains(peer.text);
  });
  if (all) return;
  peers->live = false;
  peers->why = "a new name is looked up at start; an address would do now";
}

using Keys = std::set<std::string, std::less<>>;

/// Copies the leaves that `keys` names.
void take(std::span<const Row> rows, const std::string& path, const void* from, void* to,
          const Keys& keys) {
  for (const Row& row : rows) {
    if (row.shape == Shape::Ignored) continue;
    const std::string key = path + std::string{row.key};
    if (row.copy != nullptr) {
      if (keys.contains(key)) row.copy(from, to);
      continue;
    }
    for (std::size_t i = 0; i < row.count(from); ++i) {
      const std::string element =
          (row.shape == Shape::Sections ? fmt::format("{}[{}]", key, i) : key) + ".";
      if (i == row.count(to)) {
        if (!keys.contains(element + std::string{row.rows.front().key})) break;
        row.slot(to);
      }
      take(row.rows, element, row.at(from, i), row.to(to, i), keys);
    }
  }
}

/// `whose`: with a column that says who knows the key.
void describe_rows(std::span<const Row> rows, const std::string& path, const void* defaults,
                   bool whose, std::string& text) {
  for (const Row& row : rows) {
    const std::string key = path + std::string{row.key};
    if (row.shape == Shape::Ignored) {
      text += fmt::format("| `{}` | – | anything | – | {} Accepted and ignored. |\n", key, row.doc);
      continue;
    }
    const std::string known = !whose ? "" : row.ours ? " kupf |" : " go-upf |";
    if (row.print == nullptr) {
      text += fmt::format("| **`{}`** |{} | | {} |\n", key, known, row.doc);
      const bool repeated = row.shape == Shape::Sections;
      describe_rows(row.rows, key + (repeated ? "[]." : "."), row.fresh(), whose, text);
      continue;
    }
    const std::string value = row.print(defaults);
    const std::string fallback = row.need == Need::Required ? "**required**"
                                 : value.empty()            ? "–"
                                                            : "`" + value + "`";
    const std::string each = row.shape == Shape::List ? "list of: " : "";
    text += fmt::format("| `{}` |{} {}{} | {} | {}{} |\n", key, known, each, row.allowed(),
                        fallback, row.doc, row.effect == Effect::Live ? " *(reload)*" : "");
  }
}

}  // namespace

Described describe(const Config& config) {
  Described lines;
  for (const Leaf& leaf : leaves_of(config)) lines.emplace_back(leaf.key, leaf.value);
  return lines;
}

std::vector<Difference> compare(const Described& running, const Config& loaded) {
  std::map<std::string_view, std::string_view> before;
  for (const auto& [key, value] : running) before.emplace(key, value);
  std::vector<Difference> differences;
  for (const Leaf& leaf : leaves_of(loaded)) {
    const auto old = before.extract(leaf.key);
    const bool live = leaf.row->effect == Effect::Live;
    if (old.empty()) {
      differences.push_back({leaf.key, "", leaf.value, live || leaf.key.starts_with(kNetworks)});
    } else if (old.mapped() != leaf.value) {
      differences.push_back({leaf.key, std::string{old.mapped()}, leaf.value, live});
    }
  }
  for (const auto& [key, value] : running) {
    if (before.contains(key)) differences.push_back({key, value, "", false});
  }
  restrain_networks(differences);
  restrain_peers(differences, loaded);
  return differences;
}

std::string to_string(const Difference& difference) {
  return fmt::format("{}: \"{}\" -> \"{}\" ({}{}{})", difference.key, difference.before,
                     difference.after, difference.live ? "reload" : "restart",
                     difference.why.empty() ? "" : ": ", difference.why);
}

Reload plan_reload(const Config& running, const Config& loaded) {
  Reload reload{compare(describe(running), loaded), running};
  Keys keys;
  for (const Difference& difference : reload.differences) {
    if (difference.live) keys.insert(difference.key);
  }
  take(schema(), "", &loaded, &reload.next, keys);
  for (Host& peer : reload.next.pfcp.peers) {
    const auto same = std::ranges::find(running.pfcp.peers, peer.text, &Host::text);
    if (same != running.pfcp.peers.end()) peer.address = same->address;
  }
  return reload;
}

std::string reference() {
  const Config defaults;
  std::string text =
      "| key | known to | may be | default | meaning |\n"
      "|---|---|---|---|---|\n";
  describe_rows(schema(), "", &defaults, true, text);
  return text;
}

std::string predefined_reference() {
  const PredefinedRules defaults;
  std::string text =
      "| key | may be | default | meaning |\n"
      "|---|---|---|---|\n";
  describe_rows(predefined_schema(), "", &defaults, false, text);
  return text;
}

}  // namespace upf::config

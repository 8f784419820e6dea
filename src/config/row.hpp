#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A key of the file is one Row: its name, what it may be, what it means, and how its text becomes
/// a member of a struct and back. Loader, documentation, comparison and dump all walk the rows.
namespace upf::config {

enum class Need : bool { Optional, Required };
/// Whether a new value takes effect on reload or only at the next start.
enum class Effect : bool { Live, Restart };
enum class Shape : unsigned char { Scalar, List, Section, Sections, Ignored };

struct Row {
  std::string_view key{};
  Shape shape{};
  Need need{};
  Effect effect{};
  bool ours{};  ///< kupf's own key: go-upf doesn't know it
  std::string_view doc{};
  /// Scalar, List: what a value may be; false if the text isn't that (List: one element).
  std::string (*allowed)() = nullptr;
  bool (*read)(std::string_view text, void* owner) = nullptr;
  std::string (*print)(const void* owner) = nullptr;
  void (*copy)(const void* from, void* to) = nullptr;
  /// Section, Sections: the rows inside, and the struct they fill (Sections: a new element).
  std::span<const Row> rows{};
  void* (*slot)(void* owner) = nullptr;
  std::size_t (*count)(const void* owner) = nullptr;
  const void* (*at)(const void* owner, std::size_t index) = nullptr;
  void* (*to)(void* owner, std::size_t index) = nullptr;  ///< as `at`
  const void* (*fresh)() = nullptr;                       ///< one as it is before anything was read
};

template <class>
struct MemberOf;
template <class S, class M>
struct MemberOf<M S::*> {
  using Struct = S;
  using Member = M;
};

template <auto P>
auto& member(void* owner) {
  return static_cast<typename MemberOf<decltype(P)>::Struct*>(owner)->*P;
}
template <auto P>
const auto& member(const void* owner) {
  return static_cast<const typename MemberOf<decltype(P)>::Struct*>(owner)->*P;
}

template <class Kind, class V>
std::string print_value(const V& value) {
  return Kind::print(value);
}
template <class Kind, class V>
std::string print_value(const std::optional<V>& value) {
  return value ? Kind::print(*value) : std::string{};
}

/// The text before a row's documentation: who knows the key, and when a change takes effect.
struct Mark {
  Need need{Need::Optional};
  Effect effect{Effect::Restart};
  bool ours{};
};

template <auto P, class Kind>
constexpr Row scalar(std::string_view key, Mark mark, std::string_view doc) {
  Row row{key, Shape::Scalar, mark.need, mark.effect, mark.ours, doc};
  row.allowed = Kind::allowed;
  row.read = [](std::string_view text, void* owner) {
    auto value = Kind::parse(text);
    if (value) member<P>(owner) = std::move(*value);
    return value.has_value();
  };
  row.print = [](const void* owner) { return print_value<Kind>(member<P>(owner)); };
  row.copy = [](const void* from, void* to) { member<P>(to) = member<P>(from); };
  return row;
}

template <auto P, class Kind>
constexpr Row list(std::string_view key, Mark mark, std::string_view doc) {
  Row row{key, Shape::List, mark.need, mark.effect, mark.ours, doc};
  row.allowed = Kind::allowed;
  row.read = [](std::string_view text, void* owner) {
    auto value = Kind::parse(text);
    if (value) member<P>(owner).push_back(std::move(*value));
    return value.has_value();
  };
  row.print = [](const void* owner) {
    std::string text;
    for (const auto& value : member<P>(owner)) {
      if (!text.empty()) text += ", ";
      text += Kind::print(value);
    }
    return text;
  };
  row.copy = [](const void* from, void* to) { member<P>(to) = member<P>(from); };
  return row;
}

template <auto P>
constexpr Row section(std::string_view key, Mark mark, std::string_view doc,
                      std::span<const Row> rows) {
  Row row{key, Shape::Section, mark.need, mark.effect, mark.ours, doc};
  row.rows = rows;
  row.slot = [](void* owner) -> void* { return &member<P>(owner); };
  row.count = [](const void*) -> std::size_t { return 1; };
  row.at = [](const void* owner, std::size_t) -> const void* { return &member<P>(owner); };
  row.to = [](void* owner, std::size_t) -> void* { return &member<P>(owner); };
  row.fresh = []() -> const void* {
    static const typename MemberOf<decltype(P)>::Member value{};
    return &value;
  };
  return row;
}

template <auto P>
constexpr Row sections(std::string_view key, Mark mark, std::string_view doc,
                       std::span<const Row> rows) {
  Row row{key, Shape::Sections, mark.need, mark.effect, mark.ours, doc};
  row.rows = rows;
  row.slot = [](void* owner) -> void* { return &member<P>(owner).emplace_back(); };
  row.count = [](const void* owner) -> std::size_t { return member<P>(owner).size(); };
  row.at = [](const void* owner, std::size_t index) -> const void* {
    return &member<P>(owner)[index];
  };
  row.to = [](void* owner, std::size_t index) -> void* { return &member<P>(owner)[index]; };
  row.fresh = []() -> const void* {
    static const typename MemberOf<decltype(P)>::Member::value_type value{};
    return &value;
  };
  return row;
}

/// A key that files carry and kupf has no use for: named in a warning, not refused.
constexpr Row ignored(std::string_view key, std::string_view doc) {
  return {key, Shape::Ignored, Need::Optional, Effect::Live, false, doc};
}

/// The rows of the whole file.
[[nodiscard]] std::span<const Row> schema();
/// The rows of the rules file.
[[nodiscard]] std::span<const Row> predefined_schema();

}  // namespace upf::config

#include "src/config/kinds.hpp"

#include "upf/rules/flow.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

namespace upf::config {
namespace {

bool is_label(std::string_view label, std::string_view also) {
  if (label.empty() || label.size() > 63) return false;
  if (label.front() == '-' || label.back() == '-') return false;
  return std::ranges::all_of(label, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ||
           also.find(c) != std::string_view::npos;
  });
}

/// Labels joined by dots, each letters, digits and what `also` allows.
bool is_dotted(std::string_view text, std::size_t longest, std::string_view also) {
  if (text.empty() || text.size() > longest) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot), also)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

struct Unit {
  std::string_view text{};
  std::uint64_t factor{};
};

// Longest first: "m" must not take the "m" of "ms". µ is U+00B5 or U+03BC, as in Go.
constexpr std::array kTimeUnits{Unit{"ns", 1},
                                Unit{"us", 1'000},
                                Unit{"\xc2\xb5s", 1'000},
                                Unit{"\xce\xbcs", 1'000},
                                Unit{"ms", 1'000'000},
                                Unit{"s", 1'000'000'000},
                                Unit{"m", 60'000'000'000},
                                Unit{"h", 3'600'000'000'000}};

constexpr std::array kSizeUnits{Unit{"KiB", 1ULL << 10U}, Unit{"MiB", 1ULL << 20U},
                                Unit{"GiB", 1ULL << 30U}, Unit{"", 1}};

/// One "1.5h" off the front of `text`.
std::optional<double> take_time(std::string_view& text) {
  double number{};
  if (text.empty() ||
      (std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.')) {
    return {};
  }
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : kTimeUnits) {
    if (!text.starts_with(unit.text)) continue;
    text.remove_prefix(unit.text.size());
    return number * static_cast<double>(unit.factor);
  }
  return {};
}

}  // namespace

std::string VersionKind::allowed() {
  return "1.0.3 (the format of free5GC 3.2.0 and later; older files must be rewritten, "
         "configs/README.md shows how)";
}

std::optional<std::string> VersionKind::parse(std::string_view text) {
  if (text != "1.0.3") return {};
  return std::string{text};
}

std::optional<bool> BoolKind::parse(std::string_view text) {
  std::string word{text};
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "true" || word == "yes" || word == "on" || word == "y") return true;
  if (word == "false" || word == "no" || word == "off" || word == "n") return false;
  return {};
}

std::optional<std::uint32_t> MtuKind::parse(std::string_view text) {
  if (text == "0") return 0U;
  return NumberKind<std::uint32_t, 576, 65535>::parse(text);
}

std::optional<std::uint64_t> SizeKind::parse(std::string_view text) {
  std::uint64_t number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto unit = std::ranges::find(kSizeUnits, rest, &Unit::text);
  constexpr std::uint64_t kMost = 64ULL << 30U;
  if (unit == kSizeUnits.end() || number > kMost / unit->factor) return {};
  const std::uint64_t octets = number * unit->factor;
  if (octets < 1024) return {};
  return octets;
}

std::string SizeKind::print(std::uint64_t value) {
  for (std::size_t i = 3; i-- > 0;) {
    const Unit& unit = kSizeUnits[i];
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string{unit.text};
    }
  }
  return std::to_string(value);
}

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration{};
  if (text.empty()) return {};
  double total{};
  while (!text.empty()) {
    const auto part = take_time(text);
    if (!part) return {};
    total += *part;
  }
  // Beyond what a Duration holds there is nothing to configure; the kinds have narrower bounds.
  if (total > 9e18) return {};
  return Duration{Duration::rep{std::llround(total)}};
}

std::string print_duration(Duration value) {
  if (value == Duration{}) return "0";
  std::uint64_t rest = static_cast<std::uint64_t>(value.count());
  std::string text;
  for (const Unit& unit :
       {Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}, Unit{"s", 1'000'000'000},
        Unit{"ms", 1'000'000}, Unit{"us", 1'000}, Unit{"ns", 1}}) {
    if (rest < unit.factor) continue;
    text += std::to_string(rest / unit.factor) + std::string{unit.text};
    rest %= unit.factor;
  }
  return text;
}

std::optional<Host> HostKind::parse(std::string_view text) {
  if (const auto address = parse_ip(text)) return Host{std::string{text}, address};
  // RFC 1123 2.1: a name whose last label is a number is a mistyped address.
  const std::string_view last = text.substr(text.rfind('.') + 1);
  if (!last.empty() && std::ranges::all_of(last, [](unsigned char c) { return std::isdigit(c); })) {
    return {};
  }
  if (!is_dotted(text, 253, "_")) return {};
  return Host{std::string{text}, {}};
}

std::optional<std::string> DeviceKind::parse(std::string_view text) {
  if (text.empty() || text.size() > 15 || text == "." || text == "..") return {};
  // '%' makes the kernel number the device, or refuse it; gtp5g frees its tables twice then.
  const bool fits = std::ranges::all_of(text, [](unsigned char c) {
    return std::isgraph(c) != 0 && c != '/' && c != ':' && c != '%';
  });
  if (!fits) return {};
  return std::string{text};
}

std::optional<std::string> DnnKind::parse(std::string_view text) {
  if (!is_dotted(text, 99, "_")) return {};
  return std::string{text};
}

std::optional<std::string> SocketPathKind::parse(std::string_view text) {
  if (text.size() < 2 || text.size() > 107 || text.front() != '/') return {};
  return std::string{text};
}

std::optional<Listen> ListenKind::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool alone = colon == std::string_view::npos || colon == 0;
  std::string_view host = alone ? "127.0.0.1" : text.substr(0, colon);
  const std::string_view number = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto port = NumberKind<std::uint16_t, 1, 65535>::parse(number);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto ip = parse_ip(host);
  if (!port || !ip || bracketed != std::holds_alternative<Ipv6>(*ip)) return {};
  return Listen{*ip, *port};
}

std::string ListenKind::print(const Listen& value) {
  return to_string(SocketAddress{value.ip, value.port});
}

std::optional<rules::FlowDescription> FlowKind::parse(std::string_view text) {
  auto flow = rules::parse_flow_description(text);
  if (!flow) return {};
  return *flow;
}
std::string FlowKind::print(const rules::FlowDescription& value) { return rules::to_string(value); }

}  // namespace upf::config

#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "upf/config/config.hpp"

/// What a scalar of the file may be. A kind says it in words (`allowed`), takes a text or not
/// (`parse`) and writes a value so that parse takes it back (`print`).
namespace upf::config {

struct TextKind {
  static std::string allowed() { return "a text"; }
  static std::optional<std::string> parse(std::string_view text) { return std::string{text}; }
  static std::string print(const std::string& value) { return value; }
};

/// The one version of the format that go-upf takes, and so do we.
struct VersionKind {
  static std::string allowed();
  static std::optional<std::string> parse(std::string_view text);
  static std::string print(const std::string& value) { return value; }
};

/// YAML 1.1's words, as Go's parser takes them.
struct BoolKind {
  static std::string allowed() { return "true or false"; }
  static std::optional<bool> parse(std::string_view text);
  static std::string print(bool value) { return value ? "true" : "false"; }
};

template <class U, U Min, U Max>
struct NumberKind {
  static std::string allowed() {
    return "a whole number from " + std::to_string(Min) + " to " + std::to_string(Max);
  }
  static std::optional<U> parse(std::string_view text) {
    U value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    if (value < Min || value > Max) return {};
    return value;
  }
  static std::string print(U value) { return std::to_string(value); }
};

/// An MTU to set on a device: 0 leaves the choice to kupf.
struct MtuKind {
  static std::string allowed() { return "0 (kupf chooses) or a whole number from 576 to 65535"; }
  static std::optional<std::uint32_t> parse(std::string_view text);
  static std::string print(std::uint32_t value) { return std::to_string(value); }
};

/// Octets, with or without a unit: 65536, 64KiB, 1MiB.
struct SizeKind {
  static std::string allowed() { return "octets, such as 65536, 64KiB or 1MiB (1KiB to 64GiB)"; }
  static std::optional<std::uint64_t> parse(std::string_view text);
  static std::string print(std::uint64_t value);
};

/// Go's time.ParseDuration; `ZeroToo` also takes 0.
std::optional<Duration> parse_duration(std::string_view text);
std::string print_duration(Duration value);
template <bool ZeroToo>
struct DurationKind {
  static std::string allowed() {
    return std::string{ZeroToo ? "0 (off) or a" : "a"} +
           " time with its unit, such as 500ms, 1s or 1m30s (1ms to 24h)";
  }
  static std::optional<Duration> parse(std::string_view text) {
    const auto value = parse_duration(text);
    if (!value) return {};
    if (*value == Duration{}) return ZeroToo ? value : std::nullopt;
    if (*value < std::chrono::milliseconds{1} || *value > std::chrono::hours{24}) return {};
    return value;
  }
  static std::string print(Duration value) { return print_duration(value); }
};

/// An address, or a name that DNS may know (RFC 1123's letters).
struct HostKind {
  static std::string allowed() { return "an IPv4 or IPv6 address, or a host name"; }
  static std::optional<Host> parse(std::string_view text);
  static std::string print(const Host& value) { return value.text; }
};

struct AddressKind {
  static std::string allowed() { return "an IPv4 or IPv6 address"; }
  static std::optional<IpAddress> parse(std::string_view text) { return parse_ip(text); }
  static std::string print(const IpAddress& value) { return to_string(value); }
};

/// A block of addresses; `Bare` also takes one address alone.
template <bool Bare>
struct PrefixKind {
  static std::string allowed() {
    return Bare ? "an address or a prefix, such as 10.0.0.2 or 10.0.0.0/8"
                : "an address block such as 10.60.0.0/16";
  }
  static std::optional<IpPrefix> parse(std::string_view text) {
    if (!Bare && text.find('/') == std::string_view::npos) return {};
    return parse_ip_prefix(text);
  }
  static std::string print(const IpPrefix& value) { return to_string(value); }
};

/// The name of a network device: what the kernel's dev_valid_name() takes and doesn't change.
struct DeviceKind {
  static std::string allowed() { return "a network device's name (1 to 15 characters)"; }
  static std::optional<std::string> parse(std::string_view text);
  static std::string print(const std::string& value) { return value; }
};

/// A Data Network Name, TS 23.003 9.1: labels of letters, digits and hyphens, 100 octets in all.
struct DnnKind {
  static std::string allowed() {
    return "a data network name: labels of letters, digits, '-' and '_', joined by dots, at most "
           "99 "
           "characters";
  }
  static std::optional<std::string> parse(std::string_view text);
  static std::string print(const std::string& value) { return value; }
};

/// An absolute path that fits sockaddr_un.
struct SocketPathKind {
  static std::string allowed() { return "an absolute path of at most 107 characters"; }
  static std::optional<std::string> parse(std::string_view text);
  static std::string print(const std::string& value) { return value; }
};

/// A port alone is the loopback address's: what nobody asked to open stays closed.
struct ListenKind {
  static std::string allowed() {
    return "an address and a port, such as 127.0.0.1:9090 or [::1]:9090, or a port alone (of "
           "127.0.0.1)";
  }
  static std::optional<Listen> parse(std::string_view text);
  static std::string print(const Listen& value);
};

template <class E>
struct Word {
  std::string_view text{};
  E value{};
};

/// An IPFilterRule as TS 29.212 5.4.2 allows it.
struct FlowKind {
  static std::string allowed() {
    return "a flow description, such as \"permit out udp from 192.0.2.0/24 to assigned\"";
  }
  static std::optional<rules::FlowDescription> parse(std::string_view text);
  static std::string print(const rules::FlowDescription& value);
};

/// The name of Predefined Rules: octets to PFCP, a word here.
struct RuleNameKind {
  static std::string allowed() { return "a name of 1 to 255 characters"; }
  static std::optional<std::string> parse(std::string_view text) {
    if (text.empty() || text.size() > 255) return {};
    return std::string{text};
  }
  static std::string print(const std::string& value) { return value; }
};

/// One of a few words; `Words::table` has them.
template <class Words>
struct WordKind {
  using E = typename Words::Value;
  static std::string allowed() {
    std::string text;
    for (const auto& word : Words::table) {
      if (!text.empty())
        text += &word == &Words::table[std::size(Words::table) - 1] ? " or " : ", ";
      text += word.text;
    }
    return text;
  }
  static std::optional<E> parse(std::string_view text) {
    for (const auto& word : Words::table) {
      if (word.text == text) return word.value;
    }
    return {};
  }
  static std::string print(E value) {
    for (const auto& word : Words::table) {
      if (word.value == value) return std::string{word.text};
    }
    return {};
  }
};

struct ForwarderWords {
  using Value = Forwarder;
  static constexpr Word<Value> table[] = {{"gtp5g", Value::Gtp5g}, {"userspace", Value::Userspace}};
};
struct InterfaceTypeWords {
  using Value = InterfaceType;
  static constexpr Word<Value> table[] = {{"N3", Value::N3}, {"N9", Value::N9}};
};
struct ActionWords {
  using Value = PredefinedAction;
  static constexpr Word<Value> table[] = {{"forward", Value::Forward}, {"drop", Value::Drop}};
};
struct DropWords {
  using Value = DropPolicy;
  static constexpr Word<Value> table[] = {{"oldest", Value::Oldest}, {"newest", Value::Newest}};
};
struct LevelWords {
  using Value = LogLevel;
  static constexpr Word<Value> table[] = {{"trace", Value::Trace}, {"debug", Value::Debug},
                                          {"info", Value::Info},   {"warn", Value::Warn},
                                          {"error", Value::Error}, {"fatal", Value::Fatal},
                                          {"panic", Value::Panic}};
};
struct OffloadWords {
  using Value = Offload;
  static constexpr Word<Value> table[] = {{"udpGro", Value::UdpGro},
                                          {"udpSegment", Value::UdpSegment},
                                          {"vnetHeader", Value::VnetHeader},
                                          {"tso", Value::Tso},
                                          {"uso", Value::Uso}};
};
struct FormatWords {
  using Value = LogFormat;
  static constexpr Word<Value> table[] = {{"text", Value::Text}, {"json", Value::Json}};
};

}  // namespace upf::config

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/clock.hpp"
#include "upf/base/ids.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/codec.hpp"
#include "upf/pfcp/ie_type.hpp"

/// Values that many IEs share. Conventions of all of ies/ and messages/: `T` is mandatory,
/// `std::optional<T>` optional or conditional, `std::vector<T>` repeated; a flag bit that announces
/// a field engages the optional of that field and has no member of its own. Members are named as
/// the standard names them. An IE whose content is one number is that number (or its ID type).
namespace upf::pfcp {

/// In the groups that update a rule: the types of the IEs that came with length 0, which means that
/// the rule loses them (5.6.3). Their members stay empty. The rule's own ID can't be removed.
using Removed = std::vector<IeType>;

/// Unsigned 32 bits of seconds, as PFCP counts durations.
using Seconds = std::chrono::duration<std::uint32_t>;

/// Seconds since 1900-01-01 modulo 2^32 (RFC 5905 6), as PFCP writes moments.
struct NtpTime {
  std::uint32_t seconds{};
  bool operator==(const NtpTime&) const = default;

  static constexpr std::uint32_t kUnixEpoch = 2208988800U;

  /// The low 32 bits: right in every era.
  [[nodiscard]] static NtpTime from(WallTime time) {
    const auto unix_seconds =
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    return {static_cast<std::uint32_t>(unix_seconds) + kUnixEpoch};
  }
  /// Era 0 down to 1968, era 1 (from 2036-02-07) below that.
  [[nodiscard]] WallTime to_wall() const {
    const std::uint64_t era = seconds < 0x80000000U ? 0x100000000ULL : 0;
    const auto unix_seconds = static_cast<std::int64_t>(era + seconds) - kUnixEpoch;
    return WallTime{std::chrono::seconds{unix_seconds}};
  }
};

/// A name that peers write either as labels (RFC 1035 3.1) or as plain text: APN/DNN and Network
/// Instance.
struct DomainName {
  std::string text{};    ///< dotted, whichever way it was written
  bool as_labels{true};  ///< how it was, or is to be, written
  bool operator==(const DomainName&) const = default;
};

/// 8.2.38. An FQDN is written as labels.
struct NodeId {
  std::variant<Ipv4, Ipv6, std::string> value{};
  auto operator<=>(const NodeId&) const = default;
  static const IeDef def;
};
/// "10.0.0.1", "2001:db8::1", "upf.example"
[[nodiscard]] std::string to_text(const NodeId& node);

/// 8.2.37
struct FSeid {
  Seid seid{};
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool operator==(const FSeid&) const = default;
  static const IeDef def;
};

/// 8.2.35 and 8.2.78: three bits of unit and five of value.
struct UnitTimer {
  std::uint8_t unit{};   ///< 0: 2 s, 1: 1 min, 2: 10 min, 3: 1 h, 4: 10 h, 7: infinite, else 1 min
  std::uint8_t value{};  ///< 0 to 31; a value of 0 is a stopped timer
  bool operator==(const UnitTimer&) const = default;

  /// nullopt: infinite.
  [[nodiscard]] std::optional<std::chrono::seconds> duration() const;
  /// The shortest one that is not shorter than `at_least`.
  [[nodiscard]] static UnitTimer of(std::chrono::seconds at_least);
};

/// An address of either or both families, for the IEs that are just that: CP PFCP Entity IP Address
/// (8.2.135), Alternative SMF IP Address (8.2.129), Source IP Address (8.2.138).
struct DualAddress {
  std::optional<Ipv4> ipv4{};
  std::optional<Ipv6> ipv6{};
  bool operator==(const DualAddress&) const = default;
};

/// Two octets: a value and its mask. ToS or traffic class (8.2.5, 8.2.12).
struct TosTrafficClass {
  std::uint8_t value{};
  std::uint8_t mask{0xff};
  bool operator==(const TosTrafficClass&) const = default;
};

/// 8.2.5. An engaged `filter_id` with nothing else refers to a filter of the session that has it.
struct SdfFilter {
  std::optional<std::string> flow_description{};  ///< an IPFilterRule, not parsed here
  std::optional<TosTrafficClass> tos_traffic_class{};
  std::optional<std::uint32_t> security_parameter_index{};
  std::optional<std::uint32_t> flow_label{};  ///< 24 bits on the wire, 20 of them used
  std::optional<std::uint32_t> filter_id{};   ///< BID
  bool operator==(const SdfFilter&) const = default;
  static const IeDef def;
};

/// 8.2.2: four bits on the wire.
enum class SourceInterface : std::uint8_t {
  Access = 0,
  Core = 1,
  SgiLanN6Lan = 2,
  CpFunction = 3,
  FiveGVnInternal = 4,
};

/// 8.2.24: four bits on the wire.
enum class DestinationInterface : std::uint8_t {
  Access = 0,
  Core = 1,
  SgiLanN6Lan = 2,
  CpFunction = 3,
  LiFunction = 4,
  FiveGVnInternal = 5,
};

/// 8.2.118: six bits on the wire.
enum class InterfaceType3gpp : std::uint8_t {
  S1U = 0,
  S5S8U = 1,
  S4U = 2,
  S11U = 3,
  S12U = 4,
  GnGpU = 5,
  S2aU = 6,
  S2bU = 7,
  EnbGtpUForDlForwarding = 8,
  EnbGtpUForUlForwarding = 9,
  SgwUpfGtpUForDlForwarding = 10,
  N3Access3gpp = 11,
  N3TrustedNon3gppAccess = 12,
  N3UntrustedNon3gppAccess = 13,
  N3ForDataForwarding = 14,
  N9 = 15,
  SGi = 16,
  N6 = 17,
  N19 = 18,
  S8U = 19,
  GpU = 20,
  N9ForRoaming = 21,
  IuU = 22,
  N9ForDataForwarding = 23,
  Sxa = 24,
  Sxb = 25,
  Sxc = 26,
  N4 = 27,
  SgwUpfGtpUForUlForwarding = 28,
  N6mbNmb9 = 29,
  N3mb = 30,
  N19mb = 31,
};

}  // namespace upf::pfcp

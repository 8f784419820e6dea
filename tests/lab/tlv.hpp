#pragma once

// PFCP octets as a peer's own library would lay them down: IEs in the order and of the lengths that
// the caller says, right or wrong by the standard. On purpose this shares nothing with src/pfcp:
// the SMFs that are played here are not to agree with our codec because they are our codec.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/wire/cursor.hpp"

namespace upf::lab {

// TS 29.244 Table 7.3-1.
namespace message {
inline constexpr std::uint8_t kHeartbeatRequest = 1;
inline constexpr std::uint8_t kHeartbeatResponse = 2;
inline constexpr std::uint8_t kAssociationSetupRequest = 5;
inline constexpr std::uint8_t kAssociationSetupResponse = 6;
inline constexpr std::uint8_t kAssociationUpdateRequest = 7;
inline constexpr std::uint8_t kAssociationUpdateResponse = 8;
inline constexpr std::uint8_t kAssociationReleaseRequest = 9;
inline constexpr std::uint8_t kAssociationReleaseResponse = 10;
inline constexpr std::uint8_t kNodeReportRequest = 12;
inline constexpr std::uint8_t kNodeReportResponse = 13;
inline constexpr std::uint8_t kEstablishmentRequest = 50;
inline constexpr std::uint8_t kEstablishmentResponse = 51;
inline constexpr std::uint8_t kModificationRequest = 52;
inline constexpr std::uint8_t kModificationResponse = 53;
inline constexpr std::uint8_t kDeletionRequest = 54;
inline constexpr std::uint8_t kDeletionResponse = 55;
inline constexpr std::uint8_t kReportRequest = 56;
inline constexpr std::uint8_t kReportResponse = 57;
}  // namespace message

// TS 29.244 Table 8.1.2-1.
namespace ie {
inline constexpr std::uint16_t kCreatePdr = 1, kPdi = 2, kCreateFar = 3, kForwarding = 4,
                               kCreateUrr = 6, kCreateQer = 7, kCreatedPdr = 8, kUpdatePdr = 9,
                               kUpdateFar = 10, kUpdateForwarding = 11, kUpdateUrr = 13,
                               kUpdateQer = 14, kRemovePdr = 15, kRemoveFar = 16, kCause = 19,
                               kSourceInterface = 20, kFTeid = 21, kNetworkInstance = 22,
                               kSdfFilter = 23, kGateStatus = 25, kMbr = 26, kGbr = 27,
                               kPrecedence = 29, kVolumeThreshold = 31, kReportingTriggers = 37,
                               kReportType = 39, kOffendingIe = 40, kDestinationInterface = 42,
                               kApplyAction = 44, kSmReqFlags = 49, kPdrId = 56, kFSeid = 57,
                               kNodeId = 60, kMeasurementMethod = 62, kUsageReportTrigger = 63,
                               kMeasurementPeriod = 64, kVolumeMeasurement = 66, kVolumeQuota = 73,
                               kQueryUrr = 77, kReportInModification = 78, kReportInDeletion = 79,
                               kReportInReport = 80, kUrrId = 81, kDownlinkDataReport = 83,
                               kOuterHeaderCreation = 84, kCreateBar = 85, kBarId = 88,
                               kCpFeatures = 89, kUeIp = 93, kOuterHeaderRemoval = 95,
                               kRecoveryTimeStamp = 96, kErrorIndication = 99,
                               kMeasurementInformation = 100, kUrSeqn = 104, kFarId = 108,
                               kQerId = 109, kPdnType = 113, kFailedRuleId = 114, kQfi = 124,
                               kUserId = 141, kApnDnn = 159, kInterfaceType = 160,
                               kQuotaValidityTime = 181, kSeReqFlags = 186, kSNssai = 257;
}  // namespace ie

/// Header of a message to be written. Node messages have no SEID.
struct Header {
  std::uint8_t type{};
  std::uint32_t sequence{};
  std::optional<std::uint64_t> seid{};
  std::optional<std::uint8_t> priority{};
};

/// A message being written, front to back.
class Message {
 public:
  explicit Message(const Header& header);

  void put(std::uint16_t type, wire::Bytes value);
  void put(std::uint16_t type, std::initializer_list<std::uint8_t> value);
  void text(std::uint16_t type, std::string_view value);
  template <class U>
  void number(std::uint16_t type, U value) {
    out_.be(type);
    out_.be(static_cast<std::uint16_t>(sizeof value));
    out_.be(value);
  }
  /// A grouped IE, or one whose value is written in pieces: `fill` writes it.
  template <class F>
  void group(std::uint16_t type, const F& fill) {
    out_.be(type);
    const std::size_t length_at = out_.size();
    out_.be(std::uint16_t{0});
    fill();
    out_.patch_be16(length_at, static_cast<std::uint16_t>(out_.size() - length_at - 2));
  }
  /// For the values within group().
  [[nodiscard]] wire::Writer& raw() { return out_; }

  [[nodiscard]] wire::Octets finish() &&;

 private:
  wire::Writer out_{};
};

struct Ie {
  std::uint16_t type{};
  wire::Bytes value{};
};

/// The IEs of a group or of a message body, as far as they are whole.
[[nodiscard]] std::vector<Ie> ies(wire::Bytes group);
[[nodiscard]] std::optional<wire::Bytes> find(wire::Bytes group, std::uint16_t type);
/// The first `Width` octets of the IE as a number; nothing if it is absent or shorter.
template <class U>
[[nodiscard]] std::optional<U> number(wire::Bytes group, std::uint16_t type) {
  const auto value = find(group, type);
  if (!value || value->size() < sizeof(U)) return std::nullopt;
  return wire::Reader{*value}.be<U>();
}

/// A received message: its header and where its IEs are.
struct Received {
  Header header{};
  wire::Octets octets{};
  std::size_t body_at{};
  [[nodiscard]] wire::Bytes body() const { return wire::Bytes{octets}.subspan(body_at); }
};
[[nodiscard]] std::optional<Received> parse(wire::Bytes datagram);

}  // namespace upf::lab

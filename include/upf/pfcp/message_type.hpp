#pragma once

#include <cstdint>
#include <string>

namespace upf::pfcp {

/// TS 29.244 Table 7.3-1.
enum class MessageType : std::uint8_t {
  HeartbeatRequest = 1,
  HeartbeatResponse = 2,
  PfdManagementRequest = 3,
  PfdManagementResponse = 4,
  AssociationSetupRequest = 5,
  AssociationSetupResponse = 6,
  AssociationUpdateRequest = 7,
  AssociationUpdateResponse = 8,
  AssociationReleaseRequest = 9,
  AssociationReleaseResponse = 10,
  VersionNotSupportedResponse = 11,
  NodeReportRequest = 12,
  NodeReportResponse = 13,
  SessionSetDeletionRequest = 14,
  SessionSetDeletionResponse = 15,
  SessionSetModificationRequest = 16,
  SessionSetModificationResponse = 17,
  SessionEstablishmentRequest = 50,
  SessionEstablishmentResponse = 51,
  SessionModificationRequest = 52,
  SessionModificationResponse = 53,
  SessionDeletionRequest = 54,
  SessionDeletionResponse = 55,
  SessionReportRequest = 56,
  SessionReportResponse = 57,
};

/// Table 7.3-1: 1 to 49 are node related, 50 to 99 session related (their header has a SEID).
[[nodiscard]] constexpr bool is_session_message(MessageType type) {
  return static_cast<std::uint8_t>(type) >= 50 && static_cast<std::uint8_t>(type) <= 99;
}

/// Whether it answers another message. False for types that Table 7.3-1 does not list.
[[nodiscard]] bool is_response(MessageType type);

/// Whether Table 7.3-1 lists it.
[[nodiscard]] bool is_known(MessageType type);

/// What answers a request: HeartbeatRequest -> HeartbeatResponse. For a known request only.
[[nodiscard]] MessageType response_to(MessageType request);

/// "Heartbeat Request"; "message 200" for a type that is not listed.
[[nodiscard]] std::string to_string(MessageType type);

}  // namespace upf::pfcp

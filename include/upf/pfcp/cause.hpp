#pragma once

#include <cstdint>
#include <string>

namespace upf::pfcp {

/// TS 29.244 8.2.1. A received value that is not listed stays as it is.
enum class Cause : std::uint8_t {
  RequestAccepted = 1,
  MoreUsageReportToSend = 2,
  RequestPartiallyAccepted = 3,
  RequestRejected = 64,  ///< reason not specified
  SessionContextNotFound = 65,
  MandatoryIeMissing = 66,
  ConditionalIeMissing = 67,
  InvalidLength = 68,
  MandatoryIeIncorrect = 69,
  InvalidForwardingPolicy = 70,
  InvalidFTeidAllocationOption = 71,
  NoEstablishedPfcpAssociation = 72,
  RuleCreationModificationFailure = 73,
  PfcpEntityInCongestion = 74,
  NoResourcesAvailable = 75,
  ServiceNotSupported = 76,
  SystemFailure = 77,
  RedirectionRequested = 78,
  AllDynamicAddressesAreOccupied = 79,
  UnknownPredefinedRule = 80,
  UnknownApplicationId = 81,
  L2tpTunnelEstablishmentFailure = 82,
  L2tpSessionEstablishmentFailure = 83,
  L2tpTunnelRelease = 84,
  L2tpSessionRelease = 85,
  PfcpSessionRestorationFailure = 86,
};

/// Values 1 to 63 are an acceptance (8.2.1).
[[nodiscard]] constexpr bool is_acceptance(Cause cause) {
  return static_cast<std::uint8_t>(cause) >= 1 && static_cast<std::uint8_t>(cause) < 64;
}

/// "Mandatory IE missing"; "cause 200" for a value that is not listed.
[[nodiscard]] std::string to_string(Cause cause);

}  // namespace upf::pfcp

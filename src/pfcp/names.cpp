// Names of numbers: IE types, message types, causes.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "upf/base/assert.hpp"
#include "upf/pfcp/cause.hpp"
#include "upf/pfcp/ie_type.hpp"
#include "upf/pfcp/message_type.hpp"

namespace upf::pfcp {
namespace {

constexpr auto kExtendable = LengthKind::Extendable;
constexpr auto kFixed = LengthKind::Fixed;
constexpr auto kVariable = LengthKind::Variable;

/// In the order of the types, from 1 on without a gap.
constexpr IeTypeInfo kIes[] = {
#define IE(id, number, name, length, clause) {IeType::id, name, k##length, clause},
#include "upf/pfcp/ie_types.def"
#undef IE
};
static_assert(static_cast<std::size_t>(kIes[std::size(kIes) - 1].type) == std::size(kIes));

struct MessageName {
  MessageType type{};
  std::string_view name{};
};
constexpr MessageName kMessages[] = {
    {MessageType::HeartbeatRequest, "Heartbeat Request"},
    {MessageType::HeartbeatResponse, "Heartbeat Response"},
    {MessageType::PfdManagementRequest, "PFD Management Request"},
    {MessageType::PfdManagementResponse, "PFD Management Response"},
    {MessageType::AssociationSetupRequest, "Association Setup Request"},
    {MessageType::AssociationSetupResponse, "Association Setup Response"},
    {MessageType::AssociationUpdateRequest, "Association Update Request"},
    {MessageType::AssociationUpdateResponse, "Association Update Response"},
    {MessageType::AssociationReleaseRequest, "Association Release Request"},
    {MessageType::AssociationReleaseResponse, "Association Release Response"},
    {MessageType::VersionNotSupportedResponse, "Version Not Supported Response"},
    {MessageType::NodeReportRequest, "Node Report Request"},
    {MessageType::NodeReportResponse, "Node Report Response"},
    {MessageType::SessionSetDeletionRequest, "Session Set Deletion Request"},
    {MessageType::SessionSetDeletionResponse, "Session Set Deletion Response"},
    {MessageType::SessionSetModificationRequest, "Session Set Modification Request"},
    {MessageType::SessionSetModificationResponse, "Session Set Modification Response"},
    {MessageType::SessionEstablishmentRequest, "Session Establishment Request"},
    {MessageType::SessionEstablishmentResponse, "Session Establishment Response"},
    {MessageType::SessionModificationRequest, "Session Modification Request"},
    {MessageType::SessionModificationResponse, "Session Modification Response"},
    {MessageType::SessionDeletionRequest, "Session Deletion Request"},
    {MessageType::SessionDeletionResponse, "Session Deletion Response"},
    {MessageType::SessionReportRequest, "Session Report Request"},
    {MessageType::SessionReportResponse, "Session Report Response"},
};

const MessageName* find(MessageType type) {
  const auto* at = std::ranges::find(kMessages, type, &MessageName::type);
  return at != std::end(kMessages) ? at : nullptr;
}

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::RequestAccepted:
      return "Request accepted";
    case Cause::MoreUsageReportToSend:
      return "More usage report to send";
    case Cause::RequestPartiallyAccepted:
      return "Request partially accepted";
    case Cause::RequestRejected:
      return "Request rejected";
    case Cause::SessionContextNotFound:
      return "Session context not found";
    case Cause::MandatoryIeMissing:
      return "Mandatory IE missing";
    case Cause::ConditionalIeMissing:
      return "Conditional IE missing";
    case Cause::InvalidLength:
      return "Invalid length";
    case Cause::MandatoryIeIncorrect:
      return "Mandatory IE incorrect";
    case Cause::InvalidForwardingPolicy:
      return "Invalid forwarding policy";
    case Cause::InvalidFTeidAllocationOption:
      return "Invalid F-TEID allocation option";
    case Cause::NoEstablishedPfcpAssociation:
      return "No established PFCP association";
    case Cause::RuleCreationModificationFailure:
      return "Rule creation/modification failure";
    case Cause::PfcpEntityInCongestion:
      return "PFCP entity in congestion";
    case Cause::NoResourcesAvailable:
      return "No resources available";
    case Cause::ServiceNotSupported:
      return "Service not supported";
    case Cause::SystemFailure:
      return "System failure";
    case Cause::RedirectionRequested:
      return "Redirection requested";
    case Cause::AllDynamicAddressesAreOccupied:
      return "All dynamic addresses are occupied";
    case Cause::UnknownPredefinedRule:
      return "Unknown pre-defined rule";
    case Cause::UnknownApplicationId:
      return "Unknown Application ID";
    case Cause::L2tpTunnelEstablishmentFailure:
      return "L2TP tunnel establishment failure";
    case Cause::L2tpSessionEstablishmentFailure:
      return "L2TP session establishment failure";
    case Cause::L2tpTunnelRelease:
      return "L2TP tunnel release";
    case Cause::L2tpSessionRelease:
      return "L2TP session release";
    case Cause::PfcpSessionRestorationFailure:
      return "PFCP session restoration failure";
  }
  return {};
}

}  // namespace

const IeTypeInfo* info(IeType type) {
  const auto number = static_cast<std::size_t>(type);
  return number >= 1 && number <= std::size(kIes) ? &kIes[number - 1] : nullptr;
}

std::string to_string(IeType type) {
  const IeTypeInfo* known = info(type);
  return known != nullptr ? std::string{known->name}
                          : fmt::format("IE {}", static_cast<std::uint16_t>(type));
}

std::string to_string(MessageType type) {
  const MessageName* known = find(type);
  return known != nullptr ? std::string{known->name}
                          : fmt::format("message {}", static_cast<std::uint8_t>(type));
}

std::string to_string(Cause cause) {
  const std::string_view name = name_of(cause);
  return !name.empty() ? std::string{name}
                       : fmt::format("cause {}", static_cast<std::uint8_t>(cause));
}

bool is_known(MessageType type) { return find(type) != nullptr; }

bool is_response(MessageType type) {
  // Table 7.3-1 gives each request the number before its response. Version Not Supported Response
  // (11) has no request and shifts the node messages behind it to an even start.
  const auto number = static_cast<unsigned>(type);
  if (!is_known(type)) return false;
  if (type == MessageType::VersionNotSupportedResponse) return true;
  return is_session_message(type) || number > 11 ? number % 2 == 1 : number % 2 == 0;
}

MessageType response_to(MessageType request) {
  UPF_ASSERT(is_known(request) && !is_response(request));
  return static_cast<MessageType>(static_cast<std::uint8_t>(request) + 1);
}

}  // namespace upf::pfcp

// All messages. The IEs are reached from them: tests, fuzzing and the coverage page walk the
// tables.

#include <algorithm>
#include <array>

#include "src/pfcp/defs.hpp"
#include "upf/pfcp/messages/node.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace upf::pfcp {
namespace {

constexpr const MessageDef* kMessages[] = {
    &HeartbeatRequest::def,
    &HeartbeatResponse::def,
    &PfdManagementRequest::def,
    &PfdManagementResponse::def,
    &AssociationSetupRequest::def,
    &AssociationSetupResponse::def,
    &AssociationUpdateRequest::def,
    &AssociationUpdateResponse::def,
    &AssociationReleaseRequest::def,
    &AssociationReleaseResponse::def,
    &VersionNotSupportedResponse::def,
    &NodeReportRequest::def,
    &NodeReportResponse::def,
    &SessionSetDeletionRequest::def,
    &SessionSetDeletionResponse::def,
    &SessionSetModificationRequest::def,
    &SessionSetModificationResponse::def,
    &SessionEstablishmentRequest::def,
    &SessionEstablishmentResponse::def,
    &SessionModificationRequest::def,
    &SessionModificationResponse::def,
    &SessionDeletionRequest::def,
    &SessionDeletionResponse::def,
    &SessionReportRequest::def,
    &SessionReportResponse::def,
};

}  // namespace

std::span<const MessageDef* const> all_messages() { return kMessages; }

const MessageDef* find_message(MessageType type) {
  const auto* at =
      std::ranges::find(kMessages, type, [](const MessageDef* def) { return def->type; });
  return at != std::end(kMessages) ? *at : nullptr;
}

}  // namespace upf::pfcp

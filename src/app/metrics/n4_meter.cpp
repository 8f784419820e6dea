#include "src/app/metrics/n4_meter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace upf::app::metrics {
namespace {

// IE types of TS 29.244 Table 8.1.2-1 that the meter looks for.
constexpr std::uint16_t kCause = 19;
constexpr std::uint16_t kReportType = 39;
constexpr std::uint16_t kUsageReportTrigger = 63;
constexpr std::uint16_t kUsageReportModification = 78;
constexpr std::uint16_t kUsageReportDeletion = 79;
constexpr std::uint16_t kUsageReportRequest = 80;

/// Calls back with each IE of a body until it ends or makes no sense.
template <class Visitor>
void for_each_ie(wire::Bytes body, const Visitor& visit) {
  wire::Reader in{body};
  while (!in.empty()) {
    const auto type = in.be<std::uint16_t>();
    const auto length = in.be<std::uint16_t>();
    const wire::Bytes value = in.take(length);
    if (in.failed()) return;
    visit(type, value);
  }
}

std::string label_from(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  });
  return text;
}

/// Usage Report Trigger, TS 29.244 8.2.41: octets 5 to 7, bit 1 first.
constexpr std::string_view kTriggers[] = {"periodic",        "volume_threshold",
                                          "time_threshold",  "quota_holding_time",
                                          "start",           "stop",
                                          "dropped",         "immediate",
                                          "volume_quota",    "time_quota",
                                          "linked_usage",    "termination",
                                          "monitoring_time", "envelope_closure",
                                          "mac_addresses",   "event_threshold",
                                          "event_quota",     "termination_by_up",
                                          "ip_multicast",    "quota_validity_time",
                                          "end_marker"};

bool is_set(std::uint8_t octet, std::size_t bit) { return (unsigned{octet} >> bit & 1U) != 0; }

std::string_view trigger_of(wire::Bytes value) {
  for (std::size_t bit = 0; bit < std::size(kTriggers); ++bit) {
    if (bit / 8 < value.size() && is_set(value[bit / 8], bit % 8)) return kTriggers[bit];
  }
  return "none";
}

/// Report Type, 8.2.21, bit 1 first.
constexpr std::string_view kReports[] = {"downlink_data", "usage", "error_indication",
                                         "inactivity"};

std::string_view text_of(Direction direction) { return direction == Direction::In ? "in" : "out"; }

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string label_of(pfcp::MessageType type) { return label_from(pfcp::to_string(type)); }
std::string label_of(pfcp::Cause cause) { return label_from(pfcp::to_string(cause)); }

N4Meter::Counts& N4Meter::counts_of(const IpAddress& peer) {
  const auto known = peers_.find(peer);
  return known == peers_.end() ? others_ : known->second;
}

void N4Meter::on_datagram(Direction direction, const SocketAddress& peer, wire::Bytes datagram) {
  octets_[static_cast<std::size_t>(direction)] += datagram.size();
  (direction == Direction::In ? totals_.received : totals_.sent) += 1;
  // The header of TS 29.244 7.2.2.
  wire::Reader in{datagram};
  const auto flags = in.be<std::uint8_t>();
  const auto type = static_cast<Type>(in.be<std::uint8_t>());
  [[maybe_unused]] const auto length = in.be<std::uint16_t>();
  [[maybe_unused]] const auto seid_and_sequence = in.take((flags & 1U) != 0 ? 12 : 4);
  if (in.failed() || flags >> 5U != 1) {
    ++malformed_;
    return;
  }
  if (pfcp::is_response(type)) on_answer(direction, peer, type, in.rest());
  ++counts_of(peer.ip).messages.at(
      static_cast<std::size_t>(direction))[static_cast<std::uint8_t>(type)];
  if (direction == Direction::Out) count_reports(type, in.rest());
}

void N4Meter::on_answer(Direction direction, const SocketAddress& peer, Type type,
                        wire::Bytes body) {
  std::optional<pfcp::Cause> cause;
  for_each_ie(body, [&](std::uint16_t ie, wire::Bytes value) {
    if (ie == kCause && value.size() == 1) cause = static_cast<pfcp::Cause>(value[0]);
  });
  if (!cause) return;
  if (type == Type::AssociationSetupResponse && pfcp::is_acceptance(*cause) &&
      peers_.size() < kPeers) {
    peers_.try_emplace(peer.ip);
  }
  ++counts_of(peer.ip).answers[{direction, type, *cause}];
  if (direction == Direction::Out && !pfcp::is_acceptance(*cause)) ++totals_.refused;
}

void N4Meter::count_reports(Type type, wire::Bytes body) {
  if (type != Type::SessionReportRequest && type != Type::SessionModificationResponse &&
      type != Type::SessionDeletionResponse) {
    return;
  }
  for_each_ie(body, [&](std::uint16_t ie, wire::Bytes value) {
    if (ie == kReportType && !value.empty()) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if (!is_set(value[0], bit)) continue;
        ++reports_[bit < std::size(kReports) ? kReports[bit] : "other"];
      }
    }
    if (ie < kUsageReportModification || ie > kUsageReportRequest) return;
    static_assert(kUsageReportDeletion == kUsageReportModification + 1);
    for_each_ie(value, [&](std::uint16_t inner, wire::Bytes trigger) {
      if (inner == kUsageReportTrigger) ++usage_[trigger_of(trigger)];
    });
  });
}

void N4Meter::on_served(const control::Served& served, WallTime at) {
  if (served.refusal) {
    refusals_.push_front(
        {at, served.peer, served.type, served.peer_seid.value_or(Seid{}), *served.refusal});
    if (refusals_.size() > kRefusals) refusals_.pop_back();
  }
  if (!pfcp::is_known(served.type)) return;  // a peer could make up 256 of them
  auto& of_type = timings_[static_cast<std::uint8_t>(served.type)];
  if (!of_type) of_type = std::make_unique<Timing>();
  Timing& timing = *of_type;
  timing.decode.observe(seconds(served.decode));
  timing.plan.observe(seconds(served.plan));
  timing.plane.observe(seconds(served.plane));
  timing.answer.observe(seconds(served.answer));
  timing.total.observe(seconds(served.decode + served.plan + served.plane + served.answer));
}

void N4Meter::expose_peer(Exposition& to, const std::string& name, const Counts& counts) {
  for (const Direction direction : {Direction::In, Direction::Out}) {
    const auto& of_types = counts.messages.at(static_cast<std::size_t>(direction));
    for (std::size_t type = 0; type < of_types.size(); ++type) {
      if (of_types[type] == 0) continue;
      to.add("kupf_pfcp_messages_total",
             {{"direction", std::string{text_of(direction)}},
              {"type", label_of(static_cast<Type>(type))},
              {"peer", name}},
             static_cast<double>(of_types[type]));
    }
  }
  for (const auto& [key, count] : counts.answers) {
    const auto& [direction, type, cause] = key;
    to.add("kupf_pfcp_answers_total",
           {{"direction", std::string{text_of(direction)}},
            {"type", label_of(type)},
            {"cause", label_of(cause)},
            {"peer", name}},
           static_cast<double>(count));
  }
}

void N4Meter::expose(Exposition& to) const {
  expose_peer(to, "other", others_);
  for (const auto& [peer, counts] : peers_) expose_peer(to, to_string(peer), counts);
  for (const Direction direction : {Direction::In, Direction::Out}) {
    to.add("kupf_pfcp_bytes_total", {{"direction", std::string{text_of(direction)}}},
           static_cast<double>(octets_[static_cast<std::size_t>(direction)]));
  }
  to.add("kupf_pfcp_malformed_total", static_cast<double>(malformed_));
  to.add("kupf_pfcp_send_failures_total", static_cast<double>(send_failures_));
  for (const auto& [kind, count] : reports_) {
    to.add("kupf_session_reports_total", {{"kind", std::string{kind}}}, static_cast<double>(count));
  }
  for (const auto& [trigger, count] : usage_) {
    to.add("kupf_usage_reports_total", {{"trigger", std::string{trigger}}},
           static_cast<double>(count));
  }
  for (std::size_t type = 0; type < timings_.size(); ++type) {
    const Timing* const timing = timings_[type].get();
    if (timing == nullptr) continue;
    for (const auto& [stage, histogram] :
         {std::pair{"decode", &timing->decode}, std::pair{"plan", &timing->plan},
          std::pair{"plane", &timing->plane}, std::pair{"answer", &timing->answer},
          std::pair{"total", &timing->total}}) {
      to.add("kupf_pfcp_request_duration_seconds",
             {{"type", label_of(static_cast<Type>(type))}, {"stage", stage}}, *histogram);
    }
  }
}

}  // namespace upf::app::metrics

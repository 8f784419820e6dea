#include "counters.hpp"

namespace upf::userplane {

std::string_view to_string(Drop reason) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Drop::Count_)> kNames{
      "malformed",      "not_ip",
      "unknown_teid",   "unknown_address",
      "no_rule",        "gate",
      "quota",          "rate",
      "rule",           "no_way_out",
      "buffer_full",    "buffer_dropped",
      "not_understood", "unknown_message",
      "to_self",        "send_error"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view to_string(Tally tally) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Tally::Count_)> kNames{
      "uplink_packets",
      "uplink_octets",
      "downlink_packets",
      "downlink_octets",
      "buffered_packets",
      "echo_requests_received",
      "echo_responses_received",
      "error_indications_sent",
      "error_indications_received",
      "end_markers_sent",
      "end_markers_forwarded",
      "bad_inner_checksums",
      "receive_calls",
      "receive_messages",
      "received_packets",
      "n6_messages",
      "n6_packets",
      "send_calls",
      "sent_singly",
      "glued_packets"};
  return kNames[static_cast<std::size_t>(tally)];
}

}  // namespace upf::userplane

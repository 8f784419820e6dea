#include "src/app/metrics/exposition.hpp"

// Every metric. Names follow Prometheus's conventions: base units, _total for counters. A plane's
// own counters (DataPlane::counters()) come as kupf_plane_count_total; those that dashboards need
// have a family of their own below and a row in plane_counters.cpp.
namespace upf::app::metrics {
namespace {

constexpr Family kCatalog[] = {
    {"kupf_build_info", Kind::Gauge, "version, forwarder, node_id", "Always 1; what is running."},
    {"kupf_ready", Kind::Gauge, "",
     "1 while new sessions are taken, 0 while draining or while the data plane is out of order."},

    {"kupf_pfcp_messages_total", Kind::Counter, "direction, type, peer",
     "PFCP messages. peer is the address of an SMF that is or was associated, else \"other\"."},
    {"kupf_pfcp_octets_total", Kind::Counter, "direction", "Octets of PFCP datagrams."},
    {"kupf_pfcp_malformed_total", Kind::Counter, "",
     "Datagrams on N4 that aren't a PFCP message of version 1."},
    {"kupf_pfcp_answers_total", Kind::Counter, "direction, type, cause, peer",
     "PFCP answers by cause (TS 29.244 8.2.1); direction out: ours."},
    {"kupf_pfcp_send_failures_total", Kind::Counter, "",
     "Datagrams that the kernel didn't take (no route, no buffer)."},
    {"kupf_pfcp_request_duration_seconds", Kind::Histogram, "type, stage",
     "From the datagram to its answer. Stages: decode, plan (what the request means), plane (rules "
     "installed), answer (usage, encoding, state), total."},
    {"kupf_pfcp_discarded_total", Kind::Counter, "reason",
     "Datagrams on N4 that got no service: malformed, unknown_type, unsupported_version, "
     "stray_response, not_allowed (pfcp.allow), stranger_over_rate (pfcp.limits)."},
    {"kupf_pfcp_repeated_requests_total", Kind::Counter, "outcome",
     "Requests that came again: answered from memory, or dropped while the first is served."},
    {"kupf_pfcp_retransmissions_total", Kind::Counter, "", "Own requests that were sent again."},
    {"kupf_pfcp_unanswered_requests_total", Kind::Counter, "",
     "Own requests that were given up after all retransmissions."},
    {"kupf_pfcp_receive_queue_ratio", Kind::Gauge, "",
     "How full the receive buffer of N4's socket is, 0 to 1."},
    {"kupf_pfcp_receive_overruns_total", Kind::Counter, "",
     "Datagrams that the kernel dropped because that buffer was full."},
    {"kupf_load_ratio", Kind::Gauge, "",
     "What SMFs are told as load, 0 to 1: the most of the share of time that N4 was served, of the "
     "sessions that are allowed, and of the receive queue."},
    {"kupf_overload_reduction_ratio", Kind::Gauge, "",
     "Share of new sessions that is refused with cause 74 and that SMFs are asked to hold back."},
    {"kupf_pfcp_count_total", Kind::Counter, "name, label",
     "What the PFCP core counts besides; names are its own."},
    {"kupf_sessions_with_unsent_reports", Kind::Gauge, "",
     "Sessions with reports that their SMF has not acknowledged."},
    {"kupf_unacknowledged_usage_reports", Kind::Gauge, "",
     "Usage reports that their SMF has not acknowledged: waiting, or under way."},
    {"kupf_session_reports_total", Kind::Counter, "kind",
     "Session Report Requests sent, by report type: downlink_data, usage, error_indication, "
     "inactivity, other."},
    {"kupf_usage_reports_total", Kind::Counter, "trigger",
     "Usage reports sent, by Usage Report Trigger (TS 29.244 8.2.41)."},

    {"kupf_associations", Kind::Gauge, "", "SMFs associated."},
    {"kupf_association_up", Kind::Gauge, "peer, node_id", "1 if the SMF answers heartbeats."},
    {"kupf_association_sessions", Kind::Gauge, "peer, node_id", "Sessions of the SMF."},
    {"kupf_association_start_time_seconds", Kind::Gauge, "peer, node_id",
     "Since when the association stands."},
    {"kupf_sessions", Kind::Gauge, "", "Sessions in the data plane."},
    {"kupf_network_sessions", Kind::Gauge, "network",
     "Sessions by the network instance of their way to the data network."},
    {"kupf_sessions_established_total", Kind::Counter, "", "Sessions that began."},
    {"kupf_sessions_ended_total", Kind::Counter, "", "Sessions that ended."},
    {"kupf_rules", Kind::Gauge, "kind", "Rules in the data plane: pdr, far, qer, urr, bar."},

    {"kupf_gtpu_packets_total", Kind::Counter, "direction", "User packets forwarded."},
    {"kupf_gtpu_octets_total", Kind::Counter, "direction", "Octets of user packets forwarded."},
    {"kupf_gtpu_drops_total", Kind::Counter, "reason", "User packets not forwarded."},
    {"kupf_interface_packets_total", Kind::Counter, "interface, role, direction",
     "Packets of the devices of N3, N9 and N6, as the kernel counts them: all traffic, not only "
     "GTP-U."},
    {"kupf_interface_octets_total", Kind::Counter, "interface, role, direction",
     "Octets of these."},
    {"kupf_interface_drops_total", Kind::Counter, "interface, role, direction",
     "Packets that the kernel dropped at these devices."},
    {"kupf_waiting_packets", Kind::Gauge, "", "Downlink packets that wait for an idle UE."},
    {"kupf_waiting_octets", Kind::Gauge, "", "Octets of these."},
    {"kupf_buffered_packets_total", Kind::Counter, "what",
     "Packets that were buffered (userspace), and that were sent from the buffer (gtp5g)."},
    {"kupf_end_markers_total", Kind::Counter, "what",
     "End Markers sent at handovers, and forwarded between tunnels."},
    {"kupf_error_indications_total", Kind::Counter, "direction",
     "GTP-U Error Indications received and sent (TS 29.281 7.3.1)."},
    {"kupf_echo_messages_total", Kind::Counter, "type",
     "GTP-U Echo Requests and Responses received."},
    {"kupf_gtpu_paths", Kind::Gauge, "state", "GTP-U peers in use, by whether they answer."},
    {"kupf_gtpu_path_up", Kind::Gauge, "peer",
     "1 while the GTP-U peer answers Echo Requests; the first 256 peers."},
    {"kupf_gtpu_path_tunnels", Kind::Gauge, "peer", "FARs that send to the peer."},
    {"kupf_gtpu_path_round_trip_seconds", Kind::Gauge, "peer",
     "Of the last Echo Request that was answered."},
    {"kupf_kernel_requests_total", Kind::Counter, "", "Requests to the kernel module (gtp5g)."},
    {"kupf_kernel_errors_total", Kind::Counter, "what",
     "gtp5g: refused by the kernel, held_back because they would harm it, changes undone, event "
     "queue overruns (event_overrun), events that made no sense (strange_event)."},
    {"kupf_drift_total", Kind::Counter, "kind",
     "Rules that audits found wrong: missing, different, foreign (nobody asked for them)."},
    {"kupf_plane_count_total", Kind::Counter, "name, label",
     "What the data plane counts besides; names are its own."},
    {"kupf_plane_calls_total", Kind::Counter, "call, outcome",
     "Calls into the data plane; outcome: ok, unsupported, no_resources, refused, unavailable."},
    {"kupf_plane_call_duration_seconds", Kind::Histogram, "call",
     "How long the data plane took for a change (gtp5g: the kernel)."},
    {"kupf_plane_events_total", Kind::Counter, "kind",
     "Events of the data plane: downlink_data, limit_notify, limit_block, limit_dropped, "
     "traffic_start, error_indication, path_down, path_up, overrun."},
    {"kupf_audit_passes_total", Kind::Counter, "outcome",
     "Audits that compared what the data plane holds with what it was given; outcome: done, failed "
     "(ended early)."},
    {"kupf_audit_rules_total", Kind::Counter, "", "Rules that audits read back."},
    {"kupf_audit_repaired_total", Kind::Counter, "", "Rules that audits put right."},

    {"process_cpu_seconds_total", Kind::Counter, "", "CPU time used."},
    {"process_resident_memory_bytes", Kind::Gauge, "", "Resident memory."},
    {"process_virtual_memory_bytes", Kind::Gauge, "", "Virtual memory."},
    {"process_open_fds", Kind::Gauge, "", "Open file descriptors."},
    {"process_max_fds", Kind::Gauge, "", "How many there may be."},
    {"process_start_time_seconds", Kind::Gauge, "", "When the process began, Unix time."},
    {"process_threads", Kind::Gauge, "", "Threads."},
};

}  // namespace

std::span<const Family> catalog() { return kCatalog; }

}  // namespace upf::app::metrics

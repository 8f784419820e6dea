#include "src/app/metrics/exposition.hpp"

// Every metric. Names follow Prometheus's conventions: base units, _total for counters. A plane's
// own counters (DataPlane::counters()) come as kupf_plane_count_total; those that dashboards need
// have a family of their own below and a row in src/app/ops/metrics_text.cpp.
namespace upf::app::metrics {
namespace {

constexpr Family kCatalog[] = {
    {"kupf_build_info", Kind::Gauge, "", "version, forwarder, node_id",
     "Always 1; what is running."},
    {"kupf_ready", Kind::Gauge, "0 or 1", "",
     "1 while new sessions are taken, 0 while draining or while the data plane is out of order."},

    {"kupf_pfcp_messages_total", Kind::Counter, "messages", "direction, type, peer",
     "PFCP messages. peer is the address of an SMF that is or was associated, else \"other\"."},
    {"kupf_pfcp_bytes_total", Kind::Counter, "bytes", "direction",
     "Bytes of PFCP datagrams, without UDP and IP headers."},
    {"kupf_pfcp_malformed_total", Kind::Counter, "datagrams", "",
     "Datagrams on N4 that aren't a PFCP message of version 1."},
    {"kupf_pfcp_answers_total", Kind::Counter, "messages", "direction, type, cause, peer",
     "PFCP answers by cause (TS 29.244 8.2.1); direction out: ours."},
    {"kupf_pfcp_send_failures_total", Kind::Counter, "datagrams", "",
     "Datagrams that the kernel didn't take (no route, no buffer)."},
    {"kupf_pfcp_request_duration_seconds", Kind::Histogram, "seconds", "type, stage",
     "From the datagram to its answer. Stages: decode, plan (what the request means), plane (rules "
     "installed), answer (usage, encoding, state), total."},
    {"kupf_pfcp_discarded_total", Kind::Counter, "datagrams", "reason",
     "Datagrams on N4 that got no service: malformed, unknown_type, unsupported_version, "
     "stray_response, not_allowed (pfcp.allow), stranger_over_rate (pfcp.limits)."},
    {"kupf_pfcp_repeated_requests_total", Kind::Counter, "messages", "outcome",
     "Requests that came again: answered from memory, or dropped while the first is served."},
    {"kupf_pfcp_retransmissions_total", Kind::Counter, "messages", "",
     "Own requests that were sent again."},
    {"kupf_pfcp_unanswered_requests_total", Kind::Counter, "messages", "",
     "Own requests that were given up after all retransmissions."},
    {"kupf_pfcp_receive_queue_ratio", Kind::Gauge, "ratio", "",
     "How full the receive buffer of N4's socket is, 0 to 1."},
    {"kupf_pfcp_receive_overruns_total", Kind::Counter, "datagrams", "",
     "Datagrams that the kernel dropped because that buffer was full."},
    {"kupf_load_ratio", Kind::Gauge, "ratio", "",
     "What SMFs are told as load, 0 to 1: the most of the share of time that N4 was served, of the "
     "sessions that are allowed, and of the receive queue."},
    {"kupf_overload_reduction_ratio", Kind::Gauge, "ratio", "",
     "Share of new sessions that is refused with cause 74 and that SMFs are asked to hold back."},
    {"kupf_pfcp_count_total", Kind::Counter, "see name", "name, label",
     "What the PFCP core counts besides; names are its own."},
    {"kupf_sessions_with_unsent_reports", Kind::Gauge, "sessions", "",
     "Sessions with reports that their SMF has not acknowledged."},
    {"kupf_unacknowledged_usage_reports", Kind::Gauge, "reports", "",
     "Usage reports that their SMF has not acknowledged: waiting, or under way."},
    {"kupf_session_reports_total", Kind::Counter, "messages", "kind",
     "Session Report Requests sent, by report type: downlink_data, usage, error_indication, "
     "inactivity, other."},
    {"kupf_usage_reports_total", Kind::Counter, "reports", "trigger",
     "Usage reports sent, by Usage Report Trigger (TS 29.244 8.2.41)."},

    {"kupf_associations", Kind::Gauge, "associations", "", "SMFs associated."},
    {"kupf_association_up", Kind::Gauge, "0 or 1", "peer, node_id",
     "1 if the SMF answers heartbeats."},
    {"kupf_association_sessions", Kind::Gauge, "sessions", "peer, node_id", "Sessions of the SMF."},
    {"kupf_association_start_time_seconds", Kind::Gauge, "seconds", "peer, node_id",
     "Since when the association stands, Unix time."},
    {"kupf_sessions", Kind::Gauge, "sessions", "", "Sessions in the data plane."},
    {"kupf_dnn_sessions", Kind::Gauge, "sessions", "peer, dnn",
     "Sessions by SMF and DNN: the APN/DNN that the SMF gave, else the Network Instance of the way "
     "to the data network. The first 64 of each, those of dnnList first, the rest as \"other\"."},
    {"kupf_sessions_established_total", Kind::Counter, "sessions", "", "Sessions that began."},
    {"kupf_sessions_ended_total", Kind::Counter, "sessions", "", "Sessions that ended."},
    {"kupf_rules", Kind::Gauge, "rules", "kind",
     "Rules in the data plane: pdr, far, qer, urr, bar."},

    {"kupf_gtpu_packets_total", Kind::Counter, "packets", "direction", "User packets forwarded."},
    {"kupf_gtpu_bytes_total", Kind::Counter, "bytes", "direction",
     "Bytes of user packets forwarded."},
    {"kupf_gtpu_drops_total", Kind::Counter, "packets", "reason",
     "User packets not forwarded. gtp5g: those of the daemon only; the module's own are partly in "
     "kupf_interface_errors_total."},
    {"kupf_interface_packets_total", Kind::Counter, "packets", "interface, role, direction",
     "Packets of the devices of N3, N9 and N6, as the kernel counts them: all traffic, not only "
     "GTP-U."},
    {"kupf_interface_bytes_total", Kind::Counter, "bytes", "interface, role, direction",
     "Bytes of these."},
    {"kupf_interface_drops_total", Kind::Counter, "packets", "interface, role, direction",
     "Packets that the kernel dropped at these devices."},
    {"kupf_interface_errors_total", Kind::Counter, "packets", "interface, role, direction",
     "Packets that these devices couldn't receive or send; direction out of gtp5g's link: downlink "
     "packets that the module dropped."},
    {"kupf_waiting_packets", Kind::Gauge, "packets", "",
     "Downlink packets that wait for an idle UE."},
    {"kupf_waiting_bytes", Kind::Gauge, "bytes", "", "Bytes of these."},
    {"kupf_buffered_packets_total", Kind::Counter, "packets", "what",
     "Packets that were buffered (userspace), and that were sent from the buffer (gtp5g)."},
    {"kupf_end_markers_total", Kind::Counter, "messages", "what",
     "End Markers sent at handovers, and forwarded between tunnels."},
    {"kupf_error_indications_total", Kind::Counter, "messages", "direction",
     "GTP-U Error Indications received and sent (TS 29.281 7.3.1)."},
    {"kupf_echo_messages_total", Kind::Counter, "messages", "type",
     "GTP-U Echo Requests and Responses received; on gtp5g without the requests that the module "
     "answers."},
    {"kupf_gtpu_paths", Kind::Gauge, "peers", "state",
     "GTP-U peers in use, by whether they answer."},
    {"kupf_gtpu_path_up", Kind::Gauge, "0 or 1", "peer",
     "1 while the GTP-U peer answers Echo Requests; the first 256 peers."},
    {"kupf_gtpu_path_tunnels", Kind::Gauge, "FARs", "peer", "FARs that send to the peer."},
    {"kupf_gtpu_path_round_trip_seconds", Kind::Gauge, "seconds", "peer",
     "Of the last Echo Request that was answered."},
    {"kupf_kernel_requests_total", Kind::Counter, "requests", "",
     "Requests to the kernel module (gtp5g)."},
    {"kupf_kernel_errors_total", Kind::Counter, "errors", "what",
     "gtp5g: refused by the kernel, held_back because they would harm it, changes undone, event "
     "queue overruns (event_overrun), events that made no sense (strange_event)."},
    {"kupf_drift_total", Kind::Counter, "rules", "kind",
     "Rules that audits found wrong: missing, different, foreign (nobody asked for them)."},
    {"kupf_plane_count_total", Kind::Counter, "see name", "name, label",
     "What the data plane counts besides; names are its own."},
    {"kupf_plane_calls_total", Kind::Counter, "calls", "call, outcome",
     "Calls into the data plane; outcome: ok, unsupported, no_resources, refused, unavailable."},
    {"kupf_plane_call_duration_seconds", Kind::Histogram, "seconds", "call",
     "How long the data plane took for a change (gtp5g: the kernel)."},
    {"kupf_plane_events_total", Kind::Counter, "events", "kind",
     "Events of the data plane: downlink_data, limit_notify, limit_block, limit_dropped, "
     "traffic_start, error_indication, path_down, path_up, overrun."},
    {"kupf_audit_passes_total", Kind::Counter, "audits", "outcome",
     "Audits that compared what the data plane holds with what it was given; outcome: done, failed "
     "(ended early)."},
    {"kupf_audit_rules_total", Kind::Counter, "rules", "", "Rules that audits read back."},
    {"kupf_audit_repaired_total", Kind::Counter, "rules", "", "Rules that audits put right."},

    {"process_cpu_seconds_total", Kind::Counter, "seconds", "", "CPU time used."},
    {"process_resident_memory_bytes", Kind::Gauge, "bytes", "", "Resident memory."},
    {"process_virtual_memory_bytes", Kind::Gauge, "bytes", "", "Virtual memory."},
    {"process_open_fds", Kind::Gauge, "descriptors", "", "Open file descriptors."},
    {"process_max_fds", Kind::Gauge, "descriptors", "", "How many there may be."},
    {"process_start_time_seconds", Kind::Gauge, "seconds", "",
     "When the process began, Unix time."},
    {"process_threads", Kind::Gauge, "threads", "", "Threads."},
};

}  // namespace

std::span<const Family> catalog() { return kCatalog; }

}  // namespace upf::app::metrics

#include "src/config/kinds.hpp"
#include "src/config/row.hpp"

// The one place where a key is defined: add a member in config.hpp and a row here; the loader, the
// table in configs/README.md (checked by a test), `--check` and reload follow.
namespace upf::config {
namespace {

using U8 = NumberKind<std::uint8_t, 0, 255>;
using Limit = NumberKind<std::uint32_t, 1, 100'000'000>;
using Time = DurationKind<false>;
using TimeOrOff = DurationKind<true>;

constexpr Mark kRequired{.need = Need::Required};
constexpr Mark kRestart{};
constexpr Mark kLive{.effect = Effect::Live};
constexpr Mark kOurs{.ours = true};
constexpr Mark kOursLive{.effect = Effect::Live, .ours = true};

constexpr Row kHeartbeat[] = {
    scalar<&Heartbeat::interval, TimeOrOff>(
        "interval", kOursLive,
        "How often each associated SMF is sent a Heartbeat Request; 0 sends none."),
    scalar<&Heartbeat::purge_after, TimeOrOff>(
        "purgeAfter", kOursLive,
        "How long after the first lost heartbeat a silent SMF's sessions are kept; 0 keeps them "
        "until it returns."),
};

constexpr Row kPfcpLimits[] = {
    scalar<&PfcpLimits::associations, Limit>("associations", kOursLive, "SMFs associated at once."),
    scalar<&PfcpLimits::sessions, Limit>("sessions", kOursLive, "Sessions of all SMFs."),
    scalar<&PfcpLimits::sessions_per_peer, Limit>("sessionsPerPeer", kOursLive,
                                                  "Sessions of one SMF."),
    scalar<&PfcpLimits::rules_per_session, Limit>(
        "rulesPerSession", kOursLive, "PDRs of a session, and as many FARs, QERs and URRs."),
    scalar<&PfcpLimits::requests_per_second, Limit>(
        "requestsPerSecond", kOursLive, "Requests a second from addresses without association."),
};

constexpr Row kPfcp[] = {
    scalar<&Pfcp::addr, HostKind>(
        "addr", kRequired, "Where N4 listens (port 8805). A name is resolved once at start."),
    scalar<&Pfcp::node_id, HostKind>(
        "nodeID", kRequired,
        "The Node ID of this UPF, as text: an address or an FQDN. It must be what the SMF has."),
    scalar<&Pfcp::advertise, AddressKind>(
        "advertise", kOurs,
        "The address in the UP F-SEID, where SMFs don't reach `addr` (NAT, or `addr: 0.0.0.0`)."),
    scalar<&Pfcp::retrans_timeout, Time>("retransTimeout", kLive,
                                         "T1: how long an answer to our own request is awaited."),
    scalar<&Pfcp::max_retrans, U8>("maxRetrans", kLive, "N1: how often a request is sent again."),
    list<&Pfcp::peers, HostKind>(
        "peers", kOursLive,
        "SMFs with which this UPF sets up the association by itself. Names "
        "are looked up at start; a reload takes new SMFs by address."),
    list<&Pfcp::allow, PrefixKind<true>>(
        "allow", kOursLive,
        "Who may speak N4 with this UPF; all others are ignored. Empty: anyone."),
    section<&Pfcp::heartbeat>("heartbeat", kOurs, "Heartbeats that this UPF sends.", kHeartbeat),
    section<&Pfcp::limits>("limits", kOurs, "What SMFs may make this UPF keep.", kPfcpLimits),
};

constexpr Row kInterface[] = {
    scalar<&Interface::addr, HostKind>("addr", kRequired, "Where GTP-U arrives (port 2152)."),
    scalar<&Interface::type, WordKind<InterfaceTypeWords>>("type", kRequired,
                                                           "What the address is for."),
    scalar<&Interface::name, TextKind>("name", kRestart, "A name for people; not used."),
    scalar<&Interface::ifname, DeviceKind>(
        "ifname", kRestart,
        "The device that has `addr`. Checked at start (a warning says if it hasn't)."),
    scalar<&Interface::mtu, MtuKind>(
        "mtu", kRestart,
        "MTU of the device towards the data network; the first entry's counts. 0: the MTU of N3's "
        "device less 44, so that no packet to the gNB is fragmented."),
    scalar<&Interface::advertise, AddressKind>(
        "advertise", kOurs,
        "The address in F-TEIDs of this entry, where gNBs don't reach `addr` (NAT, Kubernetes)."),
    scalar<&Interface::network_instance, TextKind>(
        "networkInstance", kOurs, "The Network Instance that this entry serves; empty: any."),
    scalar<&Interface::bind_to, DeviceKind>(
        "bindTo", kOurs,
        "Network device or VRF that GTP-U of this entry is bound to (SO_BINDTODEVICE): nothing "
        "arrives or leaves elsewhere. Forwarder userspace only."),
};

constexpr Row kAudit[] = {
    scalar<&Audit::interval, TimeOrOff>(
        "interval", kOursLive,
        "Time between two passes over all sessions, each slow (80 sessions a second); 0: none. "
        "Absent: 10m with gtp5g, 0 with userspace."),
    scalar<&Audit::repair, BoolKind>(
        "repair", kOursLive,
        "Make anew what differs, and remove what nobody asked for. false: it is only reported."),
};

constexpr Row kEcho[] = {
    scalar<&Echo::interval, TimeOrOff>(
        "interval", kOurs,
        "How often each GTP-U peer in use is sent an Echo Request; 0 sends none."),
    scalar<&Echo::timeout, Time>("timeout", kOurs, "T3-RESPONSE of TS 29.281."),
    scalar<&Echo::retries, U8>(
        "retries", kOurs,
        "N3-REQUESTS: asked in vain so often in a row, a peer is down (0 counts as 1)."),
};

constexpr Row kBuffering[] = {
    scalar<&Buffering::packets, Limit>("packets", kOurs, "Downlink packets kept for a session."),
    scalar<&Buffering::bytes, SizeKind>("bytes", kOurs, "Octets kept for a session."),
    scalar<&Buffering::total_bytes, SizeKind>("totalBytes", kOurs, "Octets kept for all sessions."),
    scalar<&Buffering::drop, WordKind<DropWords>>("drop", kOurs,
                                                  "Which packet goes when a buffer is full."),
};

constexpr Row kGtpu[] = {
    scalar<&Gtpu::forwarder, WordKind<ForwarderWords>>(
        "forwarder", kRequired,
        "Who forwards packets: the kernel module gtp5g, or kupf itself in user space."),
    sections<&Gtpu::if_list>("ifList", kRequired, "The addresses of N3 and N9.", kInterface),
    scalar<&Gtpu::ifname, DeviceKind>(
        "ifname", kOurs, "The device towards the data network, made at start, removed at exit."),
    scalar<&Gtpu::qos, BoolKind>(
        "qos", kOurs,
        "Enforce bit rates. gtp5g: switches /proc/gtp5g/qos, which is off by default."),
    scalar<&Gtpu::version_check, BoolKind>(
        "versionCheck", kOurs, "Refuse to start on a gtp5g version that kupf wasn't tested with."),
    scalar<&Gtpu::workers, NumberKind<std::uint32_t, 0, 256>>(
        "workers", kOurs,
        "Packet threads of the user-space forwarder; 0: one on one CPU, else two."),
    list<&Gtpu::without_offloads, WordKind<OffloadWords>>(
        "withoutOffloads", kOurs,
        "Kernel offloads that the user-space forwarder does without, to find out whether one is at "
        "fault."),
    section<&Gtpu::echo>("echo", kOurs, "Echo Requests to GTP-U peers.", kEcho),
    section<&Gtpu::buffering>("buffering", kOurs, "Packets kept for idle UEs.", kBuffering),
    section<&Gtpu::audit>("audit", kOurs, "Reading back the rules that are installed.", kAudit),
};

constexpr Row kDnn[] = {
    scalar<&Dnn::dnn, DnnKind>("dnn", kRequired, "The name."),
    scalar<&Dnn::cidr, PrefixKind<false>>(
        "cidr", kRequired, "Its UEs' addresses; a route to them is set on the device."),
    scalar<&Dnn::natifname, DeviceKind>(
        "natifname", kLive,
        "Masquerade this pool's packets that leave by this device (nftables table `kupf`)."),
    scalar<&Dnn::ip_forward_enable, BoolKind>(
        "ipForwardEnable", kRestart,
        "Switch IP forwarding on at start. Else kupf only warns when it is off."),
    scalar<&Dnn::tcp_mss, NumberKind<std::uint16_t, 0, 65495>>(
        "tcpMss", kLive, "Clamp the MSS of this pool's TCP connections; 0 leaves it alone."),
    scalar<&Dnn::table, NumberKind<std::uint32_t, 0, 0xffffffff>>(
        "table", kOurs,
        "Routing table of this data network, a VRF's for instance: packets of the pool's UEs are "
        "routed by it (`ip rule`), and it gets the route to the pool. 0: the main table alone."),
};

constexpr Row kLogger[] = {
    scalar<&Logger::enable, BoolKind>("enable", kLive, "Whether anything is logged at all."),
    scalar<&Logger::level, WordKind<LevelWords>>("level", kLive, "The least urgent level logged."),
    scalar<&Logger::report_caller, BoolKind>("reportCaller", kLive,
                                             "Add source file and line to each line."),
    scalar<&Logger::format, WordKind<FormatWords>>("format", kOursLive,
                                                   "Text for people or JSON lines for machines."),
};

constexpr Row kMetrics[] = {
    scalar<&Metrics::listen, ListenKind>(
        "listen", kOursLive,
        "Where Prometheus may scrape /metrics, without password or encryption. Absent: off."),
};

constexpr Row kApi[] = {
    scalar<&Api::socket, SocketPathKind>("socket", kOurs,
                                         "The UNIX socket for upfctl: root and the daemon's own "
                                         "user act, others look. Absent: off."),
    scalar<&Api::listen, ListenKind>(
        "listen", kOurs,
        "A TCP address for the API. Whoever reaches it looks, without password or encryption, and "
        "nobody acts; a warning if it isn't a loopback address. Absent: off."),
    scalar<&Api::page, BoolKind>("page", kOursLive,
                                 "Serve the status page on the API's addresses."),
};

constexpr Row kPredefinedRule[] = {
    scalar<&PredefinedRule::name, RuleNameKind>(
        "name", kRequired, "What SMFs activate it by, letter for letter; no two alike."),
    list<&PredefinedRule::flows, FlowKind>(
        "flows", kRequired,
        "The traffic, any of them: written downlink, from the service to the UE (`assigned`), as "
        "in "
        "an SDF Filter; uplink packets match with the ends swapped."),
    scalar<&PredefinedRule::action, WordKind<ActionWords>>(
        "action", kRestart,
        "What becomes of uplink packets whose PDR names no FAR. Where it names one, and downlink, "
        "the FAR says it."),
    scalar<&PredefinedRule::mark, NumberKind<std::uint32_t, 0, 0xffffffff>>(
        "mark", kRestart,
        "What `action: forward` marks the packets with (skb mark), for `ip rule fwmark` and "
        "nftables; 0: nothing. Forwarder gtp5g only."),
    scalar<&PredefinedRule::uplink_kbps, NumberKind<std::uint64_t, 0, 0xffffffffff>>(
        "uplinkKbps", kRestart,
        "Maximum bit rate uplink in each session, in kbit/s (1000 bit/s); 0: no limit. Both "
        "directions or neither."),
    scalar<&PredefinedRule::downlink_kbps, NumberKind<std::uint64_t, 0, 0xffffffffff>>(
        "downlinkKbps", kRestart, "The same downlink."),
};

constexpr Row kPredefined[] = {
    sections<&PredefinedRules::rules>("rules", kRequired, "Predefined Rules.", kPredefinedRule),
};

constexpr Row kSchema[] = {
    scalar<&Config::version, VersionKind>("version", kRequired, "Version of this file's format."),
    scalar<&Config::description, TextKind>("description", kLive, "For people."),
    section<&Config::pfcp>("pfcp", kRequired, "N4, the interface to the SMF.", kPfcp),
    section<&Config::gtpu>("gtpu", kRequired, "N3 and N9, and what forwards packets.", kGtpu),
    sections<&Config::dnn_list>(
        "dnnList", kRequired,
        "The data networks and their UE pools. A reload adds those behind the last; others need a "
        "restart.",
        kDnn),
    scalar<&Config::predefined_rules, TextKind>(
        "predefinedRules", kOurs,
        "A file of Predefined Rules, for SMFs that activate rules by name; its path is taken from "
        "this file's folder. `predefined-rules.yaml` is a sample."),
    section<&Config::logger>("logger", kLive, "Logging.", kLogger),
    section<&Config::metrics>("metrics", kOursLive, "Prometheus metrics.", kMetrics),
    section<&Config::api>("api", kOurs, "The admin API.", kApi),
    ignored("ees", "go-upf's event exposure service, which kupf hasn't got."),
};

}  // namespace

std::span<const Row> schema() { return kSchema; }
std::span<const Row> predefined_schema() { return kPredefined; }

}  // namespace upf::config

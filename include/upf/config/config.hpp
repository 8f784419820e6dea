#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upf/base/address.hpp"
#include "upf/base/result.hpp"
#include "upf/rules/rules.hpp"

/// `upfcfg.yaml` as one validated value. The keys are go-upf's, so that its files load unchanged,
/// and kupf's own, all optional; src/config/schema.cpp has one row for each.
namespace upf::config {

using Duration = std::chrono::nanoseconds;

/// An address or a name. A name is kept as written: whoever needs its address resolves it once at
/// start, never while packets or requests wait.
struct Host {
  std::string text{};
  std::optional<IpAddress> address{};  ///< none: `text` is a name
  bool operator==(const Host&) const = default;
};

struct Heartbeat {
  Duration interval{std::chrono::seconds{30}};  ///< 0: none are sent
  Duration purge_after{};                       ///< 0: a silent peer's sessions are kept
  bool operator==(const Heartbeat&) const = default;
};

/// What peers may make us keep. A limit that is reached refuses the request, never an older one.
struct PfcpLimits {
  std::uint32_t associations{1000};
  std::uint32_t sessions{1'000'000};
  std::uint32_t sessions_per_peer{1'000'000};
  std::uint32_t rules_per_session{256};     ///< of each kind
  std::uint32_t requests_per_second{1000};  ///< from addresses without an association, in all
  bool operator==(const PfcpLimits&) const = default;
};

struct Pfcp {
  Host addr{};
  Host node_id{};
  std::optional<IpAddress> advertise{};  ///< for the UP F-SEID, where `addr` can't be it
  Duration retrans_timeout{std::chrono::seconds{1}};
  std::uint8_t max_retrans{3};
  std::vector<Host> peers{};      ///< SMFs with which we set up the association ourselves
  std::vector<IpPrefix> allow{};  ///< empty: any peer
  Heartbeat heartbeat{};
  PfcpLimits limits{};
  bool operator==(const Pfcp&) const = default;
};

enum class Forwarder : std::uint8_t { Gtp5g, Userspace };
enum class InterfaceType : std::uint8_t { N3, N9 };

/// One entry of gtpu.ifList: an address on which GTP-U arrives.
struct Interface {
  Host addr{};
  InterfaceType type{};
  std::string name{};
  std::string ifname{};
  std::uint32_t mtu{};                   ///< of the device to the data network; 0: from N3's MTU
  std::optional<IpAddress> advertise{};  ///< for F-TEIDs, where `addr` isn't what gNBs can reach
  std::string network_instance{};        ///< empty: any
  std::string bind_to{};                 ///< device or VRF of the socket; empty: none
  bool operator==(const Interface&) const = default;
};

struct Echo {
  Duration interval{std::chrono::seconds{60}};  ///< 0: none are sent
  Duration timeout{std::chrono::seconds{3}};
  std::uint8_t retries{3};
  bool operator==(const Echo&) const = default;
};

enum class DropPolicy : std::uint8_t { Oldest, Newest };

struct Buffering {
  std::uint32_t packets{512};            ///< of one session
  std::uint64_t bytes{1024 * 1024};      ///< of one session
  std::uint64_t total_bytes{64 << 20U};  ///< of all sessions
  DropPolicy drop{DropPolicy::Oldest};
  bool operator==(const Buffering&) const = default;
};

/// A way in which the user-space forwarder has the kernel handle many packets as one.
enum class Offload : std::uint8_t { UdpGro, UdpSegment, VnetHeader, Tso, Uso };

/// Reading back the rules that are in the data plane.
struct Audit {
  /// None: a default that the forwarder decides (gtp5g 10 minutes, userspace off). 0: off.
  std::optional<Duration> interval{};
  bool repair{true};
  bool operator==(const Audit&) const = default;
};

struct Gtpu {
  Forwarder forwarder{};
  std::vector<Interface> if_list{};
  std::string ifname{"upfgtp"};
  bool qos{true};
  bool version_check{true};
  std::uint32_t workers{};  ///< 0: one on one CPU, else two
  std::vector<Offload> without_offloads{};
  Echo echo{};
  Buffering buffering{};
  Audit audit{};
  bool operator==(const Gtpu&) const = default;
};

struct Dnn {
  std::string dnn{};
  IpPrefix cidr{};
  std::string natifname{};
  bool ip_forward_enable{};
  std::uint16_t tcp_mss{};  ///< 0: TCP's MSS is left alone
  std::uint32_t table{};    ///< routing table of the data network; 0: the main one
  bool operator==(const Dnn&) const = default;
};

/// The levels are logrus's names; fatal and panic let through only what ends the daemon.
enum class LogLevel : std::uint8_t { Trace, Debug, Info, Warn, Error, Fatal, Panic };
enum class LogFormat : std::uint8_t { Text, Json };

struct Logger {
  bool enable{true};
  LogLevel level{LogLevel::Info};
  bool report_caller{};
  LogFormat format{LogFormat::Text};
  bool operator==(const Logger&) const = default;
};

/// Where to listen for TCP.
struct Listen {
  IpAddress ip{};
  std::uint16_t port{};
  bool operator==(const Listen&) const = default;
};

struct Metrics {
  std::optional<Listen> listen{};  ///< none: off
  bool operator==(const Metrics&) const = default;
};

struct Api {
  std::string socket{};            ///< path of a UNIX socket; empty: off
  std::optional<Listen> listen{};  ///< none: off
  bool page{};                     ///< the status page, on the same addresses
  bool operator==(const Api&) const = default;
};

enum class PredefinedAction : std::uint8_t { Forward, Drop };

/// One Predefined Rules name of the rules file (TS 29.244 5.19).
struct PredefinedRule {
  std::string name{};
  std::vector<rules::FlowDescription> flows{};
  PredefinedAction action{};
  std::uint32_t mark{};         ///< skb mark of what is forwarded; 0: none
  std::uint64_t uplink_kbps{};  ///< 0: no limit
  std::uint64_t downlink_kbps{};
  bool operator==(const PredefinedRule&) const = default;
};

struct PredefinedRules {
  std::vector<PredefinedRule> rules{};
  bool operator==(const PredefinedRules&) const = default;
};

struct Config {
  std::string version{};
  std::string description{};
  Pfcp pfcp{};
  Gtpu gtpu{};
  std::vector<Dnn> dnn_list{};
  std::string predefined_rules{};  ///< path of the rules file; empty: none
  PredefinedRules predefined{};    ///< what is in it; load() reads it
  Logger logger{};
  Metrics metrics{};
  Api api{};
  bool operator==(const Config&) const = default;
};

/// One thing to say about one place of a file. Lines and columns count from 1; 0: the whole file.
struct Remark {
  std::string key{};  ///< `gtpu.ifList[0].mtu`
  int line{};
  int column{};
  std::string text{};  ///< what was found and what is allowed
  bool operator==(const Remark&) const = default;
};

/// `upfcfg.yaml:12:9: gtpu.ifList[0].mtu: found "abc", allowed: …`
[[nodiscard]] std::string to_string(const std::string& path, const Remark& remark);

struct Loaded {
  Config config{};
  std::vector<Remark> warnings{};
  std::vector<Remark> notes{};  ///< nothing is wrong; worth knowing
};

/// All that is wrong with a file, in its order.
using Errors = std::vector<Remark>;

[[nodiscard]] Result<Loaded, Errors> parse(const std::string& yaml);
/// As parse(); a file that can't be read is one error. The rules file is read along with it, its
/// path taken from the configuration's folder.
[[nodiscard]] Result<Loaded, Errors> load(const std::string& path);

[[nodiscard]] Result<PredefinedRules, Errors> parse_predefined(const std::string& yaml);

/// Every key with its value in force, in the schema's order; what is in the rules file below
/// `predefinedRules.`.
using Described = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Described describe(const Config& config);

/// A key whose value differs between what is in force and what a file says.
struct Difference {
  std::string key{};
  std::string before{};
  std::string after{};
  bool live{};        ///< a reload applies it; else it takes a restart
  std::string why{};  ///< it takes one though the key can change in life
};
/// `key: "before" -> "after" (reload)`, or `(restart)`, or `(restart: why)`
[[nodiscard]] std::string to_string(const Difference& difference);

/// What a reload of `loaded` would change in a daemon that told what it has in force.
[[nodiscard]] std::vector<Difference> compare(const Described& running, const Config& loaded);

struct Reload {
  std::vector<Difference> differences{};  ///< as compare() says
  Config next{};                          ///< what is in force with those of them that are live
};
/// What a reload does: no more and no less than compare() says. Peers by name keep their addresses.
[[nodiscard]] Reload plan_reload(const Config& running, const Config& loaded);

/// The tables of keys for configs/README.md, in Markdown: of upfcfg.yaml and of the rules file.
[[nodiscard]] std::string reference();
[[nodiscard]] std::string predefined_reference();

}  // namespace upf::config

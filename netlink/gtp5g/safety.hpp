#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "netlink/gtp5g/attrs.hpp"
#include "netlink/gtp5g/requests.hpp"
#include "upf/base/ids.hpp"
#include "upf/base/result.hpp"

namespace upf::gtp5g {

/// What must never reach the module, because it would harm the host or lose rules.
enum class Hazard : std::uint8_t {
  PdrWithoutFar,         ///< NULL dereference: the host panics
  PdrWithoutPdi,         ///< NULL dereferences on packets; its IDs leak
  PdrUpdate,             ///< adds and doesn't take away; F-TEID, FAR, framed routes: dangling lists
  PdrWithoutSide,        ///< no SRC_INTF or ROLE_ADDR: counts the wrong way, wrong source address
  TunnelWithoutRemoval,  ///< hands the datagram back to IP as protocol 1
  GenlVersion,         ///< other than 0: the module's attribute walk starts wrong, NULL dereference
  EndMarkerUnused,     ///< SNDEM for a FAR without a PDR: NULL dereference
  BarUpdate,           ///< returns with the rtnl lock held: every netlink call on the host hangs
  UpdateThatFails,     ///< deletes the live rule; of a PDR also leaves pointers to freed memory
  SocketPath,          ///< a long path overflows; none at all fails late and leaves pointers
  ReportCount,         ///< GET_MULTI_REPORTS with another number of entries: NULL dereference
  ReportOfNoUrr,       ///< fails after others' counters were reset
  ThresholdWithQuota,  ///< both firing on one packet write past an array
  UrrWithoutTrigger,   ///< a log line a packet, and counting stops for the URRs after it
  DeletedWhileInUse,   ///< dangling use by the PDRs that are left
  DanglingReference,   ///< a PDR that names a FAR, QER or URR that isn't there
  SeveralFilters,      ///< the last SDF filter wins silently
  UnknownCommand,      ///< nobody looked at what it does
};
inline constexpr std::size_t kHazards = 18;

[[nodiscard]] std::string_view describe(Hazard hazard);

/// Which rules the kernel holds and who uses whom, kept from the very requests that are sent. One
/// session's requests at a time.
///
/// Every message on its way to the module is checked here, by its octets and not by the code that
/// made it (SafeSocket is the only way to the socket).
class KernelMirror {
 public:
  /// The first request that must not be sent, in the order given and as if those before it had
  /// succeeded.
  [[nodiscard]] std::optional<Hazard> check(std::span<const netlink::GenlRequest> requests) const;
  /// One request was run, with this errno.
  void settle(const netlink::GenlRequest& request, int error);

  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }

 private:
  struct Users {
    std::uint32_t far{};
    std::set<std::uint32_t> qers{};
  };
  struct Session {
    std::map<std::uint16_t, Users> pdrs{};
    std::set<std::uint32_t> fars{};
    std::set<std::uint32_t> qers{};
    std::set<std::uint32_t> urrs{};
    [[nodiscard]] bool empty() const {
      return pdrs.empty() && fars.empty() && qers.empty() && urrs.empty();
    }
  };
  struct Parsed;
  static Parsed parse(const netlink::GenlRequest& request);
  static std::optional<Hazard> check(const Parsed& request, const Session& session);
  static std::optional<Hazard> check_pdr(const Parsed& request, const Session& session);
  static std::optional<Hazard> check_far(const Parsed& request, const Session& session);
  static std::optional<Hazard> check_urr(const Parsed& request, const Session& session);
  static std::optional<Hazard> check_multi_reports(const Parsed& request, const Session& session);
  static void apply(const Parsed& request, Session& session);
  static void forget(const Parsed& request, Session& session);

  std::unordered_map<Seid, Session> sessions_{};
};

}  // namespace upf::gtp5g

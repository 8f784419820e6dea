#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netlink/gtp5g/host.hpp"
#include "netlink/gtp5g/settings.hpp"
#include "upf/dataplane/data_plane.hpp"

namespace upf::gtp5g {

/// The data plane that programs the gtp5g kernel module.
///
/// API: open() sets up link, routes and sockets; the destructor takes rules, link and routes away
/// again, in this order.
/// Threading: the control thread's; calls into the kernel are made on a thread of their own, so
/// that one that hangs (gtp5g has leaked the rtnl lock before) costs an answer and not the daemon.
class Plane final : public dataplane::DataPlane {
 public:
  /// The error is for the operator: what is wrong and what to do about it.
  [[nodiscard]] static Result<std::unique_ptr<Plane>, std::string> open(Settings settings,
                                                                        std::unique_ptr<Host> host);
  ~Plane() override;
  /// capabilities(), of any.
  [[nodiscard]] static dataplane::Capabilities abilities();

  /// What open() did that an operator should know (version, link, QoS, a stale link removed).
  [[nodiscard]] const std::vector<std::string>& notes() const;

  [[nodiscard]] const dataplane::Capabilities& capabilities() const override;
  [[nodiscard]] Result<dataplane::Applied, dataplane::Failure> apply(
      const dataplane::Change& change) override;
  [[nodiscard]] Result<std::vector<dataplane::Reading>, dataplane::Failure> read_usage(
      Seid seid, std::span<const UrrId> urrs) override;
  [[nodiscard]] int event_descriptor() const override;
  [[nodiscard]] std::vector<dataplane::Event> take_events() override;
  [[nodiscard]] std::vector<dataplane::Counter> counters() const override;
  [[nodiscard]] std::vector<dataplane::Path> paths() const override;
  [[nodiscard]] std::optional<dataplane::Inspection> inspect(Seid seid) const override;
  [[nodiscard]] std::string fault() const override;
  void watch(const dataplane::Watcher& watcher) override;
  [[nodiscard]] Result<void, std::string> add_network(const IpPrefix& network) override;
  [[nodiscard]] Result<dataplane::Audited, dataplane::Failure> audit(
      Seid seid, const rules::SessionRules& intended, bool repair) override;
  [[nodiscard]] Result<dataplane::Strays, dataplane::Failure> audit_strays(
      const std::function<bool(Seid)>& known, bool repair) override;

 private:
  class Impl;
  explicit Plane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace upf::gtp5g

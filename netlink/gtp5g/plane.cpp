#include "netlink/gtp5g/plane.hpp"

#include "netlink/gtp5g/controller.hpp"
#include "netlink/gtp5g/startup.hpp"

namespace upf::gtp5g {

class Plane::Impl : public Controller {
 public:
  using Controller::Controller;

  const dataplane::Capabilities capabilities = abilities();
};

Plane::Plane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plane::~Plane() = default;

Result<std::unique_ptr<Plane>, std::string> Plane::open(Settings settings,
                                                        std::unique_ptr<Host> host) {
  auto parts = start_up(settings, std::move(host));
  if (!parts) return failure(parts.error());
  auto impl = std::make_unique<Impl>(std::move(settings), std::move(*parts));
  return std::unique_ptr<Plane>{new Plane{std::move(impl)}};
}

dataplane::Capabilities Plane::abilities() {
  return {.name = "gtp5g", .buffering = true, .end_marker = true, .quota_action = true};
}

const std::vector<std::string>& Plane::notes() const { return impl_->notes(); }
const dataplane::Capabilities& Plane::capabilities() const { return impl_->capabilities; }

Result<dataplane::Applied, dataplane::Failure> Plane::apply(const dataplane::Change& change) {
  return impl_->apply(change);
}
Result<std::vector<dataplane::Reading>, dataplane::Failure> Plane::read_usage(
    Seid seid, std::span<const UrrId> urrs) {
  return impl_->read_usage(seid, urrs);
}

int Plane::event_descriptor() const { return impl_->event_descriptor(); }
std::vector<dataplane::Event> Plane::take_events() { return impl_->take_events(); }
std::vector<dataplane::Counter> Plane::counters() const { return impl_->counters(); }
std::vector<dataplane::Path> Plane::paths() const { return impl_->paths(); }
std::optional<dataplane::Inspection> Plane::inspect(Seid seid) const {
  return impl_->inspect(seid);
}
std::string Plane::fault() const { return impl_->fault(); }
void Plane::watch(const dataplane::Watcher& watcher) { impl_->watch(watcher); }
Result<void, std::string> Plane::add_network(const IpPrefix& network) {
  return impl_->add_network(network);
}

Result<dataplane::Audited, dataplane::Failure> Plane::audit(Seid seid,
                                                            const rules::SessionRules& intended,
                                                            bool repair) {
  return impl_->audit(seid, intended, repair);
}
Result<dataplane::Strays, dataplane::Failure> Plane::audit_strays(
    const std::function<bool(Seid)>& known, bool repair) {
  return impl_->audit_strays(known, repair);
}

}  // namespace upf::gtp5g

#include "netlink/gtp5g/plane.hpp"

namespace upf::gtp5g {

class Plane::Impl {
 public:
  dataplane::Capabilities capabilities{};
  std::vector<std::string> notes{};
};

Plane::Plane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plane::~Plane() = default;

Result<std::unique_ptr<Plane>, std::string> Plane::open(Settings /*settings*/,
                                                        std::unique_ptr<Host> /*host*/) {
  return failure(std::string{"the gtp5g plane is not built yet"});
}

const std::vector<std::string>& Plane::notes() const { return impl_->notes; }
const dataplane::Capabilities& Plane::capabilities() const { return impl_->capabilities; }
Result<dataplane::Applied, dataplane::Failure> Plane::apply(const dataplane::Change&) {
  return failure(dataplane::Failure{dataplane::Failure::Kind::Unavailable, {}, "not built yet"});
}
Result<std::vector<dataplane::Reading>, dataplane::Failure> Plane::read_usage(
    Seid, std::span<const UrrId>) {
  return failure(dataplane::Failure{dataplane::Failure::Kind::Unavailable, {}, "not built yet"});
}
int Plane::event_descriptor() const { return -1; }
std::vector<dataplane::Event> Plane::take_events() { return {}; }
std::vector<dataplane::Counter> Plane::counters() const { return {}; }

}  // namespace upf::gtp5g

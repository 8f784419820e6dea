#include "upf/control/up_function.hpp"

namespace upf::control {

struct UpFunction::Impl {};

UpFunction::UpFunction(Settings /*settings*/, dataplane::DataPlane& /*plane*/) {}
UpFunction::~UpFunction() = default;
Output UpFunction::start(const Now& /*now*/) { return {}; }
Output UpFunction::on_datagram(const Now& /*now*/, const SocketAddress& /*from*/,
                               wire::Bytes /*datagram*/) {
  return {};
}
Output UpFunction::on_timer(const Now& /*now*/) { return {}; }
Output UpFunction::on_plane_events(const Now& /*now*/,
                                   const std::vector<dataplane::Event>& /*events*/) {
  return {};
}
Output UpFunction::shutdown(const Now& /*now*/) { return {}; }

}  // namespace upf::control

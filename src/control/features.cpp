#include "src/control/features.hpp"

#include "upf/pfcp/codec.hpp"

namespace upf::control {

pfcp::UpFunctionFeatures features_of(const dataplane::Capabilities& can,
                                     const session::Settings& settings) {
  pfcp::UpFunctionFeatures features;
  features.ftup = true;
  features.pfdm = true;
  features.pfde = true;
  features.pdiu = true;
  features.sset = true;
  features.mpas = true;
  features.mnop = true;
  features.bundl = true;
  features.vtime = true;
  features.resps = true;
  features.ddnd = can.buffering;  // who buffers keeps to its BARs
  features.bucp = can.cp_function;
  features.empu = can.end_marker;
  features.frrt = can.framed_routing;
  features.quoac = can.quota_action;
  features.ueip = !settings.pools.empty();
  // With no Predefined Rules configured there is none that could be activated.
  features.adpdp = !settings.predefined.empty();
  return features;
}

pfcp::UpFunctionFeatures first_two_octets(const pfcp::UpFunctionFeatures& features) {
  constexpr std::size_t kTypeAndLength = 4;
  const wire::Octets octets = pfcp::encode(features);
  return *pfcp::decode<pfcp::UpFunctionFeatures>(wire::Bytes{octets}.subspan(kTypeAndLength, 2));
}

}  // namespace upf::control

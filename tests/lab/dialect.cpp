#include "tests/lab/dialect.hpp"

namespace upf::lab {

std::unique_ptr<Dialect> make_dialect(std::string_view name) {
  if (name == "free5gc") return make_free5gc();
  if (name == "open5gs") return make_open5gs();
  return nullptr;
}

wire::Octets Dialect::query(const Identity& smf, const Session& session, Sequence sequence) const {
  Message out = modification(smf, session, sequence);
  out.group(ie::kQueryUrr, [&] { out.number(ie::kUrrId, std::uint32_t{1}); });
  return std::move(out).finish();
}

wire::Octets Dialect::deletion(const Session& session, Sequence sequence) const {
  return Message{header(message::kDeletionRequest, session.up_seid, sequence)}.finish();
}

wire::Octets association_setup(const Identity& smf, std::uint32_t sequence) {
  Message out{{.type = message::kAssociationSetupRequest, .sequence = sequence}};
  put_node_id(out, smf);
  out.number(ie::kRecoveryTimeStamp, smf.recovery_time_stamp);
  out.put(ie::kCpFeatures, {0});
  return std::move(out).finish();
}

wire::Octets association_release(const Identity& smf, std::uint32_t sequence) {
  Message out{{.type = message::kAssociationReleaseRequest, .sequence = sequence}};
  put_node_id(out, smf);
  return std::move(out).finish();
}

wire::Octets heartbeat(const Identity& smf, std::uint32_t sequence) {
  Message out{{.type = message::kHeartbeatRequest, .sequence = sequence}};
  out.number(ie::kRecoveryTimeStamp, smf.recovery_time_stamp);
  return std::move(out).finish();
}

void put_node_id(Message& out, const Identity& smf) {
  out.group(ie::kNodeId, [&] {
    if (smf.node_id.empty()) {
      out.raw().be(std::uint8_t{0});
      out.raw().put(smf.address.octets);
    } else {
      out.raw().be(std::uint8_t{2});
      out.raw().put(labels(smf.node_id));
    }
  });
}

void put_f_seid(Message& out, Ipv4 address, std::uint64_t seid) {
  out.group(ie::kFSeid, [&] {
    out.raw().be(std::uint8_t{2});
    out.raw().be(seid);
    out.raw().put(address.octets);
  });
}

void put_f_teid(Message& out, TunnelEnd end) {
  out.group(ie::kFTeid, [&] {
    out.raw().be(std::uint8_t{1});
    out.raw().be(end.teid);
    out.raw().put(end.address.octets);
  });
}

void put_ue_ip(Message& out, Ipv4 ue, bool destination) {
  out.group(ie::kUeIp, [&] {
    out.raw().be(static_cast<std::uint8_t>(destination ? 0x06 : 0x02));
    out.raw().put(ue.octets);
  });
}

void put_gtpu_header(Message& out, TunnelEnd to) {
  out.group(ie::kOuterHeaderCreation, [&] {
    out.raw().be(std::uint16_t{0x0100});
    out.raw().be(to.teid);
    out.raw().put(to.address.octets);
  });
}

void put_bit_rate(Message& out, std::uint16_t type, std::uint64_t uplink_kbps,
                  std::uint64_t downlink_kbps) {
  out.group(type, [&] {
    out.raw().be<std::uint64_t, 5>(uplink_kbps);
    out.raw().be<std::uint64_t, 5>(downlink_kbps);
  });
}

void put_sdf_filter(Message& out, std::string_view description,
                    std::optional<std::uint32_t> filter_id) {
  out.group(ie::kSdfFilter, [&] {
    out.raw().be(static_cast<std::uint8_t>(filter_id ? 0x11 : 0x01));
    out.raw().be(std::uint8_t{0});
    out.raw().be(static_cast<std::uint16_t>(description.size()));
    out.raw().put({reinterpret_cast<const std::uint8_t*>(description.data()), description.size()});
    if (filter_id) out.raw().be(*filter_id);
  });
}

wire::Octets labels(std::string_view name) {
  wire::Octets octets;
  while (true) {
    const std::string_view label = name.substr(0, name.find('.'));
    octets.push_back(static_cast<std::uint8_t>(label.size()));
    octets.insert(octets.end(), label.begin(), label.end());
    if (label.size() == name.size()) return octets;
    name.remove_prefix(label.size() + 1);
  }
}

}  // namespace upf::lab

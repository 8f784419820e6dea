// The stand-in's rules as GET and dumps give them back: what the module leaves out, and what it
// adds.
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>

#include "tests/standin/kernel.hpp"
#include "tests/standin/message.hpp"

namespace upf::standin {
namespace {

using netlink::Attr;
using U16 = Attr<std::uint16_t>;
using U32 = Attr<std::uint32_t>;
using U64 = Attr<std::uint64_t>;

constexpr std::uint8_t kGetPdr = 7;
constexpr std::uint8_t kGetFar = 8;
constexpr std::uint8_t kGetQer = 9;
constexpr std::size_t kDumpOctets = 32768;

template <class Fill>
wire::Octets message_of(std::uint32_t sequence, Fill fill) {
  wire::Octets out;
  Message message{out, Kernel::kFamily, 0, sequence};
  message.genl(Kernel::kFamily & 0xffU, 0);
  fill(message);
  message.finish();
  return out;
}

/// RELATED_TO_PDR: left out if there is none.
void put_users(Message& message, std::uint16_t id, const std::vector<std::uint16_t>& users) {
  if (users.empty()) return;
  message.blob(id, {reinterpret_cast<const std::uint8_t*>(users.data()), users.size() * 2});
}

template <class Ports>
void put_ports(Message& message, std::uint16_t id, const Ports& ports) {
  wire::Octets octets;
  Message values{octets};
  for (const auto& range : ports) {
    values.raw(static_cast<std::uint32_t>(range.first | std::uint32_t{range.last} << 16U));
  }
  if (!octets.empty()) message.blob(id, octets);
}

template <class Rate>
void put_rate(Message& message, std::uint16_t id, const Rate& rate) {
  message.nest(id, [&] {
    message.put(1, rate.up_high);
    message.put(2, rate.up_low);
    message.put(3, rate.down_high);
    message.put(4, rate.down_low);
  });
}

template <class Limit>
void put_limit(Message& message, std::uint16_t id, const Limit& limit) {
  if (limit.flags == 0) return;
  message.nest(id, [&] {
    message.put(1, limit.flags);
    message.put(2, limit.total);
    message.put(3, limit.up);
    message.put(4, limit.down);
  });
}

Ipv4 address(std::uint32_t host) { return Ipv4::from_host(host); }

}  // namespace

std::vector<std::uint16_t> Kernel::users(std::uint64_t seid,
                                         const std::function<bool(const Pdr&)>& uses) const {
  std::vector<std::uint16_t> ids;
  for (const auto& [id, pdr] : pdrs_) {
    if (pdr.seid == seid && uses(pdr)) ids.push_back(pdr.id);
  }
  return ids;
}

wire::Octets Kernel::octets_of(const Pdr& pdr, std::uint32_t sequence) const {
  const auto put_filter = [](Message& message, const Filter& filter) {
    message.nest(3, [&] {
      message.nest(1, [&] {
        message.put(1, std::uint8_t{1});
        message.put(2, filter.direction);
        message.put(3, filter.protocol);
        message.put(4, address(filter.source));
        message.put(6, address(filter.destination));
        if (filter.source_mask != ~0U) message.put(5, address(filter.source_mask));
        if (filter.destination_mask != ~0U) message.put(7, address(filter.destination_mask));
        put_ports(message, 8, filter.source_ports);
        put_ports(message, 9, filter.destination_ports);
      });
    });
  };
  return message_of(sequence, [&](Message& message) {
    message.put(3, pdr.id);
    message.put(4, pdr.precedence);
    if (pdr.seid != 0) message.put(11, pdr.seid);
    if (pdr.removal) message.put(6, std::uint8_t{0});
    message.put(7, pdr.far);
    for (const std::uint32_t id : pdr.qers) message.put(10, id);
    for (const std::uint32_t id : pdr.urrs) message.put(12, id);
    message.put(8, pdr.role);
    message.nest(5, [&] {  // without the source interface
      if (pdr.ue) message.put(1, address(*pdr.ue));
      if (pdr.teid) {
        message.nest(2, [&] {
          message.put(1, *pdr.teid);
          message.put(2, pdr.tunnel_address);
        });
      }
      if (pdr.filter) put_filter(message, *pdr.filter);
    });
  });
}

wire::Octets Kernel::octets_of(const Id& id, const Far& far, std::uint32_t sequence) const {
  return message_of(sequence, [&](Message& message) {
    message.put(3, id.second);
    message.put(4, far.action);
    if (id.first != 0) message.put(7, id.first);
    if (far.has_tunnel || !far.policy.empty()) {
      message.nest(5, [&] {
        if (far.has_tunnel) {
          message.nest(1, [&] {
            message.put(1, std::uint16_t{0x0100});
            message.put(2, far.teid);
            message.put(3, far.peer);
            message.put(4, far.port);
          });
        }
        if (!far.policy.empty()) {  // without a NUL
          message.blob(
              2, {reinterpret_cast<const std::uint8_t*>(far.policy.data()), far.policy.size()});
        }
        if (far.has_tunnel) message.put(4, far.tos);
      });
    }
    put_users(message, 6, users(id.first, [&](const Pdr& pdr) { return pdr.far == id.second; }));
  });
}

wire::Octets Kernel::octets_of(const Id& id, const Qer& qer, std::uint32_t sequence) const {
  return message_of(sequence, [&](Message& message) {  // all of it, always
    message.put(3, id.second);
    message.put(4, qer.gate);
    if (id.first != 0) message.put(13, id.first);
    put_rate(message, 5, qer.mbr);
    put_rate(message, 6, qer.gbr);
    message.put(7, std::uint32_t{0});
    message.put(8, std::uint8_t{0});
    message.put(9, qer.qfi);
    message.put(10, std::uint8_t{0});
    message.put(11, std::uint8_t{0});
    put_users(message, 12, users(id.first, [&](const Pdr& pdr) {
                return std::ranges::find(pdr.qers, id.second) != pdr.qers.end();
              }));
  });
}

wire::Octets Kernel::octets_of(const Id& id, const Urr& urr, std::uint32_t sequence) const {
  return message_of(sequence, [&](Message& message) {
    message.put(3, id.second);
    message.put(4, urr.method);
    message.put(5, urr.trigger);
    message.put(6, urr.period);
    message.put(7, urr.info);
    if (id.first != 0) message.put(8, id.first);
    put_limit(message, 9, urr.threshold);
    put_limit(message, 10, urr.quota);
    put_users(message, 13, users(id.first, [&](const Pdr& pdr) {
                return std::ranges::find(pdr.urrs, id.second) != pdr.urrs.end();
              }));
  });
}

int Kernel::read_back(const Request& request, std::vector<wire::Octets>& data) const {
  const std::uint32_t sequence = sequence_of(request.raw);
  const auto& a = request.attributes;
  const auto answer = [&](const auto& rules, std::uint64_t seid, auto octets) {
    const auto number =
        request.command == kGetPdr ? std::optional<std::uint32_t>{a.get(U16{3})} : a.get(U32{3});
    if (!number) return ENODEV;
    const auto at = rules.find({seid, *number});
    if (at == rules.end()) return ENOENT;
    data.push_back(octets(at->first, at->second));
    return 0;
  };
  const auto plain = [&](const Id& id, const auto& rule) { return octets_of(id, rule, sequence); };
  switch (request.command) {
    case kGetPdr:
      return answer(pdrs_, a.get(U64{11}).value_or(0),
                    [&](const Id&, const Pdr& pdr) { return octets_of(pdr, sequence); });
    case kGetFar:
      return answer(fars_, a.get(U64{7}).value_or(0), plain);
    case kGetQer:
      return answer(qers_, a.get(U64{13}).value_or(0), plain);
    default:
      return answer(urrs_, a.get(U64{8}).value_or(0), plain);
  }
}

void Kernel::dump_of_another_link(std::uint64_t seid, std::uint32_t far) {
  const std::lock_guard lock{mutex_};
  fars_elsewhere_[{seid, far}] = Far{.id = far};
}

/// Messages back to back, without NLM_F_MULTI; the end in a datagram of its own.
void Kernel::dump(const Request& request, std::vector<wire::Octets>& data) const {
  const std::uint32_t sequence = sequence_of(request.raw);
  wire::Octets piece;
  const auto add = [&](const wire::Octets& message) {
    if (piece.size() + message.size() > kDumpOctets) data.push_back(std::exchange(piece, {}));
    piece.insert(piece.end(), message.begin(), message.end());
    piece.resize((piece.size() + 3U) & ~std::size_t{3});
  };
  if (request.command == kGetPdr) {
    for (const auto& [id, pdr] : pdrs_) add(octets_of(pdr, sequence));
  } else if (request.command == kGetFar) {
    for (const auto& [id, far] : fars_) add(octets_of(id, far, sequence));
    for (const auto& [id, far] : fars_elsewhere_) add(octets_of(id, far, sequence));
  } else if (request.command == kGetQer) {
    for (const auto& [id, qer] : qers_) add(octets_of(id, qer, sequence));
  } else {
    for (const auto& [id, urr] : urrs_) add(octets_of(id, urr, sequence));
  }
  if (!piece.empty()) data.push_back(std::move(piece));
  Message done{data.emplace_back(), NLMSG_DONE, NLM_F_MULTI, sequence};
  done.raw(std::uint32_t{0});
  done.finish();
}

}  // namespace upf::standin

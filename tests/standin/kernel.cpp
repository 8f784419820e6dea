// The stand-in's rules: requests in, answers out.
#include "tests/standin/kernel.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "netlink/genl_socket.hpp"
#include "netlink/gtp5g/kernel_ids.hpp"
#include "tests/standin/message.hpp"

namespace upf::standin {
namespace {

using netlink::Attr;
using netlink::Attributes;
using netlink::Blob;
using netlink::Nest;
using netlink::Text;

using U8 = Attr<std::uint8_t>;
using U16 = Attr<std::uint16_t>;
using U32 = Attr<std::uint32_t>;
using U64 = Attr<std::uint64_t>;

enum Command : std::uint8_t {
  kAddPdr = 1,
  kAddFar = 2,
  kAddQer = 3,
  kDelPdr = 4,
  kDelFar = 5,
  kDelQer = 6,
  kGetPdr = 7,
  kGetFar = 8,
  kGetQer = 9,
  kAddUrr = 10,
  kAddBar = 11,
  kDelUrr = 12,
  kDelBar = 13,
  kGetUrr = 14,
  kGetVersion = 16,
  kGetReport = 17,
  kGetMultiReports = 19,
  kGetUsageStatistic = 20,
};

constexpr std::uint32_t kVolth = 2;
constexpr std::uint32_t kStart = 0x10;
constexpr std::uint32_t kVolqu = 0x100;
constexpr std::uint8_t kInactive = 2;
constexpr std::uint16_t kDrop = 1;

std::uint32_t host(Ipv4 address) { return address.host(); }

/// A nest without NLA_F_NESTED is EINVAL to the module.
bool nested(const Attributes& attributes, std::uint16_t wanted) {
  bool ok = true;
  attributes.for_each([&](std::uint16_t id, wire::Bytes, bool flag) {
    if (id == wanted && !flag) ok = false;
  });
  return ok;
}

template <class Visit>
void each_u32(const Attributes& attributes, std::uint16_t wanted, Visit visit) {
  attributes.for_each([&](std::uint16_t id, wire::Bytes payload, bool) {
    if (id != wanted || payload.size() != 4) return;
    std::uint32_t value{};
    std::memcpy(&value, payload.data(), 4);
    visit(value);
  });
}

bool contains(const std::vector<std::uint32_t>& ids, std::uint32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

wire::Octets ack(wire::Bytes request, int error) {
  wire::Octets out;
  std::array<std::uint8_t, 16> head{};
  std::memcpy(head.data(), request.data(), std::min(head.size(), request.size()));
  Message message{out, NLMSG_ERROR, NLM_F_CAPPED, sequence_of(request)};
  message.raw<std::int32_t>(-error);
  message.octets(head);
  message.finish();
  return out;
}

}  // namespace

void Kernel::trap(const std::string& what) const {
  if (on_trap) {
    on_trap(what);
    return;
  }
  std::fprintf(stderr, "stand-in kernel: %s\n", what.c_str());
  std::abort();
}

std::vector<wire::Octets> Kernel::run(wire::Bytes messages) {
  if (hang) hang();
  const std::lock_guard lock{mutex_};
  ++calls_;
  std::vector<wire::Octets> answers;
  while (messages.size() >= 20) {
    std::uint32_t length{};
    std::uint16_t type{};
    std::uint16_t flags{};
    std::memcpy(&length, messages.data(), 4);
    std::memcpy(&type, messages.data() + 4, 2);
    std::memcpy(&flags, messages.data() + 6, 2);
    if (length < 20 || length > messages.size()) break;
    const wire::Bytes raw = messages.first(length);
    Request request{.command = raw[16],
                    .version = raw[17],
                    .excl = (flags & NLM_F_EXCL) != 0,
                    .replace = (flags & NLM_F_REPLACE) != 0,
                    .ack = (flags & NLM_F_ACK) != 0,
                    .dump = (flags & NLM_F_DUMP) == NLM_F_DUMP,
                    .attributes = Attributes{raw.subspan(20)},
                    .raw = raw};
    ++requests_;
    int error = 0;
    if (type == GENL_ID_CTRL) {
      error = loaded ? 0 : ENOENT;
      if (loaded) family_answer(answers.emplace_back());
      if (loaded) set_sequence(answers.back(), sequence_of(raw));
    } else if (type != kFamily || !loaded) {
      error = EOPNOTSUPP;
    } else {
      error = dispatch(request, answers);
    }
    if (error != 0 || (request.ack && !request.dump)) answers.push_back(ack(raw, error));
    messages = messages.subspan(std::min<std::size_t>((length + 3U) & ~3U, messages.size()));
  }
  return answers;
}

void Kernel::family_answer(wire::Octets& out) const {
  Message message{out, GENL_ID_CTRL, 0, 0};
  message.genl(CTRL_CMD_NEWFAMILY, 2);
  message.put(CTRL_ATTR_FAMILY_ID, kFamily);
  message.text(CTRL_ATTR_FAMILY_NAME, "gtp5g");
  message.nest(CTRL_ATTR_MCAST_GROUPS, [&] {
    message.nest(1, [&] {
      message.put(CTRL_ATTR_MCAST_GRP_ID, kGroup);
      message.text(CTRL_ATTR_MCAST_GRP_NAME, "gtp5g");
    });
  });
  message.finish();
}

int Kernel::dispatch(const Request& request, std::vector<wire::Octets>& data) {
  if (fail) {
    if (const int error = fail(request.command, request.replace); error != 0) {
      if (request.replace && request.command == kAddFar) {  // what can't be updated is deleted
        const auto id = request.attributes.get(U32{3});
        const auto seid = request.attributes.get(U64{7});
        if (id && seid) fars_.erase({*seid, *id});
      }
      return error;
    }
  }
  if (request.command == kGetVersion) {
    Message message{data.emplace_back(), kFamily, 0, sequence_of(request.raw)};
    message.genl(kFamily & 0xffU, 0);
    message.text(0, version);
    message.finish();
    return 0;
  }
  if (request.dump) {
    dump(request, data);
    return 0;
  }
  const auto index = request.attributes.get(U32{1});
  if (!index) return EINVAL;
  if (!link_ || *index != kIfindex) return ENODEV;
  switch (request.command) {
    case kAddPdr:
      return add_pdr(request);
    case kAddFar:
      return add_far(request);
    case kAddQer:
      return add_qer(request);
    case kAddUrr:
      return add_urr(request);
    case kGetPdr:
    case kGetFar:
    case kGetQer:
    case kGetUrr:
      return read_back(request, data);
    case kDelPdr:
      return remove_pdr(request);
    case kDelFar:
      return remove_far(request);
    case kDelQer:
      return remove_qer(request);
    case kDelUrr:
      return remove_urr(request, data);
    case kGetReport:
      return report(request, data);
    case kGetMultiReports:
      return multi_reports(request, data);
    case kAddBar:
      if (request.replace) trap("ADD_BAR as an update: the rtnl lock is held for good");
      return 0;
    case kDelBar:
      return 0;
    default:
      return EOPNOTSUPP;
  }
}

bool Kernel::used(std::uint64_t seid, const std::function<bool(const Pdr&)>& uses) const {
  return std::ranges::any_of(
      pdrs_, [&](const auto& entry) { return entry.second.seid == seid && uses(entry.second); });
}

std::uint32_t Kernel::bucket(const Id& id) const {
  std::array<char, 16> seid{};
  std::array<char, 8> number{};
  (void)std::snprintf(seid.data(), seid.size(), "%" PRIx64, id.first);
  (void)std::snprintf(number.data(), number.size(), "%" PRIx32, id.second);
  return gtp5g::lookup3(std::string{seid.data()} + number.data(), 0) % hash_size_;
}

// --- PDR -------------------------------------------------------------------------------------

int Kernel::add_pdr(const Request& request) {
  if (request.version != 0) trap("ADD_PDR with a genl version: NULL dereference");
  if (!socket_) trap("ADD_PDR on a link without a socket: NULL dereference");
  const auto number = request.attributes.get(U16{3});
  const std::uint64_t seid = request.attributes.get(U64{11}).value_or(0);
  if (!number) return ENODEV;
  const Id id{seid, *number};
  const auto at = pdrs_.find(id);
  if (at != pdrs_.end()) {
    if (request.excl) return EEXIST;
    if (!request.replace) return EOPNOTSUPP;
    if (!request.attributes.get(U32{7})) trap("ADD_PDR without FAR ID: NULL dereference");
    unlink(at->second);
    const int error = fill_pdr(at->second, request);
    if (error != 0) {
      trap("an update of a PDR failed: the FAR's list points to freed memory");
      pdrs_.erase(id);
      return error;
    }
    link(at->second);
    return 0;
  }
  if (request.replace) return ENOENT;
  if (!request.attributes.get(U32{4})) return EINVAL;
  Pdr pdr{};
  if (!request.attributes.get(U32{7})) trap("ADD_PDR without FAR ID: NULL dereference");
  if (const int error = fill_pdr(pdr, request); error != 0) return error;
  link(pdrs_[id] = pdr);
  return 0;
}

int Kernel::fill_pdr(Pdr& pdr, const Request& request) {
  const Attributes& a = request.attributes;
  pdr.seid = a.get(U64{11}).value_or(0);
  pdr.id = a.get(U16{3}).value_or(0);
  if (const auto precedence = a.get(U32{4})) pdr.precedence = *precedence;
  if (a.get(U8{6})) pdr.removal = true;
  if (const auto far = a.get(U32{7})) pdr.far = *far;
  if (const auto role = a.get(Attr<Ipv4>{8})) pdr.role = *role;
  each_u32(a, 10, [&](std::uint32_t id) {
    if (!contains(pdr.qers, id)) pdr.qers.push_back(id);  // an update only adds
  });
  each_u32(a, 12, [&](std::uint32_t id) {
    if (!contains(pdr.urrs, id)) pdr.urrs.push_back(id);
  });
  if (!nested(a, 5)) return EINVAL;
  if (const auto pdi = a.get(Nest{5})) fill_pdi(pdr, *pdi);
  const auto path = a.get(Text{9});
  if (path && path->size() > 107) trap("UNIX_SOCKET_PATH overflows a kernel buffer");
  if (!fars_.contains({pdr.seid, pdr.far})) return EINVAL;
  if (path != "/" && !pdr.urrs.empty()) {
    trap("a PDR with a URR and no UNIX_SOCKET_PATH: freed, but still in the FAR's list");
    return EINVAL;
  }
  pdr.qfi = 0;
  pdr.gate = 0;
  pdr.policing.reset();
  for (const std::uint32_t id : pdr.qers) {
    const auto qer = qers_.find({pdr.seid, id});
    if (qer == qers_.end()) continue;
    if (pdr.qfi == 0) pdr.qfi = qer->second.qfi;
    pdr.gate = static_cast<std::uint8_t>(pdr.gate | (qer->second.gate & 5U));
    if (qer->second.up && qer->second.down) pdr.policing = id;
  }
  return 0;
}

void Kernel::fill_pdi(Pdr& pdr, Attributes pdi) const {
  if (const auto ue = pdi.get(Attr<Ipv4>{1})) pdr.ue = host(*ue);
  if (const auto tunnel = pdi.get(Nest{2})) {
    if (const auto teid = tunnel->get(U32{1})) pdr.teid = *teid;
    if (const auto address = tunnel->get(Attr<Ipv4>{2})) pdr.tunnel_address = *address;
  }
  if (const auto side = pdi.get(U8{4})) pdr.source_interface = *side;
  const auto sdf = pdi.get(Nest{3});  // of several, the last one
  const auto flow = sdf ? sdf->get(Nest{1}) : std::nullopt;
  if (!flow) return;
  const auto ports = [&](std::uint16_t id) {
    std::vector<Ports> ranges;
    const auto octets = flow->get(Blob{id});
    for (std::size_t i = 0; octets && i + 4 <= octets->size(); i += 4) {
      Ports range{};
      std::memcpy(&range.first, octets->data() + i, 2);
      std::memcpy(&range.last, octets->data() + i + 2, 2);
      if (range.first > range.last) std::swap(range.first, range.last);
      ranges.push_back(range);
    }
    return ranges;
  };
  const auto address = [&](std::uint16_t id, std::uint32_t absent) {
    const auto value = flow->get(Attr<Ipv4>{id});
    return value ? host(*value) : absent;
  };
  pdr.filter = Filter{.direction = flow->get(U8{2}).value_or(0),
                      .protocol = flow->get(U8{3}).value_or(0),
                      .source = address(4, 0),
                      .source_mask = address(5, ~0U),
                      .destination = address(6, 0),
                      .destination_mask = address(7, ~0U),
                      .source_ports = ports(8),
                      .destination_ports = ports(9)};
}

/// Lowest precedence first; of equals the newest.
void Kernel::link(Pdr& pdr) {
  if (!pdr.teid && !pdr.ue) return;
  std::list<Id>& list = pdr.teid ? by_teid_[*pdr.teid] : by_ue_[*pdr.ue];
  auto at = list.begin();
  while (at != list.end() && pdrs_.at(*at).precedence < pdr.precedence) ++at;
  list.insert(at, Id{pdr.seid, pdr.id});
}

void Kernel::unlink(const Pdr& pdr) {
  const Id id{pdr.seid, pdr.id};
  if (pdr.teid) by_teid_[*pdr.teid].remove(id);
  if (pdr.ue) by_ue_[*pdr.ue].remove(id);
  if (pdr.teid && by_teid_[*pdr.teid].empty()) by_teid_.erase(*pdr.teid);
  if (pdr.ue && by_ue_[*pdr.ue].empty()) by_ue_.erase(*pdr.ue);
}

void Kernel::erase_pdr(const Id& id) {
  unlink(pdrs_.at(id));
  pdrs_.erase(id);
}

int Kernel::remove_pdr(const Request& request) {
  const Id id{request.attributes.get(U64{11}).value_or(0),
              request.attributes.get(U16{3}).value_or(0)};
  const auto at = pdrs_.find(id);
  if (at == pdrs_.end()) return ENOENT;
  for (const std::uint32_t number : at->second.urrs) {
    if (const auto urr = urrs_.find({id.first, number}); urr != urrs_.end()) {
      urr->second.lost_pdr_in = calls_;
    }
  }
  erase_pdr(id);
  return 0;
}

// --- FAR -------------------------------------------------------------------------------------

int Kernel::add_far(const Request& request) {
  const auto number = request.attributes.get(U32{3});
  const std::uint64_t seid = request.attributes.get(U64{7}).value_or(0);
  if (!number) return ENODEV;
  const Id id{seid, *number};
  const auto at = fars_.find(id);
  if (at != fars_.end()) {
    if (request.excl) return EEXIST;
    if (!request.replace) return EOPNOTSUPP;
    const int error = fill_far(at->second, request, true, seid);
    if (error != 0) fars_.erase(id);  // the live rule goes
    return error;
  }
  if (request.replace) return ENOENT;
  if (!request.attributes.get(U16{4})) return EINVAL;
  Far far{.id = *number};
  if (const int error = fill_far(far, request, false, seid); error != 0) return error;
  fars_[id] = far;
  return 0;
}

int Kernel::fill_far(Far& far, const Request& request, bool update, std::uint64_t seid) {
  const Attributes& a = request.attributes;
  far.sequence = 0;
  if (const auto action = a.get(U16{4})) far.action = *action;
  if (!nested(a, 5)) return EINVAL;
  const auto parameters = a.get(Nest{5});
  if (!parameters) return 0;
  if (!nested(*parameters, 1)) return EINVAL;
  if (const auto header = parameters->get(Nest{1})) {
    const auto description = header->get(U16{1});
    const auto teid = header->get(U32{2});
    const auto peer = header->get(Attr<Ipv4>{3});
    const auto port = header->get(U16{4});
    if (!description || !teid || !peer || !port) return EINVAL;
    const Far old = far;
    far.has_tunnel = true;
    far.teid = *teid;
    far.peer = *peer;
    far.port = *port;
    const bool marker = (parameters->get(U8{3}).value_or(0) & 2U) != 0;
    if (update && old.has_tunnel && marker) end_marker(old, seid, far.id);
  }
  if (const auto policy = parameters->get(Text{2})) {
    const long mark = std::strtol(std::string{*policy}.c_str(), nullptr, 10);
    if (mark == 0) return EINVAL;
    far.policy = *policy;
    far.mark = static_cast<std::uint32_t>(mark);
  }
  if (const auto tos = parameters->get(U8{4}); tos && far.has_tunnel) far.tos = *tos;
  return 0;
}

int Kernel::remove_far(const Request& request) {
  const Id id{request.attributes.get(U64{7}).value_or(0),
              request.attributes.get(U32{3}).value_or(0)};
  if (!fars_.contains(id)) return ENOENT;
  if (used(id.first, [&](const Pdr& pdr) { return pdr.far == id.second; })) {
    trap("a FAR was deleted before the PDRs that use it");
  }
  fars_.erase(id);
  return 0;
}

// --- QER -------------------------------------------------------------------------------------

int Kernel::add_qer(const Request& request) {
  const Attributes& a = request.attributes;
  const auto number = a.get(U32{3});
  if (!number) return ENODEV;
  const Id id{a.get(U64{13}).value_or(0), *number};
  const bool there = qers_.contains(id);
  if (there && request.excl) return EEXIST;
  if (there && !request.replace) return EOPNOTSUPP;
  if (!there && request.replace) return ENOENT;
  Qer& qer = qers_[id];
  if (const auto gate = a.get(U8{4})) qer.gate = *gate;
  if (const auto qfi = a.get(U8{9})) qer.qfi = *qfi;
  const auto bucket_of = [&](std::uint32_t high, std::uint8_t low) {
    auto bucket = std::make_shared<Bucket>();
    bucket->rate = static_cast<double>(std::uint64_t{high} << 8U | low) * 125.0;
    bucket->tokens = std::max(bucket->rate, 1500.0);
    bucket->excess = bucket->rate * 0.2;
    bucket->last = now();
    return bucket;
  };
  const auto split_rate = [&](std::uint16_t attr, SplitRate& into) {
    const auto nest = a.get(Nest{attr});
    if (!nest) return;
    into = {nest->get(U32{1}).value_or(0), nest->get(U32{3}).value_or(0),
            nest->get(U8{2}).value_or(0), nest->get(U8{4}).value_or(0)};
  };
  split_rate(5, qer.mbr);
  split_rate(6, qer.gbr);
  if (const auto mbr = a.get(Nest{5})) {
    const auto up = mbr->get(U32{1});
    const auto down = mbr->get(U32{3});
    if (up && mbr->get(U8{2})) qer.up = bucket_of(*up, *mbr->get(U8{2}));
    if (down && mbr->get(U8{4})) qer.down = bucket_of(*down, *mbr->get(U8{4}));
  }
  return 0;
}

/// Deleting a QER stops policing for all PDRs that have a QER in its hash bucket.
int Kernel::remove_qer(const Request& request) {
  const Id id{request.attributes.get(U64{13}).value_or(0),
              request.attributes.get(U32{3}).value_or(0)};
  if (!qers_.contains(id)) return ENOENT;
  if (used(id.first, [&](const Pdr& pdr) { return contains(pdr.qers, id.second); })) {
    trap("a QER was deleted before the PDRs that use it");
  }
  for (auto& [pdr_id, pdr] : pdrs_) {
    for (const std::uint32_t qer : pdr.qers) {
      if (bucket({pdr.seid, qer}) == bucket(id)) pdr.policing.reset();
    }
  }
  qers_.erase(id);
  return 0;
}

// --- URR -------------------------------------------------------------------------------------

int Kernel::add_urr(const Request& request) {
  const Attributes& a = request.attributes;
  const auto number = a.get(U32{3});
  if (!number) return ENODEV;
  const Id id{a.get(U64{8}).value_or(0), *number};
  const bool there = urrs_.contains(id);
  if (there && request.excl) return EEXIST;
  if (there && !request.replace) return EOPNOTSUPP;
  if (!there && request.replace) return ENOENT;
  Urr& urr = urrs_[id];
  if (!there) urr.start = wall_ns();
  if (const auto method = a.get(U8{4})) urr.method = *method;
  if (const auto trigger = a.get(U32{5})) urr.trigger = *trigger;
  if (const auto period = a.get(U32{6})) urr.period = *period;
  if (const auto info = a.get(U8{7})) urr.info = *info;
  if ((urr.trigger & kVolth) != 0 && (urr.trigger & kVolqu) != 0) {
    trap("a URR with VOLTH and VOLQU: both firing on one packet write past an array");
  }
  const auto limit = [&](std::uint16_t attr, Limit& into) {
    const auto nest = a.get(Nest{attr});
    if (!nest) return false;
    into.flags = nest->get(U8{1}).value_or(into.flags);
    into.total = nest->get(U64{2}).value_or(into.total);
    into.up = nest->get(U64{3}).value_or(into.up);
    into.down = nest->get(U64{4}).value_or(into.down);
    return true;
  };
  (void)limit(9, urr.threshold);
  if (limit(10, urr.quota)) {
    urr.quota_count = {};
    if (urr.quota.total == 0 && (urr.trigger & kVolqu) != 0) {
      close_fars(id, urr);
    } else if (urr.exhausted) {
      reopen_fars(urr);
    }
  }
  return 0;
}

int Kernel::remove_urr(const Request& request, std::vector<wire::Octets>& data) {
  const Id id{request.attributes.get(U64{8}).value_or(0),
              request.attributes.get(U32{3}).value_or(0)};
  const auto at = urrs_.find(id);
  if (at == urrs_.end()) return ENOENT;
  Urr& urr = at->second;
  const bool is_used =
      used(id.first, [&](const Pdr& pdr) { return contains(pdr.urrs, id.second); });
  const bool is_quota = (urr.trigger & kVolqu) != 0;
  if (is_used && !is_quota) {
    trap("a URR was deleted before the PDRs that use it: what they count is lost");
  }
  if (!is_used && is_quota && urr.lost_pdr_in == calls_) {
    trap("a quota went after its PDRs: the packet that uses it up may be at their entries");
  }
  Message message{data.emplace_back(), kFamily, 0, sequence_of(request.raw)};
  message.genl(kFamily & 0xffU, 0);
  message.octets(usage(id, urr, urr.period_count[urr.active], 0));
  message.finish();
  urrs_.erase(at);
  return 0;
}

int Kernel::report(const Request& request, std::vector<wire::Octets>& data) {
  const Id id{request.attributes.get(U64{8}).value_or(0),
              request.attributes.get(U32{3}).value_or(0)};
  const auto at = urrs_.find(id);
  if (at == urrs_.end()) return ENOENT;
  Urr& urr = at->second;
  Volumes& counter = urr.period_count[urr.active];
  urr.active = 1 - urr.active;
  Message message{data.emplace_back(), kFamily, 0, sequence_of(request.raw)};
  message.genl(kFamily & 0xffU, 0);
  message.octets(usage(id, urr, counter, 0));
  message.finish();
  return 0;
}

int Kernel::multi_reports(const Request& request, std::vector<wire::Octets>& data) {
  const std::uint32_t count = request.attributes.get(U32{12}).value_or(0);
  std::vector<Id> ids;
  request.attributes.for_each([&](std::uint16_t type, wire::Bytes payload, bool) {
    if (type != 11) return;
    const Attributes entry{payload};
    ids.emplace_back(entry.get(U64{8}).value_or(0), entry.get(U32{3}).value_or(0));
  });
  if (count != ids.size()) trap("GET_MULTI_REPORTS with another number of entries");
  wire::Octets reports;
  for (const Id& id : ids) {
    const auto at = urrs_.find(id);
    if (at == urrs_.end()) return ENOENT;  // and those before it are reset already
    Volumes& counter = at->second.period_count[at->second.active];
    at->second.active = 1 - at->second.active;
    const wire::Octets one = usage(id, at->second, counter, 0);
    reports.insert(reports.end(), one.begin(), one.end());
  }
  Message message{data.emplace_back(), kFamily, 0, sequence_of(request.raw)};
  message.genl(kFamily & 0xffU, 0);
  message.octets(reports);
  message.finish();
  return 0;
}

/// One UR nest; the counter starts over.
wire::Octets Kernel::usage(const Id& id, Urr& urr, Volumes& counter, std::uint32_t trigger) const {
  wire::Octets out;
  Message message{out};
  const std::uint64_t end = wall_ns();
  message.nest(5, [&] {
    message.put(3, id.second);
    message.put(8, urr.start);
    message.put(9, end);
    message.nest(6, [&] {
      message.put(2, counter.up + counter.down);
      message.put(3, counter.up);
      message.put(4, counter.down);
      message.put(5, counter.up_packets + counter.down_packets);
      message.put(6, counter.up_packets);
      message.put(7, counter.down_packets);
    });
    message.put(10, id.first);
    if (trigger != 0) message.put(4, trigger);
  });
  counter = {};
  urr.start = end;
  return out;
}

/// Every PDR in the URR's hash bucket that lists a URR of that number, whosever it is.
void Kernel::close_fars(const Id& urr_id, Urr& urr) {
  if (urr.exhausted) return;
  urr.closed.clear();
  for (auto& [id, pdr] : pdrs_) {
    if (!contains(pdr.urrs, urr_id.second)) continue;
    const bool same_bucket = std::ranges::any_of(pdr.urrs, [&](std::uint32_t other) {
      return bucket({pdr.seid, other}) == bucket(urr_id);
    });
    const auto far = fars_.find({pdr.seid, pdr.far});
    if (!same_bucket || far == fars_.end()) continue;
    urr.closed.emplace_back(far->first, far->second.action);
    far->second.action = kDrop;
  }
  urr.info |= kInactive;
  urr.exhausted = true;
}

void Kernel::reopen_fars(Urr& urr) {
  for (const auto& [id, action] : urr.closed) {
    if (const auto far = fars_.find(id); far != fars_.end()) far->second.action = action;
  }
  urr.closed.clear();
  urr.exhausted = false;
}

// --- link ------------------------------------------------------------------------------------

void Kernel::create_link(std::uint32_t hash_size, bool socket_open) {
  const std::lock_guard lock{mutex_};
  link_ = true;
  socket_ = socket_open;
  hash_size_ = hash_size;
}

void Kernel::close_socket() {
  const std::lock_guard lock{mutex_};
  socket_ = false;
}

void Kernel::remove_link() {
  const std::lock_guard lock{mutex_};
  if (socket_) trap("the link was deleted while its socket is open: use after free");
  link_ = false;
  fars_.clear();
  qers_.clear();
  urrs_.clear();
  pdrs_.clear();
  by_teid_.clear();
  by_ue_.clear();
}

void Kernel::set_qos(bool on) {
  const std::lock_guard lock{mutex_};
  qos_ = on;
}

std::size_t Kernel::rules() const {
  const std::lock_guard lock{mutex_};
  return fars_.size() + qers_.size() + urrs_.size() + pdrs_.size();
}
std::size_t Kernel::pdrs() const {
  const std::lock_guard lock{mutex_};
  return pdrs_.size();
}
std::uint64_t Kernel::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}
std::uint64_t Kernel::calls() const {
  const std::lock_guard lock{mutex_};
  return calls_;
}

}  // namespace upf::standin

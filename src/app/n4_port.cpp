#include "src/app/n4_port.hpp"

namespace upf::app {
namespace {

bool is_unspecified(const IpAddress& ip) {
  return ip == IpAddress{Ipv4{}} || ip == IpAddress{Ipv6{}};
}

}  // namespace

void N4Port::remember(const runtime::Received& datagram) {
  if (heard_at_.size() >= kRemembered && !heard_at_.contains(datagram.from.ip)) heard_at_.clear();
  heard_at_[datagram.from.ip] = datagram.to;
}

Result<std::span<const runtime::Received>, runtime::SystemError> N4Port::receive() {
  auto batch = socket_.receive();
  if (batch && is_unspecified(socket_.local().ip)) {
    for (const auto& datagram : *batch) remember(datagram);
  }
  return batch;
}

std::size_t N4Port::send(const std::vector<n4::Datagram>& datagrams) {
  std::vector<runtime::Sending> sending;
  sending.reserve(datagrams.size());
  for (const auto& datagram : datagrams) {
    const auto heard = heard_at_.find(datagram.to.ip);
    sending.push_back({datagram.to,
                       heard != heard_at_.end() ? std::optional{heard->second} : std::nullopt,
                       datagram.octets});
  }
  return datagrams.size() - socket_.send(sending);
}

}  // namespace upf::app

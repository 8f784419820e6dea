#include "tests/lab/ran.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "tests/lab/offload.hpp"

namespace upf::lab {
namespace {

constexpr int kReadsPerTurn = 64;

/// G-PDUs for one gNB's peer, sent as one UDP_SEGMENT message: equal sizes, the last may be
/// shorter.
class Batch {
 public:
  /// Where the next inner packet may be written, behind its header.
  [[nodiscard]] std::uint8_t* room() {
    if (octets_.size() - used_ < 65536 + kUplinkHeader) flush();
    return octets_.data() + used_ + kUplinkHeader;
  }

  void commit(int socket, TunnelEnd to, std::uint8_t qfi, std::size_t inner) {
    const std::size_t size = inner + kUplinkHeader;
    std::size_t at = used_;
    if (used_ != 0 &&
        (socket != socket_ || to.address != to_ || size > stride_ || used_ + size > 60000)) {
      flush();
      std::memmove(octets_.data(), octets_.data() + at, size);
      at = 0;
    }
    if (at == 0) stride_ = size;
    socket_ = socket;
    to_ = to.address;
    write_uplink_header(std::span<std::uint8_t, kUplinkHeader>{octets_.data() + at, kUplinkHeader},
                        to.teid, qfi, inner);
    used_ = at + size;
    ++count_;
    if (size < stride_ || count_ == 60) flush();
  }

  void flush() {
    if (used_ == 0) return;
    const sockaddr_in to = socket_address(to_, kGtpuPort);
    iovec data{octets_.data(), used_};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(std::uint16_t))] = {};
    msghdr message{};
    message.msg_name = const_cast<sockaddr_in*>(&to);
    message.msg_namelen = sizeof to;
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (count_ > 1) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* segment = CMSG_FIRSTHDR(&message);
      segment->cmsg_level = SOL_UDP;
      segment->cmsg_type = UDP_SEGMENT;
      segment->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
      const auto stride = static_cast<std::uint16_t>(stride_);
      std::memcpy(CMSG_DATA(segment), &stride, sizeof stride);
    }
    (void)::sendmsg(socket_, &message, 0);
    used_ = 0;
    count_ = 0;
  }

 private:
  std::vector<std::uint8_t> octets_ = std::vector<std::uint8_t>(200000);
  std::size_t used_{};
  std::size_t stride_{};
  int count_{};
  int socket_{-1};
  Ipv4 to_{};
};

/// The segment size of a message that UDP_GRO put together; the whole where it did not.
std::size_t gro_size(msghdr& message, std::size_t whole) {
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != SOL_UDP || at->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(at), sizeof size);
    return size > 0 ? static_cast<std::size_t>(size) : whole;
  }
  return whole;
}

}  // namespace

Ran::Ran(Socket tun) : tun_(std::move(tun)) {
  if (tun_.fd() >= 0) uplink_ = std::thread([this] { uplink_loop(); });
  downlink_ = std::thread([this] { downlink_loop(); });
}

Ran::~Ran() {
  stopping_ = true;
  if (uplink_.joinable()) uplink_.join();
  downlink_.join();
}

Result<std::unique_ptr<Ran>, std::string> Ran::start(const std::string& tun, int mtu) {
  Socket device;
  if (!tun.empty()) {
    auto opened = open_tun(tun, mtu);
    if (!opened) return failure(opened.error());
    device = std::move(*opened);
  }
  return std::unique_ptr<Ran>(new Ran(std::move(device)));
}

Result<void, std::string> Ran::add_gnb(const std::string& name, Ipv4 address) {
  auto socket = bind_udp(address, kGtpuPort);
  if (!socket) return failure(socket.error());
  const int on = 1;
  (void)::setsockopt(socket->fd(), SOL_UDP, UDP_GRO, &on, sizeof on);
  const std::unique_lock lock{mutex_};
  if (gnbs_.contains(name)) return failure("there is a gNB '" + name + "' already");
  gnbs_[name] = std::make_unique<Gnb>(Gnb{std::move(*socket), address});
  return {};
}

Result<TunnelEnd, std::string> Ran::attach(Ipv4 ue, const std::string& gnb, TunnelEnd uplink,
                                           std::uint8_t qfi) {
  const std::unique_lock lock{mutex_};
  const auto at = gnbs_.find(gnb);
  if (at == gnbs_.end()) return failure("there is no gNB '" + gnb + "'");
  by_ue_[ue.host()] = {at->second->socket.fd(), uplink, qfi};
  const std::uint32_t teid = next_teid_++;
  by_teid_[teid] = ue.host();
  return TunnelEnd{teid, at->second->address};
}

void Ran::detach(Ipv4 ue) {
  const std::unique_lock lock{mutex_};
  by_ue_.erase(ue.host());
  std::erase_if(by_teid_, [&](const auto& entry) { return entry.second == ue.host(); });
}

std::vector<std::uint32_t> Ran::end_marker_teids() const {
  const std::shared_lock lock{mutex_};
  return end_markers_;
}

void Ran::uplink_loop() {
  std::vector<std::uint8_t> buffer(sizeof(VnetHeader) + 65536);
  Batch batch;
  while (!stopping_) {
    if (!readable(tun_.fd(), 100)) continue;
    const std::shared_lock lock{mutex_};
    for (int turn = 0; turn < kReadsPerTurn; ++turn) {
      const ssize_t length = ::read(tun_.fd(), buffer.data(), buffer.size());
      if (length < static_cast<ssize_t>(sizeof(VnetHeader)) + 20) break;
      VnetHeader header{};
      std::memcpy(&header, buffer.data(), sizeof header);
      const std::span packet{buffer.data() + sizeof header,
                             static_cast<std::size_t>(length) - sizeof header};
      if (packet[0] >> 4U != 4) continue;
      const auto source = wire::Reader{wire::Bytes{packet}.subspan(12)}.be<std::uint32_t>();
      const auto at = by_ue_.find(source);
      if (at == by_ue_.end()) continue;
      Splitter split{header, packet};
      while (const std::size_t inner = split.next(batch.room())) {
        batch.commit(at->second.socket, at->second.uplink, at->second.qfi, inner);
        ++counters_.uplink_packets;
      }
    }
    batch.flush();
  }
}

void Ran::downlink_loop() {
  std::vector<std::uint8_t> buffer(65536);
  while (!stopping_) {
    std::vector<pollfd> waiting;
    std::vector<const Gnb*> gnbs;
    {
      const std::shared_lock lock{mutex_};
      for (const auto& [name, gnb] : gnbs_) {
        waiting.push_back({gnb->socket.fd(), POLLIN, 0});
        gnbs.push_back(gnb.get());  // gNBs stay as long as the Ran
      }
    }
    if (::poll(waiting.data(), waiting.size(), 100) <= 0) continue;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if ((waiting[i].revents & POLLIN) != 0) read_gnb(*gnbs[i], buffer);
    }
  }
}

void Ran::read_gnb(const Gnb& gnb, std::vector<std::uint8_t>& buffer) {
  Merger merger{tun_.fd()};
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    sockaddr_in from{};
    iovec data{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t received = ::recvmsg(gnb.socket.fd(), &message, MSG_DONTWAIT);
    if (received <= 0) return;
    const auto whole = static_cast<std::size_t>(received);
    const std::size_t stride = gro_size(message, whole);
    const SocketAddress peer{Ipv4::from_host(ntohl(from.sin_addr.s_addr)), ntohs(from.sin_port)};
    for (std::size_t at = 0; at < whole; at += stride) {
      const auto packet = parse_gtpu({buffer.data() + at, std::min(stride, whole - at)});
      if (packet) {
        handle(gnb, *packet, peer, &merger);
      } else {
        ++counters_.malformed;
      }
    }
    merger.flush();  // the buffer is used again
  }
}

void Ran::handle(const Gnb& gnb, const GtpuPacket& packet, const SocketAddress& from,
                 Merger* merger) {
  if (packet.type == kEchoRequest) {
    ++counters_.echo_requests;
    const auto sequence = packet.sequence.value_or(0);
    const std::uint8_t answer[] = {0x32,
                                   kEchoResponse,
                                   0,
                                   6,
                                   0,
                                   0,
                                   0,
                                   0,
                                   static_cast<std::uint8_t>(sequence >> 8U),
                                   static_cast<std::uint8_t>(sequence),
                                   0,
                                   0,
                                   14,
                                   0};
    const sockaddr_in to = socket_address(std::get<Ipv4>(from.ip), from.port);
    (void)::sendto(gnb.socket.fd(), answer, sizeof answer, 0,
                   reinterpret_cast<const sockaddr*>(&to), sizeof to);
  } else if (packet.type == kEndMarker) {
    ++counters_.end_markers;
    const std::unique_lock lock{mutex_};
    end_markers_.push_back(packet.teid);
  } else if (packet.type == kErrorIndication) {
    ++counters_.error_indications;
  } else if (packet.type == kGPdu) {
    const std::shared_lock lock{mutex_};
    if (!by_teid_.contains(packet.teid)) {
      ++counters_.unknown_teid;
      return;
    }
    ++counters_.downlink_packets;
    if (tun_.fd() >= 0) merger->add(packet.payload);
  }
}

}  // namespace upf::lab

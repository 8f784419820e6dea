#include "tests/bench/load.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>
#include <deque>

namespace upf::bench {
namespace {

constexpr std::uint16_t kPort = 8805;
constexpr std::size_t kBatch = 64;
constexpr std::uint32_t kSequences = 1U << 16U;  ///< open requests are found by the low bits
constexpr std::chrono::milliseconds kRetransmitAfter{1000};
constexpr int kTries = 4;
constexpr std::uint8_t kAccepted = 1;

}  // namespace

struct Load::Smf {
  enum class State : std::uint8_t { Waiting, Open, Parked };
  struct Slot {
    lab::Session session{};
    Request request{};
    int step{};  ///< of the cycle
    State state{};
    int tries{};
    std::uint32_t sequence{};
    Clock::time_point sent{};
    wire::Octets octets{};
  };

  lab::Identity identity{};
  lab::Socket socket{};
  std::vector<Slot> slots{};
  std::deque<std::uint32_t> waiting{};      ///< slots whose request may go out
  std::vector<std::int64_t> by_sequence{};  ///< slot of an open request, or -1
  std::uint32_t sequence{};
  std::vector<wire::Octets> outgoing{};
  bool associated{};
};

namespace {

constexpr std::array<Request, 5> kCycle{Request::Establish, Request::Activate, Request::Idle,
                                        Request::Activate, Request::Delete};

wire::Octets encode(const lab::Dialect& dialect, const lab::Identity& smf,
                    const lab::Session& session, Request request, std::uint32_t sequence) {
  switch (request) {
    case Request::Establish:
      return dialect.establishment(smf, session, sequence);
    case Request::Activate:
      return dialect.activation(smf, session, sequence);
    case Request::Idle:
      return dialect.idle(smf, session, sequence);
    case Request::Delete:
      return dialect.deletion(session, sequence);
  }
  return {};
}

}  // namespace

Load::Load(const LoadSettings& settings)
    : settings_(settings), dialect_(lab::make_dialect(settings.dialect)) {}
Load::~Load() = default;

Result<std::unique_ptr<Load>, std::string> Load::open(const LoadSettings& settings) {
  std::unique_ptr<Load> load{new Load(settings)};
  if (!load->dialect_)
    return failure("dialect '" + settings.dialect + "' is neither free5gc nor open5gs");
  for (std::uint32_t i = 0; i < settings.smfs; ++i) {
    auto smf = std::make_unique<Smf>();
    smf->identity.address = Ipv4::from_host(settings.first_smf.host() + i);
    smf->identity.recovery_time_stamp =
        static_cast<std::uint32_t>(std::time(nullptr)) + 2208988800U;
    auto socket = lab::bind_udp(smf->identity.address, kPort);
    if (!socket) return failure(socket.error());
    smf->socket = std::move(*socket);
    smf->by_sequence.assign(kSequences, -1);
    load->smfs_.push_back(std::move(smf));
  }
  return load;
}

bool Load::may_send() {
  if (open_ >= std::uint64_t{settings_.window} * settings_.smfs) return false;
  if (settings_.rate <= 0 || !measuring_) return true;
  const auto now = Clock::now();
  tokens_ += std::chrono::duration<double>(now - refilled_).count() * settings_.rate;
  tokens_ = std::min(tokens_, settings_.rate / 100);  // at most 10 ms are made up for
  refilled_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void Load::send(Smf& smf, std::uint32_t index) {
  Smf::Slot& slot = smf.slots[index];
  do {
    smf.sequence = (smf.sequence + 1) & 0xffffffU;
  } while (smf.by_sequence[smf.sequence % kSequences] >= 0);
  slot.sequence = smf.sequence;
  smf.by_sequence[slot.sequence % kSequences] = index;
  slot.octets = encode(*dialect_, smf.identity, slot.session, slot.request, slot.sequence);
  slot.state = Smf::State::Open;
  slot.tries = 1;
  slot.sent = Clock::now();
  smf.outgoing.push_back(slot.octets);
  ++open_;
}

void Load::flush(Smf& smf) {
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> data{};
  sockaddr_in to = lab::socket_address(settings_.target, kPort);
  for (std::size_t at = 0; at < smf.outgoing.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, smf.outgoing.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      data.at(i) = {smf.outgoing[at + i].data(), smf.outgoing[at + i].size()};
      messages.at(i).msg_hdr = {&to, sizeof to, &data.at(i), 1, nullptr, 0, 0};
    }
    (void)::sendmmsg(smf.socket.fd(), messages.data(), static_cast<unsigned>(count), 0);
  }
  smf.outgoing.clear();
}

void Load::receive(Smf& smf) {
  static thread_local std::array<std::array<std::uint8_t, 4096>, kBatch> buffers;
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> data{};
  for (std::size_t i = 0; i < kBatch; ++i) {
    data.at(i) = {buffers.at(i).data(), buffers.at(i).size()};
    messages.at(i).msg_hdr.msg_iov = &data.at(i);
    messages.at(i).msg_hdr.msg_iovlen = 1;
  }
  while (true) {
    const int count = ::recvmmsg(smf.socket.fd(), messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count <= 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      on_message(smf, {buffers.at(i).data(), messages.at(i).msg_len});
    }
    if (count < static_cast<int>(kBatch)) return;
  }
}

void Load::on_message(Smf& smf, wire::Bytes datagram) {
  const auto message = lab::parse(datagram);
  if (!message) return;
  switch (message->header.type) {
    case lab::message::kHeartbeatRequest:
    case lab::message::kReportRequest:
      return answer(smf, *message);
    case lab::message::kAssociationSetupResponse:
      smf.associated = lab::number<std::uint8_t>(message->body(), lab::ie::kCause) == kAccepted;
      return;
    case lab::message::kEstablishmentResponse:
    case lab::message::kModificationResponse:
    case lab::message::kDeletionResponse:
      return on_answer(smf, *message);
    default:
      return;
  }
}

void Load::answer(Smf& smf, const lab::Received& request) {
  lab::Header header{.type = static_cast<std::uint8_t>(request.header.type + 1),
                     .sequence = request.header.sequence};
  if (request.header.seid) header.seid = 0;
  lab::Message out{header};
  if (request.header.type == lab::message::kHeartbeatRequest) {
    out.number(lab::ie::kRecoveryTimeStamp, smf.identity.recovery_time_stamp);
  } else {
    out.put(lab::ie::kCause, {kAccepted});
  }
  smf.outgoing.push_back(std::move(out).finish());
}

void Load::on_answer(Smf& smf, const lab::Received& message) {
  std::int64_t& entry = smf.by_sequence[message.header.sequence % kSequences];
  if (entry < 0 || smf.slots[static_cast<std::size_t>(entry)].sequence != message.header.sequence)
    return;
  const auto index = static_cast<std::uint32_t>(entry);
  Smf::Slot& slot = smf.slots[index];
  entry = -1;
  --open_;
  const int cause = lab::number<std::uint8_t>(message.body(), lab::ie::kCause).value_or(0);
  Outcome& outcome = result_.outcomes.at(static_cast<std::size_t>(slot.request));
  if (cause != kAccepted) {
    ++outcome.refused[cause];
  } else if (measuring_) {
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - slot.sent);
    outcome.latencies_us.push_back(static_cast<std::uint32_t>(took.count()));
  }
  if (cause == kAccepted && slot.request == Request::Establish) {
    const auto f_seid = lab::find(message.body(), lab::ie::kFSeid);
    if (f_seid && f_seid->size() >= 9)
      slot.session.up_seid = wire::Reader{f_seid->subspan(1)}.be<std::uint64_t>();
  }
  if (slot.request == Request::Delete) slot.session.up_seid = 0;
  next_step(smf, index, cause == kAccepted);
}

void Load::next_step(Smf& smf, std::uint32_t index, bool accepted) {
  Smf::Slot& slot = smf.slots[index];
  slot.state = Smf::State::Parked;
  if (!cycling_) {
    if (!settings_.hold || !accepted || slot.request != Request::Establish) return;
    slot.request = Request::Activate;
    slot.state = Smf::State::Waiting;
    smf.waiting.push_back(index);
    return;
  }
  // What was refused begins again: the session is gone, or never was.
  slot.step = accepted ? (slot.step + 1) % static_cast<int>(kCycle.size()) : 0;
  slot.request = kCycle.at(static_cast<std::size_t>(slot.step));
  slot.state = Smf::State::Waiting;
  smf.waiting.push_back(index);
}

void Load::resend_late(Smf& smf) {
  const auto late = Clock::now() - kRetransmitAfter;
  for (std::uint32_t index = 0; index < smf.slots.size(); ++index) {
    Smf::Slot& slot = smf.slots[index];
    if (slot.state != Smf::State::Open || slot.sent + kRetransmitAfter * (slot.tries - 1) > late)
      continue;
    Outcome& outcome = result_.outcomes.at(static_cast<std::size_t>(slot.request));
    if (slot.tries < kTries) {
      ++slot.tries;
      ++outcome.retransmitted;
      smf.outgoing.push_back(slot.octets);
      continue;
    }
    ++outcome.unanswered;
    smf.by_sequence[slot.sequence % kSequences] = -1;
    --open_;
    next_step(smf, index, false);
  }
}

template <class Done>
bool Load::pump(double seconds, const Done& done) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  auto look_for_late = Clock::now() + kRetransmitAfter / 4;
  std::vector<pollfd> descriptors;
  for (const auto& smf : smfs_) descriptors.push_back({smf->socket.fd(), POLLIN, 0});
  while (!done()) {
    const auto now = Clock::now();
    if (now >= until) return false;
    for (const auto& smf : smfs_) {
      for (std::size_t burst = 0; burst < kBatch && !smf->waiting.empty() && may_send(); ++burst) {
        const std::uint32_t index = smf->waiting.front();
        smf->waiting.pop_front();
        send(*smf, index);
      }
      flush(*smf);
    }
    (void)::poll(descriptors.data(), descriptors.size(), 1);
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      if (descriptors[i].revents != 0) receive(*smfs_[i]);
    }
    if (now >= look_for_late) {
      for (const auto& smf : smfs_) resend_late(*smf);
      look_for_late = now + kRetransmitAfter / 4;
    }
  }
  return true;
}

Result<void, std::string> Load::prepare() {
  const auto started = Clock::now();
  for (const auto& smf : smfs_) smf->outgoing.push_back(lab::association_setup(smf->identity, 1));
  const auto all_associated = [&] {
    return std::ranges::all_of(smfs_, [](const auto& smf) { return smf->associated; });
  };
  if (!pump(5, all_associated))
    return failure("no association with " + to_string(settings_.target) + " in 5 s");
  const std::uint32_t of_each = settings_.live / settings_.smfs + settings_.window;
  for (const auto& smf : smfs_) {
    smf->slots.resize(of_each);
    for (std::uint32_t i = 0; i < of_each; ++i) {
      lab::Session& session = smf->slots[i].session;
      const std::uint32_t index = next_index_++;
      session.cp_seid = index + 1;
      session.ue = Ipv4::from_host(settings_.first_ue.host() + index);
      for (std::uint32_t flow = 0; flow < settings_.flows; ++flow) {
        session.flows.push_back({.description = "permit out udp from 192.0.2." +
                                                std::to_string(flow + 1) +
                                                " 5000-6000 to assigned"});
      }
      session.ambr_uplink_kbps = session.ambr_downlink_kbps = settings_.ambr_kbps;
      session.usage = {.enabled = settings_.usage, .threshold_octets = 1ULL << 40U};
      session.first_id = 1 + index * dialect_->ids_per_session(session) % 60000;
      session.uplink = {index + 1, settings_.n3};
      session.downlink = lab::TunnelEnd{index + 1, settings_.gnb};
      if (i >= settings_.window) smf->waiting.push_back(i);
    }
  }
  const auto quiet = [&] {
    return open_ == 0 &&
           std::ranges::all_of(smfs_, [](const auto& smf) { return smf->waiting.empty(); });
  };
  if (!pump(600, quiet))
    return failure(std::string{"the live sessions were not established in 10 minutes"});
  result_.setup_seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return {};
}

LoadResult Load::run() {
  cycling_ = true;
  measuring_ = true;
  refilled_ = Clock::now();
  for (const auto& smf : smfs_) {
    for (std::uint32_t i = 0; i < settings_.window; ++i) {
      smf->slots[i].request = Request::Establish;
      smf->waiting.push_back(i);
    }
  }
  const auto started = Clock::now();
  const auto& deleted = result_.outcomes.at(static_cast<std::size_t>(Request::Delete)).latencies_us;
  (void)pump(settings_.seconds,
             [&] { return settings_.sessions != 0 && deleted.size() >= settings_.sessions; });
  result_.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  measuring_ = false;
  return result_;
}

void Load::hold(int until) {
  pollfd end{until, POLLIN, 0};
  while (!pump(0.2, [&] { return ::poll(&end, 1, 0) > 0; })) {
  }
}

void Load::finish() {
  cycling_ = false;
  (void)pump(5, [&] { return open_ == 0; });
  for (const auto& smf : smfs_) {
    smf->waiting.clear();
    for (std::uint32_t i = 0; i < smf->slots.size(); ++i) {
      smf->slots[i].request = Request::Delete;
      if (smf->slots[i].session.up_seid != 0) smf->waiting.push_back(i);
    }
  }
  (void)pump(600, [&] {
    return open_ == 0 &&
           std::ranges::all_of(smfs_, [](const auto& smf) { return smf->waiting.empty(); });
  });
  for (const auto& smf : smfs_) {
    smf->outgoing.push_back(lab::association_release(smf->identity, 2));
    flush(*smf);
  }
}

}  // namespace upf::bench

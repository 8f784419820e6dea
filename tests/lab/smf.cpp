#include "tests/lab/smf.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace upf::lab {
namespace {

constexpr std::uint16_t kPfcpPort = 8805;
constexpr std::uint32_t kNtpToUnix = 2208988800U;
constexpr int kTries = 3;
constexpr std::chrono::milliseconds kRetransmitAfter{3000};  // free5GC's
constexpr std::uint8_t kAccepted = 1, kContextNotFound = 65;

TunnelEnd read_f_teid(wire::Bytes value) {
  wire::Reader in{value};
  (void)in.be<std::uint8_t>();
  TunnelEnd end;
  end.teid = in.be<std::uint32_t>();
  end.address.octets = in.array<4>();
  return end;
}

std::vector<std::pair<std::uint16_t, TunnelEnd>> created_pdrs(wire::Bytes body) {
  std::vector<std::pair<std::uint16_t, TunnelEnd>> created;
  for (const auto& [type, value] : ies(body)) {
    if (type != ie::kCreatedPdr) continue;
    const auto pdr = number<std::uint16_t>(value, ie::kPdrId);
    const auto f_teid = find(value, ie::kFTeid);
    if (pdr) created.emplace_back(*pdr, f_teid ? read_f_teid(*f_teid) : TunnelEnd{});
  }
  return created;
}

Answer read_answer(const Received& message) {
  Answer answer;
  answer.cause = number<std::uint8_t>(message.body(), ie::kCause).value_or(0);
  if (const auto f_seid = find(message.body(), ie::kFSeid); f_seid && f_seid->size() >= 9) {
    answer.up_seid = wire::Reader{f_seid->subspan(1)}.be<std::uint64_t>();
  }
  answer.created = created_pdrs(message.body());
  answer.usage = usage_reports(message.body());
  return answer;
}

/// TS 29.244 Table 7.3-1: up to 11 the responses are even, from 12 on they are odd; 11 itself
/// (Version Not Supported) is one, too.
bool is_response(std::uint8_t type) { return type < 11 ? type % 2 == 0 : type % 2 == 1; }

}  // namespace

std::string trigger_names(wire::Bytes trigger) {
  static constexpr std::array<const char*, 24> kNames{
      "PERIO", "VOLTH", "TIMTH", "QUHTI", "START", "STOPT", "DROTH", "IMMER",
      "VOLQU", "TIMQU", "LIUSA", "TERMR", "MONIT", "ENVCL", "MACAR", "EVETH",
      "EVEQU", "TEBUR", "IPMJL", "QUVTI", "EMRRE", "UPINT", "bit23", "bit24"};
  std::string names;
  for (std::size_t bit = 0; bit < std::min<std::size_t>(trigger.size() * 8, kNames.size()); ++bit) {
    if ((unsigned{trigger[bit / 8]} >> (bit % 8) & 1U) == 0) continue;
    if (!names.empty()) names += '+';
    names += kNames.at(bit);
  }
  return names;
}

std::vector<UsageReport> usage_reports(wire::Bytes body) {
  std::vector<UsageReport> reports;
  for (const auto& [type, value] : ies(body)) {
    if (type < ie::kReportInModification || type > ie::kReportInReport) continue;
    UsageReport report;
    report.urr = number<std::uint32_t>(value, ie::kUrrId).value_or(0);
    report.sequence = number<std::uint32_t>(value, ie::kUrSeqn).value_or(0);
    report.trigger = trigger_names(find(value, ie::kUsageReportTrigger).value_or(wire::Bytes{}));
    if (const auto volume = find(value, ie::kVolumeMeasurement)) {
      wire::Reader in{*volume};
      const auto flags = in.be<std::uint8_t>();
      if ((flags & 1U) != 0) report.total = in.be<std::uint64_t>();
      if ((flags & 2U) != 0) report.uplink = in.be<std::uint64_t>();
      if ((flags & 4U) != 0) report.downlink = in.be<std::uint64_t>();
    }
    reports.push_back(report);
  }
  return reports;
}

Smf::Smf(const SmfSettings& settings, std::unique_ptr<Dialect> dialect, Socket socket)
    : settings_(settings), dialect_(std::move(dialect)), socket_(std::move(socket)) {
  identity_ = {.address = settings.local,
               .node_id = settings.node_id,
               .recovery_time_stamp = static_cast<std::uint32_t>(std::time(nullptr)) + kNtpToUnix};
  reader_ = std::thread([this] { read_loop(); });
}

Smf::~Smf() {
  stopping_ = true;
  reader_.join();
}

Result<std::unique_ptr<Smf>, std::string> Smf::start(const SmfSettings& settings) {
  auto dialect = make_dialect(settings.dialect);
  if (!dialect) return failure("dialect '" + settings.dialect + "' is neither free5gc nor open5gs");
  auto socket = bind_udp(settings.local, kPfcpPort);
  if (!socket) return failure(socket.error());
  return std::unique_ptr<Smf>(new Smf(settings, std::move(dialect), std::move(*socket)));
}

std::uint32_t Smf::next_sequence() {
  const std::lock_guard lock{mutex_};
  sequence_ = (sequence_ + 1) & 0xffffffU;
  return sequence_;
}

Result<Answer, std::string> Smf::transact(std::uint32_t sequence, const wire::Octets& request) {
  const sockaddr_in to = socket_address(settings_.upf, kPfcpPort);
  const auto started = std::chrono::steady_clock::now();
  std::unique_lock lock{mutex_};
  open_[sequence];
  std::optional<Received> answer;
  for (int attempt = 0; attempt < kTries && !answer; ++attempt) {
    (void)::sendto(socket_.fd(), request.data(), request.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to), sizeof to);
    arrived_.wait_for(lock, kRetransmitAfter, [&] { return open_[sequence].has_value(); });
    answer = open_[sequence];
  }
  open_.erase(sequence);
  if (!answer) {
    return failure("no answer from " + to_string(SocketAddress{settings_.upf, kPfcpPort}) +
                   " to message type " + std::to_string(request.at(1)) + " in " +
                   std::to_string(kTries) + " tries of 3 s");
  }
  Answer read = read_answer(*answer);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
  read.milliseconds = took.count();
  return read;
}

void Smf::read_loop() {
  std::array<std::uint8_t, 65536> buffer{};
  while (!stopping_) {
    if (!readable(socket_.fd(), 100)) continue;
    const ssize_t length = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (length <= 0) continue;
    if (const auto message = parse({buffer.data(), static_cast<std::size_t>(length)}))
      handle(*message);
  }
}

void Smf::handle(const Received& message) {
  if (is_response(message.header.type)) {
    const std::lock_guard lock{mutex_};
    if (const auto at = open_.find(message.header.sequence); at != open_.end())
      at->second = message;
    arrived_.notify_all();
    return;
  }
  if (message.header.type == message::kReportRequest) record_report(message);
  answer_request(message);
}

void Smf::record_report(const Received& message) {
  SessionReport report;
  const wire::Bytes body = message.body();
  report.cp_seid = message.header.seid.value_or(0);
  const auto type = number<std::uint8_t>(body, ie::kReportType).value_or(0);
  report.downlink_data = (type & 1U) != 0;
  report.error_indication = (type & 4U) != 0;
  if (const auto data = find(body, ie::kDownlinkDataReport)) {
    report.pdr = number<std::uint16_t>(*data, ie::kPdrId);
  }
  report.usage = usage_reports(body);
  const std::lock_guard lock{mutex_};
  reports_.push_back(std::move(report));
  arrived_.notify_all();
}

void Smf::answer_request(const Received& message) {
  Header header{.type = static_cast<std::uint8_t>(message.header.type + 1),
                .sequence = message.header.sequence};
  if (message.header.type == message::kReportRequest) {
    if (!answer_reports_) return;
    const std::lock_guard lock{mutex_};
    const auto session = sessions_.find(message.header.seid.value_or(0));
    header.seid = session != sessions_.end() ? session->second.up_seid : 0;
  }
  Message out{header};
  if (message.header.type == message::kHeartbeatRequest) {
    out.number(ie::kRecoveryTimeStamp, identity_.recovery_time_stamp);
  } else if (message.header.type == message::kReportRequest) {
    out.put(ie::kCause, {*header.seid != 0 ? kAccepted : kContextNotFound});
  } else {
    put_node_id(out, identity_);
    out.put(ie::kCause, {kAccepted});
  }
  const wire::Octets octets = std::move(out).finish();
  const sockaddr_in to = socket_address(settings_.upf, kPfcpPort);
  (void)::sendto(socket_.fd(), octets.data(), octets.size(), 0,
                 reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

std::vector<SessionReport> Smf::take_reports(std::size_t count, std::chrono::milliseconds wait) {
  std::unique_lock lock{mutex_};
  arrived_.wait_for(lock, wait, [&] { return reports_.size() >= count; });
  return std::exchange(reports_, {});
}

Result<Answer, std::string> Smf::associate() {
  const auto sequence = next_sequence();
  return transact(sequence, association_setup(identity_, sequence));
}

Result<Answer, std::string> Smf::release() {
  const auto sequence = next_sequence();
  return transact(sequence, association_release(identity_, sequence));
}

Result<Answer, std::string> Smf::heartbeat() {
  const auto sequence = next_sequence();
  return transact(sequence, lab::heartbeat(identity_, sequence));
}

Result<Answer, std::string> Smf::establish(Session session) {
  session.cp_seid = next_seid_++;
  if (const auto ids = dialect_->ids_per_session(session); ids != 0) {
    session.first_id = next_id_;
    next_id_ += ids;
  }
  if (!dialect_->upf_chooses()) session.uplink = {next_teid_++, settings_.upf_n3};
  const auto sequence = next_sequence();
  auto answer = transact(sequence, dialect_->establishment(identity_, session, sequence));
  if (!answer || answer->cause != kAccepted) return answer;
  session.up_seid = answer->up_seid.value_or(0);
  if (dialect_->upf_chooses()) {
    const auto uplink =
        std::ranges::find(answer->created, 2, [](const auto& pdr) { return pdr.first; });
    if (uplink == answer->created.end()) return failure(std::string{"no UP F-TEID in Created PDR"});
    session.uplink = uplink->second;
  }
  const std::lock_guard lock{mutex_};
  sessions_[session.cp_seid] = session;
  return answer;
}

Result<Answer, std::string> Smf::activate(std::uint64_t cp_seid, TunnelEnd gnb) {
  const auto sequence = next_sequence();
  Session& session = sessions_.at(cp_seid);
  session.downlink = gnb;
  return transact(sequence, dialect_->activation(identity_, session, sequence));
}

Result<Answer, std::string> Smf::idle(std::uint64_t cp_seid) {
  const auto sequence = next_sequence();
  return transact(sequence, dialect_->idle(identity_, sessions_.at(cp_seid), sequence));
}

Result<Answer, std::string> Smf::handover(std::uint64_t cp_seid, TunnelEnd gnb) {
  const auto sequence = next_sequence();
  Session& session = sessions_.at(cp_seid);
  session.downlink = gnb;
  return transact(sequence, dialect_->handover(identity_, session, sequence));
}

Result<Answer, std::string> Smf::indirect(std::uint64_t cp_seid, TunnelEnd target) {
  const auto sequence = next_sequence();
  Session& session = sessions_.at(cp_seid);
  if (!dialect_->upf_chooses()) session.indirect = {next_teid_++, settings_.upf_n3};
  auto answer = transact(sequence, dialect_->indirect(identity_, session, target, sequence));
  if (answer && !answer->created.empty()) session.indirect = answer->created.front().second;
  return answer;
}

Result<Answer, std::string> Smf::indirect_removal(std::uint64_t cp_seid) {
  const auto sequence = next_sequence();
  return transact(sequence, dialect_->indirect_removal(identity_, sessions_.at(cp_seid), sequence));
}

Result<Answer, std::string> Smf::quota(std::uint64_t cp_seid, std::uint64_t octets) {
  const auto sequence = next_sequence();
  Session& session = sessions_.at(cp_seid);
  session.usage.quota_octets = octets;
  return transact(sequence, dialect_->quota(identity_, session, sequence));
}

Result<Answer, std::string> Smf::query(std::uint64_t cp_seid) {
  const auto sequence = next_sequence();
  return transact(sequence, dialect_->query(identity_, sessions_.at(cp_seid), sequence));
}

Result<Answer, std::string> Smf::remove(std::uint64_t cp_seid) {
  const auto sequence = next_sequence();
  auto answer = transact(sequence, dialect_->deletion(sessions_.at(cp_seid), sequence));
  if (answer && answer->cause == kAccepted) {
    const std::lock_guard lock{mutex_};
    sessions_.erase(cp_seid);
  }
  return answer;
}

const Session* Smf::session(std::uint64_t cp_seid) const {
  const auto at = sessions_.find(cp_seid);
  return at != sessions_.end() ? &at->second : nullptr;
}

std::vector<std::uint64_t> Smf::sessions() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  return ids;
}

}  // namespace upf::lab

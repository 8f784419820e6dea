#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/lab/dialect.hpp"
#include "tests/lab/socket.hpp"
#include "tests/lab/tlv.hpp"
#include "upf/base/result.hpp"

namespace upf::lab {

/// One Usage Report of any of the three messages that carry them.
struct UsageReport {
  std::uint32_t urr{};
  std::uint32_t sequence{};
  std::string trigger{};  ///< the names of the bits that are set, joined by '+'
  std::optional<std::uint64_t> total{};
  std::optional<std::uint64_t> uplink{};
  std::optional<std::uint64_t> downlink{};
};

/// A Session Report Request, as far as SMFs read it.
struct SessionReport {
  std::uint64_t cp_seid{};
  bool downlink_data{};
  bool error_indication{};
  std::optional<std::uint16_t> pdr{};
  std::vector<UsageReport> usage{};
};

/// What a UPF said to a session request.
struct Answer {
  std::uint8_t cause{};
  std::optional<std::uint64_t> up_seid{};
  std::vector<std::pair<std::uint16_t, TunnelEnd>> created{};  ///< PDR ID and its F-TEID
  std::vector<UsageReport> usage{};
  double milliseconds{};
};

struct SmfSettings {
  std::string dialect{"free5gc"};
  Ipv4 local{};
  Ipv4 upf{};
  Ipv4 upf_n3{};  ///< free5GC's smfcfg says it; Open5GS hears it in Created PDR
  std::string node_id{};
};

/// An SMF as far as a UPF sees one: it sends what it is told to, and answers heartbeats and reports
/// by itself, from a thread of its own.
class Smf {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Smf>, std::string> start(const SmfSettings& settings);
  ~Smf();
  Smf(const Smf&) = delete;
  Smf& operator=(const Smf&) = delete;

  [[nodiscard]] Result<Answer, std::string> associate();
  [[nodiscard]] Result<Answer, std::string> release();
  [[nodiscard]] Result<Answer, std::string> heartbeat();
  /// Fills in the SEIDs, IDs and the uplink tunnel end of the session, which the SMF then keeps.
  [[nodiscard]] Result<Answer, std::string> establish(Session session);
  [[nodiscard]] Result<Answer, std::string> activate(std::uint64_t cp_seid, TunnelEnd gnb);
  [[nodiscard]] Result<Answer, std::string> idle(std::uint64_t cp_seid);
  [[nodiscard]] Result<Answer, std::string> handover(std::uint64_t cp_seid, TunnelEnd gnb);
  [[nodiscard]] Result<Answer, std::string> indirect(std::uint64_t cp_seid, TunnelEnd target);
  [[nodiscard]] Result<Answer, std::string> indirect_removal(std::uint64_t cp_seid);
  [[nodiscard]] Result<Answer, std::string> quota(std::uint64_t cp_seid, std::uint64_t octets);
  [[nodiscard]] Result<Answer, std::string> query(std::uint64_t cp_seid);
  [[nodiscard]] Result<Answer, std::string> remove(std::uint64_t cp_seid);

  /// The session, or nullptr. Owned by the SMF until remove().
  [[nodiscard]] const Session* session(std::uint64_t cp_seid) const;
  [[nodiscard]] std::vector<std::uint64_t> sessions() const;

  /// Takes what arrived; waits until there are `count` of them or the time is over.
  [[nodiscard]] std::vector<SessionReport> take_reports(std::size_t count,
                                                        std::chrono::milliseconds wait);
  /// With false, Session Report Requests are recorded but get no answer, like free5GC's while the
  /// AMF fails.
  void answer_reports(bool yes) { answer_reports_ = yes; }

 private:
  Smf(const SmfSettings& settings, std::unique_ptr<Dialect> dialect, Socket socket);

  [[nodiscard]] std::uint32_t next_sequence();
  [[nodiscard]] Result<Answer, std::string> transact(std::uint32_t sequence,
                                                     const wire::Octets& request);
  void read_loop();
  void handle(const Received& message);
  void answer_request(const Received& message);
  void record_report(const Received& message);

  SmfSettings settings_;
  std::unique_ptr<Dialect> dialect_;
  Socket socket_;
  Identity identity_{};
  std::map<std::uint64_t, Session> sessions_{};
  std::uint64_t next_seid_{1};
  std::uint32_t next_id_{1};
  std::uint32_t next_teid_{1};

  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::uint32_t sequence_{};
  std::map<std::uint32_t, std::optional<Received>>
      open_{};  ///< requests that wait for their answer
  std::vector<SessionReport> reports_{};
  std::atomic<bool> answer_reports_{true};
  std::atomic<bool> stopping_{};
  std::thread reader_{};
};

/// PERIO, VOLTH and so on, from the three octets of a Usage Report Trigger (8.2.41).
[[nodiscard]] std::string trigger_names(wire::Bytes trigger);
[[nodiscard]] std::vector<UsageReport> usage_reports(wire::Bytes body);

}  // namespace upf::lab

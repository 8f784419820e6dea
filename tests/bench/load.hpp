#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/dialect.hpp"
#include "tests/lab/socket.hpp"
#include "upf/base/result.hpp"

namespace upf::bench {

using Clock = std::chrono::steady_clock;

enum class Request : std::uint8_t { Establish, Activate, Idle, Delete };
inline constexpr std::array<const char*, 4> kRequestNames{"establishment", "activation", "idle",
                                                          "deletion"};

struct LoadSettings {
  std::string dialect{"free5gc"};
  Ipv4 target{};
  Ipv4 n3{};
  Ipv4 gnb{};
  Ipv4 first_smf{};  ///< the SMFs have this address and those that follow
  std::uint32_t smfs{1};
  std::uint32_t window{64};  ///< sessions of each SMF that have a request open at once
  std::uint32_t live{};      ///< sessions of all SMFs established before, and kept
  double rate{};             ///< requests a second of all SMFs; 0: as fast as answers come
  double seconds{10};
  std::uint64_t sessions{};  ///< or until so many were deleted again; 0: only the time counts
  std::uint32_t flows{};     ///< PCC rules a session: two PDRs with an SDF filter each, and a QER
  bool usage{};              ///< a URR on the PDRs
  bool hold{};               ///< the live sessions get their tunnel to the gNB, and that is all
  std::uint64_t ambr_kbps{1'000'000'000};  ///< each way; 0: no bit rate is limited
  Ipv4 first_ue{{10, 60, 0, 1}};
};

/// What came back, by kind of request.
struct Outcome {
  std::vector<std::uint32_t> latencies_us{};  ///< of accepted requests
  std::map<int, std::uint64_t> refused{};     ///< by cause
  std::uint64_t unanswered{};                 ///< after all retransmissions
  std::uint64_t retransmitted{};
};

struct LoadResult {
  std::array<Outcome, 4> outcomes{};
  double seconds{};
  double setup_seconds{};  ///< for the live sessions
};

/// Drives SMFs against a UPF: each of the window's sessions is established, activated, made idle,
/// activated and deleted, again and again. One thread; answers to heartbeats and reports of the UPF
/// included.
class Load {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Load>, std::string> open(
      const LoadSettings& settings);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Associations and live sessions; the error says what the UPF answered.
  [[nodiscard]] Result<void, std::string> prepare();
  [[nodiscard]] LoadResult run();
  /// Instead of run(): keeps the associations alive until `until` has something to read.
  void hold(int until);
  /// Ends the live sessions, and the associations where the UPF knows how.
  void finish();

 private:
  struct Smf;
  explicit Load(const LoadSettings& settings);

  /// Sends and receives until `done` or the time is over; true if `done`.
  template <class Done>
  bool pump(double seconds, const Done& done);
  void receive(Smf& smf);
  void flush(Smf& smf);
  void on_message(Smf& smf, wire::Bytes datagram);
  void on_answer(Smf& smf, const lab::Received& message);
  void answer(Smf& smf, const lab::Received& request);
  void send(Smf& smf, std::uint32_t slot);
  void resend_late(Smf& smf);
  void next_step(Smf& smf, std::uint32_t slot, bool accepted);
  [[nodiscard]] bool may_send();

  LoadSettings settings_;
  std::unique_ptr<lab::Dialect> dialect_;
  std::vector<std::unique_ptr<Smf>> smfs_{};
  LoadResult result_{};
  std::uint32_t next_index_{};
  std::uint64_t open_{};  ///< requests without an answer yet
  double tokens_{};
  Clock::time_point refilled_{};
  bool cycling_{};  ///< sessions go on to the next step by themselves
  bool measuring_{};
};

}  // namespace upf::bench

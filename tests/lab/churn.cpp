// churn: sessions that come and go, one after the other: what is left of them?
//
//   churn UPF SMF COUNT [PID]
//
// One line of JSON: cycles, cycles a second, and the resident memory of process PID after a tenth
// of the cycles and at the end. Exit code 0 only if every request was accepted.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/lab/resident.hpp"
#include "tests/lab/smf.hpp"

namespace upf::lab {
namespace {

Session session_of(std::uint64_t cycle) {
  Session session;
  session.ue = Ipv4::from_host(0x0a3c0001U + static_cast<std::uint32_t>(cycle % 60000));
  session.usage = {.enabled = true, .threshold_octets = 1U << 30U};
  return session;
}

constexpr std::uint8_t kAccepted = 1, kInCongestion = 74;
constexpr std::chrono::milliseconds kCongested{50};

struct Totals {
  std::uint64_t congested{};  ///< establishments refused because the UPF was busy, and tried again
};

[[nodiscard]] Result<void, std::string> accepted(const char* what,
                                                 const Result<Answer, std::string>& answer) {
  if (!answer) return failure(std::string{what} + ": " + answer.error());
  if (answer->cause != kAccepted) {
    return failure(std::string{what} + ": cause " + std::to_string(answer->cause));
  }
  return {};
}

[[nodiscard]] Result<void, std::string> cycle(Smf& smf, std::uint64_t number, Ipv4 gnb,
                                              Totals& totals) {
  auto made = smf.establish(session_of(number));
  while (made && made->cause == kInCongestion) {
    ++totals.congested;
    std::this_thread::sleep_for(kCongested);
    made = smf.establish(session_of(number));
  }
  if (auto ok = accepted("establishment", made); !ok) return ok;
  for (const std::uint64_t cp_seid : smf.sessions()) {
    const TunnelEnd end{static_cast<std::uint32_t>(number + 1), gnb};
    if (auto ok = accepted("activation", smf.activate(cp_seid, end)); !ok) return ok;
    if (auto ok = accepted("deletion", smf.remove(cp_seid)); !ok) return ok;
  }
  return {};
}

int run(int argc, char** argv) {
  const auto upf = argc > 3 ? parse_ipv4(argv[1]) : std::nullopt;
  const auto local = argc > 3 ? parse_ipv4(argv[2]) : std::nullopt;
  if (!upf || !local) {
    std::fputs("usage: churn UPF_ADDRESS SMF_ADDRESS COUNT [PID]\n", stderr);
    return 2;
  }
  const std::uint64_t count = std::stoull(argv[3]);
  const std::string pid = argc > 4 ? argv[4] : "";
  auto smf = Smf::start({.local = *local, .upf = *upf, .upf_n3 = *upf});
  if (!smf || !(*smf)->associate()) {
    std::fputs("churn: no association\n", stderr);
    return 1;
  }
  Totals totals;
  std::string resident;
  const auto started = std::chrono::steady_clock::now();
  for (std::uint64_t done = 1; done <= count; ++done) {
    if (auto ok = cycle(**smf, done, *local, totals); !ok) {
      std::fprintf(stderr, "churn: cycle %llu: %s\n", static_cast<unsigned long long>(done),
                   ok.error().c_str());
      return 1;
    }
    if (done % std::max<std::uint64_t>(count / 10, 1) != 0) continue;
    resident += (resident.empty() ? "" : ", ") + std::to_string(resident_kib(pid));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  std::printf(
      "{\"cycles\": %llu, \"per_second\": %.0f, \"congested\": %llu, \"resident_kib\": [%s]}\n",
      static_cast<unsigned long long>(count), static_cast<double>(count) / took.count(),
      static_cast<unsigned long long>(totals.congested), resident.c_str());
  return 0;
}

}  // namespace
}  // namespace upf::lab

int main(int argc, char** argv) { return upf::lab::run(argc, argv); }

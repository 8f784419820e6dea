// churn: sessions that come and go, one after the other: what is left of them?
//
//   churn UPF SMF COUNT [PID]
//
// One line of JSON: cycles, cycles a second, and the resident memory of process PID after a tenth
// of the cycles and at the end. Exit code 0 only if every request was accepted.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/lab/smf.hpp"

namespace upf::lab {
namespace {

long resident_kib(const std::string& pid) {
  std::ifstream status{"/proc/" + pid + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

Session session_of(std::uint64_t cycle) {
  Session session;
  session.ue = Ipv4::from_host(0x0a3c0001U + static_cast<std::uint32_t>(cycle % 60000));
  session.usage = {.enabled = true, .threshold_octets = 1U << 30U};
  return session;
}

[[nodiscard]] Result<void, std::string> cycle(Smf& smf, std::uint64_t number, Ipv4 gnb) {
  const auto made = smf.establish(session_of(number));
  if (!made) return failure(made.error());
  if (made->cause != 1) return failure("establishment: cause " + std::to_string(made->cause));
  for (const std::uint64_t cp_seid : smf.sessions()) {
    const auto active = smf.activate(cp_seid, {static_cast<std::uint32_t>(number + 1), gnb});
    if (!active) return failure(active.error());
    if (active->cause != 1) return failure("activation: cause " + std::to_string(active->cause));
    const auto gone = smf.remove(cp_seid);
    if (!gone) return failure(gone.error());
    if (gone->cause != 1) return failure("deletion: cause " + std::to_string(gone->cause));
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
  long early = 0;
  const auto started = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < count; ++done) {
    if (done == count / 10) early = resident_kib(pid);
    if (auto ok = cycle(**smf, done, *local); !ok) {
      std::fprintf(stderr, "churn: cycle %llu: %s\n", static_cast<unsigned long long>(done),
                   ok.error().c_str());
      return 1;
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  std::printf(
      "{\"cycles\": %llu, \"per_second\": %.0f, \"kib_after_a_tenth\": %ld, \"kib_at_the_end\": "
      "%ld}\n",
      static_cast<unsigned long long>(count), static_cast<double>(count) / took.count(), early,
      resident_kib(pid));
  return 0;
}

}  // namespace
}  // namespace upf::lab

int main(int argc, char** argv) { return upf::lab::run(argc, argv); }

// n4load: how many session requests a second a UPF answers, how late, and what it costs. Any UPF is
// a target.

#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/bench/load.hpp"
#include "tests/lab/resident.hpp"

namespace upf::bench {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

struct Usage {
  double cpu_seconds{};
  long resident_kib{};
};

/// What the process has used so far; zeros for process 0.
Usage usage_of(int pid) {
  Usage usage;
  std::string text;
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::getline(stat, text);
  std::istringstream fields{text.substr(std::min(text.size(), text.rfind(')') + 1))};
  std::string field;
  for (int i = 3; fields >> field && i <= 15; ++i) {
    if (i >= 14)
      usage.cpu_seconds += std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  usage.resident_kib = lab::resident_kib(std::to_string(pid));
  return usage;
}

double percentile_ms(const std::vector<std::uint32_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[at] / 1000.0;
}

Json to_json(Outcome outcome, double seconds) {
  std::ranges::sort(outcome.latencies_us);
  const auto& sorted = outcome.latencies_us;
  Json refused = Json::object();
  for (const auto& [cause, count] : outcome.refused) refused[std::to_string(cause)] = count;
  return {{"accepted", sorted.size()},
          {"per_second", static_cast<double>(sorted.size()) / seconds},
          {"refused_by_cause", refused},
          {"unanswered", outcome.unanswered},
          {"retransmitted", outcome.retransmitted},
          {"p50_ms", percentile_ms(sorted, 0.5)},
          {"p90_ms", percentile_ms(sorted, 0.9)},
          {"p99_ms", percentile_ms(sorted, 0.99)},
          {"p999_ms", percentile_ms(sorted, 0.999)},
          {"max_ms", percentile_ms(sorted, 1)}};
}

Outcome sum(const LoadResult& result) {
  Outcome all;
  for (const Outcome& one : result.outcomes) {
    all.latencies_us.insert(all.latencies_us.end(), one.latencies_us.begin(),
                            one.latencies_us.end());
    for (const auto& [cause, count] : one.refused) all.refused[cause] += count;
    all.unanswered += one.unanswered;
    all.retransmitted += one.retransmitted;
  }
  return all;
}

void print_row(const char* name, const Json& row) {
  std::uint64_t refused = 0;
  for (const auto& count : row["refused_by_cause"]) refused += count.get<std::uint64_t>();
  std::printf("%-14s %10lu %10.0f %9.3f %9.3f %9.3f %9.3f %9lu %10lu\n", name,
              row["accepted"].get<unsigned long>(), row["per_second"].get<double>(),
              row["p50_ms"].get<double>(), row["p90_ms"].get<double>(), row["p99_ms"].get<double>(),
              row["max_ms"].get<double>(), refused, row["unanswered"].get<unsigned long>());
}

void print(const Json& json) {
  std::printf("%-14s %10s %10s %9s %9s %9s %9s %9s %10s\n", "request", "accepted", "a second",
              "p50 ms", "p90 ms", "p99 ms", "max ms", "refused", "unanswered");
  for (const char* name : kRequestNames) print_row(name, json["requests"][name]);
  print_row("all", json["all"]);
  std::printf("live sessions: %u, set up in %.2f s\n", json["live"].get<unsigned>(),
              json["setup_seconds"].get<double>());
  if (json.contains("target")) {
    std::printf(
        "target: %.2f cores, %ld KiB resident before, %ld KiB with the live sessions, %ld KiB at "
        "the end, %ld KiB when they were gone\n",
        json["target"]["cores"].get<double>(), json["target"]["kib_before"].get<long>(),
        json["target"]["kib_live"].get<long>(), json["target"]["kib_after"].get<long>(),
        json["target"]["kib_finished"].get<long>());
  }
  for (const auto& [cause, count] : json["all"]["refused_by_cause"].items()) {
    std::printf("refused with cause %s: %lu\n", cause.c_str(), count.get<unsigned long>());
  }
}

/// What has to hold; what doesn't is named.
struct Gates {
  bool on{};
  double per_second{};
  double p99_ms{};
  double kib_a_session{};
};

bool hold(const Gates& gates, const Json& json) {
  bool all_hold = true;
  const auto hold_one = [&](bool holds, const char* text, double is, double wanted) {
    if (!holds) std::printf("gate: %s: %.2f, wanted %.2f\n", text, is, wanted);
    all_hold = all_hold && holds;
  };
  const double rate = json["all"]["per_second"];
  const double p99 = json["all"]["p99_ms"];
  hold_one(rate >= gates.per_second, "requests a second", rate, gates.per_second);
  hold_one(p99 < gates.p99_ms, "p99 in ms", p99, gates.p99_ms);
  // The daemon's own memory hides what a few sessions take.
  constexpr unsigned kEnough = 50000;
  if (json.contains("target") && json["live"].get<unsigned>() >= kEnough) {
    const double kib = json["target"]["kib_a_session"];
    hold_one(kib <= gates.kib_a_session, "KiB a session", kib, gates.kib_a_session);
  }
  return all_hold;
}

int measure(const LoadSettings& settings, int pid, const std::string& path, const Gates& gates) {
  auto load = Load::open(settings);
  if (!load) {
    std::fprintf(stderr, "n4load: %s\n", load.error().c_str());
    return 1;
  }
  const Usage before = usage_of(pid);
  if (auto ready = (*load)->prepare(); !ready) {
    std::fprintf(stderr, "n4load: %s\n", ready.error().c_str());
    return 1;
  }
  if (settings.hold) {
    std::puts("ready");
    std::fflush(stdout);
    (*load)->hold(STDIN_FILENO);
    (*load)->finish();
    return 0;
  }
  const Usage live = usage_of(pid);
  const LoadResult result = (*load)->run();
  const Usage after = usage_of(pid);
  (*load)->finish();
  Json json{{"dialect", settings.dialect}, {"smfs", settings.smfs},
            {"window", settings.window},   {"live", settings.live},
            {"rate", settings.rate},       {"seconds", result.seconds},
            {"flows", settings.flows},     {"setup_seconds", result.setup_seconds}};
  for (std::size_t i = 0; i < kRequestNames.size(); ++i) {
    json["requests"][kRequestNames.at(i)] = to_json(result.outcomes.at(i), result.seconds);
  }
  json["all"] = to_json(sum(result), result.seconds);
  if (pid != 0) {
    json["target"] = {
        {"cores", (after.cpu_seconds - live.cpu_seconds) / result.seconds},
        {"kib_before", before.resident_kib},
        {"kib_live", live.resident_kib},
        {"kib_after", after.resident_kib},
        {"kib_a_session", static_cast<double>(live.resident_kib - before.resident_kib) /
                              std::max(1U, settings.live)},
        {"kib_finished", usage_of(pid).resident_kib}};
  }
  print(json);
  if (!path.empty()) std::ofstream{path} << json.dump(1) << '\n';
  const bool answered = json["all"]["unanswered"] == 0 && json["all"]["refused_by_cause"].empty();
  return answered && (!gates.on || hold(gates, json)) ? 0 : 1;
}

int run(int argc, char** argv) {
  LoadSettings settings;
  std::string target;
  std::string smf;
  std::string n3;
  std::string gnb{"127.0.0.99"};
  std::string ue{"10.60.0.1"};
  std::string json;
  int pid = 0;
  Gates gates;
  po::options_description options{
      "n4load --target ADDRESS --smf ADDRESS [options]: session requests against a UPF's port "
      "8805.\n"
      "Exit code 0 if every request was accepted, and with --gates if the figures hold"};
  options.add_options()("help", "this text")                                                   //
      ("target", po::value(&target)->required(), "the UPF's N4 address")                       //
      ("smf", po::value(&smf)->required(), "address of the first SMF; the others follow it")   //
      ("smfs", po::value(&settings.smfs)->default_value(1), "how many")                        //
      ("dialect", po::value(&settings.dialect)->default_value("free5gc"), "or open5gs")        //
      ("n3", po::value(&n3), "the UPF's N3 address (free5gc); the target by default")          //
      ("gnb", po::value(&gnb)->default_value(gnb), "where downlink tunnels go")                //
      ("ue", po::value(&ue)->default_value(ue), "address of the first UE")                     //
      ("live", po::value(&settings.live)->default_value(0), "sessions kept while measuring")   //
      ("window", po::value(&settings.window)->default_value(64), "open requests of each SMF")  //
      ("rate", po::value(&settings.rate)->default_value(0), "requests a second; 0: the most")  //
      ("seconds", po::value(&settings.seconds)->default_value(10), "duration")                 //
      ("sessions", po::value(&settings.sessions)->default_value(0),
       "or until so many sessions have come and gone")                                        //
      ("gates", po::bool_switch(&gates.on), "the exit code says whether the gates hold")      //
      ("gate-rate", po::value(&gates.per_second)->default_value(40000), "requests a second")  //
      ("gate-p99", po::value(&gates.p99_ms)->default_value(5), "99 % answered within, ms")    //
      ("gate-kib", po::value(&gates.kib_a_session)->default_value(2),
       "resident KiB a session, from 50,000 live ones on")                            //
      ("flows", po::value(&settings.flows)->default_value(0), "PCC rules a session")  //
      ("usage", po::bool_switch(&settings.usage), "a URR on every PDR")               //
      ("ambr", po::value(&settings.ambr_kbps)->default_value(settings.ambr_kbps),
       "kbit/s each way of a session's QER; 0: without a limit")  //
      ("hold", po::bool_switch(&settings.hold),
       "no load: say 'ready' and keep the live sessions until standard input ends")             //
      ("pid", po::value(&pid)->default_value(0), "the UPF's process: CPU and memory are read")  //
      ("json", po::value(&json), "file for the figures");
  po::variables_map values;
  po::store(po::parse_command_line(argc, argv, options), values);
  if (values.contains("help")) {
    std::cout << options;
    return 0;
  }
  po::notify(values);
  if (n3.empty()) n3 = target;
  const std::pair<const std::string*, Ipv4*> addresses[] = {{&target, &settings.target},
                                                            {&smf, &settings.first_smf},
                                                            {&n3, &settings.n3},
                                                            {&gnb, &settings.gnb},
                                                            {&ue, &settings.first_ue}};
  for (const auto& [text, address] : addresses) {
    const auto parsed = parse_ipv4(*text);
    if (!parsed) throw po::error("'" + *text + "' is not an IPv4 address");
    *address = *parsed;
  }
  return measure(settings, pid, json, gates);
}

}  // namespace
}  // namespace upf::bench

int main(int argc, char** argv) {
  try {
    return upf::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "n4load: %s (see --help)\n", error.what());
    return 2;
  }
}

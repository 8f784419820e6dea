#include "src/app/metrics/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace upf::app::metrics {
namespace {

/// The words of /proc/self/stat behind the program's name, which may hold blanks; the first is
/// field 3 of proc(5).
std::vector<std::string> stat_fields() {
  std::ifstream file{"/proc/self/stat"};
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  std::istringstream words{name_end == std::string::npos ? "" : line.substr(name_end + 1)};
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields;
}

double boot_time() {
  std::ifstream file{"/proc/stat"};
  for (std::string word; file >> word;) {
    double seconds{};
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

}  // namespace

void expose_process(Exposition& to) {
  const auto fields = stat_fields();
  const auto field = [&](std::size_t number) {
    return number - 3 < fields.size() ? std::stod(fields[number - 3]) : 0.0;
  };
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  to.add("process_cpu_seconds_total", (field(14) + field(15)) / ticks);
  to.add("process_resident_memory_bytes", field(24) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  to.add("process_virtual_memory_bytes", field(23));
  to.add("process_threads", field(20));
  to.add("process_start_time_seconds", boot_time() + field(22) / ticks);
  std::error_code error;
  std::size_t open = 0;
  for (std::filesystem::directory_iterator at{"/proc/self/fd", error}, end; at != end;
       at.increment(error)) {
    ++open;
  }
  to.add("process_open_fds", static_cast<double>(open));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    to.add("process_max_fds", static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace upf::app::metrics

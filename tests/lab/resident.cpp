#include "tests/lab/resident.hpp"

#include <fstream>

namespace upf::lab {

long resident_kib(const std::string& pid) {
  std::ifstream status{"/proc/" + pid + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

}  // namespace upf::lab

// Runs a fuzz target over the files and folders that are named: what ctest does without libFuzzer.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::vector<char> bytes{std::istreambuf_iterator<char>{in}, {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path{argv[i]};
    if (!std::filesystem::is_directory(path)) {
      run(path);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator{path}) {
      if (!entry.is_regular_file()) continue;
      run(entry.path());
      ++files;
    }
  }
  std::printf("%zu inputs\n", files);
  if (files == 0) std::fprintf(stderr, "no inputs: name files or folders\n");
  return files == 0 ? 1 : 0;
}

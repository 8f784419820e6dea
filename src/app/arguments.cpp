#include "src/app/arguments.hpp"

#include <boost/program_options.hpp>
#include <sstream>

namespace upf::app {
namespace {

namespace po = boost::program_options;

po::options_description options() {
  po::options_description description{"Options"};
  auto add = description.add_options();
  add("config,c", po::value<std::string>()->value_name("FILE"), "load configuration from FILE");
  add("log,l", po::value<std::vector<std::string>>()->value_name("FILE"),
      "write the log to FILE, too (may be given several times)");
  add("check", "say what is wrong with the configuration, or what it amounts to, and exit");
  add("version", "print the version and exit");
  add("help,h", "print this and exit");
  return description;
}

/// Go's flag package takes one dash or two before any name, and `=` after any.
std::string as_boost(std::string word) {
  if (word.size() < 2 || word[0] != '-' || word == "--") return word;
  const std::size_t start = word[1] == '-' ? 2 : 1;
  const std::size_t equals = word.find('=', start);
  const std::string name = word.substr(start, equals - start);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals);
  if (name.size() == 1) {
    // Boost's short options have their value right behind: -cFILE.
    return "-" + name + (value.empty() ? "" : value.substr(1));
  }
  for (const char* known : {"config", "log", "check", "version", "help"}) {
    if (name == known) return "--" + name + value;
  }
  return word;
}

}  // namespace

Result<Arguments, std::string> parse_arguments(std::span<const char* const> words) {
  std::vector<std::string> normal;
  for (const char* word : words) normal.push_back(as_boost(word));
  try {
    const auto description = options();
    po::variables_map values;
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    // Words that aren't options are an error: a forgotten -c must not start the default file.
    po::store(
        po::command_line_parser(normal).options(description).style(style).positional({}).run(),
        values);
    Arguments arguments;
    if (values.count("config") != 0) arguments.config = values["config"].as<std::string>();
    if (values.count("log") != 0) arguments.logs = values["log"].as<std::vector<std::string>>();
    arguments.check = values.count("check") != 0;
    arguments.version = values.count("version") != 0;
    arguments.help = values.count("help") != 0;
    return arguments;
  } catch (const po::error& error) {
    return failure(std::string{error.what()});
  }
}

std::string usage() {
  std::ostringstream text;
  text << "upf, a 5G User Plane Function\n\n  upf [-c FILE] [-l FILE]... [--check]\n\n"
       << options() << "\nWithout -c the configuration is " << kDefaultConfig << ", or else "
       << kPackagedConfig
       << ".\nExit codes: 0 stopped as asked, 1 failed, 2 wrong arguments or configuration.\n";
  return text.str();
}

}  // namespace upf::app

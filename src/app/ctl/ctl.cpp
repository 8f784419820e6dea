#include "upf/app/ctl.hpp"

#include <boost/program_options.hpp>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "src/app/ctl/command.hpp"

// Each command is a row of kCommands: what it is called, what it takes, what it does. Help,
// completion and what is refused come from there.
namespace upf::app {
namespace ctl {
namespace {

namespace po = boost::program_options;

constexpr const char* kDefaultSocket = "/run/kupf/api.sock";

int completion(const Session& s);

struct Command {
  const char* name;
  const char* arguments;  ///< "WORD [--option VALUE]", at most one word
  const char* help;
  int (*run)(const Session&);
};

constexpr Command kCommands[] = {
    {"status", "", "what is up, and totals", status},
    {"ready", "", "whether new sessions are taken: exit code 0 or 1", ready},
    {"sessions",
     "[--ue ADDRESS] [--seid SEID] [--dnn NAME] [--peer NODE] [--teid TEID] [--limit N] "
     "[--after SEID]",
     "list sessions, all or those that fit", sessions},
    {"session", "SEID|UE", "one session with its rules", session},
    {"peers", "", "SMFs and GTP-U peers, and their health", peers},
    {"refusals", "", "the last refused requests, with why", refusals},
    {"counters", "", "the data plane's counters", counters},
    {"features", "", "what the UPF and its data plane can do", features},
    {"pools", "", "data networks and their UE addresses", pools},
    {"config", "", "the configuration in force, key by key", config_in_force},
    {"watch", "[--count N]", "throughput and signalling, a line a second", watch},
    {"trace", "SEID|UE [--seconds N]", "a subscriber's messages, rules and events, live", trace},
    {"capture", "SEID|UE [-w FILE] [--seconds N] [--octets N]",
     "a subscriber's messages and packets, pcapng", capture},
    {"release", "SEID|UE", "end a session", release},
    {"drop", "NODE", "end an association and its sessions", drop},
    {"drain", "[on|stay|off]", "refuse new sessions; on: and stop once empty", drain},
    {"reload", "", "read the configuration again", reload},
    {"log", "trace|debug|info|warn|error|fatal|panic", "set the log level", log_level},
    {"check", "FILE", "check a configuration, and what it would change", check},
    {"audit", "[--repair]", "compare intended and installed rules", audit},
    {"completion", "bash", "for the shell: source <(upfctl completion bash)", completion},
};

/// What commands take beside words. Those without a value are switches.
struct Option {
  const char* name;
  const char* value;
  const char* help;
  const char* letter = "";
};

constexpr Option kOptions[] = {
    {"ue", "ADDRESS", "sessions: of this UE"},
    {"seid", "SEID", "sessions: with this SEID, our own, else the SMF's"},
    {"dnn", "NAME", "sessions: of this data network"},
    {"peer", "NODE", "sessions: of the SMF with this Node ID"},
    {"teid", "TEID", "sessions: with this TEID, ours or the gNB's"},
    {"limit", "N", "sessions: so many at once, 1 to 1000 (default: 100)"},
    {"after", "SEID", "sessions: those behind this one, as the last list said"},
    {"count", "N", "watch: end after so many lines"},
    {"seconds", "N", "trace, capture: end after so long, 1 to 3600 (default: 3600, 60)"},
    {"octets", "N", "capture: the file's limit, 4096 to 67108864 (default: 16777216)"},
    {"write", "FILE", "capture: the file (default: upf.pcapng)", ",w"},
    {"repair", nullptr, "audit: mend what is wrong"},
};

/// What stands for itself in a command's arguments: its options, or the words of "a|b|c".
std::string words_of(const Command& command, bool options) {
  static const std::regex option{"()(--?[a-z]+)"};
  static const std::regex word{"(^|[\\[|])([a-z]+)(?=[|\\]]|$)"};
  const std::string arguments = command.arguments;
  std::string words;
  for (std::sregex_iterator at{arguments.begin(), arguments.end(), options ? option : word}, end;
       at != end; ++at) {
    words += (words.empty() ? "" : " ") + at->str(2);
  }
  return words;
}

bool takes_option(const Command& command, const std::string& name) {
  const std::string as_written = name == "write" ? "-w" : "--" + name;
  return (" " + words_of(command, true) + " ").find(" " + as_written + " ") != std::string::npos;
}

bool takes_word(const Command& command) {
  const std::string arguments = command.arguments;
  return !arguments.empty() && !arguments.starts_with("[-");
}

int completion(const Session& s) {
  if (!s.option("output").empty()) {
    throw Stop{kUsage, "completion: a script has no other form; leave --output out"};
  }
  if (s.word(0, "the shell") != "bash") throw Stop{kUsage, "completion: bash"};
  std::string names;
  std::string cases;
  for (const Command& command : kCommands) {
    const bool file = std::string_view{command.arguments} == "FILE";
    names += (names.empty() ? "" : " ") + std::string{command.name};
    cases += fmt::format("    {}) options='{}' words='{}' files={} ;;\n", command.name,
                         words_of(command, true), words_of(command, false), file ? "yes" : "");
  }
  std::string valued;
  for (const Option& option : kOptions) {
    const std::string name = std::string{"--"} + option.name;
    if (option.value != nullptr) valued += (valued.empty() ? "" : "|") + name;
  }
  fmt::print(
      "_upfctl() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local names='{}' command='' options='' words='' files='' at\n"
      "  for at in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    if [[ \" $names \" == *\" $at \"* ]]; then command=$at; break; fi\n"
      "  done\n"
      "  case $command in\n{}  esac\n"
      "  case $before in\n"
      "    -o|--output) words='table json yaml' files='' ;;\n"
      "    -s|--server|-w|--write) words='' files=yes ;;\n"
      "    {}) words='' files='' ;;\n"
      "    *)\n"
      "      if [[ $word == -* ]]; then\n"
      "        words=\"$options --server --output --help --version\" files=''\n"
      "      elif [[ -z $command ]]; then\n"
      "        words=$names\n"
      "      fi ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  if [[ -n $files ]]; then COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
      "}}\n"
      "complete -F _upfctl upfctl\n",
      names, cases, valued);
  return 0;
}

po::options_description options() {
  po::options_description description{"Options"};
  auto add = description.add_options();
  add("server,s", po::value<std::string>()->value_name("SERVER"),
      "socket path or ADDRESS:PORT of the API (default: $UPFCTL_SERVER or /run/kupf/api.sock)");
  add("output,o", po::value<std::string>()->value_name("FORM"), "table (default), json or yaml");
  for (const Option& option : kOptions) {
    const std::string name = std::string{option.name} + option.letter;
    if (option.value == nullptr) {
      add(name.c_str(), option.help);
    } else {
      add(name.c_str(), po::value<std::string>()->value_name(option.value), option.help);
    }
  }
  add("version", "print the version and exit");
  add("help,h", "print this and exit");
  return description;
}

/// "  name arguments" and the help beside it or below, in 80 columns.
std::string usage_of(const Command& command) {
  constexpr std::size_t kHelpAt = 29;
  constexpr std::size_t kWidth = 79;
  std::string text;
  std::string line = fmt::format("  {}", command.name);
  const std::string margin(line.size(), ' ');
  std::istringstream parts{std::regex_replace(command.arguments, std::regex{"\\] "}, "]\n")};
  for (std::string part; std::getline(parts, part);) {
    if (line.size() + 1 + part.size() > kWidth) {
      text += line + "\n";
      line = margin;
    }
    line += " " + part;
  }
  if (line.size() + 2 > kHelpAt) {
    text += line + "\n";
    line.clear();
  }
  return text + fmt::format("{:<{}}{}\n", line, kHelpAt, command.help);
}

std::string usage() {
  std::ostringstream text;
  text << "upfctl, to ask and steer a running upf\n\n  upfctl [options] COMMAND\n\nCommands\n";
  for (const Command& command : kCommands) text << usage_of(command);
  text << "\n"
       << options()
       << "\nExit codes: 0 done, 1 refused or wrong, 2 wrong arguments, 3 no daemon answers,\n"
          "4 no such thing.\n";
  return text.str();
}

http::Address address_of(const std::string& text) {
  if (text.starts_with('/')) return http::UnixPath{text};
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  const auto ip = parse_ip(host);
  const int port = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  if (!ip || port < 1 || port > 65535) {
    throw Stop{kUsage, "--server: a socket's path, or an address with a port"};
  }
  return SocketAddress{*ip, static_cast<std::uint16_t>(port)};
}

po::variables_map parse(int argc, char** argv) {
  po::options_description all;
  all.add(options());
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv)
                .options(all)
                .positional(po::positional_options_description{}.add("words", -1))
                .run(),
            values);
  return values;
}

const Command& command_of(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return command;
  }
  throw Stop{kUsage, fmt::format("no command {}; see upfctl --help", name)};
}

/// Fills in what the command was given; what it doesn't take is refused rather than ignored.
void take_arguments(const po::variables_map& values, const Command& command, Session& session) {
  for (const auto& [key, value] : values) {
    if (key == "words") continue;
    if (key != "server" && key != "output" && !takes_option(command, key)) {
      throw Stop{kUsage, fmt::format("{} takes no --{}; see upfctl --help", command.name, key)};
    }
    session.options[key] = value.as<std::string>();  // of one without a value: empty
  }
  if (session.words.size() > (takes_word(command) ? 1U : 0U)) {
    throw Stop{kUsage, fmt::format("{}: {} is too much; see upfctl --help", command.name,
                                   session.words.back())};
  }
}

int run_command(int argc, char** argv) {
  const po::variables_map values = parse(argc, argv);
  if (values.count("version") != 0) {
    fmt::print("upfctl {}\n", KUPF_VERSION);
    return 0;
  }
  if (values.count("help") != 0 || values.count("words") == 0) {
    fmt::print(values.count("help") != 0 ? stdout : stderr, "{}", usage());
    return values.count("help") != 0 ? 0 : kUsage;
  }
  Session session;
  session.words = values["words"].as<std::vector<std::string>>();
  const Command& command = command_of(session.words.front());
  session.words.erase(session.words.begin());
  take_arguments(values, command, session);
  const char* const from_environment = std::getenv("UPFCTL_SERVER");
  session.where = values.count("server") != 0   ? session.option("server")
                  : from_environment != nullptr ? from_environment
                                                : kDefaultSocket;
  session.server = address_of(session.where);
  if (values.count("output") != 0) session.format = session.option("output");
  if (session.format != "table" && session.format != "json" && session.format != "yaml") {
    throw Stop{kUsage, "--output: table, json or yaml"};
  }
  return command.run(session);
}

}  // namespace
}  // namespace ctl

int run_ctl(int argc, char** argv) {
  try {
    return ctl::run_command(argc, argv);
  } catch (const ctl::Stop& stop) {
    fmt::print(stderr, "upfctl: {}\n", stop.text);
    return stop.code;
  } catch (const boost::program_options::error& error) {
    fmt::print(stderr, "upfctl: {}; see upfctl --help\n", error.what());
    return ctl::kUsage;
  } catch (const ctl::Json::exception& error) {
    fmt::print(stderr, "upfctl: the answer lacks something: {}; is upf of another version?\n",
               error.what());
    return ctl::kRefused;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return 0;  // the reader of a pipe has enough
    fmt::print(stderr, "upfctl: {}\n", error.what());
    return ctl::kRefused;
  } catch (const std::exception& error) {
    fmt::print(stderr, "upfctl: {}\n", error.what());
    return ctl::kRefused;
  }
}

}  // namespace upf::app

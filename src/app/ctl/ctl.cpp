#include "upf/app/ctl.hpp"

#include <boost/program_options.hpp>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "src/app/ctl/command.hpp"

// Each command is a row of kCommands: what it is called, what it takes, what it does.
namespace upf::app {
namespace ctl {
namespace {

namespace po = boost::program_options;

constexpr const char* kDefaultSocket = "/run/kupf/api.sock";

int completion(const Session& s);

struct Command {
  const char* name;
  const char* arguments;
  const char* help;
  int (*run)(const Session&);
};

constexpr Command kCommands[] = {
    {"status", "", "what is up, and totals", status},
    {"sessions", "[--ue A] [--seid S] [--dnn D] [--peer NODE] [--teid T]", "list sessions",
     sessions},
    {"session", "SEID|UE", "one session with its rules", session},
    {"peers", "", "SMFs and GTP-U peers, and their health", peers},
    {"refusals", "", "the last refused requests, with why", refusals},
    {"counters", "", "the data plane's counters", counters},
    {"watch", "[--count N]", "throughput and signalling, a line a second", watch},
    {"trace", "UE|SEID [--seconds N]", "a subscriber's messages, rules and events, live", trace},
    {"capture", "UE|SEID [-w FILE] [--seconds N] [--octets N]",
     "a subscriber's messages and packets, pcapng", capture},
    {"release", "SEID|UE", "end a session", release},
    {"drop", "NODE", "end an association and its sessions", drop},
    {"drain", "[on|stay|off]", "refuse new sessions; on: and stop once empty", drain},
    {"reload", "", "read the configuration again", reload},
    {"log", "trace|debug|info|warn|error|fatal", "set the log level", log_level},
    {"check", "FILE", "check a configuration, and what it would change", check},
    {"audit", "[--repair]", "compare intended and installed rules, mend them with --repair", audit},
    {"completion", "bash", "completion for the shell: source <(upfctl completion bash)",
     completion},
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

int completion(const Session&) {
  std::string names;
  std::string cases;
  for (const Command& command : kCommands) {
    names += (names.empty() ? "" : " ") + std::string{command.name};
    cases += fmt::format("    {}) options='{}' words='{}' ;;\n", command.name,
                         words_of(command, true), words_of(command, false));
  }
  fmt::print(
      "_upfctl() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local names='{}' command='' options='' words='' at\n"
      "  for at in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    if [[ \" $names \" == *\" $at \"* ]]; then command=$at; break; fi\n"
      "  done\n"
      "  case $command in\n{}  esac\n"
      "  if [[ $before == -o || $before == --output ]]; then\n"
      "    words='table json yaml'\n"
      "  elif [[ $word == -* ]]; then\n"
      "    words=\"$options --server --output --help --version\"\n"
      "  elif [[ -z $command ]]; then\n"
      "    words=$names\n"
      "  fi\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -F _upfctl upfctl\n",
      names, cases);
  return 0;
}

po::options_description options() {
  po::options_description description{"Options"};
  auto add = description.add_options();
  add("server,s", po::value<std::string>(),
      "socket path or ADDRESS:PORT of the API (default: $UPFCTL_SERVER or /run/kupf/api.sock)");
  add("output,o", po::value<std::string>()->default_value("table"), "table, json or yaml");
  for (const char* name :
       {"ue", "seid", "dnn", "peer", "teid", "limit", "after", "count", "seconds", "octets"}) {
    add(name, po::value<std::string>(), "see the command");
  }
  add("repair", "audit: mend what is wrong");
  add("write,w", po::value<std::string>(), "the file to write a capture to");
  add("version", "print the version and exit");
  add("help,h", "print this and exit");
  return description;
}

std::string usage() {
  std::ostringstream text;
  text << "upfctl, to ask and steer a running upf\n\n  upfctl [options] COMMAND\n\nCommands\n";
  for (const Command& command : kCommands) {
    const std::string call = std::string{command.name} + " " + command.arguments;
    text << fmt::format("  {:<56} {}\n", call, command.help);
  }
  text << "\n"
       << options()
       << "\nExit codes: 0 done, 1 refused, 2 wrong arguments, 3 no daemon answers, 4 no such "
          "thing.\n";
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

int run_command(int argc, char** argv) {
  auto all = options();
  po::options_description hidden;
  hidden.add(all);
  hidden.add_options()("words", po::value<std::vector<std::string>>());
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv)
                .options(hidden)
                .positional(po::positional_options_description{}.add("words", -1))
                .run(),
            values);
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
  const std::string name = session.words.front();
  session.words.erase(session.words.begin());
  const char* from_environment = std::getenv("UPFCTL_SERVER");
  session.where = values.count("server") != 0   ? values["server"].as<std::string>()
                  : from_environment != nullptr ? from_environment
                                                : kDefaultSocket;
  session.server = address_of(session.where);
  for (const auto& [key, value] : values) {
    if (const auto* text = boost::any_cast<std::string>(&value.value()))
      session.options[key] = *text;
  }
  if (values.count("repair") != 0) session.options["repair"] = "true";
  session.format = session.option("output");
  if (session.format != "table" && session.format != "json" && session.format != "yaml") {
    throw Stop{kUsage, "--output: table, json or yaml"};
  }
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(session);
  }
  throw Stop{kUsage, fmt::format("no command {}; see upfctl --help", name)};
}

}  // namespace
}  // namespace ctl

int run_ctl(int argc, char** argv) {
  try {
    return ctl::run_command(argc, argv);
  } catch (const ctl::Stop& stop) {
    fmt::print(stderr, "upfctl: {}\n", stop.text);
    return stop.code;
  } catch (const std::exception& error) {
    // Boost's errors are of the arguments; nlohmann's say that the answer lacks something.
    fmt::print(stderr, "upfctl: {}\n", error.what());
    return ctl::kUsage;
  }
}

}  // namespace upf::app

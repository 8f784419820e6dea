#include "src/app/log_line.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace upf::app {
namespace {

std::string time_of(WallTime at) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(at);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(at - whole).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), millis);
}

void put_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20 || octet == 0x7f) {
      out += fmt::format("\\x{:02x}", octet);
    } else {
      out += c;
    }
  }
}

void put_value(std::string& out, std::string_view value) {
  const bool plain = value.find_first_of(" \"=") == std::string_view::npos;
  if (!plain) out += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    put_escaped(out, {&c, 1});
  }
  if (!plain) out += '"';
}

void put_rest(std::string& out, const LogLine& line) {
  if (!line.procedure.empty()) out += line.procedure + ": ";
  put_escaped(out, line.text);
  for (const auto& [key, value] : line.fields) {
    if (value.empty()) continue;
    out += " " + key + "=";
    put_value(out, value);
  }
  if (!line.caller.empty()) out += " caller=" + line.caller;
}

}  // namespace

std::string_view name_of(Level level) {
  constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "fatal"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string as_text(const LogLine& line) {
  std::string level{name_of(line.level)};
  std::ranges::transform(level, level.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string out = fmt::format("{} {:<5} ", time_of(line.at), level);
  put_rest(out, line);
  return out;
}

std::string as_journal(const LogLine& line, bool json) {
  // syslog's numbers, sd-daemon(3): debug 7, info 6, warning 4, err 3, crit 2.
  constexpr char kNumbers[] = {'7', '7', '6', '4', '3', '2'};
  std::string out = fmt::format("<{}>", kNumbers[static_cast<std::size_t>(line.level)]);
  if (json) return out + as_json(line);
  put_rest(out, line);
  return out;
}

std::string as_json(const LogLine& line) {
  nlohmann::ordered_json json{{"time", time_of(line.at)}, {"level", name_of(line.level)}};
  if (!line.procedure.empty()) json["procedure"] = line.procedure;
  json["text"] = line.text;
  for (const auto& [key, value] : line.fields) {
    if (!value.empty()) json[key] = value;
  }
  if (!line.caller.empty()) json["caller"] = line.caller;
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace upf::app

#include <cstdio>

#include "src/app/ctl/command.hpp"

namespace upf::app::ctl {

std::string Session::option(const std::string& name) const {
  const auto found = options.find(name);
  return found != options.end() ? found->second : std::string{};
}

const std::string& Session::word(std::size_t index, const char* what) const {
  if (index >= words.size())
    throw Stop{kUsage, fmt::format("{} is missing; see upfctl --help", what)};
  return words[index];
}

std::string Session::query(std::initializer_list<const char*> names) const {
  std::string text;
  for (const char* name : names) {
    if (const auto value = option(name); !value.empty()) {
      text += fmt::format("{}{}={}", text.empty() ? "?" : "&", name, http::escaped(value));
    }
  }
  return text;
}

std::string Session::fetch(const std::string& method, const std::string& target) const {
  const auto reply = http::fetch(server, method, target);
  if (!reply) throw Stop{kUnreachable, reply.error()};
  if (reply->status < 300) return reply->body;
  const auto json = Json::parse(reply->body, nullptr, false);
  const char* const key = reply->status == 503 ? "reason" : "error";
  const bool told = json.is_object() && json.contains(key);
  const int code = reply->status == 400 ? kUsage : reply->status == 404 ? kNotFound : kRefused;
  throw Stop{code, told ? cell(json[key]) : fmt::format("HTTP status {}", reply->status)};
}

Json Session::call(const std::string& method, const std::string& target) const {
  auto json = Json::parse(fetch(method, target), nullptr, false);
  if (!json.is_object()) throw Stop{kRefused, "the answer isn't JSON; is upf there?"};
  return json;
}

bool Session::print_as_data(const Json& json) const {
  if (format == "json") fmt::print("{}\n", json.dump(2));
  if (format == "yaml") fmt::print("{}", yaml(json));
  return format != "table";
}

bool Session::print_as_record(const Json& json) const {
  if (format == "json") fmt::print("{}\n", json.dump());
  if (format == "yaml") fmt::print("---\n{}", yaml(json));
  std::fflush(stdout);
  return format != "table";
}

std::string Session::seid_of(const std::string& word) const {
  if (!parse_ip(word)) return word;
  Json found = find_sessions("?limit=1&ue=" + http::escaped(word));
  if (found["sessions"].empty()) throw Stop{kNotFound, "no session has the address " + word};
  return cell(found["sessions"][0]["seid"]);
}

// The daemon looks at so many sessions a call, and answers with what it found among them and where
// it stopped.
Json Session::find_sessions(const std::string& query) const {
  Json found = call("GET", "/v1/sessions" + query);
  while (found["sessions"].empty() && !found["next"].is_null()) {
    const std::string more = query.empty() ? "?" : query + "&";
    found = call("GET", "/v1/sessions" + more + "after=" + http::escaped(cell(found["next"])));
  }
  return found;
}

}  // namespace upf::app::ctl

#include "tests/lab/script.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

namespace upf::lab {

/// `name=value` words of a line; a value with spaces stands in double quotes.
struct Script::Arguments {
  std::map<std::string, std::string> values{};
  std::vector<std::string> flows{};  ///< `flow=` may come several times

  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = {}) const {
    const auto at = values.find(name);
    return at != values.end() ? at->second : otherwise;
  }
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise = 0) const {
    const std::string value = text(name);
    std::uint64_t parsed = otherwise;
    (void)std::from_chars(value.data(), value.data() + value.size(), parsed);
    return parsed;
  }
  [[nodiscard]] Result<Ipv4, std::string> address(const std::string& name) const {
    const auto parsed = parse_ipv4(text(name));
    if (!parsed) return failure(name + "= needs an IPv4 address, not '" + text(name) + "'");
    return *parsed;
  }
};

namespace {

using Json = nlohmann::json;

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else if (c != '\r' && c != '\n') {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

Json to_json(const TunnelEnd& end) {
  return {{"teid", end.teid}, {"address", to_string(end.address)}};
}

Json to_json(const UsageReport& report) {
  Json json{{"urr", report.urr}, {"sequence", report.sequence}, {"trigger", report.trigger}};
  if (report.total) json["total"] = *report.total;
  if (report.uplink) json["uplink"] = *report.uplink;
  if (report.downlink) json["downlink"] = *report.downlink;
  return json;
}

Json to_json(const std::vector<UsageReport>& reports) {
  Json json = Json::array();
  for (const UsageReport& report : reports) json.push_back(to_json(report));
  return json;
}

Json to_json(const SessionReport& report) {
  Json json{{"session", report.cp_seid},
            {"downlink_data", report.downlink_data},
            {"error_indication", report.error_indication},
            {"usage", to_json(report.usage)}};
  if (report.pdr) json["pdr"] = *report.pdr;
  return json;
}

/// A refusal by the UPF is an error of the command: scripts stop there unless they expect it.
[[nodiscard]] Result<Json, std::string> to_json(const Result<Answer, std::string>& answer) {
  if (!answer) return failure(answer.error());
  if (answer->cause != 1) return failure("the UPF refused: cause " + std::to_string(answer->cause));
  return Json{
      {"cause", answer->cause}, {"ms", answer->milliseconds}, {"usage", to_json(answer->usage)}};
}

Json to_json(const Session& session) {
  Json json{{"session", session.cp_seid},
            {"up_seid", session.up_seid},
            {"ue", to_string(session.ue)},
            {"dnn", session.dnn},
            {"uplink", to_json(session.uplink)}};
  if (session.downlink) json["downlink"] = to_json(*session.downlink);
  return json;
}

}  // namespace

Script::Script() = default;
Script::~Script() = default;

const std::map<std::string, Script::Entry>& Script::commands() {
  static const std::map<std::string, Entry> kCommands{
      {"help", {&Script::help, "this list"}},
      {"quit", {&Script::quit, "end the program; sessions are left as they are"}},
      {"ran", {&Script::ran, "[tun=NAME] [mtu=1400]: UEs live behind the TUN device NAME"}},
      {"gnb", {&Script::gnb, "name= address=: a gNB that answers on this address, port 2152"}},
      {"smf",
       {&Script::smf,
        "name= dialect=free5gc|open5gs address= upf= [upf-n3=] [node-id=FQDN]: an SMF, port 8805"}},
      {"associate", {&Script::associate, "[smf=]: PFCP Association Setup"}},
      {"release", {&Script::release, "[smf=]: PFCP Association Release"}},
      {"heartbeat", {&Script::heartbeat, "[smf=]: one Heartbeat"}},
      {"establish",
       {&Script::establish,
        "ue= [smf=] [dnn=internet] [qfi=1] [ambr-up=KBPS] [ambr-down=KBPS] [usage=1 period=S "
        "threshold= quota=] "
        "[flow=\"permit out ...\"]...: a PDU session, not activated yet"}},
      {"activate",
       {&Script::activate, "gnb= [session=] [smf=]: downlink to this gNB; also after idle"}},
      {"idle", {&Script::idle, "[session=] [smf=]: buffer downlink packets and report the first"}},
      {"handover",
       {&Script::handover, "gnb= [session=] [smf=]: path switch, asks for an End Marker"}},
      {"indirect",
       {&Script::indirect, "gnb= [session=] [smf=]: forwarding tunnel to the target gNB"}},
      {"indirect-remove", {&Script::indirect_removal, "[session=] [smf=]"}},
      {"query", {&Script::query, "[session=] [smf=]: Query URR 1"}},
      {"quota", {&Script::quota, "octets= [session=] [smf=]: a new volume quota for URR 1"}},
      {"delete", {&Script::remove, "[session=] [smf=]: ends the session"}},
      {"reports",
       {&Script::reports, "[smf=] [count=1] [wait=MS]: takes the Session Reports that came"}},
      {"answer-reports",
       {&Script::answer_reports, "yes=0|1 [smf=]: whether Session Reports get an answer"}},
      {"counters", {&Script::counters, "what gNBs and UEs counted"}},
  };
  return kCommands;
}

std::string Script::run(const std::string& line) {
  const auto words = words_of(line);
  if (words.empty()) return Json{{"ok", true}}.dump();
  Arguments in;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string::npos) {
      return Json{{"ok", false}, {"error", "'" + words[i] + "' is not NAME=VALUE"}}.dump();
    }
    if (words[i].starts_with("flow=")) in.flows.push_back(words[i].substr(equals + 1));
    in.values[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  const auto command = commands().find(words[0]);
  if (command == commands().end()) {
    return Json{{"ok", false}, {"error", "no command '" + words[0] + "'; try help"}}.dump();
  }
  auto result = (this->*command->second.run)(in);
  if (!result) return Json{{"ok", false}, {"error", result.error()}}.dump();
  (*result)["ok"] = true;
  return result->dump();
}

Result<Json, std::string> Script::help(const Arguments& /*in*/) {
  Json json;
  for (const auto& [name, entry] : commands()) json[name] = entry.help;
  return json;
}

Result<Json, std::string> Script::quit(const Arguments& /*in*/) {
  finished_ = true;
  return Json::object();
}

Result<Json, std::string> Script::ran(const Arguments& in) {
  auto started = Ran::start(in.text("tun"), static_cast<int>(in.number("mtu", 1400)));
  if (!started) return failure(started.error());
  ran_ = std::move(*started);
  return Json::object();
}

Result<Json, std::string> Script::gnb(const Arguments& in) {
  if (!ran_) return failure(std::string{"first say: ran"});
  const auto address = in.address("address");
  if (!address) return failure(address.error());
  if (auto added = ran_->add_gnb(in.text("name"), *address); !added) return failure(added.error());
  return Json::object();
}

Result<Json, std::string> Script::smf(const Arguments& in) {
  SmfSettings settings{.dialect = in.text("dialect", "free5gc"), .node_id = in.text("node-id")};
  const auto local = in.address("address");
  const auto upf = in.address("upf");
  if (!local) return failure(local.error());
  if (!upf) return failure(upf.error());
  settings.local = *local;
  settings.upf = *upf;
  settings.upf_n3 = in.address("upf-n3").value_or(*upf);
  auto started = Smf::start(settings);
  if (!started) return failure(started.error());
  smfs_[in.text("name", "smf")] = std::move(*started);
  return Json::object();
}

Result<Smf*, std::string> Script::smf_of(const Arguments& in) {
  const auto at = in.values.contains("smf") ? smfs_.find(in.text("smf")) : smfs_.begin();
  if (at == smfs_.end()) return failure("there is no SMF '" + in.text("smf", "smf") + "'");
  return at->second.get();
}

Result<const Session*, std::string> Script::session_of(const Arguments& in) {
  const auto smf = smf_of(in);
  if (!smf) return failure(smf.error());
  const auto known = (*smf)->sessions();
  const std::uint64_t wanted = in.number("session", known.empty() ? 0 : known.back());
  const Session* session = (*smf)->session(wanted);
  if (session == nullptr) return failure("the SMF has no session " + std::to_string(wanted));
  return session;
}

Result<TunnelEnd, std::string> Script::attach(const Arguments& in, const Session& session) {
  if (!ran_) return failure(std::string{"first say: ran, and gnb"});
  return ran_->attach(session.ue, in.text("gnb"), session.uplink, session.qfi);
}

Result<Json, std::string> Script::associate(const Arguments& in) {
  const auto smf = smf_of(in);
  return smf ? to_json((*smf)->associate()) : failure(smf.error());
}

Result<Json, std::string> Script::release(const Arguments& in) {
  const auto smf = smf_of(in);
  return smf ? to_json((*smf)->release()) : failure(smf.error());
}

Result<Json, std::string> Script::heartbeat(const Arguments& in) {
  const auto smf = smf_of(in);
  return smf ? to_json((*smf)->heartbeat()) : failure(smf.error());
}

Result<Json, std::string> Script::establish(const Arguments& in) {
  const auto smf = smf_of(in);
  if (!smf) return failure(smf.error());
  const auto ue = in.address("ue");
  if (!ue) return failure(ue.error());
  Session session;
  session.ue = *ue;
  session.dnn = in.text("dnn", session.dnn);
  session.qfi = static_cast<std::uint8_t>(in.number("qfi", session.qfi));
  session.ambr_uplink_kbps = in.number("ambr-up", session.ambr_uplink_kbps);
  session.ambr_downlink_kbps = in.number("ambr-down", session.ambr_downlink_kbps);
  session.usage = {.enabled = in.number("usage") != 0,
                   .period_s = static_cast<std::uint32_t>(in.number("period")),
                   .threshold_octets = in.number("threshold"),
                   .quota_octets = in.number("quota")};
  for (const std::string& flow : in.flows) session.flows.push_back({.description = flow});
  const auto answer = (*smf)->establish(session);
  auto json = to_json(answer);
  if (json) json->update(to_json(*(*smf)->session((*smf)->sessions().back())));
  return json;
}

Result<Json, std::string> Script::activate(const Arguments& in) {
  const auto session = session_of(in);
  if (!session) return failure(session.error());
  const auto end = attach(in, **session);
  if (!end) return failure(end.error());
  auto json = to_json((*smf_of(in))->activate((*session)->cp_seid, *end));
  if (json) json->update(to_json(**session));
  return json;
}

Result<Json, std::string> Script::idle(const Arguments& in) {
  const auto session = session_of(in);
  return session ? to_json((*smf_of(in))->idle((*session)->cp_seid)) : failure(session.error());
}

Result<Json, std::string> Script::handover(const Arguments& in) {
  const auto session = session_of(in);
  if (!session) return failure(session.error());
  const auto before = (*session)->downlink.value_or(TunnelEnd{});
  const auto end = attach(in, **session);
  if (!end) return failure(end.error());
  auto json = to_json((*smf_of(in))->handover((*session)->cp_seid, *end));
  if (json) json->update(Json{{"before", to_json(before)}, {"after", to_json(*end)}});
  return json;
}

Result<Json, std::string> Script::indirect(const Arguments& in) {
  const auto session = session_of(in);
  if (!session) return failure(session.error());
  const auto target = attach(in, **session);
  if (!target) return failure(target.error());
  auto json = to_json((*smf_of(in))->indirect((*session)->cp_seid, *target));
  if (json) json->update(Json{{"indirect", to_json((*session)->indirect.value_or(TunnelEnd{}))}});
  return json;
}

Result<Json, std::string> Script::indirect_removal(const Arguments& in) {
  const auto session = session_of(in);
  return session ? to_json((*smf_of(in))->indirect_removal((*session)->cp_seid))
                 : failure(session.error());
}

Result<Json, std::string> Script::query(const Arguments& in) {
  const auto session = session_of(in);
  return session ? to_json((*smf_of(in))->query((*session)->cp_seid)) : failure(session.error());
}

Result<Json, std::string> Script::quota(const Arguments& in) {
  const auto session = session_of(in);
  return session ? to_json((*smf_of(in))->quota((*session)->cp_seid, in.number("octets")))
                 : failure(session.error());
}

Result<Json, std::string> Script::remove(const Arguments& in) {
  const auto session = session_of(in);
  if (!session) return failure(session.error());
  const Ipv4 ue = (*session)->ue;
  auto json = to_json((*smf_of(in))->remove((*session)->cp_seid));
  if (json && ran_) ran_->detach(ue);
  return json;
}

Result<Json, std::string> Script::reports(const Arguments& in) {
  const auto smf = smf_of(in);
  if (!smf) return failure(smf.error());
  Json list = Json::array();
  const std::chrono::milliseconds wait{in.number("wait")};
  for (const auto& report : (*smf)->take_reports(in.number("count", 1), wait))
    list.push_back(to_json(report));
  return Json{{"reports", list}};
}

Result<Json, std::string> Script::answer_reports(const Arguments& in) {
  const auto smf = smf_of(in);
  if (!smf) return failure(smf.error());
  (*smf)->answer_reports(in.number("yes") != 0);
  return Json::object();
}

Result<Json, std::string> Script::counters(const Arguments& /*in*/) {
  if (!ran_) return failure(std::string{"there is no ran"});
  const RanCounters& counters = ran_->counters();
  return Json{{"uplink_packets", counters.uplink_packets.load()},
              {"downlink_packets", counters.downlink_packets.load()},
              {"unknown_teid", counters.unknown_teid.load()},
              {"end_markers", ran_->end_marker_teids()},
              {"echo_requests", counters.echo_requests.load()},
              {"error_indications", counters.error_indications.load()},
              {"malformed", counters.malformed.load()}};
}

}  // namespace upf::lab

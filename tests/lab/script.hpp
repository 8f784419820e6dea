#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/lab/ran.hpp"
#include "tests/lab/smf.hpp"
#include "upf/base/result.hpp"

namespace upf::lab {

/// The command language: one line in, one line of JSON out. `help` lists the commands.
class Script {
 public:
  Script();
  ~Script();

  /// `{"ok":true,...}`, or `{"ok":false,"error":"..."}`.
  [[nodiscard]] std::string run(const std::string& line);
  [[nodiscard]] bool finished() const { return finished_; }

  struct Arguments;
  using Json = nlohmann::json;

 private:
  using Command = Result<Json, std::string> (Script::*)(const Arguments&);
  struct Entry {
    Command run{};
    const char* help{};
  };
  static const std::map<std::string, Entry>& commands();

  [[nodiscard]] Result<Json, std::string> help(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> quit(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> ran(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> gnb(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> smf(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> associate(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> release(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> heartbeat(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> establish(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> activate(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> idle(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> handover(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> indirect(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> indirect_removal(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> query(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> quota(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> remove(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> reports(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> answer_reports(const Arguments& in);
  [[nodiscard]] Result<Json, std::string> counters(const Arguments& in);

  [[nodiscard]] Result<Smf*, std::string> smf_of(const Arguments& in);
  /// The session that `session=` names, by the SMF's SEID; the newest by default.
  [[nodiscard]] Result<const Session*, std::string> session_of(const Arguments& in);
  /// Attaches the session's UE to the gNB that `gnb=` names.
  [[nodiscard]] Result<TunnelEnd, std::string> attach(const Arguments& in, const Session& session);

  std::unique_ptr<Ran> ran_{};
  std::map<std::string, std::unique_ptr<Smf>> smfs_{};
  bool finished_{};
};

}  // namespace upf::lab

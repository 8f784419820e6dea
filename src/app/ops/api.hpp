#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/app/http/server.hpp"
#include "src/app/ops/follow.hpp"
#include "src/app/ops/scene.hpp"

namespace upf::app::ops {

/// What the API may do to the daemon.
struct Actions {
  using Outcome = Result<std::string, std::string>;  ///< what was done, or why not
  std::function<Outcome(config::LogLevel)> set_level{};
  std::function<Outcome()> reload{};
  /// `end`: the daemon stops once its last session is gone.
  std::function<Outcome(bool on, bool end)> set_draining{};
  std::function<Outcome(Seid)> release_session{};
  /// The error: there is none.
  std::function<Outcome(const std::string& node_id)> drop_association{};
  std::function<Outcome(bool repair)> audit{};
  struct Started {
    unsigned id{};
    std::string warning{};  ///< what a capture goes without, and why; empty: nothing
  };
  /// Follows a subscriber; with `capture` his packets, too.
  std::function<Result<Started, std::string>(Target target, bool capture, std::size_t octets,
                                             std::chrono::seconds time)>
      follow{};
};

/// One operation: what the server routes by and what the OpenAPI document says of it.
struct Route {
  std::string_view method{};
  std::string_view path{};  ///< "/v1/sessions/{seid}"
  std::string_view summary{};
  std::string_view parameters{};  ///< of the query: "target*, seconds"; "*": it must be there
  std::string_view schema{};      ///< of a good answer; empty: what `media` says
  bool acts{};                    ///< changes something: privileged calls only
  std::string_view errors{};      ///< "400 404"; 503 has a good answer's schema
  std::string_view media{"application/json"};  ///< of a good answer
};
[[nodiscard]] std::span<const Route> routes();

/// The admin API, the metrics and the status page. All calls on the loop's thread.
class Api {
 public:
  Api(Scene scene, Actions actions, Follower& follower)
      : scene_(std::move(scene)), actions_(std::move(actions)), follower_(follower) {}

  [[nodiscard]] http::Reply serve(const http::Call& call);
  [[nodiscard]] const Scene& scene() const { return scene_; }

 private:
  using Handler = http::Reply (Api::*)(const http::Call& call, const std::string& id);
  struct Entry {
    Route route{};
    Handler handler{};
  };
  friend std::span<const Route> routes();
  static const Entry kEntries[];
  [[nodiscard]] static std::span<const Entry> entries();

  http::Reply page(const http::Call& call, const std::string& id);
  http::Reply metrics(const http::Call& call, const std::string& id);
  http::Reply openapi(const http::Call& call, const std::string& id);
  http::Reply status(const http::Call& call, const std::string& id);
  http::Reply health(const http::Call& call, const std::string& id);
  http::Reply ready(const http::Call& call, const std::string& id);
  http::Reply associations(const http::Call& call, const std::string& id);
  http::Reply paths(const http::Call& call, const std::string& id);
  http::Reply sessions(const http::Call& call, const std::string& id);
  http::Reply session(const http::Call& call, const std::string& id);
  http::Reply config(const http::Call& call, const std::string& id);
  http::Reply features(const http::Call& call, const std::string& id);
  http::Reply pools(const http::Call& call, const std::string& id);
  http::Reply refusals(const http::Call& call, const std::string& id);
  http::Reply counters(const http::Call& call, const std::string& id);
  http::Reply set_level(const http::Call& call, const std::string& id);
  http::Reply reload(const http::Call& call, const std::string& id);
  http::Reply drain(const http::Call& call, const std::string& id);
  http::Reply release(const http::Call& call, const std::string& id);
  http::Reply drop(const http::Call& call, const std::string& id);
  http::Reply audit(const http::Call& call, const std::string& id);
  http::Reply audit_state(const http::Call& call, const std::string& id);
  http::Reply start_trace(const http::Call& call, const std::string& id);
  http::Reply start_capture(const http::Call& call, const std::string& id);
  http::Reply follow(const http::Call& call, bool capture);
  http::Reply trace(const http::Call& call, const std::string& id);
  http::Reply capture(const http::Call& call, const std::string& id);
  http::Reply capture_state(const http::Call& call, const std::string& id);
  http::Reply stop_following(const http::Call& call, const std::string& id);
  [[nodiscard]] const Following* following_of(const std::string& id) const;

  Scene scene_;
  SessionLabels session_labels_{};
  Actions actions_;
  Follower& follower_;
};

/// The OpenAPI 3.1 document of routes().
[[nodiscard]] std::string openapi_document(const std::string& version);
/// The status page: one file, nothing loaded from elsewhere.
[[nodiscard]] std::string_view status_page();

}  // namespace upf::app::ops

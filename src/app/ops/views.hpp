#pragma once

#include <nlohmann/json.hpp>

#include "src/app/ops/scene.hpp"

/// The daemon's state as JSON. SEIDs are text ("0x…"): a JSON number has 53 bits in many readers.
namespace upf::app::ops {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json status_view(const Scene& scene);
[[nodiscard]] Json associations_view(const Scene& scene);
[[nodiscard]] Json paths_view(const Scene& scene);
[[nodiscard]] Json config_view(const Scene& scene);
[[nodiscard]] Json features_view(const Scene& scene);
[[nodiscard]] Json pools_view(const Scene& scene);
[[nodiscard]] Json refusals_view(const Scene& scene);
[[nodiscard]] Json counters_view(const Scene& scene);
[[nodiscard]] Json audit_view(const Scene& scene);

/// One line of a list, and all there is to say.
[[nodiscard]] Json session_row(const session::Session& session);
[[nodiscard]] Json session_view(const session::Session& session,
                                const std::optional<dataplane::Inspection>& installed);

[[nodiscard]] std::string seid_text(Seid seid);
[[nodiscard]] std::optional<Seid> parse_seid(const std::string& text);
/// Node ID IE's value octets (TS 29.244 8.2.38), which is how sessions name their owner.
[[nodiscard]] std::string owner_text(const std::string& owner);
/// UE addresses of a session's rules, each once.
[[nodiscard]] std::vector<std::string> ue_addresses(const session::Session& session);
[[nodiscard]] std::string time_text(WallTime time);

}  // namespace upf::app::ops

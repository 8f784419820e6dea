#pragma once

#include <string>

#include "src/app/http/server.hpp"

namespace upf::app::http {

/// One call to a server. The error is one line for people.
[[nodiscard]] Result<Reply, std::string> fetch(const Address& server, const std::string& method,
                                               const std::string& target);

/// For a query: "a b" becomes "a%20b".
[[nodiscard]] std::string escaped(const std::string& text);

}  // namespace upf::app::http

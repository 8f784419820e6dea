#pragma once

#include <memory>
#include <string>

#include "upf/base/result.hpp"
#include "upf/config/config.hpp"

namespace upf::app {

/// The nftables rules that natifname and tcpMss ask for, as a script that replaces our table; empty
/// if they ask for nothing. Exposed for tests.
[[nodiscard]] std::string nat_script(const config::Config& config);
/// The table's name: one for each device, so that two UPFs on a host leave each other's alone.
[[nodiscard]] std::string nat_table(const config::Config& config);

/// Our nftables table, there as long as this is.
class Netfilter {
 public:
  /// Removes what a dead process left, and puts the rules in. The error says what to do.
  [[nodiscard]] static Result<std::unique_ptr<Netfilter>, std::string> open(
      const config::Config& config);
  Netfilter(const Netfilter&) = delete;
  Netfilter& operator=(const Netfilter&) = delete;
  ~Netfilter();

  /// Other rules in one step: no packet meets half of them.
  [[nodiscard]] Result<void, std::string> apply(const config::Config& config);

 private:
  Netfilter() = default;
  std::string table_{};
  bool installed_{};
};

}  // namespace upf::app

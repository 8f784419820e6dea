#pragma once

#include <yaml-cpp/mark.h>

#include <map>
#include <string>
#include <vector>

#include "upf/config/config.hpp"

namespace upf::config {

/// Where each key of the file stands.
using Marks = std::map<std::string, YAML::Mark>;

/// What no single key can get wrong: rules between keys. Every value is by itself as its row says.
void check(const Config& config, const Marks& marks, Errors& errors, std::vector<Remark>& warnings,
           std::vector<Remark>& notes);

void check(const PredefinedRules& rules, const Marks& marks, Errors& errors);

}  // namespace upf::config

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
void check(const Config& config, const Marks& marks, std::vector<Remark>& errors,
           std::vector<Remark>& warnings);

void check(const PredefinedRules& rules, const Marks& marks, std::vector<Remark>& errors);

}  // namespace upf::config

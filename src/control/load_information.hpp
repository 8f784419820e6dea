#pragma once

#include <chrono>
#include <string>

#include "src/control/core.hpp"

namespace upf::control {

/// Load and Overload Control Information into a session message for the association, where its CP
/// function supports them and has not been told yet (TS 29.244 6.2.3.2, 6.2.4.2).
template <class Message>
void add_load(Core& core, Message& message, n4::Association* association) {
  constexpr std::chrono::seconds kValidity{10};
  if (association == nullptr) return;
  const Load& load = core.load;
  if (association->features.load && association->load_told != load.load_sequence()) {
    association->load_told = load.load_sequence();
    message.load_control_information = {.sequence_number = load.load_sequence(),
                                        .load_metric = static_cast<std::uint8_t>(load.metric())};
  }
  // While there is overload it is said each time: what was said before runs out.
  const bool told = association->overload_told == load.overload_sequence();
  if (association->features.ovrl && (load.reduction() > 0 || !told)) {
    association->overload_told = load.overload_sequence();
    message.overload_control_information = {
        .sequence_number = load.overload_sequence(),
        .overload_reduction_metric = static_cast<std::uint8_t>(load.reduction()),
        .period_of_validity = pfcp::UnitTimer::of(kValidity)};
  }
}

}  // namespace upf::control

#pragma once

#include "verification/simulation/plan.hpp"

namespace holdfast::simulation {

// Chooses the kind of a world that is designed for fenced mode.
void choose_fenced_theme(plan& p, dice& chance);

// Adds fenced mode to a world of any kind.
void fence(plan& p, dice& chance);

} // namespace holdfast::simulation

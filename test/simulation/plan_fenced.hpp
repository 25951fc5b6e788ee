#pragma once

#include "simulation/plan.hpp"

namespace holdfast::simulation {

// What a world of fenced mode is about.
void choose_fenced_theme(plan& p, dice& chance);

// The locks give tokens, whatever else the world is about.
void fence(plan& p, dice& chance);

} // namespace holdfast::simulation

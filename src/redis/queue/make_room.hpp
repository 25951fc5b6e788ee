#pragma once

#include <cstddef>

namespace holdfast::redis {

// Keeps a memory of resources small, before an entry is added. If it is full, old entries are
// forgotten; if most of the others are not old, all are. So old ones are looked for once for many
// entries.
template <class Map, class Old>
void make_room(Map& known, Old is_old)
{
    constexpr std::size_t most = 4096; // more entries are not worth their memory
    if (known.size() < most)
        return;
    erase_if(known, [&](const auto& each) { return is_old(each.second); });
    if (known.size() > most / 2)
        known.clear();
}

} // namespace holdfast::redis

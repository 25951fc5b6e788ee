#include "verification/model/baton/nodes.hpp"

#include "verification/model/baton/variant.hpp"

namespace holdfast::model::baton {

void leave(world& w, std::size_t p) noexcept
{
    fifo<2> rest;
    while (!w.queue.empty()) {
        const unsigned each = w.queue.pop();
        if (each != name_of(p))
            rest.push(each);
    }
    w.queue = rest;
}

place_answer enqueue(world& w, std::size_t p, bool again, small ttl) noexcept
{
    node& n = w.nodes[queue_node];
    const name me = name_of(p);
    if (again && n.key == value{.token = me}) {
        leave(w, p);
        n.until = static_cast<small>(w.time + ttl);
        return place_answer::granted;
    }
    if (again && n.key.place == me) {
        leave(w, p);
        return place_answer::has_baton;
    }
    if (!w.queue.has(me))
        w.queue.push(me);
    if (n.key.token != 0)
        return place_answer::waits;
    const auto first = static_cast<name>(w.queue.pop());
    n.key = {.token = first};
    n.until = static_cast<small>(w.time + (first == me ? ttl : turn_ttl));
    return first == me ? place_answer::granted : place_answer::waits;
}

void hand_off(world& w, std::size_t at) noexcept
{
    node& n = w.nodes[at];
    n.key = {};
    n.until = 0;
    if (at != queue_node || w.queue.empty())
        return;
    n.key = {.token = static_cast<name>(w.queue.pop())};
    n.until = static_cast<small>(w.time + turn_ttl);
}

} // namespace holdfast::model::baton

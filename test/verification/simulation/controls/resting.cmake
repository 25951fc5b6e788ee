# Resources that stay locked for `min_hold`

holdfast_control(rest_forgotten "a release within min_hold gives the resource back"
    EDIT src/core/holders.cpp
        "    if (rests_until(slots_[lease]) <= now)
        return false;"
        "    if (now > long_ago)
        return false;"
    RUN --resting)

holdfast_control(rest_handed_over "a lease is handed to a local wait although the resource must rest"
    EDIT src/core/holders.cpp
        "    if (terms.min_hold_ms != 0)
        return false; // the key has less than one ttl left"
        ""
    EDIT src/core/claim_slot.hpp
        "           a.min_hold_ms == b.min_hold_ms;"
        "           true;"
    RUN --resting
    COMPILE src/core/contest.cpp)

holdfast_control(rest_ends_with_the_locker "a locker that closes deletes the keys of resources that must rest"
    EDIT src/core/holders.cpp
        "        backend_.cleanup().leave(s.claim);"
        "        backend_.release(s.claim, long_ago);"
    RUN "--resting --draining")

holdfast_control(rest_of_an_old_lease "a lease that is given as it is may end before min_hold is over"
    EDIT src/core/claim_slot.hpp
        "    return terms.min_hold_ms != 0 || !terms.renews;"
        "    return false && terms.renews;"
    RUN "--resting --contended"
    COMPILE src/core/contest.cpp)

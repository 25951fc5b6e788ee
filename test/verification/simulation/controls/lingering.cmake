# Leases that linger

holdfast_control(lingers_without_end "a lease lingers for longer than it may"
    EDIT src/core/lingering_leases.cpp
        "    return later(lease.since, std::chrono::milliseconds(lease.terms.linger_ms));"
        "    return lease.queue == 0 ? lease.since : never;"
    RUN --lingering)

holdfast_control(lingers_although_others_wait "a lease lingers although the locker knows that others wait"
    EDIT src/core/holders.cpp
        "    if (lingers(slots_, lease))
        stop_lingering(lease, now);
    else if (leases_.is_held(lease))"
        "    if (leases_.is_held(lease))"
    RUN --lingering)

holdfast_control(lingering_after_the_end "a lease that has ended while it lingers is used again"
    EDIT src/core/holders.cpp
        "if (lingering_.service(lease, now).over || !hand_over(lease, now))"
        "if (!hand_over(lease, now))"
    EDIT src/core/holders.cpp
        "from.keeper.where() != lease_keeper::phase::kept"
        "false"
    EDIT src/core/holders.cpp
        "granted.until - terms.guard <= now"
        "false"
    RUN --lingering)

holdfast_control(lingering_token_repeated "a lease that is taken again has the token of the holder before"
    EDIT src/core/holders.cpp
        "    const auto fence = backend_.transfer(to.claim, next);"
        "    static thread_local std::map<std::pair<const void*, claim_id>, std::optional<std::uint64_t>>
        last;
    const auto moved = backend_.transfer(to.claim, next);
    auto& known = last[{this, to.claim}];
    const auto fence = lingered && known ? known : moved;
    known = fence;"
    EDIT src/core/holders.cpp
        "#include \"core/holders.hpp\""
        "#include \"core/holders.hpp\"
#include <map>"
    RUN --lingering)

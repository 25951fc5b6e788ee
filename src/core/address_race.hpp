#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::core {

// Decides in which order the addresses of a host are tried, and when the next attempt begins while
// earlier ones are still unanswered. The first connection wins. Some addresses may be silent, for
// example all of one family behind a broken router.
//
// Source: RFC 8305 ("Happy Eyeballs"), sections 4 and 5.
class address_race {
public:
    struct candidate {
        bool ipv6 = false;
        bool good = false;   // the last address that has sent anything
        bool silent = false; // it accepted the last connection and then sent nothing
    };

    static constexpr std::size_t most = 16; // further addresses are not tried

    // `all` is in the order of the name service. The race must be over at `end`.
    void begin(std::span<const candidate> all, time_point now, time_point end);

    // The address to try now, as an index into `all`; nothing if none is due.
    std::optional<std::size_t> next(time_point now);
    time_point next_at() const noexcept;

    // An attempt has failed: the next one is due at once.
    void failed(time_point now) noexcept;
    // Whether all attempts have failed.
    bool lost() const noexcept { return failed_ == order_.size(); }

private:
    std::vector<std::size_t> order_;
    std::size_t begun_ = 0, failed_ = 0;
    duration pause_{};
    time_point due_{};
};

} // namespace holdfast::core

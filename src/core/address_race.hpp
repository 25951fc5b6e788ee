#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::core {

// A host has several addresses, and some of them may be silent, as all of one family are behind a
// broken router: in which order they are tried, and when the next one is, beside those that have
// not answered yet. The first that connects wins.
//
// Source: RFC 8305 ("Happy Eyeballs"), sections 4 and 5.
class address_race {
public:
    struct candidate {
        bool ipv6 = false;
        bool good = false;   // the last one that we have heard anything from
        bool silent = false; // it took the last connection, and then said nothing
    };

    static constexpr std::size_t most = 16; // more addresses than that are not tried

    // `all` in the order of the name service; all of it must be over at `end`.
    void begin(std::span<const candidate> all, time_point now, time_point end);

    // Which one to begin with now, by its place in `all`; nothing if none is due.
    std::optional<std::size_t> next(time_point now);
    time_point next_at() const noexcept;

    // One of those that were begun has failed: the next one is due at once.
    void failed(time_point now) noexcept;
    // All have.
    bool lost() const noexcept { return failed_ == order_.size(); }

private:
    std::vector<std::size_t> order_;
    std::size_t begun_ = 0, failed_ = 0;
    duration pause_{};
    time_point due_{};
};

} // namespace holdfast::core

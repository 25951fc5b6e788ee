#pragma once

#include "redis/node/first_bytes.hpp"
#include "redis/node/push_allowance.hpp"
#include "redis/node/reply.hpp"
#include "resp/reader.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::redis {

// What arrives on a connection: takes bytes, and gives answers and pushes. Refuses bytes that are
// not in the protocol of Redis, and a flood of pushes.
class inbox {
public:
    explicit inbox(resp::reader_limits limits = {}) : reader_(limits) {}

    // A new connection.
    void reset(core::time_point now);

    // The space for the next bytes; never empty.
    std::span<char> space();
    // `n` bytes have arrived in that space.
    void add(std::size_t n);

    enum class item : std::uint8_t { none, answer, push, broken };
    // Advances to the next answer or push. Once broken, it stays broken until reset().
    item next(core::time_point now)
    {
        if (!problem_.empty())
            return item::broken;
        const resp::reader::status found = reader_.next();
        if (found == resp::reader::status::need_more)
            return item::none;
        if (found == resp::reader::status::broken)
            return break_off(reader_.problem());
        if (front().front().kind != resp::value_kind::push)
            return item::answer;
        return pushes_.spend(front(), now) ? item::push : break_off("it sends too many pushes");
    }
    // What next() has just reported. Valid until the next call of another member.
    reply front() const { return reader_.reply(); }
    // The reason for `broken`, as a fragment of a sentence.
    std::string_view problem() const noexcept { return problem_; }

    // Whether nothing has arrived on this connection.
    bool is_silent() const noexcept { return first_bytes_.empty(); }
    // A request of ours was answered, which may lead to pushes.
    void answered() noexcept { pushes_.answered(); }

private:
    item break_off(std::string_view why) noexcept;

    resp::reader reader_;
    push_allowance pushes_;
    first_bytes first_bytes_;
    std::span<char> space_;
    std::string_view problem_;
};

} // namespace holdfast::redis

#include "redis/node/inbox.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t read_size = 16 * 1024;

} // namespace

void inbox::reset(core::time_point now)
{
    reader_.reset();
    first_bytes_.clear();
    pushes_.reset(now);
    problem_ = {};
}

std::span<char> inbox::space()
{
    return space_ = reader_.prepare(read_size);
}

void inbox::add(std::size_t n)
{
    if (!first_bytes_.complete()) {
        first_bytes_.add({space_.data(), n});
        problem_ = first_bytes_.objection();
    }
    reader_.commit(n);
}

inbox::item inbox::break_off(std::string_view why) noexcept
{
    problem_ = why;
    return item::broken;
}

} // namespace holdfast::redis

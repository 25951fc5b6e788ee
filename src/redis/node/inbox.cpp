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

inbox::item inbox::next(core::time_point now)
{
    if (!problem_.empty())
        return item::broken;
    switch (reader_.next()) {
    case resp::reader::status::need_more:
        return item::none;
    case resp::reader::status::broken:
        problem_ = reader_.problem();
        return item::broken;
    case resp::reader::status::reply:
        break;
    }
    const reply arrived = reader_.reply();
    if (arrived.front().kind != resp::value_kind::push)
        return item::answer;
    if (pushes_.spend(arrived, now))
        return item::push;
    problem_ = "it sends too many pushes";
    return item::broken;
}

} // namespace holdfast::redis
